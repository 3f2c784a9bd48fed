/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lockrun tells people: lines on standard error, one call a line. Never
 * waits for a reader and never dies of one that is gone, for timers run while
 * it speaks: a line that cannot be taken at once is dropped. Not a log.
 */
#ifndef LOCKRUN_SAY_H
#define LOCKRUN_SAY_H

#include <stdbool.h>

struct events;

struct say {
    bool verbose;
    struct events *events; /* --json (event.h); NULL: nobody wants them */
};

/* "lockrun: TEXT" and a line end; control characters come out escaped. */
void say(const struct say *say, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, with --verbose only: a step that was taken. */
void say_step(const struct say *say, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
