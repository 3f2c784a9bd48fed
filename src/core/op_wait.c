/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The waiting half of ACQUIRE: a row in the key's queue, attached to our lease.
 * Whoever releases hands the key to the head row in the same transaction; a
 * watch on our own row tells us. Should nobody hand it over (the holder died),
 * each poll is one transaction that takes the key if nobody holds it and
 * nobody stands ahead; naming the rows ahead in its conditions makes the store
 * remove those of them that are dead. A lost poll costs no commit.
 */
#include "core/acquire.h"

enum { RETRIES_MAX = 12 };
/* Waiters further back look less often; the head is found dead by others. */
enum { DEEP_FACTOR = 4 };

/* About a second, spread by the grant id so that waiters do not march. */
static struct hf_span poll_after(const struct hf_op *op)
{
    const struct hf_acquire *acquire = &op->u.acquire;
    int64_t ms = 900 + acquire->grant[0];

    return hf_span_ms(acquire->deep ? DEEP_FACTOR * ms : ms);
}

void hf_wait_enqueue(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;

    if (!hf_acquire_encode(op))
        return;
    hf_txn_begin(&op->txn);
    hf_acquire_guard(op);
    hf_acquire_put_session(op, HF_THEN);
    hf_txn_put(&op->txn, HF_THEN, op->paths.wait, acquire->holder_value.text,
               acquire->holder_value.size, acquire->session.lease);
    hf_acquire_reads(op, HF_THEN);
    hf_acquire_reads(op, HF_OTHERWISE);
    op->state = HF_ACQUIRE_ENQUEUE;
    hf_op_send(op, &op->txn.send);
}

/* Is nothing in our way, as far as was seen? */
static bool may_go(const struct hf_op *op, const struct hf_acquire_seen *seen)
{
    const struct hf_acquire *acquire = &op->u.acquire;

    return !seen->hold && !seen->floor && acquire->ahead_count == 0 &&
           !acquire->deep &&
           (acquire->mode == HF_SHARED || seen->shares->count == 0);
}

void hf_wait_enqueued(struct hf_op *op)
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
    hf_acquire_see(op, &seen);
    if (!op->txn.branch.held) {
        /* One of the two records has moved, or this is a fault of ours. */
        if (!hf_acquire_stale(op, &seen))
            hf_acquire_retry(op);
        return;
    }
    acquire->wait_revision = store->revision;
    acquire->looked_at = store->revision;
    if (acquire->session.revision == 0)
        acquire->session.revision = store->revision;
    hf_queue_ahead(acquire, op->paths.wait, acquire->mode, seen.waits);
    hf_acquire_tell_who(op, &seen);
    if (may_go(op, &seen))
        hf_acquire_go(op); /* not at once: the store may be sealed by now */
    else
        hf_wait_stay(op);
}

void hf_wait_stay(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;
    struct hf_store_request *watch = &acquire->watch.store;

    op->state = HF_ACQUIRE_WAITING;
    if (!op->request || hf_time_reached(acquire->until, op->core->now)) {
        hf_wait_leave(op);
        return;
    }
    if (!acquire->deaf) {
        hf_store_request_clear(watch);
        watch->kind = HF_STORE_WATCH;
        watch->prefix = hf_bytes_of(op->paths.wait);
        watch->after = acquire->looked_at;
        hf_op_send_watch(op, &acquire->watch);
    }
    acquire->deaf = false;
    op->wake_at =
        hf_time_min(acquire->until, hf_time_add(op->core->now, poll_after(op)));
}

void hf_wait_woken(struct hf_op *op)
{
    hf_op_cancel(op, &op->u.acquire.watch);
    op->wake_at = HF_TIME_NEVER;
    if (hf_time_reached(op->u.acquire.until, op->core->now))
        hf_wait_leave(op);
    else
        hf_acquire_go(op);
}

/* We stand too far back to take the key: remove who is dead ahead, and read. */
static void look_from_afar(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;
    size_t i;

    for (i = 0; i < acquire->ahead_count; i++)
        hf_txn_if_absent(&op->txn, acquire->ahead[i]);
    if (acquire->ahead_count > 0)
        hf_txn_delete(&op->txn, HF_THEN, acquire->ahead[0]);
    hf_acquire_reads(op, HF_THEN);
    hf_acquire_reads(op, HF_OTHERWISE);
}

static void take_if_free(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;
    size_t i;

    hf_acquire_guard(op);
    hf_txn_if_unchanged(&op->txn, op->paths.wait, acquire->wait_revision);
    hf_txn_if_absent(&op->txn, op->paths.hold);
    hf_txn_if_absent(&op->txn, op->paths.floor);
    if (acquire->mode == HF_EXCLUSIVE)
        hf_txn_if_prefix_absent(&op->txn, op->paths.shares);
    for (i = 0; i < acquire->ahead_count; i++)
        hf_txn_if_absent(&op->txn, acquire->ahead[i]);
    hf_txn_delete(&op->txn, HF_THEN, op->paths.wait);
    hf_txn_put(&op->txn, HF_THEN, hf_acquire_mine(op),
               acquire->holder_value.text, acquire->holder_value.size,
               acquire->session.lease);
    hf_acquire_reads(op, HF_OTHERWISE);
}

