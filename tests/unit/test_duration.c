/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"

#include <string.h>

#include "tests/lib/cmocka_all.h"

#define S INT64_C(1000000000)

static void reads(const char *text, int64_t wanted)
{
    struct hf_error error = {.text = ""};
    struct hf_span span = {-7};

    if (hf_duration_parse(text, &span, &error))
        fail_msg("%s", error.text);
    if (span.ns != wanted)
        fail_msg("\"%s\" is read as %lld ns", text, (long long)span.ns);
}

static void refuses(const char *text, const char *why)
{
    struct hf_error error = {.text = ""};
    struct hf_span span = {-7};

    if (hf_duration_parse(text, &span, &error) != HF_ERR_USAGE)
        fail_msg("\"%s\" is read as %lld ns", text, (long long)span.ns);
    assert_true(span.ns == -7);
    if (!strstr(error.text, why) || error.text[0] != '"')
        fail_msg("\"%s\": %s", text, error.text);
}

static void a_bare_number_is_seconds(void **state)
{
    (void)state;
    reads("0", 0);
    reads("90", 90 * S);
    reads("007", 7 * S);
    reads("1.5", S + S / 2);
    reads("0.000000001", 1);
    reads(".5", S / 2);
    reads("5.", 5 * S);
}

static void each_unit_is_known(void **state)
{
    (void)state;
    reads("500ms", S / 2);
    reads("3s", 3 * S);
    reads("2m", 120 * S);
    reads("2h", 7200 * S);
    reads("1d", 86400 * S);
    reads("1.5d", 129600 * S);
    reads("0.5ms", 500000);
    reads(".25h", 900 * S);
}

static void units_are_joined_from_large_to_small(void **state)
{
    (void)state;
    reads("1h30m", 5400 * S);
    reads("1d2h3m4s5ms", (86400 + 7200 + 180 + 4) * S + 5000000);
    reads("1m500ms", 60 * S + S / 2);
    reads("1h1.5m", 3690 * S);
    reads("0h0m0s", 0);
    refuses("30m1h", "is no length of time");
    refuses("1s1s", "is no length of time");
    refuses("1ms1s", "is no length of time");
}

static void fractions_are_exact_and_rounded_up(void **state)
{
    (void)state;
    reads("0.0000000001", 1);
    reads("0.9999999991", S);
    reads("0.999999999", S - 1);
    reads("1.0000000000000000000000000000000000000000", S);
    reads("1.0000000000000000000000000000000000000001", S + 1);
    reads("0.1d", 8640 * S);
    reads("0.3333333333333333333333d", 28800 * S);
    reads("0.123456789012345d", INT64_C(10666666570667));
}

static void what_is_no_length_of_time_is_refused(void **state)
{
    (void)state;
    refuses("", "\"\" is no length of time");
    refuses(".", "is no length of time");
    refuses("s", "is no length of time");
    refuses(".s", "is no length of time");
    refuses("-1", "is no length of time");
    refuses("+1", "is no length of time");
    refuses("1 s", "is no length of time");
    refuses(" 1", "is no length of time");
    refuses("1s ", "is no length of time");
    refuses("1h30", "is no length of time");
    refuses("1.2.3", "is no length of time");
    refuses("1S", "is no length of time");
    refuses("1M", "is no length of time");
    refuses("1min", "is no length of time");
    refuses("1w", "is no length of time");
    refuses("1us", "is no length of time");
    refuses("1e3", "is no length of time");
    refuses("0x10", "is no length of time");
    refuses("1,5", "is no length of time");
    refuses("inf", "is no length of time");
    refuses("nan", "is no length of time");
    refuses("forever", "write it as 90, 1.5s, 500ms, 1h30m, 2h or 1d");
    refuses("./job.sh", "\"./job.sh\" is no length of time");
}

static void too_long_a_time_is_refused(void **state)
{
    (void)state;
    reads("9223372036.854775806", INT64_MAX - 1);
    refuses("9223372036.854775807", "too long");
    refuses("9223372037", "too long");
    refuses("106752d", "too long");
    refuses("99999999999999999999999999", "too long");
    refuses("9223372036854775807", "too long");
    refuses("106751d24h", "too long");
}

static void prints(int64_t ns, const char *wanted)
{
    assert_string_equal(hf_duration_print((struct hf_span){ns}).text, wanted);
}

static void spans_are_printed_as_short_as_they_go(void **state)
{
    (void)state;
    prints(0, "0s");
    prints(1, "0.000000001s");
    prints(500000, "0.0005s");
    prints(1000000, "1ms");
    prints(S / 2, "500ms");
    prints(S, "1s");
    prints(S + S / 2, "1.5s");
    prints(90 * S, "1m30s");
    prints(60 * S, "1m");
    prints(3600 * S, "1h");
    prints(5400 * S, "1h30m");
    prints(3600 * S + 1, "1h0.000000001s");
    prints(86400 * S + 5 * S, "1d5s");
    prints(-S, "-1s");
    prints(-S / 2, "-500ms");
    prints(-90 * S, "-1m30s");
    prints(-1, "-0.000000001s");
    prints(INT64_MAX, "forever");
    prints(INT64_MAX - 1, "106751d23h47m16.854775806s");
    prints(INT64_MIN, "-106751d23h47m16.854775808s");
}

static void what_is_printed_reads_back_the_same(void **state)
{
    uint64_t random = 88172645463325252;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        int64_t ns;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        /* All magnitudes, round numbers too. */
        ns = (int64_t)(random >> 1) >> (i % 60);
        if (i % 3 == 0)
            ns -= ns % 1000000;
        if (i % 7 == 0)
            ns -= ns % S;
        if (ns != INT64_MAX)
            reads(hf_duration_print((struct hf_span){ns}).text, ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bare_number_is_seconds),
        cmocka_unit_test(each_unit_is_known),
        cmocka_unit_test(units_are_joined_from_large_to_small),
        cmocka_unit_test(fractions_are_exact_and_rounded_up),
        cmocka_unit_test(what_is_no_length_of_time_is_refused),
        cmocka_unit_test(too_long_a_time_is_refused),
        cmocka_unit_test(spans_are_printed_as_short_as_they_go),
        cmocka_unit_test(what_is_printed_reads_back_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
