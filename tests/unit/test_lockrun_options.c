/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cmd/lockrun/options.h"
#include "tests/lib/cmocka_all.h"

enum { WORDS_MAX = 16 };

/* Read "lockrun" and these words; the sentence of a refusal stays in `error`.
 */
static enum options_then read_words(const char *const *words,
                                    struct lockrun_options *options,
                                    struct hf_error *error)
{
    static char *argv[WORDS_MAX];
    struct hf_opts opts;
    int argc = 1;

    argv[0] = (char *)(uintptr_t) "lockrun";
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    argv[argc] = NULL;
    error->text[0] = '\0';
    return options_read(argc, argv, options, &opts, error);
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void the_table_of_options_is_right(void **state)
{
    struct hf_error error = {.text = ""};

    (void)state;
    if (hf_opts_check(&lockrun_tool, &error))
        fail_msg("%s", error.text);
}

static void nothing_given_is_the_class_batch_and_exclusive(void **state)
{
    struct lockrun_options options;
    struct hf_error error;

    (void)state;
    unsetenv("HOLDFAST_STORE");
    assert_int_equal(read_words(WORDS("true"), &options, &error), OPTIONS_RUN);
    assert_string_equal(options.class_name, "batch");
    assert_int_equal(options.mode, HF_EXCLUSIVE);
    assert_false(options.wait.is_given);
    assert_false(options.is_try);
    assert_null(options.store);
    assert_null(options.store_from);
    assert_string_equal(options.command[0], "true");
    assert_null(options.command[1]);
}

static void the_last_of_shared_and_exclusive_counts(void **state)
{
    struct lockrun_options options;
    struct hf_error error;

    (void)state;
    read_words(WORDS("-s", "-x", "true"), &options, &error);
    assert_int_equal(options.mode, HF_EXCLUSIVE);
    read_words(WORDS("-e", "-s", "true"), &options, &error);
    assert_int_equal(options.mode, HF_SHARED);
}

static void waits_are_lengths_of_time_or_forever(void **state)
{
    struct lockrun_options options;
    struct hf_error error;

    (void)state;
    read_words(WORDS("-w", "1h30m", "true"), &options, &error);
    assert_int_equal(options.wait.span.ns, INT64_C(5400000000000));
    read_words(WORDS("-w0.5", "true"), &options, &error);
    assert_int_equal(options.wait.span.ns, 500000000);
    read_words(WORDS("--timeout=forever", "true"), &options, &error);
    assert_int_equal(options.wait.span.ns, INT64_MAX);
    assert_int_equal(
        read_words(WORDS("--ttl=forever", "true"), &options, &error),
        OPTIONS_FAILED);
}

static void a_line_is_run_by_the_shell_that_is_named(void **state)
{
    struct lockrun_options options;
    struct hf_error error;

    (void)state;
    setenv("SHELL", "/bin/ash", 1);
    assert_int_equal(read_words(WORDS("-c", "a b"), &options, &error),
                     OPTIONS_RUN);
    assert_string_equal(options.command[0], "/bin/ash");
    assert_string_equal(options.command[1], "-c");
    assert_string_equal(options.command[2], "a b");
    assert_null(options.command[3]);
    setenv("SHELL", "", 1);
    read_words(WORDS("-c", "a b"), &options, &error);
    assert_string_equal(options.command[0], "/bin/sh");
    unsetenv("SHELL");
    read_words(WORDS("-c", "a b"), &options, &error);
    assert_string_equal(options.command[0], "/bin/sh");
}

static void
the_store_is_named_by_the_option_before_the_environment(void **state)
{
    struct lockrun_options options;
    struct hf_error error;

    (void)state;
    setenv("HOLDFAST_STORE", "/env", 1);
    read_words(WORDS("true"), &options, &error);
    assert_string_equal(options.store, "/env");
    assert_string_equal(options.store_from, "HOLDFAST_STORE");
    read_words(WORDS("--store", "/given", "true"), &options, &error);
    assert_string_equal(options.store, "/given");
    assert_string_equal(options.store_from, "--store");
    setenv("HOLDFAST_STORE", "", 1);
    read_words(WORDS("true"), &options, &error);
    assert_null(options.store);
    unsetenv("HOLDFAST_STORE");
}

static void a_key_is_completed_or_refused(void **state)
{
    struct lockrun_options options;
    struct hf_error error;

    (void)state;
    read_words(WORDS("--key", "backup", "true"), &options, &error);
    assert_string_equal(options.whole_key, "local/default/backup");
    assert_int_equal(
        read_words(WORDS("--key", "a b", "true"), &options, &error),
        OPTIONS_FAILED);
    assert_int_equal(error.code, HF_ERR_USAGE);
}

static void refuses(const char *const *words, const char *sentence)
{
    struct lockrun_options options;
    struct hf_error error;

    assert_int_equal(read_words(words, &options, &error), OPTIONS_FAILED);
    assert_int_equal(error.code, HF_ERR_USAGE);
    if (!strstr(error.text, sentence))
        fail_msg("\"%s\" is not in \"%s\"", sentence, error.text);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    refuses(WORDS("--verbose"), "no command");
    refuses(WORDS("--"), "no command");
    refuses(WORDS("9"), "a descriptor cannot be locked");
    refuses(WORDS("-c", "a", "b"), "-c takes one argument");
    refuses(WORDS("-E", "256", "true"), "0 to 255");
    refuses(WORDS("--maxtime=60", "true"), "--max-run=60s");
    refuses(WORDS("--wait", "--", "true"), "-w forever");
}

static void a_number_with_words_behind_it_is_a_command(void **state)
{
    struct lockrun_options options;
    struct hf_error error;

    (void)state;
    assert_int_equal(read_words(WORDS("9", "x"), &options, &error),
                     OPTIONS_RUN);
}

static void help_and_explain_need_no_command(void **state)
{
    struct lockrun_options options;
    struct hf_error error;

    (void)state;
    assert_int_equal(read_words(WORDS("--help"), &options, &error),
                     OPTIONS_ANSWER);
    assert_int_equal(read_words(WORDS("-V"), &options, &error), OPTIONS_ANSWER);
    assert_int_equal(read_words(WORDS("--explain", "75"), &options, &error),
                     OPTIONS_EXPLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_of_options_is_right),
        cmocka_unit_test(nothing_given_is_the_class_batch_and_exclusive),
        cmocka_unit_test(the_last_of_shared_and_exclusive_counts),
        cmocka_unit_test(waits_are_lengths_of_time_or_forever),
        cmocka_unit_test(a_line_is_run_by_the_shell_that_is_named),
        cmocka_unit_test(
            the_store_is_named_by_the_option_before_the_environment),
        cmocka_unit_test(a_key_is_completed_or_refused),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(a_number_with_words_behind_it_is_a_command),
        cmocka_unit_test(help_and_explain_need_no_command),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
