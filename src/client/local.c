/* SPDX-License-Identifier: Apache-2.0 */
#include "client/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/local_over.h"
#include "store/sqlite.h"

enum { PATH_SIZE = 4096 };

#define GATE_LIMIT hf_span_ms(10000)

/*
 * The database's absolute path out of --store: "sqlite:PATH" or a plain path.
 * A word with a colon before its first slash is another kind of store, which
 * must not become a file of that name.
 */
static enum hf_err place_of(const char *store, char to[PATH_SIZE],
                            struct hf_error *error)
{
    static const char scheme[] = "sqlite:";
    const char *path = store;
    size_t used = 0;

    if (strncmp(path, scheme, sizeof(scheme) - 1) == 0)
        path += sizeof(scheme) - 1;
    else if (strcspn(path, ":") < strcspn(path, "/"))
        return hf_error_set(error, HF_ERR_USAGE,
                            "store \"%.200s\": this version knows stores of "
                            "the kind sqlite:PATH alone (a file whose name "
                            "has a colon: ./NAME)",
                            store);
    if (!*path)
        return hf_error_set(error, HF_ERR_USAGE,
                            "store \"%.200s\" names no file: sqlite:PATH or a "
                            "plain path",
                            store);
    if (*path != '/') {
        if (!getcwd(to, PATH_SIZE))
            return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                      "store \"%.200s\" is relative, and the "
                                      "working folder cannot be told",
                                      store);
        used = strlen(to);
        if (used < PATH_SIZE - 1 && to[used - 1] != '/')
            to[used++] = '/';
    }
    if (used + strlen(path) >= PATH_SIZE)
        return hf_error_set(error, HF_ERR_USAGE,
                            "store \"%.200s...\": the path is too long", store);
    memcpy(to + used, path, strlen(path) + 1);
    return HF_ERR_OK;
}

enum hf_err hf_local_open(struct hf_sys *sys,
                          const struct hf_local_options *options,
                          struct hf_transport **transport,
                          struct hf_error *error)
{
    struct hf_sqlite_options with = {
        .gate_limit = options->gate_limit.ns ? options->gate_limit : GATE_LIMIT,
        .read_only = options->read_only,
        .is_strict = options->is_strict,
    };
    char place[PATH_SIZE];
    struct hf_store *store;
    struct hf_transport *made;
    enum hf_err err;

    if (options->store) {
        err = place_of(options->store, place, error);
        if (err)
            return err;
    } else if (hf_sqlite_place(geteuid(), place, sizeof(place))) {
        return hf_error_set(error, HF_ERR_INTERNAL,
                            "the place of user %u's store is too long",
                            (unsigned)geteuid());
    }
    /* The place of the user is found again inside: it is judged more mildly
     * than one that was named. */
    with.path = options->store ? place : NULL;
    err = hf_sqlite_open(sys, &with, &store, error);
    if (err)
        return err;
    made =
        hf_local_over(sys, store, options->classes, place, options->read_only);
    if (!made) {
        store->ops->close(store);
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a service");
    }
    *transport = made;
    return HF_ERR_OK;
}

const char *hf_local_notice(struct hf_transport *transport)
{
    struct hf_local *local = (struct hf_local *)transport;

    return hf_sqlite_notice(hf_service_store(local->service));
}

const char *hf_local_place(struct hf_transport *transport)
{
    return ((struct hf_local *)transport)->place;
}

enum hf_local_lease hf_local_lease_stands(struct hf_sys *sys, int state_fd)
{
    bool has_ended;

    if (hf_sqlite_lease_has_ended(sys, state_fd, &has_ended))
        return HF_LOCAL_UNKNOWN;
    return has_ended ? HF_LOCAL_ENDED : HF_LOCAL_STANDS;
}

int hf_local_job_phase(struct hf_sys *sys, int state_fd,
                       enum hf_lease_phase phase)
{
    return hf_sqlite_job_phase(sys, state_fd, phase);
}
