/* SPDX-License-Identifier: Apache-2.0 */
#include "core/token.h"

#include <string.h>

#include "tests/lib/cmocka_all.h"

static void a_token_is_epoch_and_revision(void **state)
{
    uint64_t token = 7;

    (void)state;
    assert_true(hf_token_make(1, 1, &token));
    assert_true(token == (UINT64_C(1) << 48) + 1);
    assert_int_equal(hf_token_epoch(token), 1);
    assert_int_equal(hf_token_revision(token), 1);
    assert_true(hf_token_make(HF_EPOCH_MAX, HF_REVISION_GRANT_MAX, &token));
    assert_true(token <= INT64_MAX);
    assert_true(hf_token_epoch(token) == HF_EPOCH_MAX);
    assert_true(hf_token_revision(token) == HF_REVISION_GRANT_MAX);
}

static void what_would_repeat_or_turn_negative_is_no_token(void **state)
{
    uint64_t token = 7;

    (void)state;
    assert_false(hf_token_make(0, 1, &token));
    assert_false(hf_token_make(1, 0, &token));
    assert_false(hf_token_make(HF_EPOCH_MAX + 1, 1, &token));
    assert_false(hf_token_make(1, HF_REVISION_GRANT_MAX + 1, &token));
    assert_int_equal(token, 7);
}

static void a_higher_epoch_beats_any_revision(void **state)
{
    uint64_t low;
    uint64_t high;

    (void)state;
    assert_true(hf_token_make(1, HF_REVISION_GRANT_MAX, &low));
    assert_true(hf_token_make(2, 1, &high));
    assert_true(low < high);
}

static void only_plain_decimals_are_read(void **state)
{
    static const char *const bad[] = {
        "",
        "0",
        "00",
        "01",
        "-1",
        "+1",
        " 1",
        "1 ",
        "0x1",
        "1e3",
        "1.0",
        "token",
        "1\n",
        "9223372036854775808",
        "18446744073709551616",
        "99999999999999999999",
    };
    uint64_t token = 7;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (hf_token_parse(bad[i], strlen(bad[i]), &token))
            fail_msg("\"%s\" is read as a token", bad[i]);
    }
    assert_int_equal(token, 7);
    assert_true(hf_token_parse("1", 1, &token));
    assert_int_equal(token, 1);
    assert_true(hf_token_parse("281474976710656", 15, &token));
    assert_true(token == UINT64_C(1) << 48);
    assert_true(hf_token_parse("9223372036854775807", 19, &token));
    assert_true(token == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_epoch_and_revision),
        cmocka_unit_test(what_would_repeat_or_turn_negative_is_no_token),
        cmocka_unit_test(a_higher_epoch_beats_any_revision),
        cmocka_unit_test(only_plain_decimals_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
