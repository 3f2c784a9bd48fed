/* SPDX-License-Identifier: Apache-2.0 */
#include "core/key.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool is_key_byte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c >= '0' && c <= '9') || (c != '\0' && strchr("._@:+=%-", c));
}

/* Judge the segment [from, to) of `text`; its place counts from 1. */
static enum hf_err check_segment(const char *text, size_t from, size_t to,
                                 struct hf_error *error)
{
    size_t size = to - from;
    size_t i;

    if (size == 0)
        return hf_error_set(error, HF_ERR_USAGE,
                            "key: empty segment at byte %zu (a key is "
                            "tenant/namespace/name)",
                            from + 1);
    for (i = from; i < to; i++) {
        if (!is_key_byte(text[i]))
            return hf_error_set(
                error, HF_ERR_USAGE,
                "key: byte %zu (0x%02x) is not allowed; a segment is made of "
                "A-Z a-z 0-9 . _ @ : + = %% -",
                i + 1, (unsigned)(unsigned char)text[i]);
    }
    if (size > HF_KEY_SEGMENT_MAX)
        return hf_error_set(error, HF_ERR_USAGE,
                            "key: the segment at byte %zu has %zu bytes, at "
                            "most %d are allowed",
                            from + 1, size, HF_KEY_SEGMENT_MAX);
    if ((size == 1 && text[from] == '.') ||
        (size == 2 && text[from] == '.' && text[from + 1] == '.'))
        return hf_error_set(error, HF_ERR_USAGE,
                            "key: the segment at byte %zu is \"%.*s\", which "
                            "is not allowed",
                            from + 1, (int)size, text + from);
    return HF_ERR_OK;
}

enum hf_err hf_key_check(const char *text, struct hf_error *error)
{
    size_t size = strlen(text);
    size_t segments = 0;
    size_t from = 0;

    if (size > HF_KEY_BYTES_MAX)
        return hf_error_set(error, HF_ERR_USAGE,
                            "key: %zu bytes, at most %d are allowed", size,
                            HF_KEY_BYTES_MAX);
    for (;;) {
        const char *slash = memchr(text + from, '/', size - from);
        size_t to = slash ? (size_t)(slash - text) : size;
        enum hf_err err = check_segment(text, from, to, error);

        if (err)
            return err;
        segments++;
        if (!slash)
            break;
        from = to + 1;
    }
    if (segments < 3)
        return hf_error_set(error, HF_ERR_USAGE,
                            "key: %zu segment%s; a key is "
                            "tenant/namespace/name, or a name with no slash",
                            segments, segments == 1 ? "" : "s");
    return HF_ERR_OK;
}

enum hf_err hf_key_complete(const char *text, const char *home,
                            char key[HF_KEY_SIZE], struct hf_error *error)
{
    char whole[HF_KEY_SIZE];
    enum hf_err err;

    if (strchr(text, '/') || text[0] == '\0') {
        err = hf_key_check(text, error);
        if (!err)
            memcpy(key, text, strlen(text) + 1);
        return err;
    }
    err = check_segment(text, 0, strlen(text), error);
    if (err)
        return err;
    if ((size_t)snprintf(whole, sizeof(whole), "%s/%s", home, text) >=
        sizeof(whole))
        return hf_error_set(error, HF_ERR_USAGE, "key: too long");
    err = hf_key_check(whole, error);
    if (!err)
        memcpy(key, whole, sizeof(whole));
    return err;
}

void hf_key_hash(const void *bytes, size_t size, char to[17])
{
    const unsigned char *b = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t i;

    /* FNV-1a, draft-eastlake-fnv: offset basis and prime of 64 bits. */
    for (i = 0; i < size; i++) {
        hash ^= b[i];
        hash *= UINT64_C(0x100000001b3);
    }
    snprintf(to, 17, "%016llx", (unsigned long long)hash);
}

struct filling {
    char *key;
    size_t size;
    bool full;
};

static void fill_byte(struct filling *f, char c)
{
    if (f->size + 1 >= HF_KEY_SIZE)
        f->full = true;
    else
        f->key[f->size++] = c;
}

/* One segment, percent-encoded; one that would be too long keeps its first
 * bytes and gets a hash of the whole. */
static void fill_segment(struct filling *f, const char *from, size_t size)
{
    static const char hex[] = "0123456789ABCDEF";
    char segment[HF_KEY_SEGMENT_MAX + 1];
    char hash[17];
    size_t used = 0;
    size_t i;
    bool dots = (size == 1 && from[0] == '.') ||
                (size == 2 && from[0] == '.' && from[1] == '.');

    for (i = 0; i < size; i++) {
        unsigned char c = (unsigned char)from[i];
        bool plain = is_key_byte((char)c) && c != '%' && !dots;

        if (used + (plain ? 1 : 3) > HF_KEY_SEGMENT_MAX)
            break;
        if (plain) {
            segment[used++] = (char)c;
        } else {
            segment[used++] = '%';
            segment[used++] = hex[c >> 4];
            segment[used++] = hex[c & 15];
        }
    }
    if (i < size) {
        hf_key_hash(from, size, hash);
        used = used > HF_KEY_SEGMENT_MAX - 17 ? HF_KEY_SEGMENT_MAX - 17 : used;
        segment[used++] = '=';
        memcpy(segment + used, hash, 16);
        used += 16;
    }
    for (i = 0; i < used; i++)
        fill_byte(f, segment[i]);
}

