/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/helper.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct helper {
    const char *name;
    const char *what;    /* of lockfence */
    const char *without; /* the option of configure that leaves it out */
};

static const struct helper *find(enum lockfence_program program)
{
    static const struct helper pg = {"lockfence-pg", "the PostgreSQL fence",
                                     "--without-postgresql"};
    static const struct helper ask = {"lockfence-ask", "what asks the service",
                                      NULL};
    static const struct helper s3 = {"lockfence-s3", "the S3 fence",
                                     "--without-curl"};

    switch (program) {
    case LOCKFENCE_MAIN:
        break;
    case LOCKFENCE_PG:
        return &pg;
    case LOCKFENCE_S3:
        return &s3;
    case LOCKFENCE_ASK:
        return &ask;
    }
    hf_assert(false);
    return NULL;
}

/* The folder of this very program with "/NAME" behind; false: not known. */
static bool beside(char path[PATH_MAX], const char *name)
{
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX);
    char *slash;

    if (size <= 0 || size >= PATH_MAX)
        return false;
    path[size] = '\0';
    slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) + strlen(name) + 2 > PATH_MAX)
        return false;
    memcpy(slash + 1, name, strlen(name) + 1);
    return true;
}

enum hf_err helper_become(enum lockfence_program program, char **argv,
                          struct hf_error *error)
{
    const struct helper *helper = find(program);
    char path[PATH_MAX];
    int code = ENOENT;

    if (beside(path, helper->name)) {
        execv(path, argv);
        code = errno;
    }
    if (code == ENOENT) {
        snprintf(path, sizeof(path), "%s/%s", HELPER_FOLDER, helper->name);
        execv(path, argv);
        code = errno;
    }
    if (code == ENOENT)
        return hf_error_set(
            error, HF_ERR_UNAVAILABLE, "%s is not here: %s is missing (%s%s)",
            helper->what, path,
            helper->without ? "a package of its own, or this build was "
                              "configured "
                            : "it is a part of lockfence",
            helper->without ? helper->without : "");
    return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, code,
                              "cannot start %s", path);
}
