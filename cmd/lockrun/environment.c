/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/environment.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/token.h"

/* Those of a job first; those of a line are its own as well, but a job may have
 * variables of its caller's of these names. */
static const char *const names[] = {
    "LOCK_TOKEN",       "LOCK_KEY",          "LOCK_CLASS",
    "LOCK_SESSION",     "LOCK_EPOCH",        "LOCK_REVISION",
    "LOCK_STATE",       "LOCK_EVENT",        "LOCK_REASON",
    "LOCK_STATUS",      "LOCK_PID",          "LOCK_HOLDER_PID",
    "LOCK_HOLDER_UID",  "LOCK_HOLDER_HOST",  "LOCK_HOLDER_PROGRAM",
    "LOCK_HOLDER_NOTE", "LOCK_HOLDER_SINCE",
};
enum {
    NAME_COUNT = sizeof(names) / sizeof(names[0]),
    JOB_NAME_COUNT = 7,
    BYTES_MAX = 16384
};

/* An entry without '=' is nobody's variable and stays. */
static bool is_ours(const char *entry, size_t name_count)
{
    if (strncmp(entry, "LOCK_", 5) != 0)
        return false;
    for (size_t i = 0; i < name_count; i++) {
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

static void add_hold(struct hf_buf *text, const struct environment_words *words)
{
    add_number(text, "LOCK_TOKEN", words->token);
    add_text(text, "LOCK_SESSION", words->session);
    add_number(text, "LOCK_EPOCH", hf_token_epoch(words->token));
    add_number(text, "LOCK_REVISION", hf_token_revision(words->token));
    if (words->state)
        add_text(text, "LOCK_STATE", words->state);
}

static void add_holder(struct hf_buf *text, const struct hf_holder *who,
                       const char *since)
{
    add_number(text, "LOCK_HOLDER_PID", who->pid);
    add_number(text, "LOCK_HOLDER_UID", who->uid);
    add_text(text, "LOCK_HOLDER_HOST", who->host);
    add_text(text, "LOCK_HOLDER_PROGRAM", who->program);
    add_text(text, "LOCK_HOLDER_NOTE", who->note);
    add_text(text, "LOCK_HOLDER_SINCE", since);
}

static void add_event(struct hf_buf *text,
                      const struct environment_event *event)
{
    add_text(text, "LOCK_EVENT", event->name);
    add_text(text, "LOCK_REASON", event->reason);
    if (event->status >= 0)
        add_number(text, "LOCK_STATUS", (uint64_t)event->status);
    if (event->lockrun)
        add_number(text, "LOCK_PID", event->lockrun);
    if (event->holder)
        add_holder(text, &event->holder->who, event->since);
}

enum hf_err environment_make(struct environment *environment,
                             char *const *given,
                             const struct environment_words *words,
                             struct hf_error *error)
{
    struct hf_buf *text = &environment->text;
    size_t name_count = words->event ? NAME_COUNT : JOB_NAME_COUNT;
    size_t count = 0;
    size_t used = 0;

    environment->added = 0;
    hf_buf_init(text, BYTES_MAX);
    add_text(text, "LOCK_KEY", words->key);
    add_text(text, "LOCK_CLASS", words->class_name);
    if (words->token)
        add_hold(text, words);
    if (words->event)
        add_event(text, words->event);
    while (given[count])
        count++;
    environment->list = calloc(count + name_count + 1, sizeof(char *));
    if (text->failed || !environment->list) {
        environment_clear(environment);
        return hf_error_set(error, HF_ERR_NOMEM, "the job's environment");
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(given[i], name_count))
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
