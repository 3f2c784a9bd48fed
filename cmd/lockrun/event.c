/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/event.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/utc.h"
#include "cmd/lockrun/put.h"

static const char *const names[EVENT_COUNT] = {
#define EVENT(name, word) [EVENT_##name] = word,
#include "cmd/lockrun/event.def"
#undef EVENT
};

bool events_fit(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

bool events_open(struct events *events, int fd, struct hf_sys *sys,
                 const char *key)
{
    *events = (struct events){
        .fd = fd, .are_instead = fd == STDERR_FILENO, .sys = sys, .key = key};
    if (!events_fit(fd))
        return false;
    return fd <= STDERR_FILENO || !fcntl(fd, F_SETFD, FD_CLOEXEC);
}

enum hf_err events_refuse(int64_t fd, struct hf_error *error)
{
    return hf_error_set(error, HF_ERR_USAGE,
                        "--json-fd: descriptor %lld is not open for writing",
                        (long long)fd);
}

bool event_begin(struct event *event, struct events *events,
                 enum event_kind kind)
{
    struct hf_wall now;

    if (!events)
        return false;
    event->events = events;
    now = events->sys->wall(events->sys);
    /* What a pipe takes whole, with its line end. */
    hf_buf_init(&event->line, PIPE_BUF - 1);
    hf_json_begin(&event->json, &event->line);
    hf_json_object(&event->json, NULL);
    hf_json_text(&event->json, "time", hf_utc_print(now, 3).text);
    hf_json_text(&event->json, "event", names[kind]);
    if (events->key[0])
        hf_json_text(&event->json, "key", events->key);
    if (events->missed > 0)
        hf_json_u64(&event->json, "missed", events->missed);
    return true;
}

void event_end(struct event *event)
{
    struct events *events = event->events;
    bool is_put = false;

    hf_json_object_end(&event->json);
    if (!hf_json_end(&event->json) && !hf_buf_add(&event->line, "\n", 1))
        is_put = put_line(events->fd, event->line.data, event->line.size);
    events->missed = is_put ? 0 : events->missed + 1;
    hf_buf_clear(&event->line);
}
