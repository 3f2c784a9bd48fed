/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian: a small process between lockrun and its job, which ends the job
 * when lockrun cannot, being killed, stopped or stuck. It is the command's
 * parent and tells what becomes of it. This is lockrun's side (guardian.c), for
 * job.c alone; what the guardian does is in guardian_watch.c, and the rules are
 * in docs/internals/process-tree.md.
 */
#ifndef LOCKRUN_GUARDIAN_H
#define LOCKRUN_GUARDIAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"
#include "cmd/lockrun/spawn.h"
#include "cmd/lockrun/tree.h"

struct guardian_page;

/* When the job must have ended, if nothing more is heard of lockrun. */
struct guardian_limits {
    struct hf_time term_at;
    struct hf_time kill_at;
    struct hf_time over_at; /* another may have the key from then on */
};

struct guardian_orders {
    struct hf_sys *sys;
    int state_fd; /* the session's file; -1: none */
    struct hf_span grace;
    struct guardian_limits limits; /* at first */
    bool leaves; /* what outlives the command is let go: LEFTOVER_LEAVE */
};

struct guardian {
    struct guardian_page *page; /* NULL: there was none yet */
    pid_t pid;                  /* 0: none, or its end was heard of */
    uint64_t seen;              /* the change that was told last */
    struct hf_time stopped_at;
    bool was_late; /* the command was killed while it was started */
};

/*
 * Make the guardian, and have it make the command in the cgroup of `tree`; the
 * tree then is the guardian's to look after, too. Waits until the command runs.
 * Returns 0 or the errno of making a process; ETIME: it is past `kill_at`, and
 * nothing was begun. On success *exec_errnum is 0 and *job the command, or it
 * tells why there is none; then the guardian is gone.
 * 0 and a *job of 0: the guardian was killed over it, and something of the job
 * may be there.
 */
int guardian_start(struct guardian *guardian,
                   const struct guardian_orders *orders,
                   const struct spawn *spawn, struct tree *tree, pid_t *job,
                   int *exec_errnum);
/* Waits for its end if it has seen the last of the job go. If not it stays, and
 * ends what is left of the job when lockrun is gone. */
void guardian_clear(struct guardian *guardian);

/* What the command did. False: nothing that was not told. */
bool guardian_next_change(struct guardian *guardian,
                          struct tree_change *change);
/* Is the job for it to tell of? Not once it has ended without a word: then
 * all that it looked after has come to lockrun. */
bool guardian_is_there(const struct guardian *guardian);
/* It has seen the last of the job go. */
bool guardian_saw_all_gone(const struct guardian *guardian);
/* Or rather it let go of what the command left behind, as it was ordered. */
bool guardian_has_let_go(const struct guardian *guardian);
/* It asked the job to end, or killed it, because nothing was heard of us. */
bool guardian_has_asked(const struct guardian *guardian);
bool guardian_has_killed(const struct guardian *guardian);

/* Did somebody send `number` to the guardian too, from process `sender`, since
 * `since`? That is outside of the job's process group and session. */
bool guardian_got(const struct guardian *guardian, int number, pid_t sender,
                  struct hf_time since);

/* Waiting told a change of the guardian itself. */
void guardian_changed(struct guardian *guardian,
                      const struct tree_change *change, struct hf_time now);
/* Somebody stopped it: wake it when that is due. */
struct hf_time guardian_wake_at(const struct guardian *guardian);
void guardian_tick(struct guardian *guardian, struct hf_time now);

void guardian_set_limits(struct guardian *guardian,
                         const struct guardian_limits *limits);
/* lockrun has asked the job to end, or killed it. */
void guardian_note_asked(struct guardian *guardian);

#endif
