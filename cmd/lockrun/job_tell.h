/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is told of the job's processes: who they are, and which of them do not
 * end. Decides nothing and signals nobody. For job.c alone.
 */
#ifndef LOCKRUN_JOB_TELL_H
#define LOCKRUN_JOB_TELL_H

#include "cmd/lockrun/job.h"

/* Of each once that it cannot be stopped. Empties the list. */
void job_tell_refused(struct job *job, struct pids *refused);
/* Who was killed a while ago and is still there; each once. */
void job_tell_stuck(struct job *job);
/* Who lives on behind the command, if anybody does. */
void job_tell_leftovers(struct job *job);
/* To programs that the command has ended. */
void job_event_ended(const struct job *job);

#endif
