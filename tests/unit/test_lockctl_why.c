/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/why.h"

#include <string.h>

#include "cmd/lockctl/hold.h"
#include "tests/lib/cmocka_all.h"

#define NOW_MS INT64_C(1000000)

static struct hf_hold_info info_of(enum hf_hold_kind kind,
                                   enum hf_lease_proof proof, int64_t left_ms)
{
    return (struct hf_hold_info){
        .kind = kind,
        .who = {.pid = 7,
                .mode = kind == HF_SHARE ? HF_SHARED : HF_EXCLUSIVE,
                .since_steady_ms = NOW_MS - 192000},
        .token = 5,
        .lease_known = true,
        .lease_ttl_ms = 60000,
        .lease_remaining_ms = left_ms,
        .proof = proof,
    };
}

/* The sentence about these records is exactly this. */
static void says(struct why *why, const char *sentence)
{
    struct hf_buf text;

    why->now = (struct hf_time){NOW_MS * 1000000};
    /* 2026-06-01T12:00:00Z */
    why->wall = (struct hf_wall){INT64_C(1780315200) * 1000000000};
    hf_buf_init(&text, 4096);
    assert_int_equal(why_print(why, &text), HF_ERR_OK);
    assert_string_equal(text.data, sentence);
    hf_buf_clear(&text);
}

static void a_free_key_is_free(void **state)
{
    struct why why = {.infos = NULL};

    (void)state;
    says(&why, "free: nobody holds it, and nobody waits");
}

static void a_live_job_is_told_with_its_age(void **state)
{
    struct hf_hold_info info = info_of(HF_HOLD, HF_PROOF_LIVES, 41000);
    struct why why = {.infos = &info, .info_count = 1};

    (void)state;
    says(&why, "held by a live job for 3m12s");
    why.waiting = 1;
    says(&why, "held by a live job for 3m12s; 1 waits");
    why.waiting = 3;
    why.stopped_pid = 7;
    says(&why, "held by a live job for 3m12s, but pid 7, which renews its "
               "lease, is stopped (kill -CONT 7); 3 wait");
}

static void a_dead_holder_stands_in_nobodys_way(void **state)
{
    struct hf_hold_info infos[] = {info_of(HF_HOLD, HF_PROOF_DEAD, 41000),
                                   info_of(HF_WAITER, HF_PROOF_LIVES, 41000)};
    struct why why = {.infos = infos, .info_count = 1};

    (void)state;
    says(&why, "its holder is dead by the kernel's word: the next one gets it "
               "at once");
    why.info_count = 2;
    why.waiting = 1;
    says(&why, "its holder is dead by the kernel's word: the one that waits "
               "takes it within a second");
    why.waiting = 2;
    says(&why, "its holder is dead by the kernel's word: of 2 that wait the "
               "first living one takes it within a second");
    infos[1].proof = HF_PROOF_DEAD;
    says(&why, "its holder is dead by the kernel's word: the next one gets it "
               "at once");
}

static void of_an_unproved_holder_the_lease_alone_is_known(void **state)
{
    struct hf_hold_info info = info_of(HF_HOLD, HF_PROOF_NONE, 41000);
    struct why why = {.infos = &info, .info_count = 1};

    (void)state;
    says(&why, "nothing is known of its processes: free when the lease ends "
               "in 41s, unless it is renewed");
    info.lease_remaining_ms = 0;
    says(&why, "nothing is known of its processes: free when the lease ends "
               "in 0s, unless it is renewed");
    info.lease_remaining_ms = -12000;
    says(&why, "its lease ended 12s ago: the next one gets it at once");
    info.proof = HF_PROOF_LIVES;
    says(&why, "its lease ended 12s ago, though a process of it lives "
               "(stopped, or starved): the next one gets it at once");
    info.lease_known = false;
    says(&why, "its lease is gone: the next one gets it at once");
}

