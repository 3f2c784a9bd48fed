/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sim_state.h"

#include <stdlib.h>
#include <string.h>

static size_t place_of(const struct sim_state *state, hf_lease_id id)
{
    size_t low = 0;
    size_t high = state->lease_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (state->leases[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct sim_lease *sim_lease_find(const struct sim_state *state, hf_lease_id id)
{
    size_t place = place_of(state, id);

    if (place < state->lease_count && state->leases[place]->id == id)
        return state->leases[place];
    return NULL;
}

struct sim_lease *sim_lease_insert(struct sim_state *state,
                                   const struct sim_lease *lease)
{
    struct sim_lease *copy = sim_memory(malloc(sizeof(*copy)));
    size_t place = place_of(state, lease->id);

    *copy = *lease;
    copy->keys = NULL;
    state->leases = sim_grow(state->leases, state->lease_count,
                             &state->lease_room, sizeof(struct sim_lease *));
    memmove(&state->leases[place + 1], &state->leases[place],
            (state->lease_count - place) * sizeof(struct sim_lease *));
    state->leases[place] = copy;
    state->lease_count++;
    state->removal_hint = hf_time_min(state->removal_hint, copy->removal);
    return copy;
}

/* How long the world's clock takes while the store's counts `ttl_ms`. */
static struct hf_span world_span(const struct sim_state *state, int64_t ttl_ms)
{
    struct hf_span span = hf_span_ms(ttl_ms);
    int64_t rate = 1000000 + state->options.rate_ppm;

    /* One more, so that rounding never ends a lease early. */
    span.ns = hf_sim_clock_scale(span.ns, 1000000, rate) + 1;
    return span;
}

struct sim_lease *sim_lease_new(struct sim_state *state, uint32_t process,
                                int64_t ttl_ms)
{
    /* Ids that rise, with noise, so that nobody counts on their distance. */
    uint64_t noise = hf_sim_random_below(&state->random, 1 << 16);
    struct sim_lease fresh = {.id = ++state->leases_granted << 16 | noise,
                              .ttl_ms = ttl_ms,
                              .removal = HF_TIME_NEVER,
                              .process = process};
    struct sim_lease *lease;

    if (ttl_ms < state->options.ttl_min_ms)
        fresh.ttl_ms = state->options.ttl_min_ms;
    lease = sim_lease_insert(state, &fresh);
    sim_lease_renew(state, lease);
    return lease;
}

static struct hf_span random_span(struct sim_state *state, struct hf_span most)
{
    if (most.ns <= 0)
        return (struct hf_span){0};
    return (struct hf_span){hf_sim_random_range(&state->random, 0, most.ns)};
}

void sim_lease_renew(struct sim_state *state, struct sim_lease *lease)
{
    const struct hf_sim_faults *faults = &state->options.faults;
    struct hf_span ttl = world_span(state, lease->ttl_ms);

    lease->lapses = hf_time_add(state->now, ttl);
    lease->removal = HF_TIME_NEVER;
    if (state->options.expires_by_itself)
        lease->removal =
            hf_time_add(lease->lapses, random_span(state, faults->expiry_max));
    if (hf_sim_random_hits(&state->random, faults->lease_early))
        lease->removal = hf_time_add(state->now, random_span(state, ttl));
    state->removal_hint = hf_time_min(state->removal_hint, lease->removal);
}

void sim_lease_end(struct sim_state *state, struct sim_lease *lease)
{
    size_t place = place_of(state, lease->id);

    if (lease->keys) {
        uint64_t revision = sim_next_revision(state);

        while (lease->keys)
            sim_key_delete(state, lease->keys, revision, true);
    }
    state->lease_count--;
    memmove(&state->leases[place], &state->leases[place + 1],
            (state->lease_count - place) * sizeof(struct sim_lease *));
    free(lease);
}

enum hf_lease_proof sim_lease_proof(const struct sim_state *state,
                                    const struct sim_lease *lease)
{
    const struct sim_process *process = &state->processes[lease->process - 1];

    if (!state->options.traits.local)
        return HF_PROOF_NONE;
    if (!process->ended)
        return HF_PROOF_LIVES;
    switch (lease->phase) {
    case HF_PHASE_NOTHING_STARTED:
    case HF_PHASE_GONE:
        return HF_PROOF_DEAD;
    case HF_PHASE_STARTED:
    case HF_PHASE_LEFT:
        if (!process->tree_dead)
            return HF_PROOF_LIVES;
        return lease->has_cgroup ? HF_PROOF_DEAD : HF_PROOF_NONE;
    }
    return HF_PROOF_NONE;
}

int64_t sim_lease_remaining_ms(const struct sim_state *state,
                               const struct sim_lease *lease)
{
    struct hf_span left = hf_time_since(lease->lapses, state->now);
    int64_t ns =
        hf_sim_clock_scale(left.ns, 1000000 + state->options.rate_ppm, 1000000);

    if (ns <= 0) /* below 0 is what says "lapsed" */
        return ns / 1000000 - 1;
    return ns / 1000000;
}

bool sim_lease_is_takers(const struct sim_state *state,
                         const struct sim_lease *lease, uint32_t process)
{
    if (state->options.expires_by_itself || lease->process == process)
        return false;
    return hf_time_reached(lease->lapses, state->now) ||
           sim_lease_proof(state, lease) == HF_PROOF_DEAD;
}

void sim_leases_due(struct sim_state *state)
{
    struct hf_time hint = HF_TIME_NEVER;
    size_t i = 0;

    if (!hf_time_reached(state->removal_hint, state->now))
        return;
    while (i < state->lease_count) {
        struct sim_lease *lease = state->leases[i];

        if (hf_time_reached(lease->removal, state->now)) {
            sim_lease_end(state, lease);
        } else {
            hint = hf_time_min(hint, lease->removal);
            i++;
        }
    }
    state->removal_hint = hint;
}

void sim_leases_orphaned(struct sim_state *state, uint32_t process)
{
    size_t i = state->lease_count;

    if (state->options.expires_by_itself)
        return;
    while (i-- > 0) {
        struct sim_lease *lease = state->leases[i];

        if (lease->process == process && !lease->keys)
            sim_lease_end(state, lease);
    }
}
