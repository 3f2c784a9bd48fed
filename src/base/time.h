/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time in three kinds that cannot be mixed: a moment on the steady clock, a
 * moment on the wall clock, and a span. Nothing here reads a clock (base/sys.h
 * does); everybody may use this file. All in nanoseconds, signed 64 bits: 292
 * years either way. Sums saturate, so that "for ever" stays for ever.
 */
#ifndef HF_BASE_TIME_H
#define HF_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * The seam's steady clock: CLOCK_MONOTONIC for a store on this kernel,
 * CLOCK_BOOTTIME for one elsewhere. Comparable only within one boot.
 */
struct hf_time {
    int64_t ns;
};

/* Since 1970-01-01 UTC. May jump; no deadline is ever counted on it. */
struct hf_wall {
    int64_t ns;
};

struct hf_span {
    int64_t ns;
};

#define HF_TIME_NEVER ((struct hf_time){INT64_MAX})
#define HF_SPAN_FOREVER ((struct hf_span){INT64_MAX})

static inline int64_t hf_sum_ns(int64_t a, int64_t b)
{
    int64_t sum;

    if (a == INT64_MAX || b == INT64_MAX)
        return INT64_MAX;
    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

static inline struct hf_time hf_time_add(struct hf_time t, struct hf_span s)
{
    return (struct hf_time){hf_sum_ns(t.ns, s.ns)};
}

/* `s` must be finite. */
static inline struct hf_time hf_time_sub(struct hf_time t, struct hf_span s)
{
    return (struct hf_time){hf_sum_ns(t.ns, -s.ns)};
}

/* From `b` to `a`; negative when `a` is the earlier one. */
static inline struct hf_span hf_time_since(struct hf_time a, struct hf_time b)
{
    return (struct hf_span){a.ns == INT64_MAX ? INT64_MAX
                                              : hf_sum_ns(a.ns, -b.ns)};
}

/* Has `t` been reached at `now`? */
static inline bool hf_time_reached(struct hf_time t, struct hf_time now)
{
    return now.ns >= t.ns;
}

static inline struct hf_time hf_time_min(struct hf_time a, struct hf_time b)
{
    return a.ns < b.ns ? a : b;
}

/* As the kernel's calls take it; none is left of what is past. */
static inline struct timespec hf_span_to_timespec(struct hf_span s)
{
    int64_t ns = s.ns < 0 ? 0 : s.ns;

    return (struct timespec){.tv_sec = ns / 1000000000,
                             .tv_nsec = ns % 1000000000};
}

static inline struct hf_span hf_span_ms(int64_t ms)
{
    int64_t ns;

    if (__builtin_mul_overflow(ms, INT64_C(1000000), &ns))
        return ms > 0 ? HF_SPAN_FOREVER : (struct hf_span){INT64_MIN};
    return (struct hf_span){ns};
}

/* Whole milliseconds, rounded up, so that a wait never ends early. */
static inline int64_t hf_span_to_ms_up(struct hf_span s)
{
    if (s.ns == INT64_MAX)
        return INT64_MAX;
    return s.ns / 1000000 + (s.ns % 1000000 > 0);
}

#endif
