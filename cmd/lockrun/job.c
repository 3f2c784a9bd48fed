/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/job.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cmd/lockrun/job_tell.h"
#include "cmd/lockrun/proc.h"

/* Processes that are about to end anyway, once their parent has, get this long
 * before anything is said about them. */
#define LEFTOVERS_AFTER hf_span_ms(300)
/* A process that was killed and lives after this long is told of. */
#define STUCK_AFTER hf_span_ms(5000)
/* How soon a killed tree is looked through again, at first and once it was
 * told of. */
#define RETRY_AFTER hf_span_ms(20)
#define RETRY_STUCK_AFTER hf_span_ms(1000)
/* A signal that may have been sent to every process of ours is forwarded so
 * much later, unless the guardian has got it as well, by a little before. */
#define HELD_FOR hf_span_ms(50)
#define GOT_WITHIN hf_span_ms(1000)
/* So long the guardian is given to tell that the command goes on, too. */
#define WAKE_AFTER hf_span_ms(50)
/* So long a command may take to stop itself when it was told to stop. */
#define STOPS_WITHIN hf_span_ms(5000)
/* One that cannot stop just now, for it is in vfork(2), is given so long. */
#define STOP_LOOK_AFTER hf_span_ms(100)

void job_init(struct job *job, const struct say *say, enum leftover leftover)
{
    *job = (struct job){
        .say = say,
        .leftover = leftover,
        .kill_at = HF_TIME_NEVER,
        .retry_at = HF_TIME_NEVER,
        .stuck_at = HF_TIME_NEVER,
        .give_up_at = HF_TIME_NEVER,
        .leftovers_at = HF_TIME_NEVER,
        .stop_look_at = HF_TIME_NEVER,
        .wake_at = HF_TIME_NEVER,
        .events_fd = -1,
        .guardian = {.stopped_at = HF_TIME_NEVER},
    };
    for (size_t i = 0; i < HELD_KINDS; i++)
        job->held[i].at = HF_TIME_NEVER;
    tree_init(&job->tree);
}

void job_clear(struct job *job)
{
    guardian_clear(&job->guardian);
    if (job->events_fd >= 0)
        close(job->events_fd);
    pids_clear(&job->told);
    tree_clear(&job->tree);
}

/* ---- signals
 * ------------------------------------------------------------------ */

static void signal_all(struct job *job, int number, enum tree_whom whom)
{
    struct pids refused = {.list = NULL};

    tree_signal(&job->tree, number, whom, &refused);
    /* Only of a signal that was to end it is it news that it did not reach. */
    if (number == SIGTERM || number == SIGKILL)
        job_tell_refused(job, &refused);
    pids_clear(&refused);
}

/* SIGCONT came. */
static void go_on(struct job *job, struct hf_time now)
{
    if (!job->stood_still) {
        (void)tree_signal_job(&job->tree, SIGCONT);
        return;
    }
    /*
     * Who woke us woke the command too, unless it still stands. It may stand
     * again, by another ^Z: so it is seen first what the guardian tells.
     */
    job->stood_still = false;
    job->wake_at = hf_time_add(now, WAKE_AFTER);
}

static void wake_what_stands(struct job *job)
{
    job->wake_at = HF_TIME_NEVER;
    if (!job->is_stopped || job->guardian.seen != job->stood_at)
        return;
    tree_wake(&job->tree);
    job->is_stopped = false;
}

/* By ^Z or by kill(1). A program that does something first may then stop itself
 * with SIGSTOP, of which alone nobody could tell what was meant. */
static void note_stop(struct job *job, int number, struct hf_time now)
{
    if (!signal_stops(number))
        return;
    job->stop_until = hf_time_add(now, STOPS_WITHIN);
    job->stop_look_at = hf_time_add(now, STOP_LOOK_AFTER);
    job->wake_at = HF_TIME_NEVER;
    job->is_stopped = job->is_stopped || job->stopped_itself;
    job->stops_us = job->stops_us || job->stopped_itself;
    job->stopped_itself = false;
}

