/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/shell_words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Copy one word from `from` to *to, its quotes left out; returns what follows
 * it, or NULL: a quote does not end. */
static const char *copy_word(const char *from, const char *end, char **to)
{
    char quote = '\0';

    for (; from < end && (quote || !is_blank(*from)); from++) {
        if (quote && *from == quote) {
            quote = '\0';
        } else if (!quote && (*from == '\'' || *from == '"')) {
            quote = *from;
        } else {
            if (*from == '\\' && quote != '\'' && ++from == end)
                return NULL;
            *(*to)++ = *from;
        }
    }
    *(*to)++ = '\0';
    return quote ? NULL : from;
}

enum hf_err shell_words_split(struct shell_words *words, const char *line,
                              size_t size, struct hf_error *error)
{
    const char *end = line + size;
    char *to;

    memset(words, 0, sizeof(*words));
    /* A word of one letter takes two bytes, and its blank is the second. */
    words->text = to = malloc(size + 2);
    if (!to)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a line");
    for (;;) {
        while (line < end && is_blank(*line))
            line++;
        if (line == end)
            return HF_ERR_OK;
        if (words->count == SHELL_WORDS_MAX)
            return hf_error_set(error, HF_ERR_USAGE,
                                "more than %d words in a line",
                                SHELL_WORDS_MAX);
        words->words[words->count++] = to;
        line = copy_word(line, end, &to);
        if (!line)
            return hf_error_set(error, HF_ERR_USAGE,
                                "a quote or backslash without its end");
    }
}

void shell_words_clear(struct shell_words *words)
{
    free(words->text);
    memset(words, 0, sizeof(*words));
}
