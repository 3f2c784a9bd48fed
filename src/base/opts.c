/* SPDX-License-Identifier: Apache-2.0 */
/* The parser; opts_value.c reads values. Help is opts_help.c, dumps are
 * opts_dump*.c, the check of a table is opts_check.c: a program links what it
 * calls. */
#include "base/opts.h"

#include <stdio.h>

#include "base/opts_row.h"
#include "base/spelling.h"

enum { OF_COMMAND, OF_TOOL, TABLES };

struct parser {
    const struct hf_tool *tool;
    struct hf_opts *opts;
    struct hf_error *error;
    void *to;
    int argc;
    char **argv;
    int first; /* word behind the name */
    int at;    /* the word being read */
    /* The command's rows and the tool's own; either may be NULL. */
    const struct hf_opt *tables[TABLES];
    /* Bit for each row that was given. */
    uint64_t given[TABLES][HF_OPT_ROWS_MAX / 64];
    /* First word of a command of two, whose second is to come. */
    const char *group;
    int kept; /* operands, moved to argv[first] and on */
};

/* ---- finding a row ----------------------------------------------------- */

static void found(struct hf_opt_match *match, const struct hf_opt *row,
                  int table, struct hf_opt_name name)
{
    match->row = row;
    match->table = table;
    snprintf(match->shown, sizeof(match->shown), "--%.*s", (int)name.size,
             name.text);
}

static bool find_exactly(const struct parser *parser, struct hf_opt_name word,
                         struct hf_opt_match *match)
{
    for (int table = 0; table < TABLES; table++) {
        const struct hf_opt *row = parser->tables[table];

        for (; row && row->kind != HF_OPT_KIND_END; row++) {
            const char *rest = hf_opt_is_option(row) ? row->names : NULL;
            struct hf_opt_name name;

            while (hf_opt_next_name(&rest, &name)) {
                if (name.size == word.size &&
                    memcmp(name.text, word.text, word.size) == 0) {
                    found(match, row, table, name);
                    return true;
                }
            }
        }
    }
    return false;
}

/*
 * Rows of which a name begins with `word`: how many, and the first of them.
 * Shown rows, or the others: what is hidden or refused makes nothing ambiguous.
 */
static int find_beginnings(const struct parser *parser, struct hf_opt_name word,
                           bool is_shown, struct hf_opt_match matches[2])
{
    int count = 0;

    for (int table = 0; table < TABLES; table++) {
        const struct hf_opt *row = parser->tables[table];

        for (; row && row->kind != HF_OPT_KIND_END; row++) {
            const char *rest = hf_opt_is_option(row) ? row->names : NULL;
            struct hf_opt_name name;

            if (hf_opt_is_shown(row) != is_shown)
                continue;
            while (hf_opt_next_name(&rest, &name)) {
                if (name.size < word.size ||
                    memcmp(name.text, word.text, word.size) != 0)
                    continue;
                if (count < 2)
                    found(&matches[count], row, table, name);
                count++;
                break;
            }
        }
    }
    return count;
}

static enum hf_err no_such_long(struct parser *parser, struct hf_opt_name word)
{
    struct hf_spelling spelling;
    char typed[64];

    snprintf(typed, sizeof(typed), "%.*s", (int)word.size, word.text);
    hf_spelling_begin(&spelling, typed);
    for (int table = 0; table < TABLES; table++) {
        const struct hf_opt *row = parser->tables[table];

        for (; row && row->kind != HF_OPT_KIND_END; row++) {
            const char *rest = hf_opt_is_shown(row) ? row->names : NULL;
            struct hf_opt_name name;

            while (hf_opt_next_name(&rest, &name))
                hf_spelling_offer_bytes(&spelling, name.text, name.size);
        }
    }
    if (!spelling.best)
        return hf_error_set(parser->error, HF_ERR_USAGE, "--%s: no such option",
                            typed);
    return hf_error_set(parser->error, HF_ERR_USAGE,
                        "--%s: no such option (did you mean --%.*s?)", typed,
                        (int)spelling.best_size, spelling.best);
}

