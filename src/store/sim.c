/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sim.h"

#include <stdlib.h>
#include <string.h>

#include "store/check.h"
#include "store/sim_queue.h"
#include "store/sim_state.h"
#include "store/sim_world.h"

static struct sim_handle *handle_of(struct hf_store *store)
{
    return (struct sim_handle *)store;
}

/* ---- requests under way ---- */

static struct sim_op *op_new(struct hf_sim_world *world)
{
    struct sim_op *op = world->spare;

    if (op)
        world->spare = op->behind;
    else
        op = sim_memory(malloc(sizeof(*op)));
    *op = (struct sim_op){0};
    return op;
}

static void op_free(struct hf_sim_world *world, struct sim_op *op)
{
    op->behind = world->spare;
    world->spare = op;
}

static void handle_link(struct sim_handle *handle, struct sim_op *op)
{
    op->behind = handle->ops;
    if (handle->ops)
        handle->ops->before = op;
    handle->ops = op;
}

static void handle_unlink(struct sim_op *op)
{
    if (op->before)
        op->before->behind = op->behind;
    else
        op->handle->ops = op->behind;
    if (op->behind)
        op->behind->before = op->before;
    op->before = NULL;
}

static void ready_push(struct sim_op *op)
{
    struct sim_handle *handle = op->handle;

    op->stage = SIM_READY;
    op->ready_behind = NULL;
    *handle->ready_end = op;
    handle->ready_end = &op->ready_behind;
}

static void ready_remove(struct sim_op *op)
{
    struct sim_op **link = &op->handle->ready;

    while (*link != op)
        link = &(*link)->ready_behind;
    *link = op->ready_behind;
    if (!*link)
        op->handle->ready_end = link;
}

struct hf_span sim_random_delay(struct sim_state *state)
{
    int64_t most = state->options.faults.delay_max.ns;

    if (most <= 0)
        return (struct hf_span){0};
    return (struct hf_span){hf_sim_random_range(&state->random, 0, most)};
}

void sim_answer_later(struct hf_sim_world *world, struct sim_op *op)
{
    if (hf_time_reached(op->answer_at, world->state.now)) {
        ready_push(op);
        return;
    }
    op->stage = SIM_GOING;
    op->at = op->answer_at;
    sim_heap_push(&world->heap, op);
}

/* ---- carrying out ---- */

/* Carried out, and nobody hears of it. */
static void carry_out_unheard(struct hf_sim_world *world, uint32_t process,
                              const struct hf_store_request *request)
{
    struct hf_store_request *copy = sim_request_copy(request);

    sim_carry_out(world, process, copy);
    sim_request_free(copy);
}

/* To be carried out at `at`, whoever asked being gone or answered by then. */
static void orphan(struct hf_sim_world *world, uint32_t process,
                   const struct hf_store_request *request, struct hf_time at)
{
    struct sim_op *op = op_new(world);

    op->request = sim_request_copy(request);
    op->process = process;
    op->stage = SIM_COMING;
    op->at = at;
    sim_heap_push(&world->heap, op);
}

static void answer_unknown(struct hf_store_request *request)
{
    request->outcome = HF_OUTCOME_UNKNOWN;
    hf_error_set(&request->error, HF_ERR_UNAVAILABLE,
                 "simulated store: no answer came in time");
}

/* A request of a living handle has arrived. */
static void arrive(struct hf_sim_world *world, struct sim_op *op)
{
    switch (op->fate) {
    case SIM_ANSWERED:
        if (op->request->kind == HF_STORE_WATCH &&
            sim_is_expected(&world->state, op->request)) {
            sim_watch_start(world, op);
            return;
        }
        sim_carry_out(world, op->process, op->request);
        break;
    case SIM_UNKNOWN_DONE:
        carry_out_unheard(world, op->process, op->request);
        answer_unknown(op->request);
        break;
    case SIM_UNKNOWN_NOT:
    case SIM_UNKNOWN_LATE:
        answer_unknown(op->request);
        break;
    case SIM_FAILED:
        sim_fail(op->request, HF_ERR_UNAVAILABLE, "cannot be reached");
        break;
    case SIM_LOST_DONE:
        carry_out_unheard(world, op->process, op->request);
        op->stage = SIM_LOST;
        return;
    case SIM_LOST_NOT:
        op->stage = SIM_LOST;
        return;
    }
    sim_answer_later(world, op);
}

/* ---- the world ---- */

struct hf_sim_world *hf_sim_world_new(const struct hf_sim_options *options)
{
    struct hf_sim_world *world = calloc(1, sizeof(*world));

    if (world)
        sim_state_init(&world->state, options);
    return world;
}

void hf_sim_world_free(struct hf_sim_world *world)
{
    struct sim_op *op;

    if (!world)
        return;
    hf_assert(world->handle_count == 0);
    while ((op = sim_heap_first(&world->heap))) {
        sim_heap_remove(&world->heap, op);
        sim_request_free(op->request); /* only orphans are left */
        free(op);
    }
    while ((op = world->spare)) {
        world->spare = op->behind;
        free(op);
    }
    free(world->heap.list);
    sim_state_clear(&world->state);
    free(world);
}

