/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/store/kit.h"

static struct hf_store_identity identity_of(struct kit *kit,
                                            struct hf_store *store)
{
    struct hf_store_request request = {.kind = HF_STORE_TXN};
    struct hf_store_identity identity;

    kit_run(kit, store, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    identity = request.identity;
    hf_store_request_clear(&request);
    return identity;
}

static void assert_same(const struct hf_store_identity *a,
                        const struct hf_store_identity *b)
{
    assert_memory_equal(a->id, b->id, sizeof(a->id));
    assert_int_equal(a->epoch_min, b->epoch_min);
}

static void every_write_raises_the_revision(void **state)
{
    struct kit *kit = *state;
    uint64_t last = revision_now(kit);

    for (int i = 0; i < 20; i++) {
        struct hf_store *store = i % 2 ? kit->a : kit->b;
        uint64_t revision = i % 5 == 4 ? delete_key(kit, store, "k")
                                       : put(kit, store, "k", "v", 0);

        assert_true(revision > last);
        assert_int_equal(revision_now(kit), revision);
        last = revision;
    }
}

static void what_changes_nothing_leaves_the_revision(void **state)
{
    struct kit *kit = *state;
    uint64_t revision = put(kit, kit->a, "k", "v", 0);
    hf_lease_id lease;
    struct txn txn;

    assert_int_equal(revision_now(kit), revision);
    get(kit, kit->b, "k");
    assert_false(take(kit, kit->b, "k", 0));
    delete_key(kit, kit->a, "other");
    txn_begin(&txn);
    txn_delete_prefix(&txn, "other/");
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    lease = grant(kit, kit->a, 10000);
    assert_true(renew(kit, kit->a, lease));
    assert_true(revoke_lease(kit, kit->a, lease));
    assert_int_equal(revision_now(kit), revision);
}

static void every_answer_carries_revision_and_identity(void **state)
{
    struct kit *kit = *state;
    struct hf_store_identity identity = identity_of(kit, kit->b);
    hf_lease_id lease = grant(kit, kit->a, 10000);
    uint64_t revision = put(kit, kit->a, "k", "v", lease);
    const struct hf_store_request asked[] = {
        {.kind = HF_STORE_TXN},
        {.kind = HF_STORE_LEASE_GRANT, .ttl_ms = 10000},
        {.kind = HF_STORE_LEASE_RENEW, .lease = lease},
        {.kind = HF_STORE_LEASE_SHOW, .lease = lease},
        {.kind = HF_STORE_LEASE_PHASE, .lease = lease},
        {.kind = HF_STORE_LEASE_RENEW, .lease = 987654321},
        {.kind = HF_STORE_WATCH, .after = revision - 1},
    };

    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        struct hf_store_request request = asked[i];

        kit_run(kit, kit->a, &request);
        assert_true(request.outcome == HF_OUTCOME_COMMITTED ||
                    request.outcome == HF_OUTCOME_REFUSED);
        assert_int_equal(request.revision, revision);
        assert_same(&request.identity, &identity);
        hf_store_request_clear(&request);
    }
}

static void identity_is_one_for_all_handles_and_stays(void **state)
{
    struct kit *kit = *state;
    struct hf_store_identity identity = identity_of(kit, kit->a);
    const uint8_t zero[sizeof(identity.id)] = {0};
    struct hf_store_identity again;

    assert_memory_not_equal(identity.id, zero, sizeof(zero));
    assert_true(identity.epoch_min >= 1);
    again = identity_of(kit, kit->b);
    assert_same(&identity, &again);
    put(kit, kit->a, "k", "v", 0);
    kit->a->ops->close(kit->a);
    kit->a = kit->adapter->open(kit->bench);
    again = identity_of(kit, kit->a);
    assert_same(&identity, &again);
    assert_true(exists(kit, kit->a, "k"));
}

