/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/nth_malloc.h"

#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static unsigned int fails_at;
static unsigned int seen;
static bool has_failed;
static bool is_held;

void nth_malloc_fail(unsigned int n)
{
    fails_at = n;
    seen = 0;
    has_failed = false;
}

bool nth_malloc_end(void)
{
    bool failed = has_failed;

    fails_at = 0;
    has_failed = false;
    return failed;
}

void nth_malloc_pause(bool is_paused)
{
    is_held = is_paused;
}

unsigned int nth_malloc_count(void)
{
    return seen;
}

static bool must_fail(void)
{
    if (is_held)
        return false;
    seen++;
    if (fails_at == 0 || seen != fails_at)
        return false;
    has_failed = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return must_fail() ? NULL : __real_realloc(old, size);
}