/* A path, segment by segment, without its leading slash. */
static void fill_path(struct filling *f, const char *path)
{
    const char *from = path;
    bool first = true;

    while (*from) {
        const char *slash = strchr(from, '/');
        size_t size = slash ? (size_t)(slash - from) : strlen(from);

        if (size > 0) {
            if (!first)
                fill_byte(f, '/');
            fill_segment(f, from, size);
            first = false;
        }
        from += size + (slash ? 1 : 0);
    }
    if (first)
        fill_segment(f, "%", 1);
}

static enum hf_err unknown_word(struct hf_error *error, const char *word,
                                size_t size)
{
    return hf_error_set(error, HF_ERR_USAGE,
                        "key template: unknown word {%.*s}; known are "
                        "{command path}, {user}, {host}",
                        (int)(size > 40 ? 40 : size), word);
}

static enum hf_err missing_word(struct hf_error *error, const char *word)
{
    return hf_error_set(error, HF_ERR_USAGE,
                        "key template: {%s} is not known here; give --key",
                        word);
}

static bool word_is(const char *word, size_t size, const char *name)
{
    return size == strlen(name) && memcmp(word, name, size) == 0;
}

static enum hf_err fill_word(struct filling *f, const char *word, size_t size,
                             const struct hf_key_words *words,
                             struct hf_error *error)
{
    if (word_is(word, size, "command path")) {
        if (!words->command_path)
            return missing_word(error, "command path");
        fill_path(f, words->command_path);
        if (words->line_hash) {
            fill_byte(f, '/');
            for (const char *p = "line-"; *p; p++)
                fill_byte(f, *p);
            fill_segment(f, words->line_hash, strlen(words->line_hash));
        }
        return HF_ERR_OK;
    }
    if (word_is(word, size, "user")) {
        if (!words->user)
            return missing_word(error, "user");
        fill_segment(f, words->user, strlen(words->user));
        return HF_ERR_OK;
    }
    if (word_is(word, size, "host")) {
        if (!words->host)
            return missing_word(error, "host");
        fill_segment(f, words->host, strlen(words->host));
        return HF_ERR_OK;
    }
    return unknown_word(error, word, size);
}

/* What a template gave is no key: why? When only parts are missing, which. */
static enum hf_err judge_filled(const char *template, const char *filled,
                                struct hf_error *error)
{
    enum hf_err err = hf_key_check(filled, error);
    const char *slash = strchr(filled, '/');
    const char *home = slash ? "local" : HF_KEY_DEFAULT_HOME;
    char whole[HF_KEY_SIZE];
    struct hf_error ignored;

    if (!err)
        return err;
    snprintf(whole, sizeof(whole), "%s/%s", home, filled);
    if ((slash && strchr(slash + 1, '/')) || hf_key_check(whole, &ignored))
        return error ? hf_error_wrap(error, "key template \"%.100s\"", template)
                     : err;
    return hf_error_set(error, err,
                        "key template \"%.100s\" has %s; it needs three, "
                        "tenant/namespace/name, such as %s/%.100s",
                        template, slash ? "two parts" : "one part", home,
                        template);
}

enum hf_err hf_key_expand(const char *template,
                          const struct hf_key_words *words,
                          char key[HF_KEY_SIZE], struct hf_error *error)
{
    char filled[HF_KEY_SIZE];
    struct filling f = {.key = filled};
    const char *p = template;

    while (*p) {
        const char *end;
        enum hf_err err;

        if (*p != '{') {
            fill_byte(&f, *p++);
            continue;
        }
        end = strchr(p, '}');
        if (!end)
            return hf_error_set(error, HF_ERR_USAGE,
                                "key template: { at byte %zu has no }",
                                (size_t)(p - template) + 1);
        err = fill_word(&f, p + 1, (size_t)(end - p) - 1, words, error);
        if (err)
            return err;
        p = end + 1;
    }
    filled[f.size] = '\0';
    if (f.full) {
        /* Keep the first half and a hash of all that was asked for. */
        char hash[17];
        const char *path = words->command_path ? words->command_path : filled;

        hf_key_hash(path, strlen(path), hash);
        f.size = HF_KEY_BYTES_MAX / 2;
        while (f.size > 0 && filled[f.size - 1] != '/')
            f.size--;
        memcpy(filled + f.size, hash, sizeof(hash));
    }
    {
        enum hf_err err = judge_filled(template, filled, error);

        if (err)
            return err;
    }
    memcpy(key, filled, strlen(filled) + 1);
    return HF_ERR_OK;
}

enum hf_err hf_key_check_template(const char *template, struct hf_error *error)
{
    static const struct hf_key_words any = {
        .command_path = "/c", .user = "0", .host = "h"};
    char key[HF_KEY_SIZE];

    return hf_key_expand(template, &any, key, error);
}
