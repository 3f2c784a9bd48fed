/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_note.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_place.h"

/* An entry; key and value follow, and zeros up to a multiple of 8. */
struct entry {
    uint32_t size; /* with all that follows; 0: the note ends here */
    uint32_t is_delete;
    uint64_t created;
    uint64_t changed;
    uint32_t key_size;
    uint32_t value_size;
    uint64_t sum; /* of all that follows, and of what stands before it */
};

enum {
    END_BYTES = 8, /* zeros that end a note, written with each entry */
    /* What a note may grow to before it is written afresh, and at all. */
    NOTE_LONG = 256 * 1024,
    NOTE_MAX = 64 * 1024 * 1024
};

static uint64_t entry_sum(const struct entry *entry, const uint8_t *behind)
{
    uint64_t sum = hf_sqlite_sum(entry, offsetof(struct entry, sum), 3);

    return hf_sqlite_sum(behind, entry->size - sizeof(*entry), sum);
}

bool hf_sqlite_note_add(struct hf_store_request *arena,
                        struct hf_sqlite_note *note, bool is_delete,
                        const struct hf_sqlite_noted *key)
{
    size_t value_size = is_delete ? 0 : key->value.size;
    size_t size =
        (sizeof(struct entry) + key->key.size + value_size + 7) / 8 * 8;
    struct entry entry = {
        .size = (uint32_t)size,
        .is_delete = is_delete,
        .created = key->created,
        .changed = key->changed,
        .key_size = (uint32_t)key->key.size,
        .value_size = (uint32_t)value_size,
    };
    uint8_t *to;

    if (note->capacity - note->size < size + END_BYTES) {
        size_t capacity = 2 * note->capacity + size + 1024;
        uint8_t *bytes = hf_store_alloc(arena, capacity);

        if (!bytes)
            return false;
        if (note->size)
            memcpy(bytes, note->bytes, note->size);
        note->bytes = bytes;
        note->capacity = capacity;
    }
    to = note->bytes + note->size + sizeof(entry);
    memset(to, 0, size - sizeof(entry) + END_BYTES);
    memcpy(to, key->key.data, key->key.size);
    if (value_size)
        memcpy(to + key->key.size, key->value.data, value_size);
    entry.sum = entry_sum(&entry, to);
    memcpy(note->bytes + note->size, &entry, sizeof(entry));
    note->size += size;
    return true;
}

/* ---- reading ---- */

/* A note in memory, from its beginning to the end of the file. */
struct log {
    struct hf_sqlite_session session;
    uint8_t *bytes;
    size_t size;
};

/* False: it cannot be read. Otherwise log->bytes is to be freed. */
static bool load(struct hf_sqlite *sq, int fd, struct log *log)
{
    uint64_t at;
    struct stat about;
    ssize_t got;

    hf_sqlite_session_read(sq, fd, &log->session);
    at = log->session.term.note_at;
    log->bytes = NULL;
    if (sq->sys->fstat(sq->sys, fd, &about))
        return false;
    log->size = (uint64_t)about.st_size > at
                    ? (size_t)((uint64_t)about.st_size - at)
                    : 0;
    if (log->size > NOTE_MAX)
        return false;
    log->bytes = malloc(log->size + 1);
    if (!log->bytes)
        return false;
    got = sq->sys->pread(sq->sys, fd, log->bytes, log->size, (off_t)at);
    if (got < 0) {
        free(log->bytes);
        return false;
    }
    log->size = (size_t)got;
    return true;
}

/* The whole entry at `at`; false: the note ends here. */
static bool parse_entry(const struct log *log, size_t at, struct entry *entry)
{
    if (log->size - at < sizeof(*entry))
        return false;
    memcpy(entry, log->bytes + at, sizeof(*entry));
    return entry->size >= sizeof(*entry) && entry->size <= log->size - at &&
           entry->key_size <= HF_STORE_KEY_BYTES_MAX &&
           entry->value_size <= HF_STORE_VALUE_BYTES_MAX &&
           sizeof(*entry) + entry->key_size + entry->value_size <=
               entry->size &&
           entry->sum == entry_sum(entry, log->bytes + at + sizeof(*entry));
}

static size_t end_of(const struct log *log)
{
    struct entry entry;
    size_t at = 0;

    while (parse_entry(log, at, &entry))
        at += entry.size;
    return at;
}

static struct hf_sqlite_noted *find(struct hf_sqlite_noted *keys, size_t count,
                                    const uint8_t *name, size_t size)
{
    struct hf_sqlite_noted *key = keys;

    while (key < keys + count &&
           (key->key.size != size || memcmp(key->key.data, name, size) != 0))
        key++;
    return key;
}

static bool copy_entry(struct hf_store_request *arena,
                       const struct entry *entry, const uint8_t *data,
                       struct hf_sqlite_noted *key)
{
    key->key.data = hf_store_copy(arena, data, entry->key_size);
    key->key.size = entry->key_size;
    key->value.data =
        hf_store_copy(arena, data + entry->key_size, entry->value_size);
    key->value.size = entry->value_size;
    key->created = entry->created;
    key->changed = entry->changed;
    return key->key.data && key->value.data;
}

/* Play the entries: what each key came to. False: no memory. */
static bool play(const struct log *log, struct hf_store_request *arena,
                 struct hf_sqlite_noted **keys, size_t *count)
{
    struct entry entry;
    size_t entries = 0;

