/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "tests/store/kit.h"

static void a_watch_tells_what_was_already_changed(void **state)
{
    struct kit *kit = *state;
    uint64_t before = put(kit, kit->a, "k", "0", 0);
    uint64_t first = put(kit, kit->a, "k", "1", 0);
    uint64_t second = delete_key(kit, kit->a, "k");
    struct hf_store_request watch;

    watch_begin(&watch, "k", before);
    kit_run(kit, kit->b, &watch);
    assert_int_equal(watch.change_count, 2);
    expect_change(&watch, 0, "k", false, false, first);
    expect_change(&watch, 1, "k", true, false, second);
    assert_int_equal(watch.revision, second);
    hf_store_request_clear(&watch);
}

static void a_change_tells_the_record_and_a_delete_what_was(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, 20000);
    uint64_t before = put(kit, kit->a, "other", "v", 0);
    uint64_t made = put(kit, kit->a, "k", "1", 0);
    uint64_t last = put(kit, kit->a, "k", "2", lease);
    struct hf_store_request watch;
    const struct hf_record *record;

    delete_key(kit, kit->a, "k");
    watch_begin(&watch, "k", before);
    kit_run(kit, kit->b, &watch);
    assert_int_equal(watch.change_count, 3);
    record = &watch.changes[1].record;
    assert_memory_equal(record->value.data, "2", 1);
    assert_int_equal(record->created, made);
    assert_int_equal(record->changed, last);
    assert_int_equal(record->lease, lease);
    record = &watch.changes[2].record;
    assert_memory_equal(record->value.data, "2", 1);
    assert_int_equal(record->created, made);
    assert_int_equal(record->changed, last);
    assert_int_equal(record->lease, lease);
    hf_store_request_clear(&watch);
}

static void a_watch_with_nothing_to_tell_stays_out(void **state)
{
    struct kit *kit = *state;
    uint64_t before = put(kit, kit->a, "k/1", "v", 0);
    struct hf_store_request watch;
    uint64_t at;

    watch_begin(&watch, "k/", before);
    kit_submit(kit, kit->b, &watch);
    kit_silent(kit, kit->b);
    put(kit, kit->a, "k", "v", 0);
    put(kit, kit->a, "k0", "v", 0);
    get(kit, kit->a, "k/1");
    assert_false(take(kit, kit->a, "k/1", 0));
    kit_silent(kit, kit->b);
    at = put(kit, kit->a, "k/2", "v", 0);
    assert_ptr_equal(kit_next(kit, kit->b), &watch);
    assert_int_equal(watch.change_count, 1);
    expect_change(&watch, 0, "k/2", false, false, at);
    hf_store_request_clear(&watch);
}

static void a_watch_hears_its_own_handle_too(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request watch;
    uint64_t at;

    watch_begin(&watch, "k", revision_now(kit));
    kit_submit(kit, kit->a, &watch);
    kit_silent(kit, kit->a);
    at = put(kit, kit->b, "k", "v", 0);
    assert_ptr_equal(kit_next(kit, kit->a), &watch);
    expect_change(&watch, 0, "k", false, false, at);
    watch.after = watch.revision;
    kit_submit(kit, kit->a, &watch);
    kit_silent(kit, kit->a);
    /* Both the transaction and the watch come back, in any order. */
    {
        struct txn txn;
        struct hf_store_request *first;
        struct hf_store_request *second;

        txn_begin(&txn);
        txn_put(&txn, "k", "v", 0);
        kit_submit(kit, kit->a, &txn.request);
        first = kit_next(kit, kit->a);
        second = kit_next(kit, kit->a);
        assert_true((first == &watch && second == &txn.request) ||
                    (second == &watch && first == &txn.request));
        expect_change(&watch, 0, "k", false, false, txn.request.revision);
        txn_end(&txn);
    }
    hf_store_request_clear(&watch);
}

static void the_changes_of_one_revision_come_together(void **state)
{
    struct kit *kit = *state;
    uint64_t before = put(kit, kit->a, "k/0", "v", 0);
    struct hf_store_request watch;
    uint64_t seen = 0;
    struct txn txn;

    txn_begin(&txn);
    txn_put(&txn, "k/1", "v", 0);
    txn_delete(&txn, "k/0");
    txn_put(&txn, "beside", "v", 0);
    txn_branch(&txn);
    txn_put(&txn, "k/2", "v", 0);
    txn_commit(kit, kit->a, &txn);
    watch_begin(&watch, "k/", before);
    kit_run(kit, kit->b, &watch);
    assert_int_equal(watch.change_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct hf_change *change = &watch.changes[i];

        assert_int_equal(change->revision, txn.request.revision);
        assert_memory_equal(change->record.key.data, "k/", 2);
        assert_int_equal(change->is_delete, change->record.key.data[2] == '0');
        seen |= UINT64_C(1) << (change->record.key.data[2] - '0');
    }
    assert_int_equal(seen, 7);
    txn_end(&txn);
    hf_store_request_clear(&watch);
}