static void pass_on(struct job *job, int number)
{
    job->passed_on = number;
    job->was_told_to_end =
        job->was_told_to_end || number == SIGTERM || number == SIGINT;
    if (!tree_signal_job(&job->tree, number)) {
        struct pids refused = {.list = NULL};

        pids_add(&refused, job->pid);
        job_tell_refused(job, &refused);
    }
}

/*
 * A manager of services sends what ends them to each process of ours; then the
 * guardian gets it as well, which no process group reaches, and the job is not
 * sent it a second time. Its turn may come after ours: so what may be of that
 * kind is held for a moment.
 */
static struct held *held_of(struct job *job, int number)
{
    /* Those that services are told to end by (KillSignal= of systemd). */
    static const int kinds[HELD_KINDS] = {SIGTERM, SIGHUP,  SIGINT,  SIGQUIT,
                                          SIGUSR1, SIGUSR2, SIGWINCH};

    for (size_t i = 0; i < HELD_KINDS; i++) {
        if (kinds[i] == number)
            return &job->held[i];
    }
    return NULL;
}

/* The one whose time comes first, be there any or not. */
static struct held *first_held(struct job *job)
{
    struct held *first = &job->held[0];

    for (size_t i = 1; i < HELD_KINDS; i++) {
        if (job->held[i].at.ns < first->at.ns)
            first = &job->held[i];
    }
    return first;
}

static void let_go(struct job *job, struct held *held)
{
    int number = held->arrived.number;
    bool reached_all =
        guardian_got(&job->guardian, number, held->arrived.sender,
                     hf_time_sub(held->at, GOT_WITHIN));
    char name[16];

    held->at = HF_TIME_NEVER;
    if (reached_all)
        say_step(job->say, "%s was sent to all of the job",
                 signal_name(number, name));
    else if (job->has_ended)
        signal_all(job, number, TREE_ALL);
    else
        pass_on(job, number);
}

/* In the order in which they came; all whose time comes by `at`. */
static void let_go_by(struct job *job, struct hf_time at)
{
    struct held *held;

    while ((held = first_held(job))->at.ns != INT64_MAX &&
           hf_time_reached(held->at, at))
        let_go(job, held);
}

void job_signal(struct job *job, const struct arrived *arrived,
                struct hf_time now)
{
    struct held *held = held_of(job, arrived->number);
    int number = arrived->number;
    char name[16];

    if (job->is_gone || job->is_killed)
        return;
    say_step(job->say, "got %s%s", signal_name(number, name),
             arrived->reached_group ? ", which the job got too" : "");
    /* In their order. But of a manager's several each is known by itself, and
     * CONT, which it sends behind them, takes no turn. */
    if (number != SIGCONT && (!held || held->at.ns != INT64_MAX))
        let_go_by(job, HF_TIME_NEVER);
    if (held && !arrived->reached_group) {
        *held = (struct held){*arrived, hf_time_add(now, HELD_FOR)};
        return;
    }
    if (job->has_ended) {
        signal_all(job, number,
                   arrived->reached_group ? TREE_OTHER_GROUPS : TREE_ALL);
        return;
    }
    note_stop(job, number, now);
    if (arrived->reached_group)
        return;
    if (number == SIGCONT)
        go_on(job, now);
    else
        pass_on(job, number);
}

/* ---- what happens
 * -------------------------------------------------------------- */

static void command_ended(struct job *job, const struct tree_change *change,
                          struct hf_time now)
{
    tree_forget_job(&job->tree);
    job->has_ended = true;
    job->is_stopped = false;
    job->status = change->status;
    job->leftovers_at = hf_time_add(now, LEFTOVERS_AFTER);
    say_step(job->say, "the command ended with %d", job->status);
    job_event_ended(job);
}

static void command_changed(struct job *job, const struct tree_change *change,
                            struct hf_time now)
{
    switch (change->what) {
    case TREE_ENDED:
        command_ended(job, change, now);
        break;
    case TREE_STOPPED:
        job->is_stopped = signal_stops(change->status) ||
                          (change->status == SIGSTOP &&
                           !hf_time_reached(job->stop_until, now));
        job->stops_us = job->is_stopped;
        job->stopped_itself = !job->is_stopped;
        break;
    case TREE_WENT_ON:
        job->is_stopped = job->stopped_itself = false;
        break;
    }
}

