/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/store/kit.h"

/* ---- puts and deletes ---- */

static void a_put_creates_a_key_at_the_revision_answered(void **state)
{
    struct kit *kit = *state;
    uint64_t revision = put(kit, kit->a, "k", "v", 0);
    struct seen seen = get(kit, kit->a, "k");

    assert_true(seen.exists);
    assert_string_equal(seen.value, "v");
    assert_int_equal(seen.created, revision);
    assert_int_equal(seen.changed, revision);
    assert_int_equal(seen.lease, 0);
}

static void another_handle_sees_at_once_what_was_committed(void **state)
{
    struct kit *kit = *state;

    put(kit, kit->a, "k", "1", 0);
    assert_string_equal(get(kit, kit->b, "k").value, "1");
    put(kit, kit->b, "k", "2", 0);
    assert_string_equal(get(kit, kit->a, "k").value, "2");
    delete_key(kit, kit->a, "k");
    assert_false(exists(kit, kit->b, "k"));
}

static void overwriting_moves_changed_and_keeps_created(void **state)
{
    struct kit *kit = *state;
    uint64_t first = put(kit, kit->a, "k", "1", 0);
    uint64_t second = put(kit, kit->b, "k", "2", 0);
    struct seen seen = get(kit, kit->a, "k");

    assert_true(second > first);
    assert_string_equal(seen.value, "2");
    assert_int_equal(seen.created, first);
    assert_int_equal(seen.changed, second);
}

static void the_same_value_again_is_a_change_too(void **state)
{
    struct kit *kit = *state;
    uint64_t first = put(kit, kit->a, "k", "v", 0);
    uint64_t second = put(kit, kit->a, "k", "v", 0);

    assert_true(second > first);
    assert_int_equal(get(kit, kit->a, "k").changed, second);
}

static void a_key_put_again_after_a_delete_is_created_anew(void **state)
{
    struct kit *kit = *state;
    uint64_t second;

    put(kit, kit->a, "k", "1", 0);
    delete_key(kit, kit->a, "k");
    assert_false(exists(kit, kit->a, "k"));
    second = put(kit, kit->a, "k", "2", 0);
    assert_int_equal(get(kit, kit->a, "k").created, second);
}

static void deleting_what_is_not_there_is_no_error(void **state)
{
    struct kit *kit = *state;
    uint64_t before = put(kit, kit->a, "other", "v", 0);

    assert_int_equal(delete_key(kit, kit->a, "k"), before);
    assert_int_equal(revision_now(kit), before);
}

static void a_prefix_delete_removes_its_keys_and_no_others(void **state)
{
    struct kit *kit = *state;
    const char *const inside[] = {"a/", "a/1", "a/1/2", "a/\xff"};
    const char *const outside[] = {"a", "a.", "a0", "b", "A/1"};
    struct txn txn;

    for (size_t i = 0; i < 4; i++)
        put(kit, kit->a, inside[i], "v", 0);
    for (size_t i = 0; i < 5; i++)
        put(kit, kit->a, outside[i], "v", 0);
    txn_begin(&txn);
    txn_delete_prefix(&txn, "a/");
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    for (size_t i = 0; i < 4; i++)
        assert_false(exists(kit, kit->b, inside[i]));
    for (size_t i = 0; i < 5; i++)
        assert_true(exists(kit, kit->b, outside[i]));
}

static void an_empty_prefix_deletes_everything(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    put(kit, kit->a, "a", "v", 0);
    put(kit, kit->a, "\xff\xff", "v", 0);
    txn_begin(&txn);
    txn_delete_prefix(&txn, "");
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    assert_false(exists(kit, kit->a, "a"));
    assert_false(exists(kit, kit->a, "\xff\xff"));
}

