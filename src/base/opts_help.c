/* SPDX-License-Identifier: Apache-2.0 */
/* --help and --version, 80 columns wide. */
#include "base/opts_row.h"

#include <limits.h>
#include <stdio.h>

enum {
    WIDTH = 79,        /* a terminal of 80 columns never wraps */
    OPTION_INDENT = 2, /* where options begin */
    TEXT_COLUMN = 26   /* where their sentences do */
};

/* ---- wrapped text ------------------------------------------------------ */

/* Where the next byte comes to stand. */
struct page {
    struct hf_buf *out;
    size_t column;
};

static void put(struct page *page, const char *text, size_t size)
{
    hf_buf_add(page->out, text, size);
    page->column += size;
}

static void put_line_end(struct page *page)
{
    hf_buf_add(page->out, "\n", 1);
    page->column = 0;
}

static void put_spaces(struct page *page, size_t column)
{
    while (page->column < column)
        put(page, " ", 1);
}

/* Words, each with a blank before it or at `column` of a new line. */
static void put_words(struct page *page, size_t column, const char *text)
{
    struct hf_opt_name word;

    while (hf_opt_next_name(&text, &word)) {
        bool is_first = page->column <= column;

        if (!is_first && page->column + 1 + word.size > WIDTH) {
            put_line_end(page);
            is_first = true;
        }
        put_spaces(page, column);
        if (!is_first)
            put(page, " ", 1);
        put(page, word.text, word.size);
    }
}

/* A paragraph at `column`, beside what stands there if two blanks fit between.
 */
static void put_wrapped(struct page *page, size_t column, const char *text)
{
    if (page->column > 0 && page->column + 2 > column)
        put_line_end(page);
    put_words(page, column, text);
    put_line_end(page);
}

/* ---- options ----------------------------------------------------------- */

/* "  -w, --wait, --timeout TIME". */
static void put_option(struct page *page, const struct hf_opt *row)
{
    const char *letters = row->letters ? row->letters : "";
    const char *rest = row->names;
    const char *between = "";
    struct hf_opt_name name;
    char one[48];
    int size;

    put_spaces(page, OPTION_INDENT);
    for (; *letters; letters++) {
        size = snprintf(one, sizeof(one), "%s-%c", between, *letters);
        put(page, one, (size_t)size);
        between = ", ";
    }
    if (page->column == OPTION_INDENT)
        put_spaces(page, OPTION_INDENT + strlen("-x, "));
    while (hf_opt_next_name(&rest, &name)) {
        size = snprintf(one, sizeof(one), "%s--%.*s", between, (int)name.size,
                        name.text);
        put(page, one, (size_t)size);
        between = ", ";
    }
    if (row->argument) {
        put(page, " ", 1);
        put(page, row->argument, strlen(row->argument));
    }
    put_wrapped(page, TEXT_COLUMN, row->help);
}

static void put_options(struct page *page, const struct hf_opt *rows,
                        const char *first_heading)
{
    const char *heading = first_heading;

    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        if (rows->kind == HF_OPT_KIND_HEADING)
            heading = rows->names;
        if (!hf_opt_is_shown(rows))
            continue;
        if (heading) {
            put_line_end(page);
            put(page, heading, strlen(heading));
            put(page, ":", 1);
            put_line_end(page);
            heading = NULL;
        }
        put_option(page, rows);
    }
}

/* ---- exit statuses ----------------------------------------------------- */

int hf_opts_next_status(const struct hf_tool *tool, int after)
{
    int next = INT_MAX;

    for (const enum hf_err *e = tool->errors; e && *e; e++) {
        int status = hf_err_status(*e);

        if (status > after && status < next)
            next = status;
    }
    for (const struct hf_exit *e = tool->exits; e && e->text; e++) {
        if (e->status > after && e->status < next)
            next = e->status;
    }
    return next;
}

