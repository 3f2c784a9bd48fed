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

/* Of those who have a key: the hold under which we run, or NULL. */
const struct hf_hold_info *nested_among(const struct hf_request *who);
/* Does --nested let the command run under it? Else the sentence that refuses
 * it (USAGE). */
enum hf_err nested_judge(const struct lockrun_options *options, const char *key,
                         const struct hf_hold_info *outer,
                         struct hf_error *error);
/* Of a key that is busy or waited for: is there a hold under which we run? May
 * open the store anew. */
bool nested_find(const struct run *run, struct hf_hold_info *outer);
/*
 * What --nested says: the exit status of a refusal, told; or the command takes
 * this process's place, under the outer hold, and this returns only when that
 * failed (126 or 127, told). A hold that is shared is not joined by who asks
 * for it alone.
 */
int nested_end(struct run *run, const struct hf_hold_info *info);

#endif
