/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small seeded generator of numbers that look random: the same seed gives the
 * same numbers on every machine. For the simulated store and the simulator;
 * never for ids or secrets of real runs.
 *
 * Algorithm: SplitMix64, from Steele, Lea and Flood, "Fast Splittable
 * Pseudorandom Number Generators", OOPSLA 2014, figure 17 with the mixing
 * constants of its 64-bit variant 13. Period 2^64; any seed is good.
 */
#ifndef HF_STORE_SIM_RANDOM_H
#define HF_STORE_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct hf_sim_random {
    uint64_t state; /* set it to the seed */
};

static inline uint64_t hf_sim_random_next(struct hf_sim_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 to `limit` - 1; `limit` above 0. Multiply and shift: the bias is below
 * limit/2^64. */
static inline uint64_t hf_sim_random_below(struct hf_sim_random *random,
                                           uint64_t limit)
{
    return (uint64_t)(((unsigned __int128)hf_sim_random_next(random) * limit) >>
                      64);
}

/* `least` to `most`, both included. */
static inline int64_t hf_sim_random_range(struct hf_sim_random *random,
                                          int64_t least, int64_t most)
{
    uint64_t width = (uint64_t)most - (uint64_t)least;

    if (width == UINT64_MAX)
        return (int64_t)hf_sim_random_next(random);
    return (int64_t)((uint64_t)least + hf_sim_random_below(random, width + 1));
}

/* True `chance` times in 65536; asks for no number when it never is. */
static inline bool hf_sim_random_hits(struct hf_sim_random *random,
                                      uint32_t chance)
{
    return chance && hf_sim_random_next(random) >> 48 < chance;
}

#endif
