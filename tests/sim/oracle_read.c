/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/oracle_state.h"

static const char *after(const char *path, const char *noun)
{
    size_t root = sizeof(HF_PATH_ROOT) - 1;
    size_t size = strlen(noun);

    if (strncmp(path, HF_PATH_ROOT, root) != 0 ||
        strncmp(path + root, noun, size) != 0)
        return NULL;
    return path + root + size;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_grant(const char *text, uint8_t grant[HF_GRANT_ID_SIZE])
{
    for (size_t i = 0; i < HF_GRANT_ID_SIZE; i++) {
        int high = digit(text[2 * i]);
        int low = high < 0 ? -1 : digit(text[2 * i + 1]);

        if (low < 0)
            return false;
        grant[i] = (uint8_t)(high << 4 | low);
    }
    return text[2 * HF_GRANT_ID_SIZE] == '\0';
}

/* The number of the key that `rest` begins with; *end is what follows it. */
static int read_key(const char *rest, const char **end)
{
    for (int key = 0; key < SIM_KEYS_MAX; key++) {
        const char *name = sim_key_name(key);
        size_t size = strlen(name);

        if (strncmp(rest, name, size) == 0 &&
            (rest[size] == '\0' || rest[size] == '/')) {
            *end = rest + size;
            return key;
        }
    }
    hf_assert(!"a key that no client asked for");
    return -1;
}

static void read_row(enum row_kind kind, const char *rest,
                     const struct hf_change *from, struct change *to)
{
    struct hf_holder who;
    struct row *row = &to->row;
    const char *end;

    to->kind = CHANGE_ROW;
    row->kind = kind;
    row->key = read_key(rest, &end);
    row->created = from->record.created;
    row->changed = from->record.changed;
    row->lease = from->record.lease;
    if (to->is_delete) {
        if (!sim_row_is_single(row))
            hf_assert(read_grant(end + 2, row->grant));
        return;
    }
    hf_assert(!hf_record_decode_holder(from->record.value, &who, NULL));
    memcpy(row->grant, who.grant, sizeof(row->grant));
    row->serial = who.pid;
    row->mode = who.mode;
    memcpy(row->session, who.session, sizeof(row->session));
    if (!sim_row_is_single(row)) {
        uint8_t named[HF_GRANT_ID_SIZE];

        hf_assert(read_grant(end + 2, named) &&
                  memcmp(named, who.grant, sizeof(named)) == 0);
    }
}

static void read_session(const char *rest, const struct hf_change *from,
                         struct change *to)
{
    to->kind = CHANGE_SESSION;
    hf_assert(strlen(rest) < sizeof(to->session.id));
    memcpy(to->session.id, rest, strlen(rest) + 1);
    to->session.lease = from->record.lease;
}

static void read_epoch(const struct hf_change *from, struct change *to)
{
    struct hf_epoch_record record;

    to->kind = CHANGE_EPOCH;
    to->epoch.exists = !to->is_delete;
    if (to->is_delete)
        return;
    hf_assert(!hf_record_decode_epoch(from->record.value, &record, NULL));
    to->epoch.sealed = record.sealed;
    to->epoch.epoch = record.epoch;
    to->epoch.revision = from->revision;
    memcpy(to->epoch.store_id, record.store_id, sizeof(to->epoch.store_id));
}

void sim_change_read(const struct hf_change *from, struct change *to)
{
    static const struct {
        const char *root;
        enum row_kind row;
    } kinds[] = {
        {"hold/", ROW_HOLD},
        {"share/", ROW_SHARE},
        {"wait/", ROW_WAIT},
        {"floor/", ROW_FLOOR},
    };
    const char *path = from->record.key.data; /* the store adds a NUL */
    const char *rest;

    *to = (struct change){.kind = CHANGE_OTHER,
                          .is_delete = from->is_delete,
                          .by_lease = from->by_lease};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        rest = after(path, kinds[i].root);
        if (rest) {
            read_row(kinds[i].row, rest, from, to);
            return;
        }
    }
    rest = after(path, "session/");
    if (rest)
        read_session(rest, from, to);
    rest = after(path, "epoch");
    if (rest && !*rest)
        read_epoch(from, to);
}
