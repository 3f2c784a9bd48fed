/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Did memory run out? What the kernel counts of processes that it killed for
 * want of memory, in lockrun's own control group and those below it, be they of
 * version 1 or 2. Only where a controller of memory sees that group.
 */
#ifndef LOCKRUN_MEMORY_H
#define LOCKRUN_MEMORY_H

#include <stdint.h>

/* How many so far; -1: the kernel does not say. */
int64_t memory_kills(void);

#endif
