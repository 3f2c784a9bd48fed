/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tests/store/kit.h"

/* ---- cancelling ---- */

static void a_cancelled_watch_is_never_returned(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request *watch = malloc(sizeof(*watch));
    char *prefix = strdup("k");

    assert_non_null(watch);
    assert_non_null(prefix);
    watch_begin(watch, prefix, revision_now(kit));
    kit_submit(kit, kit->b, watch);
    kit_silent(kit, kit->b);
    kit->b->ops->cancel(kit->b, watch);
    hf_store_request_clear(watch);
    free(watch); /* from here on the store must not know it any more */
    free(prefix);
    put(kit, kit->a, "k", "v", 0);
    kit_silent(kit, kit->b);
}

static void an_answered_request_can_be_cancelled_too(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request *watch = malloc(sizeof(*watch));
    struct hf_store_request second;
    uint64_t before = put(kit, kit->a, "k", "v", 0);

    assert_non_null(watch);
    watch_begin(watch, "k", before - 1);
    kit_submit(kit, kit->b, watch);
    kit_pass_ms(kit, 2000); /* whatever its way: it has been answered */
    watch_begin(&second, "k", before - 1);
    kit_submit(kit, kit->b, &second);
    kit->b->ops->cancel(kit->b, watch);
    hf_store_request_clear(watch);
    free(watch);
    assert_ptr_equal(kit_next(kit, kit->b), &second);
    expect_change(&second, 0, "k", false, false, before);
    kit_silent(kit, kit->b);
    hf_store_request_clear(&second);
}

static void a_transaction_cancelled_at_once_happens_once_or_never(void **state)
{
    struct kit *kit = *state;
    for (int i = 0; i < 20; i++) {
        uint64_t before = revision_now(kit);
        struct hf_store_request watch;
        struct txn *txn = malloc(sizeof(*txn));
        char key[2] = {(char)('a' + i), '\0'};

        assert_non_null(txn);
        txn_begin(txn);
        txn_put(txn, key, "v", 0);
        kit_submit(kit, kit->a, &txn->request);
        kit->a->ops->cancel(kit->a, &txn->request);
        txn_end(txn);
        free(txn);
        kit_silent(kit, kit->a);
        if (!exists(kit, kit->b, key))
            continue;
        watch_begin(&watch, key, before);
        kit_run(kit, kit->b, &watch);
        assert_int_equal(watch.change_count, 1);
        hf_store_request_clear(&watch);
    }
}

static void cancelling_what_is_not_out_is_no_error(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request never = {.kind = HF_STORE_TXN};
    struct txn txn;

    kit->a->ops->cancel(kit->a, &never);
    txn_begin(&txn);
    txn_put(&txn, "k", "v", 0);
    txn_commit(kit, kit->a, &txn);
    kit->a->ops->cancel(kit->a, &txn.request);
    txn_end(&txn);
    kit->a->ops->cancel(kit->a, &txn.request);
    assert_string_equal(get(kit, kit->a, "k").value, "v");
}

static void a_cancelled_request_can_be_submitted_again(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request watch;
    uint64_t at;

    watch_begin(&watch, "k", revision_now(kit));
    for (int i = 0; i < 5; i++) {
        kit_submit(kit, kit->b, &watch);
        kit->b->ops->cancel(kit->b, &watch);
    }
    kit_submit(kit, kit->b, &watch);
    kit_silent(kit, kit->b);
    at = put(kit, kit->a, "k", "v", 0);
    assert_ptr_equal(kit_next(kit, kit->b), &watch);
    expect_change(&watch, 0, "k", false, false, at);
    hf_store_request_clear(&watch);
    kit_silent(kit, kit->b);
}

static void cancelling_one_leaves_the_others(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request watches[5];
    uint64_t start = revision_now(kit);
    uint64_t at;

    for (size_t i = 0; i < 5; i++) {
        watch_begin(&watches[i], "k", start);
        kit_submit(kit, kit->b, &watches[i]);
    }
    kit->b->ops->cancel(kit->b, &watches[0]);
    kit->b->ops->cancel(kit->b, &watches[2]);
    kit->b->ops->cancel(kit->b, &watches[4]);
    at = put(kit, kit->a, "k", "v", 0);
    for (size_t i = 0; i < 2; i++) {
        struct hf_store_request *told = kit_next(kit, kit->b);

        assert_true(told == &watches[1] || told == &watches[3]);
        expect_change(told, 0, "k", false, false, at);
        hf_store_request_clear(told);
    }
    kit_silent(kit, kit->b);
}

