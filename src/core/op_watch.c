/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WATCH: what became of the keys below a prefix, as news. A long poll: it is
 * answered once there is something to tell, and asked again for what follows.
 * Reads only. The store tells puts and deletes; what they meant is found by
 * looking at all that one revision did.
 */
#include <stdlib.h>
#include <string.h>

#include "core/op.h"

/* A change of the store, and the record if it is one of ours. */
struct seen {
    const struct hf_change *change;
    bool is_epoch;
    bool is_record; /* of a hold, share, waiter or kept key */
    struct hf_hold_info info;
};

/* All that one revision did. */
struct step {
    const struct seen *seen;
    size_t count;
};

static void watch_on(struct hf_op *op, uint64_t after)
{
    struct hf_store_request *store = &op->txn.send.store;

    hf_store_request_clear(store);
    store->kind = HF_STORE_WATCH;
    store->prefix = hf_bytes_of(HF_PATH_ROOT);
    store->after = after;
    hf_op_send_watch(op, &op->txn.send);
}

static void watch_start(struct hf_op *op)
{
    struct hf_error error;

    if (op->request->whole && hf_key_check(op->request->key, &error)) {
        hf_op_fail_with(op, &error);
        return;
    }
    watch_on(op, op->request->after);
}

static bool is_same_grant(const struct hf_hold_info *a,
                          const struct hf_hold_info *b)
{
    return strcmp(a->key, b->key) == 0 &&
           memcmp(a->who.grant, b->who.grant, sizeof(a->who.grant)) == 0;
}

static bool is_hold(const struct hf_hold_info *info)
{
    return info->kind == HF_HOLD || info->kind == HF_SHARE;
}

/* Did the same step take that grant's row from the queue (or, asked of a row,
 * give it the key)? */
static bool has_other_half(const struct step *step, const struct seen *of)
{
    size_t i;

    for (i = 0; i < step->count; i++) {
        const struct seen *other = &step->seen[i];

        if (other->is_record &&
            other->change->is_delete != of->change->is_delete &&
            (other->info.kind == HF_WAITER) != (of->info.kind == HF_WAITER) &&
            other->info.kind != HF_FLOOR &&
            is_same_grant(&other->info, &of->info))
            return true;
    }
    return false;
}

/* Was the key taken from somebody in the same step? */
static bool has_giver(const struct step *step, const struct seen *of)
{
    size_t i;

    if (of->info.kind == HF_HOLD &&
        of->change->record.created < of->change->record.changed)
        return true;
    for (i = 0; i < step->count; i++) {
        const struct seen *other = &step->seen[i];

        if (other->is_record && other->change->is_delete &&
            is_hold(&other->info) && strcmp(other->info.key, of->info.key) == 0)
            return true;
    }
    return false;
}

static bool advances_epoch(const struct step *step)
{
    size_t i;

    for (i = 0; i < step->count; i++) {
        if (step->seen[i].is_epoch)
            return true;
    }
    return false;
}

/* What a put meant; false: nothing that is news. */
static bool judge_put(const struct step *step, const struct seen *seen,
                      enum hf_notice_kind *kind)
{
    switch (seen->info.kind) {
    case HF_HOLD:
    case HF_SHARE:
        *kind = has_other_half(step, seen) && has_giver(step, seen)
                    ? HF_NOTICE_HANDED_OVER
                    : HF_NOTICE_GRANTED;
        return true;
    case HF_WAITER:
        *kind = HF_NOTICE_QUEUED;
        return seen->change->record.created == seen->change->revision;
    case HF_FLOOR:
        *kind = HF_NOTICE_KEPT;
        return true;
    }
    return false;
}

static bool judge_delete(const struct step *step, const struct seen *seen,
                         enum hf_notice_kind *kind)
{
    bool is_waiter = seen->info.kind == HF_WAITER;

    if (is_waiter && has_other_half(step, seen))
        return false;
    if (seen->info.kind == HF_FLOOR)
        *kind = HF_NOTICE_FREED;
    else if (seen->change->by_lease)
        *kind = is_waiter ? HF_NOTICE_WAIT_ENDED : HF_NOTICE_ENDED;
    else if (advances_epoch(step))
        *kind = HF_NOTICE_OUTDATED;
    else
        *kind = is_waiter ? HF_NOTICE_LEFT : HF_NOTICE_RELEASED;
    return true;
}

