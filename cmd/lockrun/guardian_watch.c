/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/guardian_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/local.h"
#include "cmd/lockrun/descriptors.h"
#include "cmd/lockrun/proc.h"

/* lockrun asks the job to end when that is due; so long after, we do. */
#define ASK_AFTER hf_span_ms(100)
/* And so long after a stop or a stall, in which lockrun did nothing either. */
#define ASK_LATE_AFTER hf_span_ms(1000)
/* One that is to be asked and can stop at any moment is looked at so often: of
 * its going on nobody tells. */
#define STOP_LOOK_AFTER hf_span_ms(20)
/* Later than this after the time that was asked for is late: we stood still. */
#define LATE hf_span_ms(20)
/*
 * Who woke late and finds the deadline past lets lockrun ask the store first.
 * The longer two only while the session file says that nobody has taken the
 * lease, which is looked at every LOOK_AFTER.
 */
#define PATIENCE hf_span_ms(25)
#define PATIENCE_STOPPED hf_span_ms(250)
#define PATIENCE_SLOW hf_span_ms(1000)
#define LOOK_AFTER hf_span_ms(5)
/* How soon a killed tree is looked through again; later, if that takes long. */
#define RETRY_AFTER hf_span_ms(20)
#define RETRY_SLOW_AFTER hf_span_ms(1000)
#define SLOW_AFTER hf_span_ms(5000)

/* Not with "lockrun" in it: who kills those by name shall not kill both. */
#define NAME "holdfast-guard"
/* No kernel takes longer arguments. */
enum { WORDS_BYTES_MAX = 1 << 26 };

struct guard {
    struct guardian_page *page;
    const struct guardian_orders *orders;
    struct tree *tree;
    pid_t lockrun;
    int lockrun_fd; /* pidfd; -1: it is dead */
    int signal_fd;
    int events_fd; /* of the cgroup, once our children are gone; -1 */
    uint64_t changes;
    bool has_news; /* for lockrun */

    struct hf_time now;
    struct hf_time woke_late_at; /* the last time; the past: never */
    bool is_patient;             /* lockrun is given time since then */
    bool stands_still;           /* the command was stopped */
    struct hf_time went_on_at; /* it went on after that, and was to be asked */
    int64_t went_on_for;       /* at this time (term_at) */
    bool has_ended;            /* the command has; others may live on */
    bool is_asked;             /* by us */
    bool is_killed;
    struct hf_time kill_at; /* once asked */
    struct hf_time retry_at;
    struct hf_time slow_at;
};

/* ---- telling lockrun -------------------------------------------------------
 */

static void notify(struct guard *guard)
{
    guard->has_news = false;
    if (guard->lockrun_fd >= 0)
        (void)pidfd_send_signal(guard->lockrun_fd, SIGCHLD, NULL, 0);
}

static void tell_change(struct guard *guard, const struct tree_change *change)
{
    guard->changes++;
    guard->page->change = guard->changes << 24 | (uint64_t)change->what << 16 |
                          ((uint64_t)change->status & 0xffff);
    guard->has_news = true;
}

static void did(struct guard *guard, enum guardian_deed deed)
{
    guard->page->deed = deed;
    guard->has_news = true;
}

/* None of them does anything to us; lockrun may want to know. */
static void drain_signals(struct guard *guard)
{
    struct signalfd_siginfo info;

    while (read(guard->signal_fd, &info, sizeof(info)) > 0) {
        if (info.ssi_signo >= GUARDIAN_SIGNALS)
            continue;
        guard->page->got_at[info.ssi_signo] = guard->now.ns;
        guard->page->got_from[info.ssi_signo] = (pid_t)info.ssi_pid;
    }
}

/* ---- at the start ---------------------------------------------------------
 */

/*
 * What ps shows instead of lockrun's own words, so that whoever looks for
 * lockrun by these finds lockrun. The words lie one behind the other, before
 * the environment; this is a copy of them.
 */
