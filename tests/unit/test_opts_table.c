/* SPDX-License-Identifier: Apache-2.0 */
/* What comes of a tool's table besides its parser: help, the manual's lists,
 * completions, and the check of the table itself. */
#include "base/opts.h"

#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/nth_malloc.h"
#include "tests/unit/opts_tools.h"

static void is_text(struct hf_buf *buf, enum hf_err err, const char *wanted)
{
    assert_int_equal(err, HF_ERR_OK);
    assert_string_equal(buf->data, wanted);
    hf_buf_clear(buf);
}

/* ---- help -------------------------------------------------------------- */

static void help_of_a_tool_that_runs_a_program(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 10000);
    is_text(
        &buf, hf_opts_help(&run_tool, NULL, &buf),
        "Usage: run [OPTION]... [--] COMMAND [ARGUMENT]...\n"
        "       run [OPTION]... -c LINE\n"
        "Run a command while a key is held.\n"
        "\n"
        "Waiting:\n"
        "  -n, --nb, --nonblocking\n"
        "                          Fail at once if the key is held.\n"
        "  -w, --wait, --timeout TIME\n"
        "                          Wait at most TIME for the key; then end "
        "with 75, or\n"
        "                          with what -E says.\n"
        "  -E, --conflict-exit-code CODE\n"
        "                          The exit status when somebody else holds "
        "the key.\n"
        "\n"
        "The lock:\n"
        "  -s, --shared            Hold the key together with others that "
        "share it.\n"
        "  -x, -e, --exclusive     Hold the key alone: the default.\n"
        "      --key KEY           What is locked.\n"
        "      --ttl TIME          How long the lease lives without a "
        "renewal.\n"
        "      --note TEXT         A note for those who are kept out.\n"
        "  -L, --label NAME=VALUE  A label; may be repeated.\n"
        "\n"
        "The job:\n"
        "  -c, --command LINE      Give LINE to the shell.\n"
        "      --leftover WHAT     What of processes that outlive the "
        "command: wait (the\n"
        "                          default), kill or leave. Some text that "
        "is long\n"
        "                          enough to be broken into a second and a "
        "third line.\n"
        "  -v, --verbose           Say what is done.\n"
        "\n"
        "About:\n"
        "  -h, --help              Show this and exit.\n"
        "  -V, --version           Show the version and exit.\n"
        "\n"
        "Exit status:\n"
        "  The command's own, or:\n"
        "  64   the command line or an input is not of the documented form\n"
        "  69   the store cannot be reached or cannot be trusted; the store is "
        "sealed\n"
        "       until its epoch is advanced; a third reason\n"
        "  75   somebody else holds the key\n"
        "  127  the command was not found\n"
        "\n"
        "The manual run(1) has more.\n");
}

static void help_of_a_tool_lists_its_commands(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 10000);
    is_text(&buf, hf_opts_help(&ctl_tool, NULL, &buf),
            "Usage: ctl [OPTION]... COMMAND ...\n"
            "Look at locks, and mend them.\n"
            "\n"
            "Commands:\n"
            "  ls [PREFIX]             List what is held.\n"
            "  show KEY                Show one key.\n"
            "  class ls                List the classes.\n"
            "  class lint FILE...      Check class files.\n"
            "\n"
            "Options:\n"
            "      --store PATH        The store to ask.\n"
            "\n"
            "About:\n"
            "  -h, --help              Show this and exit.\n"
            "  -V, --version           Show the version and exit.\n");
}

static void help_of_a_command_has_its_options_first(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 10000);
    is_text(&buf, hf_opts_help(&ctl_tool, &ctl_tool.commands[1], &buf),
            "Usage: ctl show [OPTION]... KEY\n"
            "Show one key.\n"
            "Who holds it, since when, and who waits.\n"
            "\n"
            "Options:\n"
            "      --class CLASS       Take it for one of this class.\n"
            "      --json              Print JSON, for programs.\n"
            "\n"
            "Of every command:\n"
            "      --store PATH        The store to ask.\n"
            "\n"
            "About:\n"
            "  -h, --help              Show this and exit.\n"
            "  -V, --version           Show the version and exit.\n");
}

static void no_line_of_help_is_wider_than_79_columns(void **state)
{
    const struct hf_tool *const tools[] = {&run_tool, &ctl_tool};
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 10000);
    for (size_t i = 0; i < 2; i++) {
        const char *line;

        hf_buf_reset(&buf);
        assert_int_equal(hf_opts_help(tools[i], NULL, &buf), HF_ERR_OK);
        for (line = buf.data; *line; line += strcspn(line, "\n") + 1) {
            size_t size = strcspn(line, "\n");

            assert_true(size <= 79);
            assert_true(size == 0 || line[size - 1] != ' ');
        }
    }
    hf_buf_clear(&buf);
}

