/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job: the command and all that comes of it, from its start until nothing
 * of it is left. Forwards signals, tells how it ended, ends it when it is told
 * to, and says who does not end. Knows nothing of leases: run.c does, its only
 * caller.
 */
#ifndef LOCKRUN_JOB_H
#define LOCKRUN_JOB_H

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"
#include "cmd/lockrun/guardian.h"
#include "cmd/lockrun/leftover.h"
#include "cmd/lockrun/say.h"
#include "cmd/lockrun/signals.h"
#include "cmd/lockrun/spawn.h"
#include "cmd/lockrun/tree.h"

/* A signal that may have been sent to all of the job. */
enum { HELD_KINDS = 7 };
struct held {
    struct arrived arrived;
    struct hf_time at; /* to be forwarded; NEVER: there is none */
};

struct job {
    const struct say *say;
    struct tree tree;
    struct guardian guardian;
    struct hf_span
        grace; /* when the guardian is lost, or leftovers are ended */
    enum leftover leftover;

    pid_t pid;      /* of the command's own process */
    bool has_ended; /* that one has; others may live on */
    int status;     /* then: its exit status, 128+n for a signal */
    bool is_gone;   /* the kernel says that nothing is left; or it was let go */
    bool given_up;  /* something cannot be ended, and the time is over */

    bool is_asked;             /* TERM was sent to all */
    bool is_killed;            /* KILL was */
    struct hf_time kill_at;    /* once asked; NEVER: when told to */
    struct hf_time retry_at;   /* once killed: look again */
    struct hf_time stuck_at;   /* once killed: say who is left */
    struct hf_time give_up_at; /* once killed; NEVER: wait for ever */
    struct pids told;          /* of whom it was said that they do not end */

    bool was_guarded; /* the guardian asked it to end: we were not heard of */

    bool has_leftovers;          /* once ended: some live on */
    struct hf_time leftovers_at; /* once ended: say or end who is left */
    int events_fd;               /* then: of the cgroup; -1 */
    struct held held[HELD_KINDS];
    int passed_on; /* the last signal that was forwarded to the command */
    bool was_told_to_end; /* TERM or INT was */

    bool is_stopped;     /* by job control */
    bool stopped_itself; /* or otherwise, by its own doing or somebody's */
    struct hf_time stop_until;   /* a SIGSTOP before this is job control too */
    struct hf_time stop_look_at; /* after a stop: does nobody tell of it? */
    bool stops_us;               /* and we are to stand still with it */
    bool stood_still;            /* and did */
    uint64_t stood_at;      /* the guardian's change that we stood still for */
    struct hf_time wake_at; /* once we go on: wake what still stands */
};

void job_init(struct job *job, const struct say *say, enum leftover leftover);
void job_clear(struct job *job);

/*
 * A cgroup of its own, if there may be one: its folder, or NULL. Before
 * job_start, and told to the store before it too.
 */
const char *job_make_cgroup(struct job *job, const char *session);
/* Give it up: job_start then does without. */
void job_drop_cgroup(struct job *job);

/*
 * Start the command; `spawn->cgroup_fd` is filled in. Returns 0, or 126 or 127
 * with a sentence: it never ran, and nothing of it is left. *needs_no_cgroup:
 * nothing was tried yet, for the kernel does not let it be born in the cgroup;
 * drop that and call again.
 */
int job_start(struct job *job, const struct guardian_orders *orders,
              struct spawn *spawn, size_t words_added, bool *needs_no_cgroup,
              struct hf_error *error);
/* Until when the guardian shall let it live without hearing of us again. */
void job_set_limits(struct job *job, const struct guardian_limits *limits);

/* A signal to lockrun (other than SIGCHLD). */
void job_signal(struct job *job, const struct arrived *arrived,
                struct hf_time now);
/* SIGCHLD came, or the cgroup has news: what has happened? */
void job_look(struct job *job, struct hf_time now);
/* Ask all of it to end, once; kill it at `kill_at` (NEVER: at job_kill). */
void job_ask(struct job *job, struct hf_time kill_at);
/* Kill all of it; at `give_up_at` it is given up if something still lives. */
void job_kill(struct job *job, struct hf_time give_up_at, struct hf_time now);

struct hf_time job_wake_at(const struct job *job);
/* What is due by now. */
void job_tick(struct job *job, struct hf_time now);

/* Has job control just stopped the command, so that we shall stand still with
 * it? Told once. */
bool job_wants_stop(struct job *job, struct hf_time now);
/* Stand still until somebody lets us go on. */
void job_stand_still(struct job *job);

#endif
