/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/lockfence/options.h"
#include "tests/lib/cmocka_all.h"

static void the_table_of_options_is_right(void **state)
{
    struct hf_error error = {.text = ""};

    (void)state;
    if (hf_opts_check(lockfence_tool(), &error))
        fail_msg("%s", error.text);
}

static enum hf_err parse(const char *const *words, struct lockfence_options *to,
                         struct hf_opts *opts)
{
    static char *argv[12] = {NULL};
    struct hf_error error;
    int argc = 0;

    memset(to, 0, sizeof(*to));
    while (words[argc]) {
        argv[argc] = (char *)(uintptr_t)words[argc];
        argc++;
    }
    return hf_opts_parse(lockfence_tool(), argc, argv, to, opts, &error);
}

static void what_stands_behind_two_dashes_is_the_commands(void **state)
{
    static const char *const words[] = {"lockfence", "pg", "run",  "-t",
                                        "7",         "--", "psql", "-t",
                                        "-f",        "x",  NULL};
    struct lockfence_options options;
    struct hf_opts opts;

    (void)state;
    assert_int_equal(parse(words, &options, &opts), HF_ERR_OK);
    assert_int_equal(opts.command->id, LOCKFENCE_PG_RUN);
    assert_string_equal(options.token, "7");
    assert_int_equal(opts.operand_count, 4);
    assert_string_equal(opts.operands[0], "psql");
    assert_string_equal(opts.operands[1], "-t");
    assert_null(opts.operands[4]);
}

static void statements_come_from_one_place(void **state)
{
    static const char *const words[] = {"lockfence", "pg", "write", "-c",
                                        "x",         "-f", "y",     NULL};
    struct lockfence_options options;
    struct hf_opts opts;

    (void)state;
    assert_int_equal(parse(words, &options, &opts), HF_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_options_is_right),
        cmocka_unit_test(what_stands_behind_two_dashes_is_the_commands),
        cmocka_unit_test(statements_come_from_one_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
