/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/guardian.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/lockrun/guardian_page.h"
#include "cmd/lockrun/guardian_watch.h"
#include "cmd/lockrun/proc.h"

/*
 * Somebody stops the guardian alone: it is woken after this long. At once would
 * quarrel with one who stops a whole tree, process by process.
 */
#define WAKE_AFTER hf_span_ms(1000)

/*
 * Who finds so late that the time is over stood still, and so did the guardian
 * perhaps: it has a moment to tell that the command is made.
 */
#define LATE hf_span_ms(20)
#define MOMENT hf_span_ms(25)

/* A command that is still being made after its time is killed so often. */
#define KILL_AGAIN hf_span_ms(20)
#define A_SECOND hf_span_ms(1000)

static struct guardian_page *make_page(const struct guardian_limits *limits)
{
    struct guardian_page *page =
        mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        return NULL;
    page->term_at = limits->term_at.ns;
    page->kill_at = limits->kill_at.ns;
    page->over_at = limits->over_at.ns;
    return page;
}

static bool has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
           info.si_pid == pid;
}

/* It is about to end by itself, if nobody stops it. */
static void reap(struct guardian *guardian)
{
    int status = 0;

    while (guardian->pid) {
        pid_t got = waitpid(guardian->pid, &status, WUNTRACED);

        if (got == guardian->pid && WIFSTOPPED(status))
            (void)kill(guardian->pid, SIGCONT);
        else if (got >= 0 || errno != EINTR)
            guardian->pid = 0;
    }
}

/* For a second at most. SIGCHLD is blocked. False: nothing came of it. */
static bool wait_for_child(struct hf_span most)
{
    struct hf_span span = most.ns < A_SECOND.ns ? most : A_SECOND;
    struct timespec limit = hf_span_to_timespec(span);
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return sigtimedwait(&child, NULL, &limit) >= 0 || errno != EAGAIN;
}

/*
 * Whoever looks for changes next looks at them all. The kernel may take long to
 * make the command of a file that lies elsewhere: should that last until the
 * lease is over, nothing of the command is to run. The guardian sees to that as
 * well, if nobody has stopped it.
 */
static void wait_for_start(struct guardian *guardian, struct hf_sys *sys,
                           struct tree *tree)
{
    struct guardian_page *page = guardian->page;
    struct pids refused = {.list = NULL};
    struct hf_time kill_at = {page->kill_at};
    struct hf_time late_at = hf_time_add(kill_at, LATE);
    bool was_silent = false;

    for (;;) {
        /* Before the page is read: what is found starting was so at this time,
         * however long we stand still in between. */
        struct hf_time now = sys->steady(sys);
        struct hf_span left;

        if (has_ended(guardian->pid) || page->stage != GUARDIAN_STARTING)
            break;
        if (hf_time_reached(late_at, now)) {
            kill_at = hf_time_add(now, MOMENT);
            late_at = HF_TIME_NEVER;
        }
        left = hf_time_since(kill_at, now);
        if (left.ns <= 0) {
            late_at = HF_TIME_NEVER;
            guardian->was_late = true;
            tree_kill(tree, &refused);
            left = KILL_AGAIN;
        }
        if (wait_for_child(left))
            continue;
        /* Perhaps somebody has stopped it; or what it makes, before that was
         * the command, and it waits in vfork(2). */
        (void)kill(guardian->pid, SIGCONT);
        if (was_silent)
            tree_wake(tree);
        was_silent = true;
    }
    guardian->was_late = guardian->was_late || page->was_late;
    pids_clear(&refused);
}

