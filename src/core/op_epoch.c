/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EPOCH_SHOW and EPOCH_ADVANCE. An advance first seals the store (so nothing
 * is granted or renewed any more), then waits until the longest lease that
 * any holder may still count on has passed, and then, in one transaction,
 * writes the new record and deletes every hold, share, waiter and session.
 * Broken off at any point it leaves a sealed store and can be asked for again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "core/op.h"

enum { START, READ, SEAL, LEASES, WAITING, ADVANCE };
enum { READ_EPOCH, READ_SESSIONS };
enum { RETRIES_MAX = 5 };

static void read_all(struct hf_op *op)
{
    hf_op_prefixes(op, "");
    hf_txn_begin(&op->txn);
    (void)hf_txn_get(&op->txn, HF_THEN, op->paths.epoch);
    (void)hf_txn_list(&op->txn, HF_THEN, op->paths.session, HF_STORE_LIST_MAX);
    op->state = READ;
    hf_op_send(op, &op->txn.send);
}

static void show_start(struct hf_op *op)
{
    /* A sealed store is shown too; a new local one is made first. */
    if (hf_seal_known(op))
        read_all(op);
}

static void advance_start(struct hf_op *op)
{
    if (op->state == START)
        read_all(op);
}

static bool tell(struct hf_op *op)
{
    struct hf_epoch_info *info = &op->request->epoch;
    const struct hf_record *found = hf_txn_record(&op->txn, READ_EPOCH);
    struct hf_epoch_record *record = &op->u.epoch.record;
    struct hf_error error;

    if (!found)
        return true;
    if (hf_record_decode_epoch(found->value, record, &error)) {
        hf_op_fail_with(op, &error);
        return false;
    }
    op->u.epoch.revision = found->changed;
    info->exists = true;
    info->epoch = record->epoch;
    info->sealed = record->sealed;
    info->at_wall_ms = record->at_wall_ms;
    info->revision = found->changed;
    hf_hex(record->store_id, sizeof(record->store_id), info->store_id);
    /* An advance was asked with a reason of its own. */
    if (op->kind == &hf_op_epoch_show) {
        memcpy(info->by, record->by, sizeof(info->by));
        memcpy(info->why, record->why, sizeof(info->why));
    }
    return true;
}

static void next_lease(struct hf_op *op);

static void gather_leases(struct hf_op *op)
{
    const struct hf_action_result *list =
        hf_txn_list_of(&op->txn, READ_SESSIONS);
    size_t i;

    op->u.epoch.count = 0;
    op->u.epoch.next = 0;
    op->u.epoch.longest_ms = 0;
    if (list->count > list->record_count)
        op->u.epoch.longest_ms = HF_TTL_MOST_MS;
    if (list->record_count) {
        free(op->u.epoch.leases);
        op->u.epoch.leases =
            calloc(list->record_count, sizeof(*op->u.epoch.leases));
        if (!op->u.epoch.leases) {
            hf_op_fail(op, HF_ERR_NOMEM, "no memory");
            return;
        }
    }
    for (i = 0; i < list->record_count; i++)
        op->u.epoch.leases[op->u.epoch.count++] = list->records[i].lease;
    next_lease(op);
}

static void wait_or_advance(struct hf_op *op);

static void next_lease(struct hf_op *op)
{
    struct hf_store_request *store = &op->txn.send.store;

    if (op->u.epoch.next == op->u.epoch.count) {
        op->request->epoch.longest_lease_ms = op->u.epoch.longest_ms;
        if (op->kind == &hf_op_epoch_show) {
            hf_op_reply(op, HF_ANSWER_DONE);
            hf_op_end(op);
        } else {
            wait_or_advance(op);
        }
        return;
    }
    hf_store_request_clear(store);
    store->kind = HF_STORE_LEASE_SHOW;
    store->lease = op->u.epoch.leases[op->u.epoch.next];
    op->state = LEASES;
    hf_op_send(op, &op->txn.send);
}

/* Encode `record` as the epoch record to put. */
static bool encode(struct hf_op *op)
{
    struct hf_epoch_record *record = &op->u.epoch.record;
    const struct hf_epoch_info *asked = &op->request->epoch;

    record->version = HF_RECORD_VERSION;
    record->at_wall_ms = op->core->wall.ns / 1000000;
    memcpy(record->by, asked->by, sizeof(record->by));
    memcpy(record->why, asked->why, sizeof(record->why));
    if (!hf_record_encode_epoch(record, &op->u.epoch.value))
        return true;
    hf_op_fail(op, HF_ERR_NOMEM, "no memory for the epoch record");
    return false;
}

static void put_epoch(struct hf_op *op, int state)
{
    hf_txn_begin(&op->txn);
    /* A revision names a record only within one life of one store. */
    op->txn.send.store.expect = op->u.epoch.identity;
    hf_txn_if_unchanged(&op->txn, op->paths.epoch, op->u.epoch.revision);
    hf_txn_put(&op->txn, HF_THEN, op->paths.epoch, op->u.epoch.value.text,
               op->u.epoch.value.size, 0);
    op->txn.send.store.epoch = op->u.epoch.record.epoch;
    op->state = state;
}

static void seal(struct hf_op *op)
{
    op->u.epoch.record.sealed = true;
    if (!encode(op))
        return;
    put_epoch(op, SEAL);
    hf_seal_forget(op->core);
    hf_op_send(op, &op->txn.send);
}

