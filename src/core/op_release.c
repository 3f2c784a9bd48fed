/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RELEASE: a hold given back by its token. Its last-change revision must be the
 * token's, so an old token releases nothing. Alone it is one transaction of
 * nothing but deletes. With waiters it is a hand-off: the same transaction puts
 * the next one's hold. A waiter's row hangs on the waiter's lease, so its
 * unchanged row is also the proof that the lease is there.
 */
#include <stdlib.h>
#include <string.h>

#include "core/op.h"

enum { START, LOOK, TRY, HANDOFF, PLAIN, SHARED_HANDOFF };
enum { READ_MINE, READ_EPOCH, READ_WAITS, READ_HOLD, READ_FLOOR };
enum { RETRIES_MAX = 6 };

static const char *mine(const struct hf_op *op)
{
    return op->u.release.hold.mode == HF_SHARED ? op->paths.share
                                                : op->paths.hold;
}

static uint64_t my_revision(const struct hf_op *op)
{
    return hf_token_revision(op->u.release.hold.token);
}

static void reads(struct hf_op *op, enum hf_side side)
{
    (void)hf_txn_get(&op->txn, side, mine(op));
    (void)hf_txn_get(&op->txn, side, op->paths.epoch);
    (void)hf_txn_list(&op->txn, side, op->paths.waits, HF_HANDOFF_MAX);
    (void)hf_txn_get(&op->txn, side, op->paths.hold);
    (void)hf_txn_get(&op->txn, side, op->paths.floor);
}

/*
 * A revision names a grant only within one epoch of one store. Where the token
 * is of another epoch than the one in use (a store raised it, and left the
 * holds), or none is known, the hold itself is asked first.
 */
static void look(struct hf_op *op)
{
    hf_txn_begin(&op->txn);
    reads(op, HF_THEN);
    op->state = LOOK;
    hf_op_send(op, &op->txn.send);
}

/* A session whose record must outlast its holds is ended by its lease. */
static void delete_session(struct hf_op *op)
{
    const struct hf_release *release = &op->u.release;

    if (release->last && release->session.id[0] && !release->session.was_unsure)
        hf_txn_delete(&op->txn, HF_THEN, op->paths.session);
}

/* Nothing but deletes; `even_if_awaited` leaves waiters to their polls. */
static void release_alone(struct hf_op *op, bool even_if_awaited)
{
    hf_txn_begin(&op->txn);
    op->txn.send.store.expect = op->u.release.expect;
    hf_txn_if_unchanged(&op->txn, mine(op), my_revision(op));
    if (!even_if_awaited)
        hf_txn_if_prefix_absent(&op->txn, op->paths.waits);
    hf_txn_delete(&op->txn, HF_THEN, mine(op));
    delete_session(op);
    reads(op, HF_OTHERWISE);
    op->state = even_if_awaited ? PLAIN : TRY;
    hf_op_send(op, &op->txn.send);
}

static void put_heirs(struct hf_op *op)
{
    const struct hf_release *release = &op->u.release;
    size_t i;

    for (i = 0; i < release->heir_count; i++) {
        const struct hf_heir *heir = &release->heirs[i];

        hf_txn_if_unchanged(&op->txn, heir->path, heir->revision);
        hf_txn_delete(&op->txn, HF_THEN, heir->path);
        hf_txn_put(&op->txn, HF_THEN, heir->hold, heir->value.text,
                   heir->value.size, heir->lease);
    }
}

/* An exclusive hold passes to whom the queue names. */
static void hand_off(struct hf_op *op)
{
    const struct hf_release *release = &op->u.release;
    bool overwritten = strcmp(release->heirs[0].hold, op->paths.hold) == 0;

    hf_txn_begin(&op->txn);
    op->txn.send.store.expect = op->core->seal.identity;
    hf_txn_if_unchanged(&op->txn, op->paths.epoch, op->core->seal.revision);
    hf_txn_if_unchanged(&op->txn, mine(op), my_revision(op));
    hf_txn_if_absent(&op->txn, op->paths.floor);
    put_heirs(op);
    if (!overwritten)
        hf_txn_delete(&op->txn, HF_THEN, mine(op));
    delete_session(op);
    reads(op, HF_OTHERWISE);
    op->state = HANDOFF;
    hf_op_send(op, &op->txn.send);
}

/* After the last shared hold went, the key is nobody's: wake the head. */
static void pass_on_shared(struct hf_op *op)
{
    hf_txn_begin(&op->txn);
    op->txn.send.store.expect = op->core->seal.identity;
    hf_txn_if_unchanged(&op->txn, op->paths.epoch, op->core->seal.revision);
    hf_txn_if_absent(&op->txn, op->paths.hold);
    hf_txn_if_absent(&op->txn, op->paths.floor);
    hf_txn_if_prefix_absent(&op->txn, op->paths.shares);
    put_heirs(op);
    op->state = SHARED_HANDOFF;
    hf_op_send(op, &op->txn.send);
}

