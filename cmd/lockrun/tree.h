/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that descends from the job: found, signalled, killed, and known to be
 * gone when the kernel says so. lockrun and its guardian are subreapers of what
 * loses its parents, so no process gets out of sight by setsid or a double
 * fork; a cgroup of the job's own, where one can be had, makes killing one
 * blow. Each of the two has one. Knows nothing of leases and of why. Rules in
 * docs/internals/process-tree.md.
 */
#ifndef LOCKRUN_TREE_H
#define LOCKRUN_TREE_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmd/lockrun/cgroup.h"
#include "cmd/lockrun/pids.h"

struct tree {
    struct cgroup cgroup;  /* fd -1: none */
    struct pids strangers; /* children that are no part of the job: those that
                              lockrun was born with, and tree_spare */
    pid_t guardian;        /* a child that is no part of the job; 0: none */
    pid_t job;             /* until its end is told; 0: none */
    int job_fd;            /* pidfd of it, or -1 */
    pid_t told;            /* has ended, and is waited for by the next look */
    bool has_children;     /* as waiting last told */
    bool can_walk;         /* /proc shows our processes */
    bool walk_is_known;
};

/* Before the job is made. Never fails: what is not to be had is done without.
 */
void tree_init(struct tree *tree);
void tree_clear(struct tree *tree);
/* In a child that shall look after the same tree, before the job is made. */
void tree_take_over(struct tree *tree);
/* A child that was just made is no part of the job. */
void tree_spare(struct tree *tree, pid_t pid);
/* The command's own process, whose end was not told yet. */
void tree_set_job(struct tree *tree, pid_t job);
/* Its end was told by another. */
void tree_forget_job(struct tree *tree);

/* What a child did; of any process that came to us. */
struct tree_change {
    pid_t pid;
    enum { TREE_ENDED, TREE_STOPPED, TREE_WENT_ON } what;
    int status; /* ENDED: as a shell tells it, 128+n for a signal. STOPPED: n */
    bool by_signal;
};
/*
 * Waits for nobody. What has ended is taken by the call after the one that told
 * it: as long as its end was not told its number is nobody else's. False:
 * nothing more has happened.
 */
bool tree_next_change(struct tree *tree, struct tree_change *change);

/*
 * Does the kernel say that nothing is left? To be asked after tree_next_change
 * told false. Removes the cgroup when it is so.
 */
bool tree_is_gone(struct tree *tree);
/* The same, of the cgroup alone: another has seen the last child go. */
bool tree_cgroup_is_gone(struct tree *tree);
/* What lives is nobody's business any more. The cgroup stays for as long, and
 * is removed by a later run. */
void tree_let_go(struct tree *tree);

/* Can its processes be found? Not where /proc is missing, or shows another pid
 * namespace; then only the command's own process and the cgroup are known. */
bool tree_can_walk(struct tree *tree);
/* All that live, in no order; those that have ended and are still to be waited
 * for are left out. */
void tree_list(struct tree *tree, struct pids *to);

/* To whom a signal goes. */
enum tree_whom {
    TREE_ALL,
    TREE_OTHER_GROUPS /* all but our own process group */
};
/*
 * Signal each once; whom it is not permitted to signal are added to `refused`.
 * What is made while it is sent may be missed.
 */
void tree_signal(struct tree *tree, int number, enum tree_whom whom,
                 struct pids *refused);
/* The command's own process alone. False: not permitted. */
bool tree_signal_job(struct tree *tree, int number);
/* Let those that stand still (stopped, frozen) go on. */
void tree_wake(struct tree *tree);
/* Kill all. To be called again until tree_is_gone: what was made meanwhile is
 * found then. */
void tree_kill(struct tree *tree, struct pids *refused);

#endif
