/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "tests/store/kit.h"

static void expect_keys(const struct txn *txn, const char *const *keys,
                        size_t count, uint64_t all)
{
    const struct hf_action_result *result = &txn->branches[0].results[0];

    assert_int_equal(result->count, all);
    assert_int_equal(result->record_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(result->records[i].key.size, strlen(keys[i]));
        assert_memory_equal(result->records[i].key.data, keys[i],
                            strlen(keys[i]));
    }
}

static void list(struct kit *kit, struct txn *txn, const char *prefix,
                 uint32_t limit)
{
    txn_begin(txn);
    txn_list(txn, prefix, limit);
    txn_commit(kit, kit->b, txn);
}

static void a_list_tells_the_oldest_creation_first(void **state)
{
    struct kit *kit = *state;
    const char *const order[] = {"q/z", "q/a", "q/m"};
    struct txn txn;

    for (size_t i = 0; i < 3; i++)
        put(kit, kit->a, order[i], "v", 0);
    list(kit, &txn, "q/", 10);
    expect_keys(&txn, order, 3, 3);
    txn_end(&txn);
}

static void overwriting_keeps_a_keys_place_and_deleting_loses_it(void **state)
{
    struct kit *kit = *state;
    const char *const overwritten[] = {"q/z", "q/a", "q/m"};
    const char *const again[] = {"q/a", "q/m", "q/z"};
    struct txn txn;

    for (size_t i = 0; i < 3; i++)
        put(kit, kit->a, overwritten[i], "v", 0);
    put(kit, kit->b, "q/z", "new", 0);
    list(kit, &txn, "q/", 10);
    expect_keys(&txn, overwritten, 3, 3);
    txn_end(&txn);
    delete_key(kit, kit->b, "q/z");
    put(kit, kit->b, "q/z", "v", 0);
    list(kit, &txn, "q/", 10);
    expect_keys(&txn, again, 3, 3);
    txn_end(&txn);
}

static void keys_of_one_revision_come_in_the_order_of_their_bytes(void **state)
{
    struct kit *kit = *state;
    const char *const order[] = {"q/a", "q/a/", "q/aa", "q/b", "q/\xff"};
    struct txn txn;

    txn_begin(&txn);
    txn_put(&txn, "q/b", "v", 0);
    txn_put(&txn, "q/\xff", "v", 0);
    txn_put(&txn, "q/aa", "v", 0);
    txn_branch(&txn);
    txn_put(&txn, "q/a/", "v", 0);
    txn_put(&txn, "q/a", "v", 0);
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    list(kit, &txn, "q/", 10);
    expect_keys(&txn, order, 5, 5);
    txn_end(&txn);
}

static void the_limit_cuts_the_records_and_not_the_count(void **state)
{
    struct kit *kit = *state;
    const char *const order[] = {"q/3", "q/2", "q/1"};
    struct txn txn;

    for (size_t i = 0; i < 3; i++)
        put(kit, kit->a, order[i], "v", 0);
    list(kit, &txn, "q/", 1);
    expect_keys(&txn, order, 1, 3);
    txn_end(&txn);
    list(kit, &txn, "q/", 2);
    expect_keys(&txn, order, 2, 3);
    txn_end(&txn);
    list(kit, &txn, "q/", 3);
    expect_keys(&txn, order, 3, 3);
    txn_end(&txn);
}

static void a_list_of_nothing_is_empty(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    put(kit, kit->a, "q", "v", 0);
    list(kit, &txn, "q/", 10);
    expect_keys(&txn, NULL, 0, 0);
    txn_end(&txn);
}

static void a_prefix_ends_where_its_bytes_end(void **state)
{
    struct kit *kit = *state;
    const char *const inside[] = {"q/", "q/1", "q/\xff", "q/\xff\xff"};
    const char *const last[] = {"\xff", "\xff\xff", "\xff\x01"};
    struct txn txn;

    put(kit, kit->a, "q", "v", 0);
    put(kit, kit->a, "q0", "v", 0);
    put(kit, kit->a, "q.", "v", 0);
    for (size_t i = 0; i < 4; i++)
        put(kit, kit->a, inside[i], "v", 0);
    for (size_t i = 0; i < 3; i++)
        put(kit, kit->a, last[i], "v", 0);
    list(kit, &txn, "q/", 10);
    expect_keys(&txn, inside, 4, 4);
    txn_end(&txn);
    list(kit, &txn, "\xff", 10);
    expect_keys(&txn, last, 3, 3);
    txn_end(&txn);
    list(kit, &txn, "", 100);
    assert_int_equal(txn.branches[0].results[0].count, 10);
    txn_end(&txn);
}

static void a_list_tells_whole_records(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, 60000);
    uint64_t first = put(kit, kit->a, "q/1", "old", lease);
    uint64_t second = put(kit, kit->a, "q/1", "new", lease);
    const struct hf_record *record;
    struct txn txn;

    list(kit, &txn, "q/", 1);
    record = &txn.branches[0].results[0].records[0];
    assert_int_equal(record->created, first);
    assert_int_equal(record->changed, second);
    assert_int_equal(record->lease, lease);
    assert_int_equal(record->value.size, 3);
    assert_memory_equal(record->value.data, "new", 3);
    txn_end(&txn);
}

/* As many as one LIST may ask for, and more: each write a branch of its own. */
static void put_many(struct kit *kit, size_t count)
{
    static char keys[HF_STORE_LIST_MAX + 16][32];

    for (size_t done = 0; done < count;) {
        struct txn txn;

        txn_begin(&txn);
        for (size_t i = 0; i < HF_STORE_ACTIONS_MAX && done < count; i++) {
            snprintf(keys[done], sizeof(keys[done]), "q/%05zu", done);
            txn_put(&txn, keys[done++], "v", 0);
        }
        txn_commit(kit, kit->a, &txn);
        txn_end(&txn);
    }
}

static void the_largest_list_is_told_whole(void **state)
{
    struct kit *kit = *state;
    const struct hf_action_result *result;
    struct txn txn;

    put_many(kit, HF_STORE_LIST_MAX + 10);
    list(kit, &txn, "q/", HF_STORE_LIST_MAX);
    result = &txn.branches[0].results[0];
    assert_int_equal(result->count, HF_STORE_LIST_MAX + 10);
    assert_int_equal(result->record_count, HF_STORE_LIST_MAX);
    for (size_t i = 0; i < result->record_count; i++) {
        char key[32];

        snprintf(key, sizeof(key), "q/%05zu", i);
        assert_memory_equal(result->records[i].key.data, key, strlen(key));
    }
    txn_end(&txn);
}

const struct CMUnitTest suite_list[] = {
    KIT_TEST(a_list_tells_the_oldest_creation_first),
    KIT_TEST(overwriting_keeps_a_keys_place_and_deleting_loses_it),
    KIT_TEST(keys_of_one_revision_come_in_the_order_of_their_bytes),
    KIT_TEST(the_limit_cuts_the_records_and_not_the_count),
    KIT_TEST(a_list_of_nothing_is_empty),
    KIT_TEST(a_prefix_ends_where_its_bytes_end),
    KIT_TEST(a_list_tells_whole_records),
    KIT_TEST(the_largest_list_is_told_whole),
};
const size_t suite_list_count = sizeof(suite_list) / sizeof(suite_list[0]);
