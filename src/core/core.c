/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/op.h"

static const struct hf_op_kind *const kinds[] = {
    [HF_REQUEST_DESCRIBE] = &hf_op_describe,
    [HF_REQUEST_SESSION_OPEN] = &hf_op_session_open,
    [HF_REQUEST_SESSION_CLOSE] = &hf_op_session_close,
    [HF_REQUEST_JOB] = &hf_op_job,
    [HF_REQUEST_ACQUIRE] = &hf_op_acquire,
    [HF_REQUEST_KEEP] = &hf_op_keep,
    [HF_REQUEST_RENEW] = &hf_op_renew,
    [HF_REQUEST_RELEASE] = &hf_op_release,
    [HF_REQUEST_LIST] = &hf_op_list,
    [HF_REQUEST_SHOW] = &hf_op_show,
    [HF_REQUEST_WATCH] = &hf_op_watch,
    [HF_REQUEST_EPOCH_SHOW] = &hf_op_epoch_show,
    [HF_REQUEST_EPOCH_ADVANCE] = &hf_op_epoch_advance,
};

/* An operation sends at most two requests in a step, and cancels two. */
enum { OUTPUTS_PER_OP = 4 };

struct hf_core *hf_core_new(const struct hf_core_options *options,
                            const struct hf_core_classes *classes)
{
    struct hf_core *core = calloc(1, sizeof(*core));

    if (!core)
        return NULL;
    core->options = *options;
    core->classes = classes;
    return core;
}

static void free_heirs(struct hf_release *release)
{
    for (size_t i = 0; release->heirs && i < HF_HANDOFF_MAX; i++)
        hf_value_clear(&release->heirs[i].value);
    free(release->heirs);
}

static void op_free(struct hf_op *op)
{
    hf_store_request_clear(&op->txn.send.store);
    if (op->kind == &hf_op_acquire) {
        hf_store_request_clear(&op->u.acquire.watch.store);
        hf_value_clear(&op->u.acquire.holder_value);
        hf_value_clear(&op->u.acquire.session_value);
    } else if (op->kind == &hf_op_release) {
        free_heirs(&op->u.release);
    } else if (op->kind == &hf_op_keep) {
        hf_value_clear(&op->u.keep.value);
    } else if (op->kind == &hf_op_seal) {
        hf_value_clear(&op->u.seal.value);
    } else if (op->kind == &hf_op_epoch_advance ||
               op->kind == &hf_op_epoch_show) {
        hf_value_clear(&op->u.epoch.value);
        free(op->u.epoch.leases);
    }
    free(op);
}

static void bury(struct hf_core *core)
{
    while (core->graveyard) {
        struct hf_op *op = core->graveyard;

        core->graveyard = op->next;
        op_free(op);
    }
}

void hf_core_free(struct hf_core *core)
{
    if (!core)
        return;
    bury(core);
    while (core->ops) {
        struct hf_op *op = core->ops;

        core->ops = op->next;
        op_free(op);
    }
    free(core->cancels);
    free(core->sends);
    free(core->replies);
    free(core);
}

bool hf_core_is_busy(const struct hf_core *core)
{
    return core->ops != NULL;
}

/* Room for all that a step can put out, so that a step cannot fail. */
static enum hf_err reserve(struct hf_core *core, size_t ops)
{
    size_t capacity = OUTPUTS_PER_OP * (ops + 2);
    void *cancels;
    void *sends;
    void *replies;

    if (capacity <= core->capacity)
        return HF_ERR_OK;
    capacity *= 2;
    cancels = realloc(core->cancels, capacity * sizeof(*core->cancels));
    if (cancels)
        core->cancels = cancels;
    sends = realloc(core->sends, capacity * sizeof(*core->sends));
    if (sends)
        core->sends = sends;
    replies = realloc(core->replies, capacity * sizeof(*core->replies));
    if (replies)
        core->replies = replies;
    if (!cancels || !sends || !replies)
        return HF_ERR_NOMEM;
    core->capacity = capacity;
    return HF_ERR_OK;
}