static void rename_self(pid_t job)
{
    char *first = program_invocation_name;
    char *end = environ[0];
    char text[64];
    size_t size;

    prctl(PR_SET_NAME, NAME);
    if (!end || end <= first || end - first > WORDS_BYTES_MAX)
        return;
    memset(first, 0, (size_t)(end - first));
    snprintf(text, sizeof(text), NAME " of pid %d", (int)job);
    size = strnlen(text, (size_t)(end - first) - 1);
    memcpy(first, text, size);
}

/* Away from everything that is the caller's. */
static void leave(const struct guard *guard)
{
    const int kept[] = {guard->orders->state_fd, guard->signal_fd,
                        guard->tree->cgroup.fd, guard->lockrun_fd};
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    (void)setsid();
    (void)!chdir("/");
    rename_self(guard->page->job);
    descriptors_close_all_but(kept, sizeof(kept) / sizeof(kept[0]));
    /* Nothing that is opened later shall stand where messages would go. */
    if (open("/dev/null", O_RDWR | O_CLOEXEC) == 0) {
        (void)dup3(0, STDOUT_FILENO, O_CLOEXEC);
        (void)dup3(0, STDERR_FILENO, O_CLOEXEC);
    }
}

/*
 * Nothing of the job is left. With a cgroup of its own the kernel says so, for
 * that is empty; without one we do. And always when something of it was let go,
 * so that nobody takes that for the job and kills it.
 */
static void tell_gone(const struct guard *guard)
{
    if (guard->orders->state_fd >= 0 &&
        (guard->tree->cgroup.fd < 0 || guard->page->has_let_go))
        (void)hf_local_job_phase(guard->orders->sys, guard->orders->state_fd,
                                 HF_PHASE_GONE);
}

/* lockrun has told of the cgroup. Without one that is left to us: were it
 * killed before there is a guardian, nobody could say that nothing runs. */
static int tell_started(const struct guard *guard)
{
    if (guard->orders->state_fd < 0 || guard->tree->cgroup.fd >= 0)
        return 0;
    return -hf_local_job_phase(guard->orders->sys, guard->orders->state_fd,
                               HF_PHASE_STARTED);
}

/* Without this we could not tell whether lockrun lives: no job is begun then.
 */
static int watch_lockrun(struct guard *guard)
{
    guard->lockrun_fd = pidfd_open(guard->lockrun, 0);
    return guard->lockrun_fd < 0 ? errno : 0;
}

/* Stopped, or stuck, since the key was had: it may be another's by now. */
static int judge_start(const struct guard *guard)
{
    struct hf_sys *sys = guard->orders->sys;
    struct hf_time kill_at = {guard->page->kill_at};

    return hf_time_reached(kill_at, sys->steady(sys)) ? ETIME : 0;
}

/* A ^Z or another stop in the moment before it is the command: there is nobody
 * yet to tell of it, and it would never become one. */
static void let_go_on(pid_t child)
{
    siginfo_t info = {.si_pid = 0};

    if (!waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG) && info.si_pid)
        (void)kill(child, SIGCONT);
}

/*
 * The command is being made of its file: `fd` tells when it is, or cannot be.
 * Should the lease be over first, or lockrun die, nothing of it is to run.
 */
