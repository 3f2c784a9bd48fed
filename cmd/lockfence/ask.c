/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/ask.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "client/local.h"

enum { LIMIT_MS = 10000 };

/* Until then, for poll(2). */
static int patience(struct hf_time then, struct hf_time now)
{
    int64_t ms = hf_span_to_ms_up(hf_time_since(then, now));

    return ms < 0 ? 0 : ms > LIMIT_MS ? LIMIT_MS : (int)ms;
}

/* Submit one request and wait for it. */
static enum hf_err ask(struct hf_sys *sys, struct hf_transport *transport,
                       struct hf_request *request, struct hf_error *error)
{
    const struct hf_transport_ops *ops = transport->ops;
    struct hf_time until = hf_time_add(sys->steady(sys), hf_span_ms(LIMIT_MS));

    ops->submit(transport, request, sys->steady(sys), sys->wall(sys));
    for (;;) {
        struct hf_time now = sys->steady(sys);
        struct pollfd watched = {.fd = ops->fd(transport), .events = POLLIN};
        struct hf_request *done = ops->next(transport, now, sys->wall(sys));

        if (done == request)
            break;
        if (done)
            continue;
        if (hf_time_reached(until, now)) {
            ops->cancel(transport, request, now, sys->wall(sys));
            return hf_error_set(error, HF_ERR_UNAVAILABLE,
                                "the lock service did not answer within 10 s");
        }
        (void)poll(&watched, 1,
                   patience(hf_time_min(until, ops->wake_at(transport)), now));
    }
    if (request->answer != HF_ANSWER_FAILED)
        return HF_ERR_OK;
    if (error)
        *error = request->error;
    return request->error.code;
}

/* Who holds it: waiters hold nothing. */
static void note_holder(const struct hf_request *show,
                        struct ask_answer *answer)
{
    for (size_t i = 0; i < show->info_count; i++) {
        const struct hf_hold_info *info = &show->infos[i];

        if (info->kind == HF_WAITER || info->token <= answer->token)
            continue;
        answer->is_held = true;
        answer->token = info->token;
        answer->who = info->who;
    }
}

static enum hf_err ask_both(struct hf_sys *sys, struct hf_transport *transport,
                            const char *key, struct ask_answer *answer,
                            struct hf_error *error)
{
    struct hf_request show = {.kind = HF_REQUEST_SHOW, .state_fd = -1};
    struct hf_request epoch = {.kind = HF_REQUEST_EPOCH_SHOW, .state_fd = -1};
    enum hf_err err;

    memcpy(show.key, key, strlen(key) + 1);
    err = ask(sys, transport, &show, error);
    if (!err)
        note_holder(&show, answer);
    if (!err)
        err = ask(sys, transport, &epoch, error);
    /* With no record yet, nothing was issued. */
    if (!err && epoch.epoch.exists)
        answer->issued =
            (uint64_t)epoch.epoch.epoch << 48 | epoch.epoch.store_revision;
    hf_request_clear(&show);
    hf_request_clear(&epoch);
    return err;
}

enum hf_err ask_key(struct hf_sys *sys, const char *store, const char *key,
                    struct ask_answer *answer, struct hf_error *error)
{
    const char *named = getenv("HOLDFAST_STORE");
    struct hf_local_options options = {.store = store, .read_only = true};
    struct hf_transport *transport = NULL;
    enum hf_err err;

    *answer = (struct ask_answer){.is_held = false};
    if (!options.store && named && *named)
        options.store = named;
    err = hf_local_open(sys, &options, &transport, error);
    if (err)
        return err;
    err = ask_both(sys, transport, key, answer, error);
    transport->ops->close(transport);
    return err;
}
