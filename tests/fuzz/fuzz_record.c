/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in the store, any bytes as a record and any record as bytes.
 * Read: it is written, and what is written reads as the same and is written as
 * the same. Written, whatever its texts hold: it can be read.
 */
#include <stdlib.h>
#include <string.h>

#include "core/record.h"
#include "tests/fuzz/fuzz.h"

static struct hf_bytes bytes_of(const struct hf_value *value)
{
    return (struct hf_bytes){value->text, value->size};
}

static void ends(const char *text, size_t size)
{
    must(memchr(text, '\0', size) != NULL);
}

/* ---- holders ------------------------------------------------------------- */

static bool same_holder(const struct hf_holder *a, const struct hf_holder *b)
{
    return a->version == b->version &&
           !memcmp(a->grant, b->grant, sizeof(a->grant)) &&
           a->epoch == b->epoch && !strcmp(a->session, b->session) &&
           a->mode == b->mode && !strcmp(a->class_name, b->class_name) &&
           !strcmp(a->host, b->host) && a->pid == b->pid &&
           a->pid_namespace == b->pid_namespace && a->uid == b->uid &&
           !strcmp(a->program, b->program) && !strcmp(a->note, b->note) &&
           a->since_wall_ms == b->since_wall_ms &&
           a->since_steady_ms == b->since_steady_ms;
}

static void ends_well(const struct hf_holder *holder)
{
    ends(holder->session, sizeof(holder->session));
    ends(holder->class_name, sizeof(holder->class_name));
    ends(holder->host, sizeof(holder->host));
    ends(holder->program, sizeof(holder->program));
    ends(holder->note, sizeof(holder->note));
    must(holder->mode == HF_EXCLUSIVE || holder->mode == HF_SHARED);
}

/* From here on every round is like the one before. */
static void holder_is_settled(const struct hf_holder *holder)
{
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_holder again;
    struct hf_value first = {NULL};
    struct hf_value second = {NULL};

    ends_well(holder);
    must(!hf_record_encode_holder(holder, &first));
    must(!hf_record_decode_holder(bytes_of(&first), &again, &error));
    must(same_holder(holder, &again));
    must(!hf_record_encode_holder(&again, &second));
    must(first.size == second.size &&
         !memcmp(first.text, second.text, first.size));
    hf_value_clear(&first);
    hf_value_clear(&second);
}

static void read_holder(struct hf_bytes value)
{
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_holder holder = {.pid = 4711};
    enum hf_err err = hf_record_decode_holder(value, &holder, &error);

    if (err)
        must(err == HF_ERR_DAMAGED && fuzz_is_told(&error, err));
    else
        holder_is_settled(&holder);
}

/* Text of any bytes, and rubbish behind its end. */
static void fill_text(struct fuzz_input *input, char *text, size_t size)
{
    fuzz_fill(input, text, size);
    text[size - 1] = '\0';
}

static void write_holder(struct fuzz_input *input)
{
    struct hf_holder holder = {.version = HF_RECORD_VERSION};
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_holder again;
    struct hf_value value = {NULL};

    fuzz_fill(input, holder.grant, sizeof(holder.grant));
    fuzz_fill(input, &holder.epoch, sizeof(holder.epoch));
    holder.mode = fuzz_byte(input) & 1 ? HF_SHARED : HF_EXCLUSIVE;
    fuzz_fill(input, &holder.since_wall_ms, sizeof(holder.since_wall_ms));
    fill_text(input, holder.note, sizeof(holder.note));
    fill_text(input, holder.program, sizeof(holder.program));
    fill_text(input, holder.host, sizeof(holder.host));
    fill_text(input, holder.session, sizeof(holder.session));
    fill_text(input, holder.class_name, sizeof(holder.class_name));
    must(!hf_record_encode_holder(&holder, &value));
    must(!hf_record_decode_holder(bytes_of(&value), &again, &error));
    hf_value_clear(&value);
    must(again.since_wall_ms == holder.since_wall_ms);
    must(!memcmp(again.grant, holder.grant, sizeof(again.grant)));
    holder_is_settled(&again);
}

/* ---- epochs and sessions ---------------------------------------------------
 */

