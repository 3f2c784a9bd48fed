/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What op_acquire.c (getting and settling) and op_wait.c (the queue) share of
 * the one operation ACQUIRE. Inside the core only.
 */
#ifndef HF_CORE_ACQUIRE_H
#define HF_CORE_ACQUIRE_H

#include "core/op.h"

enum hf_acquire_state {
    HF_ACQUIRE_START,   /* nothing is out; waits for the epoch */
    HF_ACQUIRE_READ,    /* looks before it tries, where losing costs a commit */
    HF_ACQUIRE_TRY,     /* puts the hold if nobody is in the way */
    HF_ACQUIRE_ENQUEUE, /* puts our row into the queue */
    HF_ACQUIRE_WAITING, /* only the watch is out */
    HF_ACQUIRE_LOOK,    /* takes the key if it is ours to take, else reads */
    HF_ACQUIRE_LEAVE,   /* takes our row out of the queue */
    HF_ACQUIRE_SETTLE,  /* makes a late grant impossible, and reads */
    HF_ACQUIRE_ORPHAN   /* granted, but nobody wants it any more */
};

/* What the reads of a transaction saw, in the order in which they are sent. */
struct hf_acquire_seen {
    const struct hf_record *epoch;
    const struct hf_record *session;
    const struct hf_record *hold;
    const struct hf_record *floor; /* the key is kept, though not held */
    const struct hf_record *share; /* our own */
    const struct hf_record *wait;  /* our own */
    const struct hf_action_result *shares;
    const struct hf_action_result *waits;
};

/* Put the reads on a side; see what they saw after COMMITTED. */
void hf_acquire_reads(struct hf_op *op, enum hf_side side);
void hf_acquire_see(const struct hf_op *op, struct hf_acquire_seen *seen);
/* Conditions: epoch record and session record as we know them. */
void hf_acquire_guard(struct hf_op *op);
/* Put the session's record too if it is not written yet. */
void hf_acquire_put_session(struct hf_op *op, enum hf_side side);
/* Encode who we are, as of now; false: the operation was failed. */
bool hf_acquire_encode(struct hf_op *op);
/* Path of the hold or share that we want. */
const char *hf_acquire_mine(const struct hf_op *op);

/* From the top: what comes next depends on what is known. */
void hf_acquire_go(struct hf_op *op);
/* The same, but not for ever: ends with an error after too many rounds. */
void hf_acquire_retry(struct hf_op *op);
/* Epoch or session moved under us: true if it was dealt with. */
bool hf_acquire_stale(struct hf_op *op, const struct hf_acquire_seen *seen);
/* Does what was seen show our grant? Its revision, or 0. */
uint64_t hf_acquire_granted_at(const struct hf_op *op,
                               const struct hf_acquire_seen *seen);
void hf_acquire_granted(struct hf_op *op, uint64_t revision);
/* Put into the request who is in the way, and our place; while it waits its
 * owner may look there. */
void hf_acquire_tell_who(struct hf_op *op, const struct hf_acquire_seen *seen);
void hf_acquire_busy(struct hf_op *op, const struct hf_acquire_seen *seen);
void hf_acquire_lost(struct hf_op *op);
void hf_acquire_settle(struct hf_op *op);
/* An answer that is not COMMITTED; true: dealt with. FAILED is not. */
bool hf_acquire_refused(struct hf_op *op, const struct hf_store_request *store);

/* ---- op_wait.c ---- */
void hf_wait_enqueue(struct hf_op *op);
void hf_wait_enqueued(struct hf_op *op);
void hf_wait_look(struct hf_op *op);
void hf_wait_looked(struct hf_op *op);
void hf_wait_stay(struct hf_op *op);
void hf_wait_woken(struct hf_op *op);
void hf_wait_leave(struct hf_op *op);
void hf_wait_left(struct hf_op *op);

#endif
