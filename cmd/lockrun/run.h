/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: the key is got (get_key.c), the job runs under it (attend.c), the
 * key is given back. All decisions about the lease are the session's
 * (client/session.h), all about processes the job's (job.h); these join the
 * two.
 */
#ifndef LOCKRUN_RUN_H
#define LOCKRUN_RUN_H

#include "base/sys.h"
#include "client/local.h"
#include "client/session.h"
#include "cmd/lockrun/event.h"
#include "cmd/lockrun/hook.h"
#include "cmd/lockrun/job.h"
#include "cmd/lockrun/keeper.h"
#include "cmd/lockrun/memory.h"
#include "cmd/lockrun/options.h"
#include "cmd/lockrun/program.h"
#include "cmd/lockrun/say.h"
#include "cmd/lockrun/signals.h"
#include "cmd/lockrun/watch.h"

/* The lines that may be run (hooks.h). */
enum hook_kind { HOOK_BUSY, HOOK_DOUBT, HOOK_LOST, HOOK_COUNT };

struct run {
    struct hf_sys *sys;
    const struct lockrun_options *options;
    /* Bits of the descriptors 0 to 2 that were closed and are filled now. */
    unsigned int closed;
    struct say say;
    struct events events;
    /* Why the exit status is lockrun's own, for --json; NULL: it is not. */
    const char *cause;
    struct program program;
    struct signals signals;
    struct hf_local_options store;
    struct hf_transport *transport;
    struct hf_session *session;
    struct watch watch;
    struct keeper keeper;
    struct job job;
    struct hook hooks[HOOK_COUNT];
    char key[HF_KEY_SIZE];
    bool has_seen_dying; /* a holder that was gone a moment after */
    bool knows_holder;   /* who is in the way was looked at while waiting */
    struct hf_time max_run_at;
    bool is_over_max_run;
    struct memory memory;   /* for --json */
    bool told_of_guardian;  /* that it ended the job */
    bool told_of_leftovers; /* to the store, for who finds the key taken */
    /* Of this turn of the loop. */
    struct hf_time now;
    struct hf_wall wall;
};

/* All of it, lockrun's end and its exit status too: the process is not wanted
 * any longer, and memory goes with it in one piece. */
_Noreturn void run_command(struct hf_sys *sys,
                           const struct lockrun_options *options,
                           unsigned int closed);

/* Until the key is ours: 0, with *is_held true. Else the exit status, told. */
int run_get_key(struct run *run, bool *is_held);
/* A session on the open store, in place of one that is over. 0, or the exit
 * status, told. */
int run_open_session(struct run *run);
/* Once it is: until it is given back. Returns the exit status. */
int run_job(struct run *run);

/* ---- for the two above -----------------------------------------------------
 */

enum { STATUS_MAX_RUN = 124, STATUS_SIGNAL = 128 };

/* Read the clocks. */
void run_turn(struct run *run);
/* With clocks read afresh. */
enum hf_news run_next_news(struct run *run);
/* Until a signal or the session has something, `events_fd` (or -1) has news of
 * the cgroup, or `at`. */
void run_wait(struct run *run, struct hf_time at, int events_fd);
/* Tell the sentence; the exit status that goes with it. */
int run_fail(struct run *run, const struct hf_error *error);
/* Has a signal come that ends whoever does nothing about it? Its number, or
 * 0. One that stops does so now. */
int run_take_ending_signal(struct run *run);

#endif
