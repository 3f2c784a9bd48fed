/* SPDX-License-Identifier: Apache-2.0 */
/* Completion for bash 4 and later. Stands alone; where the bash-completion
 * package is there, the command that a tool runs is completed by it. */
#include "base/opts_row.h"

/* All spellings of a row. */
static void put_spellings(struct hf_buf *out, const struct hf_opt *row,
                          const char *between)
{
    const char *rest = row->names;
    const char *before = "";
    struct hf_opt_name name;

    for (const char *c = row->letters ? row->letters : ""; *c; c++) {
        hf_buf_printf(out, "%s-%c", before, *c);
        before = between;
    }
    while (hf_opt_next_name(&rest, &name)) {
        hf_buf_printf(out, "%s--%.*s", before, (int)name.size, name.text);
        before = between;
    }
}

/* "-n --nb ..." of a table, each with a blank in front. */
static void put_table(struct hf_buf *out, const struct hf_opt *rows)
{
    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        if (!hf_opt_is_shown(rows))
            continue;
        hf_buf_add_str(out, " ");
        put_spellings(out, rows, " ");
    }
}

/* What may follow an option that takes a value. */
static void put_value(struct hf_buf *out, const struct hf_opt *row)
{
    hf_buf_add_str(out, "    ");
    put_spellings(out, row, "|");
    hf_buf_add_str(out, ")\n");
    if (row->kind == HF_OPT_KIND_WORD) {
        hf_buf_add_str(out, "        offer= words=\"");
        for (const char *const *word = row->words; *word; word++)
            hf_buf_printf(out, "%s%s", word == row->words ? "" : " ", *word);
        hf_buf_add_str(out, "\" ;;\n");
        return;
    }
    switch (row->offer) {
    case HF_OFFER_NOTHING:
        hf_buf_add_str(out, "        return ;;\n");
        break;
    case HF_OFFER_FILE:
        hf_buf_add_str(out, "        offer=file ;;\n");
        break;
    case HF_OFFER_COMMAND:
        hf_buf_add_str(out, "        offer=command ;;\n");
        break;
    case HF_OFFER_KEY:
    case HF_OFFER_CLASS:
        hf_buf_printf(out, "        offer=%s ;;\n", hf_offer_asked(row->offer));
        break;
    }
}

static void put_values(struct hf_buf *out, const struct hf_opt *rows)
{
    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        if (hf_opt_is_shown(rows) && hf_opt_takes_value(rows))
            put_value(out, rows);
    }
}

/* "-w|--wait|..." of the rows that take a value; *between is "" at first. */
static void put_value_options(struct hf_buf *out, const struct hf_opt *rows,
                              const char **between)
{
    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        if (!hf_opt_is_shown(rows) || !hf_opt_takes_value(rows))
            continue;
        hf_buf_add_str(out, *between);
        put_spellings(out, rows, "|");
        *between = "|";
    }
}

static const char *offer_word(enum hf_opt_offer offer)
{
    switch (offer) {
    case HF_OFFER_NOTHING:
        return "";
    case HF_OFFER_FILE:
        return "file";
    case HF_OFFER_COMMAND:
        return "command";
    case HF_OFFER_KEY:
    case HF_OFFER_CLASS:
        return hf_offer_asked(offer);
    }
    return "";
}

/* Did an earlier command have the same table? */
static bool is_table_known(const struct hf_tool *tool,
                           const struct hf_command *command)
{
    for (const struct hf_command *c = tool->commands; c < command; c++) {
        if (c->options == command->options)
            return true;
    }
    return false;
}

/* The words before the one that is completed: which of them are operands? */
static void put_scan(struct hf_buf *out, const struct hf_tool *tool)
{
    const char *between = "";

    hf_buf_add_str(out, "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                        "        case ${COMP_WORDS[i]} in\n"
                        "        --)\n"
                        "            first=$((i + 1))\n"
                        "            break ;;\n"
                        "        =)\n"
                        "            ((i++)) ;;\n");
    hf_buf_add_str(out, "        ");
    put_value_options(out, tool->options, &between);
    for (const struct hf_command *c = hf_command_shown(tool->commands);
         c && c->name; c = hf_command_shown(c + 1)) {
        if (!is_table_known(tool, c))
            put_value_options(out, c->options, &between);
    }
    /* "--name=value" is three words to bash; the second moves on by itself. */
    hf_buf_add_str(out, between[0]
                            ? ")\n"
                              "            [[ ${COMP_WORDS[i + 1]} == = ]] "
                              "|| ((i++)) ;;\n"
                            : "--no-option-takes-a-value) ;;\n");
    hf_buf_add_str(out, "        -?*) ;;\n"
                        "        *)\n");
    hf_buf_add_str(out,
                   tool->ends_at_operand
                       ? "            first=$i\n"
                         "            break ;;\n"
                       : "            operands+=(\"${COMP_WORDS[i]}\") ;;\n");
    /* Where the loop did not step over the word that is completed, no option
     * waits for it, whatever the word before looks like. */
    hf_buf_add_str(out,
                   "        esac\n"
                   "    done\n"
                   "    ((i > COMP_CWORD)) || [[ ${COMP_WORDS[COMP_CWORD]} "
                   "== = ]] || prev=\n");
}

