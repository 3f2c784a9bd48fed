/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/duration.h"
#include "cmd/lockrun/hooks.h"
#include "cmd/lockrun/naming.h"
#include "cmd/lockrun/run_event.h"

void run_turn(struct run *run)
{
    run->now = run->sys->steady(run->sys);
    run->wall = run->sys->wall(run->sys);
}

enum hf_news run_next_news(struct run *run)
{
    enum hf_news news;

    run_turn(run);
    news = hf_session_next(run->session, run->now, run->wall);
    /* A renewal may have stood for a while. */
    run_turn(run);
    return news;
}

/* Until something is readable, or `at`. */
void run_wait(struct run *run, struct hf_time at, int events_fd)
{
    struct pollfd ready[] = {
        {.fd = run->signals.fd, .events = POLLIN},
        {.fd = hf_session_fd(run->session), .events = POLLIN},
        {.fd = events_fd, .events = POLLPRI},
    };
    struct hf_span left;
    struct timespec limit;

    at = hf_time_min(at, hf_session_wake_at(run->session));
    left = hf_time_since(at, run->now);
    limit = hf_span_to_timespec(left);
    (void)ppoll(ready, 3, at.ns == INT64_MAX ? NULL : &limit, NULL);
    run_turn(run);
}

static void tell_notice(struct run *run)
{
    const char *notice = hf_local_notice(run->transport);

    if (notice)
        say(&run->say, "%s", notice);
}

int run_fail(struct run *run, const struct hf_error *error)
{
    run->cause = hf_err_name(error->code);
    say(&run->say, "%s", error->text);
    return hf_err_status(error->code);
}

/* Did a signal end the wait? Its number, else 0. */
int run_take_ending_signal(struct run *run)
{
    struct arrived arrived;

    while (run->signals.fd >= 0 && signals_next(&run->signals, &arrived)) {
        if (signal_ends(arrived.number))
            return arrived.number;
        if (signal_stops(arrived.number))
            (void)kill(getpid(), SIGSTOP);
    }
    return 0;
}

static int open_store(struct run *run)
{
    struct hf_error error;

    if (hf_local_open(run->sys, &run->store, &run->transport, &error))
        return run_fail(run, &error);
    tell_notice(run);
    say_step(&run->say, "the store is %s%s%s", hf_local_place(run->transport),
             run->options->store_from ? ", named by " : "",
             run->options->store_from ? run->options->store_from : "");
    return 0;
}

int run_open_session(struct run *run)
{
    struct hf_session_options with = {
        .ttl_ms = run->options->ttl.is_given
                      ? hf_span_to_ms_up(run->options->ttl.span)
                      : 0,
        .hold_min = run->options->hold_min.span,
        .grace = run->options->grace.is_given ? run->options->grace.span
                                              : (struct hf_span){-1},
    };
    struct hf_error error;
    int failed;

    if (run->session) {
        run_turn(run);
        hf_session_free(run->session, run->now, run->wall);
        run->session = NULL;
    }
    memcpy(with.class_name, run->options->class_name,
           strlen(run->options->class_name) + 1);
    naming_holder(run->options, &run->program, &with.holder);
    failed = run->sys->random(run->sys, with.random, sizeof(with.random));
    if (failed)
        (void)hf_error_set_errno(&error, HF_ERR_UNAVAILABLE, -failed,
                                 "random bytes");
    else
        run->session = hf_session_new(run->transport, &with);
    if (!failed && !run->session)
        (void)hf_error_set(&error, HF_ERR_NOMEM, "the session");
    return run->session ? 0 : run_fail(run, &error);
}

/* Signals still have their way with us here. */
static int sleep_jitter(struct run *run)
{
    struct hf_span most = run->options->jitter.span;
    struct hf_error error;
    struct timespec left;
    uint64_t random;
    int failed;

    if (most.ns <= 0)
        return 0;
    failed = run->sys->random(run->sys, &random, sizeof(random));
    if (failed) {
        (void)hf_error_set_errno(&error, HF_ERR_UNAVAILABLE, -failed,
                                 "random bytes");
        return run_fail(run, &error);
    }
    most.ns = (int64_t)(random % ((uint64_t)most.ns + 1));
    say_step(&run->say, "starting in %s", hf_duration_print(most).text);
    left = hf_span_to_timespec(most);
    while (nanosleep(&left, &left) && errno == EINTR)
        continue;
    return 0;
}

static int open_events(struct run *run)
{
    const struct lockrun_options *options = run->options;
    int64_t number = options->json_fd.is_given ? options->json_fd.number
                                               : (int64_t)STDERR_FILENO;
    bool is_closed = number <= STDERR_FILENO && run->closed & 1U << number;
    struct hf_error error;

    if (!options->is_json && !options->json_fd.is_given)
        return 0;
    if (events_open(&run->events, (int)number, run->sys, run->key) &&
        !is_closed) {
        run->say.events = &run->events;
        return 0;
    }
    /* A standard error that nobody reads is no reason not to run. */
    if (options->is_json)
        return 0;
    (void)events_refuse(number, &error);
    return run_fail(run, &error);
}

static int find_program(struct run *run)
{
    struct hf_error error;
    int status = program_find(&run->program, run->options->command[0],
                              getenv("PATH"), &error);

    if (status) {
        say(&run->say, "%s", error.text);
        run->cause =
            error.code == HF_ERR_NOMEM ? hf_err_name(error.code) : "exec";
    }
    return status;
}

/* Who does not end next holds nothing of the store meanwhile. */
static void leave_store(struct run *run)
{
    tell_notice(run);
    if (hooks_run(run))
        run->transport->ops->close(run->transport);
    else
        run->transport->ops->end(run->transport);
}

_Noreturn void run_command(struct hf_sys *sys,
                           const struct lockrun_options *options,
                           unsigned int closed)
{
    struct run run = {
        .sys = sys,
        .options = options,
        .closed = closed,
        .say = {.verbose = options->is_verbose},
        .signals = {.fd = -1},
        .store = {.store = options->store,
                  .classes = getenv("HOLDFAST_CLASSES")},
        .keeper = {.is_new = true},
        .hooks = {{.fd = -1}, {.fd = -1}, {.fd = -1}},
    };
    bool is_held = false;
    int status = open_events(&run);

    if (!status)
        status = find_program(&run);
    if (!status)
        status = sleep_jitter(&run);
    if (!status)
        status = open_store(&run);
    if (!status)
        status = run_open_session(&run);
    if (!status)
        status = run_get_key(&run, &is_held);
    watch_stop(&run.watch);
    if (is_held) {
        tell_notice(&run);
        status = run_job(&run);
    }
    if (run.session) {
        run_turn(&run);
        hf_session_free(run.session, run.now, run.wall);
    }
    if (run.transport)
        leave_store(&run);
    if (is_held)
        job_clear(&run.job);
    hooks_finish(&run);
    run_event_ended(&run, status);
    memory_clear(&run.memory);
    exit(status);
}
