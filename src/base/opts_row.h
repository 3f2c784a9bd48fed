/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the rows of an option table are walked. Inside of base/opts.h: for the
 * files opts*.c alone.
 */
#ifndef HF_BASE_OPTS_ROW_H
#define HF_BASE_OPTS_ROW_H

#include <string.h>

#include "base/opts.h"

/* One of the words of a row's `names`. */
struct hf_opt_name {
    const char *text; /* not ended: `size` bytes */
    size_t size;
};

/* Take the next word off *rest (at first the names, may be NULL); false at the
 * end. */
static inline bool hf_opt_next_name(const char **rest, struct hf_opt_name *name)
{
    if (!*rest || !**rest)
        return false;
    name->text = *rest;
    name->size = strcspn(*rest, " ");
    *rest += name->size;
    *rest += strspn(*rest, " ");
    return true;
}

/* The first sentence of a help text, its stop left out. */
static inline struct hf_opt_name hf_opt_brief(const char *help)
{
    const char *end = strstr(help, ". ");
    size_t size = end ? (size_t)(end - help) : strlen(help);

    if (size > 0 && help[size - 1] == '.')
        size--;
    return (struct hf_opt_name){help, size};
}

/* Is it an option, and not a heading? */
static inline bool hf_opt_is_option(const struct hf_opt *row)
{
    return row->kind != HF_OPT_KIND_HEADING;
}

/* Is it shown in help, manual and completions? */
static inline bool hf_opt_is_shown(const struct hf_opt *row)
{
    return hf_opt_is_option(row) && row->kind != HF_OPT_KIND_REFUSED &&
           !row->is_hidden;
}

static inline bool hf_opt_takes_value(const struct hf_opt *row)
{
    switch (row->kind) {
    case HF_OPT_KIND_TEXT:
    case HF_OPT_KIND_SPAN:
    case HF_OPT_KIND_NUMBER:
    case HF_OPT_KIND_WORD:
    case HF_OPT_KIND_PAIR:
    case HF_OPT_KIND_DUMP:
        return true;
    case HF_OPT_KIND_END:
    case HF_OPT_KIND_HEADING:
    case HF_OPT_KIND_FLAG:
    case HF_OPT_KIND_CHOICE:
    case HF_OPT_KIND_REFUSED:
    case HF_OPT_KIND_HELP:
    case HF_OPT_KIND_VERSION:
        return false;
    }
    return false;
}

/* The next command from `command` on that is shown; ends as the list does. */
static inline const struct hf_command *
hf_command_shown(const struct hf_command *command)
{
    while (command && command->name && command->is_hidden)
        command++;
    return command;
}

/* What the tool's completer is asked for; NULL: it is not asked. */
static inline const char *hf_offer_asked(enum hf_opt_offer offer)
{
    switch (offer) {
    case HF_OFFER_KEY:
        return "keys";
    case HF_OFFER_CLASS:
        return "classes";
    case HF_OFFER_NOTHING:
    case HF_OFFER_FILE:
    case HF_OFFER_COMMAND:
        break;
    }
    return NULL;
}

/* The first word of a command of two; false for a command of one. */
static inline bool hf_command_group(const struct hf_command *command,
                                    struct hf_opt_name *group)
{
    const char *rest = command->name;

    return hf_opt_next_name(&rest, group) && *rest != '\0';
}

/* Is `command` the first of its group in the tool's list (or of none)? */
static inline bool hf_command_is_first(const struct hf_tool *tool,
                                       const struct hf_command *command)
{
    struct hf_opt_name group;
    struct hf_opt_name former;

    if (!hf_command_group(command, &group))
        return true;
    for (const struct hf_command *c = tool->commands; c < command; c++) {
        if (hf_command_group(c, &former) && former.size == group.size &&
            memcmp(former.text, group.text, group.size) == 0)
            return false;
    }
    return true;
}

/* The tool's exit statuses in rising order: the one above `after` (at first
 * -1), INT_MAX at the end. */
int hf_opts_next_status(const struct hf_tool *tool, int after);
/* The next sentence of a status, errors before others; *at is 0 at first, NULL
 * at the end. */
const char *hf_opts_next_reason(const struct hf_tool *tool, int status,
                                size_t *at);

/* ---- completions: one function for each shell -------------------------- */

enum hf_err hf_opts_dump_bash(const struct hf_tool *tool, struct hf_buf *out);
enum hf_err hf_opts_dump_zsh(const struct hf_tool *tool, struct hf_buf *out);
enum hf_err hf_opts_dump_fish(const struct hf_tool *tool, struct hf_buf *out);

/* ---- parsing ----------------------------------------------------------- */

/* A row as it was found, and the option as the user should see it named. */
struct hf_opt_match {
    const struct hf_opt *row;
    int table;
    char shown[40];
};

/*
 * Put `value` (NULL for those that take none) into the row's member of `to`.
 * Errors: USAGE, with "--wait: sentence (hint)"; INTERNAL for a row that has no
 * member.
 */
enum hf_err hf_opt_set(const struct hf_opt_match *match, const char *value,
                       void *to, struct hf_error *error);
/* The place of `value` in `words`, or USAGE with a list of them. */
enum hf_err hf_opt_find_word(const struct hf_opt_match *match,
                             const char *const *words, const char *value,
                             int *index, struct hf_error *error);
/* "--wait: SENTENCE (HINT)". */
enum hf_err hf_opt_wrong(const struct hf_opt_match *match,
                         struct hf_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