int guardian_start(struct guardian *guardian,
                   const struct guardian_orders *orders,
                   const struct spawn *spawn_, struct tree *tree, pid_t *job,
                   int *exec_errnum)
{
    struct guardian_page *page = make_page(&orders->limits);
    pid_t lockrun = getpid();
    int errnum;

    *job = 0;
    *exec_errnum = 0;
    if (!page)
        return ENOMEM;
    *guardian = (struct guardian){.page = page, .stopped_at = HF_TIME_NEVER};
    guardian->pid = fork();
    if (guardian->pid == 0)
        guardian_watch(page, orders, spawn_, tree, lockrun);
    if (guardian->pid < 0) {
        errnum = errno;
        guardian->pid = 0;
        guardian_clear(guardian);
        return errnum;
    }
    tree->guardian = guardian->pid;
    wait_for_start(guardian, orders->sys, tree);
    if (page->stage == GUARDIAN_STARTED) {
        *job = page->job;
    } else if (page->stage == GUARDIAN_FAILED) {
        errnum = page->spawn_errnum;
        *exec_errnum = page->exec_errnum;
        tree->guardian = 0;
        reap(guardian);
        guardian_clear(guardian);
        return errnum;
    }
    return 0;
}

void guardian_clear(struct guardian *guardian)
{
    if (guardian_saw_all_gone(guardian))
        reap(guardian);
    if (guardian->page)
        munmap(guardian->page, sizeof(*guardian->page));
    guardian->page = NULL;
}

bool guardian_next_change(struct guardian *guardian, struct tree_change *change)
{
    uint64_t told = guardian->page ? guardian->page->change : 0;

    if (told == guardian->seen)
        return false;
    guardian->seen = told;
    *change = (struct tree_change){
        .pid = guardian->page->job,
        .what = told >> 16 & 0xff,
        .status = (int)(told & 0xffff),
    };
    return true;
}

bool guardian_is_there(const struct guardian *guardian)
{
    return guardian->pid != 0 || guardian_saw_all_gone(guardian);
}

bool guardian_saw_all_gone(const struct guardian *guardian)
{
    return guardian->page && guardian->page->is_gone;
}

bool guardian_has_let_go(const struct guardian *guardian)
{
    return guardian->page && guardian->page->has_let_go;
}

bool guardian_has_asked(const struct guardian *guardian)
{
    return guardian->page && guardian->page->deed != GUARDIAN_DID_NOTHING;
}

bool guardian_has_killed(const struct guardian *guardian)
{
    return guardian->page && guardian->page->deed == GUARDIAN_KILLED;
}

bool guardian_got(const struct guardian *guardian, int number, pid_t sender,
                  struct hf_time since)
{
    const struct guardian_page *page = guardian->page;

    hf_assert(number > 0 && number < GUARDIAN_SIGNALS);
    if (!page)
        return false;
    /* It may have had no turn since. */
    if (guardian->pid && proc_is_pending(guardian->pid, number))
        return true;
    return page->got_from[number] == sender && page->got_at[number] >= since.ns;
}

void guardian_changed(struct guardian *guardian,
                      const struct tree_change *change, struct hf_time now)
{
    switch (change->what) {
    case TREE_ENDED:
        guardian->pid = 0;
        guardian->stopped_at = HF_TIME_NEVER;
        break;
    case TREE_STOPPED:
        guardian->stopped_at = now;
        break;
    case TREE_WENT_ON:
        guardian->stopped_at = HF_TIME_NEVER;
        break;
    }
}

struct hf_time guardian_wake_at(const struct guardian *guardian)
{
    return hf_time_add(guardian->stopped_at, WAKE_AFTER);
}

void guardian_tick(struct guardian *guardian, struct hf_time now)
{
    if (!guardian->pid || !hf_time_reached(guardian_wake_at(guardian), now))
        return;
    guardian->stopped_at = HF_TIME_NEVER;
    (void)kill(guardian->pid, SIGCONT);
}

void guardian_set_limits(struct guardian *guardian,
                         const struct guardian_limits *limits)
{
    if (!guardian->page)
        return;
    guardian->page->term_at = limits->term_at.ns;
    guardian->page->kill_at = limits->kill_at.ns;
    guardian->page->over_at = limits->over_at.ns;
}

void guardian_note_asked(struct guardian *guardian)
{
    if (guardian->page)
        guardian->page->has_asked = true;
}
