/* SPDX-License-Identifier: Apache-2.0 */
/* The second part of a run: the job, its lease, and the end of both. */
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "cmd/lockrun/environment.h"
#include "cmd/lockrun/hooks.h"
#include "cmd/lockrun/run_event.h"

/* So long at least what was killed is waited for, when the lease is over. */
#define GIVE_UP_AFTER hf_span_ms(5000)

/* So much later than it should have done a thing is not chance any more. */
#define STOOD_STILL hf_span_ms(1000)

/* Why a job had to be stopped. */
static const char guarded_reason[] =
    "lockrun stood still when the lease was to end";
static const char late_reason[] =
    "the lease was to end before the command was started";
static const char max_run_reason[] =
    "the job ran as long as it may (--max-run)";
static const char hold_max_reason[] =
    "the job ran as long as its class allows (hold_max)";

static const char *too_long_reason(const struct run *run)
{
    return run->options->max_run.is_given ? max_run_reason : hold_max_reason;
}

static enum hf_err tell_phase(struct run *run, enum hf_lease_phase phase,
                              const char *cgroup)
{
    run_turn(run);
    return hf_session_job(run->session, phase, cgroup, run->now, run->wall);
}

static struct hf_span grace_of(const struct run *run)
{
    return hf_session_deadline(run->session)->grace;
}

static struct guardian_limits limits_of(const struct run *run)
{
    const struct hf_deadline *deadline = hf_session_deadline(run->session);

    return (struct guardian_limits){
        .term_at = hf_deadline_term_at(deadline),
        .kill_at = hf_deadline_kill_at(deadline),
        .over_at = hf_time_add(deadline->sent_at, deadline->ttl),
    };
}

/* Started: 0. Else an exit status, and nothing of the job is there. */
static int start_in(struct run *run, struct spawn *spawn, size_t words_added)
{
    const struct guardian_orders orders = {
        .sys = run->sys,
        .state_fd = hf_session_state_fd(run->session),
        .grace = grace_of(run),
        .limits = limits_of(run),
        .leaves = run->options->leftover == LEFTOVER_LEAVE,
    };
    bool needs_no_cgroup = false;
    struct hf_error error = {.text = ""};
    const char *cgroup =
        job_make_cgroup(&run->job, hf_session_id(run->session));
    int status;

    /* Without a cgroup the guardian tells it, in the moment that it is true. */
    if (cgroup && tell_phase(run, HF_PHASE_STARTED, cgroup))
        return run_fail(run, hf_session_error(run->session));
    status = job_start(&run->job, &orders, spawn, words_added, &needs_no_cgroup,
                       &error);
    if (needs_no_cgroup) {
        job_drop_cgroup(&run->job);
        cgroup = NULL;
        if (tell_phase(run, HF_PHASE_NOTHING_STARTED, NULL))
            return run_fail(run, hf_session_error(run->session));
        status = job_start(&run->job, &orders, spawn, words_added,
                           &needs_no_cgroup, &error);
    }
    if (status)
        say(&run->say, "%s", error.text);
    /* The file tells it already; now the session knows it too. */
    else if (!cgroup && !guardian_saw_all_gone(&run->job.guardian))
        (void)!tell_phase(run, HF_PHASE_STARTED, NULL);
    return status;
}

static int start_job(struct run *run)
{
    const struct environment_words words = {
        .token = hf_session_token(run->session),
        .key = run->key,
        .class_name = hf_session_rules(run->session)->name,
        .session = hf_session_id(run->session),
        .state = hf_session_state_path(run->session),
    };
    struct environment environment;
    struct handed handed;
    struct hf_error error;
    struct spawn spawn = {
        .handed = &handed,
        .program = &run->program,
        .argv = run->options->command,
        .signals = &run->signals,
        /* What may be left alone with it shall not look like the job. */
        .session_fd = run->options->leftover == LEFTOVER_LEAVE
                          ? -1
                          : hf_session_state_fd(run->session),
        .closed = run->closed,
    };
    int status;

    say_step(&run->say, "got the key, token %llu",
             (unsigned long long)words.token);
    run_event_granted(run);
    if (environment_make(&environment, environ, &words, &error))
        return run_fail(run, &error);
    handed_find(&handed, environment.list, getpid());
    spawn.envp = environment.list;
    keeper_write(&run->keeper, run->session, run->sys, &run->say);
    if (program_sends_work_away(run->program.absolute))
        say(&run->say,
            "%s has its work done elsewhere: what it starts is not stopped "
            "with the job, and goes on when the key is free",
            run->program.name);
    status = start_in(run, &spawn, environment.added);
    environment_clear(&environment);
    if (status)
        return status;
    if (run->job.guardian.was_late) {
        say(&run->say,
            "the lease of %s was to end before %s was started (its file is "
            "slow, or all was stopped): it was killed",
            run->key, run->program.absolute);
        run_event_reason(run, EVENT_LOST, late_reason);
        return 0;
    }
    say_step(&run->say, "started %s, pid %d", run->program.absolute,
             (int)run->job.pid);
    run_event_started(run);
    return 0;
}