static void release_start(struct hf_op *op)
{
    struct hf_release *release = &op->u.release;
    struct hf_request *request = op->request;
    struct hf_error error;

    if (op->state == HANDOFF || op->state == SHARED_HANDOFF) {
        /* The epoch is known now. */
        if (!op->core->seal.known || op->core->seal.sealed)
            release_alone(op, true);
        else if (op->state == HANDOFF)
            hand_off(op);
        else
            pass_on_shared(op);
        return;
    }
    if (request->hold_count != 1 || !request->holds) {
        hf_op_fail(op, HF_ERR_USAGE, "a release names one hold");
        return;
    }
    release->hold = request->holds[0];
    release->session = request->session;
    release->last = request->last;
    if (hf_key_check(release->hold.key, &error)) {
        hf_op_fail_with(op, &error);
        return;
    }
    hf_op_paths(op, release->hold.key,
                release->session.id[0] ? release->session.id : NULL,
                release->hold.grant);
    if (!op->core->seal.known ||
        op->core->seal.epoch != hf_token_epoch(release->hold.token)) {
        look(op);
        return;
    }
    release->expect = op->core->seal.identity;
    release_alone(op, false);
}

static void released(struct hf_op *op)
{
    hf_op_reply(op, HF_ANSWER_DONE);
    hf_op_end(op);
}

static void not_held(struct hf_op *op)
{
    struct hf_request *request = op->request;
    const struct hf_record *who = hf_txn_record(&op->txn, READ_HOLD);
    struct hf_error ignored;

    if (request && who) {
        request->infos = calloc(1, sizeof(*request->infos));
        if (request->infos && !hf_record_info(who, request->infos, &ignored))
            request->info_count = 1;
    }
    hf_op_reply(op, HF_ANSWER_NOT_HELD);
    hf_op_end(op);
}

/* The transaction's conditions failed: why, and what now? */
static void blocked(struct hf_op *op)
{
    struct hf_release *release = &op->u.release;
    const struct hf_record *hold = hf_txn_record(&op->txn, READ_MINE);

    if (!hold || hold->changed != my_revision(op)) {
        /* If an earlier try of ours is in doubt, this was it. */
        if (release->unsure)
            released(op);
        else
            not_held(op);
        return;
    }
    if (!hf_seal_agrees(op->core, hf_txn_record(&op->txn, READ_EPOCH)))
        hf_seal_forget(op->core);
    hf_queue_heirs(op, hf_txn_list_of(&op->txn, READ_WAITS));
    /* A key that is kept passes to nobody yet: its waiters poll. */
    if (release->heir_count == 0 || ++release->retries > RETRIES_MAX ||
        release->hold.mode == HF_SHARED ||
        hf_txn_record(&op->txn, READ_FLOOR)) {
        release_alone(op, true);
        return;
    }
    op->state = HANDOFF;
    if (!op->core->seal.known && !op->request) {
        release_alone(op, true);
        return;
    }
    if (op->core->seal.known && op->core->seal.sealed)
        release_alone(op, true);
    else if (hf_seal_need(op))
        hand_off(op);
}

/* Is what stands there the grant that the token names? */
static void looked(struct hf_op *op)
{
    struct hf_release *release = &op->u.release;
    const struct hf_record *hold = hf_txn_record(&op->txn, READ_MINE);
    struct hf_holder who;
    struct hf_error error;
    enum hf_err err = HF_ERR_NOT_HELD;

    if (hold && hold->changed == my_revision(op))
        err = hf_record_decode_holder(hold->value, &who, &error);
    if (err == HF_ERR_NOMEM) {
        hf_op_fail_with(op, &error);
    } else if (!err && who.epoch == hf_token_epoch(release->hold.token)) {
        release->expect = op->txn.send.store.identity;
        release_alone(op, false);
    } else if (release->unsure) {
        released(op);
    } else {
        not_held(op);
    }
}

/* Gone is gone; a shared hold that was awaited passes the key on. */
static void went(struct hf_op *op)
{
    struct hf_release *release = &op->u.release;

    if (op->state == PLAIN && release->hold.mode == HF_SHARED &&
        release->heir_count > 0 && op->core->seal.known &&
        !op->core->seal.sealed) {
        pass_on_shared(op);
        return;
    }
    released(op);
}

static void release_answer(struct hf_op *op, struct hf_send *send)
{
    struct hf_release *release = &op->u.release;
    struct hf_store_request *store = &send->store;

    if (op->state == SHARED_HANDOFF) {
        /* Ours is gone already; should this have failed, they poll. */
        released(op);
        return;
    }
    switch (store->outcome) {
    case HF_OUTCOME_COMMITTED:
        if (op->state == LOOK)
            looked(op);
        else if (op->txn.branch.held)
            went(op);
        else
            blocked(op);
        return;
    case HF_OUTCOME_REFUSED:
        if (++release->retries > RETRIES_MAX) {
            hf_op_fail(op, HF_ERR_UNAVAILABLE,
                       "the store kept changing while the key was released");
            return;
        }
        if (store->refusal == HF_REFUSED_LEASE) {
            release_alone(op, true); /* an heir is gone */
            return;
        }
        hf_seal_forget(op->core);
        look(op);
        return;
    case HF_OUTCOME_UNKNOWN:
        /* By compare on our own revision: harmless to ask again. */
        release->unsure = release->unsure || op->state != LOOK;
        if (++release->retries <= RETRIES_MAX) {
            if (op->state == LOOK)
                look(op);
            else
                release_alone(op, op->state != TRY);
            return;
        }
        break;
    case HF_OUTCOME_FAILED:
        if (op->state == HANDOFF && ++release->retries <= RETRIES_MAX) {
            release_alone(op, true);
            return;
        }
        break;
    }
    hf_op_fail_with(op, &store->error);
}

static void release_nothing(struct hf_op *op)
{
    (void)op;
}

const struct hf_op_kind hf_op_release = {
    .size = sizeof(struct hf_release),
    .start = release_start,
    .answer = release_answer,
    .timer = release_nothing,
    .gone = release_nothing,
};
