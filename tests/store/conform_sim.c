/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated store before the conformance suite, in each of its ways. */
#include <stdlib.h>

#include "store/sim.h"
#include "tests/store/kit.h"

struct bench {
    struct hf_sim_world *world;
    struct hf_time now;
};

static uint64_t worlds; /* each bench has a seed of its own */

static struct bench *make(const struct hf_sim_options *like)
{
    struct hf_sim_options options = *like;
    struct bench *bench = calloc(1, sizeof(*bench));

    assert_non_null(bench);
    options.seed = ++worlds;
    bench->world = hf_sim_world_new(&options);
    assert_non_null(bench->world);
    return bench;
}

static struct bench *make_embedded(void)
{
    const struct hf_sim_options options = {
        .traits = {.shared_queue = true, .cheap_conflict = true, .local = true},
        .first_revision = 1000,
        .revision_step_max = 50,
        .history_max = 50000};

    return make(&options);
}

static struct bench *make_server(void)
{
    const struct hf_sim_options options = {
        .faults = {.delay_max = {40 * INT64_C(1000000)},
                   .expiry_max = {1500 * INT64_C(1000000)}},
        .history_max = 50000,
        .expires_by_itself = true};

    return make(&options);
}

static struct bench *make_plain(void)
{
    const struct hf_sim_options options = {.expires_by_itself = true};

    return make(&options);
}

static void drop(struct bench *bench)
{
    while (hf_sim_world_committed(bench->world))
        continue;
    hf_sim_world_free(bench->world);
    free(bench);
}

static struct hf_store *open_handle(struct bench *bench)
{
    return hf_sim_open(bench->world);
}

static struct hf_time now(struct bench *bench)
{
    return bench->now;
}

static void pass(struct bench *bench, struct hf_span span)
{
    bench->now = hf_time_add(bench->now, span);
    hf_sim_world_advance(bench->world, bench->now);
}

static void die(struct bench *bench, victim_fn *script, void *shared,
                size_t bytes);

static const struct adapter embedded = {.name = "sim, embedded",
                                        .takers_remove = true,
                                        .compacts = true,
                                        .make = make_embedded,
                                        .drop = drop,
                                        .open = open_handle,
                                        .now = now,
                                        .pass = pass,
                                        .die = die};

static const struct adapter server = {.name = "sim, a slow server",
                                      .removal_max = {1500 * INT64_C(1000000)},
                                      .delay_max = {40 * INT64_C(1000000)},
                                      .compacts = true,
                                      .make = make_server,
                                      .drop = drop,
                                      .open = open_handle,
                                      .now = now,
                                      .pass = pass,
                                      .die = die};

static const struct adapter plain = {.name = "sim, a server",
                                     .make = make_plain,
                                     .drop = drop,
                                     .open = open_handle,
                                     .now = now,
                                     .pass = pass,
                                     .die = die};

static void die(struct bench *bench, victim_fn *script, void *shared,
                size_t bytes)
{
    struct hf_store *store = hf_sim_open(bench->world);

    (void)bytes;
    assert_non_null(store);
    script(&embedded, bench, store, shared);
    hf_sim_kill(store, true);
    store->ops->close(store);
}

int main(void)
{
    return kit_main(&embedded) + kit_main(&server) + kit_main(&plain);
}
