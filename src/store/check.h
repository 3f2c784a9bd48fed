/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every store refuses before it looks at its data: requests that are not
 * of the form that store.h describes. For stores alone; no state, no I/O.
 */
#ifndef HF_STORE_CHECK_H
#define HF_STORE_CHECK_H

#include "store/store.h"

/*
 * 0, or USAGE with a sentence (the store then answers FAILED with it): limits
 * of store.h, a key or lease that is missing, a number out of range, two
 * actions of one transaction that write one key.
 */
enum hf_err hf_store_request_check(const struct hf_store_request *request,
                                   struct hf_error *error);

/* Has the transaction a put or a delete on any side of any branch? */
bool hf_store_txn_writes(const struct hf_store_request *request);

#endif