void hf_sim_world_faults(struct hf_sim_world *world,
                         const struct hf_sim_faults *faults)
{
    world->state.options.faults = *faults;
}

struct hf_time hf_sim_world_wake_at(const struct hf_sim_world *world)
{
    const struct sim_op *op = sim_heap_first(&world->heap);

    return hf_time_min(op ? op->at : HF_TIME_NEVER, world->state.removal_hint);
}

/* The next thing that happens at this moment; false when nothing does. */
static bool happen(struct hf_sim_world *world)
{
    struct sim_op *op = sim_heap_first(&world->heap);

    if (hf_time_reached(world->state.removal_hint, world->state.now)) {
        sim_leases_due(&world->state);
        sim_watches_wake(world);
        return true;
    }
    if (!op || !hf_time_reached(op->at, world->state.now))
        return false;
    sim_heap_remove(&world->heap, op);
    if (!op->handle) {
        sim_carry_out(world, op->process, op->request);
        sim_request_free(op->request);
        op_free(world, op);
    } else if (op->stage == SIM_COMING) {
        arrive(world, op);
    } else {
        ready_push(op);
    }
    return true;
}

void hf_sim_world_advance(struct hf_sim_world *world, struct hf_time now)
{
    struct hf_time next = hf_sim_world_wake_at(world);

    while (next.ns <= now.ns) {
        if (next.ns > world->state.now.ns)
            world->state.now = next;
        while (happen(world))
            continue;
        next = hf_sim_world_wake_at(world);
    }
    if (now.ns > world->state.now.ns)
        world->state.now = now;
}

const struct hf_change *hf_sim_world_committed(struct hf_sim_world *world)
{
    struct sim_log *log = &world->state.log;

    if (log->told == log->first + log->count)
        return NULL;
    return &sim_log_entry(log, log->told++)->change;
}

uint64_t hf_sim_world_commits(const struct hf_sim_world *world)
{
    return world->state.commits;
}

uint64_t hf_sim_world_revision(const struct hf_sim_world *world)
{
    return world->state.revision;
}

struct hf_store_identity hf_sim_world_identity(const struct hf_sim_world *world)
{
    return world->state.identity;
}

/* ---- handles ---- */

/* Of watches and looks nothing can be unknown: they change nothing. */
static bool changes_something(enum hf_store_kind kind)
{
    switch (kind) {
    case HF_STORE_TXN:
    case HF_STORE_LEASE_GRANT:
    case HF_STORE_LEASE_RENEW:
    case HF_STORE_LEASE_REVOKE:
        return true;
    case HF_STORE_LEASE_SHOW:
    case HF_STORE_LEASE_PHASE:
    case HF_STORE_WATCH:
        break;
    }
    return false;
}

static enum sim_fate draw_fate(struct sim_state *state, enum hf_store_kind kind)
{
    const struct hf_sim_faults *faults = &state->options.faults;

    if (changes_something(kind)) {
        if (hf_sim_random_hits(&state->random, faults->unknown_done))
            return SIM_UNKNOWN_DONE;
        if (hf_sim_random_hits(&state->random, faults->unknown_not))
            return SIM_UNKNOWN_NOT;
        if (hf_sim_random_hits(&state->random, faults->unknown_late))
            return SIM_UNKNOWN_LATE;
        if (hf_sim_random_hits(&state->random, faults->answer_lost))
            return hf_sim_random_below(&state->random, 2) ? SIM_LOST_DONE
                                                          : SIM_LOST_NOT;
    }
    if (hf_sim_random_hits(&state->random, faults->failed))
        return SIM_FAILED;
    return SIM_ANSWERED;
}

static void answer_zero(struct hf_store_request *request)
{
    hf_store_request_clear(request);
    request->outcome = HF_OUTCOME_FAILED;
    request->refusal = HF_REFUSED_NOT;
    request->error.code = HF_ERR_OK;
    request->error.text[0] = '\0';
    request->revision = 0;
    request->identity = (struct hf_store_identity){.epoch_min = 0};
    request->remaining_ms = 0;
    request->proof = HF_PROOF_NONE;
    request->state_path = NULL;
    request->state_fd = -1;
    request->changes = NULL;
    request->change_count = 0;
    request->compacted = 0;
}

static void submit(struct hf_store *store, struct hf_store_request *request,
                   struct hf_time now)
{
    struct sim_handle *handle = handle_of(store);
    struct hf_sim_world *world = handle->world;
    struct sim_state *state = &world->state;
    struct hf_span delay;
    struct sim_op *op = op_new(world);