static void keys_and_values_may_hold_any_byte(void **state)
{
    struct kit *kit = *state;
    char key[256];
    char value[512];
    struct txn txn;
    const struct hf_record *record;

    for (size_t i = 0; i < sizeof(key); i++)
        key[i] = (char)i;
    for (size_t i = 0; i < sizeof(value); i++)
        value[i] = (char)(255 - i % 256);
    txn_begin(&txn);
    txn_put(&txn, "x", "", 0);
    txn.then[0][0].key = (struct hf_bytes){key, sizeof(key)};
    txn.then[0][0].value = (struct hf_bytes){value, sizeof(value)};
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    txn_begin(&txn);
    txn_get(&txn, "x");
    txn.then[0][0].key = (struct hf_bytes){key, sizeof(key)};
    txn_commit(kit, kit->b, &txn);
    record = txn_record(&txn, 0);
    assert_non_null(record);
    assert_int_equal(record->key.size, sizeof(key));
    assert_memory_equal(record->key.data, key, sizeof(key));
    assert_int_equal(record->value.size, sizeof(value));
    assert_memory_equal(record->value.data, value, sizeof(value));
    txn_end(&txn);
}

static void keys_that_differ_behind_a_nul_are_two(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    txn_begin(&txn);
    txn_put(&txn, "x", "1", 0);
    txn_put(&txn, "x", "2", 0);
    txn.then[0][0].key = (struct hf_bytes){"a\0b", 3};
    txn.then[0][1].key = (struct hf_bytes){"a\0c", 3};
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    assert_false(exists(kit, kit->a, "a"));
    txn_begin(&txn);
    txn_list(&txn, "a", 10);
    txn_commit(kit, kit->a, &txn);
    assert_int_equal(txn.branches[0].results[0].count, 2);
    txn_end(&txn);
}

static void a_value_may_be_empty(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    txn_begin(&txn);
    txn_put(&txn, "k", "", 0);
    txn.then[0][0].value = (struct hf_bytes){NULL, 0};
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    txn_begin(&txn);
    txn_get(&txn, "k");
    txn_commit(kit, kit->a, &txn);
    assert_non_null(txn_record(&txn, 0));
    assert_int_equal(txn_record(&txn, 0)->value.size, 0);
    txn_end(&txn);
}

/* ---- conditions ---- */

static void absent_holds_only_for_a_missing_key(void **state)
{
    struct kit *kit = *state;

    assert_true(take(kit, kit->a, "k", 0));
    assert_false(take(kit, kit->b, "k", 0));
    assert_false(take(kit, kit->a, "k", 0));
    delete_key(kit, kit->a, "k");
    assert_true(take(kit, kit->b, "k", 0));
}

static bool put_if_unchanged(struct kit *kit, const char *key,
                             uint64_t revision)
{
    struct txn txn;
    bool held;

    txn_begin(&txn);
    txn_if_unchanged(&txn, key, revision);
    txn_put(&txn, key, "new", 0);
    txn_commit(kit, kit->b, &txn);
    held = txn.branches[0].held;
    txn_end(&txn);
    return held;
}

static void unchanged_holds_only_at_the_revision_of_the_last_put(void **state)
{
    struct kit *kit = *state;
    uint64_t first = put(kit, kit->a, "k", "1", 0);
    uint64_t second = put(kit, kit->a, "k", "2", 0);

    assert_false(put_if_unchanged(kit, "k", first));
    assert_false(put_if_unchanged(kit, "k", second + 1));
    assert_false(put_if_unchanged(kit, "k", 0));
    assert_string_equal(get(kit, kit->a, "k").value, "2");
    assert_true(put_if_unchanged(kit, "k", second));
    assert_string_equal(get(kit, kit->a, "k").value, "new");
    assert_false(put_if_unchanged(kit, "missing", 0));
    assert_false(exists(kit, kit->a, "missing"));
}

static bool prefix_is_absent(struct kit *kit, const char *prefix)
{
    struct txn txn;
    bool held;

    txn_begin(&txn);
    txn_if_prefix_absent(&txn, prefix);
    txn_commit(kit, kit->b, &txn);
    held = txn.branches[0].held;
    txn_end(&txn);
    return held;
}

static void prefix_absent_holds_when_no_key_begins_so(void **state)
{
    struct kit *kit = *state;

    assert_true(prefix_is_absent(kit, ""));
    put(kit, kit->a, "a/1", "v", 0);
    assert_false(prefix_is_absent(kit, ""));
    assert_false(prefix_is_absent(kit, "a"));
    assert_false(prefix_is_absent(kit, "a/"));
    assert_false(prefix_is_absent(kit, "a/1"));
    assert_true(prefix_is_absent(kit, "a/10"));
    assert_true(prefix_is_absent(kit, "a/2"));
    assert_true(prefix_is_absent(kit, "a//"));
    assert_true(prefix_is_absent(kit, "b"));
}

