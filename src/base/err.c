/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

struct row {
    const char *word;
    int status;
    const char *text;
};

static const struct row rows[HF_ERR_COUNT] = {
#define HF_ERR(name, word, status, text) [HF_ERR_##name] = {word, status, text},
#include "base/err.def"
#undef HF_ERR
};

static const struct row *row_of(enum hf_err code)
{
    hf_assert((unsigned int)code < HF_ERR_COUNT);
    return &rows[code];
}

int hf_err_status(enum hf_err code)
{
    return row_of(code)->status;
}

const char *hf_err_name(enum hf_err code)
{
    return row_of(code)->word;
}

const char *hf_err_text(enum hf_err code)
{
    return row_of(code)->text;
}

/*
 * Copy `from` to the sentence, made safe to print. `from` may be cut in the
 * middle of a character (`was_cut`): that last one is then left out.
 */
static void put_safely(struct hf_error *error, const char *from, bool was_cut)
{
    size_t size = strlen(from);
    size_t used = 0;

    for (size_t at = 0; at < size;) {
        uint32_t code;
        size_t length = hf_utf8_read(from + at, size - at, &code);

        if (length == 0 && was_cut && size - at < 4)
            break;
        if (length == 0 || hf_utf8_is_unsafe(code)) {
            error->text[used++] = '?';
            at += length > 0 ? length : 1;
            continue;
        }
        memcpy(error->text + used, from + at, length);
        used += length;
        at += length;
    }
    error->text[used] = '\0';
}

/* `tail` may be NULL. */
static void fill(struct hf_error *error, enum hf_err code, const char *tail,
                 const char *format, va_list args)
{
    char text[HF_ERROR_TEXT_MAX];
    int length = vsnprintf(text, sizeof(text), format, args);
    bool was_cut = length < 0 || (size_t)length >= sizeof(text);

    if (length < 0)
        text[0] = '\0';
    if (tail && !was_cut) {
        size_t room = sizeof(text) - (size_t)length;

        length = snprintf(text + length, room, ": %s", tail);
        was_cut = length < 0 || (size_t)length >= room;
    }
    error->code = code;
    put_safely(error, text, was_cut);
}

enum hf_err hf_error_set(struct hf_error *error, enum hf_err code,
                         const char *format, ...)
{
    va_list args;

    if (!error)
        return code;
    va_start(args, format);
    fill(error, code, NULL, format, args);
    va_end(args);
    return code;
}

enum hf_err hf_error_set_errno(struct hf_error *error, enum hf_err code,
                               int errnum, const char *format, ...)
{
    va_list args;

    if (!error)
        return code;
    va_start(args, format);
    fill(error, code, strerror(errnum), format, args);
    va_end(args);
    return code;
}

enum hf_err hf_error_wrap(struct hf_error *error, const char *format, ...)
{
    struct hf_error inner;
    va_list args;

    hf_assert(error != NULL);
    inner = *error;
    va_start(args, format);
    fill(error, inner.code, inner.text, format, args);
    va_end(args);
    return error->code;
}

void hf_assert_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: impossible: not (%s)\n", file, line, condition);
    abort();
}
