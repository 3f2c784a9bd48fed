/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases: the five requests, and what the handle that granted one must do when
 * the store has changed under it. For src/store/sqlite*.c alone.
 */
#ifndef HF_STORE_SQLITE_LEASE_H
#define HF_STORE_SQLITE_LEASE_H

#include "store/sqlite_session.h"
#include "store/sqlite_store.h"

struct hf_sqlite_edit;

/* Carry out a LEASE_* request and answer it. */
void hf_sqlite_lease_submit(struct hf_sqlite *sq,
                            struct hf_store_request *request);
/* The handle closes: forget its leases; those that have keys go on. */
void hf_sqlite_lease_forget_all(struct hf_sqlite *sq);

/* A lease of ours has no row: was it removed, or did only its last key go? */
enum hf_err hf_sqlite_lease_was_ended(struct hf_sqlite *sq,
                                      const struct hf_sqlite_lease *lease,
                                      bool *was_ended, struct hf_error *error);

/*
 * The store was made anew or mended while we lived: put our leases and their
 * keys back, as far as nobody took them. Inside the gate, without a
 * transaction.
 */
enum hf_err hf_sqlite_lease_return(struct hf_sqlite *sq,
                                   struct hf_error *error);

/*
 * Is a lease with a row, not granted by this handle, at its end: lapsed, or all
 * of its processes dead? Costs system calls.
 */
enum hf_err hf_sqlite_lease_is_over(struct hf_sqlite *sq, hf_lease_id lease,
                                    struct hf_time now, bool *is_over,
                                    struct hf_error *error);

#endif
