/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/store/kit.h"

/* Short of a lapse by more than all that these tests may spend on the way. */
enum { TTL_MS = 20000, NEARLY_MS = TTL_MS - 3000 };

static void a_lapsed_leases_keys_can_be_taken_and_no_sooner(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    put(kit, kit->a, "k", "v", lease);
    kit_pass_ms(kit, NEARLY_MS);
    assert_false(take(kit, kit->b, "k", 0));
    assert_int_equal(get(kit, kit->b, "k").lease, lease);
    kit_pass_lapse(kit, TTL_MS - NEARLY_MS);
    assert_true(take(kit, kit->b, "k", 0));
    assert_int_equal(get(kit, kit->a, "k").lease, 0);
    assert_false(renew(kit, kit->a, lease));
}

static void the_ttl_counts_from_the_last_renewal(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    put(kit, kit->a, "k", "v", lease);
    for (int i = 0; i < 5; i++) {
        kit_pass_ms(kit, NEARLY_MS);
        assert_true(renew(kit, kit->a, lease));
        assert_false(take(kit, kit->b, "k", 0));
    }
    kit_pass_ms(kit, NEARLY_MS);
    assert_false(take(kit, kit->b, "k", 0));
    kit_pass_lapse(kit, TTL_MS);
    assert_true(take(kit, kit->b, "k", 0));
}

static void a_write_with_a_lease_is_no_renewal(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    put(kit, kit->a, "k", "v", lease);
    kit_pass_ms(kit, NEARLY_MS);
    put(kit, kit->a, "k", "v", lease);
    kit_pass_lapse(kit, TTL_MS - NEARLY_MS);
    assert_true(take(kit, kit->b, "k", 0));
}

static void all_keys_of_a_lease_go_in_one_revision_of_their_own(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);
    struct hf_store_request watch;
    uint64_t before;
    uint64_t gone;

    put(kit, kit->a, "k/1", "v", lease);
    put(kit, kit->a, "other", "v", 0);
    before = put(kit, kit->a, "k/2", "v", lease);
    kit_pass_lapse(kit, TTL_MS);
    assert_true(take(kit, kit->b, "k/1", 0));
    assert_false(exists(kit, kit->b, "k/2"));
    watch_begin(&watch, "", before);
    kit_run(kit, kit->b, &watch);
    if (watch.change_count == 2) { /* the taker's came with the next answer */
        watch.after = watch.revision;
        assert_true(watch.changes[1].by_lease);
        kit_run(kit, kit->b, &watch);
        expect_change(&watch, 0, "k/1", false, false, watch.revision);
        hf_store_request_clear(&watch);
        return;
    }
    assert_int_equal(watch.change_count, 3);
    gone = watch.changes[0].revision;
    for (size_t i = 0; i < 2; i++) {
        assert_true(watch.changes[i].is_delete);
        assert_true(watch.changes[i].by_lease);
        assert_int_equal(watch.changes[i].revision, gone);
    }
    expect_change(&watch, 2, "k/1", false, false, watch.revision);
    assert_true(watch.revision > gone);
    hf_store_request_clear(&watch);
}

static void a_watch_hears_of_a_lapse(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);
    struct hf_store_request watch;
    uint64_t before = put(kit, kit->a, "k", "v", lease);

    watch_begin(&watch, "k", before);
    kit_submit(kit, kit->a, &watch);
    kit_pass_lapse(kit, TTL_MS);
    assert_true(take(kit, kit->b, "k", 0));
    assert_ptr_equal(kit_next(kit, kit->a), &watch);
    assert_true(watch.changes[0].is_delete);
    assert_true(watch.changes[0].by_lease);
    hf_store_request_clear(&watch);
}

static void every_kind_of_condition_removes_a_lapsed_lease(void **state)
{
    struct kit *kit = *state;

    for (int way = 0; way < 4; way++) {
        hf_lease_id lease = grant(kit, kit->a, TTL_MS);
        uint64_t at = put(kit, kit->a, "k/1", "v", lease);
        struct txn txn;

        put(kit, kit->a, "beside", "v", lease);
        kit_pass_lapse(kit, TTL_MS);
        txn_begin(&txn);
        if (way == 0)
            txn_if_absent(&txn, "k/1");
        else if (way == 1)
            txn_if_unchanged(&txn, "k/1", at);
        else
            txn_if_prefix_absent(&txn, way == 2 ? "k/" : "");
        txn_put(&txn, "then", "v", 0);
        txn_delete_else(&txn, "otherwise");
        txn_commit(kit, kit->b, &txn);
        assert_int_equal(txn.branches[0].held, way != 1);
        txn_end(&txn);
        assert_false(exists(kit, kit->b, "k/1"));
        assert_false(exists(kit, kit->b, "beside"));
        delete_key(kit, kit->b, "then");
    }
}