static void a_prefix_delete_tells_each_key(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request watch;
    uint64_t before;
    struct txn txn;

    put(kit, kit->a, "k/1", "v", 0);
    before = put(kit, kit->a, "k/2", "v", 0);
    txn_begin(&txn);
    txn_delete_prefix(&txn, "k/");
    txn_commit(kit, kit->a, &txn);
    watch_begin(&watch, "", before);
    kit_run(kit, kit->b, &watch);
    assert_int_equal(watch.change_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(watch.changes[i].is_delete);
        assert_false(watch.changes[i].by_lease);
        assert_int_equal(watch.changes[i].revision, txn.request.revision);
    }
    txn_end(&txn);
    hf_store_request_clear(&watch);
}

static void what_changed_nothing_is_not_told(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request watch;
    uint64_t before = put(kit, kit->a, "k", "v", 0);
    uint64_t at;

    watch_begin(&watch, "", before);
    kit_submit(kit, kit->b, &watch);
    delete_key(kit, kit->a, "missing");
    assert_false(take(kit, kit->a, "k", 0));
    kit_silent(kit, kit->b);
    at = delete_key(kit, kit->a, "k");
    assert_ptr_equal(kit_next(kit, kit->b), &watch);
    assert_int_equal(watch.change_count, 1);
    expect_change(&watch, 0, "k", true, false, at);
    hf_store_request_clear(&watch);
}

/* Writes and looks in turn; every change once, in order, at its revision. */
static void resuming_tells_every_change_once_and_in_order(void **state)
{
    struct kit *kit = *state;
    enum { CHANGES = 60 };
    uint64_t told[CHANGES];
    uint64_t written[CHANGES];
    size_t told_count = 0;
    size_t count = 0;
    struct hf_store_request watch;

    watch_begin(&watch, "k/", revision_now(kit));
    while (told_count < CHANGES) {
        for (int i = 0; i < 3 && count < CHANGES; i++) {
            char key[32];

            snprintf(key, sizeof(key), "k/%zu", count % 7);
            written[count++] = put(kit, i ? kit->a : kit->b, key, "v", 0);
            put(kit, kit->a, "beside", "v", 0);
        }
        kit_run(kit, kit->b, &watch);
        assert_true(watch.change_count >= 1);
        assert_true(watch.revision > watch.after);
        for (size_t i = 0; i < watch.change_count; i++) {
            assert_true(watch.changes[i].revision > watch.after);
            assert_true(watch.changes[i].revision <= watch.revision);
            assert_true(told_count < CHANGES);
            told[told_count++] = watch.changes[i].revision;
        }
        watch.after = watch.revision;
    }
    assert_memory_equal(told, written, sizeof(told));
    kit_submit(kit, kit->b, &watch);
    kit_silent(kit, kit->b);
    kit->b->ops->cancel(kit->b, &watch);
    hf_store_request_clear(&watch);
}

static void a_future_start_is_waited_for(void **state)
{
    struct kit *kit = *state;
    uint64_t now = put(kit, kit->a, "k", "v", 0);
    struct hf_store_request watch;
    uint64_t at;

    watch_begin(&watch, "k", now + 1);
    kit_submit(kit, kit->b, &watch);
    kit_silent(kit, kit->b);
    do {
        at = put(kit, kit->a, "k", "v", 0);
    } while (at <= now + 1);
    assert_ptr_equal(kit_next(kit, kit->b), &watch);
    assert_int_equal(watch.change_count, 1);
    expect_change(&watch, 0, "k", false, false, at);
    hf_store_request_clear(&watch);
}

static void each_of_many_watches_is_told(void **state)
{
    struct kit *kit = *state;
    enum { WATCHES = 12 };
    struct hf_store_request watches[WATCHES];
    char prefixes[WATCHES][8];
    size_t answered = 0;
    uint64_t start = revision_now(kit);
    struct txn txn;

    for (size_t i = 0; i < WATCHES; i++) {
        snprintf(prefixes[i], sizeof(prefixes[i]), "%s",
                 i % 3 == 0 ? "" : (i % 3 == 1 ? "k" : "k/"));
        watch_begin(&watches[i], prefixes[i], start);
        kit_submit(kit, i % 2 ? kit->a : kit->b, &watches[i]);
    }
    txn_begin(&txn);
    txn_put(&txn, "k/", "v", 0);
    kit_submit(kit, kit->a, &txn.request);
    for (size_t i = 0; i < WATCHES / 2 + 1; i++) {
        struct hf_store_request *request = kit_next(kit, kit->a);

        answered += request != &txn.request;
    }
    for (size_t i = 0; i < WATCHES / 2; i++) {
        kit_next(kit, kit->b);
        answered++;
    }
    assert_int_equal(answered, WATCHES);
    for (size_t i = 0; i < WATCHES; i++) {
        expect_change(&watches[i], 0, "k/", false, false, txn.request.revision);
        hf_store_request_clear(&watches[i]);
    }
    txn_end(&txn);
}

/* ---- what was compacted ---- */

enum { HISTORY_MAX = 200000 };

