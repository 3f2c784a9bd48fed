/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Large enough for most sentences and small objects to be one allocation. */
enum { FIRST_CAPACITY = 128 };

void hf_buf_init(struct hf_buf *buf, size_t limit)
{
    hf_assert(limit < SIZE_MAX / 2);
    *buf = (struct hf_buf){.limit = limit};
}

void hf_buf_clear(struct hf_buf *buf)
{
    free(buf->data);
    hf_buf_init(buf, buf->limit);
}

void hf_buf_reset(struct hf_buf *buf)
{
    buf->size = 0;
    buf->failed = HF_ERR_OK;
    if (buf->data)
        buf->data[0] = '\0';
}

/* Make room for `more` bytes and the NUL behind them. */
static enum hf_err reserve(struct hf_buf *buf, size_t more)
{
    size_t capacity = buf->capacity;
    size_t wanted;
    char *data;

    if (buf->failed)
        return buf->failed;
    if (more > buf->limit - buf->size)
        return buf->failed = HF_ERR_USAGE;
    wanted = buf->size + more + 1;
    if (wanted <= capacity)
        return HF_ERR_OK;
    if (capacity == 0)
        capacity = FIRST_CAPACITY;
    while (capacity < wanted)
        capacity *= 2;
    if (capacity > buf->limit + 1)
        capacity = buf->limit + 1;
    data = realloc(buf->data, capacity);
    if (!data)
        return buf->failed = HF_ERR_NOMEM;
    buf->data = data;
    buf->capacity = capacity;
    return HF_ERR_OK;
}

enum hf_err hf_buf_add(struct hf_buf *buf, const void *data, size_t size)
{
    enum hf_err err = reserve(buf, size);

    if (err)
        return err;
    if (size > 0)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
    return HF_ERR_OK;
}

enum hf_err hf_buf_add_str(struct hf_buf *buf, const char *text)
{
    return hf_buf_add(buf, text, strlen(text));
}

enum hf_err hf_buf_vprintf(struct hf_buf *buf, const char *format, va_list args)
{
    va_list again;
    size_t room;
    int length;
    enum hf_err err;

    if (buf->failed)
        return buf->failed;
    va_copy(again, args);
    room = buf->capacity - buf->size;
    length =
        vsnprintf(buf->data ? buf->data + buf->size : NULL, room, format, args);
    if (length < 0) {
        err = buf->failed = HF_ERR_USAGE;
        goto out;
    }
    err = reserve(buf, (size_t)length);
    if (err)
        goto out;
    if ((size_t)length >= room)
        vsnprintf(buf->data + buf->size, (size_t)length + 1, format, again);
    buf->size += (size_t)length;
out:
    va_end(again);
    if (err && buf->data)
        buf->data[buf->size] = '\0';
    return err;
}

enum hf_err hf_buf_printf(struct hf_buf *buf, const char *format, ...)
{
    va_list args;
    enum hf_err err;

    va_start(args, format);
    err = hf_buf_vprintf(buf, format, args);
    va_end(args);
    return err;
}

char *hf_buf_take(struct hf_buf *buf)
{
    char *data = buf->data;

    if (buf->failed) {
        free(data);
        data = NULL;
    }
    hf_buf_init(buf, buf->limit);
    return data;
}
