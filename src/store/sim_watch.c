/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sim_world.h"

#include <stdlib.h>
#include <string.h>

static void watch_link(struct hf_sim_world *world, struct sim_op *op)
{
    op->stage = SIM_WATCHING;
    op->watch_before = NULL;
    op->watch_behind = world->watching;
    if (world->watching)
        world->watching->watch_before = op;
    world->watching = op;
}

void sim_watch_unlink(struct hf_sim_world *world, struct sim_op *op)
{
    if (op->watch_before)
        op->watch_before->watch_behind = op->watch_behind;
    else
        world->watching = op->watch_behind;
    if (op->watch_behind)
        op->watch_behind->watch_before = op->watch_before;
}

/* Number of the first entry for watches that is above `revision`. */
static uint64_t entry_above(const struct sim_log *log, uint64_t revision)
{
    uint64_t low = log->watch;
    uint64_t high = log->first + log->count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (sim_log_entry(log, middle)->change.revision <= revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool copy_change(struct hf_store_request *request,
                        const struct hf_change *from, struct hf_change *to)
{
    struct hf_record *record = &to->record;

    *to = *from;
    record->key.data =
        hf_store_copy(request, record->key.data, record->key.size);
    record->value.data =
        hf_store_copy(request, record->value.data, record->value.size);
    return record->key.data && record->value.data;
}

static void answer_memory(struct hf_store_request *request)
{
    request->outcome = HF_OUTCOME_FAILED;
    request->changes = NULL;
    request->change_count = 0;
    hf_error_set(&request->error, HF_ERR_NOMEM, "simulated store");
}

/* Is the entry told to this watch? A lost one is lost for good. */
static bool is_told(struct sim_state *state, struct sim_op *op,
                    const struct sim_entry *entry)
{
    return entry->change.revision > op->request->after &&
           sim_has_prefix(entry->change.record.key, op->request->prefix) &&
           !hf_sim_random_hits(&state->random,
                               state->options.faults.watch_lost);
}

/* Collect what is new for a watch; true when there was something to tell. */
static bool watch_collect(struct sim_state *state, struct sim_op *op)
{
    struct hf_store_request *request = op->request;
    uint64_t end = state->log.first + state->log.count;
    uint64_t number = op->cursor;
    struct hf_change *changes;
    size_t count = 0;

    op->cursor = end;
    while (number < end &&
           !is_told(state, op, sim_log_entry(&state->log, number)))
        number++;
    if (number == end)
        return false;
    request->outcome = HF_OUTCOME_COMMITTED;
    sim_sign(state, request);
    changes = hf_store_alloc(request, (end - number) * sizeof(*changes));
    if (!changes) {
        answer_memory(request);
        return true;
    }
    do { /* the first one was told already, and is not drawn again */
        const struct sim_entry *entry = sim_log_entry(&state->log, number);

        if (!count || is_told(state, op, entry)) {
            if (!copy_change(request, &entry->change, &changes[count++])) {
                answer_memory(request);
                return true;
            }
        }
    } while (++number < end);
    request->changes = changes;
    request->change_count = count;
    return true;
}

static void watch_answer(struct hf_sim_world *world, struct sim_op *op)
{
    op->answer_at =
        hf_time_add(world->state.now, sim_random_delay(&world->state));
    sim_answer_later(world, op);
}

static void watch_refuse(struct hf_sim_world *world, struct sim_op *op,
                         uint64_t compacted)
{
    op->request->outcome = HF_OUTCOME_REFUSED;
    op->request->refusal = HF_REFUSED_COMPACTED;
    op->request->compacted = compacted;
    sim_sign(&world->state, op->request);
    watch_answer(world, op);
}

void sim_watch_start(struct hf_sim_world *world, struct sim_op *op)
{
    struct sim_state *state = &world->state;
    uint64_t after = op->request->after;

    if (after < state->compacted) {
        watch_refuse(world, op, state->compacted);
        return;
    }
    if (after < state->revision &&
        hf_sim_random_hits(&state->random, state->options.faults.compacted)) {
        watch_refuse(world, op, state->revision);
        return;
    }
    op->cursor = entry_above(&state->log, after);
    if (watch_collect(state, op))
        watch_answer(world, op);
    else
        watch_link(world, op);
}

/* Something was committed: whoever watches it is answered. */
void sim_watches_wake(struct hf_sim_world *world)
{
    uint64_t end = world->state.log.first + world->state.log.count;
    struct sim_op *op = world->watching;

    if (world->watched == end)
        return;
    world->watched = end;
    while (op) {
        struct sim_op *behind = op->watch_behind;

        if (watch_collect(&world->state, op)) {
            sim_watch_unlink(world, op);
            watch_answer(world, op);
        }
        op = behind;
    }
}

void sim_watches_restored(struct hf_sim_world *world)
{
    world->watched = world->state.log.first + world->state.log.count;
    while (world->watching) {
        struct sim_op *op = world->watching;

        sim_watch_unlink(world, op);
        watch_refuse(world, op, 0);
    }
}
