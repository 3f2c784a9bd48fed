/* SPDX-License-Identifier: Apache-2.0 */
#include "base/escape.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* A character as it is shown: itself, or "\u202e", the longest escape. */
struct shown {
    char text[8];
    size_t size;
    size_t read; /* bytes that it stands for */
};

static struct shown show_next(const char *text, size_t size)
{
    struct shown shown;
    uint32_t code;

    shown.read = hf_utf8_read(text, size, &code);
    if (shown.read > 0 && !hf_utf8_is_unsafe(code) && code != '\\') {
        memcpy(shown.text, text, shown.read);
        shown.size = shown.read;
        return shown;
    }
    if (shown.read == 0) {
        /* A byte by itself: \x80 to \xff never stand for a character. */
        code = (uint8_t)text[0];
        shown.read = 1;
    } else if (code >= 0x80) {
        shown.size = (size_t)snprintf(shown.text, sizeof(shown.text), "\\u%04x",
                                      (unsigned int)(code & 0xFFFF));
        return shown;
    }
    if (code == '\\' || code == '\n' || code == '\t')
        shown.size = (size_t)snprintf(shown.text, sizeof(shown.text), "\\%c",
                                      code == '\n'   ? 'n'
                                      : code == '\t' ? 't'
                                                     : '\\');
    else
        shown.size = (size_t)snprintf(shown.text, sizeof(shown.text), "\\x%02x",
                                      (unsigned int)(code & 0xFF));
    return shown;
}

enum hf_err hf_escape_add(struct hf_buf *to, const char *text, size_t size)
{
    size_t at = 0;

    while (at < size) {
        struct shown shown = show_next(text + at, size - at);

        hf_buf_add(to, shown.text, shown.size);
        at += shown.read;
    }
    return hf_buf_add(to, "", 0);
}

const char *hf_escape_cut(char *to, size_t room, const char *text, size_t size)
{
    size_t used = 0;
    size_t cut_at = 0; /* the last place where "..." still fits */
    size_t at = 0;

    hf_assert(room >= 4);
    while (at < size) {
        struct shown shown = show_next(text + at, size - at);

        if (used + shown.size >= room) {
            memcpy(to + cut_at, "...", 4);
            return to;
        }
        memcpy(to + used, shown.text, shown.size);
        used += shown.size;
        at += shown.read;
        if (used + 4 <= room)
            cut_at = used;
    }
    to[used] = '\0';
    return to;
}
