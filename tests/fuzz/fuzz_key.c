/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a key, as a template, and as what a template's words stand for.
 * A key is taken exactly when a second reading of the grammar takes it, and
 * never changed; what is made of a template is always a key.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/key.h"
#include "tests/fuzz/fuzz.h"

/* The grammar of core/key.h once more, in another way. */
static bool is_key(const char *text)
{
    static const char bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz"
                                "0123456789._@:+=%-";
    size_t segments = 0;
    const char *at = text;

    if (strlen(text) > HF_KEY_BYTES_MAX)
        return false;
    for (;;) {
        size_t size = strspn(at, bytes);

        if (size < 1 || size > HF_KEY_SEGMENT_MAX ||
            (size <= 2 && strspn(at, ".") == size))
            return false;
        segments++;
        at += size;
        if (*at == '\0')
            return segments >= 3;
        if (*at++ != '/')
            return false;
    }
}

static void check(const char *text)
{
    struct hf_error error = {.code = HF_ERR_OK};
    enum hf_err err = hf_key_check(text, &error);

    must(!err == is_key(text));
    must(!err || (err == HF_ERR_USAGE && fuzz_is_told(&error, err)));
    must(!err || strncmp(error.text, "key: ", 5) == 0);
    must(hf_key_check(text, NULL) == err);
}

static void complete(const char *text)
{
    char whole[HF_KEY_SIZE + sizeof(HF_KEY_DEFAULT_HOME)];
    struct hf_error error = {.code = HF_ERR_OK};
    char key[HF_KEY_SIZE] = "untouched";
    enum hf_err err = hf_key_complete(text, HF_KEY_DEFAULT_HOME, key, &error);

    snprintf(whole, sizeof(whole), "%s%.*s",
             strchr(text, '/') ? "" : HF_KEY_DEFAULT_HOME "/",
             HF_KEY_BYTES_MAX + 1, text);
    if (err) {
        must(err == HF_ERR_USAGE && fuzz_is_told(&error, err));
        must(strcmp(key, "untouched") == 0);
        must(!is_key(whole));
        return;
    }
    must(strcmp(key, whole) == 0);
    must(is_key(key));
}

/* Undo the encoding of a filled segment; false: it was cut. */
static bool decode(const char *from, size_t size, char *to)
{
    size_t used = 0;

    for (size_t i = 0; i < size; i++) {
        unsigned int byte = (unsigned char)from[i];

        if (byte == '%') {
            if (size - i < 3 || sscanf(from + i + 1, "%2X", &byte) != 1)
                return false;
            i += 2;
        }
        to[used++] = (char)byte;
    }
    to[used] = '\0';
    return true;
}

/* A word that fits is in the key so that it can be read out again: no two of
 * them make one key. */
static void fill(const char *word)
{
    const struct hf_key_words words = {.command_path = "/c", .user = word};
    size_t size = strlen(word);
    char back[HF_KEY_SIZE];
    char key[HF_KEY_SIZE];

    if (size == 0 || size > HF_KEY_SEGMENT_MAX / 3)
        return;
    must(!hf_key_expand("t/n/{user}", &words, key, NULL));
    must(is_key(key) && strncmp(key, "t/n/", 4) == 0);
    must(decode(key + 4, strlen(key + 4), back));
    must(strcmp(back, word) == 0);
}

static void expand(const char *template, const struct hf_key_words *words)
{
    struct hf_error error = {.code = HF_ERR_OK};
    char key[HF_KEY_SIZE] = "untouched";
    char again[HF_KEY_SIZE];
    enum hf_err err = hf_key_expand(template, words, key, &error);

    if (err) {
        must(err == HF_ERR_USAGE && fuzz_is_told(&error, err));
        must(strcmp(key, "untouched") == 0);
        return;
    }
    must(is_key(key));
    must(!hf_key_expand(template, words, again, NULL));
    must(strcmp(again, key) == 0);
}

/* Whatever path a command has, the template of the built-in class takes it. */
static void any_path_makes_a_key(const char *path)
{
    char hash[17];
    const struct hf_key_words words = {
        .command_path = path, .line_hash = hash, .user = "0", .host = path};
    char key[HF_KEY_SIZE];

    hf_key_hash(path, strlen(path), hash);
    must(!hf_key_expand("local/batch/{command path}", &words, key, NULL));
    must(is_key(key));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    char *first;
    char *second;

    /* One line, and all that stands behind it. */
    first = fuzz_text(&input, end ? (size_t)(end - data) : size);
    (void)fuzz_byte(&input);
    second = fuzz_text(&input, input.size);
    check(first);
    check(second);
    complete(first);
    complete(second);
    fill(first);
    any_path_makes_a_key(first);
    any_path_makes_a_key(second);
    expand(first, &(struct hf_key_words){
                      .command_path = second, .user = second, .host = second});
    expand(first, &(struct hf_key_words){.line_hash = second});
    if (!hf_key_check_template(first, NULL))
        expand(first, &(struct hf_key_words){
                          .command_path = "/c", .user = "0", .host = "h"});
    free(first);
    free(second);
    return 0;
}
