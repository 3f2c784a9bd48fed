/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc tells about the process that holds a key, and what runs below it,
 * where its number means something here. Only looks. For `lockctl show`.
 */
#ifndef LOCKCTL_PROCESS_H
#define LOCKCTL_PROCESS_H

#include <stdbool.h>

#include "core/request.h"

enum { PROCESSES_MAX = 16 };

struct process {
    uint32_t pid;
    char state; /* as in ps(1): R S D T Z */
    char name[64];
};

struct process_tree {
    bool has_lost_holder; /* it is gone, and these bear its session */
    size_t count; /* 0: nothing to tell; else [0] is the holder itself */
    struct process list[PROCESSES_MAX];
    bool more;
};

/*
 * Nothing to tell when the holder lives in another pid namespace. It is gone
 * when its number is nobody's, or somebody's who is younger than the hold; then
 * what it started is known by LOCK_SESSION in its environment, where we may
 * read that. `age_ms`: of the hold.
 */
void process_tree_read(const struct hf_holder *who, int64_t age_ms,
                       struct process_tree *tree);

#endif