static void waiters_of_a_free_key_are_about_to_take_it(void **state)
{
    struct hf_hold_info infos[] = {info_of(HF_WAITER, HF_PROOF_LIVES, 41000),
                                   info_of(HF_WAITER, HF_PROOF_LIVES, 41000),
                                   info_of(HF_WAITER, HF_PROOF_NONE, 41000)};
    struct why why = {.infos = infos, .info_count = 3, .waiting = 3};

    (void)state;
    says(&why, "nobody holds it, 3 wait: the first takes it within a second");
    why.waiting = 1;
    why.info_count = 1;
    says(&why, "nobody holds it, 1 waits: it takes it within a second");
    infos[0].proof = HF_PROOF_DEAD;
    says(&why,
         "nobody holds it, and 1 that waits is gone: the next one gets it at "
         "once");
}

static void shared_holders_are_counted(void **state)
{
    struct hf_hold_info infos[] = {info_of(HF_SHARE, HF_PROOF_LIVES, 41000),
                                   info_of(HF_SHARE, HF_PROOF_DEAD, 41000),
                                   info_of(HF_SHARE, HF_PROOF_NONE, 20000)};
    struct why why = {.infos = infos, .info_count = 3};

    (void)state;
    says(&why, "held shared by 3, 1 of them live: an exclusive one gets it "
               "when they are done");
    infos[0].proof = HF_PROOF_DEAD;
    why.waiting = 2;
    says(&why, "held shared by 3, and nothing is known of their processes: "
               "free when the last lease ends in 20s, unless it is renewed; 2 "
               "wait");
    infos[2].proof = HF_PROOF_DEAD;
    why.waiting = 0;
    says(&why, "held shared by 3, all dead or lapsed: the next one gets it at "
               "once");
}

static void a_kept_key_says_until_when(void **state)
{
    struct hf_hold_info infos[] = {info_of(HF_FLOOR, HF_PROOF_NONE, 41000),
                                   info_of(HF_HOLD, HF_PROOF_DEAD, 41000)};
    struct why why = {.infos = infos, .info_count = 1};

    (void)state;
    says(&why, "its job is done, but it is kept until 2026-06-01T12:00:41Z by "
               "--hold-min, for 41s more");
    why.info_count = 2;
    why.waiting = 2;
    says(&why, "its holder is dead by the kernel's word: kept until "
               "2026-06-01T12:00:41Z by --hold-min, for 41s more; 2 wait");
    /* One that is over keeps nothing. */
    infos[0].lease_remaining_ms = -1;
    why.info_count = 1;
    why.waiting = 0;
    says(&why, "free: nobody holds it, and nobody waits");
}

static void a_seal_comes_first(void **state)
{
    struct hf_hold_info info = info_of(HF_HOLD, HF_PROOF_DEAD, 41000);
    struct why why = {.infos = &info, .info_count = 1, .is_sealed = true};

    (void)state;
    says(&why, "the store is sealed, so nothing is granted or renewed (lockctl "
               "epoch show); its holder is dead by the kernel's word: nobody "
               "gets it while the store is sealed");
}

static void ages_are_told_in_two_units(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } ages[] = {
        {0, "0s"},           {999, "0s"},         {59999, "59s"},
        {60000, "1m00s"},    {3599999, "59m59s"}, {3600000, "1h00m"},
        {18420000, "5h07m"}, {86400000, "1d00h"}, {273600000, "3d04h"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++)
        assert_string_equal(age_print(ages[i].ms).text, ages[i].text);
}

static void an_age_is_never_below_zero(void **state)
{
    struct hf_hold_info info = info_of(HF_HOLD, HF_PROOF_LIVES, 1000);

    (void)state;
    assert_int_equal(hold_age_ms(&info, (struct hf_time){NOW_MS * 1000000}),
                     192000);
    assert_int_equal(hold_age_ms(&info, (struct hf_time){5}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_key_is_free),
        cmocka_unit_test(a_live_job_is_told_with_its_age),
        cmocka_unit_test(a_dead_holder_stands_in_nobodys_way),
        cmocka_unit_test(of_an_unproved_holder_the_lease_alone_is_known),
        cmocka_unit_test(waiters_of_a_free_key_are_about_to_take_it),
        cmocka_unit_test(shared_holders_are_counted),
        cmocka_unit_test(a_kept_key_says_until_when),
        cmocka_unit_test(a_seal_comes_first),
        cmocka_unit_test(ages_are_told_in_two_units),
        cmocka_unit_test(an_age_is_never_below_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
