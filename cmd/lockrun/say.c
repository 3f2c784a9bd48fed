/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "cmd/lockrun/event.h"
#include "cmd/lockrun/put.h"

/* Below PIPE_BUF, so that a pipe takes a line whole or not at all. */
enum { LINE_MAX_BYTES = 2048 };

static void put_text(const char *text)
{
    static const char name[] = "lockrun: ";
    char line[LINE_MAX_BYTES + sizeof(name)];
    size_t size;

    memcpy(line, name, sizeof(name) - 1);
    hf_escape_cut(line + sizeof(name) - 1, LINE_MAX_BYTES, text, strlen(text));
    size = strlen(line);
    line[size] = '\n';
    /* What could not be taken is lost: see the header. */
    (void)put_line(STDERR_FILENO, line, size + 1);
}

static void __attribute__((format(printf, 2, 0)))
say_line(const struct say *say, const char *format, va_list args)
{
    char text[LINE_MAX_BYTES];
    struct event event;

    if (vsnprintf(text, sizeof(text), format, args) < 0)
        return;
    if (event_begin(&event, say->events, EVENT_MESSAGE)) {
        hf_json_text(&event.json, "text", text);
        event_end(&event);
    }
    if (!say->events || !say->events->are_instead)
        put_text(text);
}

void say(const struct say *say, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_line(say, format, args);
    va_end(args);
}

void say_step(const struct say *say, const char *format, ...)
{
    va_list args;

    if (!say->verbose)
        return;
    va_start(args, format);
    say_line(say, format, args);
    va_end(args);
}