static void an_answer_is_what_was_asked_for(void **state)
{
    struct hf_opts opts = {.action = HF_OPTS_VERSION};
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 10000);
    is_text(&buf, hf_opts_answer(&run_tool, &opts, &buf),
            "run (Holdfast) 1.2.3\n");
    opts = (struct hf_opts){.action = HF_OPTS_HELP,
                            .command = &ctl_tool.commands[0]};
    assert_int_equal(hf_opts_answer(&ctl_tool, &opts, &buf), HF_ERR_OK);
    assert_memory_equal(buf.data, "Usage: ctl ls ", 14);
    hf_buf_reset(&buf);
    opts = (struct hf_opts){.action = HF_OPTS_DUMP, .form = HF_OPTS_ZSH};
    assert_int_equal(hf_opts_answer(&run_tool, &opts, &buf), HF_ERR_OK);
    assert_memory_equal(buf.data, "#compdef run\n", 13);
    hf_buf_clear(&buf);
}

/* ---- the manual's lists
 * ------------------------------------------------------ */

static void the_manual_gets_options_under_their_headings(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 10000);
    assert_int_equal(hf_opts_dump(&run_tool, HF_OPTS_MDOC, &buf), HF_ERR_OK);
    assert_non_null(strstr(
        buf.data,
        ".Sh OPTIONS\n"
        ".Ss Waiting\n"
        ".Bl -tag -width Ds\n"
        ".It Fl n , Fl -nb , Fl -nonblocking\n"
        "Fail at once if the key is held.\n"
        ".It Fl w Ar TIME , Fl -wait Ns = Ns Ar TIME , Fl -timeout Ns = Ns Ar "
        "TIME\n"
        "Wait at most TIME for the key; then end with 75, or with what \\-E "
        "says.\n"));
    /* A sentence, a line. */
    assert_non_null(strstr(buf.data, "kill or leave.\nSome text that is long "
                                     "enough"));
    assert_non_null(strstr(buf.data, ".Sh EXIT STATUS\n"
                                     "The command's own, or:\n"
                                     ".Bl -tag -width Ds\n"
                                     ".It 64\n"));
    assert_non_null(strstr(buf.data, "epoch is advanced\n"
                                     ".Pp\n"
                                     "a third reason\n"
                                     ".It 75\n"));
    /* What is hidden or refused is not in it. */
    assert_null(strstr(buf.data, "dump Ns"));
    assert_null(strstr(buf.data, "lockfile"));
    hf_buf_clear(&buf);
}

static void the_manual_gets_commands_with_their_options(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 10000);
    assert_int_equal(hf_opts_dump(&ctl_tool, HF_OPTS_MDOC, &buf), HF_ERR_OK);
    assert_non_null(strstr(buf.data, ".Sh COMMANDS\n"
                                     ".Bl -tag -width Ds\n"
                                     ".It Cm ls Ar [PREFIX]\n"
                                     "List what is held.\n"
                                     ".Bl -tag -width Ds\n"
                                     ".It Fl j , Fl -json\n"
                                     "Print JSON, for programs.\n"));
    assert_non_null(strstr(buf.data, ".It Cm class lint Ar FILE...\n"
                                     "Check class files.\n"
                                     ".El\n"
                                     ".Sh OPTIONS\n"));
    hf_buf_clear(&buf);
}

static void what_mdoc_would_take_for_its_own_is_escaped(void **state)
{
    static const struct hf_opt rows[] = {
        {.kind = HF_OPT_KIND_FLAG,
         .names = "odd",
         .member_kind = HF_OPT_KIND_FLAG,
         .help = ".x and C:\\y, a-b, --long. 'Quoted' is -q (-z)."},
        HF_OPT_END,
    };
    struct hf_tool tool = run_tool;
    struct hf_buf buf;

    (void)state;
    tool.options = rows;
    hf_buf_init(&buf, 10000);
    assert_int_equal(hf_opts_dump(&tool, HF_OPTS_MDOC, &buf), HF_ERR_OK);
    assert_non_null(strstr(buf.data,
                           ".It Fl -odd\n"
                           "\\&.x and C:\\ey, a-b, \\-\\-long. 'Quoted' is "
                           "\\-q (\\-z).\n"));
    hf_buf_clear(&buf);
}

/* ---- completions
 * ---------------------------------------------------------------- */

