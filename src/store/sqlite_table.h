/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database: what SQLite is asked, and nothing else does. Two tables: `cell`
 * holds all that is now, under keys whose first byte tells the kind; `history`
 * all that changed. All of it only with the gate. For src/store/sqlite*.c
 * alone.
 *
 * Errors of all functions: DAMAGED (the file), NOSPACE, NOMEM, DENIED (read
 * only), UNAVAILABLE (I/O, locks of other programs).
 */
#ifndef HF_STORE_SQLITE_TABLE_H
#define HF_STORE_SQLITE_TABLE_H

#include "store/sqlite_store.h"

/* First byte of a cell's key: its kind. */
enum hf_sqlite_kind {
    HF_SQLITE_RECORD = 'k',   /* + key: what hf_record tells */
    HF_SQLITE_ATTACHED = 'a', /* + lease (8 bytes, high one first) + key */
    HF_SQLITE_LEASE = 'l',    /* + lease; created: TTL in ms, changed: expiry */
    HF_SQLITE_WATCH = 'w',    /* + size of prefix (2) + prefix + FIFO's name */
    HF_SQLITE_META = 'm'
};

enum {
    HF_SQLITE_KEY_MAX = 1 + 8 + HF_STORE_KEY_BYTES_MAX + 32,
    HF_SQLITE_SCHEMA = 1
};

/* A cell's key, kind and all. */
struct hf_sqlite_key {
    size_t size;
    uint8_t bytes[HF_SQLITE_KEY_MAX];
};

/* A row's sum proves no more than that somebody could reckon it: a key must be
 * of a size that a key of its kind can have. */
static inline bool hf_sqlite_is_key(const uint8_t *key, size_t size)
{
    enum { LEASE_SIZE = 1 + sizeof(hf_lease_id) };

    switch ((enum hf_sqlite_kind)key[0]) {
    case HF_SQLITE_RECORD:
        return size > 1 && size <= 1 + HF_STORE_KEY_BYTES_MAX;
    case HF_SQLITE_ATTACHED:
        return size > LEASE_SIZE && size <= LEASE_SIZE + HF_STORE_KEY_BYTES_MAX;
    case HF_SQLITE_LEASE:
        return size == LEASE_SIZE;
    case HF_SQLITE_WATCH:
        return size > 3 && size <= HF_SQLITE_KEY_MAX;
    case HF_SQLITE_META:
        return size == 1;
    }
    return false;
}

/* Bytes are SQLite's, valid until the statement's next use, or copied. */
struct hf_sqlite_cell {
    const uint8_t *key;
    size_t key_size;
    const void *value;
    size_t value_size;
    uint64_t created;
    uint64_t changed;
    hf_lease_id lease;
};

/* A row of history. */
struct hf_sqlite_change {
    uint64_t revision;
    uint32_t sequence; /* its place in that revision */
    bool is_delete;
    bool by_lease;
    struct hf_bytes key;
    struct hf_bytes value;
    uint64_t created;
    uint64_t changed;
    hf_lease_id lease;
};

/* ---- connection ---- */

/* Open the file that the gate is held on. */
enum hf_err hf_sqlite_connect(struct hf_sqlite *sq, struct hf_error *error);
void hf_sqlite_disconnect(struct hf_sqlite *sq);

/* Begin a transaction and read meta (meta_is_there says whether there is one:
 * a database just made is empty). `writing` takes SQLite's write lock. */
enum hf_err hf_sqlite_begin(struct hf_sqlite *sq, bool writing,
                            struct hf_error *error);
enum hf_err hf_sqlite_commit(struct hf_sqlite *sq, struct hf_error *error);
/* No-op without a transaction. */
void hf_sqlite_rollback(struct hf_sqlite *sq);
/* Make the tables. */
enum hf_err hf_sqlite_make_tables(struct hf_sqlite *sq, struct hf_error *error);
/* Write sq->meta. */
enum hf_err hf_sqlite_meta_put(struct hf_sqlite *sq, struct hf_error *error);

/* ---- cells ---- */

void hf_sqlite_key_record(struct hf_sqlite_key *key, struct hf_bytes name);
void hf_sqlite_key_lease(struct hf_sqlite_key *key, hf_lease_id lease);
void hf_sqlite_key_attached(struct hf_sqlite_key *key, hf_lease_id lease,
                            struct hf_bytes name);