static bool same_epoch(const struct hf_epoch_record *a,
                       const struct hf_epoch_record *b)
{
    return a->version == b->version && a->epoch == b->epoch &&
           a->sealed == b->sealed &&
           !memcmp(a->store_id, b->store_id, sizeof(a->store_id)) &&
           !strcmp(a->by, b->by) && !strcmp(a->why, b->why) &&
           a->at_wall_ms == b->at_wall_ms;
}

static void epoch_is_settled(const struct hf_epoch_record *epoch)
{
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_epoch_record again;
    struct hf_value value = {NULL};

    ends(epoch->by, sizeof(epoch->by));
    ends(epoch->why, sizeof(epoch->why));
    must(!hf_record_encode_epoch(epoch, &value));
    must(!hf_record_decode_epoch(bytes_of(&value), &again, &error));
    must(same_epoch(epoch, &again));
    hf_value_clear(&value);
}

static void read_epoch(struct hf_bytes value)
{
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_epoch_record epoch = {.epoch = 4711};
    enum hf_err err = hf_record_decode_epoch(value, &epoch, &error);

    if (err)
        must(err == HF_ERR_DAMAGED && fuzz_is_told(&error, err));
    else
        epoch_is_settled(&epoch);
}

static void write_epoch(struct fuzz_input *input)
{
    struct hf_epoch_record epoch = {.version = HF_RECORD_VERSION};
    struct hf_session_record session = {.version = HF_RECORD_VERSION};
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_epoch_record again;
    struct hf_value value = {NULL};

    fuzz_fill(input, &epoch.epoch, sizeof(epoch.epoch));
    fuzz_fill(input, epoch.store_id, sizeof(epoch.store_id));
    epoch.sealed = fuzz_byte(input) & 1;
    fuzz_fill(input, &epoch.at_wall_ms, sizeof(epoch.at_wall_ms));
    fill_text(input, epoch.why, sizeof(epoch.why));
    fill_text(input, epoch.by, sizeof(epoch.by));
    must(!hf_record_encode_epoch(&epoch, &value));
    must(!hf_record_decode_epoch(bytes_of(&value), &again, &error));
    must(again.epoch == epoch.epoch && again.sealed == epoch.sealed);
    epoch_is_settled(&again);
    memcpy(session.host, epoch.by, sizeof(session.host));
    must(!hf_record_encode_session(&session, &value));
    hf_value_clear(&value);
}

/* ---- a whole row -----------------------------------------------------------
 */

/* A row that is told of stands where a row of that kind and key stands. */
static void read_row(struct hf_bytes key, struct hf_bytes value)
{
    const struct hf_record record = {
        .key = key, .value = value, .created = 5, .changed = 7, .lease = 9};
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_hold_info info;
    char room[HF_PATHS_ROOM];
    struct hf_paths paths;
    const char *path = NULL;
    enum hf_err err = hf_record_info(&record, &info, &error);

    if (err) {
        must(err == HF_ERR_DAMAGED && fuzz_is_told(&error, err));
        return;
    }
    must(!hf_key_check(info.key, NULL));
    ends_well(&info.who);
    hf_paths_make(&paths, room, info.key, NULL, info.who.grant);
    switch (info.kind) {
    case HF_HOLD:
        path = paths.hold;
        break;
    case HF_SHARE:
        path = paths.share;
        break;
    case HF_WAITER:
        path = paths.wait;
        break;
    case HF_FLOOR:
        path = paths.floor;
        break;
    }
    must(key.size == strlen(path) && !memcmp(key.data, path, key.size));
    must(info.token == 0 || hf_token_revision(info.token) == 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct hf_bytes all = {(const char *)data, size};
    const char *end = size ? memchr(data, '\n', size) : NULL;
    size_t line = end ? (size_t)(end - all.data) : size;

    read_holder(all);
    read_epoch(all);
    write_holder(&input);
    input = (struct fuzz_input){data, size};
    write_epoch(&input);
    /* A line is the key, what stands behind it the value. */
    read_row((struct hf_bytes){all.data, line},
             (struct hf_bytes){all.data + line, size - line});
    return 0;
}
