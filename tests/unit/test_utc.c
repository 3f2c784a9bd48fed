/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utc.h"

#include <stdio.h>
#include <time.h>

#include "tests/lib/cmocka_all.h"

#define S INT64_C(1000000000)

static void prints(int64_t ns, unsigned int digits, const char *wanted)
{
    assert_string_equal(hf_utc_print((struct hf_wall){ns}, digits).text,
                        wanted);
}

static void known_moments_are_printed(void **state)
{
    (void)state;
    prints(0, 0, "1970-01-01T00:00:00Z");
    prints(951782399 * S, 0, "2000-02-28T23:59:59Z");
    prints(951782400 * S, 0, "2000-02-29T00:00:00Z");
    prints(1780315200 * S, 0, "2026-06-01T12:00:00Z");
    prints(4107542400 * S, 0, "2100-03-01T00:00:00Z");
    prints(-S, 0, "1969-12-31T23:59:59Z");
    prints(INT64_MAX, 9, "2262-04-11T23:47:16.854775807Z");
    prints(INT64_MIN, 9, "1677-09-21T00:12:43.145224192Z");
}

static void a_fraction_is_cut_to_its_digits(void **state)
{
    (void)state;
    prints(S - 1, 0, "1970-01-01T00:00:00Z");
    prints(S - 1, 3, "1970-01-01T00:00:00.999Z");
    prints(250000000, 3, "1970-01-01T00:00:00.250Z");
    prints(1, 9, "1970-01-01T00:00:00.000000001Z");
    prints(1, 100, "1970-01-01T00:00:00.000000001Z");
    prints(-1, 3, "1969-12-31T23:59:59.999Z");
}

static void each_day_is_the_c_librarys_day(void **state)
{
    (void)state;
    for (int64_t day = -100000; day <= 100000; day++) {
        time_t seconds = day * 86400 + (day & 0xFFFF);
        struct tm tm;
        char wanted[80];

        assert_non_null(gmtime_r(&seconds, &tm));
        snprintf(wanted, sizeof(wanted), "%04d-%02d-%02dT%02d:%02d:%02dZ",
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec);
        prints(seconds * S, 0, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_moments_are_printed),
        cmocka_unit_test(a_fraction_is_cut_to_its_digits),
        cmocka_unit_test(each_day_is_the_c_librarys_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
