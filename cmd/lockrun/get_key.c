/* SPDX-License-Identifier: Apache-2.0 */
/* The first part of a run: the rules, the key, the wait. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/lockrun/busy.h"
#include "cmd/lockrun/hooks.h"
#include "cmd/lockrun/limits.h"
#include "cmd/lockrun/naming.h"
#include "cmd/lockrun/nested.h"
#include "cmd/lockrun/run_event.h"

/* How long a holder that is about to go is given, and how often it is looked
 * at meanwhile. */
#define DYING_LOOK hf_span_ms(500)
enum { DYING_STEP_NS = 3000000 };

static int64_t wanted_ms(const struct run *run)
{
    const struct lockrun_options *options = run->options;
    int64_t longest = hf_session_rules(run->session)->wait_max_ms;

    /* Its time was over when the holder's end was waited for. */
    if (options->is_try || run->has_seen_dying)
        return 0;
    if (options->wait.is_given && options->wait.span.ns != INT64_MAX)
        return hf_span_to_ms_up(options->wait.span);
    /* Forever is as long as the class allows. */
    return options->wait.is_given || options->watches ? longest : -1;
}

static int ask_for_key(struct run *run)
{
    struct hf_session_want want = {.mode = (enum hf_mode)run->options->mode};
    const struct hf_class *rules = hf_session_rules(run->session);
    struct hf_error error;

    if (limits_judge(run->options, rules, &error) ||
        naming_key(run->options, &run->program, rules, run->key, &error))
        return run_fail(run, &error);
    memcpy(want.key, run->key, sizeof(want.key));
    want.wait_ms = wanted_ms(run);
    if (run->options->watches && !run->watch.transport &&
        watch_start(&run->watch, run->sys, &run->store, &error))
        return run_fail(run, &error);
    say_step(&run->say, "class %s, key %s", rules->name, run->key);
    /* Up to here a signal simply ends us. */
    if (run->signals.fd < 0 && !signals_take(&run->signals)) {
        (void)hf_error_set_errno(&error, HF_ERR_UNAVAILABLE, errno,
                                 "watching for signals");
        return run_fail(run, &error);
    }
    hf_session_acquire(run->session, &want, run->now, run->wall);
    return 0;
}

static int busy_status(const struct lockrun_options *options)
{
    if (options->skips)
        return 0;
    if (options->conflict.is_given)
        return (int)options->conflict.number;
    return hf_err_status(HF_ERR_BUSY);
}

/*
 * The holder's lockrun was killed, and what is left of it is about to go: its
 * guardian, and what that ends. Somebody who looks in that very moment would
 * be told of a holder that is gone before the line is read. True: it went.
 */
static bool holder_went(struct run *run)
{
    const struct hf_request *busy = hf_session_busy(run->session);
    struct hf_time limit = hf_time_add(run->now, DYING_LOOK);
    const struct timespec step = {.tv_nsec = DYING_STEP_NS};
    struct hf_hold_info holder;

    if (run->has_seen_dying || busy->info_count == 0)
        return false;
    holder = busy->infos[0];
    while (busy_is_dying(&holder) && !hf_time_reached(limit, run->now)) {
        busy_look(&run->store, run->key, run->sys, &holder);
        if (holder.lease_known && holder.proof == HF_PROOF_DEAD)
            return run->has_seen_dying = true;
        /* A signal that comes is seen to behind this. */
        (void)nanosleep(&step, NULL);
        run_turn(run);
    }
    return false;
}

static bool has_waited(const struct run *run)
{
    int64_t ms = wanted_ms(run);

    return (ms < 0 ? hf_session_rules(run->session)->wait_default_ms : ms) > 0;
}