const char *hf_opts_next_reason(const struct hf_tool *tool, int status,
                                size_t *at)
{
    size_t i = 0;

    for (const enum hf_err *e = tool->errors; e && *e; e++) {
        if (i++ < *at || hf_err_status(*e) != status)
            continue;
        *at = i;
        return hf_err_text(*e);
    }
    for (const struct hf_exit *e = tool->exits; e && e->text; e++) {
        if (i++ < *at || e->status != status)
            continue;
        *at = i;
        return e->text;
    }
    return NULL;
}

static void put_statuses(struct page *page, const struct hf_tool *tool)
{
    const size_t column = OPTION_INDENT + 5;
    int status = hf_opts_next_status(tool, -1);

    if (status == INT_MAX)
        return;
    put_line_end(page);
    put_wrapped(page, 0, "Exit status:");
    if (tool->exit_intro)
        put_wrapped(page, OPTION_INDENT, tool->exit_intro);
    for (; status < INT_MAX; status = hf_opts_next_status(tool, status)) {
        size_t at = 0;
        const char *reason;
        char number[16];

        snprintf(number, sizeof(number), "%d", status);
        put_spaces(page, OPTION_INDENT);
        put(page, number, strlen(number));
        put_spaces(page, column);
        for (reason = hf_opts_next_reason(tool, status, &at); reason;) {
            put_words(page, column, reason);
            reason = hf_opts_next_reason(tool, status, &at);
            if (reason)
                put(page, ";", 1);
        }
        put_line_end(page);
    }
}

/* ---- the whole --------------------------------------------------------- */

/* "Usage: lockctl show KEY". */
static void put_usage(struct page *page, const char *before,
                      const char *const *words)
{
    put(page, before, strlen(before));
    for (; *words; words++) {
        if (**words)
            put_words(page, strlen("Usage: "), *words);
    }
    put_line_end(page);
}

static void put_commands(struct page *page, const struct hf_tool *tool)
{
    put_line_end(page);
    put_wrapped(page, 0, "Commands:");
    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        put_spaces(page, OPTION_INDENT);
        put(page, c->name, strlen(c->name));
        if (c->operands) {
            put(page, " ", 1);
            put(page, c->operands, strlen(c->operands));
        }
        put_wrapped(page, TEXT_COLUMN, c->summary);
    }
}

static void put_tool(struct page *page, const struct hf_tool *tool)
{
    const char *before = "Usage: ";

    for (const char *const *usage = tool->usages; *usage; usage++) {
        put_usage(page, before, (const char *[]){tool->name, *usage, NULL});
        before = "       ";
    }
    put_wrapped(page, 0, tool->summary);
    if (tool->commands)
        put_commands(page, tool);
    put_options(page, tool->options, "Options");
    put_statuses(page, tool);
    if (tool->closing) {
        put_line_end(page);
        put_wrapped(page, 0, tool->closing);
    }
}

static void put_command(struct page *page, const struct hf_tool *tool,
                        const struct hf_command *command)
{
    put_usage(page, "Usage: ",
              (const char *[]){tool->name, command->name, "[OPTION]...",
                               command->operands ? command->operands : "",
                               NULL});
    put_wrapped(page, 0, command->summary);
    if (command->details)
        put_wrapped(page, 0, command->details);
    put_options(page, command->options, "Options");
    put_options(page, tool->options, "Of every command");
}

enum hf_err hf_opts_help(const struct hf_tool *tool,
                         const struct hf_command *command, struct hf_buf *out)
{
    struct page page = {.out = out};

    if (command)
        put_command(&page, tool, command);
    else
        put_tool(&page, tool);
    return out->failed;
}

enum hf_err hf_opts_answer(const struct hf_tool *tool,
                           const struct hf_opts *opts, struct hf_buf *out)
{
    switch (opts->action) {
    case HF_OPTS_RUN:
        return HF_ERR_OK;
    case HF_OPTS_HELP:
        return hf_opts_help(tool, opts->command, out);
    case HF_OPTS_VERSION:
        return hf_buf_printf(out, "%s (Holdfast) %s\n", tool->name,
                             tool->version);
    case HF_OPTS_DUMP:
        return hf_opts_dump(tool, opts->form, out);
    }
    return HF_ERR_INTERNAL;
}
