/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/store/kit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of waiting before a test gives up, or believes that nothing comes. */
enum { ROUNDS_MAX = 500, SILENT_ROUNDS = 6, POLL_MS = 10 };

/* Which adapter kit_setup uses: cmocka's tests take no argument. */
static const struct adapter *current;

int kit_setup(void **state)
{
    struct kit *kit = calloc(1, sizeof(*kit));

    assert_non_null(kit);
    kit->adapter = current;
    kit->bench = current->make();
    assert_non_null(kit->bench);
    kit->a = current->open(kit->bench);
    assert_non_null(kit->a);
    kit->b = current->open(kit->bench);
    assert_non_null(kit->b);
    *state = kit;
    return 0;
}

int kit_teardown(void **state)
{
    struct kit *kit = *state;

    if (kit->a)
        kit->a->ops->close(kit->a);
    if (kit->b)
        kit->b->ops->close(kit->b);
    kit->adapter->drop(kit->bench);
    free(kit);
    return 0;
}

/* ---- time ---- */

void kit_pass_ms(struct kit *kit, int64_t ms)
{
    kit->adapter->pass(kit->bench, hf_span_ms(ms));
}

void kit_pass_lapse(struct kit *kit, int64_t ttl_ms)
{
    kit_pass_ms(kit, ttl_ms + 1);
    kit->adapter->pass(kit->bench, kit->adapter->removal_max);
}

/* ---- asking ---- */

void kit_submit(struct kit *kit, struct hf_store *store,
                struct hf_store_request *request)
{
    hf_store_submit(store, request, kit->adapter->now(kit->bench));
}

/* Until fd or wake_at says that there may be something. */
static void wait_for_store(const struct adapter *adapter, struct bench *bench,
                           struct hf_store *store)
{
    struct hf_time wake_at = store->ops->wake_at(store);
    struct hf_time now = adapter->now(bench);
    struct pollfd poll_fd = {.fd = store->ops->fd(store), .events = POLLIN};

    if (poll_fd.fd >= 0 && poll(&poll_fd, 1, POLL_MS) > 0)
        return;
    if (wake_at.ns != INT64_MAX && wake_at.ns > now.ns)
        adapter->pass(bench, hf_time_since(wake_at, now));
}

static struct hf_store_request *next_on_bench(const struct adapter *adapter,
                                              struct bench *bench,
                                              struct hf_store *store,
                                              int rounds)
{
    while (rounds-- > 0) {
        struct hf_store_request *request =
            hf_store_next(store, adapter->now(bench));

        if (request)
            return request;
        wait_for_store(adapter, bench, store);
    }
    return NULL;
}

struct hf_store_request *kit_next(struct kit *kit, struct hf_store *store)
{
    struct hf_store_request *request =
        next_on_bench(kit->adapter, kit->bench, store, ROUNDS_MAX);

    assert_non_null(request);
    return request;
}

void kit_silent(struct kit *kit, struct hf_store *store)
{
    for (int i = 0; i < SILENT_ROUNDS; i++) {
        kit_pass_ms(kit, 500);
        assert_null(next_on_bench(kit->adapter, kit->bench, store, 1));
    }
}

void kit_run_on_bench(const struct adapter *adapter, struct bench *bench,
                      struct hf_store *store, struct hf_store_request *request)
{
    hf_store_submit(store, request, adapter->now(bench));
    if (next_on_bench(adapter, bench, store, ROUNDS_MAX) != request)
        abort(); /* also in a process of its own, where no assert may be */
}

void kit_run(struct kit *kit, struct hf_store *store,
             struct hf_store_request *request)
{
    kit_submit(kit, store, request);
    assert_ptr_equal(kit_next(kit, store), request);
    /* Nothing is disturbed here, so nothing can be unknown. */
    assert_int_not_equal(request->outcome, HF_OUTCOME_UNKNOWN);
}

/* ---- transactions ---- */

struct hf_bytes bytes_of(const char *text)
{
    return (struct hf_bytes){.data = text, .size = strlen(text)};
}

void txn_begin(struct txn *txn)
{
    *txn = (struct txn){.request.kind = HF_STORE_TXN};
    txn->request.branches = txn->branches;
    txn_branch(txn);
}

void txn_branch(struct txn *txn)
{
    size_t place = txn->request.branch_count++;
    struct hf_branch *branch = &txn->branches[place];

    assert_true(place < TXN_BRANCHES);
    branch->conditions = txn->conditions[place];
    branch->then = txn->then[place];
    branch->otherwise = txn->otherwise[place];
}

static void add_condition(struct txn *txn, enum hf_condition_kind kind,
                          const char *key, uint64_t revision)
{
    size_t place = txn->request.branch_count - 1;
    size_t at = txn->branches[place].condition_count++;

    assert_true(at < TXN_CONDITIONS);
    txn->conditions[place][at] = (struct hf_condition){
        .kind = kind, .key = bytes_of(key), .revision = revision};
}

