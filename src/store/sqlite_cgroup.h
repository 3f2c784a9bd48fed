/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup of a lease's job, as its session file names it: recognized, asked
 * whether anything lives in it, killed. For src/store/sqlite_session.c alone.
 */
#ifndef HF_STORE_SQLITE_CGROUP_H
#define HF_STORE_SQLITE_CGROUP_H

#include "store/sqlite_session.h"

/*
 * Numbers of the folder and the one above it into `head`: a path alone means
 * another folder in another cgroup namespace.
 */
void hf_sqlite_cgroup_identify(struct hf_sqlite *sq, const char *path,
                               struct hf_sqlite_session_head *head);
/* Does the kernel say that nothing lives in the job's own cgroup? */
bool hf_sqlite_cgroup_is_empty(struct hf_sqlite *sq, const char *path,
                               const struct hf_sqlite_session_head *head);
/*
 * Kill all in it and wait until it is empty, a second at most. Nothing is done
 * to a folder that is not the one in `head`, is not named as lockrun names
 * them, or belongs to another user than the session file, which is `uid`'s.
 * False: something lives on in it.
 */
bool hf_sqlite_cgroup_kill(struct hf_sqlite *sq, const char *path,
                           const struct hf_sqlite_session_head *head,
                           uid_t uid);

#endif