static void tell_renewed(const struct run *run)
{
    const struct hf_class *rules = hf_session_rules(run->session);
    struct hf_span stood = hf_session_stood(run->session);

    if (stood.ns < STOOD_STILL.ns) {
        say_step(&run->say, "the lease is renewed again");
        return;
    }
    say(&run->say,
        "lockrun stood still for %s (a stop, or too much load), so long that "
        "the job on %s was to be asked to end; nobody has taken the key, so it "
        "goes on. A longer --ttl bears longer stops: class %s allows %s",
        hf_duration_print(hf_span_ms(stood.ns / 1000000)).text, run->key,
        rules->name, hf_duration_print(hf_span_ms(rules->ttl_max_ms)).text);
}

static void hear(struct run *run, enum hf_news news)
{
    const struct hf_deadline *deadline = hf_session_deadline(run->session);
    struct hf_time end = hf_time_add(deadline->sent_at, deadline->ttl);
    struct hf_time later = hf_time_add(run->now, GIVE_UP_AFTER);
    struct hf_span left;

    switch (news) {
    case HF_NEWS_DOUBT:
        say_step(&run->say, "the lease could not be renewed (%s); trying on",
                 hf_session_error(run->session)->text);
        run_event_reason(run, EVENT_DOUBT,
                         hf_session_error(run->session)->text);
        hooks_doubt(run, hf_session_error(run->session)->text);
        break;
    case HF_NEWS_RENEWED:
        /* Too late: the job does not go on. */
        if (guardian_has_asked(&run->job.guardian) ||
            run->job.guardian.was_late)
            break;
        run_event(run, EVENT_RENEWED);
        tell_renewed(run);
        break;
    case HF_NEWS_TERM:
        left = hf_time_since(hf_deadline_kill_at(deadline), run->now);
        say(&run->say,
            "the lease of %s is running out (%s): the job is asked to end, and "
            "killed in %s",
            run->key, hf_session_error(run->session)->text,
            hf_duration_print(hf_span_ms(hf_span_to_ms_up(left))).text);
        run_event_stopping(run, hf_session_error(run->session)->text, left);
        job_ask(&run->job, HF_TIME_NEVER);
        break;
    case HF_NEWS_KILL:
        say(&run->say, "the lease of %s is lost (%s): the job is killed",
            run->key, hf_session_error(run->session)->text);
        run_event_reason(run, EVENT_LOST, hf_session_error(run->session)->text);
        job_kill(&run->job, later.ns > end.ns ? later : end, run->now);
        break;
    case HF_NEWS_NONE:
    case HF_NEWS_READY:
    case HF_NEWS_GRANTED:
    case HF_NEWS_BUSY:
    case HF_NEWS_PLACE_LOST:
    case HF_NEWS_RELEASED:
    case HF_NEWS_ENDED:
    case HF_NEWS_FAILED:
        break;
    }
}

static void hear_all(struct run *run)
{
    enum hf_news news = run_next_news(run);
    struct guardian_limits limits;

    while (news != HF_NEWS_NONE) {
        hear(run, news);
        news = run_next_news(run);
    }
    limits = limits_of(run);
    /* What was told of its end ends then, renewed or not. */
    if (!hf_session_is_lost(run->session))
        job_set_limits(&run->job, &limits);
    keeper_write(&run->keeper, run->session, run->sys, &run->say);
}

static void take_signals(struct run *run)
{
    struct arrived arrived;
    bool has_child_news = false;

    while (signals_next(&run->signals, &arrived)) {
        if (arrived.number == SIGCHLD)
            has_child_news = true;
        else
            job_signal(&run->job, &arrived, run->now);
    }
    run_turn(run);
    if (has_child_news || run->job.events_fd >= 0)
        job_look(&run->job, run->now);
    if (has_child_news)
        hooks_look(run);
    if (job_wants_stop(&run->job, run->now)) {
        job_stand_still(&run->job);
        run_turn(run);
        job_look(&run->job, run->now);
    }
}

static void tell_of_guardian(struct run *run)
{
    if (run->told_of_guardian || !run->job.was_guarded)
        return;
    run->told_of_guardian = true;
    say(&run->say,
        "lockrun stood still (stopped, or stuck) when the lease of %s was to "
        "end: its guardian has %s the job",
        run->key,
        guardian_has_killed(&run->job.guardian) ? "killed" : "asked to end");
    run_event_reason(run, EVENT_LOST, guarded_reason);
}

static void tell_of_leftovers(struct run *run)
{
    if (run->told_of_leftovers || !run->job.has_leftovers)
        return;
    run->told_of_leftovers = true;
    run_turn(run);
    if (hf_session_left(run->session, run->job.status, run->now, run->wall))
        say_step(&run->say, "%s", hf_session_error(run->session)->text);
}

