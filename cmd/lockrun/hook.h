/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line that the caller wants run when something happens (--on-busy and its
 * like): by /bin/sh, in a session of its own, its output on standard error, no
 * other descriptor open, bounded in time. Neither it nor what it starts is part
 * of the job, holds a key or changes lockrun's status. When it is run, and what
 * it is told, is for hooks.c, its only caller.
 */
#ifndef LOCKRUN_HOOK_H
#define LOCKRUN_HOOK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/sys.h"
#include "cmd/lockrun/signals.h"

/* So long a line may run, and what it has started. */
#define HOOK_LIMIT hf_span_ms(30000)

struct hook {
    int fd;    /* readable when it has ended; -1: none runs */
    pid_t pid; /* of the child that looks after it */
};

enum hook_end {
    HOOK_RUNS,
    HOOK_ENDED,   /* by itself: *status as a shell tells it */
    HOOK_KILLED,  /* its time was over */
    HOOK_NO_WORD, /* whoever looked after it was killed */
    HOOK_NONE     /* none runs, or its end was told */
};

/* Start it, with this environment. 0 or an errno. */
int hook_start(struct hook *hook, const char *line, char *const *envp,
               struct hf_sys *sys, const struct signals *signals);
/* What became of it? Does not wait. An end is told once. */
enum hook_end hook_look(struct hook *hook, int *status);

#endif
