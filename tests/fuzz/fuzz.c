/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void fuzz_broken(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, condition);
    abort();
}

bool fuzz_is_told(const struct hf_error *error, enum hf_err code)
{
    size_t size = strnlen(error->text, sizeof(error->text));
    size_t at = 0;

    if (error->code != code || size == 0 || size == sizeof(error->text))
        return false;
    while (at < size) {
        uint32_t character;
        size_t length = hf_utf8_read(error->text + at, size - at, &character);

        if (length == 0 || hf_utf8_is_unsafe(character))
            return false;
        at += length;
    }
    return true;
}

uint8_t fuzz_byte(struct fuzz_input *input)
{
    if (input->size == 0)
        return 0;
    input->size--;
    return *input->data++;
}

void fuzz_fill(struct fuzz_input *input, void *to, size_t size)
{
    size_t there = size < input->size ? size : input->size;

    memset(to, 0, size);
    if (there > 0)
        memcpy(to, input->data, there);
    input->data += there;
    input->size -= there;
}

char *fuzz_text(struct fuzz_input *input, size_t size)
{
    size_t there = size < input->size ? size : input->size;
    size_t length = there ? strnlen((const char *)input->data, there) : 0;
    char *text = malloc(length + 1);

    if (!text)
        exit(71);
    if (length > 0)
        memcpy(text, input->data, length);
    text[length] = '\0';
    input->data += there;
    input->size -= there;
    return text;
}
