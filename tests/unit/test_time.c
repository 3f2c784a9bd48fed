/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include "tests/lib/cmocka_all.h"

#define T(ns) ((struct hf_time){ns})
#define SPAN(ns) ((struct hf_span){ns})

static void moments_and_spans_are_added(void **state)
{
    (void)state;
    assert_true(hf_time_add(T(5), SPAN(7)).ns == 12);
    assert_true(hf_time_add(T(5), SPAN(-7)).ns == -2);
    assert_true(hf_time_sub(T(5), SPAN(7)).ns == -2);
    assert_true(hf_time_since(T(5), T(7)).ns == -2);
    assert_true(hf_time_since(T(7), T(5)).ns == 2);
}

static void for_ever_stays_for_ever(void **state)
{
    (void)state;
    assert_true(hf_time_add(HF_TIME_NEVER, SPAN(-7)).ns == INT64_MAX);
    assert_true(hf_time_add(T(5), HF_SPAN_FOREVER).ns == INT64_MAX);
    assert_true(hf_time_add(T(-5), HF_SPAN_FOREVER).ns == INT64_MAX);
    assert_true(hf_time_sub(HF_TIME_NEVER, SPAN(7)).ns == INT64_MAX);
    assert_true(hf_time_since(HF_TIME_NEVER, T(7)).ns == INT64_MAX);
    assert_true(hf_span_ms(INT64_MAX).ns == INT64_MAX);
    assert_true(hf_span_to_ms_up(HF_SPAN_FOREVER) == INT64_MAX);
}

static void sums_stop_at_the_ends(void **state)
{
    (void)state;
    assert_true(hf_time_add(T(INT64_MAX - 1), SPAN(5)).ns == INT64_MAX);
    assert_true(hf_time_add(T(INT64_MIN + 1), SPAN(-5)).ns == INT64_MIN);
    assert_true(hf_span_ms(INT64_MIN).ns == INT64_MIN);
    assert_true(hf_span_ms(-3).ns == -3000000);
}

static void a_moment_is_reached_when_it_comes(void **state)
{
    (void)state;
    assert_false(hf_time_reached(T(5), T(4)));
    assert_true(hf_time_reached(T(5), T(5)));
    assert_true(hf_time_reached(T(5), T(6)));
    assert_false(hf_time_reached(HF_TIME_NEVER, T(INT64_MAX - 1)));
    assert_true(hf_time_min(T(5), HF_TIME_NEVER).ns == 5);
    assert_true(hf_time_min(HF_TIME_NEVER, T(5)).ns == 5);
}

static void a_wait_in_milliseconds_never_ends_early(void **state)
{
    (void)state;
    assert_true(hf_span_to_ms_up(SPAN(0)) == 0);
    assert_true(hf_span_to_ms_up(SPAN(1)) == 1);
    assert_true(hf_span_to_ms_up(SPAN(1000000)) == 1);
    assert_true(hf_span_to_ms_up(SPAN(1000001)) == 2);
    assert_true(hf_span_to_ms_up(SPAN(-1)) == 0);
    assert_true(hf_span_to_ms_up(SPAN(-2500000)) == -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_and_spans_are_added),
        cmocka_unit_test(for_ever_stays_for_ever),
        cmocka_unit_test(sums_stop_at_the_ends),
        cmocka_unit_test(a_moment_is_reached_when_it_comes),
        cmocka_unit_test(a_wait_in_milliseconds_never_ends_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