static void a_taker_removes_all_the_lapsed_that_stand_in_the_way(void **state)
{
    struct kit *kit = *state;
    const char *const keys[] = {"q/1", "q/2", "q/3"};
    struct txn txn;

    for (size_t i = 0; i < 3; i++)
        put(kit, kit->a, keys[i], "v", grant(kit, kit->a, TTL_MS));
    kit_pass_lapse(kit, TTL_MS);
    txn_begin(&txn);
    txn_if_prefix_absent(&txn, "q/");
    txn_put(&txn, "q/4", "v", 0);
    txn_commit(kit, kit->b, &txn);
    assert_true(txn.branches[0].held);
    txn_end(&txn);
}

/* ---- where takers remove ---- */

static void looking_removes_nothing_and_a_renewal_saves_it(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);
    struct hf_store_request request = {.kind = HF_STORE_LEASE_SHOW,
                                       .lease = lease};
    struct txn txn;
    uint64_t at;

    at = put(kit, kit->a, "k", "v", lease);
    kit_pass_lapse(kit, TTL_MS);
    assert_true(exists(kit, kit->b, "k"));
    kit_run(kit, kit->b, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    assert_true(request.remaining_ms < 0);
    hf_store_request_clear(&request);
    txn_begin(&txn); /* conditions, but nothing to write on either side */
    txn_if_absent(&txn, "k");
    txn_get_else(&txn, "k");
    txn_commit(kit, kit->b, &txn);
    assert_false(txn.branches[0].held);
    txn_end(&txn);
    put(kit, kit->b, "other", "v", 0); /* a write that asks not for it */
    assert_int_equal(get(kit, kit->b, "k").changed, at);
    assert_true(renew(kit, kit->a, lease));
    assert_false(take(kit, kit->b, "k", 0));
    assert_int_equal(get(kit, kit->b, "k").changed, at);
}

static void a_transaction_never_removes_its_own_handles_lease(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);
    uint64_t at;
    struct txn txn;

    at = put(kit, kit->a, "k", "v", lease);
    kit_pass_lapse(kit, TTL_MS);
    assert_false(take(kit, kit->a, "k", 0));
    txn_begin(&txn);
    txn_if_unchanged(&txn, "k", at);
    txn_put(&txn, "k", "v2", lease);
    txn_commit(kit, kit->a, &txn);
    assert_true(txn.branches[0].held);
    txn_end(&txn);
    assert_string_equal(get(kit, kit->b, "k").value, "v2");
    assert_true(renew(kit, kit->a, lease));
}

static void keys_not_asked_for_leave_other_lapsed_leases_alone(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    put(kit, kit->a, "k/1", "v", lease);
    kit_pass_lapse(kit, TTL_MS);
    assert_true(take(kit, kit->b, "k/2", 0));
    assert_true(take(kit, kit->b, "k", 0));
    assert_true(take(kit, kit->b, "k/10", 0));
    assert_true(exists(kit, kit->b, "k/1"));
}

static void a_closed_handles_keys_stand_until_they_are_taken(void **state)
{
    struct kit *kit = *state;
    hf_lease_id lease = grant(kit, kit->a, TTL_MS);

    put(kit, kit->a, "k", "v", lease);
    kit->a->ops->close(kit->a);
    kit->a = NULL;
    assert_int_equal(get(kit, kit->b, "k").lease, lease);
    kit_pass_lapse(kit, TTL_MS);
    assert_true(take(kit, kit->b, "k", 0));
}

/* ---- a process that died ---- */

struct victim {
    enum hf_lease_phase phase;
    hf_lease_id lease;
};

static void victim_script(const struct adapter *adapter, struct bench *bench,
                          struct hf_store *store, void *shared)
{
    struct victim *victim = shared;
    struct hf_store_request request = {.kind = HF_STORE_LEASE_GRANT,
                                       .ttl_ms = TTL_MS};
    struct hf_action put_k = {
        .kind = HF_DO_PUT, .key = {"k", 1}, .value = {"v", 1}};
    struct hf_branch branch = {.then = &put_k, .then_count = 1};

