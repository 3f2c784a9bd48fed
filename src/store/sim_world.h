/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated world and the handles on it, as sim.c and sim_snapshot.c see
 * them. Private to src/store/sim*.c.
 */
#ifndef HF_STORE_SIM_WORLD_H
#define HF_STORE_SIM_WORLD_H

#include "store/sim_queue.h"

struct hf_sim_world {
    struct sim_state state;
    struct sim_heap heap;
    struct sim_op *watching;
    struct sim_op *spare;
    uint64_t watched; /* number of the first log entry no watch has seen */
    size_t handle_count;
};

struct sim_handle {
    struct hf_store store; /* the first member of every store */
    struct hf_sim_world *world;
    uint32_t process;
    bool killed;
    struct hf_sim_clock clock;
    struct sim_op *ops; /* all that is out, and what next has to return */
    struct sim_op *ready;
    struct sim_op **ready_end;
};

/* 0 to delay_max. */
struct hf_span sim_random_delay(struct sim_state *state);
/* Answer at op->answer_at, which may be now. */
void sim_answer_later(struct hf_sim_world *world, struct sim_op *op);

/* ---- sim_carry.c ---- */

/* Revision and identity of this moment. */
void sim_sign(const struct sim_state *state, struct hf_store_request *request);
/* Is the store the one that `expect` names? */
bool sim_is_expected(const struct sim_state *state,
                     const struct hf_store_request *request);
void sim_fail(struct hf_store_request *request, enum hf_err code,
              const char *why);
/* Any request: done, and answered, at this moment. Of a watch only what stands
 * in its way. */
void sim_carry_out(struct hf_sim_world *world, uint32_t process,
                   struct hf_store_request *request);

/* ---- sim_watch.c ---- */

/* Answer a watch, or let it wait for changes. */
void sim_watch_start(struct hf_sim_world *world, struct sim_op *op);
/* A watch that waits is forgotten. */
void sim_watch_unlink(struct hf_sim_world *world, struct sim_op *op);
/* If anything was committed, whoever watches it is answered. */
void sim_watches_wake(struct hf_sim_world *world);
/* The state was replaced: watches that wait are refused. */
void sim_watches_restored(struct hf_sim_world *world);

#endif
