/* SPDX-License-Identifier: Apache-2.0 */
#include "core/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/field.h"
#include "base/hex.h"

static const struct hf_field holder_fields[] = {
    HF_FIELD(struct hf_holder, version, U32, ALWAYS),
    HF_FIELD(struct hf_holder, grant, HEX, ALWAYS),
    HF_FIELD(struct hf_holder, epoch, U32, ALWAYS),
    HF_FIELD(struct hf_holder, session, TEXT, ALWAYS),
    HF_FIELD_NAMES(struct hf_holder, mode, ALWAYS, hf_mode_names),
    HF_FIELD(struct hf_holder, class_name, TEXT, OPTIONAL),
    HF_FIELD(struct hf_holder, host, TEXT, OPTIONAL),
    HF_FIELD(struct hf_holder, pid, U32, OPTIONAL),
    HF_FIELD(struct hf_holder, pid_namespace, U64, OPTIONAL),
    HF_FIELD(struct hf_holder, uid, U32, OPTIONAL),
    HF_FIELD(struct hf_holder, program, TEXT, OPTIONAL),
    HF_FIELD(struct hf_holder, note, TEXT, OPTIONAL),
    HF_FIELD(struct hf_holder, since_wall_ms, I64, OPTIONAL),
    HF_FIELD(struct hf_holder, since_steady_ms, I64, OPTIONAL),
    HF_FIELD_END,
};

static const struct hf_field session_fields[] = {
    HF_FIELD(struct hf_session_record, version, U32, ALWAYS),
    HF_FIELD(struct hf_session_record, uid, U32, OPTIONAL),
    HF_FIELD(struct hf_session_record, host, TEXT, OPTIONAL),
    HF_FIELD(struct hf_session_record, pid, U32, OPTIONAL),
    HF_FIELD(struct hf_session_record, since_wall_ms, I64, OPTIONAL),
    HF_FIELD_END,
};

static const struct hf_field epoch_fields[] = {
    HF_FIELD(struct hf_epoch_record, version, U32, ALWAYS),
    HF_FIELD(struct hf_epoch_record, epoch, U32, ALWAYS),
    HF_FIELD(struct hf_epoch_record, sealed, BOOL, OPTIONAL),
    HF_FIELD(struct hf_epoch_record, store_id, HEX, ALWAYS),
    HF_FIELD(struct hf_epoch_record, by, TEXT, OPTIONAL),
    HF_FIELD(struct hf_epoch_record, why, TEXT, OPTIONAL),
    HF_FIELD(struct hf_epoch_record, at_wall_ms, I64, OPTIONAL),
    HF_FIELD_END,
};

void hf_path_of(char to[HF_PATH_SIZE], const char *noun, const char *rest)
{
    snprintf(to, HF_PATH_SIZE, HF_PATH_ROOT "%s/%s", noun, rest);
}

void hf_path_of_hold(char to[HF_PATH_SIZE], const struct hf_hold_ref *hold)
{
    char id[2 * HF_GRANT_ID_SIZE + 1];

    hf_hex(hold->grant, HF_GRANT_ID_SIZE, id);
    if (hold->mode == HF_SHARED)
        snprintf(to, HF_PATH_SIZE, HF_PATH_ROOT "share/%.*s//%s",
                 HF_KEY_BYTES_MAX, hold->key, id);
    else
        snprintf(to, HF_PATH_SIZE, HF_PATH_ROOT "hold/%.*s", HF_KEY_BYTES_MAX,
                 hold->key);
}

/* ROOT + noun + key + behind, which end with their slashes if there are any. */
static const char *lay(char **room, const char *noun, const char *key,
                       const char *behind)
{
    const char *const parts[] = {HF_PATH_ROOT, noun, key, behind};
    char *path = *room;
    size_t size = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        size_t more = strlen(parts[i]);

        hf_assert(size + more < HF_PATH_SIZE);
        memcpy(path + size, parts[i], more);
        size += more;
    }
    path[size] = '\0';
    *room = path + size + 1;
    return path;
}

/* All but those of a grant. */
static void lay_all(struct hf_paths *paths, char **room, const char *key,
                    const char *session, const char *behind)
{
    paths->epoch = lay(room, "epoch", "", "");
    paths->session = session ? lay(room, "session/", session, "") : "";
    paths->hold = lay(room, "hold/", key, "");
    paths->floor = lay(room, "floor/", key, "");
    paths->shares = lay(room, "share/", key, behind);
    paths->waits = lay(room, "wait/", key, behind);
    paths->share = paths->wait = "";
}

void hf_paths_make(struct hf_paths *paths, char room[HF_PATHS_ROOM],
                   const char *key, const char *session,
                   const uint8_t grant[HF_GRANT_ID_SIZE])
{
    char behind[2 + 2 * HF_GRANT_ID_SIZE + 1] = "//";

    lay_all(paths, &room, key, session, behind);
    if (!grant)
        return;
    hf_hex(grant, HF_GRANT_ID_SIZE, behind + 2);
    paths->share = lay(&room, "share/", key, behind);
    paths->wait = lay(&room, "wait/", key, behind);
}

void hf_paths_prefixes(struct hf_paths *paths, char room[HF_PATHS_ROOM],
                       const char *prefix)
{
    lay_all(paths, &room, prefix, prefix, "");
}

