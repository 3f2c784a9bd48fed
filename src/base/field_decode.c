/* SPDX-License-Identifier: Apache-2.0 */
/* The reading half of base/field.h: the only file that uses the JSON parser. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/field.h"

/* ---- one member -------------------------------------------------------- */

static enum hf_err wrong(const struct hf_field *field, struct hf_error *error,
                         const char *what)
{
    return hf_error_set(error, HF_ERR_USAGE, "\"%s\": %s", field->name, what);
}

static enum hf_err read_text(const struct hf_field *field, const json_t *json,
                             char *to, struct hf_error *error)
{
    size_t size = json_string_length(json);

    if (!json_is_string(json))
        return wrong(field, error, "must be a string");
    if (size >= field->size)
        return hf_error_set(error, HF_ERR_USAGE,
                            "\"%s\": %zu bytes are too long, at most %zu fit",
                            field->name, size, field->size - 1);
    memcpy(to, json_string_value(json), size);
    return HF_ERR_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static enum hf_err read_hex(const struct hf_field *field, const json_t *json,
                            uint8_t *to, struct hf_error *error)
{
    const char *text = json_string_value(json);
    bool is_hex = text && json_string_length(json) == 2 * field->size;

    for (size_t i = 0; is_hex && i < field->size; i++) {
        int high = hex_digit(text[2 * i]);
        int low = hex_digit(text[2 * i + 1]);

        is_hex = high >= 0 && low >= 0;
        if (is_hex)
            to[i] = (uint8_t)(high << 4 | low);
    }
    if (!is_hex)
        return hf_error_set(error, HF_ERR_USAGE,
                            "\"%s\": must be %zu lower-case hex digits",
                            field->name, 2 * field->size);
    return HF_ERR_OK;
}

static enum hf_err read_number(const struct hf_field *field, const json_t *json,
                               uint8_t *to, struct hf_error *error)
{
    int64_t number = json_integer_value(json);
    uint32_t number32 = (uint32_t)number;

    if (!json_is_integer(json))
        return wrong(field, error, "must be a whole number");
    if (field->kind != HF_FIELD_I64 && number < 0)
        return wrong(field, error, "must not be negative");
    if (field->kind != HF_FIELD_U32) {
        memcpy(to, &number, sizeof(number));
        return HF_ERR_OK;
    }
    if (number > UINT32_MAX)
        return wrong(field, error, "is larger than 4294967295");
    memcpy(to, &number32, sizeof(number32));
    return HF_ERR_OK;
}

/* One spelling of each number only: no sign, no leading zero. */
static enum hf_err read_decimal(const struct hf_field *field,
                                const json_t *json, uint8_t *to,
                                struct hf_error *error)
{
    const char *text = json_string_value(json);
    uint64_t number = 0;
    size_t size = json_string_length(json);
    bool is_right = text && size > 0 && (size == 1 || text[0] != '0');

    for (size_t i = 0; is_right && i < size; i++) {
        uint64_t digit = (uint64_t)text[i] - '0';

        is_right = digit <= 9 && !__builtin_mul_overflow(number, 10, &number) &&
                   !__builtin_add_overflow(number, digit, &number);
    }
    if (!is_right)
        return wrong(field, error,
                     "must be a string of decimal digits, at most "
                     "\"18446744073709551615\"");
    memcpy(to, &number, sizeof(number));
    return HF_ERR_OK;
}

static enum hf_err read_enum(const struct hf_field *field, const json_t *json,
                             uint8_t *to, struct hf_error *error)
{
    const char *text = json_string_value(json);

    if (!text)
        return wrong(field, error, "must be a string");
    for (int i = 0; field->names[i]; i++) {
        if (strcmp(field->names[i], text) == 0) {
            memcpy(to, &i, sizeof(i));
            return HF_ERR_OK;
        }
    }
    return hf_error_set(error, HF_ERR_USAGE,
                        "\"%s\": \"%.64s\" is none of its words", field->name,
                        text);
}

static enum hf_err read_member(const struct hf_field *field, const json_t *json,
                               uint8_t *to, struct hf_error *error)
{
    bool is_true = json_is_true(json);

    switch (field->kind) {
    case HF_FIELD_TEXT:
        return read_text(field, json, (char *)to, error);
    case HF_FIELD_HEX:
        return read_hex(field, json, to, error);
    case HF_FIELD_U32:
    case HF_FIELD_U64:
    case HF_FIELD_I64:
        return read_number(field, json, to, error);
    case HF_FIELD_BOOL:
        if (!json_is_boolean(json))
            return wrong(field, error, "must be true or false");
        memcpy(to, &is_true, sizeof(is_true));
        return HF_ERR_OK;
    case HF_FIELD_ENUM:
        return read_enum(field, json, to, error);
    case HF_FIELD_DECIMAL:
        return read_decimal(field, json, to, error);
    }
    return HF_ERR_INTERNAL;
}

/* ---- the object -------------------------------------------------------- */

static void zero(const struct hf_field *fields, uint8_t *record)
{
    for (const struct hf_field *field = fields; field->name; field++)
        memset(record + field->offset, 0, field->size);
}

static const struct hf_field *find(const struct hf_field *fields,
                                   const char *name)
{
    for (const struct hf_field *field = fields; field->name; field++) {
        if (strcmp(field->name, name) == 0)
            return field;
    }
    return NULL;
}

/* Nothing that nests deeper than `HF_FIELD_DEPTH_MAX` reaches the parser, which
 * calls itself for each level. */
static bool is_too_deep(const char *text, size_t size)
{
    unsigned int depth = 0;
    bool in_string = false;

    for (size_t i = 0; i < size; i++) {
        char c = text[i];

        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']') && depth > 0)
            depth--;
        if (depth > HF_FIELD_DEPTH_MAX)
            return true;
    }
    return false;
}