static void each_shell_gets_every_option_and_command(void **state)
{
    const char *const run_words[] = {"nonblocking", "timeout", "leftover",
                                     "wait kill leave", "version"};
    const char *const ctl_words[] = {"store", "json", "limit", "lint", "show"};
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 100000);
    for (int form = HF_OPTS_BASH; form <= HF_OPTS_FISH; form++) {
        hf_buf_reset(&buf);
        assert_int_equal(hf_opts_dump(&run_tool, (enum hf_opts_form)form, &buf),
                         HF_ERR_OK);
        for (size_t i = 0; i < 5; i++)
            assert_non_null(strstr(buf.data, run_words[i]));
        assert_null(strstr(buf.data, "lockfile"));
        hf_buf_reset(&buf);
        assert_int_equal(hf_opts_dump(&ctl_tool, (enum hf_opts_form)form, &buf),
                         HF_ERR_OK);
        for (size_t i = 0; i < 5; i++)
            assert_non_null(strstr(buf.data, ctl_words[i]));
    }
    hf_buf_clear(&buf);
}

static void every_text_says_when_the_buffer_is_full(void **state)
{
    struct hf_buf buf;

    (void)state;
    for (int form = HF_OPTS_MDOC; form <= HF_OPTS_FISH; form++) {
        hf_buf_init(&buf, 500);
        assert_int_equal(hf_opts_dump(&ctl_tool, (enum hf_opts_form)form, &buf),
                         HF_ERR_USAGE);
        hf_buf_clear(&buf);
    }
    hf_buf_init(&buf, 500);
    assert_int_equal(hf_opts_help(&run_tool, NULL, &buf), HF_ERR_USAGE);
    hf_buf_clear(&buf);
    hf_buf_init(&buf, 50000);
    nth_malloc_fail(2);
    assert_int_equal(hf_opts_help(&run_tool, NULL, &buf), HF_ERR_NOMEM);
    assert_true(nth_malloc_end());
    hf_buf_clear(&buf);
}

/* ---- the check of a table
 * ----------------------------------------------------------- */

static void the_tables_of_these_tests_are_right(void **state)
{
    struct hf_error error = {.text = ""};

    (void)state;
    if (hf_opts_check(&run_tool, &error) || hf_opts_check(&ctl_tool, &error))
        fail_msg("%s", error.text);
}

/* A table of one right row and `row` is found wrong, and told so. */
static void finds_row(struct hf_opt row, const char *wanted)
{
    struct hf_opt rows[] = {
        {.kind = HF_OPT_KIND_FLAG,
         .member_kind = HF_OPT_KIND_FLAG,
         .letters = "a",
         .names = "all any",
         .help = "All."},
        row,
        HF_OPT_END,
    };
    struct hf_tool tool = run_tool;
    struct hf_error error = {.text = ""};

    tool.options = rows;
    assert_int_equal(hf_opts_check(&tool, &error), HF_ERR_INTERNAL);
    if (!strstr(error.text, wanted))
        fail_msg("\"%s\" does not say \"%s\"", error.text, wanted);
}

static void faults_of_a_row_are_found(void **state)
{
    const struct hf_opt right = {.kind = HF_OPT_KIND_FLAG,
                                 .member_kind = HF_OPT_KIND_FLAG,
                                 .letters = "b",
                                 .names = "both",
                                 .help = "Both."};
    static const char *const none[] = {NULL};
    struct hf_opt row = right;

    (void)state;
    row.letters = "ba";
    finds_row(row, "there twice");
    row.letters = "bb";
    finds_row(row, "there twice");
    row = right;
    row.names = "both any";
    finds_row(row, "row \"both any\": a name or letter is there twice");
    row.names = "both both";
    finds_row(row, "there twice");
    row.names = "Both";
    finds_row(row, "names are");
    row.names = "-both";
    finds_row(row, "names are");
    row.names = NULL;
    row.letters = NULL;
    finds_row(row, "names are");
    row.letters = "-";
    finds_row(row, "names are");

    row = right;
    row.help = NULL;
    finds_row(row, "help must be");
    row.help = "No stop";
    finds_row(row, "help must be");
    row.help = "lower case.";
    finds_row(row, "help must be");
    row.help = "Not ASCII: \xc3\xa9.";
    finds_row(row, "help must be");

    row = right;
    row.member_kind = HF_OPT_KIND_TEXT;
    finds_row(row, "does not suit");
    row = right;
    row.argument = "X";
    finds_row(row, "an argument's name");
    row = right;
    row.excludes = "alone";
    finds_row(row, "excludes nothing");

    row = right;
    row.kind = row.member_kind = HF_OPT_KIND_NUMBER;
    row.argument = "N";
    finds_row(row, "do not suit");
    row.kind = row.member_kind = HF_OPT_KIND_SPAN;
    row.least = 2;
    row.most = 1;
    finds_row(row, "do not suit");
    row = right;
    row.kind = row.member_kind = HF_OPT_KIND_WORD;
    row.argument = "W";
    finds_row(row, "do not suit");
    row.words = none;
    finds_row(row, "do not suit");
    finds_row((struct hf_opt){.kind = HF_OPT_KIND_HEADING, .names = "Empty"},
              "nothing below it");
    finds_row((struct hf_opt){.kind = HF_OPT_KIND_REFUSED,
                              .letters = "a",
                              .help = "not here"},
              "there twice");
    finds_row((struct hf_opt){.kind = HF_OPT_KIND_REFUSED, .letters = "o"},
              "help must be");
}

