/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SESSION_OPEN, SESSION_CLOSE and JOB: a lease, its end, and what runs under
 * it. Opening one costs no commit: its record comes with its first hold.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "core/op.h"

static void lease_begin(struct hf_op *op, enum hf_store_kind kind)
{
    struct hf_store_request *store = &op->txn.send.store;

    hf_store_request_clear(store);
    store->kind = kind;
    if (kind != HF_STORE_LEASE_GRANT)
        store->lease = op->request->session.lease;
}

static void open_start(struct hf_op *op)
{
    const struct hf_class *class = hf_policy_class(op);
    const struct hf_request *request = op->request;

    if (!class || !hf_policy_allows(op, class))
        return;
    lease_begin(op, HF_STORE_LEASE_GRANT);
    op->txn.send.store.ttl_ms =
        request->ttl_ms ? request->ttl_ms : class->ttl_default_ms;
    hf_op_send(op, &op->txn.send);
}

/* The client has gone: nobody will renew it, so it is given back. */
static void open_unwanted(struct hf_op *op, const struct hf_send *send)
{
    hf_lease_id lease = send->store.lease;

    if (op->state || send->store.outcome != HF_OUTCOME_COMMITTED) {
        hf_op_end(op);
        return;
    }
    op->state = 1;
    hf_store_request_clear(&op->txn.send.store);
    op->txn.send.store.kind = HF_STORE_LEASE_REVOKE;
    op->txn.send.store.lease = lease;
    hf_op_send(op, &op->txn.send);
}

static void open_answer(struct hf_op *op, struct hf_send *send)
{
    struct hf_store_request *store = &send->store;
    struct hf_request *request = op->request;
    char random[17];

    if (!request) {
        open_unwanted(op, send);
        return;
    }
    if (store->outcome != HF_OUTCOME_COMMITTED) {
        hf_op_fail_with(op, &store->error);
        return;
    }
    hf_hex(request->random, sizeof(request->random), random);
    snprintf(request->session.id, sizeof(request->session.id), "%016llx%s",
             (unsigned long long)store->lease, random);
    request->session.lease = store->lease;
    request->session.revision = 0;
    request->ttl_ms = store->ttl_ms;
    request->local = op->core->options.traits.local;
    request->sent_at = send->sent_at;
    request->state_fd = -1;
    if (store->state_path) {
        free((char *)(uintptr_t)request->state_path);
        request->state_path = strdup(store->state_path);
        request->state_fd = store->state_fd;
        if (!request->state_path) {
            hf_op_fail(op, HF_ERR_NOMEM, "no memory for a session");
            return;
        }
    }
    hf_op_reply(op, HF_ANSWER_DONE);
    hf_op_end(op);
}

static void session_nothing(struct hf_op *op)
{
    (void)op;
}

const struct hf_op_kind hf_op_session_open = {
    .start = open_start,
    .answer = open_answer,
    .timer = session_nothing,
    .gone = session_nothing,
};

static void close_start(struct hf_op *op)
{
    lease_begin(op, HF_STORE_LEASE_REVOKE);
    hf_op_send(op, &op->txn.send);
}

/* A lease that is not there any more is as good as ended. */
static void plain_answer(struct hf_op *op, struct hf_send *send)
{
    if (!op->request) {
        hf_op_end(op);
        return;
    }
    if (send->store.outcome == HF_OUTCOME_COMMITTED ||
        send->store.outcome == HF_OUTCOME_REFUSED) {
        hf_op_reply(op, HF_ANSWER_DONE);
        hf_op_end(op);
        return;
    }
    hf_op_fail_with(op, &send->store.error);
}

const struct hf_op_kind hf_op_session_close = {
    .start = close_start,
    .answer = plain_answer,
    .timer = session_nothing,
    .gone = session_nothing,
};

static void job_start(struct hf_op *op)
{
    lease_begin(op, HF_STORE_LEASE_PHASE);
    op->txn.send.store.phase = op->request->phase;
    op->txn.send.store.left = op->request->left;
    op->txn.send.store.cgroup = op->request->cgroup;
    hf_op_send(op, &op->txn.send);
}

/* The folder's name is the client's memory, so nothing may stay out. */
static void job_gone(struct hf_op *op)
{
    hf_op_end(op);
}

const struct hf_op_kind hf_op_job = {
    .start = job_start,
    .answer = plain_answer,
    .timer = session_nothing,
    .gone = job_gone,
};