static bool is_asked_for(const struct hf_request *request,
                         const struct hf_hold_info *info)
{
    if (request->whole)
        return strcmp(info->key, request->key) == 0;
    return strncmp(info->key, request->key, strlen(request->key)) == 0;
}

/* What ended, then what began. */
static void judge_step(struct hf_request *request, const struct step *step)
{
    int is_put;
    size_t i;

    for (is_put = 0; is_put < 2; is_put++) {
        for (i = 0; i < step->count; i++) {
            const struct seen *seen = &step->seen[i];
            struct hf_notice *notice = &request->notices[request->notice_count];

            if (!seen->is_record || seen->change->is_delete == (is_put == 1) ||
                !is_asked_for(request, &seen->info) ||
                !(is_put ? judge_put(step, seen, &notice->kind)
                         : judge_delete(step, seen, &notice->kind)))
                continue;
            notice->revision = seen->change->revision;
            notice->info = seen->info;
            request->notice_count++;
        }
    }
}

/* Errors: NOMEM. */
static enum hf_err see(const struct hf_change *change, struct seen *seen)
{
    static const char epoch[] = HF_PATH_ROOT "epoch";
    struct hf_bytes key = change->record.key;
    enum hf_err err;

    seen->change = change;
    seen->is_epoch =
        key.size == sizeof(epoch) - 1 && memcmp(key.data, epoch, key.size) == 0;
    /* Records that cannot be read are left out: they are of another making. */
    err = hf_record_info(&change->record, &seen->info, NULL);
    seen->is_record = !err;
    return err == HF_ERR_NOMEM ? err : HF_ERR_OK;
}

/* Fill request->notices; false: no memory. */
static bool judge(struct hf_op *op, const struct hf_store_request *store)
{
    struct hf_request *request = op->request;
    struct seen *seen = calloc(store->change_count, sizeof(*seen));
    struct step step = {.seen = seen};
    bool is_whole;
    size_t i;

    request->notices = calloc(store->change_count, sizeof(*request->notices));
    is_whole = seen && request->notices;
    for (i = 0; is_whole && i < store->change_count; i++) {
        is_whole = !see(&store->changes[i], &seen[i]);
        step.count++;
        if (i + 1 < store->change_count &&
            store->changes[i + 1].revision == store->changes[i].revision)
            continue;
        judge_step(request, &step);
        step.seen = &seen[i + 1];
        step.count = 0;
    }
    free(seen);
    return is_whole;
}

static void tell(struct hf_op *op, uint64_t revision)
{
    op->request->revision = revision;
    hf_op_reply(op, HF_ANSWER_DONE);
    hf_op_end(op);
}

static void changed(struct hf_op *op, const struct hf_store_request *store)
{
    uint64_t revision = store->revision;

    if (!judge(op, store)) {
        hf_op_fail(op, HF_ERR_NOMEM, "no memory for the news");
        return;
    }
    if (op->request->notice_count > 0) {
        tell(op, revision);
        return;
    }
    free(op->request->notices);
    op->request->notices = NULL;
    watch_on(op, revision);
}

static void watch_answer(struct hf_op *op, struct hf_send *send)
{
    struct hf_store_request *store = &send->store;

    switch (store->outcome) {
    case HF_OUTCOME_COMMITTED:
        changed(op, store);
        return;
    case HF_OUTCOME_REFUSED:
        op->request->missed = true;
        tell(op, store->revision);
        return;
    case HF_OUTCOME_UNKNOWN:
    case HF_OUTCOME_FAILED:
        break;
    }
    hf_op_fail_with(op, &store->error);
}

static void watch_nothing(struct hf_op *op)
{
    (void)op;
}

static void watch_gone(struct hf_op *op)
{
    hf_op_end(op);
}

const struct hf_op_kind hf_op_watch = {
    .start = watch_start,
    .answer = watch_answer,
    .timer = watch_nothing,
    .gone = watch_gone,
};
