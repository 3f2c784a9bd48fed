/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for fish 3.4 and later. */
#include "base/opts_row.h"

#include <stdio.h>

static void put_quoted(struct hf_buf *out, const char *text, size_t size)
{
    hf_buf_add_str(out, "'");
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\'' || text[i] == '\\')
            hf_buf_add_str(out, "\\");
        hf_buf_add(out, text + i, 1);
    }
    hf_buf_add_str(out, "'");
}

static void put_brief(struct hf_buf *out, const char *text)
{
    struct hf_opt_name brief = hf_opt_brief(text);

    hf_buf_add_str(out, " -d ");
    put_quoted(out, brief.text, brief.size);
    hf_buf_add_str(out, "\n");
}

static void put_offer(struct hf_buf *out, const struct hf_tool *tool,
                      enum hf_opt_offer offer)
{
    switch (offer) {
    case HF_OFFER_NOTHING:
        hf_buf_add_str(out, " -x");
        break;
    case HF_OFFER_FILE:
        hf_buf_add_str(out, " -r -F");
        break;
    case HF_OFFER_COMMAND:
        hf_buf_add_str(out, " -x -a '(__fish_complete_command)'");
        break;
    case HF_OFFER_KEY:
    case HF_OFFER_CLASS:
        hf_buf_printf(out,
                      " -x -a '(%s %s (string replace -r -- \"^-[^=]*=\" \"\" "
                      "(commandline -ct)) 2>/dev/null)'",
                      tool->completer, hf_offer_asked(offer));
        break;
    }
}

/* `condition` is fish code, or NULL for always. */
static void put_options(struct hf_buf *out, const struct hf_tool *tool,
                        const struct hf_opt *rows, const char *condition)
{
    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        const char *rest = rows->names;
        struct hf_opt_name name;

        if (!hf_opt_is_shown(rows))
            continue;
        hf_buf_printf(out, "complete -c %s", tool->name);
        if (condition)
            hf_buf_printf(out, " -n \"%s\"", condition);
        for (const char *c = rows->letters ? rows->letters : ""; *c; c++)
            hf_buf_printf(out, " -s %c", *c);
        while (hf_opt_next_name(&rest, &name))
            hf_buf_printf(out, " -l %.*s", (int)name.size, name.text);
        if (rows->kind == HF_OPT_KIND_WORD) {
            hf_buf_add_str(out, " -x -a '");
            for (const char *const *word = rows->words; *word; word++)
                hf_buf_printf(out, "%s%s", word == rows->words ? "" : " ",
                              *word);
            hf_buf_add_str(out, "'");
        } else if (rows->argument) {
            put_offer(out, tool, rows->offer);
        }
        put_brief(out, rows->help);
    }
}

/* " -w --wait ..." of the rows that take a value. */
static void put_value_options(struct hf_buf *out, const struct hf_opt *rows)
{
    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        const char *rest = rows->names;
        struct hf_opt_name name;

        if (!hf_opt_is_shown(rows) || !rows->argument)
            continue;
        for (const char *c = rows->letters ? rows->letters : ""; *c; c++)
            hf_buf_printf(out, " -%c", *c);
        while (hf_opt_next_name(&rest, &name))
            hf_buf_printf(out, " --%.*s", (int)name.size, name.text);
    }
}

/* A function that prints the operands before the one that is completed. */
static void put_operands(struct hf_buf *out, const struct hf_tool *tool)
{
    hf_buf_printf(out,
                  "function __%s_operands\n"
                  "    set -l words (commandline -opc)\n"
                  "    set -l skips 0\n"
                  "    for word in $words[2..]\n"
                  "        if test $skips = 1\n"
                  "            set skips 0\n"
                  "        else if contains -- $word",
                  tool->name);
    put_value_options(out, tool->options);
    for (const struct hf_command *c = hf_command_shown(tool->commands);
         c && c->name; c = hf_command_shown(c + 1))
        put_value_options(out, c->options);
    hf_buf_add_str(out, "\n"
                        "            set skips 1\n"
                        "        else if not string match -q -- '-*' $word\n"
                        "            echo $word\n"
                        "        end\n"
                        "    end\n"
                        "end\n");
}