void txn_if_absent(struct txn *txn, const char *key)
{
    add_condition(txn, HF_IF_ABSENT, key, 0);
}

void txn_if_unchanged(struct txn *txn, const char *key, uint64_t revision)
{
    add_condition(txn, HF_IF_UNCHANGED, key, revision);
}

void txn_if_prefix_absent(struct txn *txn, const char *prefix)
{
    add_condition(txn, HF_IF_PREFIX_ABSENT, prefix, 0);
}

static struct hf_action *add_action(struct txn *txn, bool otherwise,
                                    enum hf_action_kind kind, const char *key)
{
    size_t place = txn->request.branch_count - 1;
    struct hf_branch *branch = &txn->branches[place];
    size_t at = otherwise ? branch->otherwise_count++ : branch->then_count++;
    struct hf_action *action =
        otherwise ? &txn->otherwise[place][at] : &txn->then[place][at];

    assert_true(at < TXN_ACTIONS);
    action->kind = kind;
    action->key = bytes_of(key);
    return action;
}

static void add_put(struct txn *txn, bool otherwise, const char *key,
                    const char *value, hf_lease_id lease)
{
    struct hf_action *action = add_action(txn, otherwise, HF_DO_PUT, key);

    action->value = bytes_of(value);
    action->lease = lease;
}

void txn_put(struct txn *txn, const char *key, const char *value,
             hf_lease_id lease)
{
    add_put(txn, false, key, value, lease);
}

void txn_put_else(struct txn *txn, const char *key, const char *value,
                  hf_lease_id lease)
{
    add_put(txn, true, key, value, lease);
}

void txn_delete(struct txn *txn, const char *key)
{
    add_action(txn, false, HF_DO_DELETE, key);
}

void txn_delete_else(struct txn *txn, const char *key)
{
    add_action(txn, true, HF_DO_DELETE, key);
}

void txn_delete_prefix(struct txn *txn, const char *prefix)
{
    add_action(txn, false, HF_DO_DELETE_PREFIX, prefix);
}

void txn_get(struct txn *txn, const char *key)
{
    add_action(txn, false, HF_DO_GET, key);
}

void txn_get_else(struct txn *txn, const char *key)
{
    add_action(txn, true, HF_DO_GET, key);
}

void txn_list(struct txn *txn, const char *prefix, uint32_t limit)
{
    add_action(txn, false, HF_DO_LIST, prefix)->limit = limit;
}

uint64_t txn_commit(struct kit *kit, struct hf_store *store, struct txn *txn)
{
    kit_run(kit, store, &txn->request);
    assert_string_equal(txn->request.error.text, "");
    assert_int_equal(txn->request.outcome, HF_OUTCOME_COMMITTED);
    assert_int_equal(txn->request.refusal, HF_REFUSED_NOT);
    return txn->request.revision;
}

void txn_fail(struct kit *kit, struct hf_store *store, struct txn *txn)
{
    kit_run(kit, store, &txn->request);
    assert_int_equal(txn->request.outcome, HF_OUTCOME_FAILED);
    assert_int_equal(txn->request.error.code, HF_ERR_USAGE);
    assert_string_not_equal(txn->request.error.text, "");
    assert_int_equal(txn->request.revision, 0);
}

void txn_refuse(struct kit *kit, struct hf_store *store, struct txn *txn)
{
    kit_run(kit, store, &txn->request);
    assert_int_equal(txn->request.outcome, HF_OUTCOME_REFUSED);
    assert_int_equal(txn->request.refusal, HF_REFUSED_LEASE);
    assert_int_not_equal(txn->request.revision, 0);
}

const struct hf_record *txn_record(const struct txn *txn, size_t place)
{
    const struct hf_action_result *result = &txn->branches[0].results[place];

    assert_true(result->record_count <= 1);
    return result->record_count ? &result->records[0] : NULL;
}

void txn_end(struct txn *txn)
{
    hf_store_request_clear(&txn->request);
}

/* ---- whole questions ---- */

uint64_t put(struct kit *kit, struct hf_store *store, const char *key,
             const char *value, hf_lease_id lease)
{
    struct txn txn;
    uint64_t revision;

    txn_begin(&txn);
    txn_put(&txn, key, value, lease);
    revision = txn_commit(kit, store, &txn);
    txn_end(&txn);
    return revision;
}

uint64_t delete_key(struct kit *kit, struct hf_store *store, const char *key)
{
    struct txn txn;
    uint64_t revision;

    txn_begin(&txn);
    txn_delete(&txn, key);
    revision = txn_commit(kit, store, &txn);
    txn_end(&txn);
    return revision;
}