/* Of a registration; an empty `fifo` makes the part that all of a prefix
 * share. */
void hf_sqlite_key_watch(struct hf_sqlite_key *key, struct hf_bytes prefix,
                         const char *fifo);

/* *found false when there is none. Valid until the next get. */
enum hf_err hf_sqlite_get(struct hf_sqlite *sq, const struct hf_sqlite_key *key,
                          bool *found, struct hf_sqlite_cell *cell,
                          struct hf_error *error);
/* Write or overwrite. */
enum hf_err hf_sqlite_put(struct hf_sqlite *sq, const struct hf_sqlite_key *key,
                          const struct hf_sqlite_cell *cell,
                          struct hf_error *error);
enum hf_err hf_sqlite_delete(struct hf_sqlite *sq,
                             const struct hf_sqlite_key *key,
                             struct hf_error *error);

/*
 * Walk the cells whose key begins with `prefix`, in order of keys: begin, then
 * next until *found is false, or end before that. One walk at a time, and no
 * writing to cells inside it.
 */
enum hf_err hf_sqlite_walk(struct hf_sqlite *sq,
                           const struct hf_sqlite_key *prefix,
                           struct hf_error *error);
/* The same from `from` on (which need not exist), up to the end of the kind. */
enum hf_err hf_sqlite_walk_from(struct hf_sqlite *sq,
                                const struct hf_sqlite_key *from,
                                struct hf_error *error);
enum hf_err hf_sqlite_walk_next(struct hf_sqlite *sq, bool *found,
                                struct hf_sqlite_cell *cell,
                                struct hf_error *error);
void hf_sqlite_walk_end(struct hf_sqlite *sq);

/* ---- history ---- */

/* Place of a row in its revision: at most so many changes at once. */
enum { HF_SQLITE_CHANGES_MAX = 1 << 15 };
/* Rows that are kept at least, and how many more make a pruning worth while. */
enum { HF_SQLITE_HISTORY_KEPT = 50000, HF_SQLITE_HISTORY_SLACK = 1000 };

enum hf_err hf_sqlite_history_add(struct hf_sqlite *sq,
                                  const struct hf_sqlite_change *change,
                                  struct hf_error *error);
/* Walk the rows with a revision above `after`. */
enum hf_err hf_sqlite_history_after(struct hf_sqlite *sq, uint64_t after,
                                    struct hf_error *error);
enum hf_err hf_sqlite_history_next(struct hf_sqlite *sq, bool *found,
                                   struct hf_sqlite_change *change,
                                   struct hf_error *error);
void hf_sqlite_history_end(struct hf_sqlite *sq);
/* Drop the oldest rows (HF_SQLITE_HISTORY_SLACK of them, about); meta, which
 * the caller writes, says what was compacted. */
enum hf_err hf_sqlite_history_prune(struct hf_sqlite *sq,
                                    struct hf_error *error);
/* Does history tell of the removal of a lease? Looks through all of it. */
enum hf_err hf_sqlite_history_ended(struct hf_sqlite *sq, hf_lease_id lease,
                                    bool *was_ended, struct hf_error *error);
/* Count the rows into meta. */
enum hf_err hf_sqlite_history_recount(struct hf_sqlite *sq,
                                      struct hf_error *error);

/* ---- for the file's repair ---- */

/* Take a row's value apart; false: it is not whole. The cell's key is filled
 * in already; a change's number is that of its row. */
bool hf_sqlite_cell_parse(struct hf_sqlite_cell *cell, const void *bytes,
                          size_t size);
bool hf_sqlite_change_parse(struct hf_sqlite_change *change, uint64_t number,
                            const void *bytes, size_t size);

/*
 * Copy into the open transaction what can be read of the file `path`: history,
 * and records without a lease, for at most `limit`. Counts rows. What cannot be
 * read is no error.
 */
enum hf_err hf_sqlite_salvage(struct hf_sqlite *sq, const char *path,
                              struct hf_span limit, uint64_t *rows,
                              uint64_t *newest, struct hf_error *error);

#endif
