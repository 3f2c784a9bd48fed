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
#include "core/request.h"

/* The most that a description takes, longer ones are cut. */
enum { BUSY_BYTES_MAX = 1500 };

/* Of this process, for telling whether a pid means the same there: 0 if the
 * kernel does not say. */
uint64_t busy_pid_namespace(void);

/*
 * Append "is held by PROGRAM (pid N, uid N, host H) since T (S ago), note
 * \"...\"": without arguments of the command, which are nobody's business.
 */
void busy_describe(const struct hf_hold_info *info, struct hf_sys *sys,
                   struct hf_buf *to);

#endif
