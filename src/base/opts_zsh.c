/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for zsh, by its own _arguments. */
#include "base/opts_row.h"

/* Inside of single quotes; what _arguments reads is escaped for it too. */
static void put_quoted(struct hf_buf *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\'')
            hf_buf_add_str(out, "'\\''");
        else if (text[i] == '\\' || text[i] == '[' || text[i] == ']' ||
                 text[i] == ':')
            hf_buf_printf(out, "\\%c", text[i]);
        else
            hf_buf_add(out, text + i, 1);
    }
}

static bool exclude_each_other(const struct hf_opt *a, const struct hf_opt *b)
{
    return a == b || (a->excludes && b->excludes &&
                      strcmp(a->excludes, b->excludes) == 0);
}

/* "(-n --nb -w)": what is not offered any more once `row` was given. */
static void put_excluded(struct hf_buf *out, const struct hf_opt *rows,
                         const struct hf_opt *row)
{
    const char *between = "";

    hf_buf_add_str(out, "'(");
    for (; rows->kind != HF_OPT_KIND_END; rows++) {
        const char *rest = rows->names;
        struct hf_opt_name name;

        if (!hf_opt_is_shown(rows) || !exclude_each_other(row, rows))
            continue;
        for (const char *c = rows->letters ? rows->letters : ""; *c; c++) {
            hf_buf_printf(out, "%s-%c", between, *c);
            between = " ";
        }
        while (hf_opt_next_name(&rest, &name)) {
            hf_buf_printf(out, "%s--%.*s", between, (int)name.size, name.text);
            between = " ";
        }
    }
    hf_buf_add_str(out, ")'");
}

/* Code that _arguments evaluates: what the tool's completer prints. */
static void put_completer(struct hf_buf *out, const struct hf_tool *tool,
                          enum hf_opt_offer offer)
{
    hf_buf_printf(out,
                  "{compadd -- ${(f)\"$(%s %s \"$PREFIX\" 2>/dev/null)\"}}",
                  tool->completer, hf_offer_asked(offer));
}

static void put_offer(struct hf_buf *out, const struct hf_tool *tool,
                      enum hf_opt_offer offer)
{
    switch (offer) {
    case HF_OFFER_NOTHING:
        hf_buf_add_str(out, " ");
        break;
    case HF_OFFER_FILE:
        hf_buf_add_str(out, "_files");
        break;
    case HF_OFFER_COMMAND:
        hf_buf_add_str(out, "_command_names -e");
        break;
    case HF_OFFER_KEY:
    case HF_OFFER_CLASS:
        put_completer(out, tool, offer);
        break;
    }
}

static void put_action(struct hf_buf *out, const struct hf_tool *tool,
                       const struct hf_opt *row)
{
    if (!row->argument)
        return;
    hf_buf_add_str(out, ":");
    put_quoted(out, row->argument, strlen(row->argument));
    hf_buf_add_str(out, ":");
    if (row->kind == HF_OPT_KIND_WORD) {
        for (const char *const *word = row->words; *word; word++)
            hf_buf_printf(out, "%s%s", word == row->words ? "(" : " ", *word);
        hf_buf_add_str(out, ")");
        return;
    }
    put_offer(out, tool, row->offer);
}

/* One spelling: -w+ and --wait= say that a value follows, joined or behind. */
static void put_spec(struct hf_buf *out, const struct hf_tool *tool,
                     const struct hf_opt *rows, const struct hf_opt *row,
                     const char *dashes, struct hf_opt_name name,
                     const char *indent)
{
    struct hf_opt_name brief = hf_opt_brief(row->help);
    const char *value = "";

    if (row->argument)
        value = dashes[1] ? "=" : "+";
    hf_buf_printf(out, "%s", indent);
    if (row->kind == HF_OPT_KIND_PAIR)
        hf_buf_add_str(out, "'*'");
    else
        put_excluded(out, rows, row);
    hf_buf_printf(out, "'%s%.*s%s[", dashes, (int)name.size, name.text, value);
    put_quoted(out, brief.text, brief.size);
    hf_buf_add_str(out, "]");
    put_action(out, tool, row);
    hf_buf_add_str(out, "'\n");
}

static void put_specs(struct hf_buf *out, const struct hf_tool *tool,
                      const struct hf_opt *rows, const char *indent)
{
    const struct hf_opt *row = rows;

    for (; row && row->kind != HF_OPT_KIND_END; row++) {
        const char *rest = row->names;
        struct hf_opt_name name;

        if (!hf_opt_is_shown(row))
            continue;
        for (const char *c = row->letters ? row->letters : ""; *c; c++)
            put_spec(out, tool, rows, row, "-", (struct hf_opt_name){c, 1},
                     indent);
        while (hf_opt_next_name(&rest, &name))
            put_spec(out, tool, rows, row, "--", name, indent);
    }
}

