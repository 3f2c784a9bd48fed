/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is in the way, in one line for people: the same words when lockrun gives
 * up, when it watches, and when it only looks.
 */
#ifndef LOCKRUN_BUSY_H
#define LOCKRUN_BUSY_H

#include "base/buf.h"
#include "base/sys.h"
#include "base/time.h"
#include "client/local.h"
#include "core/request.h"

/* The most that a description takes, longer ones are cut. */
enum { BUSY_BYTES_MAX = 1500 };

/* Of this process, for telling whether a pid means the same there: 0 if the
 * kernel does not say. */
uint64_t busy_pid_namespace(void);

/*
 * Look at the store once more for what it knows of this hold's lease. Without
 * an answer *info stays what it is. Opens the store anew: for who gives up.
 */
void busy_look(const struct hf_local_options *store, const char *key,
               struct hf_sys *sys, struct hf_hold_info *info);

/* Has the lockrun that holds it been killed? Only of one in this pid namespace
 * is that known. */
bool busy_is_dying(const struct hf_hold_info *info);

/*
 * Append "is held by PROGRAM (pid N, uid N, host H) since T (S ago), note
 * \"...\"": without arguments of the command, which are nobody's business.
 * Where the lease is known it is said when only leftovers of a job hold the
 * key.
 */
void busy_describe(const struct hf_hold_info *info, struct hf_sys *sys,
                   struct hf_buf *to);

#endif
