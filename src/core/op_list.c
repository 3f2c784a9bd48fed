/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIST and SHOW: what stands below a prefix, or all about one key. Reads only;
 * the state of each record's lease is asked for one by one (SHOW, and LIST
 * where the store is on this kernel).
 */
#include <stdlib.h>
#include <string.h>

#include "core/op.h"

enum { START, READ, LEASES };
enum { READ_HOLDS, READ_SHARES, READ_WAITS, READ_FLOORS };
enum { SHOW_MAX = HF_STORE_LIST_MAX };

static void read_begin(struct hf_op *op)
{
    hf_txn_begin(&op->txn);
    op->state = READ;
}

static void list_start(struct hf_op *op)
{
    const struct hf_request *request = op->request;
    uint32_t limit = request->limit;

    if (limit < 1 || limit > HF_STORE_LIST_MAX) {
        hf_op_fail(op, HF_ERR_USAGE, "a list has 1 to %d entries",
                   HF_STORE_LIST_MAX);
        return;
    }
    if (!hf_seal_known(op))
        return;
    hf_op_prefixes(op, request->key);
    read_begin(op);
    (void)hf_txn_list(&op->txn, HF_THEN, op->paths.hold, limit);
    (void)hf_txn_list(&op->txn, HF_THEN, op->paths.shares, limit);
    (void)hf_txn_list(&op->txn, HF_THEN, op->paths.waits, limit);
    (void)hf_txn_list(&op->txn, HF_THEN, op->paths.floor, limit);
    hf_op_send(op, &op->txn.send);
}

static void show_start(struct hf_op *op)
{
    struct hf_error error;

    if (hf_key_check(op->request->key, &error)) {
        hf_op_fail_with(op, &error);
        return;
    }
    if (!hf_seal_known(op))
        return;
    hf_op_paths(op, op->request->key, NULL, NULL);
    read_begin(op);
    (void)hf_txn_get(&op->txn, HF_THEN, op->paths.hold);
    (void)hf_txn_list(&op->txn, HF_THEN, op->paths.shares, SHOW_MAX);
    (void)hf_txn_list(&op->txn, HF_THEN, op->paths.waits, SHOW_MAX);
    (void)hf_txn_get(&op->txn, HF_THEN, op->paths.floor);
    hf_op_send(op, &op->txn.send);
}

static void finish(struct hf_op *op)
{
    hf_op_reply(op, HF_ANSWER_DONE);
    hf_op_end(op);
}

/* Ask for the lease of the next record that has one, or end. */
static void next_lease(struct hf_op *op)
{
    struct hf_request *request = op->request;
    struct hf_store_request *store = &op->txn.send.store;
    size_t *next = &op->u.looking.next;

    while (*next < request->info_count && request->infos[*next].lease == 0)
        (*next)++;
    if (*next == request->info_count) {
        finish(op);
        return;
    }
    hf_store_request_clear(store);
    store->kind = HF_STORE_LEASE_SHOW;
    store->lease = request->infos[*next].lease;
    op->state = LEASES;
    hf_op_send(op, &op->txn.send);
}

/* Records that cannot be read are left out: they are of another making. */
static void gather(struct hf_op *op)
{
    struct hf_request *request = op->request;
    size_t place;
    size_t total = 0;

    for (place = READ_HOLDS; place <= READ_FLOORS; place++) {
        const struct hf_action_result *list = hf_txn_list_of(&op->txn, place);

        total += list->record_count;
        request->more = request->more || list->count > list->record_count;
    }
    request->waiting = hf_txn_list_of(&op->txn, READ_WAITS)->count;
    free(request->infos);
    request->infos = total ? calloc(total, sizeof(*request->infos)) : NULL;
    if (total && !request->infos) {
        hf_op_fail(op, HF_ERR_NOMEM, "no memory for the list");
        return;
    }
    for (place = READ_HOLDS; place <= READ_FLOORS; place++) {
        const struct hf_action_result *list = hf_txn_list_of(&op->txn, place);
        size_t i;

        for (i = 0; i < list->record_count; i++) {
            struct hf_hold_info *info = &request->infos[request->info_count];
            struct hf_error error;
            enum hf_err err = hf_record_info(&list->records[i], info, &error);

            /* What is there must not be missing from the list. */
            if (err == HF_ERR_NOMEM) {
                hf_op_fail_with(op, &error);
                return;
            }
            if (!err)
                request->info_count++;
        }
    }
    next_lease(op);
}

static void list_answer(struct hf_op *op, struct hf_send *send)
{
    struct hf_store_request *store = &send->store;

    if (!op->request) {
        hf_op_end(op);
        return;
    }
    if (op->state == LEASES) {
        size_t at = op->u.looking.next++;
        struct hf_hold_info *info = &op->request->infos[at];

        if (store->outcome == HF_OUTCOME_COMMITTED) {
            info->lease_known = true;
            info->lease_ttl_ms = store->ttl_ms;
            info->lease_remaining_ms = store->remaining_ms;
            info->proof = store->proof;
            info->phase = store->phase;
            info->left = store->left;
        }
        next_lease(op);
        return;
    }
    if (store->outcome == HF_OUTCOME_COMMITTED)
        gather(op);
    else if (store->outcome == HF_OUTCOME_REFUSED)
        hf_op_fail(op, HF_ERR_UNAVAILABLE, "the store refused to be read");
    else
        hf_op_fail_with(op, &store->error);
}

static void list_nothing(struct hf_op *op)
{
    (void)op;
}

static void list_gone(struct hf_op *op)
{
    hf_op_end(op);
}

const struct hf_op_kind hf_op_list = {
    .size = sizeof(struct hf_looking),
    .start = list_start,
    .answer = list_answer,
    .timer = list_nothing,
    .gone = list_gone,
};

const struct hf_op_kind hf_op_show = {
    .size = sizeof(struct hf_looking),
    .start = show_start,
    .answer = list_answer,
    .timer = list_nothing,
    .gone = list_gone,
};
