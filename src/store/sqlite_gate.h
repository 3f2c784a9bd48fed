/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate: one flock on the database file round everything that touches the
 * store's files, and the proof, each time it is taken, that the file is still
 * the one that its path names and that all witnesses agree. For
 * src/store/sqlite*.c alone.
 *
 * Detached, a handle has none of the files open; attached, all of them, judged;
 * inside the gate nobody else of any process is.
 */
#ifndef HF_STORE_SQLITE_GATE_H
#define HF_STORE_SQLITE_GATE_H

#include "store/sqlite_store.h"

/*
 * Open and judge the files, and try their locks. The gate is held afterwards.
 * With *is_missing (read only) there is no store. Errors as hf_sqlite_open.
 */
enum hf_err hf_sqlite_attach(struct hf_sqlite *sq, bool *is_missing,
                             struct hf_error *error);
/*
 * The same without the gate, where all is there, whole and in agreement; else
 * false, and detached. Somebody may be writing meanwhile: whoever enters takes
 * the gate and judges all of it again. Only the first to come, or one who finds
 * something amiss, has to wait for the gate to learn what is there.
 */
bool hf_sqlite_look(struct hf_sqlite *sq);
/* How long others may keep us from the store, from now on. */
struct hf_span hf_sqlite_stand_limit(const struct hf_sqlite *sq);
/* Close all of it; the gate is given back. Leases and requests stay. */
void hf_sqlite_detach(struct hf_sqlite *sq);

/*
 * Take the gate, find the store in order or put it in order, and begin a
 * transaction of SQLite's (`writing` or reading). On error nothing is held.
 * With read_only handles *is_missing may come back: no store, nothing is held.
 */
enum hf_err hf_sqlite_enter(struct hf_sqlite *sq, bool writing,
                            bool *is_missing, struct hf_error *error);
/* Roll back what is not committed and give the gate back. */
void hf_sqlite_leave(struct hf_sqlite *sq);
/* Inside, with a transaction that writes and has written nothing: remain there
 * for a request that follows at once; whoever enters next is in already. */
void hf_sqlite_stay(struct hf_sqlite *sq);

/* Is the database file still the one that its path names? */
bool hf_sqlite_is_in_place(struct hf_sqlite *sq);
/* Do mark and head agree with each other and with this boot? */
bool hf_sqlite_witnesses_agree(const struct hf_sqlite *sq);

#endif