static void finds_command(struct hf_command command, const char *wanted)
{
    struct hf_command commands[] = {
        {.name = "ls", .id = 1, .summary = "List."},
        {.name = "class ls", .id = 2, .summary = "List."},
        command,
        {.name = NULL},
    };
    struct hf_tool tool = ctl_tool;
    struct hf_error error = {.text = ""};

    tool.commands = commands;
    assert_int_equal(hf_opts_check(&tool, &error), HF_ERR_INTERNAL);
    if (!strstr(error.text, wanted))
        fail_msg("\"%s\" does not say \"%s\"", error.text, wanted);
}

static void faults_of_a_command_are_found(void **state)
{
    static const struct hf_opt rows[] = {
        {.kind = HF_OPT_KIND_FLAG,
         .member_kind = HF_OPT_KIND_FLAG,
         .names = "store",
         .help = "As the tool's."},
        HF_OPT_END,
    };
    const struct hf_command right = {
        .name = "show", .id = 3, .summary = "Show."};
    struct hf_command command = right;

    (void)state;
    command.id = 1;
    finds_command(command, "id is another's");
    command = right;
    command.name = "ls";
    finds_command(command, "its name is another's");
    command.name = "class";
    finds_command(command, "or begins it");
    command.name = "ls all";
    finds_command(command, "or begins it");
    command.name = "a b c";
    finds_command(command, "one word or two");
    command.name = "-x";
    finds_command(command, "looks like an option");
    command = right;
    command.summary = "no sentence";
    finds_command(command, "summary and details");
    command = right;
    command.operands = "KEY";
    finds_command(command, "operands and their number");
    command.operands = NULL;
    command.operands_most = -1;
    finds_command(command, "operands and their number");
    command = right;
    command.options = rows;
    finds_command(command,
                  "ctl show: row \"store\": the tool has a name or letter of "
                  "it");
}

static void faults_of_a_tool_are_found(void **state)
{
    struct hf_tool tool = ctl_tool;
    struct hf_error error = {.text = ""};

    (void)state;
    tool.ends_at_operand = true;
    assert_int_equal(hf_opts_check(&tool, &error), HF_ERR_INTERNAL);
    tool = ctl_tool;
    tool.summary = NULL;
    assert_int_equal(hf_opts_check(&tool, &error), HF_ERR_INTERNAL);
    tool = ctl_tool;
    tool.version = NULL;
    assert_int_equal(hf_opts_check(&tool, &error), HF_ERR_INTERNAL);
    tool = ctl_tool;
    tool.completer = NULL;
    assert_int_equal(hf_opts_check(&tool, &error), HF_ERR_INTERNAL);
    assert_non_null(strstr(error.text, "no completer"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_of_a_tool_that_runs_a_program),
        cmocka_unit_test(help_of_a_tool_lists_its_commands),
        cmocka_unit_test(help_of_a_command_has_its_options_first),
        cmocka_unit_test(no_line_of_help_is_wider_than_79_columns),
        cmocka_unit_test(an_answer_is_what_was_asked_for),
        cmocka_unit_test(the_manual_gets_options_under_their_headings),
        cmocka_unit_test(the_manual_gets_commands_with_their_options),
        cmocka_unit_test(what_mdoc_would_take_for_its_own_is_escaped),
        cmocka_unit_test(each_shell_gets_every_option_and_command),
        cmocka_unit_test(every_text_says_when_the_buffer_is_full),
        cmocka_unit_test(the_tables_of_these_tests_are_right),
        cmocka_unit_test(faults_of_a_row_are_found),
        cmocka_unit_test(faults_of_a_command_are_found),
        cmocka_unit_test(faults_of_a_tool_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
