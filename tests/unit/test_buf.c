/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/nth_malloc.h"

static void appended_bytes_stand_in_order_with_an_end(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 100);
    assert_null(buf.data);
    assert_int_equal(hf_buf_add(&buf, "a\0b", 3), HF_ERR_OK);
    assert_int_equal(hf_buf_add_str(&buf, "cd"), HF_ERR_OK);
    assert_int_equal(hf_buf_printf(&buf, "%d-%s", 12, "x"), HF_ERR_OK);
    assert_int_equal(buf.size, 9);
    assert_memory_equal(buf.data, "a\0bcd12-x", 10);
    hf_buf_clear(&buf);
    assert_null(buf.data);
}

static void appending_nothing_gives_an_empty_text(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 0);
    assert_int_equal(hf_buf_add(&buf, NULL, 0), HF_ERR_OK);
    assert_string_equal(buf.data, "");
    hf_buf_clear(&buf);
    hf_buf_init(&buf, 10);
    assert_int_equal(hf_buf_printf(&buf, "%s", ""), HF_ERR_OK);
    assert_string_equal(buf.data, "");
    hf_buf_clear(&buf);
}

static void the_limit_can_be_filled_but_not_passed(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 5);
    assert_int_equal(hf_buf_add(&buf, "12345", 5), HF_ERR_OK);
    assert_int_equal(hf_buf_add(&buf, "6", 1), HF_ERR_USAGE);
    assert_int_equal(buf.failed, HF_ERR_USAGE);
    assert_string_equal(buf.data, "12345");
    hf_buf_reset(&buf);
    assert_int_equal(hf_buf_printf(&buf, "%s", "12345"), HF_ERR_OK);
    hf_buf_reset(&buf);
    assert_int_equal(hf_buf_printf(&buf, "%s", "123456"), HF_ERR_USAGE);
    assert_string_equal(buf.data, "");
    hf_buf_clear(&buf);
}

static void after_a_failure_all_appends_fail_until_reset(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 5);
    assert_int_equal(hf_buf_add_str(&buf, "123456"), HF_ERR_USAGE);
    assert_int_equal(hf_buf_add_str(&buf, "1"), HF_ERR_USAGE);
    assert_int_equal(hf_buf_printf(&buf, "1"), HF_ERR_USAGE);
    assert_int_equal(buf.size, 0);
    hf_buf_reset(&buf);
    assert_int_equal(buf.failed, HF_ERR_OK);
    assert_int_equal(hf_buf_add_str(&buf, "1"), HF_ERR_OK);
    hf_buf_clear(&buf);
}

static void growth_keeps_what_was_there(void **state)
{
    struct hf_buf buf;
    char one[8];

    (void)state;
    hf_buf_init(&buf, 100000);
    for (int i = 0; i < 10000; i++)
        hf_buf_printf(&buf, "%05d ", i);
    assert_int_equal(buf.failed, HF_ERR_OK);
    assert_int_equal(buf.size, 60000);
    for (int i = 0; i < 10000; i++) {
        snprintf(one, sizeof(one), "%05d ", i);
        assert_memory_equal(buf.data + 6 * (size_t)i, one, 6);
    }
    hf_buf_clear(&buf);
}

static void many_small_appends_cost_few_allocations(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 1 << 20);
    nth_malloc_fail(0);
    for (int i = 0; i < 1 << 20; i++)
        hf_buf_add(&buf, "x", 1);
    assert_true(nth_malloc_count() <= 15);
    assert_int_equal(buf.size, 1 << 20);
    assert_int_equal(buf.failed, HF_ERR_OK);
    hf_buf_clear(&buf);
}

static void a_reset_buffer_keeps_its_memory(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 1000);
    hf_buf_add_str(&buf, "some text");
    nth_malloc_fail(1);
    hf_buf_reset(&buf);
    assert_string_equal(buf.data, "");
    assert_int_equal(hf_buf_add_str(&buf, "others"), HF_ERR_OK);
    assert_false(nth_malloc_end());
    hf_buf_clear(&buf);
}

static void taken_bytes_belong_to_the_taker(void **state)
{
    struct hf_buf buf;
    char *taken;

    (void)state;
    hf_buf_init(&buf, 10);
    assert_null(hf_buf_take(&buf));
    hf_buf_add_str(&buf, "mine");
    taken = hf_buf_take(&buf);
    assert_string_equal(taken, "mine");
    free(taken);
    assert_null(buf.data);
    assert_int_equal(buf.size, 0);
    assert_int_equal(hf_buf_add_str(&buf, "0123456789"), HF_ERR_OK);
    hf_buf_clear(&buf);
}

static void half_a_text_cannot_be_taken(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 5);
    hf_buf_add_str(&buf, "123");
    hf_buf_add_str(&buf, "456");
    assert_null(hf_buf_take(&buf));
    assert_int_equal(buf.failed, HF_ERR_OK);
}

static void without_memory_what_was_there_stays(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 10000);
    nth_malloc_fail(1);
    assert_int_equal(hf_buf_add_str(&buf, "x"), HF_ERR_NOMEM);
    assert_true(nth_malloc_end());
    assert_null(buf.data);
    hf_buf_reset(&buf);
    hf_buf_add_str(&buf, "first");
    nth_malloc_fail(1);
    assert_int_equal(hf_buf_printf(&buf, "%5000d", 1), HF_ERR_NOMEM);
    assert_true(nth_malloc_end());
    assert_string_equal(buf.data, "first");
    assert_int_equal(buf.failed, HF_ERR_NOMEM);
    hf_buf_clear(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_bytes_stand_in_order_with_an_end),
        cmocka_unit_test(appending_nothing_gives_an_empty_text),
        cmocka_unit_test(the_limit_can_be_filled_but_not_passed),
        cmocka_unit_test(after_a_failure_all_appends_fail_until_reset),
        cmocka_unit_test(growth_keeps_what_was_there),
        cmocka_unit_test(many_small_appends_cost_few_allocations),
        cmocka_unit_test(a_reset_buffer_keeps_its_memory),
        cmocka_unit_test(taken_bytes_belong_to_the_taker),
        cmocka_unit_test(half_a_text_cannot_be_taken),
        cmocka_unit_test(without_memory_what_was_there_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
