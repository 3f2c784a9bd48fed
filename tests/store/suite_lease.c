/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/store/kit.h"

enum { TTL_MS = 20000, NO_LEASE = 987654321 };

static void show(struct kit *kit, struct hf_store *store, hf_lease_id lease,
                 struct hf_store_request *request)
{
    *request =
        (struct hf_store_request){.kind = HF_STORE_LEASE_SHOW, .lease = lease};
    kit_run(kit, store, request);
}

static void every_grant_is_a_lease_of_its_own(void **state)
{
    struct kit *kit = *state;
    hf_lease_id seen[60];
    size_t count = 0;

    for (int i = 0; i < 20; i++) {
        seen[count++] = grant(kit, kit->a, TTL_MS);
        seen[count++] = grant(kit, kit->b, TTL_MS);
        seen[count] = grant(kit, kit->a, TTL_MS);
        assert_true(revoke_lease(kit, kit->a, seen[count++]));
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    }
}

static void a_ttl_out_of_range_fails(void **state)
{
    struct kit *kit = *state;
    const int64_t bad[] = {INT64_MIN, -1, 0, 999, 86400001, INT64_MAX};
    const int64_t good[] = {1000, 86400000};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hf_store_request request = {.kind = HF_STORE_LEASE_GRANT,
                                           .ttl_ms = bad[i]};

        kit_run(kit, kit->a, &request);
        assert_int_equal(request.outcome, HF_OUTCOME_FAILED);
        assert_int_equal(request.error.code, HF_ERR_USAGE);
        hf_store_request_clear(&request);
    }
    for (size_t i = 0; i < 2; i++)
        assert_int_not_equal(grant(kit, kit->a, good[i]), 0);
}

static void a_key_tells_its_lease_to_everybody(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    put(kit, kit->a, "k", "v", lease);
    assert_int_equal(get(kit, kit->a, "k").lease, lease);
    assert_int_equal(get(kit, kit->b, "k").lease, lease);
}

static void revoking_ends_lease_and_keys_in_one_revision(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);
    struct hf_store_request watch;
    uint64_t before;

    put(kit, kit->a, "k/1", "v", lease);
    put(kit, kit->a, "other", "v", 0);
    before = put(kit, kit->a, "k/2", "v", lease);
    assert_true(revoke_lease(kit, kit->a, lease));
    assert_false(exists(kit, kit->b, "k/1"));
    assert_false(exists(kit, kit->b, "k/2"));
    assert_true(exists(kit, kit->b, "other"));
    watch_begin(&watch, "", before);
    kit_run(kit, kit->b, &watch);
    assert_int_equal(watch.change_count, 2);
    assert_int_equal(watch.changes[0].revision, watch.changes[1].revision);
    for (size_t i = 0; i < 2; i++) {
        assert_true(watch.changes[i].is_delete);
        assert_true(watch.changes[i].by_lease);
        assert_int_equal(watch.changes[i].record.lease, lease);
    }
    hf_store_request_clear(&watch);
}

static void a_lease_that_is_not_there_is_refused(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);
    const hf_lease_id gone[] = {lease, NO_LEASE};
    struct hf_store_request request;

    put(kit, kit->a, "k", "v", lease);
    assert_true(revoke_lease(kit, kit->a, lease));
    for (size_t i = 0; i < 2; i++) {
        struct txn txn;

        assert_false(renew(kit, kit->a, gone[i]));
        assert_false(revoke_lease(kit, kit->a, gone[i]));
        show(kit, kit->a, gone[i], &request);
        assert_int_equal(request.outcome, HF_OUTCOME_REFUSED);
        assert_int_equal(request.refusal, HF_REFUSED_LEASE);
        hf_store_request_clear(&request);
        txn_begin(&txn);
        txn_put(&txn, "k", "v", gone[i]);
        txn_refuse(kit, kit->a, &txn);
        txn_end(&txn);
    }
    assert_false(exists(kit, kit->a, "k"));
}

static void no_lease_named_is_bad_input(void **state)
{
    struct kit *kit = *state;
    const enum hf_store_kind kinds[] = {
        HF_STORE_LEASE_RENEW, HF_STORE_LEASE_REVOKE, HF_STORE_LEASE_SHOW,
        HF_STORE_LEASE_PHASE};

    for (size_t i = 0; i < 4; i++) {
        struct hf_store_request request = {.kind = kinds[i]};

        kit_run(kit, kit->a, &request);
        assert_int_equal(request.outcome, HF_OUTCOME_FAILED);
        assert_int_equal(request.error.code, HF_ERR_USAGE);
        hf_store_request_clear(&request);
    }
}

static void show_tells_what_is_left(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);
    struct hf_store_request request;
    int64_t before;

    put(kit, kit->a, "k", "v", lease);
    show(kit, kit->b, lease, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    assert_int_equal(request.ttl_ms, TTL_MS);
    assert_in_range(request.remaining_ms, TTL_MS - 2000, TTL_MS);
    before = request.remaining_ms;
    hf_store_request_clear(&request);
    kit_pass_ms(kit, 5000);
    show(kit, kit->b, lease, &request);
    assert_in_range(request.remaining_ms, before - 7000, before - 4900);
    hf_store_request_clear(&request);
    assert_true(renew(kit, kit->a, lease));
    show(kit, kit->b, lease, &request);
    assert_in_range(request.remaining_ms, TTL_MS - 2000, TTL_MS);
    hf_store_request_clear(&request);
}

