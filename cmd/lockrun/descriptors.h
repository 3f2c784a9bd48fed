/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descriptors of a process that lockrun forks for itself: the guardian, and
 * who looks after a line. They keep what they need and close all else, which is
 * the caller's or lockrun's.
 */
#ifndef LOCKRUN_DESCRIPTORS_H
#define LOCKRUN_DESCRIPTORS_H

#include <stddef.h>

enum { DESCRIPTORS_KEPT_MAX = 8 };

/* `kept` is in any order; those below 0 are no descriptors. */
void descriptors_close_all_but(const int *kept, size_t count);

#endif
