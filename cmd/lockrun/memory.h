/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Did memory run out? What the kernel counts of processes that it killed for
 * want of memory in the control group in which lockrun began, be it of version
 * 1 or 2; in version 2 also in those below it. Only where a controller of
 * memory sees that group.
 */
#ifndef LOCKRUN_MEMORY_H
#define LOCKRUN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct memory {
    char *path; /* who counts them: we may be moved meanwhile; NULL: nobody */
    int64_t kills; /* when it began */
};

void memory_begin(struct memory *memory);
void memory_clear(struct memory *memory);
/* Has it killed any since? */
bool memory_ran_out(const struct memory *memory);

#endif