static int tell_busy(struct run *run)
{
    const struct hf_request *busy = hf_session_busy(run->session);
    const struct lockrun_options *options = run->options;
    struct hf_hold_info *holder = busy->info_count > 0 ? &busy->infos[0] : NULL;
    struct hf_hold_info outer;
    struct hf_buf text;
    const char *what;

    if (nested_find(run, &outer))
        return nested_end(run, &outer);
    hf_buf_init(&text, HF_KEY_SIZE + BUSY_BYTES_MAX);
    run->cause = hf_err_name(HF_ERR_BUSY);
    (void)hf_buf_printf(&text, "%s ", run->key);
    if (holder && (!options->skips || options->on_busy)) {
        busy_look(&run->store, run->key, run->sys, holder);
        busy_describe(holder, run->sys, &text);
    } else {
        (void)hf_buf_add_str(&text, "is taken");
    }
    /* Who does not wait has no place. */
    if (busy->waiting > 0 && has_waited(run))
        (void)hf_buf_printf(&text, "; place %llu in the queue",
                            (unsigned long long)busy->place);
    else if (busy->waiting > 0)
        (void)hf_buf_printf(&text, "; %llu wait%s",
                            (unsigned long long)busy->waiting,
                            busy->waiting == 1 ? "s" : "");
    what = text.data ? text.data : run->key;
    if (options->skips)
        say_step(&run->say, "%s is taken", run->key);
    else
        say(&run->say, "%s; lockctl%s%s show %s tells more", what,
            options->store ? " --store=" : "",
            options->store ? options->store : "", run->key);
    run_event_busy(run, EVENT_BUSY, holder);
    hooks_busy(run, holder, what, busy_status(options));
    hf_buf_clear(&text);
    return busy_status(options);
}

/* Out of the queue. */
static void leave_queue(struct run *run)
{
    enum hf_news news;

    hf_session_abandon(run->session, run->now, run->wall);
    do {
        news = run_next_news(run);
        if (news == HF_NEWS_NONE)
            run_wait(run, HF_TIME_NEVER, -1);
    } while (news != HF_NEWS_ENDED && news != HF_NEWS_FAILED);
}

static int leave(struct run *run, int number)
{
    char name[16];

    say_step(&run->say, "got %s while waiting", signal_name(number, name));
    leave_queue(run);
    run->cause = "signal";
    return STATUS_SIGNAL + number;
}

/* Who is in the way was looked at when the place was taken. */
static void tell_waiting(const struct run *run)
{
    const struct hf_request *busy = hf_session_busy(run->session);

    if (busy->info_count > 0 || busy->waiting > 0)
        run_event_busy(run, EVENT_WAITING,
                       busy->info_count > 0 ? &busy->infos[0] : NULL);
}

/* Once it waits: 0, or the status of an end that --nested makes. */
static int look_at_holder(struct run *run)
{
    struct hf_hold_info outer;

    if (run->knows_holder)
        return 0;
    run->knows_holder = true;
    /* Would we wait for the very lockrun that runs us? */
    if (!nested_find(run, &outer)) {
        tell_waiting(run);
        return 0;
    }
    leave_queue(run);
    return nested_end(run, &outer);
}

int run_get_key(struct run *run, bool *is_held)
{
    for (;;) {
        int status = 0;
        int number;

        switch (run_next_news(run)) {
        case HF_NEWS_READY:
            status = ask_for_key(run);
            if (status)
                return status;
            break;
        case HF_NEWS_GRANTED:
            *is_held = true;
            return 0;
        case HF_NEWS_BUSY:
            if (!holder_went(run))
                return tell_busy(run);
            status = run_open_session(run);
            if (status)
                return status;
            break;
        case HF_NEWS_PLACE_LOST:
            run_event(run, EVENT_PLACE_LOST);
            say(&run->say,
                "the lease with which %s was asked for is over (lockrun was "
                "stopped, suspended or kept out of the store for too long, or "
                "the epoch was advanced): asking again, from the end of the "
                "queue",
                run->key);
            break;
        case HF_NEWS_NONE:
            status = look_at_holder(run);
            if (status)
                return status;
            watch_tick(&run->watch, run->key, run->sys, &run->say);
            run_wait(run, watch_wake_at(&run->watch), -1);
            number = run_take_ending_signal(run);
            if (number)
                return leave(run, number);
            break;
        case HF_NEWS_FAILED:
        case HF_NEWS_ENDED:
        case HF_NEWS_RELEASED:
        case HF_NEWS_DOUBT:
        case HF_NEWS_RENEWED:
        case HF_NEWS_TERM:
        case HF_NEWS_KILL:
            return run_fail(run, hf_session_error(run->session));
        }
    }
}