struct hf_op *hf_op_new(struct hf_core *core, const struct hf_op_kind *kind,
                        struct hf_request *request)
{
    size_t size = offsetof(struct hf_op, u) + kind->size;
    struct hf_op *op;

    if (reserve(core, core->op_count + 1))
        return NULL;
    op = malloc(size + HF_PATHS_ROOM);
    if (!op)
        return NULL;
    memset(op, 0, size - kind->unset);
    op->kind = kind;
    op->core = core;
    op->request = request;
    op->wake_at = HF_TIME_NEVER;
    op->next = core->ops;
    if (core->ops)
        core->ops->prev = op;
    core->ops = op;
    core->op_count++;
    if (request)
        request->op = op;
    return op;
}

static char *paths_room(struct hf_op *op)
{
    return (char *)op + offsetof(struct hf_op, u) + op->kind->size;
}

void hf_op_paths(struct hf_op *op, const char *key, const char *session,
                 const uint8_t grant[HF_GRANT_ID_SIZE])
{
    hf_paths_make(&op->paths, paths_room(op), key, session, grant);
}

void hf_op_prefixes(struct hf_op *op, const char *prefix)
{
    hf_paths_prefixes(&op->paths, paths_room(op), prefix);
}

static void dispatch(struct hf_op *op, struct hf_send *send)
{
    hf_assert(!op->ended && !send->out);
    send->op = op;
    send->out = true;
    send->sent_at = op->core->now;
    hf_assert(op->core->send_count < op->core->capacity);
    op->core->sends[op->core->send_count++] = &send->store;
}

void hf_op_send(struct hf_op *op, struct hf_send *send)
{
    dispatch(op, send);
    send->answer_by =
        hf_time_add(op->core->now, op->core->options.answer_limit);
}

void hf_op_send_watch(struct hf_op *op, struct hf_send *send)
{
    dispatch(op, send);
    send->answer_by = HF_TIME_NEVER;
}

void hf_op_cancel(struct hf_op *op, struct hf_send *send)
{
    struct hf_core *core = op->core;
    size_t i;

    if (!send->out)
        return;
    send->out = false;
    /* Built and withdrawn in one step: it was never sent. */
    for (i = 0; i < core->send_count; i++) {
        if (core->sends[i] != &send->store)
            continue;
        memmove(&core->sends[i], &core->sends[i + 1],
                (core->send_count - i - 1) * sizeof(*core->sends));
        core->send_count--;
        return;
    }
    hf_assert(core->cancel_count < core->capacity);
    core->cancels[core->cancel_count++] = &send->store;
}

void hf_op_reply(struct hf_op *op, enum hf_answer answer)
{
    struct hf_request *request = op->request;

    if (!request)
        return;
    request->answer = answer;
    request->op = NULL;
    op->request = NULL;
    hf_assert(op->core->reply_count < op->core->capacity);
    op->core->replies[op->core->reply_count++] = request;
}

void hf_op_fail_with(struct hf_op *op, const struct hf_error *error)
{
    if (op->request) {
        op->request->error = *error;
        hf_op_reply(op, HF_ANSWER_FAILED);
    }
    hf_op_end(op);
}

void hf_op_fail(struct hf_op *op, enum hf_err code, const char *format, ...)
{
    struct hf_error error;
    char text[HF_ERROR_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)hf_error_set(&error, code, "%s", text);
    hf_op_fail_with(op, &error);
}

void hf_op_end(struct hf_op *op)
{
    struct hf_core *core = op->core;

    hf_assert(!op->ended);
    hf_assert(!op->request);
    hf_op_cancel(op, &op->txn.send);
    if (op->kind == &hf_op_acquire)
        hf_op_cancel(op, &op->u.acquire.watch);
    op->ended = true;
    if (op->prev)
        op->prev->next = op->next;
    else
        core->ops = op->next;
    if (op->next)
        op->next->prev = op->prev;
    core->op_count--;
    op->prev = NULL;
    op->next = core->graveyard;
    core->graveyard = op;
}

