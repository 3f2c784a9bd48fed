/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waking those who watch: registrations in the database, a FIFO for each handle
 * that has any. The writer finds and opens them before its commit, and writes a
 * byte into each behind it. For src/store/sqlite*.c alone.
 */
#ifndef HF_STORE_SQLITE_WAKE_H
#define HF_STORE_SQLITE_WAKE_H

#include "store/sqlite_edit.h"

/* Open the FIFOs of those who watch a key that changed; registrations whose
 * watcher is gone are deleted. Into edit->wakes. */
enum hf_err hf_sqlite_wake_find(struct hf_sqlite_edit *edit,
                                struct hf_error *error);
void hf_sqlite_wake_all(struct hf_sqlite_edit *edit);
/* Close them without a byte. */
void hf_sqlite_wake_drop(struct hf_sqlite_edit *edit);

/* Register `prefix` for this handle, in the open transaction, unless it is;
 * makes the FIFO. *added: there is something to commit. */
enum hf_err hf_sqlite_wake_register(struct hf_sqlite *sq,
                                    struct hf_store_request *arena,
                                    struct hf_bytes prefix, bool *added,
                                    struct hf_error *error);
/* Forget all registrations of this handle, and its FIFO. */
void hf_sqlite_wake_unregister(struct hf_sqlite *sq);
/* The FIFO alone: the files that it goes with are not ours any more. */
void hf_sqlite_wake_close(struct hf_sqlite *sq);
/* Empty the FIFO; was there anything in it? */
bool hf_sqlite_wake_drain(struct hf_sqlite *sq);
/* Let the epoll descriptor, if there is one, listen to the FIFO, if there is
 * one. */
void hf_sqlite_wake_listen(struct hf_sqlite *sq);

#endif
