/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/table.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/nth_malloc.h"

static const struct table_column columns[] = {
    {.title = "KEY"},
    {.title = "NOTE", .drop = 2},
    {.title = "AGE", .is_right = true, .drop = 1},
    {.title = "TOKEN"},
    {.title = NULL}};

static void add_row(struct table *table, const char *key, const char *note,
                    const char *age, const char *token)
{
    table_add(table, key);
    table_add(table, note);
    table_add(table, age);
    table_add(table, token);
}

static void prints(struct table *table, size_t width, const char *text)
{
    struct hf_buf to;

    hf_buf_init(&to, 10000);
    assert_int_equal(table_print(table, width, false, &to), HF_ERR_OK);
    assert_string_equal(to.data, text);
    hf_buf_clear(&to);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
    struct table table;

    (void)state;
    table_init(&table, columns);
    add_row(&table, "t/n/k", "nightly", "3m12s", "7");
    add_row(&table, "t/n/key", "", "5s", "12345");
    prints(&table, 0,
           "KEY      NOTE       AGE  TOKEN\n"
           "t/n/k    nightly  3m12s  7\n"
           "t/n/key              5s  12345\n");
    table_clear(&table);
}

static void what_is_missed_least_goes_first(void **state)
{
    struct table table;

    (void)state;
    table_init(&table, columns);
    add_row(&table, "t/n/k", "nightly", "3m12s", "7");
    prints(&table, 28,
           "KEY    NOTE       AGE  TOKEN\n"
           "t/n/k  nightly  3m12s  7\n");
    prints(&table, 27,
           "KEY      AGE  TOKEN\n"
           "t/n/k  3m12s  7\n");
    prints(&table, 18,
           "KEY    TOKEN\n"
           "t/n/k  7\n");
    /* Keys and tokens are copied from here: they are never cut. */
    prints(&table, 3,
           "KEY    TOKEN\n"
           "t/n/k  7\n");
    table_clear(&table);
}

static void a_column_without_anything_is_not_shown(void **state)
{
    struct table table;

    (void)state;
    table_init(&table, columns);
    add_row(&table, "t/n/k", "", "3m12s", "7");
    prints(&table, 0,
           "KEY      AGE  TOKEN\n"
           "t/n/k  3m12s  7\n");
    table_clear(&table);
}

static void what_a_stranger_wrote_cannot_move_the_cursor(void **state)
{
    struct table table;

    (void)state;
    table_init(&table, columns);
    add_row(&table, "t/n/k", "\033[2Jx\ny\xff\u202e", "1s", "7");
    add_row(&table, "t/n/l", "\u00e4\u00f6", "1s", "7");
    prints(&table, 0,
           "KEY    NOTE                   AGE  TOKEN\n"
           "t/n/k  \\x1b[2Jx\\ny\\xff\\u202e   1s  7\n"
           "t/n/l  \u00e4\u00f6                      1s  7\n");
    table_clear(&table);
}

static void titles_are_bold_where_that_is_asked_for(void **state)
{
    struct table table;
    struct hf_buf to;

    (void)state;
    table_init(&table, columns);
    add_row(&table, "k", "", "", "");
    hf_buf_init(&to, 1000);
    assert_int_equal(table_print(&table, 0, true, &to), HF_ERR_OK);
    assert_string_equal(to.data, "\033[1mKEY\033[0m\nk\n");
    hf_buf_clear(&to);
    table_clear(&table);
}

static void the_environment_may_tell_the_width(void **state)
{
    (void)state;
    assert_int_equal(setenv("COLUMNS", "66", 1), 0);
    assert_int_equal(terminal_width(), 66);
    assert_int_equal(setenv("COLUMNS", "66x", 1), 0);
    assert_int_not_equal(terminal_width(), 66);
    assert_int_equal(unsetenv("COLUMNS"), 0);
}

static void without_memory_nothing_is_printed(void **state)
{
    unsigned int n;

    (void)state;
    for (n = 1;; n++) {
        struct table table;
        struct hf_buf to;
        enum hf_err err;

        hf_buf_init(&to, 1000);
        table_init(&table, columns);
        nth_malloc_fail(n);
        add_row(&table, "t/n/k", "nightly", "1s", "7");
        err = table_print(&table, 0, false, &to);
        if (!nth_malloc_end()) {
            assert_int_equal(err, HF_ERR_OK);
            hf_buf_clear(&to);
            table_clear(&table);
            break;
        }
        assert_int_equal(err, HF_ERR_NOMEM);
        hf_buf_clear(&to);
        table_clear(&table);
    }
    assert_true(n > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(what_is_missed_least_goes_first),
        cmocka_unit_test(a_column_without_anything_is_not_shown),
        cmocka_unit_test(what_a_stranger_wrote_cannot_move_the_cursor),
        cmocka_unit_test(titles_are_bold_where_that_is_asked_for),
        cmocka_unit_test(the_environment_may_tell_the_width),
        cmocka_unit_test(without_memory_nothing_is_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