static void closing_forgets_what_is_out(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request *watch = malloc(sizeof(*watch));
    struct txn *txn = malloc(sizeof(*txn));

    assert_non_null(watch);
    assert_non_null(txn);
    watch_begin(watch, "k", revision_now(kit));
    kit_submit(kit, kit->a, watch);
    txn_begin(txn);
    txn_get(txn, "k");
    kit_submit(kit, kit->a, &txn->request);
    kit->a->ops->close(kit->a);
    kit->a = NULL;
    hf_store_request_clear(watch);
    free(watch);
    txn_end(txn);
    free(txn);
    put(kit, kit->b, "k", "v", 0);
}

/* ---- memory ---- */

static void an_answer_outlives_the_store(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    put(kit, kit->b, "k", "value", 0);
    txn_begin(&txn);
    txn_get(&txn, "k");
    txn_list(&txn, "k", 5);
    txn_commit(kit, kit->a, &txn);
    kit->a->ops->close(kit->a);
    kit->a = NULL;
    put(kit, kit->b, "k", "other", 0);
    assert_int_equal(txn_record(&txn, 0)->value.size, 5);
    assert_memory_equal(txn_record(&txn, 0)->value.data, "value", 5);
    assert_memory_equal(txn_record(&txn, 1)->value.data, "value", 5);
    txn_end(&txn);
}

static void a_request_can_be_used_over_and_over(void **state)
{
    struct kit *kit = *state;
    struct txn txn;
    uint64_t last = 0;

    txn_begin(&txn);
    txn_put(&txn, "k", "v", 0);
    txn_list(&txn, "", 5);
    for (int i = 0; i < 50; i++) {
        uint64_t revision = txn_commit(kit, kit->a, &txn);

        assert_true(revision > last);
        last = revision;
    }
    txn_end(&txn);
}

static void the_stores_own_fields_are_zero_after_clear(void **state)
{
    struct kit *kit = *state;
    struct txn txn;

    txn_begin(&txn);
    txn_get(&txn, "k");
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
    assert_null(txn.request.memory);
    assert_null(txn.request.link);
    assert_int_equal(txn.request.tag, 0);
    txn_end(&txn); /* twice is no error */
    txn_commit(kit, kit->a, &txn);
    txn_end(&txn);
}

static void the_input_is_not_touched(void **state)
{
    struct kit *kit = *state;
    struct txn txn;
    struct txn before;

    txn_begin(&txn);
    txn_if_absent(&txn, "k");
    txn_put(&txn, "k", "v", 0);
    txn_get(&txn, "k");
    txn_put_else(&txn, "l", "v", 0);
    before = txn;
    txn_commit(kit, kit->a, &txn);
    assert_int_equal(txn.request.kind, HF_STORE_TXN);
    assert_ptr_equal(txn.request.branches, txn.branches);
    assert_int_equal(txn.request.branch_count, 1);
    assert_memory_equal(txn.conditions, before.conditions,
                        sizeof(txn.conditions));
    assert_memory_equal(txn.then, before.then, sizeof(txn.then));
    assert_memory_equal(txn.otherwise, before.otherwise, sizeof(txn.otherwise));
    assert_ptr_equal(txn.branches[0].then, txn.then[0]);
    assert_int_equal(txn.branches[0].then_count, 2);
    txn_end(&txn);
}

static void requests_out_together_all_come_back(void **state)
{
    struct kit *kit = *state;
    struct txn txns[10];
    bool back[10] = {false};

    for (size_t i = 0; i < 10; i++) {
        txn_begin(&txns[i]);
        txn_put(&txns[i], "k", "v", 0);
        kit_submit(kit, kit->a, &txns[i].request);
    }
    for (size_t i = 0; i < 10; i++) {
        struct hf_store_request *request = kit_next(kit, kit->a);
        size_t j = 0;

        while (j < 10 && request != &txns[j].request)
            j++;
        assert_true(j < 10 && !back[j]);
        /* cppcheck-suppress arrayIndexOutOfBoundsCond; the assert ends it */
        back[j] = true;
        assert_int_equal(request->outcome, HF_OUTCOME_COMMITTED);
        for (size_t k = 0; k < 10; k++)
            assert_true(k == j || !back[k] ||
                        txns[k].request.revision != request->revision);
        txn_end(&txns[j]);
    }
    kit_silent(kit, kit->a);
}

