/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/shell_offer.h"

#include "base/opts_row.h"

enum { LIST_LIMIT = 1 << 20 };

const char *const shell_commands[] = {"help", "exit", "quit", NULL};

/* The words that stand there, understood. */
struct line {
    const struct hf_tool *tool;
    const struct hf_command *command; /* NULL: not named yet */
    const char *first;                /* operands, of which a command is made */
    const char *second;
    const struct hf_opt *open; /* the option whose value is due */
};

static void add(struct shell_offer *offer, const char *before, const char *word,
                size_t size, const char *text)
{
    size_t skip = strlen(before);

    if (strncmp(text, before, strlen(text) < skip ? strlen(text) : skip) != 0)
        return;
    if (strlen(text) > skip &&
        (strlen(text) - skip > size ||
         strncmp(word, text + skip, strlen(text) - skip) != 0))
        return;
    (void)hf_buf_printf(&offer->list, "%s%.*s\n", before, (int)size, word);
}

/* The row that `word`, "--name" or "-n", names; NULL: none. */
static const struct hf_opt *find_row(const struct hf_opt *rows,
                                     const char *word, size_t size)
{
    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        const char *rest = rows->names;
        struct hf_opt_name name;

        if (!hf_opt_is_shown(rows))
            continue;
        if (size == 2 && word[1] != '-' && rows->letters &&
            strchr(rows->letters, word[1]))
            return rows;
        while (hf_opt_next_name(&rest, &name)) {
            if (size == name.size + 2 && word[1] == '-' &&
                memcmp(word + 2, name.text, name.size) == 0)
                return rows;
        }
    }
    return NULL;
}

static const struct hf_opt *row_of(const struct line *line, const char *word,
                                   size_t size)
{
    const struct hf_opt *row = NULL;

    if (line->command)
        row = find_row(line->command->options, word, size);
    return row ? row : find_row(line->tool->options, word, size);
}

static void find_command(struct line *line)
{
    const struct hf_command *c = hf_command_shown(line->tool->commands);

    for (; c->name; c = hf_command_shown(c + 1)) {
        struct hf_opt_name group = {.size = 0};
        bool has_group = hf_command_group(c, &group);

        if (!has_group && strcmp(c->name, line->first) == 0)
            line->command = c;
        if (has_group && line->second && strlen(line->first) == group.size &&
            memcmp(line->first, group.text, group.size) == 0 &&
            strcmp(c->name + group.size + 1, line->second) == 0)
            line->command = c;
    }
}

static void understand(struct line *line, const struct shell_words *words)
{
    size_t i;

    for (i = 0; i < words->count; i++) {
        const char *word = words->words[i];

        if (line->open) {
            line->open = NULL;
            continue;
        }
        if (word[0] == '-' && word[1]) {
            const struct hf_opt *row = row_of(line, word, strlen(word));

            line->open = row && hf_opt_takes_value(row) ? row : NULL;
            continue;
        }
        if (line->command)
            continue;
        if (!line->first)
            line->first = word;
        else if (!line->second)
            line->second = word;
        find_command(line);
    }
}

static void offer_value(const struct hf_opt *row, const char *text,
                        size_t before, struct shell_offer *offer)
{
    char start[64];

    if (row->kind == HF_OPT_KIND_WORD && before < sizeof(start)) {
        memcpy(start, text, before);
        start[before] = '\0';
        for (const char *const *word = row->words; *word; word++)
            add(offer, start, *word, strlen(*word), text);
    }
    offer->due = row->offer;
    offer->before = before;
    offer->rest = text + before;
}

static void offer_options(const struct hf_opt *rows, const char *text,
                          struct shell_offer *offer)
{
    for (; rows && rows->kind != HF_OPT_KIND_END; rows++) {
        const char *rest = rows->names;
        struct hf_opt_name name;

        while (hf_opt_is_shown(rows) && hf_opt_next_name(&rest, &name))
            add(offer, "--", name.text, name.size, text);
    }
}

static void offer_commands(const struct line *line, const char *text,
                           struct shell_offer *offer)
{
    const struct hf_command *c = hf_command_shown(line->tool->commands);

    for (; c->name; c = hf_command_shown(c + 1)) {
        struct hf_opt_name group = {0};
        bool has_group = hf_command_group(c, &group);

        if (!line->first && hf_command_is_first(line->tool, c))
            add(offer, "", c->name, strcspn(c->name, " "), text);
        else if (line->first && !line->second && has_group &&
                 strlen(line->first) == group.size &&
                 memcmp(line->first, group.text, group.size) == 0)
            add(offer, "", c->name + group.size + 1,
                strlen(c->name + group.size + 1), text);
    }
}

void shell_offer_find(const struct hf_tool *tool,
                      const struct shell_words *words, const char *text,
                      struct shell_offer *offer)
{
    struct shell_words behind = *words;
    struct line line = {.tool = tool};
    const char *equals = strchr(text, '=');
    const struct hf_opt *row = NULL;

    hf_buf_init(&offer->list, LIST_LIMIT);
    offer->due = HF_OFFER_NOTHING;
    offer->before = 0;
    offer->rest = text;
    /* "help class sh": as if "class sh" stood there alone. */
    if (words->count > 0 && strcmp(words->words[0], "help") == 0) {
        behind.count--;
        memmove(behind.words, behind.words + 1,
                behind.count * sizeof(*behind.words));
    } else if (words->count == 0) {
        for (const char *const *own = shell_commands; *own; own++)
            add(offer, "", *own, strlen(*own), text);
    }
    understand(&line, &behind);
    if (strncmp(text, "--", 2) == 0 && equals)
        row = row_of(&line, text, (size_t)(equals - text));
    if (line.open)
        offer_value(line.open, text, 0, offer);
    else if (row && hf_opt_takes_value(row))
        offer_value(row, text, (size_t)(equals - text) + 1, offer);
    else if (text[0] == '-' && line.command)
        offer_options(line.command->options, text, offer);
    if (!line.open && !row && text[0] == '-')
        offer_options(tool->options, text, offer);
    else if (!line.open && !row && !line.command)
        offer_commands(&line, text, offer);
    else if (!line.open && !row && behind.count == words->count)
        offer->due = line.command->offer;
}