/* Behind the first operand: the other program's own completion. */
static void put_other_program(struct hf_buf *out)
{
    hf_buf_add_str(
        out, "    if ((first > 0 && first < COMP_CWORD)); then\n"
             "        if declare -F _command_offset >/dev/null; then\n"
             "            _command_offset \"$first\"\n"
             "        else\n"
             "            compopt -o filenames\n"
             "            mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
             "        fi\n"
             "        return\n"
             "    fi\n");
}

/* One branch for each command, and what its options and operands are. */
static void put_commands(struct hf_buf *out, const struct hf_tool *tool)
{
    struct hf_opt_name group;

    hf_buf_add_str(out, "    case ${operands[0]} in\n"
                        "    \"\")\n"
                        "        words=\"");
    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        if (!hf_command_is_first(tool, c))
            continue;
        hf_buf_printf(out, "%s%.*s", c == tool->commands ? "" : " ",
                      (int)strcspn(c->name, " "), c->name);
    }
    hf_buf_add_str(out, "\" ;;\n");
    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        if (!hf_command_group(c, &group) || !hf_command_is_first(tool, c))
            continue;
        hf_buf_printf(out,
                      "    %.*s)\n"
                      "        words=\"",
                      (int)group.size, group.text);
        for (const struct hf_command *other = c; other->name;
             other = hf_command_shown(other + 1)) {
            struct hf_opt_name its;

            if (hf_command_group(other, &its) && its.size == group.size &&
                memcmp(its.text, group.text, its.size) == 0)
                hf_buf_printf(out, "%s%s", other == c ? "" : " ",
                              other->name + its.size + 1);
        }
        hf_buf_add_str(out, "\" ;;\n");
    }
    hf_buf_add_str(out, "    esac\n"
                        "    case \"${operands[*]} \" in\n");
    for (const struct hf_command *c = hf_command_shown(tool->commands); c->name;
         c = hf_command_shown(c + 1)) {
        hf_buf_printf(out,
                      "    \"%s \"*)\n"
                      "        words=\n",
                      c->name);
        if (c->offer != HF_OFFER_NOTHING)
            hf_buf_printf(out, "        offer=%s\n", offer_word(c->offer));
        hf_buf_add_str(out, "        options+=\"");
        put_table(out, c->options);
        hf_buf_add_str(out, "\" ;;\n");
    }
    hf_buf_add_str(out, "    esac\n");
}

static void put_value_cases(struct hf_buf *out, const struct hf_tool *tool)
{
    hf_buf_add_str(out, "    case $prev in\n");
    put_values(out, tool->options);
    for (const struct hf_command *c = hf_command_shown(tool->commands);
         c && c->name; c = hf_command_shown(c + 1)) {
        if (!is_table_known(tool, c))
            put_values(out, c->options);
    }
    hf_buf_add_str(out, "    *)\n"
                        "        [[ $cur == -* && $first == 0 ]] && "
                        "words=$options offer= ;;\n"
                        "    esac\n");
}

/*
 * Keys and classes, from the tool that knows them. Bash makes words of ":" and
 * "@" too, and replaces the end of what was typed, its $2: so the whole is
 * asked for, and what stands before that end is taken off the answers.
 */
static void put_completer(struct hf_buf *out, const struct hf_tool *tool)
{
    if (!tool->completer)
        return;
    hf_buf_printf(
        out,
        "    keys | classes)\n"
        "        words=${COMP_LINE:0:COMP_POINT}\n"
        "        words=${words##*[[:space:]]}\n"
        "        [[ $words != -*=* ]] || words=${words#*=}\n"
        "        mapfile -t COMPREPLY < <(%s \"$offer\" \"$words\" "
        "2>/dev/null)\n"
        "        COMPREPLY=(\"${COMPREPLY[@]#\"${words%%\"$2\"}\"}\") ;;\n",
        tool->completer);
}

enum hf_err hf_opts_dump_bash(const struct hf_tool *tool, struct hf_buf *out)
{
    hf_buf_printf(out,
                  "# Completion of %s for bash, printed by \"%s "
                  "--dump=bash\".\n"
                  "_%s()\n"
                  "{\n"
                  "    local cur=${COMP_WORDS[COMP_CWORD]} i\n"
                  "    local prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                  "    local first=0 words= offer=%s options=\"",
                  tool->name, tool->name, tool->name, offer_word(tool->offer));
    put_table(out, tool->options);
    hf_buf_add_str(out, "\"\n"
                        "    local -a operands=()\n"
                        "    COMPREPLY=()\n"
                        "    # Bash makes a word of each \"=\".\n"
                        "    if [[ $cur == = ]]; then\n"
                        "        cur=\n"
                        "    elif [[ $prev == = ]]; then\n"
                        "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                        "    fi\n");
    put_scan(out, tool);
    if (tool->ends_at_operand)
        put_other_program(out);
    if (tool->commands)
        put_commands(out, tool);
    put_value_cases(out, tool);
    hf_buf_add_str(
        out, "    case $offer in\n"
             "    file)\n"
             "        compopt -o filenames\n"
             "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
             "    command)\n"
             "        mapfile -t COMPREPLY < <(compgen -c -- \"$cur\") ;;\n");
    put_completer(out, tool);
    hf_buf_printf(out,
                  "    *)\n"
                  "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
                  "\"$cur\") ;;\n"
                  "    esac\n"
                  "}\n"
                  "complete -F _%s %s\n",
                  tool->name, tool->name);
    return out->failed;
}
