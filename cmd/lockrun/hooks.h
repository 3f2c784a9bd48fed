/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --on-busy, --on-doubt and --on-lost: which line is run when, what it is told,
 * and that it failed. How it is run, hook.h says. lockrun waits for none of
 * them before it has given the key back.
 */
#ifndef LOCKRUN_HOOKS_H
#define LOCKRUN_HOOKS_H

#include "cmd/lockrun/run.h"

/* The key is not to be had: lockrun is about to end with `status`. `holder` is
 * who is in the way, or NULL; `reason` what is told of that. */
void hooks_busy(struct run *run, const struct hf_hold_info *holder,
                const char *reason, int status);
/* The lease could not be renewed. Not while the line of the last time runs. */
void hooks_doubt(struct run *run, const char *reason);
/* The job had to be stopped, and was, or could not be. */
void hooks_lost(struct run *run, const char *reason, int status);

/* Is there a line that has not ended? */
bool hooks_run(const struct run *run);
/* Tell of lines that have failed. */
void hooks_look(struct run *run);
/* Until all lines have ended, or a signal comes that ends programs: they then
 * go on without us. */
void hooks_finish(struct run *run);

#endif
