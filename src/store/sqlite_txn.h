/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transaction request. For sqlite.c alone.
 */
#ifndef HF_STORE_SQLITE_TXN_H
#define HF_STORE_SQLITE_TXN_H

#include "store/sqlite_store.h"

/* Carry it out and answer it. */
void hf_sqlite_txn_submit(struct hf_sqlite *sq,
                          struct hf_store_request *request);

#endif
