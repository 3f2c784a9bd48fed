/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of process ids, as tree.c and cgroup.c collect them.
 */
#ifndef LOCKRUN_PIDS_H
#define LOCKRUN_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* More processes than any kernel can have (its limit of ids is 2^22). */
enum { PIDS_MAX = 1 << 22 };

struct pids {
    pid_t *list; /* in no order */
    size_t count;
    size_t room;
    bool is_cut; /* memory ran out: some are missing */
};

/* All zero is an empty set. Adding what is there already changes nothing. */
void pids_add(struct pids *pids, pid_t pid);
bool pids_has(const struct pids *pids, pid_t pid);
void pids_remove(struct pids *pids, pid_t pid);
/* Add what `text` lists, separated by blanks or line ends. */
void pids_add_text(struct pids *pids, const char *text);
void pids_clear(struct pids *pids);

#endif
