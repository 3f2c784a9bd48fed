/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables by which a manager of services hands something to one process
 * alone, named by its number: sockets (LISTEN_PID), a watchdog (WATCHDOG_PID).
 * What it handed to lockrun is meant for the command, whose number is another,
 * so these are readdressed; others are left as they are. For attend.c and
 * spawn.c.
 */
#ifndef LOCKRUN_HANDED_H
#define LOCKRUN_HANDED_H

#include <sys/types.h>

enum { HANDED_MAX = 2, HANDED_BYTES = 32 };

struct handed {
    int count;
    struct {
        char text[HANDED_BYTES]; /* NAME=NUMBER */
        char *number;            /* in it */
    } list[HANDED_MAX];
};

/*
 * Find those that name the process `lockrun` in `environment`, a list for
 * execve(2) that is the caller's to change: their entries are replaced by texts
 * of `handed`, which must live as long. LISTEN_PIDFDID, a second name of the
 * same process, is dropped from the list when LISTEN_PID is one of them.
 */
void handed_find(struct handed *handed, char **environment, pid_t lockrun);
/* Address them to `pid`. Calls nothing: for a child on borrowed memory. */
void handed_readdress(struct handed *handed, pid_t pid);

#endif
