/* SPDX-License-Identifier: Apache-2.0 */
#include "base/opts.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/nth_malloc.h"
#include "tests/unit/opts_tools.h"

enum { WORDS_MAX = 64 };

/* A command line, what came of it, and the words as they then stood. */
struct line {
    char *argv[WORDS_MAX + 1];
    int argc;
    struct run_options run;
    struct ctl_options ctl;
    struct hf_opts opts;
    struct hf_error error;
    enum hf_err err;
};

/* `words` ends with NULL; argv[0] is put in front. */
static void parse(struct line *line, const struct hf_tool *tool,
                  const char *const *words)
{
    void *to = tool == &run_tool ? (void *)&line->run : (void *)&line->ctl;

    memset(line, 0, sizeof(*line));
    line->argv[line->argc++] = (char *)(uintptr_t)tool->name;
    for (; *words; words++)
        line->argv[line->argc++] = (char *)(uintptr_t)*words;
    assert_true(line->argc <= WORDS_MAX);
    line->err = hf_opts_parse(tool, line->argc, line->argv, to, &line->opts,
                              &line->error);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void is_right(const struct line *line)
{
    if (line->err)
        fail_msg("%s", line->error.text);
    assert_int_equal(line->opts.action, HF_OPTS_RUN);
}

static void run_takes(struct line *line, const char *const *words)
{
    parse(line, &run_tool, words);
    is_right(line);
}

static void ctl_takes(struct line *line, const char *const *words)
{
    parse(line, &ctl_tool, words);
    is_right(line);
}

static void refuses(const struct hf_tool *tool, const char *const *words,
                    const char *wanted)
{
    struct line line;

    parse(&line, tool, words);
    assert_int_equal(line.err, HF_ERR_USAGE);
    assert_int_equal(line.error.code, HF_ERR_USAGE);
    assert_string_equal(line.error.text, wanted);
    assert_null(strchr(line.error.text, '\n'));
}

static void run_refuses(const char *const *words, const char *wanted)
{
    refuses(&run_tool, words, wanted);
}

static void ctl_refuses(const char *const *words, const char *wanted)
{
    refuses(&ctl_tool, words, wanted);
}

static void operands_are(const struct line *line, const char *const *wanted)
{
    int count = 0;

    for (; wanted[count]; count++) {
        assert_true(count < line->opts.operand_count);
        assert_string_equal(line->opts.operands[count], wanted[count]);
    }
    assert_int_equal(line->opts.operand_count, count);
    assert_null(line->opts.operands[count]);
}

/* ---- kinds ------------------------------------------------------------- */

static void nothing_given_leaves_the_defaults(void **state)
{
    struct line line;

    (void)state;
    run_takes(&line, WORDS("true"));
    assert_false(line.run.is_try);
    assert_false(line.run.wait.is_given);
    assert_null(line.run.key);
    assert_int_equal(line.run.labels.count, 0);
    operands_are(&line, WORDS("true"));
    run_takes(&line, (const char *const[]){NULL});
    assert_int_equal(line.opts.operand_count, 0);
}

static void each_kind_is_read(void **state)
{
    struct line line;

    (void)state;
    run_takes(&line, WORDS("-v", "-s", "-w", "1.5s", "-E", "7", "--key", "a/b",
                           "--leftover", "kill", "-L", "a=b", "--label=c=d=e",
                           "-c", "echo x"));
    assert_true(line.run.is_verbose);
    assert_int_equal(line.run.is_shared, 1);
    assert_true(line.run.wait.is_given);
    assert_true(line.run.wait.span.ns == INT64_C(1500000000));
    assert_true(line.run.status.is_given);
    assert_int_equal(line.run.status.number, 7);
    assert_string_equal(line.run.key, "a/b");
    assert_true(line.run.leftover.is_given);
    assert_int_equal(line.run.leftover.index, 1);
    assert_int_equal(line.run.labels.count, 2);
    assert_string_equal(line.run.labels.pairs[0], "a=b");
    assert_string_equal(line.run.labels.pairs[1], "c=d=e");
    assert_string_equal(line.run.line, "echo x");
    assert_false(line.run.is_try);
}

static void the_last_one_given_wins(void **state)
{
    struct line line;

    (void)state;
    run_takes(&line, WORDS("-s", "-x", "-w1", "-w", "2"));
    assert_int_equal(line.run.is_shared, 0);
    assert_true(line.run.wait.span.ns == INT64_C(2000000000));
    run_takes(&line, WORDS("-e", "-s"));
    assert_int_equal(line.run.is_shared, 1);
}

/* ---- forms ------------------------------------------------------------- */

static void values_stand_joined_or_behind(void **state)
{
    const char *const *const forms[] = {
        WORDS("-w", "90", "x"),        WORDS("-w90", "x"),
        WORDS("--wait", "90", "x"),    WORDS("--wait=90", "x"),
        WORDS("--timeout", "90", "x"), WORDS("--timeout=90", "x"),
        WORDS("-vw90", "x"),           WORDS("-vsw", "90", "x"),
        WORDS("--wai", "90", "x"),     WORDS("--time=90", "x"),
    };
    struct line line;

    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        run_takes(&line, forms[i]);
        assert_true(line.run.wait.span.ns == INT64_C(90000000000));
        operands_are(&line, WORDS("x"));
    }
}

