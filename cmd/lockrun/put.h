/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a line where others may write and read too, without ever waiting for a
 * reader and without dying of one that is gone.
 */
#ifndef LOCKRUN_PUT_H
#define LOCKRUN_PUT_H

#include <stdbool.h>
#include <stddef.h>

/* A pipe takes a line of up to PIPE_BUF bytes whole or not at all. False: it
 * was not taken whole. */
bool put_line(int fd, const char *line, size_t size);

#endif