uint64_t revision_now(struct kit *kit)
{
    struct hf_store_request request = {.kind = HF_STORE_TXN};
    uint64_t revision;

    kit_run(kit, kit->b, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    revision = request.revision;
    hf_store_request_clear(&request);
    return revision;
}

struct seen get(struct kit *kit, struct hf_store *store, const char *key)
{
    struct txn txn;
    struct seen seen = {.exists = false};
    const struct hf_record *record;

    txn_begin(&txn);
    txn_get(&txn, key);
    txn_commit(kit, store, &txn);
    record = txn_record(&txn, 0);
    if (record) {
        assert_int_equal(record->key.size, strlen(key));
        assert_memory_equal(record->key.data, key, strlen(key));
        assert_true(record->value.size < sizeof(seen.value));
        memcpy(seen.value, record->value.data, record->value.size);
        seen.exists = true;
        seen.created = record->created;
        seen.changed = record->changed;
        seen.lease = record->lease;
    }
    txn_end(&txn);
    return seen;
}

bool exists(struct kit *kit, struct hf_store *store, const char *key)
{
    return get(kit, store, key).exists;
}

bool take(struct kit *kit, struct hf_store *store, const char *key,
          hf_lease_id lease)
{
    struct txn txn;
    bool taken;

    txn_begin(&txn);
    txn_if_absent(&txn, key);
    txn_put(&txn, key, "taken", lease);
    txn_commit(kit, store, &txn);
    taken = txn.branches[0].held;
    txn_end(&txn);
    return taken;
}

hf_lease_id grant(struct kit *kit, struct hf_store *store, int64_t ttl_ms)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_GRANT,
                                       .ttl_ms = ttl_ms};
    hf_lease_id lease;

    kit_run(kit, store, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    assert_int_not_equal(request.lease, 0);
    assert_true(request.ttl_ms >= ttl_ms);
    lease = request.lease;
    hf_store_request_clear(&request);
    return lease;
}

static bool ask_lease(struct kit *kit, struct hf_store *store,
                      enum hf_store_kind kind, hf_lease_id lease)
{
    struct hf_store_request request = {.kind = kind, .lease = lease};

    kit_run(kit, store, &request);
    if (request.outcome == HF_OUTCOME_REFUSED)
        assert_int_equal(request.refusal, HF_REFUSED_LEASE);
    else
        assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&request);
    return request.outcome == HF_OUTCOME_COMMITTED;
}

bool renew(struct kit *kit, struct hf_store *store, hf_lease_id lease)
{
    return ask_lease(kit, store, HF_STORE_LEASE_RENEW, lease);
}

bool revoke_lease(struct kit *kit, struct hf_store *store, hf_lease_id lease)
{
    return ask_lease(kit, store, HF_STORE_LEASE_REVOKE, lease);
}

/* ---- watches ---- */

void watch_begin(struct hf_store_request *request, const char *prefix,
                 uint64_t after)
{
    *request = (struct hf_store_request){
        .kind = HF_STORE_WATCH, .prefix = bytes_of(prefix), .after = after};
}

void expect_change(const struct hf_store_request *watch, size_t index,
                   const char *key, bool is_delete, bool by_lease,
                   uint64_t revision)
{
    const struct hf_change *change;

    assert_int_equal(watch->outcome, HF_OUTCOME_COMMITTED);
    assert_true(index < watch->change_count);
    change = &watch->changes[index];
    assert_int_equal(change->record.key.size, strlen(key));
    assert_memory_equal(change->record.key.data, key, strlen(key));
    assert_int_equal(change->is_delete, is_delete);
    assert_int_equal(change->by_lease, by_lease);
    assert_int_equal(change->revision, revision);
}

/* ---- the suites ---- */

struct suite {
    const char *name;
    const struct CMUnitTest *tests;
    size_t count;
};

static int run_suite(const struct adapter *adapter, const struct suite *suite)
{
    char name[128];

    snprintf(name, sizeof(name), "%s: %s", adapter->name, suite->name);
    print_message("%s\n", name);
    return _cmocka_run_group_tests(name, suite->tests, suite->count, NULL,
                                   NULL);
}

int kit_main(const struct adapter *adapter)
{
    const struct suite suites[] = {
        {"transactions", suite_txn, suite_txn_count},
        {"lists", suite_list, suite_list_count},
        {"revision and identity", suite_identity, suite_identity_count},
        {"leases", suite_lease, suite_lease_count},
        {"lapse", suite_lapse, suite_lapse_count},
        {"watches", suite_watch, suite_watch_count},
        {"requests", suite_request, suite_request_count},
    };
    const struct suite takers = {"takers", suite_takers, suite_takers_count};
    int failed = 0;

    current = adapter;
    for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
        failed += run_suite(adapter, &suites[i]);
    if (adapter->takers_remove)
        failed += run_suite(adapter, &takers);
    return failed;
}
