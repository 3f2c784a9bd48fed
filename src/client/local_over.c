/* SPDX-License-Identifier: Apache-2.0 */
#include "client/local_over.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The embedded store answers within the call, or fails once its gate has been
 * shut for too long: this limit is the net below that one.
 */
#define ANSWER_LIMIT hf_span_ms(60000)
/* A tool asks one thing at a time; what a cancelled one leaves to clean up
 * counts too. */
enum { OPS_MAX = 64 };

static struct hf_local *local_of(struct hf_transport *transport)
{
    return (struct hf_local *)transport;
}

/* Does this request name a class? */
static bool names_class(enum hf_request_kind kind)
{
    switch (kind) {
    case HF_REQUEST_DESCRIBE:
    case HF_REQUEST_SESSION_OPEN:
    case HF_REQUEST_ACQUIRE:
        return true;
    case HF_REQUEST_SESSION_CLOSE:
    case HF_REQUEST_JOB:
    case HF_REQUEST_KEEP:
    case HF_REQUEST_RENEW:
    case HF_REQUEST_RELEASE:
    case HF_REQUEST_LIST:
    case HF_REQUEST_SHOW:
    case HF_REQUEST_WATCH:
    case HF_REQUEST_EPOCH_SHOW:
    case HF_REQUEST_EPOCH_ADVANCE:
    case HF_REQUEST_COUNT:
        break;
    }
    return false;
}

static void local_submit(struct hf_transport *transport,
                         struct hf_request *request, struct hf_time now,
                         struct hf_wall wall)
{
    struct hf_local *local = local_of(transport);

    /* Who asks is ours to say: this is the edge. */
    request->uid = geteuid();
    if (names_class(request->kind) &&
        hf_classes_need(&local->classes, request->class_name,
                        &request->error)) {
        request->answer = HF_ANSWER_FAILED;
        request->link = NULL;
        *local->end = request;
        local->end = &request->link;
        return;
    }
    hf_service_submit(local->service, request, now, wall);
}

/* Take it off our own list; false if it is not there. */
static bool withdraw(struct hf_local *local, struct hf_request *request)
{
    struct hf_request **at = &local->first;

    while (*at && *at != request)
        at = &(*at)->link;
    if (!*at)
        return false;
    *at = request->link;
    if (!*at)
        local->end = at;
    request->link = NULL;
    return true;
}

static void local_cancel(struct hf_transport *transport,
                         struct hf_request *request, struct hf_time now,
                         struct hf_wall wall)
{
    struct hf_local *local = local_of(transport);

    if (!withdraw(local, request))
        hf_service_cancel(local->service, request, now, wall);
}

static struct hf_request *local_next(struct hf_transport *transport,
                                     struct hf_time now, struct hf_wall wall)
{
    struct hf_local *local = local_of(transport);
    struct hf_request *request = local->first;

    if (request)
        (void)withdraw(local, request);
    else
        request = hf_service_next(local->service, now, wall);
    /* The embedded store answers within a call, which may have stood at its
     * gate for longer than a lease lasts. */
    if (request)
        request->answered_at = local->sys->steady(local->sys);
    return request;
}

static int local_fd(struct hf_transport *transport)
{
    return hf_service_fd(local_of(transport)->service);
}

static struct hf_time local_wake_at(struct hf_transport *transport)
{
    struct hf_local *local = local_of(transport);

    if (local->first)
        return (struct hf_time){INT64_MIN};
    return hf_service_wake_at(local->service);
}

static void local_free(struct hf_local *local)
{
    hf_classes_clear(&local->classes);
    free(local->folder);
    free(local->place);
    free(local);
}

static void local_close(struct hf_transport *transport)
{
    struct hf_local *local = local_of(transport);

    hf_service_close(local->service);
    local_free(local);
}

static void local_end(struct hf_transport *transport)
{
    hf_service_end(local_of(transport)->service);
}

static const struct hf_transport_ops local_ops = {
    .submit = local_submit,
    .cancel = local_cancel,
    .next = local_next,
    .fd = local_fd,
    .wake_at = local_wake_at,
    .close = local_close,
    .end = local_end,
};

/* False: no memory. */
static bool copy_text(char **to, const char *text)
{
    if (!text || !*text)
        return true;
    *to = strdup(text);
    return *to != NULL;
}

struct hf_transport *hf_local_over(struct hf_sys *sys, struct hf_store *store,
                                   const char *classes, const char *place,
                                   bool read_only)
{
    struct hf_core_options options = {
        .traits = store->traits,
        .answer_limit = ANSWER_LIMIT,
        .ops_max = OPS_MAX,
    };
    struct hf_local *local = calloc(1, sizeof(*local));

    if (!local)
        return NULL;
    local->transport.ops = &local_ops;
    local->sys = sys;
    local->end = &local->first;
    /* A local core makes the epoch record that it does not find. */
    if (read_only)
        options.traits.local = false;
    if (copy_text(&local->folder, classes) && copy_text(&local->place, place)) {
        hf_classes_init(&local->classes, sys, local->folder);
        local->service = hf_service_new(store, &local->classes.known, &options);
    }
    if (local->service)
        return &local->transport;
    local_free(local);
    return NULL;
}