static enum hf_err find_long(struct parser *parser, struct hf_opt_name word,
                             struct hf_opt_match *match)
{
    struct hf_opt_match matches[2];
    int count;

    if (find_exactly(parser, word, match))
        return HF_ERR_OK;
    count = find_beginnings(parser, word, true, matches);
    if (count == 0)
        count = find_beginnings(parser, word, false, matches);
    if (count == 0)
        return no_such_long(parser, word);
    if (count > 1)
        return hf_error_set(parser->error, HF_ERR_USAGE,
                            "--%.*s: may be %s or %s%s: write it out",
                            (int)word.size, word.text, matches[0].shown,
                            matches[1].shown, count > 2 ? " or others" : "");
    *match = matches[0];
    return HF_ERR_OK;
}

static enum hf_err find_letter(struct parser *parser, const char *word,
                               char letter, struct hf_opt_match *match)
{
    snprintf(match->shown, sizeof(match->shown), "-%c", letter);
    for (int table = 0; table < TABLES; table++) {
        const struct hf_opt *row = parser->tables[table];

        for (; row && row->kind != HF_OPT_KIND_END; row++) {
            if (row->letters && strchr(row->letters, letter)) {
                match->row = row;
                match->table = table;
                return HF_ERR_OK;
            }
        }
    }
    if (word[2] == '\0')
        return hf_error_set(parser->error, HF_ERR_USAGE, "%s: no such option",
                            word);
    return hf_error_set(parser->error, HF_ERR_USAGE,
                        "-%c (in \"%.64s\"): no such option", letter, word);
}

/* What a found option does. `value` is NULL for those that take none. */
static enum hf_err apply(struct parser *parser,
                         const struct hf_opt_match *match, const char *value)
{
    /* In the order of enum hf_opts_form. */
    static const char *const forms[] = {"mdoc", "bash", "zsh", "fish", NULL};
    struct hf_opts *opts = parser->opts;
    int form = 0;
    enum hf_err err;

    if (match->row->kind == HF_OPT_KIND_HELP) {
        opts->action = HF_OPTS_HELP;
        return HF_ERR_OK;
    }
    if (match->row->kind == HF_OPT_KIND_VERSION) {
        opts->action = HF_OPTS_VERSION;
        return HF_ERR_OK;
    }
    if (match->row->kind != HF_OPT_KIND_DUMP)
        return hf_opt_set(match, value, parser->to, parser->error);
    err = hf_opt_find_word(match, forms, value, &form, parser->error);
    if (err)
        return err;
    opts->action = HF_OPTS_DUMP;
    opts->form = (enum hf_opts_form)form;
    return HF_ERR_OK;
}

/* ---- options that exclude each other
 * ------------------------------------------ */

static void show_row(const struct hf_opt *row, char *to, size_t size)
{
    if (row->letters)
        snprintf(to, size, "-%c", row->letters[0]);
    else
        snprintf(to, size, "--%.*s", (int)strcspn(row->names, " "), row->names);
}

static enum hf_err note_given(struct parser *parser,
                              const struct hf_opt_match *match)
{
    size_t own = (size_t)(match->row - parser->tables[match->table]);

    parser->given[match->table][own / 64] |= UINT64_C(1) << own % 64;
    for (int table = 0; table < TABLES && match->row->excludes; table++) {
        const struct hf_opt *rows = parser->tables[table];

        for (size_t i = 0; rows && rows[i].kind != HF_OPT_KIND_END; i++) {
            bool is_given = parser->given[table][i / 64] >> i % 64 & 1;
            char other[40];

            if (!is_given || &rows[i] == match->row || !rows[i].excludes ||
                strcmp(rows[i].excludes, match->row->excludes) != 0)
                continue;
            show_row(&rows[i], other, sizeof(other));
            return hf_error_set(parser->error, HF_ERR_USAGE,
                                "%s and %s exclude each other", other,
                                match->shown);
        }
    }
    return HF_ERR_OK;
}

/* ---- the words of the line
 * ------------------------------------------------------ */

