/* SPDX-License-Identifier: Apache-2.0 */
/* Does a tool's table keep the rules? Asked by unit tests, linked by no tool.
 */
#include "base/opts_row.h"

#include <ctype.h>

struct check {
    const struct hf_tool *tool;
    const char *place; /* the command, or "" */
    struct hf_error *error;
};

static enum hf_err bad(const struct check *check, const struct hf_opt *row,
                       const char *what)
{
    return hf_error_set(check->error, HF_ERR_INTERNAL, "%s%s%s: row \"%s\": %s",
                        check->tool->name, *check->place ? " " : "",
                        check->place,
                        row->names     ? row->names
                        : row->letters ? row->letters
                                       : "?",
                        what);
}

static bool is_text(const char *text)
{
    for (const char *c = text; c && *c; c++) {
        if (*c < ' ' || *c > '~')
            return false;
    }
    return text && *text;
}

static bool is_sentence(const char *text)
{
    return is_text(text) && !islower((unsigned char)text[0]) &&
           text[strlen(text) - 1] == '.';
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c);
}

static bool names_are_right(const struct hf_opt *row)
{
    const char *rest = row->names;
    struct hf_opt_name name;

    while (hf_opt_next_name(&rest, &name)) {
        if (name.size < 2 || name.size > 30 || name.text[0] == '-')
            return false;
        for (size_t i = 0; i < name.size; i++) {
            if (!is_one_of(name.text[i],
                           "abcdefghijklmnopqrstuvwxyz0123456789-"))
                return false;
        }
    }
    for (const char *c = row->letters ? row->letters : ""; *c; c++) {
        if (!isalnum((unsigned char)*c))
            return false;
    }
    return row->names || row->letters;
}

static bool range_is_right(const struct hf_opt *row)
{
    switch (row->kind) {
    case HF_OPT_KIND_NUMBER:
        return row->least < row->most;
    case HF_OPT_KIND_SPAN:
    case HF_OPT_KIND_TEXT:
        return row->least >= 0 && (row->most == 0 || row->least <= row->most);
    case HF_OPT_KIND_WORD:
        return row->words && row->words[0];
    case HF_OPT_KIND_END:
    case HF_OPT_KIND_HEADING:
    case HF_OPT_KIND_FLAG:
    case HF_OPT_KIND_CHOICE:
    case HF_OPT_KIND_PAIR:
    case HF_OPT_KIND_REFUSED:
    case HF_OPT_KIND_HELP:
    case HF_OPT_KIND_VERSION:
    case HF_OPT_KIND_DUMP:
        return row->least == 0 && row->most == 0;
    }
    return false;
}

static bool has_member(const struct hf_opt *row)
{
    return row->kind >= HF_OPT_KIND_FLAG && row->kind <= HF_OPT_KIND_PAIR;
}

static enum hf_err check_row(const struct check *check,
                             const struct hf_opt *row)
{
    if (row->kind == HF_OPT_KIND_HEADING) {
        if (!row->names || row[1].kind == HF_OPT_KIND_HEADING ||
            row[1].kind == HF_OPT_KIND_END)
            return bad(check, row, "a heading with nothing below it");
        return HF_ERR_OK;
    }
    if (!names_are_right(row))
        return bad(check, row,
                   "names are a-z, 0-9 and '-', letters are "
                   "letters or digits");
    if (row->kind == HF_OPT_KIND_REFUSED ? !is_text(row->help)
                                         : !is_sentence(row->help))
        return bad(check, row, "help must be an ASCII sentence with its stop");
    if (has_member(row) && row->member_kind != row->kind)
        return bad(check, row, "the member's type does not suit the kind");
    if (!range_is_right(row))
        return bad(check, row, "least, most or words do not suit the kind");
    if (hf_offer_asked(row->offer) && !check->tool->completer)
        return bad(check, row, "the tool has no completer to ask");
    if (hf_opt_takes_value(row) != (row->argument != NULL))
        return bad(check, row,
                   "an argument's name where one is taken, and "
                   "only there");
    return HF_ERR_OK;
}

static bool has_name(const struct hf_opt *row, struct hf_opt_name wanted)
{
    const char *rest = hf_opt_is_option(row) ? row->names : NULL;
    struct hf_opt_name name;

    while (hf_opt_next_name(&rest, &name)) {
        if (name.size == wanted.size &&
            memcmp(name.text, wanted.text, name.size) == 0)
            return true;
    }
    return false;
}