static void one_failed_condition_carries_out_the_other_side(void **state)
{
    struct kit *kit = *state;
    uint64_t revision = put(kit, kit->a, "k", "v", 0);
    struct txn txn;

    txn_begin(&txn);
    txn_if_unchanged(&txn, "k", revision);
    txn_if_absent(&txn, "k");
    txn_put(&txn, "then", "v", 0);
    txn_put_else(&txn, "otherwise", "v", 0);
    txn_get_else(&txn, "k");
    txn_commit(kit, kit->a, &txn);
    assert_false(txn.branches[0].held);
    assert_int_equal(txn.branches[0].results[0].record_count, 0);
    assert_non_null(txn_record(&txn, 1));
    txn_end(&txn);
    assert_false(exists(kit, kit->a, "then"));
    assert_true(exists(kit, kit->a, "otherwise"));
}

static void a_branch_without_conditions_holds(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    txn_begin(&txn);
    txn_put_else(&txn, "otherwise", "v", 0);
    txn_commit(kit, kit->a, &txn);
    assert_true(txn.branches[0].held);
    assert_null(txn.branches[0].results);
    txn_end(&txn);
    assert_false(exists(kit, kit->a, "otherwise"));
}

static void conditions_and_reads_see_the_state_before(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    put(kit, kit->a, "old", "1", 0);
    txn_begin(&txn);
    txn_put(&txn, "new", "v", 0);
    txn_put(&txn, "old", "2", 0);
    txn_get(&txn, "new");
    txn_get(&txn, "old");
    txn_list(&txn, "", 10);
    txn_branch(&txn);
    txn_if_absent(&txn, "new");
    txn_put(&txn, "second", "v", 0);
    txn_commit(kit, kit->a, &txn);
    assert_null(txn_record(&txn, 2));
    assert_memory_equal(txn_record(&txn, 3)->value.data, "1", 1);
    assert_int_equal(txn.branches[0].results[4].count, 1);
    assert_true(txn.branches[1].held);
    txn_end(&txn);
    assert_string_equal(get(kit, kit->a, "old").value, "2");
    assert_true(exists(kit, kit->a, "second"));
}

static void branches_are_decided_each_for_itself_at_one_revision(void **state)
{
    struct kit *kit = *state;
    struct txn txn;
    uint64_t revision;

    put(kit, kit->a, "taken", "v", 0);
    txn_begin(&txn);
    txn_if_absent(&txn, "x");
    txn_put(&txn, "x", "v", 0);
    txn_branch(&txn);
    txn_if_absent(&txn, "taken");
    txn_put(&txn, "y", "v", 0);
    txn_branch(&txn);
    txn_if_absent(&txn, "z");
    txn_put(&txn, "z", "v", 0);
    revision = txn_commit(kit, kit->a, &txn);
    assert_true(txn.branches[0].held);
    assert_false(txn.branches[1].held);
    assert_true(txn.branches[2].held);
    txn_end(&txn);
    assert_int_equal(get(kit, kit->b, "x").changed, revision);
    assert_false(exists(kit, kit->b, "y"));
    assert_int_equal(get(kit, kit->b, "z").changed, revision);
}

/* ---- what is refused whole ---- */

static void one_bad_lease_refuses_the_whole_transaction(void **state)
{
    struct kit *kit = *state;
    uint64_t before = put(kit, kit->a, "old", "v", 0);
    struct txn txn;

    txn_begin(&txn);
    txn_put(&txn, "x", "v", 0);
    txn_delete(&txn, "old");
    txn_branch(&txn);
    txn_put(&txn, "y", "v", 987654321);
    txn_refuse(kit, kit->a, &txn);
    txn_end(&txn);
    assert_false(exists(kit, kit->b, "x"));
    assert_false(exists(kit, kit->b, "y"));
    assert_true(exists(kit, kit->b, "old"));
    assert_int_equal(revision_now(kit), before);
}

static void a_bad_lease_on_the_side_not_taken_is_no_matter(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    txn_begin(&txn);
    txn_put(&txn, "x", "v", 0);
    txn_put_else(&txn, "y", "v", 987654321);
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    assert_true(exists(kit, kit->a, "x"));
}

