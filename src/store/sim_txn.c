/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sim_state.h"

#include <stdlib.h>
#include <string.h>

#include "store/check.h"

static bool begins_at(const struct sim_state *state, size_t place,
                      struct hf_bytes prefix)
{
    return place < state->key_count &&
           sim_has_prefix(sim_blob_bytes(state->keys[place]->key), prefix);
}

/* ---- conditions ---- */

static bool condition_holds(const struct sim_state *state,
                            const struct hf_condition *condition)
{
    const struct sim_key *key;

    switch (condition->kind) {
    case HF_IF_ABSENT:
        return !sim_key_find(state, condition->key);
    case HF_IF_UNCHANGED:
        key = sim_key_find(state, condition->key);
        return key && key->changed == condition->revision;
    case HF_IF_PREFIX_ABSENT:
        return !begins_at(state, sim_key_place(state, condition->key),
                          condition->key);
    }
    return false;
}

/* A lease that has lapsed and has a key that `condition` asks about. */
static struct sim_lease *in_the_way(const struct sim_state *state,
                                    uint32_t process,
                                    const struct hf_condition *condition)
{
    size_t place;

    if (condition->kind != HF_IF_PREFIX_ABSENT) {
        const struct sim_key *key = sim_key_find(state, condition->key);

        if (key && key->lease &&
            sim_lease_is_takers(state, key->lease, process))
            return key->lease;
        return NULL;
    }
    for (place = sim_key_place(state, condition->key);
         begins_at(state, place, condition->key); place++) {
        struct sim_lease *lease = state->keys[place]->lease;

        if (lease && sim_lease_is_takers(state, lease, process))
            return lease;
    }
    return NULL;
}

static void clear_the_way(struct sim_state *state, uint32_t process,
                          const struct hf_branch *branch)
{
    for (size_t i = 0; i < branch->condition_count; i++) {
        struct sim_lease *lease;

        while ((lease = in_the_way(state, process, &branch->conditions[i])))
            sim_lease_end(state, lease);
    }
}

static bool branch_holds(const struct sim_state *state,
                         const struct hf_branch *branch)
{
    for (size_t i = 0; i < branch->condition_count; i++) {
        if (!condition_holds(state, &branch->conditions[i]))
            return false;
    }
    return true;
}

static const struct hf_action *side_of(const struct hf_branch *branch,
                                       size_t *count)
{
    *count = branch->held ? branch->then_count : branch->otherwise_count;
    return branch->held ? branch->then : branch->otherwise;
}

static bool leases_are_there(const struct sim_state *state,
                             const struct hf_branch *branch)
{
    size_t count;
    const struct hf_action *actions = side_of(branch, &count);

    for (size_t i = 0; i < count; i++) {
        if (actions[i].kind == HF_DO_PUT && actions[i].lease &&
            !sim_lease_find(state, actions[i].lease))
            return false;
    }
    return true;
}

/* ---- reads ---- */

static bool copy_record(struct hf_store_request *request,
                        const struct sim_key *key, struct hf_record *to)
{
    *to = sim_key_record(key);
    to->key.data = hf_store_copy(request, to->key.data, to->key.size);
    to->value.data = hf_store_copy(request, to->value.data, to->value.size);
    return to->key.data && to->value.data;
}

static int by_creation(const void *left, const void *right)
{
    const struct sim_key *const *a = left;
    const struct sim_key *const *b = right;
    struct hf_bytes x, y;
    size_t common;
    int order;

    if ((*a)->created != (*b)->created)
        return (*a)->created < (*b)->created ? -1 : 1;
    x = sim_blob_bytes((*a)->key);
    y = sim_blob_bytes((*b)->key);
    common = x.size < y.size ? x.size : y.size;
    order = memcmp(x.data, y.data, common);
    return order ? order : (x.size > y.size) - (x.size < y.size);
}

/* state->found, sorted; how many. */
static size_t find_all(struct sim_state *state, struct hf_bytes prefix)
{
    size_t place = sim_key_place(state, prefix);
    size_t count = 0;

    for (; begins_at(state, place, prefix); place++) {
        state->found = sim_grow(state->found, count, &state->found_room,
                                sizeof(*state->found));
        state->found[count++] = state->keys[place];
    }
    if (count > 1)
        qsort(state->found, count, sizeof(*state->found), by_creation);
    return count;
}

