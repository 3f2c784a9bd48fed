/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of memory that lockrun and its guardian share: what each tells the
 * other. Whoever writes a word is said beside it. A SIGCHLD to the other side
 * says that there is something new. For guardian*.c alone.
 */
#ifndef LOCKRUN_GUARDIAN_PAGE_H
#define LOCKRUN_GUARDIAN_PAGE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum guardian_stage {
    GUARDIAN_STARTING,
    GUARDIAN_FAILED, /* there is no job: spawn_errnum, exec_errnum */
    GUARDIAN_STARTED
};

/* What the guardian did by itself, the most severe. */
enum guardian_deed {
    GUARDIAN_DID_NOTHING,
    GUARDIAN_ASKED, /* it sent TERM to all */
    GUARDIAN_KILLED
};

/* All but those of real time. */
enum { GUARDIAN_SIGNALS = 32 };

struct guardian_page {
    /* The guardian's. The first three stand once `stage` has changed. */
    int spawn_errnum;
    int exec_errnum;
    pid_t job;
    _Atomic int stage; /* enum guardian_stage */
    _Atomic int deed;  /* enum guardian_deed */
    /* The command was killed before it was one. Stands before `stage` does. */
    _Atomic bool was_late;
    /*
     * The command's last change: a count of them, then 8 bits of what it was
     * (enum of struct tree_change), then 16 of the status. An end stands here
     * before the process is waited for.
     */
    _Atomic uint64_t change;
    /* The kernel says that nothing of the job is left; or the command has ended
     * and what it left behind is nobody's business any more (has_let_go, which
     * stands before is_gone does). */
    _Atomic bool is_gone;
    _Atomic bool has_let_go;
    /* Of each signal: who sent it to the guardian last, and, before that, when.
     */
    _Atomic pid_t got_from[GUARDIAN_SIGNALS];
    _Atomic int64_t got_at[GUARDIAN_SIGNALS];

    /* lockrun's. The steady clock. */
    _Atomic int64_t term_at;
    _Atomic int64_t kill_at;
    _Atomic int64_t over_at;
    _Atomic bool has_asked; /* it has sent TERM to all, or KILL */
};

#endif
