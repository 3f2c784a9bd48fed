/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The note in a session file: the keys that its lease has, as a log of puts and
 * deletes, from which the rows of a lost database are made again. Only with the
 * gate. For src/store/sqlite*.c alone.
 */
#ifndef HF_STORE_SQLITE_NOTE_H
#define HF_STORE_SQLITE_NOTE_H

#include "store/sqlite_session.h"

/* Entries for a note, gathered in a request's memory. */
struct hf_sqlite_note {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

/* A key as a note tells it; bytes belong to the arena it was read into. */
struct hf_sqlite_noted {
    struct hf_bytes key;
    struct hf_bytes value;
    uint64_t created;
    uint64_t changed;
};

/* Add an entry; false: no memory. `arena` lends the bytes. */
bool hf_sqlite_note_add(struct hf_store_request *arena,
                        struct hf_sqlite_note *note, bool is_delete,
                        const struct hf_sqlite_noted *key);

/*
 * Write entries behind the note of an open file; `own` is the lease if it is
 * this handle's, else NULL. *undo is where the note ended.
 */
enum hf_err hf_sqlite_note_append(struct hf_sqlite *sq, int fd,
                                  struct hf_sqlite_lease *own,
                                  const struct hf_sqlite_note *note,
                                  off_t *undo, struct hf_error *error);
/* Cut the note off at a place that append told, or to nothing (-1). */
void hf_sqlite_note_cut(struct hf_sqlite *sq, int fd,
                        struct hf_sqlite_lease *own, off_t at);
/* Cut off what a transaction of `revision` wrote that never came to be. */
void hf_sqlite_note_undo(struct hf_sqlite *sq, int fd, uint64_t revision);

/*
 * The keys that a note tells of, each once; *keys belongs to `arena`. Errors:
 * NOMEM, or UNAVAILABLE when the file cannot be read.
 */
enum hf_err hf_sqlite_note_read(struct hf_sqlite *sq, int fd,
                                struct hf_store_request *arena,
                                struct hf_sqlite_noted **keys, size_t *count,
                                struct hf_error *error);

#endif
