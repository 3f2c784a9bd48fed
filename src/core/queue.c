/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The durable queue of a key: rows in the store, ordered by the revision that
 * created them. A row that stands ahead can only go away, never come, so what
 * is learned of it stays true. Pure.
 */
#include <stdlib.h>
#include <string.h>

#include "core/op.h"

static bool is_row(const struct hf_record *row, const char *path)
{
    size_t size = strlen(path);

    return row->key.size == size && memcmp(row->key.data, path, size) == 0;
}

/* Could it be one of ours? What anybody else put there may have any name: it
 * blocks like a row that cannot be read, but no path is made of it. */
static bool is_path(const struct hf_record *row)
{
    return row->key.size < HF_PATH_SIZE &&
           !memchr(row->key.data, '\0', row->key.size);
}

/* Rows that cannot be read count as exclusive: they block, and lapse. */
static bool is_shared(const struct hf_record *row, struct hf_holder *who)
{
    return !hf_record_decode_holder(row->value, who, NULL) &&
           who->mode == HF_SHARED;
}

void hf_queue_ahead(struct hf_acquire *acquire, const char *mine,
                    enum hf_mode mode, const struct hf_action_result *rows)
{
    struct hf_holder who;
    size_t i;

    acquire->ahead_count = 0;
    acquire->deep = false;
    for (i = 0; i < rows->record_count; i++) {
        const struct hf_record *row = &rows->records[i];

        if (is_row(row, mine))
            return;
        if (mode == HF_SHARED && is_shared(row, &who))
            continue;
        if (acquire->ahead_count == HF_AHEAD_MAX || !is_path(row)) {
            acquire->deep = true;
            return;
        }
        memcpy(acquire->ahead[acquire->ahead_count], row->key.data,
               row->key.size);
        acquire->ahead[acquire->ahead_count][row->key.size] = '\0';
        acquire->ahead_count++;
    }
    /* Our own row was not among those read: more stand before us. */
    acquire->deep = rows->count > rows->record_count;
}

static void name_heir(struct hf_op *op, struct hf_heir *heir,
                      const struct hf_record *row, struct hf_holder *who)
{
    char path[HF_PATH_SIZE];

    memcpy(heir->path, row->key.data, row->key.size);
    heir->path[row->key.size] = '\0';
    heir->revision = row->changed;
    heir->lease = row->lease;
    if (who->mode == HF_SHARED) {
        /* wait/KEY//GRANT becomes share/KEY//GRANT. */
        const char *rest = heir->path + strlen(HF_PATH_ROOT "wait/");

        hf_path_of(path, "share", rest);
        memcpy(heir->hold, path, sizeof(path));
    } else {
        memcpy(heir->hold, op->paths.hold, strlen(op->paths.hold) + 1);
    }
    who->epoch = op->core->seal.epoch;
    who->since_wall_ms = op->core->wall.ns / 1000000;
    who->since_steady_ms = op->core->now.ns / 1000000;
}

void hf_queue_heirs(struct hf_op *op, const struct hf_action_result *rows)
{
    struct hf_release *release = &op->u.release;
    struct hf_holder who;
    size_t i;

    release->heir_count = 0;
    if (!release->heirs)
        release->heirs = calloc(HF_HANDOFF_MAX, sizeof(*release->heirs));
    if (!release->heirs)
        return;
    for (i = 0; i < rows->record_count; i++) {
        const struct hf_record *row = &rows->records[i];
        struct hf_heir *heir;
        bool shared;

        if (release->heir_count == HF_HANDOFF_MAX)
            return;
        heir = &release->heirs[release->heir_count];
        if (!is_path(row) || hf_record_decode_holder(row->value, &who, NULL))
            return;
        shared = who.mode == HF_SHARED;
        if (release->heir_count > 0 && !shared)
            return;
        name_heir(op, heir, row, &who);
        if (hf_record_encode_holder(&who, &heir->value))
            return;
        release->heir_count++;
        if (!shared)
            return;
    }
}