/* ---- limits and bad input ---- */

static char long_key[HF_STORE_KEY_BYTES_MAX + 2];
static char long_value[HF_STORE_VALUE_BYTES_MAX + 2];

static void fill(void)
{
    memset(long_key, 'k', sizeof(long_key));
    memset(long_value, 'v', sizeof(long_value));
}

static void the_longest_key_and_value_are_taken(void **state)
{
    struct kit *kit = *state;
    struct hf_bytes key = {long_key, HF_STORE_KEY_BYTES_MAX};
    struct hf_bytes value = {long_value, HF_STORE_VALUE_BYTES_MAX};
    struct hf_store_request watch;
    struct txn txn;

    fill();
    txn_begin(&txn);
    txn_if_absent(&txn, "x");
    txn_put(&txn, "x", "", 0);
    txn.conditions[0][0].key = key;
    txn.then[0][0].key = key;
    txn.then[0][0].value = value;
    txn_commit(kit, kit->a, &txn);
    assert_true(txn.branches[0].held);
    watch_begin(&watch, "", txn.request.revision - 1);
    watch.prefix = key;
    kit_run(kit, kit->b, &watch);
    assert_int_equal(watch.change_count, 1);
    assert_int_equal(watch.changes[0].record.value.size, value.size);
    hf_store_request_clear(&watch);
    txn_end(&txn);
}

