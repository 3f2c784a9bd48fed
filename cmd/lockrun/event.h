/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --json: what happens, as JSON objects, one a line, for programs. Like say.h
 * it never waits for a reader: a line that cannot be taken is dropped, and the
 * next one that can says how many were. Costs nothing when nobody wants it.
 *
 *     struct event event;
 *
 *     if (event_begin(&event, say->events, EVENT_DOUBT)) {
 *         hf_json_text(&event.json, "reason", reason);
 *         event_end(&event);
 *     }
 */
#ifndef LOCKRUN_EVENT_H
#define LOCKRUN_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/sys.h"

enum event_kind {
#define EVENT(name, word) EVENT_##name,
#include "cmd/lockrun/event.def"
#undef EVENT
    EVENT_COUNT
};

struct events {
    int fd;
    bool are_instead; /* of the text, which would go to the same place */
    uint64_t missed;  /* lines that were not taken */
    struct hf_sys *sys;
    const char *key; /* "": not known yet */
};

struct event {
    struct events *events;
    struct hf_buf line;
    struct hf_json json;
};

/* Is it open for writing? If not, that is refused: USAGE, with the sentence. */
bool events_fit(int fd);
enum hf_err events_refuse(int64_t fd, struct hf_error *error);
/* Make ready for descriptor `fd`, which the job then does not get if it is
 * above 2. False: it is not open for writing. */
bool events_open(struct events *events, int fd, struct hf_sys *sys,
                 const char *key);

/* False: nobody wants it (`events` is NULL); *event is then not to be used. */
bool event_begin(struct event *event, struct events *events,
                 enum event_kind kind);
void event_end(struct event *event);

#endif
