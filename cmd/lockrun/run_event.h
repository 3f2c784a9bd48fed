/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --json tells of a run and its lease (event.h says how); of processes
 * job.c tells. Members have the names that lockctl's --json has. For the files
 * of a run alone.
 */
#ifndef LOCKRUN_RUN_EVENT_H
#define LOCKRUN_RUN_EVENT_H

#include "cmd/lockrun/event.h"
#include "cmd/lockrun/run.h"

/* One that has nothing to add. */
void run_event(const struct run *run, enum event_kind kind);
/* WAITING or BUSY, and who is in the way; `holder` may be NULL. */
void run_event_busy(const struct run *run, enum event_kind kind,
                    const struct hf_hold_info *holder);
void run_event_granted(const struct run *run);
void run_event_started(const struct run *run);
/* DOUBT, LOST. */
void run_event_reason(const struct run *run, enum event_kind kind,
                      const char *reason);
void run_event_stopping(const struct run *run, const char *reason,
                        struct hf_span left);
/* The last one. */
void run_event_ended(const struct run *run, int status);

#endif
