/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the simulated store: keys, leases, the log of changes, and what
 * transactions do to them. No requests in flight, no faults but those of
 * leases: those are sim.c's. Private to src/store/sim*.c.
 */
#ifndef HF_STORE_SIM_STATE_H
#define HF_STORE_SIM_STATE_H

#include "store/sim.h"
#include "store/sim_random.h"

/* Bytes that keys, the log and snapshots share. */
struct sim_blob {
    uint32_t refs;
    uint32_t size;
    char data[];
};

struct sim_lease;

struct sim_key {
    struct sim_blob *key;
    struct sim_blob *value;
    uint64_t created;
    uint64_t changed;
    struct sim_lease *lease; /* NULL for none */
    struct sim_key *before;  /* of the keys of one lease */
    struct sim_key *behind;
};

struct sim_lease {
    hf_lease_id id;
    int64_t ttl_ms;
    struct hf_time lapses;  /* in the world's time */
    struct hf_time removal; /* when advance removes it; NEVER: takers do */
    uint32_t process;       /* that granted it */
    enum hf_lease_phase phase;
    struct hf_lease_left left;
    bool has_cgroup;
    struct sim_key *keys;
};

/* What the kernel knows of a process that opened a handle. */
struct sim_process {
    bool ended;
    bool tree_dead;
};

struct sim_entry {
    struct hf_change change; /* its bytes are those of the two blobs */
    struct sim_blob *key;
    struct sim_blob *value;
};

/* Entries are numbered from 0 over the world's whole life. */
struct sim_log {
    struct sim_entry *entries;
    size_t start; /* where in `entries` number `first` stands */
    size_t count;
    size_t room;
    uint64_t first;
    uint64_t told;  /* number of the next one that the oracle is told */
    uint64_t watch; /* number of the first one that watches are told */
};

/* All kept in order: keys by their bytes, leases by id. */
struct sim_state {
    struct hf_sim_options options;
    struct hf_sim_random random;
    struct hf_time now;
    struct hf_store_identity identity;
    uint64_t revision;
    uint64_t revision_top; /* the highest of all lives */
    uint64_t compacted;
    uint64_t commits;

    struct sim_key **keys;
    size_t key_count;
    size_t key_room;
    struct sim_lease **leases;
    size_t lease_count;
    size_t lease_room;
    uint64_t leases_granted;     /* over all lives: ids are never reused */
    struct hf_time removal_hint; /* no removal is due before */

    struct sim_process *processes; /* number - 1 */
    size_t process_count;
    size_t process_room;

    struct sim_log log;
    struct sim_key **found; /* room for what a LIST sorts */
    size_t found_room;
};

/* The pointer, or the end of the program. */
void *sim_memory(void *memory);
/* Room for one more element in an array of `room`. */
void *sim_grow(void *array, size_t count, size_t *room, size_t size);

struct sim_blob *sim_blob_new(struct hf_bytes bytes);
struct sim_blob *sim_blob_keep(struct sim_blob *blob);
void sim_blob_drop(struct sim_blob *blob);
struct hf_bytes sim_blob_bytes(const struct sim_blob *blob);

void sim_state_init(struct sim_state *state,
                    const struct hf_sim_options *options);
void sim_state_clear(struct sim_state *state);

/* Index of the first key that is not below `key`. */
size_t sim_key_place(const struct sim_state *state, struct hf_bytes key);
struct sim_key *sim_key_find(const struct sim_state *state,
                             struct hf_bytes key);
bool sim_has_prefix(struct hf_bytes key, struct hf_bytes prefix);
struct hf_record sim_key_record(const struct sim_key *key);
/* The next revision; call it when it is sure that something changes. */
uint64_t sim_next_revision(struct sim_state *state);
void sim_key_put(struct sim_state *state, struct hf_bytes key,
                 struct hf_bytes value, struct sim_lease *lease,
                 uint64_t revision);
void sim_key_delete(struct sim_state *state, struct sim_key *key,
                    uint64_t revision, bool by_lease);
/* Put a key as it is, untold: restores. */
void sim_key_insert(struct sim_state *state, const struct sim_key *key,
                    struct sim_lease *lease);
/* Drop all keys and leases, untold. */
void sim_state_empty(struct sim_state *state);
/* By its number, which must be one that is still kept. */
const struct sim_entry *sim_log_entry(const struct sim_log *log,
                                      uint64_t number);
/* Nothing that was changed up to now is told to watches. */
void sim_log_compact(struct sim_state *state);

struct sim_lease *sim_lease_find(const struct sim_state *state, hf_lease_id id);
struct sim_lease *sim_lease_new(struct sim_state *state, uint32_t process,
                                int64_t ttl_ms);
/* Count its TTL from now. */
void sim_lease_renew(struct sim_state *state, struct sim_lease *lease);
/* End it, its keys too, in a revision of their own if there are any. */
void sim_lease_end(struct sim_state *state, struct sim_lease *lease);
enum hf_lease_proof sim_lease_proof(const struct sim_state *state,
                                    const struct sim_lease *lease);
int64_t sim_lease_remaining_ms(const struct sim_state *state,
                               const struct sim_lease *lease);
/* Do takers other than `process` remove it? */
bool sim_lease_is_takers(const struct sim_state *state,
                         const struct sim_lease *lease, uint32_t process);
/* End the leases whose removal is due now. */
void sim_leases_due(struct sim_state *state);
/* `process` is gone: so are its leases without keys, if takers remove. */
void sim_leases_orphaned(struct sim_state *state, uint32_t process);
/* Insert a copy in its place, without keys: restores. */
struct sim_lease *sim_lease_insert(struct sim_state *state,
                                   const struct sim_lease *lease);

/* Carry a transaction of `process` out and answer it (sim_txn.c). */
void sim_txn(struct sim_state *state, uint32_t process,
             struct hf_store_request *request);

#endif
