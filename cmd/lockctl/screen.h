/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole terminal as one picture: its own screen, keys as they are struck,
 * and the terminal as it was again on every exit, a signal's too. Not a library
 * of windows. For `lockctl top`.
 */
#ifndef LOCKCTL_SCREEN_H
#define LOCKCTL_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/buf.h"

struct screen {
    struct termios former;
    sigset_t former_signals;
    int signal_fd;
    bool is_taken;
    size_t rows;
    size_t columns;
};

enum screen_event {
    SCREEN_NOTHING, /* the time is over, or the size has changed: draw */
    SCREEN_QUIT,    /* q, the end of input */
    SCREEN_SORT,
    SCREEN_UP,
    SCREEN_DOWN,
    SCREEN_SIGNAL /* one that ends us came: screen_clear, screen_die */
};

/* Take the terminal of standard input and output. Errors: USAGE (there is none,
 * or it can show no picture), UNAVAILABLE. */
enum hf_err screen_init(struct screen *screen, struct hf_error *error);
/* Give it back as it was. */
void screen_clear(struct screen *screen);

/* The rows of `picture`, cut to the terminal's; a terminal that takes nothing
 * now (^S) is passed over. */
void screen_draw(struct screen *screen, const struct hf_buf *picture);
/* Wait for a key, a signal or the end of `limit_ms`. *signal: of SIGNAL. */
enum screen_event screen_wait(struct screen *screen, int limit_ms, int *signal);
/* End as that signal ends a program. */
void screen_die(int signal);

#endif