/* Is the command line that of `NAME`, a command's words? */
static void put_is(struct hf_buf *out, const struct hf_tool *tool)
{
    hf_buf_printf(out,
                  "function __%s_is\n"
                  "    set -l words (__%s_operands)\n"
                  "    set -l group $argv[2]\n"
                  "    set -l command \"$words[1]\"\n"
                  "    if contains -- \"$command\"",
                  tool->name, tool->name);
    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        struct hf_opt_name group;

        if (hf_command_group(c, &group) && hf_command_is_first(tool, c))
            hf_buf_printf(out, " %.*s", (int)group.size, group.text);
    }
    hf_buf_add_str(out, "; and set -q words[2]\n"
                        "        set command \"$words[1] $words[2]\"\n"
                        "    end\n"
                        "    test \"$command\" = \"$argv[1]\"\n"
                        "end\n");
}

static void put_word(struct hf_buf *out, const struct hf_tool *tool,
                     struct hf_opt_name group, struct hf_opt_name word,
                     const char *summary)
{
    hf_buf_printf(out, "complete -c %s -n \"__%s_is '%.*s'\" -a %.*s",
                  tool->name, tool->name, (int)group.size, group.text,
                  (int)word.size, word.text);
    put_brief(out, summary);
}

static void put_commands(struct hf_buf *out, const struct hf_tool *tool)
{
    const struct hf_opt_name none = {"", 0};

    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        struct hf_opt_name group;
        char condition[64];

        if (!hf_command_group(c, &group)) {
            put_word(out, tool, none,
                     (struct hf_opt_name){c->name, strlen(c->name)},
                     c->summary);
        } else {
            const char *second = c->name + group.size + 1;

            if (hf_command_is_first(tool, c))
                put_word(out, tool, none, group, "More commands of this kind.");
            put_word(out, tool, group,
                     (struct hf_opt_name){second, strlen(second)}, c->summary);
        }
        snprintf(condition, sizeof(condition), "__%s_is '%s'", tool->name,
                 c->name);
        put_options(out, tool, c->options, condition);
        if (c->offer == HF_OFFER_NOTHING)
            continue;
        hf_buf_printf(out, "complete -c %s -n \"%s\"", tool->name, condition);
        if (c->offer == HF_OFFER_FILE)
            hf_buf_add_str(out, " -F");
        else
            put_offer(out, tool, c->offer);
        hf_buf_add_str(out, "\n");
    }
}

enum hf_err hf_opts_dump_fish(const struct hf_tool *tool, struct hf_buf *out)
{
    char condition[64];

    hf_buf_printf(out,
                  "# Completion of %s for fish, printed by \"%s "
                  "--dump=fish\".\n",
                  tool->name, tool->name);
    put_operands(out, tool);
    if (tool->commands) {
        put_is(out, tool);
        hf_buf_printf(out, "complete -c %s -f\n", tool->name);
        put_commands(out, tool);
        put_options(out, tool, tool->options, NULL);
        return out->failed;
    }
    if (!tool->ends_at_operand) {
        hf_buf_printf(out, "complete -c %s%s\n", tool->name,
                      tool->offer == HF_OFFER_FILE ? " -F" : " -f");
        put_options(out, tool, tool->options, NULL);
        return out->failed;
    }
    hf_buf_printf(out, "complete -c %s -x -a '(__fish_complete_subcommand --",
                  tool->name);
    put_value_options(out, tool->options);
    hf_buf_add_str(out, ")'\n");
    snprintf(condition, sizeof(condition), "test -z (__%s_operands)[1]",
             tool->name);
    put_options(out, tool, tool->options, condition);
    return out->failed;
}
