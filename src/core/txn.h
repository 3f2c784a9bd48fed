/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store request with its own room: what an operation sends. Nothing is
 * copied or allocated between core and store; keys and values are borrowed
 * from the operation. Inside the core only.
 */
#ifndef HF_CORE_TXN_H
#define HF_CORE_TXN_H

#include "core/request.h"

struct hf_op;

/* Anything that can be with the store. */
struct hf_send {
    struct hf_store_request store; /* first: the answer's pointer is ours */
    struct hf_op *op;
    bool out;
    struct hf_time sent_at;
    struct hf_time answer_by;
};

/* A transaction of one branch. */
struct hf_txn {
    struct hf_send send; /* first */
    struct hf_branch branch;
    struct hf_condition conditions[HF_STORE_CONDITIONS_MAX];
    struct hf_action then[HF_STORE_ACTIONS_MAX];
    struct hf_action otherwise[HF_STORE_ACTIONS_MAX];
};

enum hf_side { HF_THEN, HF_OTHERWISE };

/* Make it an empty transaction; the former answer is freed. */
void hf_txn_begin(struct hf_txn *txn);
void hf_txn_if_absent(struct hf_txn *txn, const char *key);
void hf_txn_if_unchanged(struct hf_txn *txn, const char *key,
                         uint64_t revision);
void hf_txn_if_prefix_absent(struct hf_txn *txn, const char *prefix);
void hf_txn_put(struct hf_txn *txn, enum hf_side side, const char *key,
                const char *value, size_t size, hf_lease_id lease);
void hf_txn_delete(struct hf_txn *txn, enum hf_side side, const char *key);
void hf_txn_delete_prefix(struct hf_txn *txn, enum hf_side side,
                          const char *prefix);
/* Both return the action's place on its side, for hf_txn_record and _list. */
size_t hf_txn_get(struct hf_txn *txn, enum hf_side side, const char *key);
size_t hf_txn_list(struct hf_txn *txn, enum hf_side side, const char *prefix,
                   uint32_t limit);

/* After COMMITTED, of the side that was carried out. NULL: absent. */
const struct hf_record *hf_txn_record(const struct hf_txn *txn, size_t place);
const struct hf_action_result *hf_txn_list_of(const struct hf_txn *txn,
                                              size_t place);

#endif
