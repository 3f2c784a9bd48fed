/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files of /proc and of cgroups, read whole, and what they say about a
 * process. A number found there means a process of the pid namespace that
 * /proc shows; proc_is_ours tells whether that is our own.
 */
#ifndef LOCKRUN_PROC_H
#define LOCKRUN_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cmd/lockrun/pids.h"

/* Up to `room` - 1 bytes, and a NUL behind them. The size, or -errno. */
ssize_t proc_read(const char *path, char *to, size_t room);
ssize_t proc_read_at(int dir, const char *path, char *to, size_t room);

/* Is there a /proc, and does it show the namespace that we live in? */
bool proc_is_ours(void);

struct proc_about {
    char state;     /* R S D T t Z X I: of its first thread */
    bool is_over;   /* it only waits to be waited for */
    bool is_ending; /* or was killed, and runs no line of its own any more */
    pid_t parent;
    char name[64]; /* of the program, as the kernel cut it */
};

/* False: there is no such process (any more). */
bool proc_about(pid_t pid, struct proc_about *about);
/* Was it sent this signal, and has not taken it? False if that is not told. */
bool proc_is_pending(pid_t pid, int number);
/*
 * Will it stop as soon as it can take a signal? Not before, though all around
 * it stand: in vfork(2) it waits for its child to become a program, which may
 * have been stopped before it did. False if that is not told.
 */
bool proc_is_to_stop(pid_t pid);
/* Where in the kernel it waits; "" where that is not told. */
void proc_wait_place(pid_t pid, char to[64]);
/* Add the children of all threads of a process. False: not to be read. */
bool proc_children(pid_t pid, struct pids *to);
/* Add all whose parent is in `tree`, to its end; the slow way, for kernels
 * whose /proc lists no children. */
void proc_scan(struct pids *tree);

#endif
