/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sim_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

void *sim_memory(void *memory)
{
    hf_assert(memory != NULL);
    return memory;
}

void *sim_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room ? *room * 2 : 16;
    return sim_memory(realloc(array, *room * size));
}

struct sim_blob *sim_blob_new(struct hf_bytes bytes)
{
    struct sim_blob *blob = sim_memory(malloc(sizeof(*blob) + bytes.size + 1));

    blob->refs = 1;
    blob->size = (uint32_t)bytes.size;
    if (bytes.size)
        memcpy(blob->data, bytes.data, bytes.size);
    blob->data[bytes.size] = '\0';
    return blob;
}

struct sim_blob *sim_blob_keep(struct sim_blob *blob)
{
    blob->refs++;
    return blob;
}

void sim_blob_drop(struct sim_blob *blob)
{
    if (--blob->refs == 0)
        free(blob);
}

struct hf_bytes sim_blob_bytes(const struct sim_blob *blob)
{
    return (struct hf_bytes){.data = blob->data, .size = blob->size};
}

/* ---- the log ---- */

static void drop_entry(struct sim_entry *entry)
{
    sim_blob_drop(entry->key);
    sim_blob_drop(entry->value);
}

/* Entries that neither the oracle nor a watch will ask for are dropped. */
static void log_trim(struct sim_state *state)
{
    struct sim_log *log = &state->log;
    uint64_t end = log->first + log->count;
    uint32_t most = state->options.history_max;

    while (most && end - log->watch > most) {
        state->compacted = sim_log_entry(log, log->watch)->change.revision;
        log->watch++;
    }
    while (log->first < log->watch && log->first < log->told) {
        drop_entry(&log->entries[log->start]);
        log->start++;
        log->count--;
        log->first++;
    }
}

static void log_add(struct sim_state *state, const struct hf_change *change,
                    const struct sim_key *key)
{
    struct sim_log *log = &state->log;
    struct sim_entry *entry;

    log_trim(state);
    if (log->start > log->count) {
        memmove(log->entries, log->entries + log->start,
                log->count * sizeof(*log->entries));
        log->start = 0;
    }
    log->entries = sim_grow(log->entries, log->start + log->count, &log->room,
                            sizeof(*log->entries));
    entry = &log->entries[log->start + log->count++];
    entry->change = *change;
    entry->key = sim_blob_keep(key->key);
    entry->value = sim_blob_keep(key->value);
}

const struct sim_entry *sim_log_entry(const struct sim_log *log,
                                      uint64_t number)
{
    return &log->entries[log->start + (number - log->first)];
}

void sim_log_compact(struct sim_state *state)
{
    state->log.watch = state->log.first + state->log.count;
    state->compacted = state->revision;
}

/* ---- keys ---- */

bool sim_has_prefix(struct hf_bytes key, struct hf_bytes prefix)
{
    return key.size >= prefix.size &&
           (!prefix.size || memcmp(key.data, prefix.data, prefix.size) == 0);
}

static int compare(struct hf_bytes a, struct hf_bytes b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common ? memcmp(a.data, b.data, common) : 0;

    return order ? order : (a.size > b.size) - (a.size < b.size);
}