static void a_renewal_tells_the_ttl(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request request = {.kind = HF_STORE_LEASE_RENEW};

    request.lease = grant(kit, kit->a, TTL_MS);
    kit_run(kit, kit->a, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    assert_int_equal(request.ttl_ms, TTL_MS);
    hf_store_request_clear(&request);
}

static void a_put_replaces_the_former_attachment(void **state)
{
    struct kit *kit = *state;
    hf_lease_id first = grant(kit, kit->a, TTL_MS);
    hf_lease_id second = grant(kit, kit->a, TTL_MS);

    put(kit, kit->a, "moved", "v", first);
    put(kit, kit->a, "freed", "v", first);
    put(kit, kit->a, "stays", "v", first);
    put(kit, kit->a, "moved", "v", second);
    put(kit, kit->a, "freed", "v", 0);
    assert_int_equal(get(kit, kit->b, "moved").lease, second);
    assert_int_equal(get(kit, kit->b, "freed").lease, 0);
    assert_true(revoke_lease(kit, kit->a, first));
    assert_true(exists(kit, kit->b, "moved"));
    assert_true(exists(kit, kit->b, "freed"));
    assert_false(exists(kit, kit->b, "stays"));
    assert_true(revoke_lease(kit, kit->a, second));
    assert_false(exists(kit, kit->b, "moved"));
    assert_true(exists(kit, kit->b, "freed"));
}

static void a_deleted_key_put_again_has_no_lease(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    put(kit, kit->a, "k", "v", lease);
    put(kit, kit->a, "k2", "v", lease);
    delete_key(kit, kit->b, "k");
    put(kit, kit->b, "k", "v", 0);
    assert_true(revoke_lease(kit, kit->a, lease));
    assert_true(exists(kit, kit->a, "k"));
    assert_false(exists(kit, kit->a, "k2"));
}

static void any_handle_may_use_a_lease_that_has_keys(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    put(kit, kit->a, "k", "v", lease);
    assert_true(renew(kit, kit->b, lease));
    put(kit, kit->b, "handed", "v", lease);
    assert_int_equal(get(kit, kit->a, "handed").lease, lease);
    put(kit, kit->b, "k", "v2", lease);
    assert_true(renew(kit, kit->a, lease));
    assert_true(revoke_lease(kit, kit->b, lease));
    assert_false(exists(kit, kit->a, "k"));
    assert_false(exists(kit, kit->a, "handed"));
    assert_false(renew(kit, kit->a, lease));
}

static void a_lease_serves_on_when_its_last_key_has_gone(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    for (int i = 0; i < 3; i++) {
        put(kit, kit->a, "k", "v", lease);
        assert_true(renew(kit, kit->a, lease));
        delete_key(kit, kit->a, "k");
        assert_true(renew(kit, kit->a, lease));
    }
    assert_true(revoke_lease(kit, kit->a, lease));
}

static void a_phase_is_told_by_the_granting_handle(void **state)
{
    struct kit *kit = *state;
    const enum hf_lease_phase phases[] = {HF_PHASE_STARTED, HF_PHASE_LEFT,
                                          HF_PHASE_GONE, HF_PHASE_STARTED,
                                          HF_PHASE_NOTHING_STARTED};
    struct hf_store_request request = {.kind = HF_STORE_LEASE_PHASE};
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    request.lease = lease;
    put(kit, kit->a, "k", "v", lease);
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        struct hf_store_request shown;

        request.phase = phases[i];
        request.left = (struct hf_lease_left){0};
        if (phases[i] == HF_PHASE_LEFT)
            request.left = (struct hf_lease_left){1764633600000, 131};
        request.cgroup = i ? NULL : "/sys/fs/cgroup/none";
        kit_run(kit, kit->a, &request);
        assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
        show(kit, kit->b, lease, &shown);
        assert_int_equal(shown.phase, kit->b->traits.local
                                          ? phases[i]
                                          : HF_PHASE_NOTHING_STARTED);
        if (kit->b->traits.local) {
            assert_int_equal(shown.left.wall_ms, request.left.wall_ms);
            assert_int_equal(shown.left.status, request.left.status);
        }
        hf_store_request_clear(&shown);
    }
    kit_run(kit, kit->b, &request);
    assert_int_equal(request.outcome, kit->b->traits.local
                                          ? HF_OUTCOME_REFUSED
                                          : HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&request);
}

static void only_a_local_store_proves_anything(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);
    struct hf_store_request request;

    put(kit, kit->a, "k", "v", lease);
    show(kit, kit->b, lease, &request);
    assert_int_equal(request.proof,
                     kit->b->traits.local ? HF_PROOF_LIVES : HF_PROOF_NONE);
    hf_store_request_clear(&request);
}

const struct CMUnitTest suite_lease[] = {
    KIT_TEST(every_grant_is_a_lease_of_its_own),
    KIT_TEST(a_ttl_out_of_range_fails),
    KIT_TEST(a_key_tells_its_lease_to_everybody),
    KIT_TEST(revoking_ends_lease_and_keys_in_one_revision),
    KIT_TEST(a_lease_that_is_not_there_is_refused),
    KIT_TEST(no_lease_named_is_bad_input),
    KIT_TEST(show_tells_what_is_left),
    KIT_TEST(a_renewal_tells_the_ttl),
    KIT_TEST(a_put_replaces_the_former_attachment),
    KIT_TEST(a_deleted_key_put_again_has_no_lease),
    KIT_TEST(any_handle_may_use_a_lease_that_has_keys),
    KIT_TEST(a_lease_serves_on_when_its_last_key_has_gone),
    KIT_TEST(a_phase_is_told_by_the_granting_handle),
    KIT_TEST(only_a_local_store_proves_anything),
};
const size_t suite_lease_count = sizeof(suite_lease) / sizeof(suite_lease[0]);