static void two_stores_have_two_identities(void **state)
{
    struct kit *kit = *state;
    struct bench *other = kit->adapter->make();
    struct hf_store *store = kit->adapter->open(other);
    struct hf_store_request request = {.kind = HF_STORE_TXN};
    struct hf_store_identity identity = identity_of(kit, kit->a);

    kit_run_on_bench(kit->adapter, other, store, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    assert_memory_not_equal(request.identity.id, identity.id,
                            sizeof(identity.id));
    hf_store_request_clear(&request);
    store->ops->close(store);
    kit->adapter->drop(other);
}

static void the_expected_identity_lets_through(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    txn_begin(&txn);
    txn_put(&txn, "k", "v", 0);
    txn.request.expect = identity_of(kit, kit->a);
    txn_commit(kit, kit->b, &txn);
    txn_end(&txn);
    assert_true(exists(kit, kit->a, "k"));
}

static void run_unexpected(struct kit *kit, struct hf_store_request *request,
                           const struct hf_store_identity *expect,
                           const struct hf_store_identity *is)
{
    request->expect = *expect;
    kit_run(kit, kit->a, request);
    assert_int_equal(request->outcome, HF_OUTCOME_REFUSED);
    assert_int_equal(request->refusal, HF_REFUSED_IDENTITY);
    assert_same(&request->identity, is);
    hf_store_request_clear(request);
}

static void another_identity_than_expected_does_nothing(void **state)
{
    struct kit *kit = *state;
    struct hf_store_identity is = identity_of(kit, kit->a);
    hf_lease_id lease = grant(kit, kit->a, 10000);
    uint64_t before = put(kit, kit->a, "leased", "v", lease);

    for (int way = 0; way < 3; way++) {
        struct hf_store_identity expect = is;
        struct hf_store_request revoking = {.kind = HF_STORE_LEASE_REVOKE,
                                            .lease = lease};
        struct hf_store_request watch;
        struct txn txn;

        if (way == 0)
            expect.id[15] ^= 1;
        else
            expect.epoch_min += way == 1 ? 1 : UINT32_C(0x10000);
        txn_begin(&txn);
        txn_put(&txn, "k", "v", 0);
        run_unexpected(kit, &txn.request, &expect, &is);
        run_unexpected(kit, &revoking, &expect, &is);
        watch_begin(&watch, "", 0);
        run_unexpected(kit, &watch, &expect, &is);
    }
    assert_false(exists(kit, kit->b, "k"));
    assert_true(exists(kit, kit->b, "leased"));
    assert_int_equal(revision_now(kit), before);
}

static uint32_t put_under_epoch(struct kit *kit, const char *key,
                                uint32_t epoch, bool writes)
{
    struct txn txn;
    uint32_t epoch_min;

    txn_begin(&txn);
    if (!writes)
        txn_if_absent(&txn, key);
    txn_put(&txn, key, "v", 0);
    txn.request.epoch = epoch;
    txn_commit(kit, kit->a, &txn);
    assert_int_equal(txn.branches[0].held, writes);
    epoch_min = txn.request.identity.epoch_min;
    txn_end(&txn);
    return epoch_min;
}

static void an_epoch_that_comes_into_use_raises_the_least_one(void **state)
{
    struct kit *kit = *state;
    struct hf_store_identity before = identity_of(kit, kit->b);
    struct hf_store_identity after;
    uint32_t epoch = before.epoch_min + 5;

    assert_int_equal(put_under_epoch(kit, "k", epoch, true), epoch);
    after = identity_of(kit, kit->b);
    assert_int_equal(after.epoch_min, epoch);
    assert_memory_equal(after.id, before.id, sizeof(after.id));
    /* What has become out of date is noticed by who expects it. */
    {
        struct hf_store_request request = {.kind = HF_STORE_TXN};

        run_unexpected(kit, &request, &before, &after);
    }
    /* It is never lowered, nor raised by what writes nothing. */
    assert_int_equal(put_under_epoch(kit, "k", epoch - 1, true), epoch);
    assert_int_equal(put_under_epoch(kit, "k", epoch + 9, false), epoch);
    assert_int_equal(put_under_epoch(kit, "k", 0, true), epoch);
    kit->a->ops->close(kit->a);
    kit->a = kit->adapter->open(kit->bench);
    after = identity_of(kit, kit->a);
    assert_int_equal(after.epoch_min, epoch);
}

const struct CMUnitTest suite_identity[] = {
    KIT_TEST(every_write_raises_the_revision),
    KIT_TEST(what_changes_nothing_leaves_the_revision),
    KIT_TEST(every_answer_carries_revision_and_identity),
    KIT_TEST(identity_is_one_for_all_handles_and_stays),
    KIT_TEST(two_stores_have_two_identities),
    KIT_TEST(the_expected_identity_lets_through),
    KIT_TEST(another_identity_than_expected_does_nothing),
    KIT_TEST(an_epoch_that_comes_into_use_raises_the_least_one),
};
const size_t suite_identity_count =
    sizeof(suite_identity) / sizeof(suite_identity[0]);
