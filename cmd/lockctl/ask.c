/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/local.h"
#include "cmd/lockctl/lockctl.h"

/* Who waits at a prompt for completion waits no longer than this. */
#define QUIET_GATE_LIMIT hf_span_ms(500)

/* What the store found and mended. */
static void tell_notices(struct lockctl *ctl)
{
    const char *notice;

    while ((notice = hf_local_notice(ctl->transport))) {
        if (!ctl->is_quiet)
            lockctl_note("note: %s", notice);
    }
}

enum hf_err lockctl_open(struct lockctl *ctl, bool read_only,
                         struct hf_error *error)
{
    const char *named = getenv("HOLDFAST_STORE");
    struct hf_local_options options = {
        .store = ctl->options.store,
        .classes = ctl->options.classes,
        .read_only = read_only,
        .gate_limit = ctl->is_quiet ? QUIET_GATE_LIMIT : hf_span_ms(0),
    };
    enum hf_err err;

    if (!options.store && named && *named)
        options.store = named;
    err = hf_local_open(&ctl->sys, &options, &ctl->transport, error);
    if (err)
        return err;
    tell_notices(ctl);
    /* A slip in its name would look like locks that nobody holds. */
    if (read_only && !ctl->is_quiet && access(lockctl_place(ctl), F_OK) &&
        errno == ENOENT)
        lockctl_note("there is no store at %s: nothing was ever locked there",
                     lockctl_place(ctl));
    return HF_ERR_OK;
}

void lockctl_close(struct lockctl *ctl)
{
    if (ctl->transport)
        ctl->transport->ops->close(ctl->transport);
    ctl->transport = NULL;
}

void lockctl_submit(struct lockctl *ctl, struct hf_request *request)
{
    ctl->transport->ops->submit(ctl->transport, request,
                                ctl->sys.steady(&ctl->sys),
                                ctl->sys.wall(&ctl->sys));
}

/* Milliseconds for poll(2) until then, rounded up; -1 is for ever. */
static int patience(struct hf_time then, struct hf_time now)
{
    int64_t ms = hf_span_to_ms_up(hf_time_since(then, now));

    if (ms == INT64_MAX)
        return -1;
    if (ms < 0)
        return 0;
    return ms > 60000 ? 60000 : (int)ms;
}

bool lockctl_wait(struct lockctl *ctl, const struct hf_request *request,
                  struct hf_time until)
{
    struct hf_transport *transport = ctl->transport;

    for (;;) {
        struct hf_time now = ctl->sys.steady(&ctl->sys);
        struct hf_request *answered =
            transport->ops->next(transport, now, ctl->sys.wall(&ctl->sys));
        struct pollfd watched = {.fd = transport->ops->fd(transport),
                                 .events = POLLIN};

        if (answered == request)
            return true;
        if (answered)
            continue;
        if (hf_time_reached(until, now))
            return false;
        (void)poll(
            &watched, 1,
            patience(hf_time_min(until, transport->ops->wake_at(transport)),
                     now));
    }
}

enum hf_err lockctl_ask(struct lockctl *ctl, struct hf_request *request,
                        struct hf_error *error)
{
    lockctl_submit(ctl, request);
    (void)lockctl_wait(ctl, request, HF_TIME_NEVER);
    tell_notices(ctl);
    if (request->answer != HF_ANSWER_FAILED)
        return HF_ERR_OK;
    *error = request->error;
    return error->code;
}

const char *lockctl_place(const struct lockctl *ctl)
{
    return hf_local_place(ctl->transport);
}