static void advance(struct hf_op *op)
{
    struct hf_epoch_record *record = &op->u.epoch.record;
    uint32_t least = op->u.epoch.identity.epoch_min;

    record->sealed = false;
    record->epoch = record->epoch + 1 > least ? record->epoch + 1 : least;
    memcpy(record->store_id, op->u.epoch.identity.id, sizeof(record->store_id));
    if (record->epoch > HF_EPOCH_MAX) {
        hf_op_fail(op, HF_ERR_SEALED, "the epochs are used up: %u is the last",
                   (unsigned)HF_EPOCH_MAX);
        return;
    }
    if (!encode(op))
        return;
    put_epoch(op, ADVANCE);
    hf_txn_delete_prefix(&op->txn, HF_THEN, op->paths.hold);
    hf_txn_delete_prefix(&op->txn, HF_THEN, op->paths.shares);
    hf_txn_delete_prefix(&op->txn, HF_THEN, op->paths.waits);
    hf_txn_delete_prefix(&op->txn, HF_THEN, op->paths.session);
    hf_txn_delete_prefix(&op->txn, HF_THEN, HF_PATH_ROOT "request/");
    hf_txn_delete_prefix(&op->txn, HF_THEN, op->paths.floor);
    hf_seal_forget(op->core);
    hf_op_send(op, &op->txn.send);
}

static void wait_or_advance(struct hf_op *op)
{
    if (op->request->now || op->u.epoch.longest_ms <= 0) {
        advance(op);
        return;
    }
    op->state = WAITING;
    op->wake_at =
        hf_time_add(op->core->now, hf_span_ms(op->u.epoch.longest_ms));
}

static void was_read(struct hf_op *op)
{
    struct hf_request *request = op->request;
    uint64_t seen = request->epoch.revision;

    op->u.epoch.identity = op->txn.send.store.identity;
    if (op->u.epoch.is_ours)
        seen = op->u.epoch.revision; /* the seal that we have put */
    if (!tell(op))
        return;
    request->epoch.store_revision = op->txn.send.store.revision;
    if (op->kind == &hf_op_epoch_advance &&
        (!request->epoch.exists || request->epoch.revision != seen)) {
        hf_op_fail(op, HF_ERR_NOT_HELD,
                   "the epoch record has changed since it was looked at "
                   "(epoch %u now); nothing was changed: look again",
                   (unsigned)request->epoch.epoch);
        return;
    }
    /* What is still counted on is measured once nothing can be renewed. */
    if (op->kind == &hf_op_epoch_advance && !op->u.epoch.record.sealed)
        seal(op);
    else
        gather_leases(op);
}

static void was_written(struct hf_op *op)
{
    struct hf_request *request = op->request;

    if (!op->txn.branch.held) {
        hf_op_fail(op, HF_ERR_NOT_HELD,
                   "somebody else changed the epoch record meanwhile; "
                   "nothing was changed by this advance: look again");
        return;
    }
    op->u.epoch.revision = op->txn.send.store.revision;
    if (op->state == SEAL) {
        op->u.epoch.is_ours = true;
        read_all(op);
        return;
    }
    request->epoch.epoch = op->u.epoch.record.epoch;
    request->epoch.at_wall_ms = op->u.epoch.record.at_wall_ms;
    request->epoch.sealed = false;
    request->epoch.revision = op->u.epoch.revision;
    request->epoch.store_revision = op->u.epoch.revision;
    hf_op_reply(op, HF_ANSWER_DONE);
    hf_op_end(op);
}

/* A lease that is gone is nobody's any more; what is not known of one is asked
 * again, for its holder may count on it. */
static void was_shown(struct hf_op *op, const struct hf_store_request *store)
{
    switch (store->outcome) {
    case HF_OUTCOME_COMMITTED:
        if (store->proof != HF_PROOF_DEAD &&
            store->remaining_ms > op->u.epoch.longest_ms)
            op->u.epoch.longest_ms = store->remaining_ms;
        break;
    case HF_OUTCOME_REFUSED:
        break;
    case HF_OUTCOME_UNKNOWN:
    case HF_OUTCOME_FAILED:
        if (++op->u.epoch.retries > RETRIES_MAX) {
            hf_op_fail_with(op, &store->error);
            return;
        }
        next_lease(op);
        return;
    }
    op->u.epoch.next++;
    next_lease(op);
}

static void epoch_answer(struct hf_op *op, struct hf_send *send)
{
    struct hf_store_request *store = &send->store;

    if (!op->request) {
        hf_op_end(op);
        return;
    }
    if (op->state == LEASES) {
        was_shown(op, store);
        return;
    }
    switch (store->outcome) {
    case HF_OUTCOME_COMMITTED:
        if (op->state == READ)
            was_read(op);
        else
            was_written(op);
        return;
    case HF_OUTCOME_REFUSED:
    case HF_OUTCOME_UNKNOWN:
        hf_op_fail(op, HF_ERR_UNAVAILABLE,
                   "whether the epoch record was written is not known: look "
                   "again with epoch show");
        return;
    case HF_OUTCOME_FAILED:
        hf_op_fail_with(op, &store->error);
        return;
    }
}

static void epoch_timer(struct hf_op *op)
{
    if (op->request && op->state == WAITING)
        advance(op);
}

static void epoch_gone(struct hf_op *op)
{
    /* A seal or an advance that is out may land; a sealed store says so. */
    hf_op_end(op);
}

const struct hf_op_kind hf_op_epoch_show = {
    .size = sizeof(((struct hf_op *)0)->u.epoch),
    .start = show_start,
    .answer = epoch_answer,
    .timer = epoch_timer,
    .gone = epoch_gone,
};

const struct hf_op_kind hf_op_epoch_advance = {
    .size = sizeof(((struct hf_op *)0)->u.epoch),
    .start = advance_start,
    .answer = epoch_answer,
    .timer = epoch_timer,
    .gone = epoch_gone,
};
