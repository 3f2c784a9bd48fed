/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same key wrapped inside itself: noticed before it can hang, and refused
 * or joined. A holder is our own outer lockrun if its process is an ancestor of
 * ours, or if the environment says that we run in its session.
 */
#ifndef LOCKRUN_NESTED_H
#define LOCKRUN_NESTED_H

#include <stdbool.h>

#include "cmd/lockrun/run.h"

/* Is this the hold under which we run? */
bool nested_is(const struct hf_hold_info *info);
/*
 * What --nested says: the exit status of a refusal, told; or the command takes
 * this process's place, under the outer hold, and this returns only when that
 * failed (126 or 127, told).
 */
int nested_end(struct run *run, const struct hf_hold_info *info);

#endif