/* Does `row` share a name or a letter with `other`, or with itself? */
static bool shares_name(const struct hf_opt *row, const struct hf_opt *other)
{
    const char *rest = hf_opt_is_option(row) ? row->names : NULL;
    struct hf_opt_name name;

    while (hf_opt_next_name(&rest, &name)) {
        /* A row is compared with what follows in it. */
        struct hf_opt behind = {.names = rest};

        if (has_name(row == other ? &behind : other, name))
            return true;
    }
    for (const char *c = row->letters ? row->letters : ""; *c; c++) {
        const char *letters = row == other ? c + 1 : other->letters;

        if (letters && strchr(letters, *c))
            return true;
    }
    return false;
}

static bool is_excluded_by(const struct hf_opt *row, const struct hf_opt *rows)
{
    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        if (rows != row && rows->excludes &&
            strcmp(rows->excludes, row->excludes) == 0)
            return true;
    }
    return false;
}

/* A table by itself, and against `others` that are read beside it. */
static enum hf_err check_rows(const struct check *check,
                              const struct hf_opt *rows,
                              const struct hf_opt *others)
{
    const struct hf_opt *row = rows;

    for (; row && row->kind != HF_OPT_KIND_END; row++) {
        enum hf_err err = check_row(check, row);

        if (err)
            return err;
        if (row - rows >= HF_OPT_ROWS_MAX)
            return bad(check, row, "one row too many for a table");
        if (row->excludes && !is_excluded_by(row, rows) &&
            !is_excluded_by(row, others))
            return bad(check, row, "excludes nothing");
        for (const struct hf_opt *former = rows; former <= row; former++) {
            if (shares_name(row, former))
                return bad(check, row, "a name or letter is there twice");
        }
        for (const struct hf_opt *other = others;
             other && other->kind != HF_OPT_KIND_END; other++) {
            if (shares_name(row, other))
                return bad(check, row, "the tool has a name or letter of it");
        }
    }
    return HF_ERR_OK;
}

/* Of commands `a` and `b`: is one the other, or the other's first word? */
static bool is_beginning(const char *a, const char *b)
{
    size_t size = strlen(a);

    return strncmp(a, b, size) == 0 && (b[size] == '\0' || b[size] == ' ');
}

static enum hf_err check_command(const struct check *check,
                                 const struct hf_command *command)
{
    const struct hf_opt shown = {.names = command->name};
    const char *rest = command->name;
    struct hf_opt_name word;
    int words = 0;

    for (; hf_opt_next_name(&rest, &word); words++) {
        if (word.text[0] == '-')
            return bad(check, &shown, "a command looks like an option");
    }
    if (words < 1 || words > 2)
        return bad(check, &shown, "a command is one word or two");
    if (!is_sentence(command->summary) ||
        (command->details && !is_sentence(command->details)))
        return bad(check, &shown,
                   "summary and details must be ASCII sentences "
                   "with their stops");
    if (command->operands_least < 0 ||
        (command->operands_most >= 0 &&
         command->operands_most < command->operands_least) ||
        (command->operands_most == 0) != (command->operands == NULL))
        return bad(check, &shown, "operands and their number disagree");
    if (hf_offer_asked(command->offer) && !check->tool->completer)
        return bad(check, &shown, "the tool has no completer to ask");
    for (const struct hf_command *c = check->tool->commands; c < command; c++) {
        if (c->id == command->id)
            return bad(check, &shown, "its id is another's too");
        if (is_beginning(c->name, command->name) ||
            is_beginning(command->name, c->name))
            return bad(check, &shown, "its name is another's, or begins it");
    }
    return check_rows(check, command->options, check->tool->options);
}

enum hf_err hf_opts_check(const struct hf_tool *tool, struct hf_error *error)
{
    struct check check = {tool, "", error};
    const struct hf_opt itself = {.names = tool->name};
    enum hf_err err;

    if (!tool->version || !tool->usages || !tool->usages[0] || !tool->options ||
        !is_sentence(tool->summary))
        return bad(&check, &itself,
                   "version, summary, usages and options must "
                   "be there");
    if (tool->commands && tool->ends_at_operand)
        return bad(&check, &itself,
                   "commands and ends_at_operand exclude each "
                   "other");
    err = check_rows(&check, tool->options, NULL);
    for (const struct hf_command *c = tool->commands; !err && c && c->name;
         c++) {
        check.place = c->name;
        err = check_command(&check, c);
    }
    return err;
}