static void watch_start(void *context, int fd, pid_t child)
{
    struct guard *guard = context;
    struct guardian_page *page = guard->page;
    struct hf_sys *sys = guard->orders->sys;
    struct pollfd ready[] = {
        {.fd = fd, .events = POLLIN},
        {.fd = guard->lockrun_fd, .events = POLLIN},
        {.fd = guard->signal_fd, .events = POLLIN},
    };

    for (;;) {
        struct hf_time kill_at = {page->kill_at};
        struct timespec left;

        guard->now = sys->steady(sys);
        left = hf_span_to_timespec(hf_time_since(kill_at, guard->now));
        if (ppoll(ready, 3, page->was_late ? NULL : &left, NULL) < 0)
            continue;
        guard->now = sys->steady(sys);
        if (ready[2].revents)
            drain_signals(guard);
        /* What the command does is for the loop to tell. */
        if (ready[0].revents)
            return;
        let_go_on(child);
        if (!page->was_late &&
            (ready[1].revents || hf_time_reached(kill_at, guard->now))) {
            /* It may have been made while we stood still after that look. */
            if (poll(ready, 1, 0) > 0)
                return;
            page->was_late = true;
            (void)kill(child, SIGKILL);
            /* No more is to be done than to see it end. */
            ready[1].fd = -1;
        }
    }
}

/* Is there a job to watch? */
static bool start(struct guard *guard, const struct spawn *spawn_)
{
    struct guardian_page *page = guard->page;
    const struct spawn_watch watch = {watch_start, guard};
    bool is_started;

    page->spawn_errnum = watch_lockrun(guard);
    if (!page->spawn_errnum)
        page->spawn_errnum = tell_started(guard);
    if (!page->spawn_errnum)
        page->spawn_errnum = judge_start(guard);
    if (!page->spawn_errnum)
        page->spawn_errnum =
            spawn_command(spawn_, &watch, &page->job, &page->exec_errnum);
    is_started = !page->spawn_errnum && !page->exec_errnum;
    if (!page->spawn_errnum && page->exec_errnum)
        (void)waitpid(page->job, NULL, 0);
    if (!is_started)
        tell_gone(guard);
    page->stage = is_started ? GUARDIAN_STARTED : GUARDIAN_FAILED;
    if (getppid() == guard->lockrun)
        (void)kill(guard->lockrun, SIGCHLD);
    return is_started;
}

/* ---- ending the job --------------------------------------------------------
 */

static void ask(struct guard *guard, struct hf_time kill_at)
{
    struct pids refused = {.list = NULL};

    guard->is_asked = true;
    guard->kill_at = kill_at;
    tree_signal(guard->tree, SIGTERM, TREE_ALL, &refused);
    tree_wake(guard->tree);
    pids_clear(&refused);
    did(guard, GUARDIAN_ASKED);
}

static void kill_all(struct guard *guard)
{
    struct pids refused = {.list = NULL};
    bool is_slow;

    if (!guard->is_killed) {
        guard->slow_at = hf_time_add(guard->now, SLOW_AFTER);
        /* If lockrun is about it, this is its doing and not ours. */
        if (!guard->page->has_asked)
            did(guard, GUARDIAN_KILLED);
    }
    guard->is_killed = true;
    is_slow = hf_time_reached(guard->slow_at, guard->now);
    guard->retry_at =
        hf_time_add(guard->now, is_slow ? RETRY_SLOW_AFTER : RETRY_AFTER);
    tree_kill(guard->tree, &refused);
    pids_clear(&refused);
}

/* ---- the deadline ----------------------------------------------------------
 */

static bool lockrun_is_stopped(const struct guard *guard)
{
    struct proc_about about;

    return !tree_can_walk(guard->tree) || !proc_about(guard->lockrun, &about) ||
           about.state == 'T' || about.state == 't';
}

/*
 * The deadline is past. If we have only just come to know, for we did not run
 * when it came, others did not run either: lockrun is about to ask the store.
 * What nobody has taken it renews, and the deadline moves.
 */
static bool may_wait(struct guard *guard)
{
    struct hf_sys *sys = guard->orders->sys;
    struct hf_time over_at = {guard->page->over_at};
    struct hf_span patience = PATIENCE;
    bool is_stopped = lockrun_is_stopped(guard);

    /* In time still: what is killed now is dead before another has the key. */
    if (is_stopped && !hf_time_reached(over_at, guard->now))
        return false;
    /* A store that is elsewhere can have given the key to somebody. */
    if (guard->orders->state_fd < 0)
        return false;
    switch (hf_local_lease_stands(sys, guard->orders->state_fd)) {
    case HF_LOCAL_ENDED:
        return false;
    case HF_LOCAL_STANDS:
        patience = is_stopped ? PATIENCE_STOPPED : PATIENCE_SLOW;
        break;
    case HF_LOCAL_UNKNOWN:
        break;
    }
    return !hf_time_reached(hf_time_add(guard->woke_late_at, patience),
                            guard->now);
}

