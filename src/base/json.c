/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Append the escape of one character of up to four hex digits. */
static void add_escape(struct hf_buf *to, uint32_t code)
{
    static const char hex[] = "0123456789abcdef";
    char escape[6] = {'\\',
                      'u',
                      hex[code >> 12 & 15],
                      hex[code >> 8 & 15],
                      hex[code >> 4 & 15],
                      hex[code & 15]};

    hf_buf_add(to, escape, sizeof(escape));
}

enum hf_err hf_json_add_string(struct hf_buf *to, const char *text, size_t size)
{
    size_t plain = 0; /* where the run not yet appended begins */
    size_t at = 0;

    hf_buf_add(to, "\"", 1);
    while (at < size) {
        uint32_t code;
        size_t length = hf_utf8_read(text + at, size - at, &code);
        bool is_quoted = length == 1 && (code == '"' || code == '\\');

        if (length > 0 && !is_quoted && !hf_utf8_is_unsafe(code)) {
            at += length;
            continue;
        }
        hf_buf_add(to, text + plain, at - plain);
        if (length == 0) {
            code = (uint8_t)text[at];
            length = 1;
        }
        if (is_quoted) {
            hf_buf_add(to, "\\", 1);
            hf_buf_add(to, text + at, 1);
        } else if (code == '\n') {
            hf_buf_add(to, "\\n", 2);
        } else if (code == '\t') {
            hf_buf_add(to, "\\t", 2);
        } else {
            /* All unsafe characters lie below U+10000. */
            add_escape(to, code);
        }
        at += length;
        plain = at;
    }
    hf_buf_add(to, text + plain, at - plain);
    return hf_buf_add(to, "\"", 1);
}

enum hf_err hf_json_add_u64(struct hf_buf *to, uint64_t number)
{
    char digits[20];
    size_t first = sizeof(digits);

    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return hf_buf_add(to, digits + first, sizeof(digits) - first);
}

enum hf_err hf_json_add_i64(struct hf_buf *to, int64_t number)
{
    if (number >= 0)
        return hf_json_add_u64(to, (uint64_t)number);
    hf_buf_add(to, "-", 1);
    return hf_json_add_u64(to, -(uint64_t)number);
}

/* ---- document ---------------------------------------------------------- */

void hf_json_begin(struct hf_json *json, struct hf_buf *to)
{
    /* The document itself is like the one value of an array. */
    *json = (struct hf_json){.to = to, .is_array = {true}};
}

enum hf_err hf_json_end(struct hf_json *json)
{
    hf_assert(json->depth == 0 && json->has_value[0]);
    return json->to->failed;
}

struct hf_buf *hf_json_value(struct hf_json *json, const char *name)
{
    unsigned int depth = json->depth;

    hf_assert(json->is_array[depth] == (name == NULL));
    hf_assert(depth > 0 || !json->has_value[0]);
    if (json->has_value[depth])
        hf_buf_add(json->to, ",", 1);
    json->has_value[depth] = true;
    if (name) {
        hf_json_add_string(json->to, name, strlen(name));
        hf_buf_add(json->to, ":", 1);
    }
    return json->to;
}

static void open_nest(struct hf_json *json, const char *name, bool is_array)
{
    hf_buf_add(hf_json_value(json, name), is_array ? "[" : "{", 1);
    hf_assert(json->depth < HF_JSON_DEPTH_MAX);
    json->depth++;
    json->is_array[json->depth] = is_array;
    json->has_value[json->depth] = false;
}

static void close_nest(struct hf_json *json, bool is_array)
{
    hf_assert(json->depth > 0 && json->is_array[json->depth] == is_array);
    json->depth--;
    hf_buf_add(json->to, is_array ? "]" : "}", 1);
}

void hf_json_object(struct hf_json *json, const char *name)
{
    open_nest(json, name, false);
}

void hf_json_object_end(struct hf_json *json)
{
    close_nest(json, false);
}

void hf_json_array(struct hf_json *json, const char *name)
{
    open_nest(json, name, true);
}

void hf_json_array_end(struct hf_json *json)
{
    close_nest(json, true);
}

void hf_json_text(struct hf_json *json, const char *name, const char *text)
{
    hf_json_add_string(hf_json_value(json, name), text, strlen(text));
}

void hf_json_i64(struct hf_json *json, const char *name, int64_t number)
{
    hf_json_add_i64(hf_json_value(json, name), number);
}

void hf_json_u64(struct hf_json *json, const char *name, uint64_t number)
{
    hf_json_add_u64(hf_json_value(json, name), number);
}

void hf_json_decimal(struct hf_json *json, const char *name, uint64_t number)
{
    struct hf_buf *to = hf_json_value(json, name);

    hf_buf_add(to, "\"", 1);
    hf_json_add_u64(to, number);
    hf_buf_add(to, "\"", 1);
}

void hf_json_bool(struct hf_json *json, const char *name, bool value)
{
    hf_buf_add_str(hf_json_value(json, name), value ? "true" : "false");
}

void hf_json_null(struct hf_json *json, const char *name)
{
    hf_buf_add_str(hf_json_value(json, name), "null");
}
