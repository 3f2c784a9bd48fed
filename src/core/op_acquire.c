/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ACQUIRE: a hold on a key. One transaction grants it: epoch and session
 * records unchanged, nobody holds, nobody waits. An unknown outcome is settled
 * by a write: the session's record is put again, so that the late grant fails
 * its compare, and what is read in that same transaction is final (hazards of
 * etcd: a read alone settles nothing). What waits is in op_wait.c.
 */
#include <stdlib.h>
#include <string.h>

#include "core/acquire.h"

enum { RETRIES_MAX = 12 };
enum {
    READ_EPOCH,
    READ_SESSION,
    READ_HOLD,
    READ_SHARE,
    READ_WAIT,
    READ_FLOOR,
    READ_SHARES,
    READ_WAITS
};
/* Enough of the queue's head to know whether we stand there. */
enum { WAITS_READ = HF_AHEAD_MAX + 2 };

const char *hf_acquire_mine(const struct hf_op *op)
{
    return op->u.acquire.mode == HF_SHARED ? op->paths.share : op->paths.hold;
}

void hf_acquire_reads(struct hf_op *op, enum hf_side side)
{
    struct hf_txn *txn = &op->txn;

    op->u.acquire.reads_at[side] = hf_txn_get(txn, side, op->paths.epoch);
    (void)hf_txn_get(txn, side, op->paths.session);
    (void)hf_txn_get(txn, side, op->paths.hold);
    (void)hf_txn_get(txn, side, op->paths.share);
    (void)hf_txn_get(txn, side, op->paths.wait);
    (void)hf_txn_get(txn, side, op->paths.floor);
    (void)hf_txn_list(txn, side, op->paths.shares, 1);
    (void)hf_txn_list(txn, side, op->paths.waits, WAITS_READ);
}

void hf_acquire_see(const struct hf_op *op, struct hf_acquire_seen *seen)
{
    const struct hf_txn *txn = &op->txn;
    size_t at =
        op->u.acquire.reads_at[txn->branch.held ? HF_THEN : HF_OTHERWISE];

    *seen = (struct hf_acquire_seen){
        .epoch = hf_txn_record(txn, at + READ_EPOCH),
        .session = hf_txn_record(txn, at + READ_SESSION),
        .hold = hf_txn_record(txn, at + READ_HOLD),
        .share = hf_txn_record(txn, at + READ_SHARE),
        .wait = hf_txn_record(txn, at + READ_WAIT),
        .floor = hf_txn_record(txn, at + READ_FLOOR),
        .shares = hf_txn_list_of(txn, at + READ_SHARES),
        .waits = hf_txn_list_of(txn, at + READ_WAITS),
    };
}

void hf_acquire_guard(struct hf_op *op)
{
    const struct hf_session_ref *session = &op->u.acquire.session;

    hf_assert(!op->core->seal.known || !op->core->seal.sealed);
    op->u.acquire.epoch_revision = op->core->seal.revision;
    op->u.acquire.identity = op->core->seal.identity;
    op->txn.send.store.expect = op->core->seal.identity;
    hf_txn_if_unchanged(&op->txn, op->paths.epoch, op->core->seal.revision);
    if (session->revision)
        hf_txn_if_unchanged(&op->txn, op->paths.session, session->revision);
    else
        hf_txn_if_absent(&op->txn, op->paths.session);
}

static void put_session(struct hf_op *op, enum hf_side side)
{
    const struct hf_acquire *acquire = &op->u.acquire;

    hf_txn_put(&op->txn, side, op->paths.session, acquire->session_value.text,
               acquire->session_value.size, acquire->session.lease);
}

void hf_acquire_put_session(struct hf_op *op, enum hf_side side)
{
    if (op->u.acquire.session.revision == 0)
        put_session(op, side);
}

bool hf_acquire_encode(struct hf_op *op)
{
    struct hf_holder *holder = &op->u.acquire.holder;

    holder->epoch = op->core->seal.epoch;
    holder->since_wall_ms = op->core->wall.ns / 1000000;
    holder->since_steady_ms = op->core->now.ns / 1000000;
    if (!hf_record_encode_holder(holder, &op->u.acquire.holder_value))
        return true;
    hf_op_fail(op, HF_ERR_NOMEM, "no memory for the hold's record");
    return false;
}

