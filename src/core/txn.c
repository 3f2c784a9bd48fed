/* SPDX-License-Identifier: Apache-2.0 */
#include "core/txn.h"

#include "core/record.h"

void hf_txn_begin(struct hf_txn *txn)
{
    struct hf_store_request *store = &txn->send.store;

    hf_assert(!txn->send.out);
    hf_store_request_clear(store);
    txn->branch = (struct hf_branch){
        .conditions = txn->conditions,
        .then = txn->then,
        .otherwise = txn->otherwise,
    };
    store->kind = HF_STORE_TXN;
    store->branches = &txn->branch;
    store->branch_count = 1;
    store->epoch = 0;
    store->more = false;
    store->stand_until = (struct hf_time){0};
    store->expect = (struct hf_store_identity){.epoch_min = 0};
}

static void condition(struct hf_txn *txn, enum hf_condition_kind kind,
                      const char *key, uint64_t revision)
{
    hf_assert(txn->branch.condition_count < HF_STORE_CONDITIONS_MAX);
    txn->conditions[txn->branch.condition_count++] = (struct hf_condition){
        .kind = kind, .key = hf_bytes_of(key), .revision = revision};
}

void hf_txn_if_absent(struct hf_txn *txn, const char *key)
{
    condition(txn, HF_IF_ABSENT, key, 0);
}

void hf_txn_if_unchanged(struct hf_txn *txn, const char *key, uint64_t revision)
{
    condition(txn, HF_IF_UNCHANGED, key, revision);
}

void hf_txn_if_prefix_absent(struct hf_txn *txn, const char *prefix)
{
    condition(txn, HF_IF_PREFIX_ABSENT, prefix, 0);
}

static struct hf_action *action(struct hf_txn *txn, enum hf_side side,
                                enum hf_action_kind kind, const char *key)
{
    size_t *count = side == HF_THEN ? &txn->branch.then_count
                                    : &txn->branch.otherwise_count;
    struct hf_action *list = side == HF_THEN ? txn->then : txn->otherwise;

    hf_assert(*count < HF_STORE_ACTIONS_MAX);
    list[*count] = (struct hf_action){.kind = kind, .key = hf_bytes_of(key)};
    return &list[(*count)++];
}

void hf_txn_put(struct hf_txn *txn, enum hf_side side, const char *key,
                const char *value, size_t size, hf_lease_id lease)
{
    struct hf_action *put = action(txn, side, HF_DO_PUT, key);

    put->value = (struct hf_bytes){value, size};
    put->lease = lease;
}

void hf_txn_delete(struct hf_txn *txn, enum hf_side side, const char *key)
{
    (void)action(txn, side, HF_DO_DELETE, key);
}

void hf_txn_delete_prefix(struct hf_txn *txn, enum hf_side side,
                          const char *prefix)
{
    (void)action(txn, side, HF_DO_DELETE_PREFIX, prefix);
}

static size_t last_place(const struct hf_txn *txn, enum hf_side side)
{
    return (side == HF_THEN ? txn->branch.then_count
                            : txn->branch.otherwise_count) -
           1;
}

size_t hf_txn_get(struct hf_txn *txn, enum hf_side side, const char *key)
{
    (void)action(txn, side, HF_DO_GET, key);
    return last_place(txn, side);
}

size_t hf_txn_list(struct hf_txn *txn, enum hf_side side, const char *prefix,
                   uint32_t limit)
{
    action(txn, side, HF_DO_LIST, prefix)->limit = limit;
    return last_place(txn, side);
}

const struct hf_action_result *hf_txn_list_of(const struct hf_txn *txn,
                                              size_t place)
{
    hf_assert(txn->send.store.outcome == HF_OUTCOME_COMMITTED);
    hf_assert(place < (txn->branch.held ? txn->branch.then_count
                                        : txn->branch.otherwise_count));
    return &txn->branch.results[place];
}

const struct hf_record *hf_txn_record(const struct hf_txn *txn, size_t place)
{
    const struct hf_action_result *result = hf_txn_list_of(txn, place);

    return result->record_count > 0 ? &result->records[0] : NULL;
}
