/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the job's first process. To be born in a cgroup of the job's own the
 * child borrows its maker's memory until it is the command, where the processor
 * is known for that: the maker stands still meanwhile, and whoever takes the
 * lease kills all that is in the cgroup. Without a cgroup the maker must be
 * able to kill it, so it is forked. Called by guardian_watch.c alone.
 */
#ifndef LOCKRUN_SPAWN_H
#define LOCKRUN_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmd/lockrun/handed.h"
#include "cmd/lockrun/program.h"
#include "cmd/lockrun/signals.h"

/* The least number that the session file gets in the job, if there is room. */
enum { SESSION_FD_LEAST = 700 };

struct spawn {
    const struct program *program;
    char *const *argv;
    char *const *envp;
    struct handed *handed; /* of envp: readdressed to the command */
    const struct signals *signals;
    int cgroup_fd;  /* folder of the cgroup to be born in; -1: ours */
    int session_fd; /* inherited on a high number; -1: none */
    /* Bits of the descriptors 0 to 2 that lockrun found closed. */
    unsigned int closed;
};

/* Called in the maker, of a child that was forked: until `fd` is readable or
 * hung up, it is about to become the command. */
struct spawn_watch {
    void (*watch)(void *context, int fd, pid_t child);
    void *context;
};

/*
 * Returns 0 or the errno of making a process. On success *pid is a child, and
 * *exec_errno is 0 or tells why it could not become the command; then it is
 * about to end, or has, and is still to be waited for. A file that is no
 * program the kernel knows is read by a shell, as by execvp(3).
 */
int spawn_command(const struct spawn *spawn, const struct spawn_watch *watch,
                  pid_t *pid, int *exec_errno);

#endif