static bool prepare(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;
    struct hf_request *request = op->request;
    const struct hf_class *class = hf_policy_class(op);
    struct hf_session_record session = {.version = HF_RECORD_VERSION};

    if (!class || !hf_policy_allows(op, class))
        return false;
    acquire->prepared = true;
    acquire->session = request->session;
    acquire->mode = request->mode;
    acquire->until = hf_time_add(op->core->now, hf_span_ms(request->wait_ms));
    memcpy(acquire->grant, request->grant, sizeof(acquire->grant));
    acquire->holder = request->holder;
    acquire->holder.version = HF_RECORD_VERSION;
    acquire->holder.mode = (int)request->mode;
    acquire->holder.uid = request->uid;
    memcpy(acquire->holder.grant, request->grant, sizeof(request->grant));
    memcpy(acquire->holder.session, request->session.id,
           sizeof(request->session.id));
    memcpy(acquire->holder.class_name, class->name, sizeof(class->name));
    hf_op_paths(op, request->key, request->session.id, request->grant);
    session.uid = request->uid;
    session.pid = request->holder.pid;
    session.since_wall_ms = op->core->wall.ns / 1000000;
    memcpy(session.host, request->holder.host, sizeof(session.host));
    if (!hf_record_encode_session(&session, &acquire->session_value))
        return true;
    hf_op_fail(op, HF_ERR_NOMEM, "no memory for the session's record");
    return false;
}

/* ---- trying ------------------------------------------------------------ */

static void look_first(struct hf_op *op)
{
    hf_txn_begin(&op->txn);
    hf_acquire_reads(op, HF_THEN);
    op->state = HF_ACQUIRE_READ;
    hf_op_send(op, &op->txn.send);
}

static void try_it(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;

    if (!hf_acquire_encode(op))
        return;
    hf_txn_begin(&op->txn);
    hf_acquire_guard(op);
    hf_txn_if_absent(&op->txn, op->paths.hold);
    hf_txn_if_absent(&op->txn, op->paths.floor);
    if (acquire->mode == HF_EXCLUSIVE)
        hf_txn_if_prefix_absent(&op->txn, op->paths.shares);
    hf_txn_if_prefix_absent(&op->txn, op->paths.waits);
    hf_acquire_put_session(op, HF_THEN);
    hf_txn_put(&op->txn, HF_THEN, hf_acquire_mine(op),
               acquire->holder_value.text, acquire->holder_value.size,
               acquire->session.lease);
    hf_acquire_reads(op, HF_OTHERWISE);
    op->state = HF_ACQUIRE_TRY;
    hf_op_send(op, &op->txn.send);
}

void hf_acquire_go(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;

    op->state = HF_ACQUIRE_START;
    if (!op->request) {
        if (acquire->wait_revision)
            hf_wait_leave(op);
        else
            hf_op_end(op);
        return;
    }
    if (!hf_seal_need(op))
        return;
    if (acquire->wait_revision)
        hf_wait_look(op);
    else if (acquire->waits)
        hf_wait_enqueue(op);
    else if (op->core->options.traits.cheap_conflict)
        try_it(op);
    else
        look_first(op);
}

void hf_acquire_retry(struct hf_op *op)
{
    if (++op->u.acquire.retries <= RETRIES_MAX) {
        hf_acquire_go(op);
        return;
    }
    if (op->request)
        op->request->unsettled = op->u.acquire.wait_revision != 0;
    hf_op_fail(op, HF_ERR_UNAVAILABLE,
               "the store kept answering that it does not know what it did");
}

static void acquire_start(struct hf_op *op)
{
    if (!op->u.acquire.prepared && !prepare(op))
        return;
    hf_acquire_go(op);
}

/* ---- outcomes ----------------------------------------------------------- */

/* Nobody wants it: given back, by compare, until that is certain. */
static void give_back(struct hf_op *op, uint64_t revision)
{
    hf_txn_begin(&op->txn);
    hf_txn_if_unchanged(&op->txn, hf_acquire_mine(op), revision);
    hf_txn_delete(&op->txn, HF_THEN, hf_acquire_mine(op));
    op->state = HF_ACQUIRE_ORPHAN;
    hf_op_send(op, &op->txn.send);
}

void hf_acquire_granted(struct hf_op *op, uint64_t revision)
{
    struct hf_acquire *acquire = &op->u.acquire;
    struct hf_request *request = op->request;

    if (!request) {
        give_back(op, revision);
        return;
    }
    if (!hf_token_make(op->core->seal.epoch, revision, &request->token)) {
        hf_op_reply(op, HF_ANSWER_FAILED);
        (void)hf_error_set(&request->error, HF_ERR_UNAVAILABLE,
                           "the store's revisions or epochs are used up");
        give_back(op, revision);
        return;
    }
    request->session = acquire->session;
    request->waited = acquire->waits;
    hf_op_reply(op, HF_ANSWER_GRANTED);
    hf_op_end(op);
}

/* Our place in the queue, or the one that we would have got; 1 is next. */
static uint64_t place_of(const struct hf_op *op,
                         const struct hf_acquire_seen *seen)
{
    size_t size = strlen(op->paths.wait);
    size_t i;

    if (!seen->wait)
        return seen->waits->count + 1;
    for (i = 0; i < seen->waits->record_count; i++) {
        const struct hf_bytes *key = &seen->waits->records[i].key;

        if (key->size == size && memcmp(key->data, op->paths.wait, size) == 0)
            return i + 1;
    }
    return seen->waits->count;
}