/* When is the job asked to end? NEVER while it stands still: it would run. */
static struct hf_time ask_at(const struct guard *guard)
{
    struct hf_time at = {guard->page->term_at};
    struct hf_time late;
    struct hf_span left;

    if (guard->is_asked || guard->page->has_asked || guard->stands_still)
        return HF_TIME_NEVER;
    at = hf_time_add(at, ASK_AFTER);
    late = guard->went_on_at.ns > guard->woke_late_at.ns ? guard->went_on_at
                                                         : guard->woke_late_at;
    if (late.ns <= guard->page->term_at)
        return at;
    /* Who let it go on lets lockrun go on as well, and that asks the store. It
     * gets half of what is left, for the job needs the rest. */
    left = hf_time_since((struct hf_time){guard->page->kill_at}, late);
    left.ns /= 2;
    if (left.ns > ASK_LATE_AFTER.ns)
        left = ASK_LATE_AFTER;
    late = hf_time_add(late, left);
    return late.ns > at.ns ? late : at;
}

static struct hf_time kill_due(const struct guard *guard)
{
    struct hf_time at = {guard->page->kill_at};

    return guard->is_asked ? hf_time_min(at, guard->kill_at) : at;
}

/* It was stopped in a moment in which no process can be, and is to be asked: it
 * stands as good as still, and would run. */
static bool is_to_stop(struct guard *guard)
{
    struct hf_time at =
        hf_time_add((struct hf_time){guard->page->term_at}, ASK_AFTER);

    if (ask_at(guard).ns == INT64_MAX || !hf_time_reached(at, guard->now) ||
        guard->has_ended || !tree_can_walk(guard->tree) ||
        !proc_is_to_stop(guard->page->job))
        return false;
    guard->went_on_at = guard->now;
    return true;
}

/* Returns when to look again. */
static struct hf_time judge(struct guard *guard)
{
    struct hf_time kill_at;

    if (guard->lockrun_fd < 0 && !guard->is_asked && !guard->is_killed)
        ask(guard, hf_time_min(hf_time_add(guard->now, guard->orders->grace),
                               kill_due(guard)));
    if (guard->is_killed) {
        if (hf_time_reached(guard->retry_at, guard->now))
            kill_all(guard);
        return guard->retry_at;
    }
    kill_at = kill_due(guard);
    if (hf_time_reached(kill_at, guard->now)) {
        guard->is_patient = guard->lockrun_fd >= 0 && may_wait(guard);
        if (guard->is_patient)
            return hf_time_add(guard->now, LOOK_AFTER);
        kill_all(guard);
        return guard->retry_at;
    }
    guard->is_patient = false;
    if (is_to_stop(guard))
        return hf_time_min(kill_at, hf_time_add(guard->now, STOP_LOOK_AFTER));
    if (hf_time_reached(ask_at(guard), guard->now))
        ask(guard, kill_at);
    return hf_time_min(kill_due(guard), ask_at(guard));
}

/* ---- the loop --------------------------------------------------------------
 */

/* The command has ended by itself, and what it left behind is to be let go?
 * Not while the job is being ended, by whomever. */
static bool lets_go(const struct guard *guard)
{
    return guard->orders->leaves && guard->has_ended && !guard->is_asked &&
           !guard->is_killed && !guard->page->has_asked;
}

/* Who was stopped until it was to be asked is given a moment, once: one who is
 * stopped again and again is asked as well. */
