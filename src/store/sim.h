/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store in memory with simulated time, every fault a switch: for tests and
 * the simulator only. One `struct hf_sim_world` is the shared state; each
 * client opens a handle on it, as each process opens a handle on a real store.
 * Deterministic: all choices come from the world's seed. Where memory runs out
 * for the world's own state it ends the program: a simulation without memory
 * has nothing to tell.
 *
 * Time. The world has a clock of its own, from 0, moved by
 * hf_sim_world_advance alone; the `now` of store calls is not looked at. A
 * handle tells `wake_at` by the clock that its process reads.
 */
#ifndef HF_STORE_SIM_H
#define HF_STORE_SIM_H

#include "store/sim_clock.h"
#include "store/store.h"

/*
 * Chances are in 1/65536 per request; 0 is never. The contract allows what
 * stands above the line; below it stand faults that real stores have had.
 */
struct hf_sim_faults {
    uint32_t unknown_done; /* carried out, answered UNKNOWN */
    uint32_t unknown_not;  /* not carried out, answered UNKNOWN */
    uint32_t unknown_late; /* answered UNKNOWN, carried out later, at a
                              random moment within late_max */
    uint32_t failed;       /* answered FAILED, not carried out */
    uint32_t answer_lost;  /* never answered (the caller must cancel), carried
                              out or not */
    uint32_t compacted;    /* a watch begins with REFUSED_COMPACTED */
    bool no_space;         /* transactions with a put in any side, and lease
                              grants, are FAILED (NOSPACE) */
    struct hf_span delay_max;  /* answers take 0 to this long; what was asked
                                  is carried out at some moment in between */
    struct hf_span late_max;   /* see unknown_late */
    struct hf_span expiry_max; /* expires_by_itself: a lapsed lease stays 0 to
                                  this long */
    /* ---- */
    uint32_t watch_lost;     /* a change that a watch never tells, per change */
    uint32_t lease_early;    /* a lease removed although it was renewed, per
                                renewal, at a random moment within its TTL */
    uint32_t keepalive_lies; /* a renewal says yes for a lease that is gone */
};

struct hf_sim_options {
    uint64_t seed;
    struct hf_store_traits traits;
    struct hf_sim_faults faults;
    uint64_t first_revision; /* of the first commit; 0 is 1 */
    /* Each revision is 1 to this much above the one before; 0 is 1. */
    uint64_t revision_step_max;
    /* The store's clock runs at (1 + rate_ppm/10^6) of the world's. */
    int32_t rate_ppm;
    /* Changes kept for watches; what is older is compacted. 0: all. */
    uint32_t history_max;
    /* Leases are granted with no less than this. */
    int64_t ttl_min_ms;
    /* A server: it removes lapsed leases of its own accord. Otherwise takers
     * do, as in an embedded store. */
    bool expires_by_itself;
};

struct hf_sim_world;

/* NULL: no memory. All handles must be closed before it is freed. */
struct hf_sim_world *hf_sim_world_new(const struct hf_sim_options *options);
void hf_sim_world_free(struct hf_sim_world *world);
/* Switch faults while it runs; what is under way keeps its fate. */
void hf_sim_world_faults(struct hf_sim_world *world,
                         const struct hf_sim_faults *faults);
/* Let time pass up to `now`: requests are carried out and answered, late ones
 * land, leases end. Time that goes back is ignored. */
void hf_sim_world_advance(struct hf_sim_world *world, struct hf_time now);
/* When advance may have something to do, never too late; NEVER if nothing. */
struct hf_time hf_sim_world_wake_at(const struct hf_sim_world *world);

/* A handle of a new process, which reads the world's clock; closed by its ops.
 * NULL: no memory. */
struct hf_store *hf_sim_open(struct hf_sim_world *world);
/* From now on `wake_at` of this handle is told by `clock`. */
void hf_sim_set_clock(struct hf_store *handle, struct hf_sim_clock clock);
/*
 * The process behind a handle died: what it had asked for and was not carried
 * out yet may still be, or never. `tree_dead`: the job that it had started, if
 * any, is dead too. Of its leases the kernel then proves, where traits.local:
 * DEAD when nothing was started or all is GONE, and when the job is dead and
 * had a cgroup; LIVES when the job lives; else NONE. The handle must still be
 * closed, and takes no more requests.
 */
void hf_sim_kill(struct hf_store *handle, bool tree_dead);
/* The job of a process that was killed without its tree is dead now too. */
void hf_sim_kill_tree(struct hf_sim_world *world, uint32_t process);
/* The number of the process behind a handle, 1 for the world's first. */
uint32_t hf_sim_process(const struct hf_store *handle);

/*
 * A copy of the whole state, put back later: a restore of older state. Watches
 * that are out are told REFUSED_COMPACTED; other requests go on, against the
 * state that they meet.
 */
enum hf_sim_restore {
    /* An embedded store's older copy: the same store, revisions go on above
     * all that were issued, leases lapse when they would have. */
    HF_SIM_RESTORE_RISING,
    /* An embedded store whose file is another store's: new id, revisions go on
     * above all that were issued. */
    HF_SIM_RESTORE_NEW_ID,
    /* The store cannot be sure of its revisions: they begin again at the
     * copy's, and epoch_min is raised. */
    HF_SIM_RESTORE_EPOCH,
    /* A cluster's new life: new id, revisions and epoch_min are the copy's
     * again, leases live their whole TTL again. */
    HF_SIM_RESTORE_NEW_LIFE
};
struct hf_sim_snapshot;
struct hf_sim_snapshot *hf_sim_snapshot_take(struct hf_sim_world *world);
void hf_sim_snapshot_restore(struct hf_sim_world *world,
                             const struct hf_sim_snapshot *snapshot,
                             enum hf_sim_restore how);
void hf_sim_snapshot_free(struct hf_sim_snapshot *snapshot);

/*
 * The committed stream, in order, each change told once: what the oracle
 * judges. NULL: nothing new. Valid until the next call on the world or a
 * handle. A restore is not in it: drain the stream before you restore.
 */
const struct hf_change *hf_sim_world_committed(struct hf_sim_world *world);
/* How many commits there were, over all lives. */
uint64_t hf_sim_world_commits(const struct hf_sim_world *world);
uint64_t hf_sim_world_revision(const struct hf_sim_world *world);
struct hf_store_identity
hf_sim_world_identity(const struct hf_sim_world *world);

#endif
