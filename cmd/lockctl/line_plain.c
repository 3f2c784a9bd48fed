/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/lockctl/line.h"

char *line_plain(const char *prompt)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t got;

    (void)fputs(prompt, stdout);
    (void)fflush(stdout);
    got = getline(&line, &size, stdin);
    if (got < 0) {
        /* A signal that was handled is no end of input. */
        clearerr(stdin);
        free(line);
        return NULL;
    }
    if (got > 0 && line[got - 1] == '\n')
        line[got - 1] = '\0';
    return line;
}
