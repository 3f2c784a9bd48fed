/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/lockctl/lockctl.h"
#include "tests/lib/cmocka_all.h"

static void the_table_of_options_is_right(void **state)
{
    struct hf_error error = {.text = ""};

    (void)state;
    if (hf_opts_check(&lockctl_tool, &error))
        fail_msg("%s", error.text);
}

static enum hf_err parse(const char *const *words, struct lockctl_options *to,
                         struct hf_opts *opts)
{
    char *argv[8] = {NULL};
    struct hf_error error;
    int argc = 0;

    memset(to, 0, sizeof(*to));
    while (words[argc]) {
        argv[argc] = (char *)(uintptr_t)words[argc];
        argc++;
    }
    return hf_opts_parse(&lockctl_tool, argc, argv, to, opts, &error);
}

static void options_stand_before_and_behind_the_command(void **state)
{
    static const char *const words[] = {"lockctl", "--json",  "class", "lint",
                                        "a.yaml",  "--store", "x",     NULL};
    struct lockctl_options options;
    struct hf_opts opts;

    (void)state;
    assert_int_equal(parse(words, &options, &opts), HF_ERR_OK);
    assert_int_equal(opts.command->id, LOCKCTL_CLASS_LINT);
    assert_true(options.is_json);
    assert_string_equal(options.store, "x");
    assert_int_equal(opts.operand_count, 1);
}

static void an_option_of_another_command_is_refused(void **state)
{
    static const char *const words[] = {"lockctl", "ls", "--token", "5", NULL};
    struct lockctl_options options;
    struct hf_opts opts;

    (void)state;
    assert_int_equal(parse(words, &options, &opts), HF_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_options_is_right),
        cmocka_unit_test(options_stand_before_and_behind_the_command),
        cmocka_unit_test(an_option_of_another_command_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
