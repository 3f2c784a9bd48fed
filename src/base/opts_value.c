/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of a value to the member of a row. */
#include <stdio.h>

#include "base/duration.h"
#include "base/opts_row.h"
#include "base/spelling.h"

enum hf_err hf_opt_wrong(const struct hf_opt_match *match,
                         struct hf_error *error, const char *format, ...)
{
    const char *hint = match->row->hint;
    char sentence[HF_ERROR_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return hf_error_set(error, HF_ERR_USAGE, "%s: %s%s%s%s", match->shown,
                        sentence, hint ? " (" : "", hint ? hint : "",
                        hint ? ")" : "");
}

static enum hf_err set_text(const struct hf_opt_match *match, const char *value,
                            const char **member, struct hf_error *error)
{
    const struct hf_opt *row = match->row;
    size_t size = strlen(value);

    if (size == 0 && row->least > 0)
        return hf_opt_wrong(match, error, "%s must not be empty",
                            row->argument);
    if (size < (uint64_t)row->least)
        return hf_opt_wrong(match, error,
                            "\"%.64s\" is too short: %lld bytes are the least",
                            value, (long long)row->least);
    if (row->most > 0 && size > (uint64_t)row->most)
        return hf_opt_wrong(match, error,
                            "\"%.32s...\" is too long: %lld bytes are the most",
                            value, (long long)row->most);
    *member = value;
    return HF_ERR_OK;
}

static enum hf_err set_span(const struct hf_opt_match *match, const char *value,
                            struct hf_opt_span *member, struct hf_error *error)
{
    const struct hf_opt *row = match->row;
    const char *or_forever = row->takes_forever ? ", or forever" : "";
    struct hf_span span;
    struct hf_error why;

    if (row->takes_forever && strcmp(value, "forever") == 0) {
        *member = (struct hf_opt_span){true, HF_SPAN_FOREVER};
        return HF_ERR_OK;
    }
    if (hf_duration_parse(value, &span, &why))
        return hf_opt_wrong(match, error, "%s%s", why.text, or_forever);
    if (row->most > 0 && (span.ns < row->least || span.ns > row->most))
        return hf_opt_wrong(
            match, error, "\"%.64s\" is not from %s to %s%s", value,
            hf_duration_print((struct hf_span){row->least}).text,
            hf_duration_print((struct hf_span){row->most}).text, or_forever);
    if (span.ns < row->least && row->least == 1)
        return hf_opt_wrong(match, error, "\"%.64s\" is no time at all", value);
    if (span.ns < row->least)
        return hf_opt_wrong(
            match, error, "\"%.64s\" is too short: %s is the least", value,
            hf_duration_print((struct hf_span){row->least}).text);
    *member = (struct hf_opt_span){true, span};
    return HF_ERR_OK;
}

/* Decimal, with '-' at most in front. */
static bool read_number(const char *text, int64_t *number)
{
    bool is_negative = *text == '-';
    int64_t read = 0;

    text += is_negative;
    if (!*text)
        return false;
    for (; *text; text++) {
        int digit = *text - '0';

        if (digit < 0 || digit > 9 || __builtin_mul_overflow(read, 10, &read) ||
            __builtin_sub_overflow(read, digit, &read))
            return false;
    }
    /* Counted downwards: there is one number more below zero than above. */
    if (!is_negative && __builtin_sub_overflow(0, read, &read))
        return false;
    *number = read;
    return true;
}

static enum hf_err set_number(const struct hf_opt_match *match,
                              const char *value, struct hf_opt_number *member,
                              struct hf_error *error)
{
    const struct hf_opt *row = match->row;
    int64_t number;

    if (!read_number(value, &number) || number < row->least ||
        number > row->most)
        return hf_opt_wrong(match, error,
                            "\"%.64s\" is no whole number from %lld to %lld",
                            value, (long long)row->least, (long long)row->most);
    *member = (struct hf_opt_number){true, number};
    return HF_ERR_OK;
}

enum hf_err hf_opt_find_word(const struct hf_opt_match *match,
                             const char *const *words, const char *value,
                             int *index, struct hf_error *error)
{
    struct hf_spelling spelling;
    char list[256] = "";
    size_t used = 0;

    hf_spelling_begin(&spelling, value);
    for (int i = 0; words[i]; i++) {
        const char *before = i == 0 ? "" : words[i + 1] ? ", " : " or ";

        if (strcmp(words[i], value) == 0) {
            *index = i;
            return HF_ERR_OK;
        }
        hf_spelling_offer(&spelling, words[i]);
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                     before, words[i]);
    }
    if (spelling.best)
        return hf_opt_wrong(match, error,
                            "\"%.64s\" is not %s: did you mean %s?", value,
                            list, spelling.best);
    return hf_opt_wrong(match, error, "\"%.64s\" is not %s", value, list);
}

static enum hf_err set_word(const struct hf_opt_match *match, const char *value,
                            struct hf_opt_word *member, struct hf_error *error)
{
    int index;
    enum hf_err err =
        hf_opt_find_word(match, match->row->words, value, &index, error);

    if (!err)
        *member = (struct hf_opt_word){true, index};
    return err;
}

static enum hf_err set_pair(const struct hf_opt_match *match, const char *value,
                            struct hf_opt_pairs *member, struct hf_error *error)
{
    if (value[0] == '=' || !strchr(value, '='))
        return hf_opt_wrong(match, error, "\"%.64s\" is not of the form %s",
                            value, match->row->argument);
    if (member->count == HF_OPT_PAIRS_MAX)
        return hf_opt_wrong(match, error, "given more than %d times",
                            HF_OPT_PAIRS_MAX);
    member->pairs[member->count++] = value;
    return HF_ERR_OK;
}

enum hf_err hf_opt_set(const struct hf_opt_match *match, const char *value,
                       void *to, struct hf_error *error)
{
    const struct hf_opt *row = match->row;
    void *member = (char *)to + row->offset;

    switch (row->kind) {
    case HF_OPT_KIND_FLAG:
        *(bool *)member = true;
        return HF_ERR_OK;
    case HF_OPT_KIND_CHOICE:
        *(int *)member = row->value;
        return HF_ERR_OK;
    case HF_OPT_KIND_TEXT:
        return set_text(match, value, member, error);
    case HF_OPT_KIND_SPAN:
        return set_span(match, value, member, error);
    case HF_OPT_KIND_NUMBER:
        return set_number(match, value, member, error);
    case HF_OPT_KIND_WORD:
        return set_word(match, value, member, error);
    case HF_OPT_KIND_PAIR:
        return set_pair(match, value, member, error);
    case HF_OPT_KIND_REFUSED:
        return hf_error_set(error, HF_ERR_USAGE, "%s: %s", match->shown,
                            row->help);
    case HF_OPT_KIND_END:
    case HF_OPT_KIND_HEADING:
    case HF_OPT_KIND_HELP:
    case HF_OPT_KIND_VERSION:
    case HF_OPT_KIND_DUMP:
        break;
    }
    return hf_error_set(error, HF_ERR_INTERNAL, "%s: takes no value",
                        match->shown);
}
