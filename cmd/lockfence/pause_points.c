/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trial POINTS. A fence that looks at the mark and then writes, in two
 * steps, is found out by nothing but a writer that stands still between the
 * two. So a writer is stopped before each thing that it does to the world in
 * turn, while its lease holds; then its lockrun gives the key back, the next
 * holder is granted it and writes; then the first one goes on to its end, and
 * what stands must still be the next holder's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/lockfence/pause_kit.h"
#include "cmd/lockfence/pause_trace.h"

/*
 * So long all points may take together, lest the verdict be late. A holder that
 * takes four times as long as before, and 0.4 s more, is held up by the one
 * that stands still (a row lock, a file lock): then the order is safe, and
 * there is nothing to see.
 */
enum { BUDGET_MS = 12000, HELD_UP_MS = 400, HELD_UP_TIMES = 4 };

struct points {
    struct pause_kit *kit;
    unsigned int all; /* of one undisturbed write */
    unsigned int tried;
    unsigned int held_up; /* where the next holder had to wait */
    bool is_over;         /* a hole, or something that keeps us from going on */
};

static struct pause_found *found_of(const struct points *points)
{
    return &points->kit->report->found[PAUSE_POINTS];
}

static void set_unclear(struct points *points, const char *what,
                        const char *said)
{
    struct pause_found *found = found_of(points);

    found->fate = PAUSE_UNCLEAR;
    snprintf(found->why, sizeof(found->why), "%s: %s", what, said);
    points->is_over = true;
}

static enum hf_err start_stale(struct pause_kit *kit,
                               const struct pause_grant *grant,
                               unsigned int stop_at, struct pause_trace *trace)
{
    char id[PAUSE_ID_SIZE];
    char path[512];
    char **environment;
    enum hf_err failed;

    pause_kit_next_id(kit, id);
    snprintf(path, sizeof(path), "%s/%s.out", kit->folder, id);
    environment = pause_environment(grant, NULL, id);
    if (!environment)
        return hf_error_set(kit->run->error, HF_ERR_NOMEM, "no memory");
    failed = pause_trace_start(kit->setting.line, environment, path, stop_at,
                               trace, kit->run->error);
    free(environment);
    return failed;
}

/* One write without a stop, to count. False: no points can be tried. */
static bool count_points(struct points *points, enum hf_err *failed)
{
    struct pause_kit *kit = points->kit;
    struct pause_trace_event event = {.act = 0};
    char why[PAUSE_SAID_SIZE] = "";
    struct pause_holder holder;
    struct pause_trace trace;
    enum pause_trace_news news = PAUSE_TRACE_FAILED;

    *failed =
        pause_holder_start(&kit->setting, "count", &holder, kit->run->error);
    if (*failed)
        return false;
    *failed = start_stale(kit, &holder.grant, 0, &trace);
    if (!*failed) {
        news = pause_trace_next(kit->setting.sys, &trace,
                                kit->setting.write_limit, &event);
        pause_trace_end(kit->setting.sys, &trace);
    }
    pause_holder_finish(&kit->setting, &holder);
    pause_grant_clear(&holder.grant);
    points->all = event.act;
    if (*failed)
        return false;
    if (news == PAUSE_TRACE_FAILED)
        snprintf(found_of(points)->why, sizeof(found_of(points)->why),
                 "ptrace is not permitted here");
    else if (news != PAUSE_TRACE_ENDED || event.status || !event.act)
        set_unclear(
            points, "while it is traced",
            "the write line does not work (--points=0 leaves this out)");
    else if (pause_kit_read_back(kit, true, why) != PAUSE_STANDS_UNREAD)
        return true;
    else
        set_unclear(points, "while it is traced", why);
    return false;
}

/* The stopped one goes on; how did it end, and what stands? */
static void let_go(struct points *points, struct pause_trace *trace,
                   const struct pause_trace_event *stop)
{
    struct pause_kit *kit = points->kit;
    struct pause_found *found = found_of(points);
    struct pause_trace_event end = {.act = 0};
    char why[PAUSE_SAID_SIZE] = "";

    pause_trace_go(trace);
    if (pause_trace_next(kit->setting.sys, trace, kit->setting.write_limit,
                         &end) != PAUSE_TRACE_ENDED) {
        set_unclear(points, "let go on", "it did not end within the limit");
        return;
    }
    switch (pause_kit_read_back(kit, false, why)) {
    case PAUSE_STANDS_SAME:
        break;
    case PAUSE_STANDS_OTHER:
        found->fate = PAUSE_TAKEN;
        found->status = end.status;
        snprintf(found->why, sizeof(found->why),
                 "stopped before its %s, %u of %u; it ended with %d, and the "
                 "verify line shows the change",
                 stop->call, stop->act, points->all, end.status);
        points->is_over = true;
        break;
    case PAUSE_STANDS_UNREAD:
        set_unclear(points, "let go on", why);
        break;
    }
}

