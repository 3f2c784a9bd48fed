/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock that is not quite right: what somebody in a simulated world reads
 * when the world's own clock says something else. Pure; for the simulated store
 * and the simulator.
 */
#ifndef HF_STORE_SIM_CLOCK_H
#define HF_STORE_SIM_CLOCK_H

#include "base/time.h"

/* Reads `ahead` when the world's clock reads 0, and from there on runs at
 * (1 + rate_ppm/10^6) of it; |rate_ppm| below 500,000. */
struct hf_sim_clock {
    struct hf_span ahead;
    int32_t rate_ppm;
};

/* ns * numerator / denominator without overflow on the way, rounded down. */
static inline int64_t hf_sim_clock_scale(int64_t ns, int64_t numerator,
                                         int64_t denominator)
{
    return ns / denominator * numerator +
           ns % denominator * numerator / denominator;
}

/* What the clock reads at the world's `now` (0 or later, finite). */
static inline struct hf_time hf_sim_clock_read(struct hf_sim_clock clock,
                                               struct hf_time now)
{
    int64_t ns = hf_sim_clock_scale(now.ns, 1000000 + clock.rate_ppm, 1000000);

    return (struct hf_time){hf_sum_ns(ns, clock.ahead.ns)};
}

/* The world's first moment at which the clock reads `reading` or more. */
static inline struct hf_time hf_sim_clock_when(struct hf_sim_clock clock,
                                               struct hf_time reading)
{
    struct hf_time when;
    int64_t ns;

    if (reading.ns == INT64_MAX)
        return HF_TIME_NEVER;
    ns = hf_sum_ns(reading.ns, -clock.ahead.ns);
    if (ns <= 0)
        return (struct hf_time){0};
    when.ns = hf_sim_clock_scale(ns, 1000000, 1000000 + clock.rate_ppm);
    while (hf_sim_clock_read(clock, when).ns < reading.ns)
        when.ns++;
    return when;
}

#endif
