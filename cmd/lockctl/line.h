/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line from a person: with editing, completion and the lines before, where
 * a library for that was chosen when Holdfast was configured (line_edit.c), or
 * as it comes (line_none.c). For `lockctl shell`.
 */
#ifndef LOCKCTL_LINE_H
#define LOCKCTL_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * What may be offered for `text`, which stands behind the first `size` bytes of
 * `line`: append it to `to`, a line each. False: names of files.
 */
typedef bool line_offer_fn(void *with, const char *line, size_t size,
                           const char *text, struct hf_buf *to);

/* Before the first line. False: lines are not remembered. */
bool line_begin(line_offer_fn *offer, void *with);
/* The caller's to free; NULL: the end. */
char *line_read(const char *prompt);
/* Offer it as a line before. */
void line_remember(const char *line);

/* A line of standard input as it comes; NULL: the end. */
char *line_plain(const char *prompt);

#endif
