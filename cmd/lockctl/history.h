/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of lines typed at the prompt of `lockctl shell`, for its owner
 * alone. Without a home, or where the place is somebody else's, there is none.
 */
#ifndef LOCKCTL_HISTORY_H
#define LOCKCTL_HISTORY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

enum { HISTORY_LINES_MAX = 1000 };

struct history {
    FILE *file; /* NULL: none is kept */
    char path[4096];
    size_t lines;
};

/*
 * Open it, making folder and file (0700, 0600). Errors: UNAVAILABLE with the
 * reason why none is kept (no HOME is no error); DENIED, where others could
 * read or have made it. `history` can be used all the same.
 */
enum hf_err history_open(struct history *history, struct hf_error *error);
/* The next line as it was kept, without its end; false: that was all. The text
 * is good until the next call; *buffer is the caller's to free. */
bool history_next(struct history *history, char **buffer, size_t *size);
/* Keep a line, and forget the oldest if there are too many. */
void history_add(struct history *history, const char *line);
void history_close(struct history *history);

#endif
