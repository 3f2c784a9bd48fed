/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the lock service: events in, with the time; what to send to
 * the store and what to answer out. No I/O, no clock, no thread, no random of
 * its own. Pumped by src/service, which alone includes this file.
 *
 * A request becomes an operation (struct hf_op, core/op.h), a small state
 * machine with its own store request in it; the service hands the store's
 * answer back as an event, by the same pointer.
 */
#ifndef HF_CORE_CORE_H
#define HF_CORE_CORE_H

#include <stddef.h>

#include "base/err.h"
#include "base/time.h"
#include "core/class.h"
#include "core/request.h"
#include "store/store.h"

struct hf_core;

struct hf_core_options {
    struct hf_store_traits traits;
    /* How long one store request may take before it counts as unknown. */
    struct hf_span answer_limit;
    /* Operations that may be under way at once; more are refused. */
    size_t ops_max;
};

/*
 * Classes are known by name; the core asks for none and reads no file.
 * `classes` is borrowed for the core's life and may be changed between steps.
 */
struct hf_core_classes {
    const struct hf_class *const *list;
    size_t count;
};

enum hf_event_kind {
    HF_EVENT_REQUEST, /* a client's request */
    HF_EVENT_ANSWER,  /* the store's answer to one of our sends */
    HF_EVENT_GONE,    /* the client no longer wants the request's answer */
    HF_EVENT_TIMER    /* wake_at was reached */
};

struct hf_event {
    enum hf_event_kind kind;
    struct hf_time now;
    struct hf_wall wall;
    struct hf_request *request;      /* REQUEST, GONE */
    struct hf_store_request *answer; /* ANSWER */
};

/*
 * What to do now, in this order: cancel, then send, then deliver the replies.
 * The arrays are the core's until the next step.
 */
struct hf_output {
    struct hf_store_request *const *cancels;
    size_t cancel_count;
    struct hf_store_request *const *sends;
    size_t send_count;
    struct hf_request *const *replies;
    size_t reply_count;
    struct hf_time wake_at;
};

struct hf_core *hf_core_new(const struct hf_core_options *options,
                            const struct hf_core_classes *classes);
/* Forgets all operations; the store must have been closed before. */
void hf_core_free(struct hf_core *core);
/*
 * The one door. Errors: NOMEM for a REQUEST that could not be taken (it was
 * not; nothing else fails). After GONE the request is no longer touched; a
 * hold that comes of it is released.
 */
enum hf_err hf_core_step(struct hf_core *core, const struct hf_event *event,
                         struct hf_output *output);
/* True while an operation is under way, also one whose client has gone. */
bool hf_core_is_busy(const struct hf_core *core);

#endif