static void the_largest_transaction_is_taken(void **state)
{
    struct kit *kit = *state;
    static struct hf_branch branches[HF_STORE_BRANCHES_MAX + 1];
    static struct hf_condition conditions[HF_STORE_CONDITIONS_MAX];
    static struct hf_action actions[HF_STORE_BRANCHES_MAX + 1]
                                   [HF_STORE_ACTIONS_MAX];
    static char keys[HF_STORE_BRANCHES_MAX + 1][HF_STORE_ACTIONS_MAX][2];
    struct hf_store_request request = {.kind = HF_STORE_TXN,
                                       .branches = branches,
                                       .branch_count = HF_STORE_BRANCHES_MAX};

    for (size_t i = 0; i < HF_STORE_CONDITIONS_MAX; i++)
        conditions[i] = (struct hf_condition){.kind = HF_IF_ABSENT,
                                              .key = bytes_of("absent")};
    for (size_t i = 0; i <= HF_STORE_BRANCHES_MAX; i++) {
        branches[i] =
            (struct hf_branch){.conditions = conditions,
                               .condition_count = HF_STORE_CONDITIONS_MAX,
                               .then = actions[i],
                               .then_count = HF_STORE_ACTIONS_MAX};
        for (size_t j = 0; j < HF_STORE_ACTIONS_MAX; j++) {
            keys[i][j][0] = (char)(i + 1);
            keys[i][j][1] = (char)(j + 1);
            actions[i][j] = (struct hf_action){.kind = HF_DO_PUT,
                                               .key = {keys[i][j], 2},
                                               .value = bytes_of("v")};
        }
    }
    kit_run(kit, kit->a, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    request.branch_count++;
    kit_run(kit, kit->a, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_FAILED);
    assert_int_equal(request.error.code, HF_ERR_USAGE);
    hf_store_request_clear(&request);
}

/* Each way to ask for what cannot be asked. */
enum { BAD_WAYS = 15 };

static void build_bad(struct txn *txn, int way)
{
    const struct hf_bytes none = {"", 0};

    fill();
    txn_begin(txn);
    txn_if_absent(txn, "a");
    txn_put(txn, "k", "v", 0);
    txn_get_else(txn, "k");
    switch (way) {
    case 0:
        txn->conditions[0][0].key = none;
        break;
    case 1:
        txn->then[0][0].key = none;
        break;
    case 2:
        txn->otherwise[0][0].key = none;
        break;
    case 3:
        txn->conditions[0][0].key.size = HF_STORE_KEY_BYTES_MAX + 1;
        txn->conditions[0][0].key.data = long_key;
        break;
    case 4:
        txn->then[0][0].key.size = HF_STORE_KEY_BYTES_MAX + 1;
        txn->then[0][0].key.data = long_key;
        break;
    case 5:
        txn->then[0][0].value.size = HF_STORE_VALUE_BYTES_MAX + 1;
        txn->then[0][0].value.data = long_value;
        break;
    case 6:
        txn->conditions[0][0].kind = (enum hf_condition_kind)77;
        break;
    case 7:
        txn->then[0][0].kind = (enum hf_action_kind)77;
        break;
    case 8:
        txn_list(txn, "k", 0);
        break;
    case 9:
        txn_list(txn, "k", HF_STORE_LIST_MAX + 1);
        break;
    case 10:
        for (int i = 0; i < HF_STORE_CONDITIONS_MAX; i++)
            txn_if_absent(txn, "a");
        break;
    case 11:
        for (int i = 0; i < HF_STORE_ACTIONS_MAX; i++)
            txn_get(txn, "k");
        break;
    case 12:
        for (int i = 0; i < HF_STORE_ACTIONS_MAX; i++)
            txn_get_else(txn, "k");
        break;
    case 13:
        txn->branches[0].conditions = NULL;
        break;
    case 14:
        txn->then[0][0].value = (struct hf_bytes){NULL, 1};
        break;
    default:
        txn->request.kind = (enum hf_store_kind)77;
        break;
    }
}

static void bad_input_fails_with_a_sentence_and_changes_nothing(void **state)
{
    struct kit *kit = *state;
    uint64_t before = put(kit, kit->a, "witness", "v", 0);
    struct txn txn;

    for (int way = 0; way <= BAD_WAYS; way++) {
        build_bad(&txn, way);
        txn_fail(kit, kit->a, &txn);
        txn_end(&txn);
    }
    assert_false(exists(kit, kit->b, "k"));
    assert_int_equal(revision_now(kit), before);
}

static void an_answer_leaves_nothing_of_the_one_before(void **state)
{
    struct kit *kit = *state;
    struct hf_store_request request = {.kind = HF_STORE_LEASE_RENEW,
                                       .lease = 987654321};

    kit_run(kit, kit->a, &request);
    assert_int_equal(request.refusal, HF_REFUSED_LEASE);
    request.kind = HF_STORE_LEASE_GRANT;
    request.ttl_ms = 1;
    kit_run(kit, kit->a, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_FAILED);
    assert_int_equal(request.refusal, HF_REFUSED_NOT);
    request.ttl_ms = 10000;
    kit_run(kit, kit->a, &request);
    assert_int_equal(request.outcome, HF_OUTCOME_COMMITTED);
    assert_int_equal(request.error.code, HF_ERR_OK);
    assert_string_equal(request.error.text, "");
    hf_store_request_clear(&request);
}

const struct CMUnitTest suite_request[] = {
    KIT_TEST(a_cancelled_watch_is_never_returned),
    KIT_TEST(an_answered_request_can_be_cancelled_too),
    KIT_TEST(a_transaction_cancelled_at_once_happens_once_or_never),
    KIT_TEST(cancelling_what_is_not_out_is_no_error),
    KIT_TEST(a_cancelled_request_can_be_submitted_again),
    KIT_TEST(cancelling_one_leaves_the_others),
    KIT_TEST(closing_forgets_what_is_out),
    KIT_TEST(an_answer_outlives_the_store),
    KIT_TEST(a_request_can_be_used_over_and_over),
    KIT_TEST(the_stores_own_fields_are_zero_after_clear),
    KIT_TEST(the_input_is_not_touched),
    KIT_TEST(requests_out_together_all_come_back),
    KIT_TEST(the_longest_key_and_value_are_taken),
    KIT_TEST(the_largest_transaction_is_taken),
    KIT_TEST(bad_input_fails_with_a_sentence_and_changes_nothing),
    KIT_TEST(an_answer_leaves_nothing_of_the_one_before),
};
const size_t suite_request_count =
    sizeof(suite_request) / sizeof(suite_request[0]);