size_t sim_key_place(const struct sim_state *state, struct hf_bytes key)
{
    size_t low = 0;
    size_t high = state->key_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(sim_blob_bytes(state->keys[middle]->key), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct sim_state *state, size_t place,
                  struct hf_bytes key)
{
    return place < state->key_count &&
           compare(sim_blob_bytes(state->keys[place]->key), key) == 0;
}

struct sim_key *sim_key_find(const struct sim_state *state, struct hf_bytes key)
{
    size_t place = sim_key_place(state, key);

    return is_at(state, place, key) ? state->keys[place] : NULL;
}

struct hf_record sim_key_record(const struct sim_key *key)
{
    return (struct hf_record){.key = sim_blob_bytes(key->key),
                              .value = sim_blob_bytes(key->value),
                              .created = key->created,
                              .changed = key->changed,
                              .lease = key->lease ? key->lease->id : 0};
}

static void detach(struct sim_key *key)
{
    if (!key->lease)
        return;
    if (key->before)
        key->before->behind = key->behind;
    else
        key->lease->keys = key->behind;
    if (key->behind)
        key->behind->before = key->before;
    key->lease = NULL;
    key->before = NULL;
    key->behind = NULL;
}

static void attach(struct sim_key *key, struct sim_lease *lease)
{
    if (!lease)
        return;
    key->lease = lease;
    key->behind = lease->keys;
    if (lease->keys)
        lease->keys->before = key;
    lease->keys = key;
}

static void insert_at(struct sim_state *state, size_t place,
                      struct sim_key *key)
{
    state->keys = sim_grow(state->keys, state->key_count, &state->key_room,
                           sizeof(*state->keys));
    memmove(&state->keys[place + 1], &state->keys[place],
            (state->key_count - place) * sizeof(*state->keys));
    state->keys[place] = key;
    state->key_count++;
}

uint64_t sim_next_revision(struct sim_state *state)
{
    uint64_t most = state->options.revision_step_max;

    state->revision +=
        most > 1 ? 1 + hf_sim_random_below(&state->random, most) : 1;
    if (state->revision > state->revision_top)
        state->revision_top = state->revision;
    state->commits++;
    return state->revision;
}

void sim_key_put(struct sim_state *state, struct hf_bytes key,
                 struct hf_bytes value, struct sim_lease *lease,
                 uint64_t revision)
{
    size_t place = sim_key_place(state, key);
    struct sim_key *at;
    struct hf_change change = {.revision = revision};

    if (is_at(state, place, key)) {
        at = state->keys[place];
        sim_blob_drop(at->value);
        detach(at);
    } else {
        at = sim_memory(calloc(1, sizeof(*at)));
        at->key = sim_blob_new(key);
        at->created = revision;
        insert_at(state, place, at);
    }
    at->value = sim_blob_new(value);
    at->changed = revision;
    attach(at, lease);
    change.record = sim_key_record(at);
    log_add(state, &change, at);
}

static void free_key(struct sim_key *key)
{
    detach(key);
    sim_blob_drop(key->key);
    sim_blob_drop(key->value);
    free(key);
}

void sim_key_delete(struct sim_state *state, struct sim_key *key,
                    uint64_t revision, bool by_lease)
{
    size_t place = sim_key_place(state, sim_blob_bytes(key->key));
    struct hf_change change = {.is_delete = true,
                               .by_lease = by_lease,
                               .revision = revision,
                               .record = sim_key_record(key)};

    log_add(state, &change, key);
    state->key_count--;
    memmove(&state->keys[place], &state->keys[place + 1],
            (state->key_count - place) * sizeof(*state->keys));
    free_key(key);
}

void sim_key_insert(struct sim_state *state, const struct sim_key *key,
                    struct sim_lease *lease)
{
    struct sim_key *copy = sim_memory(calloc(1, sizeof(*copy)));

    copy->key = sim_blob_keep(key->key);
    copy->value = sim_blob_keep(key->value);
    copy->created = key->created;
    copy->changed = key->changed;
    attach(copy, lease);
    insert_at(state, sim_key_place(state, sim_blob_bytes(key->key)), copy);
}

/* ---- the whole ---- */

void sim_state_init(struct sim_state *state,
                    const struct hf_sim_options *options)
{
    *state = (struct sim_state){.options = *options,
                                .random = {options->seed},
                                .removal_hint = HF_TIME_NEVER};
    for (size_t i = 0; i < sizeof(state->identity.id); i++)
        state->identity.id[i] = (uint8_t)hf_sim_random_next(&state->random);
    state->identity.epoch_min = 1;
    if (options->first_revision)
        state->revision = options->first_revision - 1;
    state->revision_top = state->revision;
    state->compacted = state->revision;
}

void sim_state_empty(struct sim_state *state)
{
    for (size_t i = 0; i < state->key_count; i++)
        free_key(state->keys[i]);
    state->key_count = 0;
    for (size_t i = 0; i < state->lease_count; i++)
        free(state->leases[i]);
    state->lease_count = 0;
    state->removal_hint = HF_TIME_NEVER;
}

void sim_state_clear(struct sim_state *state)
{
    struct sim_log *log = &state->log;

    sim_state_empty(state);
    for (size_t i = 0; i < log->count; i++)
        drop_entry(&log->entries[log->start + i]);
    free(log->entries);
    free(state->keys);
    free(state->leases);
    free(state->processes);
    free(state->found);
    *state = (struct sim_state){0};
}
