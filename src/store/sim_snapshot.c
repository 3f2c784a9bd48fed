/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sim.h"

#include <stdlib.h>
#include <string.h>

#include "store/sim_world.h"

struct hf_sim_snapshot {
    uint64_t revision;
    uint32_t epoch_min;
    struct sim_key *keys; /* their leases are named by the ids beside them */
    hf_lease_id *key_leases;
    size_t key_count;
    struct sim_lease *leases;
    size_t lease_count;
};

struct hf_sim_snapshot *hf_sim_snapshot_take(struct hf_sim_world *world)
{
    const struct sim_state *state = &world->state;
    struct hf_sim_snapshot *snapshot = sim_memory(calloc(1, sizeof(*snapshot)));

    snapshot->revision = state->revision;
    snapshot->epoch_min = state->identity.epoch_min;
    snapshot->key_count = state->key_count;
    snapshot->keys =
        sim_memory(calloc(state->key_count + 1, sizeof(*snapshot->keys)));
    snapshot->key_leases =
        sim_memory(calloc(state->key_count + 1, sizeof(hf_lease_id)));
    for (size_t i = 0; i < state->key_count; i++) {
        const struct sim_key *key = state->keys[i];

        snapshot->keys[i] = (struct sim_key){.key = sim_blob_keep(key->key),
                                             .value = sim_blob_keep(key->value),
                                             .created = key->created,
                                             .changed = key->changed};
        snapshot->key_leases[i] = key->lease ? key->lease->id : 0;
    }
    snapshot->lease_count = state->lease_count;
    snapshot->leases =
        sim_memory(calloc(state->lease_count + 1, sizeof(*snapshot->leases)));
    for (size_t i = 0; i < state->lease_count; i++)
        snapshot->leases[i] = *state->leases[i];
    return snapshot;
}

void hf_sim_snapshot_free(struct hf_sim_snapshot *snapshot)
{
    if (!snapshot)
        return;
    for (size_t i = 0; i < snapshot->key_count; i++) {
        sim_blob_drop(snapshot->keys[i].key);
        sim_blob_drop(snapshot->keys[i].value);
    }
    free(snapshot->keys);
    free(snapshot->key_leases);
    free(snapshot->leases);
    free(snapshot);
}

static void new_id(struct sim_state *state)
{
    for (size_t i = 0; i < sizeof(state->identity.id); i++)
        state->identity.id[i] = (uint8_t)hf_sim_random_next(&state->random);
}

static void set_identity(struct sim_state *state,
                         const struct hf_sim_snapshot *snapshot,
                         enum hf_sim_restore how)
{
    switch (how) {
    case HF_SIM_RESTORE_RISING:
        state->revision = state->revision_top;
        /* A copy from before a raise brings back revisions that may have been
         * issued again since. */
        if (snapshot->epoch_min < state->identity.epoch_min)
            state->identity.epoch_min++;
        break;
    case HF_SIM_RESTORE_NEW_ID:
        state->revision = state->revision_top;
        new_id(state);
        break;
    case HF_SIM_RESTORE_EPOCH:
        state->revision = snapshot->revision;
        state->identity.epoch_min++;
        break;
    case HF_SIM_RESTORE_NEW_LIFE:
        state->revision = snapshot->revision;
        for (size_t i = 0; i < sizeof(state->identity.id); i++)
            state->identity.id[i] = (uint8_t)hf_sim_random_next(&state->random);
        break;
    }
}

void hf_sim_snapshot_restore(struct hf_sim_world *world,
                             const struct hf_sim_snapshot *snapshot,
                             enum hf_sim_restore how)
{
    struct sim_state *state = &world->state;

    sim_state_empty(state);
    set_identity(state, snapshot, how);
    for (size_t i = 0; i < snapshot->lease_count; i++) {
        struct sim_lease *lease = sim_lease_insert(state, &snapshot->leases[i]);

        if (how == HF_SIM_RESTORE_NEW_LIFE)
            sim_lease_renew(state, lease);
    }
    for (size_t i = 0; i < snapshot->key_count; i++)
        sim_key_insert(state, &snapshot->keys[i],
                       sim_lease_find(state, snapshot->key_leases[i]));
    sim_log_compact(state);
    sim_watches_restored(world);
}
