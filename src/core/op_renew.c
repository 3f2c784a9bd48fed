/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RENEW: a keepalive, and then a look. A keepalive answer alone is no proof of
 * a hold (a store may answer it for a lease that is being revoked), so the
 * answer to the client rests on one read of the epoch record, the session's
 * record and the holds, after it. The client's deadline counts from before the
 * keepalive was sent.
 */
#include <stdlib.h>
#include <string.h>

#include "core/op.h"

enum { START, KEEPALIVE, LOOK };
enum { RETRIES_MAX = 2 };
enum { READ_EPOCH, READ_SESSION, READ_HOLDS };

static void keepalive(struct hf_op *op)
{
    struct hf_store_request *store = &op->txn.send.store;

    hf_store_request_clear(store);
    store->kind = HF_STORE_LEASE_RENEW;
    store->lease = op->request->session.lease;
    store->expect = op->core->seal.identity;
    store->stand_until = op->request->stand_until;
    op->state = KEEPALIVE;
    hf_op_send(op, &op->txn.send);
    op->u.renew.sent_at = op->txn.send.sent_at;
}

static void renew_start(struct hf_op *op)
{
    const struct hf_request *request = op->request;
    size_t i;

    if (request->hold_count > HF_RENEW_HOLDS_MAX) {
        hf_op_fail(op, HF_ERR_USAGE, "a renewal names at most %d holds",
                   HF_RENEW_HOLDS_MAX);
        return;
    }
    for (i = 0; i < request->hold_count; i++)
        request->holds[i].stands = false;
    if (hf_seal_need(op))
        keepalive(op);
}

static void look(struct hf_op *op)
{
    const struct hf_request *request = op->request;
    size_t i;

    hf_op_paths(op, "", request->session.id, NULL);
    hf_txn_begin(&op->txn);
    op->txn.send.store.expect = op->core->seal.identity;
    op->txn.send.store.stand_until = request->stand_until;
    (void)hf_txn_get(&op->txn, HF_THEN, op->paths.epoch);
    (void)hf_txn_get(&op->txn, HF_THEN, op->paths.session);
    for (i = 0; i < request->hold_count; i++) {
        const struct hf_hold_ref *hold = &request->holds[i];

        hf_path_of_hold(op->u.renew.paths[i], hold);
        (void)hf_txn_get(&op->txn, HF_THEN, op->u.renew.paths[i]);
    }
    op->state = LOOK;
    hf_op_send(op, &op->txn.send);
}

/*
 * Does the grant stand? A revision may repeat under another epoch; a grant id
 * does not. Errors: NOMEM, and it is not known.
 */
static enum hf_err judge_hold(const struct hf_record *hold,
                              struct hf_hold_ref *ref, struct hf_error *error)
{
    struct hf_holder who;
    enum hf_err err;

    ref->stands = false;
    if (!hold || hold->changed != hf_token_revision(ref->token))
        return HF_ERR_OK;
    err = hf_record_decode_holder(hold->value, &who, error);
    ref->stands = !err && memcmp(who.grant, ref->grant, sizeof(who.grant)) == 0;
    return err == HF_ERR_NOMEM ? err : HF_ERR_OK;
}

/* Sealed, advanced or restored meanwhile: once more, with what is true. */
static void begin_again(struct hf_op *op)
{
    hf_seal_forget(op->core);
    if (op->u.renew.retries++ >= RETRIES_MAX)
        hf_op_fail(op, HF_ERR_SEALED, "the epoch keeps changing");
    else if (hf_seal_need(op))
        keepalive(op);
}

static void looked(struct hf_op *op)
{
    struct hf_request *request = op->request;
    const struct hf_record *session = hf_txn_record(&op->txn, READ_SESSION);
    size_t i;

    if (!hf_seal_agrees(op->core, hf_txn_record(&op->txn, READ_EPOCH))) {
        begin_again(op);
        return;
    }
    if (!session && request->session.revision != 0) {
        hf_op_reply(op, HF_ANSWER_LOST);
        hf_op_end(op);
        return;
    }
    if (session)
        request->session.revision = session->changed;
    for (i = 0; i < request->hold_count; i++) {
        const struct hf_record *hold =
            session ? hf_txn_record(&op->txn, READ_HOLDS + i) : NULL;
        struct hf_error error;

        if (judge_hold(hold, &request->holds[i], &error)) {
            hf_op_fail_with(op, &error);
            return;
        }
    }
    request->sent_at = op->u.renew.sent_at;
    hf_op_reply(op, HF_ANSWER_DONE);
    hf_op_end(op);
}

static void renew_answer(struct hf_op *op, struct hf_send *send)
{
    struct hf_store_request *store = &send->store;

    if (!op->request) {
        hf_op_end(op);
        return;
    }
    switch (store->outcome) {
    case HF_OUTCOME_COMMITTED:
        if (op->state == KEEPALIVE) {
            op->request->ttl_ms = store->ttl_ms;
            look(op);
        } else {
            looked(op);
        }
        return;
    case HF_OUTCOME_REFUSED:
        if (store->refusal == HF_REFUSED_IDENTITY) {
            begin_again(op);
            return;
        }
        hf_op_reply(op, HF_ANSWER_LOST);
        hf_op_end(op);
        return;
    case HF_OUTCOME_UNKNOWN:
    case HF_OUTCOME_FAILED:
        hf_op_fail_with(op, &store->error);
        return;
    }
}

static void renew_nothing(struct hf_op *op)
{
    (void)op;
}

/* The paths are ours, the holds are the client's: nothing goes on. */
static void renew_gone(struct hf_op *op)
{
    hf_op_end(op);
}

const struct hf_op_kind hf_op_renew = {
    .size = sizeof(((struct hf_op *)0)->u.renew),
    .start = renew_start,
    .answer = renew_answer,
    .timer = renew_nothing,
    .gone = renew_gone,
};
