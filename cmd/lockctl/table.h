/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table for a terminal: columns as wide as their widest cell, and where the
 * terminal is narrower, without those that are missed least. Cells are escaped.
 * Not for programs (--json). For lockctl's commands.
 */
#ifndef LOCKCTL_TABLE_H
#define LOCKCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { TABLE_COLUMNS_MAX = 16, TABLE_ROWS_MAX = 4096 };

struct table_column {
    const char *title; /* NULL ends a list of columns */
    bool is_right;
    /* 0: always shown. Else the higher goes first where it is too wide. */
    int drop;
};

struct table {
    const struct table_column *columns;
    size_t column_count;
    size_t cell_count;
    size_t capacity;
    char **cells; /* row after row */
    bool failed;  /* no memory, or too many rows */
};

void table_init(struct table *table, const struct table_column *columns);
void table_clear(struct table *table);
/* The next cell of the present row; the text is copied, escaped. */
void table_add(struct table *table, const char *text);
/*
 * Append the table. `width` 0: no limit. What cannot be made to fit stays too
 * wide: keys and tokens are copied from here, so they are never cut. Errors:
 * NOMEM, USAGE.
 */
enum hf_err table_print(struct table *table, size_t width, bool is_bold,
                        struct hf_buf *to);

/* Characters of a text, as a terminal counts most of them. */
size_t text_width(const char *text);
/* Of the terminal behind standard output; COLUMNS says it too; 0: none. */
size_t terminal_width(void);
/* May escape sequences be written? Not with NO_COLOR, TERM=dumb, or where
 * standard output is no terminal. */
bool terminal_is_styled(void);

#endif
