/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/ask.h"

#include <poll.h>
#include <stdio.h>

/* Nothing asked here takes longer than the store's own limit; this only keeps a
 * fault from being waited for without end. */
#define ASK_LIMIT hf_span_ms(60000)

enum hf_err ask(struct hf_transport *transport, struct hf_request *request,
                struct hf_sys *sys)
{
    const struct hf_transport_ops *ops = transport->ops;
    struct hf_time now = sys->steady(sys);
    struct hf_time limit = hf_time_add(now, ASK_LIMIT);

    request->state_fd = -1;
    ops->submit(transport, request, now, sys->wall(sys));
    while (ops->next(transport, now, sys->wall(sys)) != request) {
        struct pollfd ready = {.fd = ops->fd(transport), .events = POLLIN};
        struct hf_time at = hf_time_min(ops->wake_at(transport), limit);
        int64_t ms = hf_span_to_ms_up(hf_time_since(at, now));

        if (hf_time_reached(limit, now)) {
            ops->cancel(transport, request, now, sys->wall(sys));
            return hf_error_set(&request->error, HF_ERR_UNAVAILABLE,
                                "the store did not answer");
        }
        (void)poll(&ready, 1, ms > 0 ? (int)ms : 0);
        now = sys->steady(sys);
    }
    return request->answer == HF_ANSWER_FAILED ? request->error.code
                                               : HF_ERR_OK;
}

void ask_who_has(const struct hf_local_options *store, const char *key,
                 struct hf_sys *sys, struct hf_request *request)
{
    struct hf_local_options looking = *store;
    struct hf_transport *transport;
    struct hf_error ignored;

    *request = (struct hf_request){.kind = HF_REQUEST_SHOW};
    looking.read_only = true;
    if (hf_local_open(sys, &looking, &transport, &ignored))
        return;
    (void)snprintf(request->key, sizeof(request->key), "%s", key);
    (void)!ask(transport, request, sys);
    transport->ops->close(transport);
}
