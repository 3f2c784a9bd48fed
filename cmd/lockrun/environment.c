/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/environment.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/token.h"

static const char *const names[] = {
    "LOCK_TOKEN", "LOCK_KEY",      "LOCK_CLASS", "LOCK_SESSION",
    "LOCK_EPOCH", "LOCK_REVISION", "LOCK_STATE",
};
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]), BYTES_MAX = 16384 };

/* An entry without '=' is nobody's variable and stays. */
static bool is_ours(const char *entry)
{
    if (strncmp(entry, "LOCK_", 5) != 0)
        return false;
    for (size_t i = 0; i < NAME_COUNT; i++) {
        size_t size = strlen(names[i]);

        if (strncmp(entry, names[i], size) == 0 && entry[size] == '=')
            return true;
    }
    return false;
}

static void add_text(struct hf_buf *text, const char *name, const char *value)
{
    (void)hf_buf_printf(text, "%s=%s", name, value);
    (void)hf_buf_add(text, "", 1);
}

static void add_number(struct hf_buf *text, const char *name, uint64_t value)
{
    (void)hf_buf_printf(text, "%s=%" PRIu64, name, value);
    (void)hf_buf_add(text, "", 1);
}

enum hf_err environment_make(struct environment *environment,
                             char *const *given,
                             const struct environment_words *words,
                             struct hf_error *error)
{
    struct hf_buf *text = &environment->text;
    size_t count = 0;
    size_t used = 0;

    environment->added = 0;
    hf_buf_init(text, BYTES_MAX);
    add_number(text, "LOCK_TOKEN", words->token);
    add_text(text, "LOCK_KEY", words->key);
    add_text(text, "LOCK_CLASS", words->class_name);
    add_text(text, "LOCK_SESSION", words->session);
    add_number(text, "LOCK_EPOCH", hf_token_epoch(words->token));
    add_number(text, "LOCK_REVISION", hf_token_revision(words->token));
    if (words->state)
        add_text(text, "LOCK_STATE", words->state);
    while (given[count])
        count++;
    environment->list = calloc(count + NAME_COUNT + 1, sizeof(char *));
    if (text->failed || !environment->list) {
        environment_clear(environment);
        return hf_error_set(error, HF_ERR_NOMEM, "the job's environment");
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(given[i]))
            environment->list[used++] = given[i];
    }
    for (size_t at = 0; at < text->size; at += strlen(text->data + at) + 1) {
        environment->list[used++] = text->data + at;
        environment->added += sizeof(char *);
    }
    environment->added += text->size;
    return HF_ERR_OK;
}

void environment_clear(struct environment *environment)
{
    free(environment->list);
    environment->list = NULL;
    hf_buf_clear(&environment->text);
}