/* As many changes as the largest transaction makes. */
static uint64_t change_many(struct kit *kit, size_t *changes)
{
    enum { PER_SIDE = HF_STORE_ACTIONS_MAX };
    static struct hf_branch branches[HF_STORE_BRANCHES_MAX];
    static struct hf_action actions[HF_STORE_BRANCHES_MAX][PER_SIDE];
    static char keys[HF_STORE_BRANCHES_MAX][PER_SIDE][48];
    struct hf_store_request request = {.kind = HF_STORE_TXN,
                                       .branches = branches,
                                       .branch_count = HF_STORE_BRANCHES_MAX};
    uint64_t revision;

    for (size_t i = 0; i < HF_STORE_BRANCHES_MAX; i++) {
        branches[i] =
            (struct hf_branch){.then = actions[i], .then_count = PER_SIDE};
        for (size_t j = 0; j < PER_SIDE; j++) {
            snprintf(keys[i][j], sizeof(keys[i][j]), "k/%zu/%zu", i, j);
            actions[i][j] = (struct hf_action){.kind = HF_DO_PUT,
                                               .key = bytes_of(keys[i][j]),
                                               .value = bytes_of("v")};
        }
    }
    kit_run(kit, kit->a, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    revision = request.revision;
    *changes += HF_STORE_BRANCHES_MAX * PER_SIDE;
    hf_store_request_clear(&request);
    return revision;
}

static void a_start_that_was_compacted_is_refused(void **state)
{
    struct kit *kit = *state;
    uint64_t start = put(kit, kit->a, "k", "v", 0);
    uint64_t last = put(kit, kit->a, "k", "v", 0);
    struct hf_store_request watch;
    size_t changes = 0;

    watch_begin(&watch, "none", start);
    while (changes < HISTORY_MAX)
        last = change_many(kit, &changes);
    watch_begin(&watch, "k", start);
    kit_run(kit, kit->b, &watch);
    if (!kit->adapter->compacts) {
        expect_change(&watch, 0, "k", false, false, start + 1);
        hf_store_request_clear(&watch);
        return;
    }
    assert_int_equal(watch.outcome, HF_OUTCOME_REFUSED);
    assert_int_equal(watch.refusal, HF_REFUSED_COMPACTED);
    assert_true(watch.compacted > start);
    assert_true(watch.compacted <= last);
    assert_int_equal(watch.change_count, 0);
    assert_true(watch.revision >= last);
    watch.after = watch.compacted - 1; /* one short is not enough */
    kit_run(kit, kit->b, &watch);
    assert_int_equal(watch.outcome, HF_OUTCOME_REFUSED);
    watch.after = revision_now(kit); /* what the refusal advises */
    kit_submit(kit, kit->b, &watch);
    kit_silent(kit, kit->b);
    last = put(kit, kit->a, "k", "v", 0);
    assert_ptr_equal(kit_next(kit, kit->b), &watch);
    expect_change(&watch, 0, "k", false, false, last);
    hf_store_request_clear(&watch);
}

static void a_watch_that_keeps_up_is_never_refused(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request watch;
    struct hf_store_request idle;
    size_t changes = 0;
    size_t told = 0;
    uint64_t last = 0;

    watch_begin(&watch, "k/", revision_now(kit));
    watch_begin(&idle, "quiet", watch.after);
    kit_submit(kit, kit->b, &idle); /* out all the time, with nothing to tell */
    while (changes < HISTORY_MAX / 2) {
        change_many(kit, &changes);
        kit_submit(kit, kit->b, &watch);
        while (told < changes) {
            assert_ptr_equal(kit_next(kit, kit->b), &watch);
            assert_int_equal(watch.outcome, HF_OUTCOME_COMMITTED);
            told += watch.change_count;
            watch.after = watch.revision;
            if (told < changes)
                kit_submit(kit, kit->b, &watch);
        }
        assert_int_equal(told, changes);
    }
    last = put(kit, kit->a, "quiet", "v", 0);
    assert_ptr_equal(kit_next(kit, kit->b), &idle);
    expect_change(&idle, 0, "quiet", false, false, last);
    hf_store_request_clear(&watch);
    hf_store_request_clear(&idle);
}

const struct CMUnitTest suite_watch[] = {
    KIT_TEST(a_watch_tells_what_was_already_changed),
    KIT_TEST(a_change_tells_the_record_and_a_delete_what_was),
    KIT_TEST(a_watch_with_nothing_to_tell_stays_out),
    KIT_TEST(a_watch_hears_its_own_handle_too),
    KIT_TEST(the_changes_of_one_revision_come_together),
    KIT_TEST(a_prefix_delete_tells_each_key),
    KIT_TEST(what_changed_nothing_is_not_told),
    KIT_TEST(resuming_tells_every_change_once_and_in_order),
    KIT_TEST(a_future_start_is_waited_for),
    KIT_TEST(each_of_many_watches_is_told),
    KIT_TEST(a_start_that_was_compacted_is_refused),
    KIT_TEST(a_watch_that_keeps_up_is_never_refused),
};
const size_t suite_watch_count = sizeof(suite_watch) / sizeof(suite_watch[0]);
