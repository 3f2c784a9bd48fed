/* SPDX-License-Identifier: Apache-2.0 */
/* The writing half. The reading half, and with it the parser, is
 * field_decode.c: who only writes does not link it. */
#include "base/field.h"

#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

static bool size_is_right(const struct hf_field *field)
{
    switch (field->kind) {
    case HF_FIELD_TEXT:
    case HF_FIELD_HEX:
        return field->size > 0 && field->size <= HF_FIELD_BYTES_MAX;
    case HF_FIELD_U32:
        return field->size == sizeof(uint32_t);
    case HF_FIELD_U64:
    case HF_FIELD_DECIMAL:
        return field->size == sizeof(uint64_t);
    case HF_FIELD_I64:
        return field->size == sizeof(int64_t);
    case HF_FIELD_BOOL:
        return field->size == sizeof(bool);
    case HF_FIELD_ENUM:
        return field->size == sizeof(int) && field->names && field->names[0];
    }
    return false;
}

bool hf_field_is_sound(const struct hf_field *field)
{
    for (const char *c = field->name; *c; c++) {
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
            return false;
    }
    return size_is_right(field);
}

static bool is_empty(const struct hf_field *field, const uint8_t *at)
{
    /* Whatever lies behind the end of a text does not count. */
    size_t size = field->kind == HF_FIELD_TEXT ? 1 : field->size;

    for (size_t i = 0; i < size; i++) {
        if (at[i])
            return false;
    }
    return true;
}

static enum hf_err add_hex(struct hf_buf *to, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "0123456789abcdef";

    hf_buf_add(to, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};

        hf_buf_add(to, pair, 2);
    }
    return hf_buf_add(to, "\"", 1);
}

static enum hf_err add_enum(struct hf_buf *to, const char *const *names,
                            int value)
{
    int i = 0;

    while (i < value && names[i])
        i++;
    if (i != value || !names[i])
        return HF_ERR_INTERNAL;
    return hf_json_add_string(to, names[i], strlen(names[i]));
}

static enum hf_err add_decimal(struct hf_buf *to, uint64_t number)
{
    hf_buf_add(to, "\"", 1);
    hf_json_add_u64(to, number);
    return hf_buf_add(to, "\"", 1);
}

/*
 * How much of a text is written: what is read back is longer where bytes were
 * no UTF-8, and it must fit as well. Cut between characters.
 */
static size_t that_fits(const char *text, size_t size, size_t room)
{
    size_t at = 0;

    while (at < size) {
        uint32_t code;
        size_t length = hf_utf8_read(text + at, size - at, &code);
        size_t read_back = length ? length : 2; /* U+0080 to U+00FF */

        if (read_back > room)
            break;
        room -= read_back;
        at += length ? length : 1;
    }
    return at;
}

/* `at` is the member; members are copied, so that no alignment is assumed. */
static enum hf_err add_value(const struct hf_field *field, const uint8_t *at,
                             struct hf_buf *to)
{
    union {
        uint32_t u32;
        uint64_t u64;
        int64_t i64;
        bool is_true;
        int number;
    } value;
    size_t size = field->size;

    if (size <= sizeof(value))
        memcpy(&value, at, size);
    switch (field->kind) {
    case HF_FIELD_TEXT:
        size = strnlen((const char *)at, field->size);
        if (size == field->size)
            return HF_ERR_INTERNAL;
        size = that_fits((const char *)at, size, field->size - 1);
        return hf_json_add_string(to, (const char *)at, size);
    case HF_FIELD_HEX:
        return add_hex(to, at, size);
    case HF_FIELD_U32:
        return hf_json_add_u64(to, value.u32);
    case HF_FIELD_U64:
        if (value.u64 > INT64_MAX)
            return HF_ERR_INTERNAL;
        return hf_json_add_u64(to, value.u64);
    case HF_FIELD_I64:
        return hf_json_add_i64(to, value.i64);
    case HF_FIELD_BOOL:
        return hf_buf_add_str(to, value.is_true ? "true" : "false");
    case HF_FIELD_ENUM:
        return add_enum(to, field->names, value.number);
    case HF_FIELD_DECIMAL:
        return add_decimal(to, value.u64);
    }
    return HF_ERR_INTERNAL;
}

enum hf_err hf_field_encode(const struct hf_field *fields, const void *record,
                            struct hf_buf *to)
{
    const char *before = "{\"";

    for (const struct hf_field *field = fields; field->name; field++) {
        const uint8_t *at = (const uint8_t *)record + field->offset;
        enum hf_err err;

        hf_assert(hf_field_is_sound(field));
        if (field->need == HF_FIELD_OPTIONAL && is_empty(field, at))
            continue;
        hf_buf_add_str(to, before);
        hf_buf_add_str(to, field->name);
        hf_buf_add_str(to, "\":");
        err = add_value(field, at, to);
        if (err)
            return err;
        before = ",\"";
    }
    return hf_buf_add_str(to, before[0] == '{' ? "{}" : "}");
}
