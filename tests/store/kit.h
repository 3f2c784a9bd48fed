/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the conformance suite is written with: an adapter for each store, and
 * short ways to ask a store for something and judge the answer. Nothing here
 * knows which store it is; what store.h leaves open stands in the adapter.
 */
#ifndef HF_TESTS_STORE_KIT_H
#define HF_TESTS_STORE_KIT_H

#include "store/store.h"
#include "tests/lib/cmocka_all.h"

/* A store of nobody else's, and its time. */
struct bench;

struct adapter;
/* What a process does that is killed afterwards; no cmocka in it. */
typedef void victim_fn(const struct adapter *adapter, struct bench *bench,
                       struct hf_store *store, void *shared);

struct adapter {
    const char *name;
    /* Takers remove lapsed leases; otherwise the store does, by itself. */
    bool takers_remove;
    /* How much later than its TTL a lease may be removed by the store. */
    struct hf_span removal_max;
    /* How long a request may be on its way. */
    struct hf_span delay_max;
    /* It does not keep all changes for ever. */
    bool compacts;
    /* A fresh, empty store. */
    struct bench *(*make)(void);
    void (*drop)(struct bench *bench);
    /* A handle on it, as another process would have one. */
    struct hf_store *(*open)(struct bench *bench);
    struct hf_time (*now)(struct bench *bench);
    void (*pass)(struct bench *bench, struct hf_span span);
    /*
     * Run `script` in another process, with a handle of its own, and kill that
     * process when it returns. What it writes into `shared` (`bytes` of it)
     * comes back.
     */
    void (*die)(struct bench *bench, victim_fn *script, void *shared,
                size_t bytes);
};

/* Every test has one: a fresh store and two handles on it. */
struct kit {
    const struct adapter *adapter;
    struct bench *bench;
    struct hf_store *a;
    struct hf_store *b;
};

int kit_setup(void **state);
int kit_teardown(void **state);
/* All suites against one store; the number of failed tests. */
int kit_main(const struct adapter *adapter);

/* ---- time ---- */

void kit_pass_ms(struct kit *kit, int64_t ms);
/* So long that a lease of `ttl_ms` is removed if the store does it. */
void kit_pass_lapse(struct kit *kit, int64_t ttl_ms);

/* ---- asking ---- */

void kit_submit(struct kit *kit, struct hf_store *store,
                struct hf_store_request *request);
/* The next answered request of a handle, waited for, but not for ever. */
struct hf_store_request *kit_next(struct kit *kit, struct hf_store *store);
/* Nothing comes, though it is waited for. */
void kit_silent(struct kit *kit, struct hf_store *store);
/* Submit and wait; there must be nothing else that can be answered. */
void kit_run(struct kit *kit, struct hf_store *store,
             struct hf_store_request *request);
void kit_run_on_bench(const struct adapter *adapter, struct bench *bench,
                      struct hf_store *store, struct hf_store_request *request);

/* ---- transactions ---- */

enum { TXN_CONDITIONS = 20, TXN_ACTIONS = 20, TXN_BRANCHES = 8 };

/* A transaction of a few branches, built one after the other. */
struct txn {
    struct hf_store_request request;
    struct hf_branch branches[TXN_BRANCHES];
    struct hf_condition conditions[TXN_BRANCHES][TXN_CONDITIONS];
    struct hf_action then[TXN_BRANCHES][TXN_ACTIONS];
    struct hf_action otherwise[TXN_BRANCHES][TXN_ACTIONS];
};

struct hf_bytes bytes_of(const char *text);
/* One empty branch; the request must be fresh or cleared. */
void txn_begin(struct txn *txn);
/* What follows belongs to a new branch. */
void txn_branch(struct txn *txn);
void txn_if_absent(struct txn *txn, const char *key);
void txn_if_unchanged(struct txn *txn, const char *key, uint64_t revision);
void txn_if_prefix_absent(struct txn *txn, const char *prefix);
/* To `then` of the present branch; the _else ones to `otherwise`. */
void txn_put(struct txn *txn, const char *key, const char *value,
             hf_lease_id lease);
void txn_put_else(struct txn *txn, const char *key, const char *value,
                  hf_lease_id lease);
void txn_delete(struct txn *txn, const char *key);
void txn_delete_else(struct txn *txn, const char *key);
void txn_delete_prefix(struct txn *txn, const char *prefix);
void txn_get(struct txn *txn, const char *key);
void txn_get_else(struct txn *txn, const char *key);
void txn_list(struct txn *txn, const char *prefix, uint32_t limit);
/* Run it; it must be COMMITTED. Its revision. */
uint64_t txn_commit(struct kit *kit, struct hf_store *store, struct txn *txn);
/* Run it; it must be FAILED for its form, REFUSED for its lease. */
void txn_fail(struct kit *kit, struct hf_store *store, struct txn *txn);
void txn_refuse(struct kit *kit, struct hf_store *store, struct txn *txn);
/* The record that read number `place` of branch 0 found, or NULL. */
const struct hf_record *txn_record(const struct txn *txn, size_t place);
void txn_end(struct txn *txn);

/* ---- whole questions ---- */

/* Put one key; its revision. */
uint64_t put(struct kit *kit, struct hf_store *store, const char *key,
             const char *value, hf_lease_id lease);
uint64_t delete_key(struct kit *kit, struct hf_store *store, const char *key);
uint64_t revision_now(struct kit *kit);

/* A key as GET tells it, kept in plain members. */
struct seen {
    bool exists;
    char value[64];
    uint64_t created;
    uint64_t changed;
    hf_lease_id lease;
};
struct seen get(struct kit *kit, struct hf_store *store, const char *key);
bool exists(struct kit *kit, struct hf_store *store, const char *key);
/* Put `key` if it is absent: was it? */
bool take(struct kit *kit, struct hf_store *store, const char *key,
          hf_lease_id lease);

hf_lease_id grant(struct kit *kit, struct hf_store *store, int64_t ttl_ms);
/* REFUSED for its lease is false; anything but COMMITTED fails the test. */
bool renew(struct kit *kit, struct hf_store *store, hf_lease_id lease);
bool revoke_lease(struct kit *kit, struct hf_store *store, hf_lease_id lease);

/* ---- watches ---- */

void watch_begin(struct hf_store_request *request, const char *prefix,
                 uint64_t after);
/* Change number `index` of an answered watch. */
void expect_change(const struct hf_store_request *watch, size_t index,
                   const char *key, bool is_delete, bool by_lease,
                   uint64_t revision);

/* ---- the suites ---- */

extern const struct CMUnitTest suite_txn[], suite_list[], suite_identity[],
    suite_lease[], suite_lapse[], suite_takers[], suite_watch[],
    suite_request[];
extern const size_t suite_txn_count, suite_list_count, suite_identity_count,
    suite_lease_count, suite_lapse_count, suite_takers_count, suite_watch_count,
    suite_request_count;

#define KIT_TEST(name)                                                         \
    cmocka_unit_test_setup_teardown(name, kit_setup, kit_teardown)

#endif