void hf_acquire_tell_who(struct hf_op *op, const struct hf_acquire_seen *seen)
{
    struct hf_request *request = op->request;
    const struct hf_record *who = seen->hold;
    struct hf_error ignored;

    if (!request)
        return;
    if (!who)
        who = seen->floor;
    if (!who && seen->shares->record_count > 0)
        who = &seen->shares->records[0];
    if (!who && seen->waits->record_count > 0)
        who = &seen->waits->records[0];
    request->waiting = seen->waits->count;
    request->place = place_of(op, seen);
    free(request->infos);
    request->info_count = 0;
    request->infos = who ? calloc(1, sizeof(*request->infos)) : NULL;
    if (request->infos && !hf_record_info(who, request->infos, &ignored))
        request->info_count = 1;
}

void hf_acquire_busy(struct hf_op *op, const struct hf_acquire_seen *seen)
{
    if (op->request) {
        op->request->session = op->u.acquire.session;
        hf_acquire_tell_who(op, seen);
        hf_op_reply(op, HF_ANSWER_BUSY);
    }
    hf_op_end(op);
}

void hf_acquire_lost(struct hf_op *op)
{
    hf_op_reply(op, HF_ANSWER_LOST);
    hf_op_end(op);
}

bool hf_acquire_stale(struct hf_op *op, const struct hf_acquire_seen *seen)
{
    struct hf_session_ref *session = &op->u.acquire.session;

    if (!hf_seal_agrees(op->core, seen->epoch)) {
        hf_seal_forget(op->core);
        hf_acquire_retry(op);
        return true;
    }
    if (!seen->session) {
        if (session->revision == 0)
            return false;
        hf_acquire_lost(op);
        return true;
    }
    if (seen->session->changed == session->revision)
        return false;
    session->revision = seen->session->changed;
    hf_acquire_retry(op);
    return true;
}

uint64_t hf_acquire_granted_at(const struct hf_op *op,
                               const struct hf_acquire_seen *seen)
{
    struct hf_holder who;

    if (op->u.acquire.mode == HF_SHARED)
        return seen->share ? seen->share->changed : 0;
    if (!seen->hold || hf_record_decode_holder(seen->hold->value, &who, NULL))
        return 0;
    if (memcmp(who.grant, op->u.acquire.grant, HF_GRANT_ID_SIZE) != 0)
        return 0;
    return seen->hold->changed;
}

bool hf_acquire_refused(struct hf_op *op, const struct hf_store_request *store)
{
    switch (store->outcome) {
    case HF_OUTCOME_COMMITTED:
    case HF_OUTCOME_FAILED:
        return false;
    case HF_OUTCOME_REFUSED:
        if (store->refusal == HF_REFUSED_LEASE) {
            hf_acquire_lost(op);
            return true;
        }
        hf_seal_forget(op->core);
        hf_acquire_retry(op);
        return true;
    case HF_OUTCOME_UNKNOWN:
        hf_acquire_settle(op);
        return true;
    }
    return false;
}

static void tried(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;
    struct hf_store_request *store = &op->txn.send.store;
    struct hf_acquire_seen seen;

    if (hf_acquire_refused(op, store))
        return;
    if (store->outcome == HF_OUTCOME_FAILED) {
        hf_op_fail_with(op, &store->error);
        return;
    }
    if (op->state == HF_ACQUIRE_TRY && op->txn.branch.held) {
        if (acquire->session.revision == 0)
            acquire->session.revision = store->revision;
        hf_acquire_granted(op, store->revision);
        return;
    }
    hf_acquire_see(op, &seen);
    if (hf_acquire_stale(op, &seen))
        return;
    if (op->state == HF_ACQUIRE_READ && !seen.hold && !seen.floor &&
        (acquire->mode == HF_SHARED || seen.shares->count == 0) &&
        seen.waits->count == 0) {
        /* What is known of the epoch may have changed since it was sent. */
        if (hf_seal_need(op))
            try_it(op);
        return;
    }
    if (!op->request || hf_time_reached(acquire->until, op->core->now)) {
        hf_acquire_busy(op, &seen);
        return;
    }
    acquire->waits = true;
    hf_acquire_go(op);
}

/* ---- settling ------------------------------------------------------------ */

