/* SPDX-License-Identifier: Apache-2.0 */
#include "client/deadline.h"

#include "tests/lib/cmocka_all.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)

static struct hf_deadline deadline_of(int64_t sent_ns, int64_t ttl_ns,
                                      int64_t grace_ns)
{
    return (struct hf_deadline){
        .sent_at = {sent_ns}, .ttl = {ttl_ns}, .grace = {grace_ns}};
}

static void the_moments_of_a_minute_lie_where_the_header_says(void **state)
{
    struct hf_deadline minute = deadline_of(1000 * S, 64 * S, 10 * S);

    (void)state;
    assert_int_equal(hf_deadline_renew_at(&minute).ns, 1000 * S + 64 * S / 3);
    assert_int_equal(hf_deadline_term_at(&minute).ns,
                     1000 * S + 64 * S - S / 2 - 10 * S);
    assert_int_equal(hf_deadline_kill_at(&minute).ns,
                     1000 * S + 64 * S - S / 2);
}

/*
 * The store lets the lease lapse when TTL has passed on its clock since it got
 * the keepalive, which cannot be before it was sent. Ours may run slower by
 * `ppm`.
 */
static bool is_dead_in_time(int64_t ttl_ns, int64_t ppm)
{
    struct hf_deadline deadline = deadline_of(0, ttl_ns, 0);
    __int128 ours = hf_deadline_kill_at(&deadline).ns;
    __int128 theirs = ours * (1000000 + ppm) / 1000000;

    return theirs <= ttl_ns;
}

static void
the_deadline_comes_first_while_clocks_differ_by_one_in_128(void **state)
{
    static const int64_t ttls[] = {S,      S + 1,   5 * S,          15 * S,
                                   60 * S, 600 * S, 86400 * S - 127};

    (void)state;
    for (size_t i = 0; i < sizeof(ttls) / sizeof(ttls[0]); i++) {
        assert_true(is_dead_in_time(ttls[i], 0));
        assert_true(is_dead_in_time(ttls[i], 7812));
        /* And the margin is no more than what was promised for it. */
        assert_false(is_dead_in_time(ttls[i], 8000));
    }
}

static void the_deadline_moves_with_the_time_of_sending_alone(void **state)
{
    struct hf_deadline early = deadline_of(5 * S, 6 * S, S);
    struct hf_deadline late = deadline_of(7 * S, 6 * S, S);

    (void)state;
    assert_int_equal(
        hf_deadline_kill_at(&late).ns - hf_deadline_kill_at(&early).ns, 2 * S);
    assert_int_equal(
        hf_deadline_term_at(&late).ns - hf_deadline_term_at(&early).ns, 2 * S);
    assert_int_equal(hf_deadline_renew_at(&late).ns -
                         hf_deadline_renew_at(&early).ns,
                     2 * S);
}

static void retry_after_ns(int64_t ttl_ns, int64_t wanted_ns)
{
    struct hf_deadline deadline = deadline_of(0, ttl_ns, 0);
    struct hf_time now = {3 * S};

    assert_int_equal(hf_deadline_retry_at(&deadline, now).ns,
                     3 * S + wanted_ns);
}

static void a_failed_keepalive_is_tried_again_within_bounds(void **state)
{
    (void)state;
    retry_after_ns(6 * S, 500 * MS);
    retry_after_ns(100 * MS, 20 * MS);
    retry_after_ns(240 * MS, 20 * MS);
    retry_after_ns(12 * S, S);
    retry_after_ns(600 * S, S);
}

static void the_grace_is_a_quarter_of_the_ttl_up_to_ten_seconds(void **state)
{
    (void)state;
    assert_int_equal(hf_deadline_default_grace((struct hf_span){6 * S}).ns,
                     1500 * MS);
    assert_int_equal(hf_deadline_default_grace((struct hf_span){40 * S}).ns,
                     10 * S);
    assert_int_equal(hf_deadline_default_grace((struct hf_span){600 * S}).ns,
                     10 * S);
}

static bool fits(int64_t ttl_ns, int64_t grace_ns)
{
    return hf_deadline_grace_fits((struct hf_span){ttl_ns},
                                  (struct hf_span){grace_ns});
}

static void a_grace_leaves_room_for_a_renewal_and_two_retries(void **state)
{
    /* 128 s: renewed at 42.67 s, two retries of 1 s, the deadline at 127 s. */
    int64_t room = 127 * S - 128 * S / 3 - 2 * S;

    (void)state;
    assert_true(fits(128 * S, 0));
    assert_true(fits(128 * S, room));
    assert_false(fits(128 * S, room + 1));
    assert_false(fits(128 * S, -1));
    assert_false(fits(128 * S, INT64_MAX));
    assert_false(fits(0, 0));
}

static void the_default_grace_always_fits(void **state)
{
    (void)state;
    for (int64_t ttl = S; ttl <= 86400 * S; ttl += ttl / 3) {
        struct hf_span span = {ttl};

        assert_true(
            hf_deadline_grace_fits(span, hf_deadline_default_grace(span)));
    }
}

static void
renewal_comes_before_the_term_and_the_term_before_the_kill(void **state)
{
    (void)state;
    for (int64_t ttl = S; ttl <= 86400 * S; ttl += ttl / 3) {
        struct hf_span span = {ttl};
        struct hf_deadline deadline =
            deadline_of(S, ttl, hf_deadline_default_grace(span).ns);

        assert_true(hf_deadline_renew_at(&deadline).ns <
                    hf_deadline_term_at(&deadline).ns);
        assert_true(hf_deadline_term_at(&deadline).ns <
                    hf_deadline_kill_at(&deadline).ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_moments_of_a_minute_lie_where_the_header_says),
        cmocka_unit_test(
            the_deadline_comes_first_while_clocks_differ_by_one_in_128),
        cmocka_unit_test(the_deadline_moves_with_the_time_of_sending_alone),
        cmocka_unit_test(a_failed_keepalive_is_tried_again_within_bounds),
        cmocka_unit_test(the_grace_is_a_quarter_of_the_ttl_up_to_ten_seconds),
        cmocka_unit_test(a_grace_leaves_room_for_a_renewal_and_two_retries),
        cmocka_unit_test(the_default_grace_always_fits),
        cmocka_unit_test(
            renewal_comes_before_the_term_and_the_term_before_the_kill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
