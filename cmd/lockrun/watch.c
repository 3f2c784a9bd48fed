/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/watch.h"

#include <stdio.h>
#include <string.h>

#include "cmd/lockrun/ask.h"
#include "cmd/lockrun/busy.h"

#define LOOK_AFTER hf_span_ms(1000)
#define TELL_AFTER hf_span_ms(60000)

enum hf_err watch_start(struct watch *watch, struct hf_sys *sys,
                        const struct hf_local_options *store,
                        struct hf_error *error)
{
    struct hf_local_options looking = *store;

    looking.read_only = true;
    return hf_local_open(sys, &looking, &watch->transport, error);
}

struct hf_time watch_wake_at(const struct watch *watch)
{
    return watch->transport ? watch->next_at : HF_TIME_NEVER;
}

static const struct hf_hold_info *holder_of(const struct hf_request *request)
{
    for (size_t i = 0; i < request->info_count; i++) {
        if (request->infos[i].kind != HF_WAITER)
            return &request->infos[i];
    }
    return NULL;
}

static void tell(const struct hf_hold_info *holder, const char *key,
                 struct hf_sys *sys, const struct say *say_)
{
    struct hf_buf text;

    hf_buf_init(&text, BUSY_BYTES_MAX);
    busy_describe(holder, sys, &text);
    say(say_, "waiting: %s %s", key, text.data ? text.data : "is held");
    hf_buf_clear(&text);
}

void watch_tick(struct watch *watch, const char *key, struct hf_sys *sys,
                const struct say *say_)
{
    struct hf_time now = sys->steady(sys);
    struct hf_request request = {.kind = HF_REQUEST_SHOW};
    const struct hf_hold_info *holder;

    if (!watch->transport || !hf_time_reached(watch->next_at, now))
        return;
    watch->next_at = hf_time_add(now, LOOK_AFTER);
    snprintf(request.key, sizeof(request.key), "%s", key);
    /* What cannot be seen now is seen the next time. */
    if (!ask(watch->transport, &request, sys)) {
        holder = holder_of(&request);
        if (holder && (hf_time_reached(watch->tell_at, now) ||
                       memcmp(holder->who.grant, watch->grant,
                              sizeof(watch->grant)) != 0)) {
            tell(holder, key, sys, say_);
            memcpy(watch->grant, holder->who.grant, sizeof(watch->grant));
            watch->tell_at = hf_time_add(now, TELL_AFTER);
        }
    }
    hf_request_clear(&request);
}

void watch_stop(struct watch *watch)
{
    if (watch->transport)
        watch->transport->ops->close(watch->transport);
    watch->transport = NULL;
}