/* The value of a match: `joined` to the option, or the next word. */
static enum hf_err take_value(struct parser *parser,
                              const struct hf_opt_match *match,
                              const char *joined)
{
    const char *value = joined;
    enum hf_err err;

    if (!value && hf_opt_takes_value(match->row)) {
        if (parser->at + 1 >= parser->argc)
            return hf_opt_wrong(match, parser->error, "%s is missing",
                                match->row->argument ? match->row->argument
                                                     : "a value");
        value = parser->argv[++parser->at];
    }
    err = apply(parser, match, value);
    if (err)
        return err;
    return note_given(parser, match);
}

static enum hf_err take_long(struct parser *parser, const char *word)
{
    struct hf_opt_name name = {word + 2, strcspn(word + 2, "=")};
    const char *joined = word[2 + name.size] ? name.text + name.size + 1 : NULL;
    struct hf_opt_match match = {.row = NULL};
    enum hf_err err = find_long(parser, name, &match);

    if (err)
        return err;
    if (joined && !hf_opt_takes_value(match.row) &&
        match.row->kind != HF_OPT_KIND_REFUSED)
        return hf_opt_wrong(&match, parser->error, "takes no value");
    return take_value(parser, &match, joined);
}

static enum hf_err take_letters(struct parser *parser, const char *word)
{
    for (const char *letter = word + 1; *letter; letter++) {
        struct hf_opt_match match = {.row = NULL};
        enum hf_err err = find_letter(parser, word, *letter, &match);

        if (err)
            return err;
        if (hf_opt_takes_value(match.row))
            return take_value(parser, &match, letter[1] ? letter + 1 : NULL);
        err = take_value(parser, &match, NULL);
        if (err || parser->opts->action != HF_OPTS_RUN)
            return err;
    }
    return HF_ERR_OK;
}

/* ---- commands
 * ------------------------------------------------------------------- */

/* The word of a command's name that is due: the first, or behind the group's
 * the second. False when the command is not of that group. */
static bool due_word(const struct parser *parser,
                     const struct hf_command *command, struct hf_opt_name *word)
{
    const char *rest = command->name;

    if (!hf_opt_next_name(&rest, word) || !parser->group)
        return true;
    return strlen(parser->group) == word->size &&
           strncmp(parser->group, word->text, word->size) == 0 &&
           hf_opt_next_name(&rest, word);
}

static enum hf_err no_such_command(struct parser *parser, const char *typed)
{
    const char *group = parser->group ? parser->group : "";
    const char *between = parser->group ? " " : "";
    struct hf_spelling spelling;
    struct hf_opt_name word;

    hf_spelling_begin(&spelling, typed);
    for (const struct hf_command *c = parser->tool->commands; c->name; c++) {
        if (due_word(parser, c, &word))
            hf_spelling_offer_bytes(&spelling, word.text, word.size);
    }
    if (spelling.best)
        return hf_error_set(parser->error, HF_ERR_USAGE,
                            "\"%s%s%.64s\": no such command (did you mean "
                            "\"%s%s%.*s\"?)",
                            group, between, typed, group, between,
                            (int)spelling.best_size, spelling.best);
    return hf_error_set(parser->error, HF_ERR_USAGE,
                        "\"%s%s%.64s\": no such command (%s --help lists them)",
                        group, between, typed, parser->tool->name);
}

/* The command, its first word or its second. */
static enum hf_err take_command(struct parser *parser, const char *typed)
{
    size_t size = strlen(typed);

    for (const struct hf_command *c = parser->tool->commands; c->name; c++) {
        struct hf_opt_name word;

        if (!due_word(parser, c, &word) || word.size != size ||
            memcmp(word.text, typed, size) != 0)
            continue;
        if (word.text[size] == ' ') {
            parser->group = typed;
        } else {
            parser->group = NULL;
            parser->opts->command = c;
            parser->tables[OF_COMMAND] = c->options;
        }
        return HF_ERR_OK;
    }
    return no_such_command(parser, typed);
}

