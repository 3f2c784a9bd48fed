/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A class file of any bytes. Refused: with the file's name, and nothing was
 * touched. Taken: within all bounds, and what is printed of it reads back as
 * the same class.
 */
#include <string.h>

#include "service/class_file.h"
#include "tests/fuzz/fuzz.h"

#define FILE_NAME "any/nightly.yaml"

static void is_sound(const struct hf_class *class)
{
    must(strcmp(class->name, "nightly") == 0);
    must(class->ttl_min_ms >= HF_TTL_LEAST_MS);
    must(class->ttl_min_ms <= class->ttl_default_ms);
    must(class->ttl_default_ms <= class->ttl_max_ms);
    must(class->ttl_max_ms <= HF_TTL_MOST_MS);
    must(class->wait_default_ms >= 0);
    must(class->wait_default_ms <= class->wait_max_ms);
    must(class->wait_max_ms <= HF_WAIT_MOST_MS);
    must(class->hold_max_ms == 0 || class->hold_max_ms >= HF_TTL_LEAST_MS);
    must(class->hold_max_ms <= HF_WAIT_MOST_MS);
    must(memchr(class->key, '\0', sizeof(class->key)) != NULL);
    must(!hf_key_check_template(class->key, NULL));
}

/* All fields as a class file says them; those of a group stand together. */
static void write_file(const struct hf_class *class, struct hf_buf *to)
{
    const struct hf_class_field *field;
    const char *group = "";

    for (field = hf_class_fields; field->path; field++) {
        const char *leaf = strchr(field->path, '.');
        struct hf_buf value;

        if (field->kind == HF_CLASS_FIELD_LATER)
            continue;
        hf_buf_init(&value, 1024);
        must(!hf_class_field_print(field, class, &value));
        if (leaf && strncmp(group, field->path, (size_t)(leaf - field->path)))
            must(!hf_buf_printf(to, "%.*s:\n", (int)(leaf - field->path),
                                field->path));
        if (strcmp(value.data, "none") != 0)
            must(!hf_buf_printf(to, "%s%s: '%s'\n", leaf ? "  " : "",
                                leaf ? leaf + 1 : field->path, value.data));
        hf_buf_clear(&value);
        group = field->path;
    }
}

static void reads_back(const struct hf_class *class)
{
    struct hf_class again;
    struct hf_error error;
    struct hf_buf file;

    hf_buf_init(&file, 10000);
    write_file(class, &file);
    must(!hf_class_parse("nightly", FILE_NAME, file.data, file.size, &again,
                         &error));
    must(again.ttl_min_ms == class->ttl_min_ms);
    must(again.ttl_default_ms == class->ttl_default_ms);
    must(again.ttl_max_ms == class->ttl_max_ms);
    must(again.wait_default_ms == class->wait_default_ms);
    must(again.wait_max_ms == class->wait_max_ms);
    must(again.hold_max_ms == class->hold_max_ms);
    must(again.shared == class->shared);
    must(strcmp(again.key, class->key) == 0);
    hf_buf_clear(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hf_class untouched = {.name = "untouched"};
    struct hf_class class = untouched;
    struct hf_error error = {.code = HF_ERR_OK};
    enum hf_err err = hf_class_parse("nightly", FILE_NAME, (const char *)data,
                                     size, &class, &error);

    if (!err) {
        is_sound(&class);
        reads_back(&class);
        return 0;
    }
    must(err == HF_ERR_CONFIG && fuzz_is_told(&error, err));
    must(strncmp(error.text, FILE_NAME ":", sizeof(FILE_NAME)) == 0);
    must(memcmp(&class, &untouched, sizeof(class)) == 0);
    return 0;
}