void hf_wait_look(struct hf_op *op)
{
    if (!hf_acquire_encode(op))
        return;
    hf_txn_begin(&op->txn);
    if (op->u.acquire.deep)
        look_from_afar(op);
    else
        take_if_free(op);
    op->state = HF_ACQUIRE_LOOK;
    hf_op_send(op, &op->txn.send);
}

/* What the look saw of the queue; our row may be gone. */
static void judge_look(struct hf_op *op, const struct hf_acquire_seen *seen)
{
    struct hf_acquire *acquire = &op->u.acquire;
    bool again;
    bool moved;

    if (!seen->wait) {
        /* Our row went without a grant, yet the session stands. */
        acquire->wait_revision = 0;
        hf_acquire_retry(op);
        return;
    }
    again = seen->wait->changed != acquire->wait_revision;
    acquire->wait_revision = seen->wait->changed;
    /* Those whom we knew ahead are gone: were they killed, so may be many more.
     * That ends, for nobody comes to stand there. */
    moved = op->txn.branch.held && acquire->ahead_count > 0;
    hf_queue_ahead(acquire, op->paths.wait, acquire->mode, seen->waits);
    if (moved) {
        hf_acquire_go(op);
        return;
    }
    if ((again || may_go(op, seen)) && ++acquire->retries <= RETRIES_MAX) {
        hf_acquire_go(op);
        return;
    }
    acquire->retries = 0;
    hf_wait_stay(op);
}

void hf_wait_looked(struct hf_op *op)
{
    struct hf_store_request *store = &op->txn.send.store;
    bool deep = op->u.acquire.deep;
    struct hf_acquire_seen seen;
    uint64_t revision;

    if (store->outcome == HF_OUTCOME_FAILED) {
        /* The store is away for now; waiting goes on until its limit. A watch
         * might tell again and again what cannot be looked at. */
        op->u.acquire.deaf = true;
        hf_wait_stay(op);
        return;
    }
    if (hf_acquire_refused(op, store))
        return;
    if (op->txn.branch.held && !deep) {
        hf_acquire_granted(op, store->revision);
        return;
    }
    hf_acquire_see(op, &seen);
    op->u.acquire.looked_at = store->revision;
    revision = hf_acquire_granted_at(op, &seen);
    if (revision && hf_seal_agrees(op->core, seen.epoch)) {
        hf_acquire_granted(op, revision);
        return;
    }
    if (!hf_acquire_stale(op, &seen))
        judge_look(op, &seen);
}

void hf_wait_leave(struct hf_op *op)
{
    hf_op_cancel(op, &op->u.acquire.watch);
    op->wake_at = HF_TIME_NEVER;
    hf_txn_begin(&op->txn);
    hf_txn_if_unchanged(&op->txn, op->paths.wait, op->u.acquire.wait_revision);
    hf_txn_delete(&op->txn, HF_THEN, op->paths.wait);
    hf_acquire_reads(op, HF_THEN);
    hf_acquire_reads(op, HF_OTHERWISE);
    op->state = HF_ACQUIRE_LEAVE;
    hf_op_send(op, &op->txn.send);
}

void hf_wait_left(struct hf_op *op)
{
    struct hf_acquire *acquire = &op->u.acquire;
    struct hf_store_request *store = &op->txn.send.store;
    struct hf_acquire_seen seen;
    uint64_t revision;

    if (store->outcome == HF_OUTCOME_UNKNOWN &&
        ++acquire->retries <= RETRIES_MAX) {
        hf_wait_leave(op); /* by compare: harmless to ask twice */
        return;
    }
    if (store->outcome != HF_OUTCOME_COMMITTED) {
        if (op->request)
            op->request->unsettled = true;
        hf_op_fail_with(op, &store->error);
        return;
    }
    hf_acquire_see(op, &seen);
    revision = hf_acquire_granted_at(op, &seen);
    if (revision && hf_seal_agrees(op->core, seen.epoch)) {
        /* It was handed to us in the last moment. */
        hf_acquire_granted(op, revision);
        return;
    }
    if (revision) {
        /* Under an epoch that we do not know: the session's end frees it. */
        if (op->request)
            op->request->unsettled = true;
        hf_op_fail(op, HF_ERR_SEALED, "the epoch changed during the wait");
        return;
    }
    if (!seen.session)
        hf_acquire_lost(op);
    else
        hf_acquire_busy(op, &seen);
}