static void options_end_at_the_first_operand(void **state)
{
    struct line line;

    (void)state;
    run_takes(&line, WORDS("-v", "prog", "-n", "-w", "5", "--help", "--"));
    assert_false(line.run.is_try);
    assert_false(line.run.wait.is_given);
    operands_are(&line, WORDS("prog", "-n", "-w", "5", "--help", "--"));
    run_takes(&line, WORDS("-v", "--", "-n", "--", "-x"));
    assert_false(line.run.is_try);
    operands_are(&line, WORDS("-n", "--", "-x"));
    run_takes(&line, WORDS("-", "-n"));
    operands_are(&line, WORDS("-", "-n"));
    run_takes(&line, WORDS("", "-n"));
    operands_are(&line, WORDS("", "-n"));
    run_takes(&line, WORDS("-v", "--"));
    assert_int_equal(line.opts.operand_count, 0);
}

static void a_value_may_look_like_an_option(void **state)
{
    struct line line;

    (void)state;
    run_takes(&line, WORDS("-c", "-n", "--note", "--", "--key=--"));
    assert_string_equal(line.run.line, "-n");
    assert_string_equal(line.run.note, "--");
    assert_string_equal(line.run.key, "--");
    assert_false(line.run.is_try);
}

static void long_names_may_be_shortened_while_they_are_one(void **state)
{
    struct line line;

    (void)state;
    run_takes(&line, WORDS("--nonblock"));
    assert_true(line.run.is_try);
    run_takes(&line, WORDS("--non"));
    assert_true(line.run.is_try);
    run_takes(&line, WORDS("--nb"));
    assert_true(line.run.is_try);
    run_takes(&line, WORDS("--conf", "3"));
    assert_int_equal(line.run.status.number, 3);
    run_refuses(WORDS("--n"), "--n: may be --nb or --note: write it out");
    /* --label and --leftover, but not the refused --lockfile. */
    run_refuses(WORDS("--l"), "--l: may be --label or --leftover: write it "
                              "out");
    run_refuses(WORDS("--"
                      "co",
                      "3"),
                "--co: may be --conflict-exit-code or --command: write it "
                "out");
}

/* ---- what is wrong ----------------------------------------------------- */

static void unknown_options_get_a_suggestion(void **state)
{
    (void)state;
    run_refuses(WORDS("--waitt", "5"),
                "--waitt: no such option (did you mean --wait?)");
    run_refuses(WORDS("--exlusive"),
                "--exlusive: no such option (did you mean --exclusive?)");
    run_refuses(WORDS("--timout=5"),
                "--timout: no such option (did you mean --timeout?)");
    run_refuses(WORDS("--frobnicate"), "--frobnicate: no such option");
    run_refuses(WORDS("-q"), "-q: no such option");
    run_refuses(WORDS("-vq"), "-q (in \"-vq\"): no such option");
    run_refuses(WORDS("-\x1b"), "-?: no such option");
}

static void flags_take_no_value_and_values_must_be_there(void **state)
{
    (void)state;
    run_refuses(WORDS("--verbose=yes"), "--verbose: takes no value");
    run_refuses(WORDS("--verb="), "--verbose: takes no value");
    run_refuses(WORDS("--key"), "--key: KEY is missing");
    run_refuses(WORDS("-vc"), "-c: LINE is missing");
    run_refuses(WORDS("--wait"), "--wait: TIME is missing (an older tool took "
                                 "no value here)");
}

static void wrong_times_are_refused(void **state)
{
    (void)state;
    run_refuses(WORDS("--wait", "./job.sh"),
                "--wait: \"./job.sh\" is no length of time: write it as 90, "
                "1.5s, 500ms, 1h30m, 2h or 1d, or forever (an older tool took "
                "no value here)");
    run_refuses(WORDS("--ttl", "1s"), "--ttl: \"1s\" is not from 2s to 1d");
    run_refuses(WORDS("--ttl=25h"), "--ttl: \"25h\" is not from 2s to 1d");
    run_refuses(WORDS("--ttl="),
                "--ttl: \"\" is no length of time: write it as 90, 1.5s, "
                "500ms, 1h30m, 2h or 1d");
    run_refuses(WORDS("--ttl", "forever"),
                "--ttl: \"forever\" is no length of time: write it as 90, "
                "1.5s, 500ms, 1h30m, 2h or 1d");
}