static void note_going_on(struct guard *guard)
{
    int64_t term_at = guard->page->term_at;

    if (guard->now.ns < term_at || guard->went_on_for == term_at)
        return;
    guard->went_on_at = guard->now;
    guard->went_on_for = term_at;
}

/* Take what happened. Is anything left to look after? */
static bool look(struct guard *guard)
{
    struct tree *tree = guard->tree;
    struct tree_change change;

    cgroup_events_take(&guard->events_fd);
    while (tree_next_change(tree, &change)) {
        if (change.pid != guard->page->job)
            continue;
        if (guard->stands_still)
            note_going_on(guard);
        guard->stands_still = change.what == TREE_STOPPED;
        guard->has_ended = change.what == TREE_ENDED;
        tell_change(guard, &change);
    }
    if (!tree->has_children &&
        (tree->cgroup.fd < 0 || cgroup_is_empty(&tree->cgroup)))
        return false;
    guard->page->has_let_go = lets_go(guard);
    if (guard->page->has_let_go)
        return false;
    if (tree->has_children)
        return true;
    if (guard->events_fd < 0)
        guard->events_fd = cgroup_events_fd(&tree->cgroup);
    return true;
}

static void wait_until(struct guard *guard, struct hf_time at)
{
    struct hf_sys *sys = guard->orders->sys;
    struct pollfd ready[] = {
        {.fd = guard->signal_fd, .events = POLLIN},
        {.fd = guard->lockrun_fd, .events = POLLIN},
        {.fd = guard->events_fd, .events = POLLPRI},
    };
    struct hf_span left;
    struct timespec limit;

    left = hf_time_since(at, sys->steady(sys));
    limit = hf_span_to_timespec(left);
    (void)ppoll(ready, 3, at.ns == INT64_MAX ? NULL : &limit, NULL);
    guard->now = sys->steady(sys);
    /* Late again while we are patient: that would never end. */
    if (!guard->is_patient &&
        hf_time_reached(hf_time_add(at, LATE), guard->now))
        guard->woke_late_at = guard->now;
    drain_signals(guard);
    if (ready[1].revents) {
        close(guard->lockrun_fd);
        guard->lockrun_fd = -1;
    }
}

/* ---- the end ---------------------------------------------------------------
 */

static void finish(struct guard *guard)
{
    if (guard->lockrun_fd < 0 && guard->tree->cgroup.fd >= 0)
        (void)cgroup_remove(&guard->tree->cgroup);
    tell_gone(guard);
    guard->page->is_gone = true;
    notify(guard);
}

void guardian_watch(struct guardian_page *page,
                    const struct guardian_orders *orders,
                    const struct spawn *spawn_, struct tree *tree,
                    pid_t lockrun)
{
    struct guard guard = {
        .page = page,
        .orders = orders,
        .tree = tree,
        .lockrun = lockrun,
        .lockrun_fd = -1,
        .signal_fd = spawn_->signals->fd,
        .events_fd = -1,
        .woke_late_at = {INT64_MIN / 2},
        .went_on_at = {INT64_MIN / 2},
        .went_on_for = INT64_MIN,
    };

    tree_take_over(tree);
    if (getppid() != lockrun) {
        finish(&guard);
        _exit(0);
    }
    if (!start(&guard, spawn_))
        _exit(0);
    leave(&guard);
    tree_set_job(tree, page->job);
    /* It was opened while lockrun lived, if that lives now. */
    if (getppid() != lockrun) {
        close(guard.lockrun_fd);
        guard.lockrun_fd = -1;
    }
    guard.now = orders->sys->steady(orders->sys);
    /* Stopped with all the others before it came so far. */
    if (guard.now.ns >= page->term_at)
        guard.woke_late_at = guard.now;
    while (look(&guard)) {
        struct hf_time at = judge(&guard);

        if (guard.has_news)
            notify(&guard);
        wait_until(&guard, at);
    }
    finish(&guard);
    _exit(0);
}