/*
 * The command is gone and others live on. Whoever told lockrun to end meant
 * them as well: they get that signal, which so far went to the command alone.
 */
static void begin_leftovers(struct job *job)
{
    bool died_of_it = job->passed_on && job->status == 128 + job->passed_on;

    if (job->tree.cgroup.fd >= 0)
        job->events_fd = cgroup_events_fd(&job->tree.cgroup);
    if (job->is_asked || job->is_killed || job->leftover == LEFTOVER_LEAVE)
        return;
    if (died_of_it)
        signal_all(job, job->passed_on, TREE_ALL);
    else if (job->was_told_to_end)
        signal_all(job, SIGTERM, TREE_ALL);
}

/* Without its guardian the job would live on if we were killed. */
static void guardian_ended(struct job *job, struct hf_time now)
{
    if (guardian_saw_all_gone(&job->guardian))
        return;
    if (!job->pid) {
        job->has_ended = true;
        job->status = 128 + SIGKILL;
    }
    if (job->is_killed)
        return;
    say(job->say, "the guardian of the job was killed: the job is ended too");
    job_ask(job, hf_time_add(now, job->grace));
}

static void take_changes(struct job *job, struct hf_time now)
{
    struct guardian *guardian = &job->guardian;
    struct tree_change change;
    bool has_lost_it = false;

    while (tree_next_change(&job->tree, &change)) {
        if (change.pid == guardian->pid) {
            guardian_changed(guardian, &change, now);
            has_lost_it = change.what == TREE_ENDED;
        } else if (change.pid == job->pid && !job->has_ended) {
            command_changed(job, &change, now);
        }
    }
    while (guardian_next_change(guardian, &change)) {
        if (!job->has_ended)
            command_changed(job, &change, now);
    }
    if (has_lost_it)
        guardian_ended(job, now);
}

/* The guardian has begun to end the job: it goes on, whatever we know now. */
static void follow_guardian(struct job *job, struct hf_time now)
{
    if (job->was_guarded || !guardian_has_asked(&job->guardian))
        return;
    job->was_guarded = true;
    if (job->is_gone || job->is_killed)
        return;
    if (guardian_has_killed(&job->guardian))
        job_kill(job, HF_TIME_NEVER, now);
    else
        job->is_asked = true;
}

static bool is_gone(struct job *job)
{
    if (guardian_saw_all_gone(&job->guardian))
        return tree_cgroup_is_gone(&job->tree);
    return !guardian_is_there(&job->guardian) && tree_is_gone(&job->tree);
}

static void look_whether_gone(struct job *job)
{
    job->is_gone = is_gone(job);
    if (job->is_gone) {
        say_step(job->say, "nothing of the job is left");
    } else if (guardian_has_let_go(&job->guardian)) {
        tree_let_go(&job->tree);
        job->is_gone = true;
        say_step(job->say, "what the command left behind is let go");
    }
}

void job_look(struct job *job, struct hf_time now)
{
    bool had_ended = job->has_ended;

    cgroup_events_take(&job->events_fd);
    take_changes(job, now);
    if (job->has_ended)
        look_whether_gone(job);
    follow_guardian(job, now);
    if (job->has_ended && !job->is_gone && !had_ended)
        begin_leftovers(job);
}

void job_set_limits(struct job *job, const struct guardian_limits *limits)
{
    guardian_set_limits(&job->guardian, limits);
}

void job_ask(struct job *job, struct hf_time kill_at)
{
    job->kill_at = hf_time_min(job->kill_at, kill_at);
    if (job->is_asked || job->is_gone)
        return;
    job->is_asked = true;
    guardian_note_asked(&job->guardian);
    signal_all(job, SIGTERM, TREE_ALL);
    tree_wake(&job->tree);
}