/* The next holder writes while the other stands still. */
static enum hf_err overtake(struct points *points, struct pause_trace *trace,
                            const struct pause_trace_event *stop)
{
    struct pause_kit *kit = points->kit;
    struct hf_error *error = kit->run->error;
    struct pause_result result;
    struct pause_holder holder;
    struct hf_span limit;
    char why[PAUSE_SAID_SIZE] = "";
    char id[PAUSE_ID_SIZE];
    enum hf_err failed =
        pause_holder_start(&kit->setting, "next", &holder, error);

    if (failed)
        return failed;
    pause_kit_next_id(kit, id);
    limit.ns = HELD_UP_TIMES * kit->report->found[PAUSE_TAKEOVER].took.ns +
               hf_span_ms(HELD_UP_MS).ns;
    failed =
        pause_holder_write(&kit->setting, &holder, id, limit, &result, error);
    if (!failed && result.is_over_time) {
        struct pause_trace_event end;

        points->held_up++;
        pause_trace_go(trace);
        pause_trace_next(kit->setting.sys, trace, kit->setting.write_limit,
                         &end);
        failed = pause_holder_answer(&kit->setting, &holder, id,
                                     kit->setting.write_limit, &result, error);
        if (!failed && (result.is_over_time || result.status))
            set_unclear(points, "the next holder's write", result.said);
        pause_kit_read_back(kit, true, why);
    } else if (!failed && result.status) {
        set_unclear(points, "the next holder's write", result.said);
    } else if (!failed) {
        if (pause_kit_read_back(kit, true, why) != PAUSE_STANDS_OTHER)
            set_unclear(points, "the next holder's write",
                        why[0] ? why : "the verify line shows no change");
        else
            let_go(points, trace, stop);
    }
    pause_holder_finish(&kit->setting, &holder);
    pause_grant_clear(&holder.grant);
    return failed;
}

static enum hf_err try_point(struct points *points, unsigned int point)
{
    struct pause_kit *kit = points->kit;
    struct pause_trace_event stop = {.act = 0};
    enum pause_trace_news news = PAUSE_TRACE_FAILED;
    struct pause_holder holder;
    struct pause_trace trace;
    bool is_started;
    enum hf_err failed =
        pause_holder_start(&kit->setting, "stale", &holder, kit->run->error);

    if (failed)
        return failed;
    failed = start_stale(kit, &holder.grant, point, &trace);
    is_started = !failed;
    if (is_started)
        news = pause_trace_next(kit->setting.sys, &trace,
                                kit->setting.write_limit, &stop);
    pause_holder_finish(&kit->setting, &holder);
    pause_grant_clear(&holder.grant);
    /* It may have had fewer to do this time: then it is done, in order. */
    if (news == PAUSE_TRACE_STOPPED) {
        points->tried++;
        failed = overtake(points, &trace, &stop);
    }
    if (is_started)
        pause_trace_end(kit->setting.sys, &trace);
    return failed;
}

enum hf_err pause_points(struct pause_kit *kit, unsigned int points_max)
{
    struct points points = {.kit = kit};
    struct pause_found *found = found_of(&points);
    struct hf_time begun = kit->setting.sys->steady(kit->setting.sys);
    enum hf_err failed;
    unsigned int number;

    if (!kit->verify || !points_max) {
        snprintf(found->why, sizeof(found->why), "%s",
                 kit->verify ? "--points=0" : "needs --verify");
        return HF_ERR_OK;
    }
    found->at = pause_kit_elapsed(kit);
    if (!count_points(&points, &failed))
        return failed;
    number = points.all < points_max ? points.all : points_max;
    pause_kit_say(kit, "a write does %u things: stopping one before %u of them",
                  points.all, number);
    /* From the last one: that is where most writes change what others see. */
    for (unsigned int i = 0; i < number && !failed && !points.is_over; i++) {
        struct hf_sys *sys = kit->setting.sys;

        if (hf_time_since(sys->steady(sys), begun).ns / 1000000 > BUDGET_MS)
            break;
        failed = try_point(
            &points,
            points.all - (unsigned int)((uint64_t)i * points.all / number));
    }
    found->was_tried = points.tried > 0;
    found->took =
        hf_time_since(kit->setting.sys->steady(kit->setting.sys), begun);
    if (failed || points.is_over)
        return failed;
    if (points.tried)
        found->fate = PAUSE_REFUSED;
    snprintf(found->why, sizeof(found->why), "at %u of %u points%s",
             points.tried, points.all,
             points.held_up ? "; at some the next holder had to wait for it"
                            : "");
    pause_kit_say(kit, "a writer stopped %s: nothing got through", found->why);
    return HF_ERR_OK;
}