static void check_max_run(struct run *run)
{
    if (run->is_over_max_run || !hf_time_reached(run->max_run_at, run->now))
        return;
    run->is_over_max_run = true;
    run->max_run_at = HF_TIME_NEVER;
    say(&run->say, "%s: %s: it is asked to end, and killed in %s", run->key,
        too_long_reason(run), hf_duration_print(grace_of(run)).text);
    run_event_stopping(run, too_long_reason(run), grace_of(run));
    job_ask(&run->job, hf_time_add(run->now, grace_of(run)));
}

/* The loop: until nothing of the job is left, or what is left cannot be ended.
 */
static void attend_job(struct run *run)
{
    /* Its first changes may have been told while it was started. */
    job_look(&run->job, run->now);
    while (!run->job.is_gone && !run->job.given_up) {
        hear_all(run);
        check_max_run(run);
        job_tick(&run->job, run->now);
        tell_of_leftovers(run);
        if (run->job.is_gone || run->job.given_up)
            break;
        run_wait(run, hf_time_min(job_wake_at(&run->job), run->max_run_at),
                 run->job.events_fd);
        take_signals(run);
        tell_of_guardian(run);
    }
    /* We woke late, and the job is gone: who took the key may have ended it.
     * Whether it was taken decides about the status. */
    run_turn(run);
    if (run->job.is_gone &&
        hf_time_reached(hf_deadline_kill_at(hf_session_deadline(run->session)),
                        run->now))
        hear_all(run);
    /* Had it gone before we first looked, nobody has told of it yet. */
    if (!hf_session_is_lost(run->session))
        tell_of_guardian(run);
}

static void set_max_run(struct run *run)
{
    struct hf_span most =
        hf_span_ms(hf_session_rules(run->session)->hold_max_ms);

    run->max_run_at = HF_TIME_NEVER;
    if (run->options->max_run.is_given)
        run->max_run_at = hf_time_add(run->now, run->options->max_run.span);
    else if (most.ns > 0)
        run->max_run_at = hf_time_add(run->now, most);
}

/* ---- the end
 * ------------------------------------------------------------------ */

static void give_back(struct run *run)
{
    enum hf_news news;

    keeper_close(&run->keeper, run->session, run->sys);
    if (tell_phase(run, HF_PHASE_GONE, NULL))
        say_step(&run->say, "%s", hf_session_error(run->session)->text);
    hf_session_release(run->session, run->now, run->wall);
    do {
        news = run_next_news(run);
        if (news == HF_NEWS_NONE)
            run_wait(run, HF_TIME_NEVER, -1);
    } while (news != HF_NEWS_RELEASED && news != HF_NEWS_FAILED);
    if (hf_session_error(run->session)->code)
        say(&run->say, "giving %s back: %s", run->key,
            hf_session_error(run->session)->text);
    else
        say_step(&run->say, "gave the key back");
    if (!hf_session_error(run->session)->code)
        run_event(run, EVENT_RELEASED);
}

static bool is_lost(const struct run *run)
{
    return run->job.was_guarded || run->job.guardian.was_late ||
           hf_session_is_lost(run->session);
}

static int status_of(const struct run *run)
{
    if (is_lost(run))
        return hf_err_status(HF_ERR_LOST);
    return run->is_over_max_run ? STATUS_MAX_RUN : run->job.status;
}

/* Why the job had to be stopped. */
static const char *reason_of(const struct run *run)
{
    if (hf_session_is_lost(run->session))
        return hf_session_error(run->session)->text;
    if (run->job.guardian.was_late)
        return late_reason;
    return run->job.was_guarded ? guarded_reason : too_long_reason(run);
}

int run_job(struct run *run)
{
    int status;
    int number;

    job_init(&run->job, &run->say, run->options->leftover);
    if (run->say.events)
        memory_begin(&run->memory);
    /* From the grant on. */
    run_turn(run);
    set_max_run(run);
    number = run_take_ending_signal(run);
    status = number ? STATUS_SIGNAL + number : start_job(run);
    if (status) {
        if (!run->cause)
            run->cause = number ? "signal" : "exec";
        give_back(run);
        return status;
    }
    run_turn(run);
    attend_job(run);
    status = status_of(run);
    if (is_lost(run))
        run->cause = hf_err_name(HF_ERR_LOST);
    else if (run->is_over_max_run)
        run->cause = "max-run";
    if (run->cause)
        hooks_lost(run, reason_of(run), status);
    if (run->job.is_gone) {
        give_back(run);
        if (is_lost(run))
            say(&run->say, "the job was stopped");
    } else {
        say(&run->say,
            "the lease of %s is over, and not all of the job could "
            "be stopped",
            run->key);
    }
    return status;
}
