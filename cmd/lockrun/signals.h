/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals to lockrun, fetched one by one instead of interrupting, and what to
 * make of each: where it came from, whether its sender reached the job too.
 * The job gets the mask and the dispositions that lockrun was given.
 */
#ifndef LOCKRUN_SIGNALS_H
#define LOCKRUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signals {
    int fd;             /* readable when there is one; -1 before signals_take */
    sigset_t given;     /* the mask that lockrun began with */
    bool child_ignored; /* SIGCHLD was ignored: the job shall have it so */
};

struct arrived {
    int number;
    /* The kernel sent it to the whole foreground process group (a key of the
     * terminal, a hangup, a new size): the job has it already. */
    bool reached_group;
    pid_t sender; /* 0: the kernel, or one of another pid namespace */
};

/*
 * From now on no signal interrupts or ends lockrun, but those that tell of a
 * fault in itself. False: no descriptor was to be had (errno).
 */
bool signals_take(struct signals *signals);
/* False: none is there. Those that were ignored on entry are never told. */
bool signals_next(struct signals *signals, struct arrived *arrived);

/* "TERM", "RTMIN+3"; or the number. `to` has room for 16 bytes. */
const char *signal_name(int number, char to[16]);
/* Would it end a program that does nothing about it? */
bool signal_ends(int number);
/* Would it stop one? (SIGSTOP itself cannot be fetched.) */
bool signal_stops(int number);

#endif