void job_kill(struct job *job, struct hf_time give_up_at, struct hf_time now)
{
    struct pids refused = {.list = NULL};

    if (job->is_gone)
        return;
    if (!job->is_killed)
        job->stuck_at = hf_time_add(now, STUCK_AFTER);
    job->is_killed = true;
    guardian_note_asked(&job->guardian);
    job->give_up_at = hf_time_min(job->give_up_at, give_up_at);
    job->retry_at = hf_time_add(
        now, job->stuck_at.ns == INT64_MAX ? RETRY_STUCK_AFTER : RETRY_AFTER);
    tree_kill(&job->tree, &refused);
    job_tell_refused(job, &refused);
}

struct hf_time job_wake_at(const struct job *job)
{
    struct hf_time at = HF_TIME_NEVER;

    if (job->is_gone || job->given_up)
        return at;
    at = hf_time_min(guardian_wake_at(&job->guardian), job->wake_at);
    at = hf_time_min(at, job->stop_look_at);
    for (size_t i = 0; i < HELD_KINDS; i++)
        at = hf_time_min(at, job->held[i].at);
    if (job->is_asked && !job->is_killed)
        at = hf_time_min(at, job->kill_at);
    if (job->is_killed) {
        at = hf_time_min(at, job->retry_at);
        at = hf_time_min(at, job->stuck_at);
        return hf_time_min(at, job->give_up_at);
    }
    return hf_time_min(at, job->leftovers_at);
}

/* They are no moment's matter: those had their time. */
static void see_to_leftovers(struct job *job, struct hf_time now)
{
    job->leftovers_at = HF_TIME_NEVER;
    if (job->is_asked || job->is_killed)
        return;
    job_tell_leftovers(job);
    if (job->leftover == LEFTOVER_KILL)
        job_ask(job, hf_time_add(now, job->grace));
}

void job_tick(struct job *job, struct hf_time now)
{
    guardian_tick(&job->guardian, now);
    let_go_by(job, now);
    if (hf_time_reached(job->wake_at, now))
        wake_what_stands(job);
    if (job->is_asked && !job->is_killed && hf_time_reached(job->kill_at, now))
        job_kill(job, HF_TIME_NEVER, now);
    if (job->is_killed && hf_time_reached(job->retry_at, now)) {
        job_kill(job, HF_TIME_NEVER, now);
        job_look(job, now);
    }
    if (job->is_gone)
        return;
    if (hf_time_reached(job->stuck_at, now)) {
        job_tell_stuck(job);
        job->stuck_at = HF_TIME_NEVER;
    }
    if (hf_time_reached(job->give_up_at, now))
        job->given_up = true;
    if (hf_time_reached(job->leftovers_at, now))
        see_to_leftovers(job, now);
}

/* ---- job control
 * ---------------------------------------------------------------- */

/* What the guardian told may be over by now: then a stop would be for nobody
 * to end. */
static bool still_stands(struct job *job)
{
    struct proc_about about;
    sigset_t pending;

    if (tree_can_walk(&job->tree) && !proc_is_to_stop(job->pid) &&
        (!proc_about(job->pid, &about) || about.state != 'T'))
        return false;
    sigpending(&pending);
    return !sigismember(&pending, SIGCONT);
}

/* Its child was stopped before that became a program: then it waits in vfork(2)
 * for it, and nobody is told that all stand. */
static void look_for_stop(struct job *job, struct hf_time now)
{
    if (!hf_time_reached(job->stop_look_at, now))
        return;
    job->stop_look_at = HF_TIME_NEVER;
    if (job->is_stopped || job->has_ended || !tree_can_walk(&job->tree) ||
        !proc_is_to_stop(job->pid))
        return;
    job->is_stopped = job->stops_us = true;
}

bool job_wants_stop(struct job *job, struct hf_time now)
{
    bool is_new;
    int terminal;

    look_for_stop(job, now);
    is_new = job->stops_us && job->is_stopped;
    job->stops_us = false;
    if (!is_new || job->is_asked || job->is_killed)
        return false;
    /* Without a terminal nobody would let us go on with the command. */
    terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (terminal < 0)
        return false;
    close(terminal);
    return still_stands(job);
}

void job_stand_still(struct job *job)
{
    say_step(job->say, "stopped with the job");
    job->stood_still = true;
    job->stood_at = job->guardian.seen;
    job->wake_at = HF_TIME_NEVER;
    (void)kill(getpid(), SIGSTOP);
}
