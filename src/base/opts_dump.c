/* SPDX-License-Identifier: Apache-2.0 */
/* --dump, and the manual's lists in mdoc: options, commands, exit statuses. */
#include "base/opts_row.h"

#include <ctype.h>
#include <limits.h>

/*
 * Sentences, each on lines of its own as mdoc wants it, escaped: a backslash, a
 * dash that begins an option, what would be a macro at the start of a line.
 */
static void put_text(struct hf_buf *out, const char *text)
{
    char before = '\n';

    for (const char *c = text; *c; c++) {
        bool is_start = before == '\n';
        bool ends = before == '.' && *c == ' ' && isupper((unsigned char)c[1]);

        if (is_start && (*c == '.' || *c == '\''))
            hf_buf_add_str(out, "\\&");
        if (*c == '\\')
            hf_buf_add_str(out, "\\e");
        else if (*c == '-' && !isalnum((unsigned char)before) && c[1] != ' ')
            hf_buf_add_str(out, "\\-");
        else
            hf_buf_add(out, ends ? "\n" : c, 1);
        before = ends ? '\n' : *c;
    }
    hf_buf_add_str(out, "\n");
}

/* ".It Fl w Ar TIME , Fl -wait Ns = Ns Ar TIME". */
static void put_item(struct hf_buf *out, const struct hf_opt *row)
{
    const char *rest = row->names;
    const char *between = "";
    struct hf_opt_name name;

    hf_buf_add_str(out, ".It");
    for (const char *c = row->letters ? row->letters : ""; *c; c++) {
        hf_buf_printf(out, "%s Fl %c", between, *c);
        if (row->argument)
            hf_buf_printf(out, " Ar %s", row->argument);
        between = " ,";
    }
    while (hf_opt_next_name(&rest, &name)) {
        hf_buf_printf(out, "%s Fl -%.*s", between, (int)name.size, name.text);
        if (row->argument)
            hf_buf_printf(out, " Ns = Ns Ar %s", row->argument);
        between = " ,";
    }
    hf_buf_add_str(out, "\n");
    put_text(out, row->help);
}

static bool has_shown(const struct hf_opt *rows)
{
    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        if (hf_opt_is_shown(rows))
            return true;
    }
    return false;
}

static void put_options(struct hf_buf *out, const struct hf_opt *rows,
                        bool has_headings)
{
    bool is_open = false;

    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        if (rows->kind == HF_OPT_KIND_HEADING && has_headings) {
            if (is_open)
                hf_buf_add_str(out, ".El\n");
            is_open = false;
            hf_buf_printf(out, ".Ss %s\n", rows->names);
        }
        if (!hf_opt_is_shown(rows))
            continue;
        if (!is_open)
            hf_buf_add_str(out, ".Bl -tag -width Ds\n");
        is_open = true;
        put_item(out, rows);
    }
    if (is_open)
        hf_buf_add_str(out, ".El\n");
}

static void put_commands(struct hf_buf *out, const struct hf_tool *tool)
{
    hf_buf_add_str(out, ".Sh COMMANDS\n.Bl -tag -width Ds\n");
    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        hf_buf_printf(out, ".It Cm %s", c->name);
        if (c->operands)
            hf_buf_printf(out, " Ar %s", c->operands);
        hf_buf_add_str(out, "\n");
        put_text(out, c->summary);
        if (c->details)
            put_text(out, c->details);
        if (has_shown(c->options))
            put_options(out, c->options, false);
    }
    hf_buf_add_str(out, ".El\n");
}

static void put_statuses(struct hf_buf *out, const struct hf_tool *tool)
{
    int status = hf_opts_next_status(tool, -1);

    if (status == INT_MAX)
        return;
    hf_buf_add_str(out, ".Sh EXIT STATUS\n");
    if (tool->exit_intro)
        put_text(out, tool->exit_intro);
    hf_buf_add_str(out, ".Bl -tag -width Ds\n");
    for (; status < INT_MAX; status = hf_opts_next_status(tool, status)) {
        size_t at = 0;
        const char *reason = hf_opts_next_reason(tool, status, &at);

        hf_buf_printf(out, ".It %d\n", status);
        while (reason) {
            put_text(out, reason);
            reason = hf_opts_next_reason(tool, status, &at);
            if (reason)
                hf_buf_add_str(out, ".Pp\n");
        }
    }
    hf_buf_add_str(out, ".El\n");
}

static enum hf_err dump_mdoc(const struct hf_tool *tool, struct hf_buf *out)
{
    hf_buf_printf(out, ".\\\" Printed by \"%s --dump=mdoc\".\n", tool->name);
    if (tool->commands)
        put_commands(out, tool);
    hf_buf_add_str(out, ".Sh OPTIONS\n");
    put_options(out, tool->options, true);
    put_statuses(out, tool);
    return out->failed;
}

enum hf_err hf_opts_dump(const struct hf_tool *tool, enum hf_opts_form form,
                         struct hf_buf *out)
{
    switch (form) {
    case HF_OPTS_MDOC:
        return dump_mdoc(tool, out);
    case HF_OPTS_BASH:
        return hf_opts_dump_bash(tool, out);
    case HF_OPTS_ZSH:
        return hf_opts_dump_zsh(tool, out);
    case HF_OPTS_FISH:
        return hf_opts_dump_fish(tool, out);
    }
    return HF_ERR_INTERNAL;
}