    for (size_t at = 0; parse_entry(log, at, &entry); at += entry.size)
        entries++;
    *count = 0;
    *keys = hf_store_alloc(arena, (entries + 1) * sizeof(**keys));
    if (!*keys)
        return false;
    for (size_t at = 0; parse_entry(log, at, &entry); at += entry.size) {
        const uint8_t *data = log->bytes + at + sizeof(entry);
        struct hf_sqlite_noted *key = find(*keys, *count, data, entry.key_size);
        bool is_known = key < *keys + *count;

        if (entry.is_delete && is_known)
            *key = (*keys)[--*count];
        if (entry.is_delete)
            continue;
        if (!is_known)
            (*count)++;
        if (!copy_entry(arena, &entry, data, key))
            return false;
    }
    return true;
}

enum hf_err hf_sqlite_note_read(struct hf_sqlite *sq, int fd,
                                struct hf_store_request *arena,
                                struct hf_sqlite_noted **keys, size_t *count,
                                struct hf_error *error)
{
    struct log log;
    bool played;

    if (!load(sq, fd, &log))
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "a session file in %s cannot be read",
                            sq->place.run);
    played = play(&log, arena, keys, count);
    free(log.bytes);
    if (!played)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a session");
    return HF_ERR_OK;
}

/* ---- writing ---- */

/*
 * A long note is written again, only what still counts of it, into a part of
 * the file that does not count yet; then the file is told where it begins. If
 * anything fails the old one still counts.
 */
static void rewrite(struct hf_sqlite *sq, int fd, struct log *log)
{
    struct hf_store_request arena = {.kind = HF_STORE_TXN};
    struct hf_sqlite_note note = {.size = 0};
    uint64_t base = HF_SQLITE_NOTE_AT;
    uint64_t at = log->session.term.note_at;
    struct hf_sqlite_noted *keys;
    size_t count = 0;
    bool done = play(log, &arena, &keys, &count);

    for (size_t i = 0; done && i < count; i++)
        done = hf_sqlite_note_add(&arena, &note, false, &keys[i]);
    if (done && note.size) {
        at = at - base >= note.size + END_BYTES ? base
                                                : at + end_of(log) + END_BYTES;
        done = sq->sys->pwrite(sq->sys, fd, note.bytes, note.size + END_BYTES,
                               (off_t)at) >= 0 &&
               !hf_sqlite_session_move_note(sq, fd, &log->session, at);
        if (done && at == base)
            (void)sq->sys->truncate(sq->sys, fd,
                                    (off_t)(at + note.size + END_BYTES));
    }
    hf_store_request_clear(&arena);
}

/* Where the note ends, read out of the file. -errno: cannot. */
static off_t find_end(struct hf_sqlite *sq, int fd, struct hf_sqlite_lease *own)
{
    struct log log;
    off_t end;

    if (!load(sq, fd, &log))
        return -EIO;
    /* Only by its owner, who alone remembers where it begins. */
    if (own && log.size > NOTE_LONG) {
        rewrite(sq, fd, &log);
        free(log.bytes);
        if (!load(sq, fd, &log))
            return -EIO;
    }
    end = (off_t)(log.session.term.note_at + end_of(&log));
    if (own) {
        own->note_at = (off_t)log.session.term.note_at;
        own->note_end = end;
    }
    free(log.bytes);
    return end;
}

/* The same for our own one: if nobody added to it, it is where we left it. */
static off_t find_own_end(struct hf_sqlite *sq, struct hf_sqlite_lease *own)
{
    uint32_t next[END_BYTES / sizeof(uint32_t)] = {0};

    if (own->note_at && own->note_end - own->note_at < NOTE_LONG &&
        sq->sys->pread(sq->sys, own->fd, next, sizeof(next), own->note_end) >=
            0 &&
        next[0] == 0)
        return own->note_end;
    return find_end(sq, own->fd, own);
}

enum hf_err hf_sqlite_note_append(struct hf_sqlite *sq, int fd,
                                  struct hf_sqlite_lease *own,
                                  const struct hf_sqlite_note *note,
                                  off_t *undo, struct hf_error *error)
{
    off_t end = own ? find_own_end(sq, own) : find_end(sq, fd, NULL);
    ssize_t put = end;

    *undo = -1;
    if (end >= 0) {
        *undo = end;
        put = sq->sys->pwrite(sq->sys, fd, note->bytes, note->size + END_BYTES,
                              end);
    }
    if (put < 0)
        return hf_sqlite_place_error(
            error, (int)-put, "write a session file in", sq->place.run, "");
    if (own)
        own->note_end = end + (off_t)note->size;
    return HF_ERR_OK;
}

void hf_sqlite_note_cut(struct hf_sqlite *sq, int fd,
                        struct hf_sqlite_lease *own, off_t at)
{
    static const uint8_t end[END_BYTES];
    struct hf_sqlite_session session;

    if (at < 0 && own && own->note_at) {
        at = own->note_at;
    } else if (at < 0) {
        hf_sqlite_session_read(sq, fd, &session);
        at = (off_t)session.term.note_at;
    }
    (void)sq->sys->pwrite(sq->sys, fd, end, sizeof(end), at);
    if (own)
        own->note_end = at;
}

void hf_sqlite_note_undo(struct hf_sqlite *sq, int fd, uint64_t revision)
{
    struct entry entry;
    struct log log;
    size_t at = 0;

    if (!load(sq, fd, &log))
        return;
    while (parse_entry(&log, at, &entry) &&
           (entry.is_delete || entry.changed != revision))
        at += entry.size;
    if (parse_entry(&log, at, &entry))
        hf_sqlite_note_cut(sq, fd, NULL,
                           (off_t)(log.session.term.note_at + at));
    free(log.bytes);
}
