/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the nth allocation of a program fail, and counts allocations. For unit
 * tests, which walk every error path of memory in this way:
 *
 *     for (unsigned int n = 1;; n++) {
 *         nth_malloc_fail(n);
 *         err = what_is_tested();
 *         if (!nth_malloc_end())
 *             break; // it needs fewer than n allocations: all were walked
 *         assert_int_equal(err, HF_ERR_NOMEM);
 *     }
 *
 * Link with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc: what is linked as
 * an archive is covered, shared libraries are not.
 */
#ifndef HF_TESTS_NTH_MALLOC_H
#define HF_TESTS_NTH_MALLOC_H

#include <stdbool.h>

/* From now on count, and let the nth allocation fail: 1 is the next, 0 none. */
void nth_malloc_fail(unsigned int n);
/* Back to normal. True when an allocation was made to fail. */
bool nth_malloc_end(void);
/* What is not part of the test in between: it is not counted and works. */
void nth_malloc_pause(bool is_paused);
/* Allocations (malloc, calloc, realloc) since nth_malloc_fail. */
unsigned int nth_malloc_count(void);

#endif