static void forever_is_taken_where_the_row_allows_it(void **state)
{
    struct line line;

    (void)state;
    run_takes(&line, WORDS("-w", "forever"));
    assert_true(line.run.wait.is_given);
    assert_true(line.run.wait.span.ns == INT64_MAX);
    run_takes(&line, WORDS("-w0"));
    assert_true(line.run.wait.is_given);
    assert_true(line.run.wait.span.ns == 0);
}

static void wrong_numbers_are_refused(void **state)
{
    const char *const wrong[] = {"600",
                                 "256",
                                 "-1",
                                 "x",
                                 "",
                                 " 1",
                                 "1 ",
                                 "0x1",
                                 "1.0",
                                 "+1",
                                 "-",
                                 "1e1",
                                 "99999999999999999999"};
    struct line line;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char wanted[100];

        snprintf(wanted, sizeof(wanted),
                 "-E: \"%s\" is no whole number from 0 to 255", wrong[i]);
        run_refuses(WORDS("-E", wrong[i]), wanted);
    }
    run_refuses(WORDS("--conflict-exit-code=256"),
                "--conflict-exit-code: \"256\" is no whole number from 0 to "
                "255");
    run_takes(&line, WORDS("-E", "255"));
    assert_int_equal(line.run.status.number, 255);
    run_takes(&line, WORDS("-E0"));
    assert_true(line.run.status.is_given);
    assert_int_equal(line.run.status.number, 0);
    run_takes(&line, WORDS("-E", "-0"));
    ctl_takes(&line, WORDS("ls", "--limit", "9223372036854775807"));
    assert_true(line.ctl.limit.number == INT64_MAX);
    ctl_refuses(WORDS("ls", "--limit", "9223372036854775808"),
                "ls: --limit: \"9223372036854775808\" is no whole number from "
                "1 to 9223372036854775807");
}

static void wrong_words_are_refused_with_the_list(void **state)
{
    (void)state;
    run_refuses(WORDS("--leftover", "klil"),
                "--leftover: \"klil\" is not wait, kill or leave: did you mean "
                "kill?");
    run_refuses(WORDS("--leftover=x"),
                "--leftover: \"x\" is not wait, kill or leave");
    run_refuses(WORDS("--leftover="),
                "--leftover: \"\" is not wait, kill or leave");
}

static void wrong_texts_and_pairs_are_refused(void **state)
{
    const char *many[2 * HF_OPT_PAIRS_MAX + 3] = {NULL};
    struct line line;

    (void)state;
    run_refuses(WORDS("--key="), "--key: KEY must not be empty");
    run_refuses(WORDS("--key", "12345678901234567"),
                "--key: \"12345678901234567...\" is too long: 16 bytes are the "
                "most");
    run_takes(&line, WORDS("--key", "1234567890123456", "--note="));
    assert_string_equal(line.run.note, "");
    run_refuses(WORDS("-L", "x"), "-L: \"x\" is not of the form NAME=VALUE");
    run_refuses(WORDS("-L=x"), "-L: \"=x\" is not of the form NAME=VALUE");
    run_takes(&line, WORDS("-L", "x="));
    for (int i = 0; i < HF_OPT_PAIRS_MAX; i++)
        many[i] = "-Lx=y";
    run_takes(&line, many);
    many[HF_OPT_PAIRS_MAX] = "-Lx=y";
    run_refuses(many, "-L: given more than 32 times");
}

static void others_options_are_refused_with_their_sentence(void **state)
{
    (void)state;
    run_refuses(WORDS("-o", "x"), "-o: The descriptor is closed anyway.");
    run_refuses(WORDS("-vFx"), "-F: A lease needs a process that renews it.");
    run_refuses(WORDS("--lockfile=/x"),
                "--lockfile: That is an older lockrun's: use --key NAME.");
    run_refuses(WORDS("--lockf", "/x"),
                "--lockfile: That is an older lockrun's: use --key NAME.");
    run_refuses(WORDS("--sleep", "5"),
                "--sleep: That is an older lockrun's: use --key NAME.");
}