static bool read_keys(struct hf_store_request *request,
                      struct sim_key *const *keys, size_t count,
                      struct hf_action_result *result)
{
    struct hf_record *records;

    if (!count)
        return true;
    records = hf_store_alloc(request, count * sizeof(*records));
    if (!records)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!copy_record(request, keys[i], &records[i]))
            return false;
    }
    result->records = records;
    result->record_count = count;
    return true;
}

static bool read_action(struct sim_state *state,
                        struct hf_store_request *request,
                        const struct hf_action *action,
                        struct hf_action_result *result)
{
    struct sim_key *key;
    size_t count;

    switch (action->kind) {
    case HF_DO_GET:
        key = sim_key_find(state, action->key);
        return read_keys(request, &key, key ? 1 : 0, result);
    case HF_DO_LIST:
        count = find_all(state, action->key);
        result->count = count;
        if (count > action->limit)
            count = action->limit;
        return read_keys(request, state->found, count, result);
    case HF_DO_PUT:
    case HF_DO_DELETE:
    case HF_DO_DELETE_PREFIX:
        break;
    }
    return true;
}

static bool read_branch(struct sim_state *state,
                        struct hf_store_request *request,
                        struct hf_branch *branch)
{
    size_t count;
    const struct hf_action *actions = side_of(branch, &count);
    struct hf_action_result *results;

    branch->results = NULL;
    if (!count)
        return true;
    results = hf_store_alloc(request, count * sizeof(*results));
    if (!results)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!read_action(state, request, &actions[i], &results[i]))
            return false;
    }
    branch->results = results;
    return true;
}

/* ---- writes ---- */

/* The transaction's revision, taken when something is sure to change. */
struct writing {
    struct sim_state *state;
    uint64_t revision; /* 0: nothing changed yet */
};

static uint64_t revision_of(struct writing *writing)
{
    if (!writing->revision)
        writing->revision = sim_next_revision(writing->state);
    return writing->revision;
}

static void write_action(struct writing *writing,
                         const struct hf_action *action)
{
    struct sim_state *state = writing->state;
    struct sim_key *key;
    size_t place;

    switch (action->kind) {
    case HF_DO_PUT:
        sim_key_put(state, action->key, action->value,
                    action->lease ? sim_lease_find(state, action->lease) : NULL,
                    revision_of(writing));
        break;
    case HF_DO_DELETE:
        key = sim_key_find(state, action->key);
        if (key)
            sim_key_delete(state, key, revision_of(writing), false);
        break;
    case HF_DO_DELETE_PREFIX:
        place = sim_key_place(state, action->key);
        while (begins_at(state, place, action->key))
            sim_key_delete(state, state->keys[place], revision_of(writing),
                           false);
        break;
    case HF_DO_GET:
    case HF_DO_LIST:
        break;
    }
}

static void write_branch(struct writing *writing,
                         const struct hf_branch *branch)
{
    size_t count;
    const struct hf_action *actions = side_of(branch, &count);

    for (size_t i = 0; i < count; i++)
        write_action(writing, &actions[i]);
}

void sim_txn(struct sim_state *state, uint32_t process,
             struct hf_store_request *request)
{
    struct hf_branch *branches = request->branches;
    struct writing writing = {.state = state};

    if (!state->options.expires_by_itself && hf_store_txn_writes(request)) {
        for (size_t i = 0; i < request->branch_count; i++)
            clear_the_way(state, process, &branches[i]);
    }
    for (size_t i = 0; i < request->branch_count; i++)
        branches[i].held = branch_holds(state, &branches[i]);
    for (size_t i = 0; i < request->branch_count; i++) {
        if (!leases_are_there(state, &branches[i])) {
            request->outcome = HF_OUTCOME_REFUSED;
            request->refusal = HF_REFUSED_LEASE;
            return;
        }
    }
    for (size_t i = 0; i < request->branch_count; i++) {
        if (!read_branch(state, request, &branches[i])) {
            request->outcome = HF_OUTCOME_FAILED;
            hf_error_set(&request->error, HF_ERR_NOMEM, "simulated store");
            return;
        }
    }
    for (size_t i = 0; i < request->branch_count; i++)
        write_branch(&writing, &branches[i]);
    if (writing.revision && request->epoch > state->identity.epoch_min)
        state->identity.epoch_min = request->epoch;
    request->outcome = HF_OUTCOME_COMMITTED;
}