    kit_run_on_bench(adapter, bench, store, &request);
    victim->lease = put_k.lease = request.lease;
    hf_store_request_clear(&request);
    request = (struct hf_store_request){
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};
    kit_run_on_bench(adapter, bench, store, &request);
    hf_store_request_clear(&request);
    for (int phase = HF_PHASE_STARTED; phase <= (int)victim->phase; phase++) {
        request =
            (struct hf_store_request){.kind = HF_STORE_LEASE_PHASE,
                                      .lease = victim->lease,
                                      .phase = (enum hf_lease_phase)phase};
        kit_run_on_bench(adapter, bench, store, &request);
        hf_store_request_clear(&request);
    }
}

static void die_holding(struct kit *kit, struct victim *victim)
{
    kit->adapter->die(kit->bench, victim_script, victim, sizeof(*victim));
    assert_int_equal(get(kit, kit->b, "k").lease, victim->lease);
}

static void a_dead_process_that_had_started_nothing_is_freed(void **state)
{
    struct kit *kit = *state;
    struct victim victim = {.phase = HF_PHASE_NOTHING_STARTED};

    die_holding(kit, &victim);
    if (!kit->b->traits.local) { /* the clock alone tells */
        assert_false(take(kit, kit->b, "k", 0));
        kit_pass_lapse(kit, TTL_MS);
    }
    assert_true(take(kit, kit->b, "k", 0));
    assert_false(renew(kit, kit->b, victim.lease));
}

static void a_dead_process_whose_job_had_gone_is_freed(void **state)
{
    struct kit *kit = *state;
    struct victim victim = {.phase = HF_PHASE_GONE};

    die_holding(kit, &victim);
    if (!kit->b->traits.local)
        kit_pass_lapse(kit, TTL_MS);
    assert_true(take(kit, kit->b, "k", 0));
}

static void a_dead_process_whose_job_may_live_waits_for_the_clock(void **state)
{
    struct kit *kit = *state;
    struct victim victim = {.phase = HF_PHASE_STARTED};

    die_holding(kit, &victim);
    assert_false(take(kit, kit->b, "k", 0));
    kit_pass_ms(kit, NEARLY_MS);
    assert_false(take(kit, kit->b, "k", 0));
    kit_pass_lapse(kit, TTL_MS - NEARLY_MS);
    assert_true(take(kit, kit->b, "k", 0));
}

static void a_dead_process_lease_is_not_removed_by_looking(void **state)
{
    struct kit *kit = *state;
    struct victim victim = {.phase = HF_PHASE_NOTHING_STARTED};
    struct hf_store_request request = {.kind = HF_STORE_LEASE_SHOW};

    die_holding(kit, &victim);
    request.lease = victim.lease;
    kit_run(kit, kit->b, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    assert_int_equal(request.proof,
                     kit->b->traits.local ? HF_PROOF_DEAD : HF_PROOF_NONE);
    hf_store_request_clear(&request);
    assert_true(exists(kit, kit->b, "k"));
}

const struct CMUnitTest suite_lapse[] = {
    KIT_TEST(a_lapsed_leases_keys_can_be_taken_and_no_sooner),
    KIT_TEST(the_ttl_counts_from_the_last_renewal),
    KIT_TEST(a_write_with_a_lease_is_no_renewal),
    KIT_TEST(all_keys_of_a_lease_go_in_one_revision_of_their_own),
    KIT_TEST(a_watch_hears_of_a_lapse),
    KIT_TEST(every_kind_of_condition_removes_a_lapsed_lease),
    KIT_TEST(a_taker_removes_all_the_lapsed_that_stand_in_the_way),
    KIT_TEST(a_dead_process_that_had_started_nothing_is_freed),
    KIT_TEST(a_dead_process_whose_job_had_gone_is_freed),
    KIT_TEST(a_dead_process_whose_job_may_live_waits_for_the_clock),
    KIT_TEST(a_dead_process_lease_is_not_removed_by_looking),
};
const size_t suite_lapse_count = sizeof(suite_lapse) / sizeof(suite_lapse[0]);

const struct CMUnitTest suite_takers[] = {
    KIT_TEST(looking_removes_nothing_and_a_renewal_saves_it),
    KIT_TEST(a_transaction_never_removes_its_own_handles_lease),
    KIT_TEST(keys_not_asked_for_leave_other_lapsed_leases_alone),
    KIT_TEST(a_closed_handles_keys_stand_until_they_are_taken),
};
const size_t suite_takers_count =
    sizeof(suite_takers) / sizeof(suite_takers[0]);