void hf_acquire_settle(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;

    acquire->session.was_unsure = true;
    if (++acquire->retries > RETRIES_MAX) {
        if (op->request)
            op->request->unsettled = true;
        hf_op_fail(op, HF_ERR_UNAVAILABLE,
                   "whether the key was granted could not be settled");
        return;
    }
    hf_txn_begin(&op->txn);
    if (acquire->session.revision)
        hf_txn_if_unchanged(&op->txn, op->paths.session,
                            acquire->session.revision);
    else
        hf_txn_if_absent(&op->txn, op->paths.session);
    put_session(op, HF_THEN);
    hf_acquire_reads(op, HF_THEN);
    hf_acquire_reads(op, HF_OTHERWISE);
    op->state = HF_ACQUIRE_SETTLE;
    hf_op_send(op, &op->txn.send);
}

/* Is the epoch in use still the one under which the doubt arose? */
static bool is_epoch_of_doubt(const struct hf_op *op,
                              const struct hf_acquire_seen *seen)
{
    const struct hf_acquire *acquire = &op->u.acquire;
    const struct hf_store_identity *now = &op->txn.send.store.identity;

    return hf_seal_agrees(op->core, seen->epoch) &&
           seen->epoch->changed == acquire->epoch_revision &&
           now->epoch_min == acquire->identity.epoch_min &&
           memcmp(now->id, acquire->identity.id, sizeof(now->id)) == 0;
}

static void settled(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;
    struct hf_store_request *store = &op->txn.send.store;
    struct hf_acquire_seen seen;
    uint64_t revision;

    if (store->outcome == HF_OUTCOME_REFUSED) {
        hf_acquire_lost(op);
        return;
    }
    if (store->outcome != HF_OUTCOME_COMMITTED) {
        hf_acquire_settle(op);
        return;
    }
    hf_acquire_see(op, &seen);
    if (op->txn.branch.held) {
        acquire->session.revision = store->revision;
    } else if (seen.session) {
        acquire->session.revision = seen.session->changed;
    } else {
        hf_acquire_lost(op);
        return;
    }
    if (!is_epoch_of_doubt(op, &seen)) {
        /* The epoch moved while we were in doubt: with this session nothing
         * more is put, so that no grant id can come twice. Its end frees what
         * it may have got. */
        hf_seal_forget(op->core);
        hf_acquire_lost(op);
        return;
    }
    revision = hf_acquire_granted_at(op, &seen);
    if (revision) {
        hf_acquire_granted(op, revision);
        return;
    }
    acquire->wait_revision = seen.wait ? seen.wait->changed : 0;
    acquire->looked_at = store->revision;
    hf_queue_ahead(acquire, op->paths.wait, acquire->mode, seen.waits);
    hf_acquire_retry(op);
}

/* ---- events -------------------------------------------------------------- */

static void orphan_answer(struct hf_op *op)
{
    struct hf_store_request *store = &op->txn.send.store;

    if (store->outcome == HF_OUTCOME_UNKNOWN &&
        ++op->u.acquire.retries <= RETRIES_MAX) {
        uint64_t revision = op->txn.conditions[0].revision;

        give_back(op, revision);
        return;
    }
    /* Done, or its session's lease ends it. */
    hf_op_end(op);
}

static void acquire_answer(struct hf_op *op, struct hf_send *send)
{
    if (send == &op->u.acquire.watch) {
        if (op->state == HF_ACQUIRE_WAITING &&
            send->store.outcome != HF_OUTCOME_FAILED)
            hf_wait_woken(op);
        return;
    }
    switch ((enum hf_acquire_state)op->state) {
    case HF_ACQUIRE_READ:
    case HF_ACQUIRE_TRY:
        tried(op);
        break;
    case HF_ACQUIRE_ENQUEUE:
        hf_wait_enqueued(op);
        break;
    case HF_ACQUIRE_LOOK:
        hf_wait_looked(op);
        break;
    case HF_ACQUIRE_LEAVE:
        hf_wait_left(op);
        break;
    case HF_ACQUIRE_SETTLE:
        settled(op);
        break;
    case HF_ACQUIRE_ORPHAN:
        orphan_answer(op);
        break;
    case HF_ACQUIRE_START:
    case HF_ACQUIRE_WAITING:
        break;
    }
}

static void acquire_timer(struct hf_op *op)
{
    if (op->state == HF_ACQUIRE_WAITING)
        hf_wait_woken(op);
}

static void acquire_gone(struct hf_op *op)
{
    if (op->waits_for_epoch) {
        op->waits_for_epoch = false;
        hf_acquire_go(op);
    } else if (op->state == HF_ACQUIRE_WAITING) {
        hf_wait_leave(op);
    }
}

const struct hf_op_kind hf_op_acquire = {
    .size = sizeof(struct hf_acquire),
    .unset = sizeof(((struct hf_acquire *)0)->ahead),
    .start = acquire_start,
    .answer = acquire_answer,
    .timer = acquire_timer,
    .gone = acquire_gone,
};
