/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A control group of the job's own, below lockrun's own, where the kernel and
 * the system's settings permit it (version 2 only): the kernel then knows the
 * whole tree, kills it at one blow, and says when it is empty. Nothing here is
 * needed for a job to run; tree.c does with it or without.
 */
#ifndef LOCKRUN_CGROUP_H
#define LOCKRUN_CGROUP_H

#include <stdbool.h>

#include "cmd/lockrun/pids.h"

struct cgroup {
    int fd;       /* its folder; -1: there is none */
    char *folder; /* NULL: there was none; until cgroup_clear */
};

/* The group itself stays. */
void cgroup_clear(struct cgroup *cgroup);
/*
 * Make one named after the session; once. Errors: an errno, and what was in
 * the way in *what (static text); `cgroup->fd` is then -1.
 */
int cgroup_make(struct cgroup *cgroup, const char *session, const char **what);
/* The kernel's word: does no process live in it, or below it? */
bool cgroup_is_empty(const struct cgroup *cgroup);
/* A descriptor that polls POLLPRI when cgroup_is_empty may have changed, at
 * first and again until that was taken. The caller closes it. -1 on failure. */
int cgroup_events_fd(const struct cgroup *cgroup);
/* Before looking whether it is empty: what comes after is polled anew. Closes
 * it when there is nothing more to come; then, and of -1, it does nothing. */
void cgroup_events_take(int *events_fd);
/* Kill all in it at once, also what is frozen. False: not to be had. */
bool cgroup_kill(const struct cgroup *cgroup);
void cgroup_thaw(const struct cgroup *cgroup);
/* Add the processes in the group itself, not those in groups below it. */
void cgroup_list(const struct cgroup *cgroup, struct pids *pids);
/*
 * Remove it, and groups that the job made in it. True: it is gone, which the
 * kernel grants only when no process lives in it.
 */
bool cgroup_remove(struct cgroup *cgroup);
/*
 * Remove empty groups beside it that a killed lockrun left behind, an hour old
 * or older. For now and then.
 */
void cgroup_sweep(const struct cgroup *cgroup);

#endif