/* Every way in which one transaction can write one key twice. */
static void build_double(struct txn *txn, int way)
{
    txn_begin(txn);
    switch (way) {
    case 0:
        txn_put(txn, "k", "1", 0);
        txn_put(txn, "k", "2", 0);
        break;
    case 1:
        txn_put(txn, "k", "1", 0);
        txn_branch(txn);
        txn_delete(txn, "k");
        break;
    case 2:
        txn_put(txn, "k", "1", 0);
        txn_put_else(txn, "k", "2", 0);
        break;
    case 3:
        txn_delete(txn, "k");
        txn_branch(txn);
        txn_delete_else(txn, "k");
        break;
    case 4:
        txn_put(txn, "k/1", "1", 0);
        txn_delete_prefix(txn, "k/");
        break;
    case 5:
        txn_put(txn, "k/10", "1", 0);
        txn_put(txn, "k/20", "1", 0);
        txn_branch(txn);
        txn_delete_prefix(txn, "k/2");
        break;
    case 6:
        txn_delete_prefix(txn, "k/1/2");
        txn_delete_prefix(txn, "k/");
        break;
    case 7:
        txn_delete_prefix(txn, "k");
        txn_put(txn, "k", "1", 0);
        break;
    default:
        txn_delete_prefix(txn, "");
        txn_put(txn, "k", "1", 0);
        break;
    }
    txn_put(txn, "witness", "v", 0);
}

static void a_key_written_twice_fails_and_changes_nothing(void **state)
{
    struct kit *kit = *state;
    uint64_t before = put(kit, kit->a, "k/3", "v", 0);
    struct txn txn;

    for (int way = 0; way <= 8; way++) {
        build_double(&txn, way);
        txn_fail(kit, kit->a, &txn);
        txn_end(&txn);
    }
    assert_false(exists(kit, kit->a, "witness"));
    assert_int_equal(revision_now(kit), before);
}

static void neighbours_are_not_taken_for_one_key(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    txn_begin(&txn);
    txn_if_absent(&txn, "k");
    txn_put(&txn, "k", "v", 0);
    txn_get(&txn, "k");
    txn_put(&txn, "k/", "v", 0);
    txn_put(&txn, "k0", "v", 0);
    txn_delete_prefix(&txn, "k/1");
    txn_branch(&txn);
    txn_put(&txn, "k/2", "v", 0);
    txn_delete(&txn, "k/3");
    txn_delete_prefix(&txn, "l");
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    assert_true(exists(kit, kit->a, "k/2"));
}

const struct CMUnitTest suite_txn[] = {
    KIT_TEST(a_put_creates_a_key_at_the_revision_answered),
    KIT_TEST(another_handle_sees_at_once_what_was_committed),
    KIT_TEST(overwriting_moves_changed_and_keeps_created),
    KIT_TEST(the_same_value_again_is_a_change_too),
    KIT_TEST(a_key_put_again_after_a_delete_is_created_anew),
    KIT_TEST(deleting_what_is_not_there_is_no_error),
    KIT_TEST(a_prefix_delete_removes_its_keys_and_no_others),
    KIT_TEST(an_empty_prefix_deletes_everything),
    KIT_TEST(keys_and_values_may_hold_any_byte),
    KIT_TEST(keys_that_differ_behind_a_nul_are_two),
    KIT_TEST(a_value_may_be_empty),
    KIT_TEST(absent_holds_only_for_a_missing_key),
    KIT_TEST(unchanged_holds_only_at_the_revision_of_the_last_put),
    KIT_TEST(prefix_absent_holds_when_no_key_begins_so),
    KIT_TEST(one_failed_condition_carries_out_the_other_side),
    KIT_TEST(a_branch_without_conditions_holds),
    KIT_TEST(conditions_and_reads_see_the_state_before),
    KIT_TEST(branches_are_decided_each_for_itself_at_one_revision),
    KIT_TEST(one_bad_lease_refuses_the_whole_transaction),
    KIT_TEST(a_bad_lease_on_the_side_not_taken_is_no_matter),
    KIT_TEST(a_key_written_twice_fails_and_changes_nothing),
    KIT_TEST(neighbours_are_not_taken_for_one_key),
};
const size_t suite_txn_count = sizeof(suite_txn) / sizeof(suite_txn[0]);