static enum hf_err take_operand(struct parser *parser, char *word)
{
    if (parser->tool->commands && !parser->opts->command)
        return take_command(parser, word);
    /* Never further on than what has been read. */
    parser->argv[parser->first + parser->kept++] = word;
    return HF_ERR_OK;
}

static enum hf_err check_operands(struct parser *parser)
{
    const struct hf_command *command = parser->opts->command;
    const char *operands = command->operands ? command->operands : "";
    const char *between = command->operands ? " " : "";

    if (parser->kept < command->operands_least)
        return hf_error_set(
            parser->error, HF_ERR_USAGE, "something is missing: %s %s%s%s",
            parser->tool->name, command->name, between, operands);
    if (command->operands_most >= 0 && parser->kept > command->operands_most)
        return hf_error_set(
            parser->error, HF_ERR_USAGE,
            "\"%.64s\": one word too many: %s %s%s%s",
            parser->argv[parser->first + command->operands_most],
            parser->tool->name, command->name, between, operands);
    return HF_ERR_OK;
}

static enum hf_err no_command(struct parser *parser)
{
    char list[256] = "";
    size_t used = 0;

    if (!parser->group)
        return hf_error_set(parser->error, HF_ERR_USAGE,
                            "a command is missing (%s --help lists them)",
                            parser->tool->name);
    for (const struct hf_command *c = parser->tool->commands; c->name; c++) {
        struct hf_opt_name word;

        if (due_word(parser, c, &word) && used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.*s",
                                     used > 0 ? ", " : "", (int)word.size,
                                     word.text);
    }
    return hf_error_set(parser->error, HF_ERR_USAGE,
                        "\"%s\" is half a command: behind it stands one of %s",
                        parser->group, list);
}

/* ---- the line
 * --------------------------------------------------------------------- */

/* All words up to the end, or to an action other than RUN. */
static enum hf_err take_words(struct parser *parser)
{
    bool is_behind = false; /* of "--" */
    enum hf_err err = HF_ERR_OK;

    for (parser->at = parser->first; parser->at < parser->argc; parser->at++) {
        char *word = parser->argv[parser->at];

        if (!is_behind && strcmp(word, "--") == 0) {
            is_behind = true;
            if (!parser->tool->ends_at_operand)
                continue;
            parser->at++;
            break;
        }
        if (!is_behind && word[0] == '-' && word[1] == '-')
            err = take_long(parser, word);
        else if (!is_behind && word[0] == '-' && word[1])
            err = take_letters(parser, word);
        else if (parser->tool->ends_at_operand)
            break;
        else
            err = take_operand(parser, word);
        if (err || parser->opts->action != HF_OPTS_RUN)
            return err;
    }
    return HF_ERR_OK;
}

static enum hf_err finish(struct parser *parser)
{
    struct hf_opts *opts = parser->opts;

    if (opts->action != HF_OPTS_RUN)
        return HF_ERR_OK;
    if (parser->tool->ends_at_operand) {
        opts->operands = parser->argv + parser->at;
        opts->operand_count = parser->argc - parser->at;
        return HF_ERR_OK;
    }
    opts->operands = parser->argv + parser->first;
    if (parser->first + parser->kept < parser->argc)
        opts->operands[parser->kept] = NULL;
    opts->operand_count = parser->kept;
    if (!parser->tool->commands)
        return HF_ERR_OK;
    return opts->command ? check_operands(parser) : no_command(parser);
}

enum hf_err hf_opts_parse(const struct hf_tool *tool, int argc, char **argv,
                          void *to, struct hf_opts *opts,
                          struct hf_error *error)
{
    struct parser parser = {
        .tool = tool,
        .opts = opts,
        .error = error,
        .to = to,
        .argc = argc,
        .argv = argv,
        /* exec(2) may leave out even the name. */
        .first = argc > 0 ? 1 : 0,
        .tables = {[OF_TOOL] = tool->options},
    };
    enum hf_err err;

    *opts = (struct hf_opts){.action = HF_OPTS_RUN};
    err = take_words(&parser);
    if (!err)
        err = finish(&parser);
    if (err && opts->command && error)
        hf_error_wrap(error, "%s", opts->command->name);
    return err;
}