/*
 * The parser's hash tables want a number that nobody can foretell, and would
 * open /dev/urandom for it; the kernel gives each process 16 random bytes at
 * its start. Folded, so that what else is made of them stays unknown. Only the
 * first seed counts; of 0 it draws one itself.
 */
static void seed_parser(void)
{
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    uint32_t words[4] = {0};

    if (random)
        memcpy(words, random, sizeof(words));
    json_object_seed(words[0] ^ words[1] ^ words[2] ^ words[3]);
}

/*
 * Of an allocation that fails the parser says anything: that memory ran out,
 * that the text is wrong, or nothing, and a string or a number lacks a
 * character (jansson 2.14). So it is noted here. There is one thread.
 */
static bool memory_ran_out;

static void *note_malloc(size_t size)
{
    void *memory = malloc(size);

    if (!memory)
        memory_ran_out = true;
    return memory;
}

static enum hf_err parse(const char *text, size_t size, json_t **root,
                         struct hf_error *error)
{
    json_error_t why = {.text = ""};

    seed_parser();
    json_set_alloc_funcs(note_malloc, free);
    if (size > HF_FIELD_BYTES_MAX)
        return hf_error_set(error, HF_ERR_USAGE,
                            "%zu bytes are too long for one object, at most %d "
                            "are read",
                            size, HF_FIELD_BYTES_MAX);
    if (is_too_deep(text, size))
        return hf_error_set(error, HF_ERR_USAGE,
                            "objects within objects deeper than %d",
                            HF_FIELD_DEPTH_MAX);
    memory_ran_out = false;
    *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    if (memory_ran_out) {
        json_decref(*root);
        return hf_error_set(error, HF_ERR_NOMEM, "memory ran out");
    }
    if (!*root)
        return hf_error_set(error, HF_ERR_USAGE, "at byte %d: %s", why.position,
                            why.text);
    if (!json_is_object(*root)) {
        json_decref(*root);
        return hf_error_set(error, HF_ERR_USAGE, "must be one JSON object");
    }
    return HF_ERR_OK;
}

static enum hf_err read_object(const struct hf_field *fields, json_t *root,
                               uint8_t *record, struct hf_error *error)
{
    const char *name;
    json_t *value;

    json_object_foreach(root, name, value)
    {
        const struct hf_field *field = find(fields, name);
        enum hf_err err;

        if (!field)
            return hf_error_set(error, HF_ERR_USAGE,
                                "\"%.64s\": no such member", name);
        err = read_member(field, value, record + field->offset, error);
        if (err)
            return err;
    }
    for (const struct hf_field *field = fields; field->name; field++) {
        if (field->need == HF_FIELD_ALWAYS &&
            !json_object_get(root, field->name))
            return wrong(field, error, "is missing");
    }
    return HF_ERR_OK;
}

enum hf_err hf_field_decode(const struct hf_field *fields, const char *text,
                            size_t size, void *record, struct hf_error *error)
{
    json_t *root;
    enum hf_err err;

    for (const struct hf_field *field = fields; field->name; field++)
        hf_assert(hf_field_is_sound(field));
    zero(fields, record);
    err = parse(text, size, &root, error);
    if (err)
        return err;
    err = read_object(fields, root, record, error);
    json_decref(root);
    if (err)
        zero(fields, record);
    return err;
}