    (void)now; /* the world's clock counts */
    hf_assert(!handle->killed);
    answer_zero(request);
    op->handle = handle;
    op->request = request;
    op->process = handle->process;
    handle_link(handle, op);
    if (hf_store_request_check(request, &request->error)) {
        op->answer_at = state->now;
        sim_answer_later(world, op);
        return;
    }
    op->fate = draw_fate(state, request->kind);
    delay = sim_random_delay(state);
    op->answer_at = hf_time_add(state->now, delay);
    if (op->fate == SIM_UNKNOWN_LATE) {
        struct hf_span late = {hf_sim_random_range(
            &state->random, 0, state->options.faults.late_max.ns)};

        orphan(world, op->process, request, hf_time_add(state->now, late));
    }
    if (!delay.ns) {
        arrive(world, op);
        return;
    }
    op->stage = SIM_COMING;
    op->at = hf_time_add(state->now, (struct hf_span){hf_sim_random_range(
                                         &state->random, 0, delay.ns)});
    sim_heap_push(&world->heap, op);
}

/* Forget it; what was not carried out yet may still be. */
static void forget(struct hf_sim_world *world, struct sim_op *op)
{
    switch (op->stage) {
    case SIM_COMING:
        sim_heap_remove(&world->heap, op);
        if (changes_something(op->request->kind) &&
            op->fate != SIM_UNKNOWN_NOT && op->fate != SIM_UNKNOWN_LATE &&
            op->fate != SIM_FAILED && op->fate != SIM_LOST_NOT &&
            hf_sim_random_below(&world->state.random, 2))
            orphan(world, op->process, op->request, op->at);
        break;
    case SIM_WATCHING:
        sim_watch_unlink(world, op);
        break;
    case SIM_GOING:
        sim_heap_remove(&world->heap, op);
        break;
    case SIM_READY:
        ready_remove(op);
        break;
    case SIM_LOST:
        break;
    }
    handle_unlink(op);
    op_free(world, op);
}

static void cancel(struct hf_store *store, struct hf_store_request *request)
{
    struct sim_handle *handle = handle_of(store);
    struct sim_op *op = handle->ops;

    while (op && op->request != request)
        op = op->behind;
    if (op)
        forget(handle->world, op);
}

static struct hf_store_request *next(struct hf_store *store, struct hf_time now)
{
    struct sim_handle *handle = handle_of(store);
    struct sim_op *op = handle->ready;
    struct hf_store_request *request;

    (void)now;
    if (!op)
        return NULL;
    request = op->request;
    ready_remove(op);
    handle_unlink(op);
    op_free(handle->world, op);
    return request;
}

static int no_fd(struct hf_store *store)
{
    (void)store;
    return -1;
}

static struct hf_time wake_at(struct hf_store *store)
{
    const struct sim_handle *handle = handle_of(store);
    struct hf_time first = HF_TIME_NEVER;

    if (handle->ready)
        return hf_sim_clock_read(handle->clock, handle->world->state.now);
    for (const struct sim_op *op = handle->ops; op; op = op->behind) {
        if (op->stage == SIM_COMING || op->stage == SIM_GOING)
            first = hf_time_min(first, op->at);
    }
    if (first.ns == INT64_MAX)
        return first;
    /* One more: a clock that runs slow must not read a moment too early. */
    return (struct hf_time){hf_sim_clock_read(handle->clock, first).ns + 1};
}

static void end_process(struct sim_handle *handle, bool tree_dead)
{
    struct sim_state *state = &handle->world->state;
    struct sim_process *process = &state->processes[handle->process - 1];

    while (handle->ops)
        forget(handle->world, handle->ops);
    process->ended = true;
    process->tree_dead = tree_dead;
    sim_leases_orphaned(state, handle->process);
    handle->killed = true;
}

static void close_handle(struct hf_store *store)
{
    struct sim_handle *handle = handle_of(store);

    if (!handle->killed)
        end_process(handle, false);
    handle->world->handle_count--;
    free(handle);
}

struct hf_store *hf_sim_open(struct hf_sim_world *world)
{
    static const struct hf_store_ops ops = {.submit = submit,
                                            .cancel = cancel,
                                            .next = next,
                                            .fd = no_fd,
                                            .wake_at = wake_at,
                                            .close = close_handle};
    struct sim_state *state = &world->state;
    struct sim_handle *handle = calloc(1, sizeof(*handle));

    if (!handle)
        return NULL;
    state->processes =
        sim_grow(state->processes, state->process_count, &state->process_room,
                 sizeof(*state->processes));
    state->processes[state->process_count++] = (struct sim_process){0};
    handle->store.ops = &ops;
    handle->store.traits = state->options.traits;
    handle->world = world;
    handle->process = (uint32_t)state->process_count;
    handle->ready_end = &handle->ready;
    world->handle_count++;
    return &handle->store;
}

void hf_sim_set_clock(struct hf_store *handle, struct hf_sim_clock clock)
{
    handle_of(handle)->clock = clock;
}

void hf_sim_kill(struct hf_store *handle, bool tree_dead)
{
    hf_assert(!handle_of(handle)->killed);
    end_process(handle_of(handle), tree_dead);
}

void hf_sim_kill_tree(struct hf_sim_world *world, uint32_t process)
{
    hf_assert(process && process <= world->state.process_count);
    world->state.processes[process - 1].tree_dead = true;
}

uint32_t hf_sim_process(const struct hf_store *handle)
{
    return ((const struct sim_handle *)handle)->process;
}
