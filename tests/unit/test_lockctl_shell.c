/* SPDX-License-Identifier: Apache-2.0 */
/* What the prompt of lockctl makes of a line, and what it offers behind one. */
#include <stdio.h>
#include <string.h>

#include "cmd/lockctl/lockctl.h"
#include "cmd/lockctl/shell_offer.h"
#include "tests/lib/cmocka_all.h"

/* ---- words --------------------------------------------------------------- */

/* Split `line`, and hold it against the words, a '|' between them. */
static void is_split(const char *line, const char *wanted)
{
    struct shell_words words;
    struct hf_error error;
    char got[256] = "";
    size_t i;

    assert_int_equal(shell_words_split(&words, line, strlen(line), &error),
                     HF_ERR_OK);
    for (i = 0; i < words.count; i++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s",
                 i ? "|" : "", words.words[i]);
    assert_null(words.words[words.count]);
    assert_string_equal(got, wanted);
    shell_words_clear(&words);
}

static void blanks_part_words(void **state)
{
    (void)state;
    is_split("", "");
    is_split("  \t ", "");
    is_split("a", "a");
    is_split("  show   t/n/k\t--json ", "show|t/n/k|--json");
}

static void quotes_and_backslashes_keep_blanks_in(void **state)
{
    (void)state;
    is_split("--why 'a b' c", "--why|a b|c");
    is_split("\"a b\"c d\\ e", "a bc|d e");
    is_split("'it''s' \"'\" '\\'", "its|'|\\");
    is_split("'' x", "|x");
}

static void nothing_is_expanded(void **state)
{
    (void)state;
    is_split("$HOME * ~ `id`", "$HOME|*|~|`id`");
}

static void a_line_without_its_end_is_refused(void **state)
{
    static const char *const lines[] = {"a 'b", "\"", "a\\"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct shell_words words;
        struct hf_error error;

        assert_int_equal(
            shell_words_split(&words, lines[i], strlen(lines[i]), &error),
            HF_ERR_USAGE);
        shell_words_clear(&words);
    }
}

static void too_many_words_are_refused(void **state)
{
    struct shell_words words;
    struct hf_error error;
    char line[2 * SHELL_WORDS_MAX + 2];

    (void)state;
    memset(line, ' ', sizeof(line));
    for (size_t i = 0; i < sizeof(line); i += 2)
        line[i] = 'x';
    assert_int_equal(
        shell_words_split(&words, line, 2 * SHELL_WORDS_MAX, &error),
        HF_ERR_OK);
    assert_int_equal(words.count, SHELL_WORDS_MAX);
    shell_words_clear(&words);
    assert_int_equal(shell_words_split(&words, line, sizeof(line), &error),
                     HF_ERR_USAGE);
    shell_words_clear(&words);
}

/* ---- offers -------------------------------------------------------------- */

/* What is offered for `text` behind `line`, a blank behind each. */
static void offers(const char *line, const char *text, const char *wanted,
                   enum hf_opt_offer due, const char *rest)
{
    struct shell_words words;
    struct shell_offer offer;
    struct hf_error error;
    char got[512] = "";
    char *at;

    assert_int_equal(shell_words_split(&words, line, strlen(line), &error),
                     HF_ERR_OK);
    shell_offer_find(&lockctl_tool, &words, text, &offer);
    if (offer.list.size)
        snprintf(got, sizeof(got), "%s", offer.list.data);
    for (at = got; *at; at++)
        *at = *at == '\n' ? ' ' : *at;
    assert_string_equal(got, wanted);
    assert_int_equal(offer.due, due);
    if (rest)
        assert_string_equal(offer.rest, rest);
    hf_buf_clear(&offer.list);
    shell_words_clear(&words);
}

static void commands_come_first(void **state)
{
    (void)state;
    offers("", "",
           "help exit quit ls show queue watch top shell release class "
           "epoch ",
           HF_OFFER_NOTHING, "");
    offers("", "sh", "show shell ", HF_OFFER_NOTHING, "sh");
    offers("", "comp", "", HF_OFFER_NOTHING, NULL);
    offers("--store /x", "ep", "epoch ", HF_OFFER_NOTHING, NULL);
}

static void a_group_has_second_words(void **state)
{
    (void)state;
    offers("class", "", "ls lint show ", HF_OFFER_NOTHING, NULL);
    offers("epoch", "a", "advance ", HF_OFFER_NOTHING, NULL);
    offers("help class", "li", "lint ", HF_OFFER_NOTHING, NULL);
    offers("nonsense", "", "", HF_OFFER_NOTHING, NULL);
}

static void behind_a_command_its_operands_are_due(void **state)
{
    (void)state;
    offers("show", "t/n", "", HF_OFFER_KEY, "t/n");
    offers("show --json", "", "", HF_OFFER_KEY, "");
    offers("release --token 5", "k", "", HF_OFFER_KEY, "k");
    offers("class show", "b", "", HF_OFFER_CLASS, "b");
    offers("epoch show", "b", "", HF_OFFER_NOTHING, NULL);
    offers("help show", "b", "", HF_OFFER_NOTHING, NULL);
}

static void behind_a_dash_options_are_offered(void **state)
{
    (void)state;
    offers("release", "--",
           "--token --dry-run --store --json --help --version ",
           HF_OFFER_NOTHING, NULL);
    offers("", "--s", "--store ", HF_OFFER_NOTHING, NULL);
    offers("ls", "--token", "", HF_OFFER_NOTHING, NULL);
}

static void an_option_s_value_is_due_in_both_spellings(void **state)
{
    (void)state;
    offers("class ls --classes", "/et", "", HF_OFFER_FILE, "/et");
    offers("class ls", "--classes=/et", "", HF_OFFER_FILE, "/et");
    offers("top --sort", "a", "age ", HF_OFFER_NOTHING, NULL);
    offers("top", "--sort=",
           "--sort=key --sort=age --sort=waiting "
           "--sort=lease ",
           HF_OFFER_NOTHING, NULL);
    offers("top", "--sort=wa", "--sort=waiting ", HF_OFFER_NOTHING, NULL);
    offers("release --token", "5", "", HF_OFFER_NOTHING, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_part_words),
        cmocka_unit_test(quotes_and_backslashes_keep_blanks_in),
        cmocka_unit_test(nothing_is_expanded),
        cmocka_unit_test(a_line_without_its_end_is_refused),
        cmocka_unit_test(too_many_words_are_refused),
        cmocka_unit_test(commands_come_first),
        cmocka_unit_test(a_group_has_second_words),
        cmocka_unit_test(behind_a_command_its_operands_are_due),
        cmocka_unit_test(behind_a_dash_options_are_offered),
        cmocka_unit_test(an_option_s_value_is_due_in_both_spellings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