static void options_that_exclude_each_other_are_named(void **state)
{
    struct line line;

    (void)state;
    run_refuses(WORDS("-n", "-w5"), "-n and -w exclude each other");
    run_refuses(WORDS("--timeout", "5", "-v", "--nonb"),
                "-w and --nonblocking exclude each other");
    run_takes(&line, WORDS("-n", "-n"));
    /* What stands behind the operand is the command's. */
    run_takes(&line, WORDS("-n", "prog", "-w5"));
}

/* ---- commands ---------------------------------------------------------- */

static void commands_have_options_of_their_own(void **state)
{
    struct line line;

    (void)state;
    ctl_takes(&line, WORDS("ls", "--json", "-a"));
    assert_int_equal(line.opts.command->id, CTL_LS);
    assert_true(line.ctl.is_json && line.ctl.is_all);
    assert_int_equal(line.opts.operand_count, 0);
    ctl_takes(&line, WORDS("show", "--json", "k"));
    assert_int_equal(line.opts.command->id, CTL_SHOW);
    operands_are(&line, WORDS("k"));
    ctl_refuses(WORDS("show", "--all", "k"), "show: --all: no such option");
    ctl_refuses(WORDS("show", "--jsn", "k"),
                "show: --jsn: no such option (did you mean --json?)");
    ctl_refuses(WORDS("--json", "ls"), "--json: no such option");
}

static void the_tools_options_stand_before_or_behind_the_command(void **state)
{
    struct line line;

    (void)state;
    ctl_takes(&line, WORDS("--store", "/x", "ls"));
    assert_string_equal(line.ctl.store, "/x");
    ctl_takes(&line, WORDS("ls", "--store=/x"));
    assert_string_equal(line.ctl.store, "/x");
    ctl_takes(&line, WORDS("class", "--store", "/x", "ls"));
    assert_string_equal(line.ctl.store, "/x");
    assert_int_equal(line.opts.command->id, CTL_CLASS_LS);
}

static void options_may_stand_behind_operands(void **state)
{
    struct line line;

    (void)state;
    ctl_takes(&line, WORDS("show", "k", "--json"));
    assert_true(line.ctl.is_json);
    operands_are(&line, WORDS("k"));
    ctl_takes(&line, WORDS("class", "lint", "a", "--store", "/x", "b", "--",
                           "--c", "d"));
    operands_are(&line, WORDS("a", "b", "--c", "d"));
    ctl_takes(&line, WORDS("--", "show", "--json"));
    assert_false(line.ctl.is_json);
    operands_are(&line, WORDS("--json"));
}

static void commands_of_two_words_are_found(void **state)
{
    struct line line;

    (void)state;
    ctl_takes(&line, WORDS("class", "ls"));
    assert_int_equal(line.opts.command->id, CTL_CLASS_LS);
    ctl_takes(&line, WORDS("class", "lint", "f"));
    assert_int_equal(line.opts.command->id, CTL_CLASS_LINT);
    ctl_refuses(WORDS("class"),
                "\"class\" is half a command: behind it stands one of ls, "
                "lint");
    ctl_refuses(WORDS("class", "show"),
                "\"class show\": no such command (ctl --help lists them)");
    ctl_refuses(WORDS("class", "lnit"),
                "\"class lnit\": no such command (did you mean \"class "
                "lint\"?)");
}

static void unknown_commands_get_a_suggestion(void **state)
{
    (void)state;
    ctl_refuses(WORDS("lss"),
                "\"lss\": no such command (did you mean \"ls\"?)");
    ctl_refuses(WORDS("clas", "ls"),
                "\"clas\": no such command (did you mean \"class\"?)");
    ctl_refuses(WORDS("frobnicate"),
                "\"frobnicate\": no such command (ctl --help lists them)");
    ctl_refuses(WORDS("class ls"),
                "\"class ls\": no such command (ctl --help lists them)");
    ctl_refuses((const char *const[]){NULL},
                "a command is missing (ctl --help lists them)");
    ctl_refuses(WORDS(""), "\"\": no such command (ctl --help lists them)");
}

static void operands_are_counted(void **state)
{
    struct line line;

    (void)state;
    ctl_refuses(WORDS("show"), "show: something is missing: ctl show KEY");
    ctl_refuses(WORDS("show", "a", "b"),
                "show: \"b\": one word too many: ctl show KEY");
    ctl_refuses(WORDS("class", "ls", "x"),
                "class ls: \"x\": one word too many: ctl class ls");
    ctl_takes(&line, WORDS("ls", "x"));
    ctl_takes(&line, WORDS("class", "lint", "1", "2", "3", "4"));
    assert_int_equal(line.opts.operand_count, 4);
}

/* ---- the rest
 * ----------------------------------------------------------------- */