static enum hf_err take_request(struct hf_core *core,
                                struct hf_request *request)
{
    struct hf_op *op;

    hf_assert(request->kind < HF_REQUEST_COUNT);
    if (core->op_count >= core->options.ops_max)
        return HF_ERR_NOMEM;
    op = hf_op_new(core, kinds[request->kind], request);
    if (!op)
        return HF_ERR_NOMEM;
    op->kind->start(op);
    return HF_ERR_OK;
}

static void take_answer(struct hf_store_request *answer)
{
    /* `store` is the first member of hf_send, and every send is one. */
    struct hf_send *send = (struct hf_send *)answer;

    hf_assert(send->out);
    send->out = false;
    send->op->kind->answer(send->op, send);
}

static void take_gone(struct hf_request *request)
{
    struct hf_op *op = request->op;

    if (!op)
        return;
    request->op = NULL;
    op->request = NULL;
    op->kind->gone(op);
}

/* A send that was not answered in time is unknown, and is ours again. */
static void expire(struct hf_op *op, struct hf_send *send)
{
    if (!send->out || !hf_time_reached(send->answer_by, op->core->now))
        return;
    hf_op_cancel(op, send);
    hf_store_request_clear(&send->store);
    send->store.outcome = HF_OUTCOME_UNKNOWN;
    (void)hf_error_set(&send->store.error, HF_ERR_UNAVAILABLE,
                       "the store did not answer in time");
    op->kind->answer(op, send);
}

static void take_timer(struct hf_core *core)
{
    struct hf_op *op = core->ops;

    while (op) {
        struct hf_op *next = op->next;

        expire(op, &op->txn.send);
        if (!op->ended && hf_time_reached(op->wake_at, core->now)) {
            op->wake_at = HF_TIME_NEVER;
            op->kind->timer(op);
        }
        /* A handler ends no operation but its own. */
        op = next;
    }
}

/*
 * The epoch became known, or could not be learned: go on with who waits. A
 * handler ends no operation but its own, so that `next` stays good.
 */
static void resume(struct hf_core *core)
{
    struct hf_op *op = core->ops;
    bool failed = core->seal.failed;
    struct hf_error why = core->seal.why;

    if (core->seal.reading)
        return;
    core->seal.failed = false;
    while (op) {
        struct hf_op *next = op->next;

        if (op->waits_for_epoch) {
            op->waits_for_epoch = false;
            if (failed)
                hf_op_fail_with(op, &why);
            else
                op->kind->start(op);
        }
        op = next;
    }
}

static struct hf_time earliest(const struct hf_core *core)
{
    struct hf_time wake_at = HF_TIME_NEVER;
    const struct hf_op *op;

    for (op = core->ops; op; op = op->next) {
        wake_at = hf_time_min(wake_at, op->wake_at);
        if (op->txn.send.out)
            wake_at = hf_time_min(wake_at, op->txn.send.answer_by);
    }
    return wake_at;
}

enum hf_err hf_core_step(struct hf_core *core, const struct hf_event *event,
                         struct hf_output *output)
{
    enum hf_err err = HF_ERR_OK;

    bury(core);
    core->now = event->now;
    core->wall = event->wall;
    core->cancel_count = 0;
    core->send_count = 0;
    core->reply_count = 0;
    switch (event->kind) {
    case HF_EVENT_REQUEST:
        err = take_request(core, event->request);
        break;
    case HF_EVENT_ANSWER:
        take_answer(event->answer);
        break;
    case HF_EVENT_GONE:
        take_gone(event->request);
        break;
    case HF_EVENT_TIMER:
        take_timer(core);
        break;
    }
    resume(core);
    *output = (struct hf_output){
        .cancels = core->cancels,
        .cancel_count = core->cancel_count,
        .sends = core->sends,
        .send_count = core->send_count,
        .replies = core->replies,
        .reply_count = core->reply_count,
        .wake_at = earliest(core),
    };
    return err;
}
