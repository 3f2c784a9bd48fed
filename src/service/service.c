/* SPDX-License-Identifier: Apache-2.0 */
#include "service/service.h"

#include <stdlib.h>

struct hf_service {
    struct hf_core *core;
    struct hf_store *store;
    struct hf_time wake_at; /* the core's */
    /* Answered requests, oldest first. */
    struct hf_request *first;
    struct hf_request **end;
};

struct hf_service *hf_service_new(struct hf_store *store,
                                  const struct hf_core_classes *classes,
                                  const struct hf_core_options *options)
{
    struct hf_service *service = calloc(1, sizeof(*service));

    if (!service)
        return NULL;
    service->core = hf_core_new(options, classes);
    if (!service->core) {
        free(service);
        return NULL;
    }
    service->store = store;
    service->wake_at = HF_TIME_NEVER;
    service->end = &service->first;
    return service;
}

static void deliver(struct hf_service *service, struct hf_request *request)
{
    request->link = NULL;
    *service->end = request;
    service->end = &request->link;
}

static void step(struct hf_service *service, const struct hf_event *event)
{
    const struct hf_store_ops *ops = service->store->ops;
    struct hf_request *request = event->request;
    struct hf_output output;
    size_t i;

    if (hf_core_step(service->core, event, &output) && request) {
        (void)hf_error_set(&request->error, HF_ERR_NOMEM,
                           "no memory for another request");
        request->answer = HF_ANSWER_FAILED;
        deliver(service, request);
    }
    service->wake_at = output.wake_at;
    for (i = 0; i < output.cancel_count; i++)
        ops->cancel(service->store, output.cancels[i]);
    for (i = 0; i < output.send_count; i++)
        ops->submit(service->store, output.sends[i], event->now);
    for (i = 0; i < output.reply_count; i++)
        deliver(service, output.replies[i]);
}

/* Let the store and the clock have their say until both are silent. */
static void pump(struct hf_service *service, struct hf_time now,
                 struct hf_wall wall)
{
    struct hf_event event = {.now = now, .wall = wall};

    for (;;) {
        event.answer = service->store->ops->next(service->store, now);
        if (event.answer)
            event.kind = HF_EVENT_ANSWER;
        else if (hf_time_reached(service->wake_at, now))
            event.kind = HF_EVENT_TIMER;
        else
            return;
        step(service, &event);
    }
}

void hf_service_submit(struct hf_service *service, struct hf_request *request,
                       struct hf_time now, struct hf_wall wall)
{
    struct hf_event event = {
        .kind = HF_EVENT_REQUEST, .now = now, .wall = wall, .request = request};

    step(service, &event);
}

/* Take it off the list of answers; false if it is not there. */
static bool withdraw(struct hf_service *service, struct hf_request *request)
{
    struct hf_request **at = &service->first;

    while (*at && *at != request)
        at = &(*at)->link;
    if (!*at)
        return false;
    *at = request->link;
    if (!*at)
        service->end = at;
    return true;
}

void hf_service_cancel(struct hf_service *service, struct hf_request *request,
                       struct hf_time now, struct hf_wall wall)
{
    struct hf_event event = {
        .kind = HF_EVENT_GONE, .now = now, .wall = wall, .request = request};

    if (!withdraw(service, request))
        step(service, &event);
}

struct hf_request *hf_service_next(struct hf_service *service,
                                   struct hf_time now, struct hf_wall wall)
{
    struct hf_request *request;

    pump(service, now, wall);
    request = service->first;
    if (!request)
        return NULL;
    service->first = request->link;
    if (!service->first)
        service->end = &service->first;
    request->link = NULL;
    return request;
}

int hf_service_fd(const struct hf_service *service)
{
    return service->store->ops->fd(service->store);
}

struct hf_time hf_service_wake_at(const struct hf_service *service)
{
    if (service->first)
        return (struct hf_time){INT64_MIN};
    return hf_time_min(service->wake_at,
                       service->store->ops->wake_at(service->store));
}

bool hf_service_is_busy(const struct hf_service *service)
{
    return hf_core_is_busy(service->core);
}

struct hf_store *hf_service_store(struct hf_service *service)
{
    return service->store;
}

void hf_service_close(struct hf_service *service)
{
    if (!service)
        return;
    service->store->ops->close(service->store);
    hf_core_free(service->core);
    free(service);
}

void hf_service_end(struct hf_service *service)
{
    if (service->store->ops->end)
        service->store->ops->end(service->store);
    else
        hf_service_close(service);
}