/* What a command takes: its options, the tool's, its operands. */
static void put_command(struct hf_buf *out, const struct hf_tool *tool,
                        const struct hf_command *command, const char *word,
                        const char *indent)
{
    hf_buf_printf(out,
                  "%s%s)\n"
                  "%s    specs=(\n",
                  indent, word, indent);
    put_specs(out, tool, command->options, "            ");
    hf_buf_printf(out, "%s    )\n%s    _arguments -s -S $specs $common", indent,
                  indent);
    if (command->operands) {
        hf_buf_add_str(out, " '*:");
        put_quoted(out, command->operands, strlen(command->operands));
        hf_buf_add_str(out, ":");
        put_offer(out, tool, command->offer);
        hf_buf_add_str(out, "'");
    }
    hf_buf_add_str(out, " ;;\n");
}

/* A word and what it means, for _describe. */
static void put_described(struct hf_buf *out, const char *word, size_t size,
                          const char *text)
{
    struct hf_opt_name brief = hf_opt_brief(text);

    hf_buf_printf(out, "            '%.*s:", (int)size, word);
    put_quoted(out, brief.text, brief.size);
    hf_buf_add_str(out, "'\n");
}

/* The first words of all commands, or the second ones of a group. */
static void put_list(struct hf_buf *out, const struct hf_tool *tool,
                     const struct hf_opt_name *of)
{
    struct hf_opt_name group;

    hf_buf_add_str(out, "        commands=(\n");
    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        bool has_group = hf_command_group(c, &group);

        if (of && has_group && group.size == of->size &&
            memcmp(group.text, of->text, of->size) == 0) {
            const char *word = c->name + group.size + 1;

            put_described(out, word, strlen(word), c->summary);
        } else if (!of && hf_command_is_first(tool, c)) {
            put_described(out, c->name, strcspn(c->name, " "),
                          has_group ? "More commands of this kind."
                                    : c->summary);
        }
    }
    hf_buf_add_str(out, "        )\n"
                        "        _describe -t commands command commands ;;\n");
}

/* The function of a group: what stands behind "class". */
static void put_group(struct hf_buf *out, const struct hf_tool *tool,
                      const struct hf_opt_name *of)
{
    hf_buf_printf(out,
                  "_%s_%.*s()\n"
                  "{\n"
                  "    _arguments -s -S -C $common '1: :->command' "
                  "'*:: :->rest'\n"
                  "    case $state in\n"
                  "    command)\n",
                  tool->name, (int)of->size, of->text);
    put_list(out, tool, of);
    hf_buf_add_str(out, "    rest)\n"
                        "        case $words[1] in\n");
    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        struct hf_opt_name group;

        if (hf_command_group(c, &group) && group.size == of->size &&
            memcmp(group.text, of->text, of->size) == 0)
            put_command(out, tool, c, c->name + group.size + 1, "        ");
    }
    hf_buf_add_str(out, "        esac ;;\n"
                        "    esac\n"
                        "}\n");
}

static void put_commands(struct hf_buf *out, const struct hf_tool *tool)
{
    struct hf_opt_name group;

    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        if (hf_command_group(c, &group) && hf_command_is_first(tool, c))
            put_group(out, tool, &group);
    }
    hf_buf_printf(out,
                  "_%s()\n"
                  "{\n"
                  "    local curcontext=$curcontext state line\n"
                  "    local -a common specs commands\n"
                  "    common=(\n",
                  tool->name);
    put_specs(out, tool, tool->options, "        ");
    hf_buf_add_str(out, "    )\n"
                        "    _arguments -s -S -C $common '1: :->command' "
                        "'*:: :->rest'\n"
                        "    case $state in\n"
                        "    command)\n");
    put_list(out, tool, NULL);
    hf_buf_add_str(out, "    rest)\n"
                        "        case $words[1] in\n");
    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        if (!hf_command_group(c, &group))
            put_command(out, tool, c, c->name, "        ");
        else if (hf_command_is_first(tool, c))
            hf_buf_printf(out, "        %.*s) _%s_%.*s ;;\n", (int)group.size,
                          group.text, tool->name, (int)group.size, group.text);
    }
    hf_buf_printf(out,
                  "        esac ;;\n"
                  "    esac\n"
                  "}\n"
                  "_%s \"$@\"\n",
                  tool->name);
}

enum hf_err hf_opts_dump_zsh(const struct hf_tool *tool, struct hf_buf *out)
{
    hf_buf_printf(out,
                  "#compdef %s\n"
                  "# Completion of %s for zsh, printed by \"%s --dump=zsh\".\n",
                  tool->name, tool->name, tool->name);
    if (tool->commands) {
        put_commands(out, tool);
        return out->failed;
    }
    hf_buf_add_str(out, "local -a specs\n"
                        "specs=(\n");
    put_specs(out, tool, tool->options, "    ");
    hf_buf_add_str(out, ")\n");
    if (tool->ends_at_operand)
        hf_buf_add_str(out, "_arguments -s -S -A '-*' $specs "
                            "'(-):command: _command_names -e' "
                            "'*:: :_normal'\n");
    else {
        hf_buf_add_str(out, "_arguments -s -S $specs '*: :");
        put_offer(out, tool, tool->offer);
        hf_buf_add_str(out, "'\n");
    }
    return out->failed;
}
