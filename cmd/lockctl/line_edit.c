/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line editor: GNU readline, or libedit by the same names. It knows no
 * argument for its callbacks, so what they need is kept in this file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/lockctl/line.h"

#ifdef HF_LIBEDIT
#include <editline/readline.h>
#else
#include <readline/history.h>
#include <readline/readline.h>
#endif

enum { LIST_LIMIT = 1 << 20 };

static line_offer_fn *offer_of;
static void *offer_with;
static struct hf_buf offered;
static const char *next_offer;

/* The next of what was offered, the library's to free. */
static char *next(const char *text, int state)
{
    size_t size;
    char *word;

    (void)text;
    if (state == 0)
        next_offer = offered.data;
    if (!next_offer || !*next_offer)
        return NULL;
    size = strcspn(next_offer, "\n");
    word = strndup(next_offer, size);
    next_offer += size + (next_offer[size] == '\n');
    return word;
}

static char **complete(const char *text, int start, int end)
{
    bool is_known;
    char **found = NULL;

    (void)end;
    hf_buf_init(&offered, LIST_LIMIT);
    is_known =
        offer_of(offer_with, rl_line_buffer, (size_t)start, text, &offered);
    rl_attempted_completion_over = is_known;
    rl_completion_append_character = ' ';
    if (is_known && !offered.failed)
        found = rl_completion_matches(text, next);
    /* "--name=" waits for more. */
    if (found && found[0] && found[0][0] &&
        found[0][strlen(found[0]) - 1] == '=')
        rl_completion_append_character = '\0';
    hf_buf_clear(&offered);
    return found;
}

#ifndef HF_LIBEDIT
/* ^C: leave this line, begin another. */
static int drop_line(void)
{
    (void)rl_crlf();
    (void)rl_on_new_line();
    rl_replace_line("", 0);
    rl_redisplay();
    return 0;
}
#endif

bool line_begin(line_offer_fn *offer, void *with)
{
    static char breaks[] = " \t\n";

    offer_of = offer;
    offer_with = with;
    rl_readline_name = "lockctl";
    rl_attempted_completion_function = complete;
    rl_basic_word_break_characters = breaks;
    rl_completer_word_break_characters = breaks;
#ifndef HF_LIBEDIT
    rl_signal_event_hook = drop_line;
#endif
    using_history();
    return true;
}

char *line_read(const char *prompt)
{
    return readline(prompt);
}

void line_remember(const char *line)
{
    (void)add_history(line);
}
