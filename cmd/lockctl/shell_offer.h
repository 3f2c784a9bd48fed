/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the prompt of `lockctl shell` offers behind the words that stand there:
 * commands and options from the tool's table. Keys, classes and files are not
 * known here: it says that they are due. Pure.
 */
#ifndef LOCKCTL_SHELL_OFFER_H
#define LOCKCTL_SHELL_OFFER_H

#include "base/buf.h"
#include "base/opts.h"
#include "cmd/lockctl/shell_words.h"

struct shell_offer {
    struct hf_buf list; /* what is offered, a line each */
    /* What else is due: keys, classes or files that begin with `rest`, which is
     * the end of the text; before each of them goes `before`. */
    enum hf_opt_offer due;
    const char *rest;
    size_t before; /* so many bytes of the text */
};

/* `words` stand before `text`, which is being typed. Clear the list. */
void shell_offer_find(const struct hf_tool *tool,
                      const struct shell_words *words, const char *text,
                      struct shell_offer *offer);

/* The shell's own commands, ended by NULL: help, exit, quit. */
extern const char *const shell_commands[];

#endif
