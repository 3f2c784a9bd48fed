/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded store: SQLite, many processes of one kernel, no daemon. Rules in
 * docs/internals/embedded-store.md. Opened by src/client/local.c, lockctl's
 * door to it, and tests.
 */
#ifndef HF_STORE_SQLITE_H
#define HF_STORE_SQLITE_H

#include "base/sys.h"
#include "store/store.h"

struct hf_sqlite_options {
    /* Absolute path of the database; NULL: the place of this user. */
    const char *path;
    /* How long to wait for other processes' transactions (the gate). */
    struct hf_span gate_limit;
    /* Open what is there and change nothing: no creation, no repair. A missing
     * store then is an empty one. */
    bool read_only;
    /* With read_only: refuse the places and modes that a writer would. */
    bool is_strict;
};

/*
 * Open (and unless read_only create) a store. On success *store is the
 * caller's, given back by ops->close. Blocks up to gate_limit. Errors:
 * UNAVAILABLE (place, locks that do not exclude, gate held too long, in
 * quarantine), DENIED (ownership, modes), NOSPACE, DAMAGED, NOMEM, USAGE
 * (path).
 */
enum hf_err hf_sqlite_open(struct hf_sys *sys,
                           const struct hf_sqlite_options *options,
                           struct hf_store **store, struct hf_error *error);

/*
 * The same before anything else is known: where the store of `uid` lies, from
 * the user id alone. Static or caller's memory: `to` of `size` bytes.
 */
enum hf_err hf_sqlite_place(uid_t uid, char *to, size_t size);

/*
 * One sentence for the user about what opening or a later transaction found
 * and mended (a damaged file kept aside, an older copy, a lost mark), or NULL.
 * Told once: the next call returns NULL until there is another.
 */
const char *hf_sqlite_notice(struct hf_store *store);

/*
 * Of an open session file (state_fd of a granted lease), in any process of this
 * kernel, without the gate and the database. Both return 0 or -errno; -EBADMSG
 * for a file that is damaged, -ESTALE for one that has no name any more and was
 * not ended: it tells nothing.
 *
 * Has somebody ended the lease: taken it when it had lapsed, revoked it?
 */
int hf_sqlite_lease_has_ended(struct hf_sys *sys, int state_fd,
                              bool *has_ended);
/* Write a phase, in place of the lease's maker, who does not do so meanwhile;
 * the cgroup stays as it was told. */
int hf_sqlite_job_phase(struct hf_sys *sys, int state_fd,
                        enum hf_lease_phase phase);

#endif
