/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/signals.h"

#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Their default acts on lockrun itself: they tell of a fault in it. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

bool signals_take(struct signals *signals)
{
    struct sigaction child = {.sa_handler = SIG_DFL};
    struct sigaction former;
    sigset_t taken;

    sigfillset(&taken);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&taken, faults[i]);
    sigprocmask(SIG_SETMASK, &taken, &signals->given);
    /* Ignored, it would let the kernel throw away how the job ended. */
    sigaction(SIGCHLD, &child, &former);
    signals->child_ignored = former.sa_handler == SIG_IGN;
    signals->fd = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals->fd >= 0;
}

/* Blocked signals arrive although they are ignored, so this is asked now. */
static bool is_ignored(int number)
{
    struct sigaction now;

    return number != SIGCHLD && sigaction(number, NULL, &now) == 0 &&
           now.sa_handler == SIG_IGN;
}

static bool reached_group(const struct signalfd_siginfo *info)
{
    if (info->ssi_code != SI_KERNEL)
        return false;
    switch (info->ssi_signo) {
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGWINCH:
        return true;
    case SIGHUP:
    case SIGCONT:
        /* A hangup is sent to the session's leader alone, if we are that. */
        return getsid(0) != getpid();
    default:
        /* A timer that was set before lockrun was started, and the like. */
        return false;
    }
}

bool signals_next(struct signals *signals, struct arrived *arrived)
{
    struct signalfd_siginfo info;

    while (read(signals->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        int number = (int)info.ssi_signo;

        if (is_ignored(number))
            continue;
        /* Our own writing to a pipe that nobody reads. */
        if (number == SIGPIPE && info.ssi_pid == (uint32_t)getpid())
            continue;
        *arrived = (struct arrived){.number = number,
                                    .reached_group = reached_group(&info),
                                    .sender = (pid_t)info.ssi_pid};
        return true;
    }
    return false;
}

const char *signal_name(int number, char to[16])
{
    const char *name = sigabbrev_np(number);

    if (name)
        snprintf(to, 16, "%s", name);
    else if (number >= SIGRTMIN && number <= SIGRTMAX)
        snprintf(to, 16, "RTMIN+%d", number - SIGRTMIN);
    else
        snprintf(to, 16, "%d", number);
    return to;
}

bool signal_stops(int number)
{
    return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

bool signal_ends(int number)
{
    return number != SIGCHLD && number != SIGCONT && number != SIGURG &&
           number != SIGWINCH && !signal_stops(number);
}