void hf_value_clear(struct hf_value *value)
{
    free(value->text);
    *value = (struct hf_value){.text = NULL};
}

static enum hf_err encode(const struct hf_field *fields, const void *record,
                          struct hf_value *to)
{
    struct hf_buf buf;
    enum hf_err err;

    hf_value_clear(to);
    hf_buf_init(&buf, HF_RECORD_SIZE - 1);
    err = hf_field_encode(fields, record, &buf);
    if (err) {
        hf_buf_clear(&buf);
        return err;
    }
    to->size = buf.size;
    to->text = hf_buf_take(&buf);
    return HF_ERR_OK;
}

enum hf_err hf_record_encode_holder(const struct hf_holder *holder,
                                    struct hf_value *to)
{
    return encode(holder_fields, holder, to);
}

enum hf_err hf_record_encode_session(const struct hf_session_record *session,
                                     struct hf_value *to)
{
    return encode(session_fields, session, to);
}

enum hf_err hf_record_encode_epoch(const struct hf_epoch_record *epoch,
                                   struct hf_value *to)
{
    return encode(epoch_fields, epoch, to);
}

static enum hf_err decode(const struct hf_field *fields, struct hf_bytes value,
                          void *record, const uint32_t *version,
                          const char *what, struct hf_error *error)
{
    struct hf_error inner;
    enum hf_err err =
        hf_field_decode(fields, value.data, value.size, record, &inner);

    /* Of good bytes nobody shall say that they are damaged. */
    if (err == HF_ERR_NOMEM)
        return hf_error_set(error, err,
                            "memory ran out over the store's %s record", what);
    if (err)
        return hf_error_set(error, HF_ERR_DAMAGED,
                            "the store's %s record cannot be read: %.300s",
                            what, inner.text);
    if (*version != HF_RECORD_VERSION)
        return hf_error_set(error, HF_ERR_DAMAGED,
                            "the store's %s record has version %u; this "
                            "program knows %d",
                            what, (unsigned)*version, HF_RECORD_VERSION);
    return HF_ERR_OK;
}

enum hf_err hf_record_decode_holder(struct hf_bytes value,
                                    struct hf_holder *holder,
                                    struct hf_error *error)
{
    return decode(holder_fields, value, holder, &holder->version, "hold",
                  error);
}

enum hf_err hf_record_decode_epoch(struct hf_bytes value,
                                   struct hf_epoch_record *epoch,
                                   struct hf_error *error)
{
    return decode(epoch_fields, value, epoch, &epoch->version, "epoch", error);
}

/* Of a share or a waiter: "//" and its grant's id, behind the key. */
enum { TAIL_SIZE = 2 + 2 * HF_GRANT_ID_SIZE };

static bool has_tail(enum hf_hold_kind kind)
{
    return kind == HF_SHARE || kind == HF_WAITER;
}

/* Does the row stand where a row of that grant stands? */
static bool is_tail_of(const struct hf_holder *who, const char *tail)
{
    char id[2 * HF_GRANT_ID_SIZE + 1];

    hf_hex(who->grant, HF_GRANT_ID_SIZE, id);
    return memcmp(tail, "//", 2) == 0 &&
           memcmp(tail + 2, id, 2 * HF_GRANT_ID_SIZE) == 0;
}

static enum hf_err no_holds_key(struct hf_error *error)
{
    return hf_error_set(error, HF_ERR_DAMAGED,
                        "the store has a key that is no hold's");
}

enum hf_err hf_record_info(const struct hf_record *record,
                           struct hf_hold_info *info, struct hf_error *error)
{
    static const struct {
        const char *root;
        enum hf_hold_kind kind;
    } kinds[] = {
        {HF_PATH_ROOT "hold/", HF_HOLD},
        {HF_PATH_ROOT "share/", HF_SHARE},
        {HF_PATH_ROOT "wait/", HF_WAITER},
        {HF_PATH_ROOT "floor/", HF_FLOOR},
    };
    struct hf_bytes key = record->key;
    enum hf_err err;
    size_t i;

    memset(info, 0, sizeof(*info));
    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t root = strlen(kinds[i].root);

        if (key.size < root || memcmp(key.data, kinds[i].root, root) != 0)
            continue;
        info->kind = kinds[i].kind;
        key.data += root;
        key.size -= root;
        break;
    }
    if (i == sizeof(kinds) / sizeof(kinds[0]))
        return no_holds_key(error);
    if (has_tail(info->kind))
        key.size = key.size > TAIL_SIZE ? key.size - TAIL_SIZE : 0;
    if (key.size >= HF_KEY_SIZE)
        return no_holds_key(error);
    memcpy(info->key, key.data, key.size);
    if (strlen(info->key) != key.size || hf_key_check(info->key, NULL))
        return no_holds_key(error);
    info->created = record->created;
    info->lease = record->lease;
    err = hf_record_decode_holder(record->value, &info->who, error);
    if (err)
        return err;
    if (has_tail(info->kind) && !is_tail_of(&info->who, key.data + key.size))
        return no_holds_key(error);
    if (info->kind == HF_HOLD || info->kind == HF_SHARE)
        (void)hf_token_make(info->who.epoch, record->changed, &info->token);
    return HF_ERR_OK;
}