static void help_and_version_end_the_reading(void **state)
{
    struct line line;

    (void)state;
    parse(&line, &run_tool, WORDS("-v", "--help", "--frobnicate"));
    assert_int_equal(line.err, HF_ERR_OK);
    assert_int_equal(line.opts.action, HF_OPTS_HELP);
    parse(&line, &run_tool, WORDS("-vhq"));
    assert_int_equal(line.err, HF_ERR_OK);
    assert_int_equal(line.opts.action, HF_OPTS_HELP);
    parse(&line, &run_tool, WORDS("-V"));
    assert_int_equal(line.opts.action, HF_OPTS_VERSION);
    parse(&line, &ctl_tool, WORDS("show", "--help"));
    assert_int_equal(line.err, HF_ERR_OK);
    assert_int_equal(line.opts.command->id, CTL_SHOW);
    parse(&line, &ctl_tool, WORDS("class", "-h"));
    assert_int_equal(line.err, HF_ERR_OK);
    assert_null(line.opts.command);
    parse(&line, &run_tool, WORDS("--dump", "zsh"));
    assert_int_equal(line.opts.action, HF_OPTS_DUMP);
    assert_int_equal(line.opts.form, HF_OPTS_ZSH);
    run_refuses(WORDS("--dump=zhs"),
                "--dump: \"zhs\" is not mdoc, bash, zsh or fish: did you mean "
                "zsh?");
    run_refuses(WORDS("--frobnicate", "--help"),
                "--frobnicate: no such option");
}

static void reading_allocates_nothing(void **state)
{
    struct line line;

    (void)state;
    nth_malloc_fail(1);
    run_takes(&line, WORDS("-sv", "--wait=1h30m", "-E5", "--key", "a/b/c",
                           "--leftover=kill", "-Lx=y", "--", "prog", "-x"));
    ctl_takes(&line, WORDS("class", "lint", "a", "--store", "/x", "b"));
    assert_int_equal(nth_malloc_count(), 0);
    assert_false(nth_malloc_end());
}

static void nobody_needs_to_want_the_sentence(void **state)
{
    char name[] = "ctl";
    char show[] = "show";
    char *argv[] = {name, show, NULL};
    struct ctl_options options;
    struct hf_opts opts;

    (void)state;
    assert_int_equal(hf_opts_parse(&ctl_tool, 2, argv, &options, &opts, NULL),
                     HF_ERR_USAGE);
}

static void a_line_without_even_a_name_is_read(void **state)
{
    char *argv[] = {NULL};
    struct run_options options;
    struct hf_opts opts;

    (void)state;
    assert_int_equal(hf_opts_parse(&run_tool, 0, argv, &options, &opts, NULL),
                     HF_ERR_OK);
    assert_int_equal(opts.operand_count, 0);
    assert_ptr_equal(opts.operands, argv);
    assert_int_equal(hf_opts_parse(&ctl_tool, 0, argv, &options, &opts, NULL),
                     HF_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_given_leaves_the_defaults),
        cmocka_unit_test(each_kind_is_read),
        cmocka_unit_test(the_last_one_given_wins),
        cmocka_unit_test(values_stand_joined_or_behind),
        cmocka_unit_test(options_end_at_the_first_operand),
        cmocka_unit_test(a_value_may_look_like_an_option),
        cmocka_unit_test(long_names_may_be_shortened_while_they_are_one),
        cmocka_unit_test(unknown_options_get_a_suggestion),
        cmocka_unit_test(flags_take_no_value_and_values_must_be_there),
        cmocka_unit_test(wrong_times_are_refused),
        cmocka_unit_test(forever_is_taken_where_the_row_allows_it),
        cmocka_unit_test(wrong_numbers_are_refused),
        cmocka_unit_test(wrong_words_are_refused_with_the_list),
        cmocka_unit_test(wrong_texts_and_pairs_are_refused),
        cmocka_unit_test(others_options_are_refused_with_their_sentence),
        cmocka_unit_test(options_that_exclude_each_other_are_named),
        cmocka_unit_test(commands_have_options_of_their_own),
        cmocka_unit_test(the_tools_options_stand_before_or_behind_the_command),
        cmocka_unit_test(options_may_stand_behind_operands),
        cmocka_unit_test(commands_of_two_words_are_found),
        cmocka_unit_test(unknown_commands_get_a_suggestion),
        cmocka_unit_test(operands_are_counted),
        cmocka_unit_test(help_and_version_end_the_reading),
        cmocka_unit_test(reading_allocates_nothing),
        cmocka_unit_test(nobody_needs_to_want_the_sentence),
        cmocka_unit_test(a_line_without_even_a_name_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
