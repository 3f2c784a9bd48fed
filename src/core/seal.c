/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epoch and its seal: what the core knows of the record, and the one
 * internal operation that reads it, and on a local store makes or raises it.
 */
#include <string.h>

#include "core/op.h"

enum { READING, WRITING };
enum { RETRIES_MAX = 5 };

static void read_record(struct hf_op *op)
{
    hf_txn_begin(&op->txn);
    (void)hf_txn_get(&op->txn, HF_THEN, op->paths.epoch);
    /* It is read for the sake of somebody who wants to write. */
    op->txn.send.store.more = true;
    op->state = READING;
    hf_op_send(op, &op->txn.send);
}

static void seal_start(struct hf_op *op)
{
    read_record(op);
}

static void finish(struct hf_op *op)
{
    struct hf_core *core = op->core;

    core->seal.reading = NULL;
    hf_op_end(op);
}

/* It cannot be learned: everybody who waits for it is told why (core.c). */
static void give_up(struct hf_op *op, const struct hf_error *error)
{
    op->core->seal.failed = true;
    op->core->seal.why = *error;
    finish(op);
}

static void write_record(struct hf_op *op, uint32_t epoch, uint64_t revision,
                         const char *why)
{
    struct hf_epoch_record record = {
        .version = HF_RECORD_VERSION,
        .epoch = epoch,
        .by = "store",
        .at_wall_ms = op->core->wall.ns / 1000000,
    };
    struct hf_error error;

    if (epoch > HF_EPOCH_MAX) {
        (void)hf_error_set(&error, HF_ERR_SEALED,
                           "the store has used up its epochs");
        give_up(op, &error);
        return;
    }
    memcpy(record.store_id, op->u.seal.identity.id, sizeof(record.store_id));
    memcpy(record.why, why, strlen(why) + 1);
    if (hf_record_encode_epoch(&record, &op->u.seal.value)) {
        (void)hf_error_set(&error, HF_ERR_NOMEM, "no memory");
        give_up(op, &error);
        return;
    }
    hf_txn_begin(&op->txn);
    op->txn.send.store.expect = op->u.seal.identity;
    op->txn.send.store.epoch = epoch;
    if (revision)
        hf_txn_if_unchanged(&op->txn, op->paths.epoch, revision);
    else
        hf_txn_if_absent(&op->txn, op->paths.epoch);
    hf_txn_put(&op->txn, HF_THEN, op->paths.epoch, op->u.seal.value.text,
               op->u.seal.value.size, 0);
    op->state = WRITING;
    hf_op_send(op, &op->txn.send);
}

static void learn(struct hf_op *op, const struct hf_epoch_record *record,
                  uint64_t revision, enum hf_err sealed, const char *why)
{
    struct hf_seal *seal = &op->core->seal;

    seal->known = true;
    seal->sealed = sealed != HF_ERR_OK;
    seal->epoch = record ? record->epoch : 0;
    seal->revision = revision;
    seal->identity = op->u.seal.identity;
    if (sealed)
        (void)hf_error_set(&seal->why, sealed, "%s", why);
    finish(op);
}

static void judge(struct hf_op *op, const struct hf_record *found)
{
    const struct hf_store_identity *identity = &op->u.seal.identity;
    bool local = op->core->options.traits.local;
    struct hf_epoch_record record;
    struct hf_error error;

    if (!found) {
        if (local)
            write_record(op, identity->epoch_min, 0, "first use");
        else
            learn(op, NULL, 0, HF_ERR_SEALED,
                  "sealed: the store has no epoch record");
        return;
    }
    if (hf_record_decode_epoch(found->value, &record, &error)) {
        give_up(op, &error);
        return;
    }
    if (record.sealed) {
        learn(op, &record, found->changed, HF_ERR_SEALED,
              "sealed: an advance of the epoch is under way; finish it with "
              "lockctl epoch advance");
        return;
    }
    if (memcmp(record.store_id, identity->id, sizeof(identity->id)) != 0) {
        uint32_t past = record.epoch > identity->epoch_min
                            ? record.epoch
                            : identity->epoch_min;

        if (local)
            write_record(op, past + 1, found->changed, "another store's file");
        else
            learn(op, &record, found->changed, HF_ERR_SEALED,
                  "sealed: the epoch record belongs to another store");
        return;
    }
    if (record.epoch < identity->epoch_min) {
        if (local)
            write_record(op, identity->epoch_min, found->changed,
                         "revisions might have repeated");
        else
            learn(op, &record, found->changed, HF_ERR_SEALED,
                  "sealed: revisions may repeat under the present epoch");
        return;
    }
    learn(op, &record, found->changed, HF_ERR_OK, "");
}

static void seal_answer(struct hf_op *op, struct hf_send *send)
{
    struct hf_store_request *store = &send->store;

    switch (store->outcome) {
    case HF_OUTCOME_COMMITTED:
        if (op->state == READING) {
            op->u.seal.identity = store->identity;
            judge(op, hf_txn_record(&op->txn, 0));
            return;
        }
        break; /* written, or somebody else was quicker: read it again */
    case HF_OUTCOME_REFUSED:
    case HF_OUTCOME_UNKNOWN:
        break; /* the write is conditional: reading again settles it */
    case HF_OUTCOME_FAILED:
        give_up(op, &store->error);
        return;
    }
    if (++op->u.seal.retries > RETRIES_MAX) {
        struct hf_error error;

        (void)hf_error_set(&error, HF_ERR_UNAVAILABLE,
                           "the epoch record cannot be read or settled");
        give_up(op, &error);
        return;
    }
    read_record(op);
}

static void seal_nothing(struct hf_op *op)
{
    (void)op;
}

const struct hf_op_kind hf_op_seal = {
    .size = sizeof(((struct hf_op *)0)->u.seal),
    .start = seal_start,
    .answer = seal_answer,
    .timer = seal_nothing,
    .gone = seal_nothing,
};

bool hf_seal_known(struct hf_op *op)
{
    struct hf_core *core = op->core;
    struct hf_op *reading;

    if (core->seal.known)
        return true;
    op->waits_for_epoch = true;
    if (core->seal.reading)
        return false;
    reading = hf_op_new(core, &hf_op_seal, NULL);
    if (!reading) {
        op->waits_for_epoch = false;
        hf_op_fail(op, HF_ERR_NOMEM, "no memory to read the epoch");
        return false;
    }
    core->seal.reading = reading;
    hf_op_paths(reading, "", NULL, NULL);
    reading->kind->start(reading);
    return false;
}

bool hf_seal_need(struct hf_op *op)
{
    struct hf_core *core = op->core;
    struct hf_error why = core->seal.why;

    if (!hf_seal_known(op))
        return false;
    if (!core->seal.sealed)
        return true;
    /* Who asks next looks afresh: the seal may have been lifted. */
    hf_seal_forget(core);
    hf_op_fail_with(op, &why);
    return false;
}

void hf_seal_forget(struct hf_core *core)
{
    core->seal.known = false;
}

bool hf_seal_agrees(const struct hf_core *core, const struct hf_record *record)
{
    return core->seal.known && record && record->changed == core->seal.revision;
}
