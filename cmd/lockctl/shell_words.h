/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line of `lockctl shell` as words: blanks part them, quotes and backslashes
 * keep blanks in, as in a shell; nothing is expanded. Pure.
 */
#ifndef LOCKCTL_SHELL_WORDS_H
#define LOCKCTL_SHELL_WORDS_H

#include <stddef.h>

#include "base/err.h"

enum { SHELL_WORDS_MAX = 64 };

struct shell_words {
    size_t count;
    char *words[SHELL_WORDS_MAX + 1]; /* ended by NULL, within `text` */
    char *text;
};

/*
 * Split the first `size` bytes of `line`. Errors: USAGE (a quote without its
 * end, too many words), NOMEM. Clear it in any case.
 */
enum hf_err shell_words_split(struct shell_words *words, const char *line,
                              size_t size, struct hf_error *error);
void shell_words_clear(struct shell_words *words);

#endif
