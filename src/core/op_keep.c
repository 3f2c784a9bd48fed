/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KEEP: from now on nobody else gets this key before `keep_ms` have passed,
 * even if its holder dies or lets go. A record of its own on a lease of its own
 * that nobody renews and no death ends: every grant asks that it be absent.
 */
#include <string.h>

#include "core/op.h"

enum { START, LEASE, PHASE, PUT, REVOKE };
enum { RETRIES_MAX = 3 };

static const struct hf_hold_ref *hold_of(const struct hf_op *op)
{
    return &op->request->holds[0];
}

static void keep_start(struct hf_op *op)
{
    struct hf_request *request = op->request;
    struct hf_holder *who = &request->holder;
    struct hf_error error;

    if (request->hold_count != 1 || !request->holds ||
        request->keep_ms < HF_TTL_LEAST_MS ||
        request->keep_ms > HF_TTL_MOST_MS) {
        hf_op_fail(op, HF_ERR_USAGE,
                   "a key is kept for one hold, from 1 s to 24 h");
        return;
    }
    if (hf_key_check(hold_of(op)->key, &error)) {
        hf_op_fail_with(op, &error);
        return;
    }
    who->version = HF_RECORD_VERSION;
    who->epoch = hf_token_epoch(hold_of(op)->token);
    who->mode = (int)hold_of(op)->mode;
    who->uid = request->uid;
    who->since_wall_ms = op->core->wall.ns / 1000000;
    who->since_steady_ms = op->core->now.ns / 1000000;
    memcpy(who->grant, hold_of(op)->grant, sizeof(who->grant));
    memcpy(who->session, request->session.id, sizeof(who->session));
    if (hf_record_encode_holder(who, &op->u.keep.value)) {
        hf_op_fail(op, HF_ERR_NOMEM, "no memory for the record");
        return;
    }
    hf_op_paths(op, hold_of(op)->key, NULL, hold_of(op)->grant);
    hf_store_request_clear(&op->txn.send.store);
    op->txn.send.store.kind = HF_STORE_LEASE_GRANT;
    op->txn.send.store.ttl_ms = request->keep_ms;
    op->state = LEASE;
    hf_op_send(op, &op->txn.send);
}

static void lease_request(struct hf_op *op, enum hf_store_kind kind, int state)
{
    hf_store_request_clear(&op->txn.send.store);
    op->txn.send.store.kind = kind;
    op->txn.send.store.lease = op->u.keep.lease;
    op->txn.send.store.phase = HF_PHASE_STARTED;
    op->txn.send.store.cgroup = NULL;
    op->state = state;
    hf_op_send(op, &op->txn.send);
}

static void put_floor(struct hf_op *op)
{
    const struct hf_hold_ref *hold = hold_of(op);

    hf_txn_begin(&op->txn);
    hf_txn_if_unchanged(
        &op->txn, hold->mode == HF_SHARED ? op->paths.share : op->paths.hold,
        hf_token_revision(hold->token));
    hf_txn_put(&op->txn, HF_THEN, op->paths.floor, op->u.keep.value.text,
               op->u.keep.value.size, op->u.keep.lease);
    op->state = PUT;
    hf_op_send(op, &op->txn.send);
}

/* It did not come to be: the lease is given back, the answer is said. */
static void give_up(struct hf_op *op, const struct hf_error *error)
{
    if (op->request) {
        op->request->error = *error;
        hf_op_reply(op, HF_ANSWER_FAILED);
    }
    if (op->u.keep.lease)
        lease_request(op, HF_STORE_LEASE_REVOKE, REVOKE);
    else
        hf_op_end(op);
}

static void was_put(struct hf_op *op)
{
    struct hf_error error;

    if (op->txn.branch.held) {
        hf_op_reply(op, HF_ANSWER_DONE);
        hf_op_end(op);
        return;
    }
    (void)hf_error_set(&error, HF_ERR_LOST,
                       "the hold to be kept does not stand any more");
    give_up(op, &error);
}

static void keep_answer(struct hf_op *op, struct hf_send *send)
{
    struct hf_store_request *store = &send->store;
    struct hf_error error = store->error;

    if (op->state == REVOKE) {
        hf_op_end(op);
        return;
    }
    if (op->state == LEASE && store->outcome == HF_OUTCOME_COMMITTED)
        op->u.keep.lease = store->lease;
    if (!op->request) {
        give_up(op, &error);
        return;
    }
    if (store->outcome == HF_OUTCOME_UNKNOWN && op->state == PUT &&
        ++op->u.keep.retries <= RETRIES_MAX) {
        put_floor(op); /* the same record again: harmless */
        return;
    }
    if (store->outcome != HF_OUTCOME_COMMITTED) {
        if (store->outcome == HF_OUTCOME_REFUSED)
            (void)hf_error_set(&error, HF_ERR_UNAVAILABLE,
                               "the store ended the lease of a kept key");
        give_up(op, &error);
        return;
    }
    switch (op->state) {
    case LEASE:
        lease_request(op, HF_STORE_LEASE_PHASE, PHASE);
        return;
    case PHASE:
        put_floor(op);
        return;
    default:
        was_put(op);
        return;
    }
}

static void keep_nothing(struct hf_op *op)
{
    (void)op;
}

const struct hf_op_kind hf_op_keep = {
    .size = sizeof(((struct hf_op *)0)->u.keep),
    .start = keep_start,
    .answer = keep_answer,
    .timer = keep_nothing,
    .gone = keep_nothing,
};
