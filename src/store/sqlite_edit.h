/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An edit: changes of keys that are committed together, with all that goes with
 * them: history, what hangs on leases, the head before and after, notes in
 * session files, wake-ups. Between hf_sqlite_enter(writing) and
 * hf_sqlite_leave. For src/store/sqlite*.c alone.
 */
#ifndef HF_STORE_SQLITE_EDIT_H
#define HF_STORE_SQLITE_EDIT_H

#include "store/sqlite_note.h"
#include "store/sqlite_store.h"
#include "store/sqlite_table.h"

/* A lease that the edit touches. */
struct hf_sqlite_touched {
    struct hf_sqlite_touched *next;
    hf_lease_id id;
    struct hf_sqlite_lease *own; /* NULL: another handle's */
    bool has_row;
    bool lost_key;
    bool removed; /* with all its keys, by this edit */
    struct hf_sqlite_note puts;
    struct hf_sqlite_note deletes;
    int fd; /* open while the note is written; the own one is borrowed */
    off_t undo;
};

/* A key that changed, for those who watch it. */
struct hf_sqlite_changed {
    struct hf_sqlite_changed *next;
    struct hf_bytes key;
};

/* A watcher to be woken: its FIFO, open. */
struct hf_sqlite_wake {
    struct hf_sqlite_wake *next;
    int fd;
    char fifo[24];
};

struct hf_sqlite_edit {
    struct hf_sqlite *sq;
    struct hf_store_request *arena; /* its memory is the edit's too */
    struct hf_time now;
    uint64_t last;     /* the newest revision given, this edit's among them */
    uint64_t written;  /* the newest one with a change in it; 0: none yet */
    uint64_t revision; /* under which the next change is written */
    uint32_t sequence;
    bool is_new;  /* `revision` has no change yet */
    bool is_lean; /* no room: without history, which counts as compacted */
    struct hf_sqlite_touched *touched;
    struct hf_sqlite_changed *changed;
    struct hf_sqlite_wake *wakes;
};

void hf_sqlite_edit_begin(struct hf_sqlite_edit *edit, struct hf_sqlite *sq,
                          struct hf_store_request *arena);
/*
 * What follows is written at a revision of its own. Raises the mark's bound
 * when that is needed. Errors: UNAVAILABLE, NOSPACE, DENIED.
 */
enum hf_err hf_sqlite_edit_revision(struct hf_sqlite_edit *edit,
                                    struct hf_error *error);

/* Raise epoch_min to `epoch`, if it is lower. Errors as above. */
enum hf_err hf_sqlite_edit_epoch(struct hf_sqlite_edit *edit, uint32_t epoch,
                                 struct hf_error *error);

/*
 * Put one key. *is_refused: the lease is not there. UNAVAILABLE also when the
 * store may not grant yet (see the quarantine in embedded-store.md).
 */
enum hf_err hf_sqlite_edit_put(struct hf_sqlite_edit *edit,
                               struct hf_bytes name, struct hf_bytes value,
                               hf_lease_id lease, bool *is_refused,
                               struct hf_error *error);
/* Delete one key, if it is there. */
enum hf_err hf_sqlite_edit_delete(struct hf_sqlite_edit *edit,
                                  struct hf_bytes name, struct hf_error *error);
enum hf_err hf_sqlite_edit_delete_prefix(struct hf_sqlite_edit *edit,
                                         struct hf_bytes prefix,
                                         struct hf_error *error);
/* Remove a lease that has a row, with all its keys, at the present revision. */
enum hf_err hf_sqlite_edit_remove_lease(struct hf_sqlite_edit *edit,
                                        hf_lease_id lease,
                                        struct hf_error *error);
/* Put back a key as a note tells it: created and changed stay what they were,
 * and no history is written. */
enum hf_err hf_sqlite_edit_restore(struct hf_sqlite_edit *edit,
                                   hf_lease_id lease,
                                   const struct hf_sqlite_noted *key,
                                   struct hf_error *error);
/* Write the row of a lease. */
enum hf_err hf_sqlite_edit_lease_row(struct hf_sqlite *sq, hf_lease_id lease,
                                     int64_t ttl_ms, struct hf_time expires,
                                     struct hf_error *error);

/* Has anything changed? */
bool hf_sqlite_edit_has_changes(const struct hf_sqlite_edit *edit);
/*
 * Commit. OK: it stands. Otherwise *is_unknown tells a failure that may have
 * been carried out from one that certainly was not. The SQLite transaction is
 * over either way; the gate is kept.
 */
enum hf_err hf_sqlite_edit_commit(struct hf_sqlite_edit *edit, bool *is_unknown,
                                  struct hf_error *error);
/* Give up what was not committed. */
void hf_sqlite_edit_abort(struct hf_sqlite_edit *edit);

/* Own lease by number, or NULL. */
struct hf_sqlite_lease *hf_sqlite_lease_find(const struct hf_sqlite *sq,
                                             hf_lease_id lease);

#endif
