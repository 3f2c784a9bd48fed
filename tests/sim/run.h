/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One simulated run: a world with its store, clients, admin, guarded
 * registers and oracle, driven from one seed. What its parts share.
 */
#ifndef HF_TESTS_SIM_RUN_H
#define HF_TESTS_SIM_RUN_H

#include <stdarg.h>
#include <stdio.h>

#include "core/class.h"
#include "core/core.h"
#include "fence/rule.h"
#include "store/sim.h"
#include "store/sim_random.h"
#include "tests/sim/oracle.h"
#include "tests/sim/plan.h"

struct sim_client;
struct sim_admin;
struct sim_control;
struct sim_audit;

/* How often things came about: a run in which nothing happens proves nothing.
 */
struct sim_counts {
    uint64_t steps;
    uint64_t commits;
    uint64_t processes;
    uint64_t grants;
    uint64_t grants_after_wait;
    uint64_t hand_offs;
    uint64_t busy;
    uint64_t failed;
    uint64_t renewals;
    uint64_t doubts;
    uint64_t kills;
    uint64_t places_lost;
    uint64_t lapses;
    uint64_t crashes;
    uint64_t pauses;
    uint64_t cancels;
    uint64_t restores;
    uint64_t advances;
    uint64_t audits; /* changes that the auditor was told */
    uint64_t audits_missed;
    uint64_t writes;
    uint64_t writes_refused;
};

enum { SIM_BROKEN_SIZE = 512, SIM_WRITES_MAX = 64 };

/* A job's write on its way to a guarded register. */
struct sim_write {
    struct hf_time arrives;
    uint32_t serial;
    int key;
    uint64_t token;
    char session[HF_SESSION_ID_SIZE];
};

struct sim_writes {
    struct sim_write list[SIM_WRITES_MAX];
    size_t count;
};

struct sim_run {
    struct sim_plan plan;
    struct hf_sim_random random;
    FILE *history; /* NULL: none is told */
    bool verbose;  /* of what the stores are asked, too */
    bool broken;
    char what[SIM_BROKEN_SIZE]; /* the first invariant that broke */

    struct hf_time now; /* of the world */
    struct hf_sim_world *world;
    struct hf_class class;
    const struct hf_class *class_list[1];
    struct hf_core_classes classes;
    struct hf_core_options core;

    struct sim_client *clients; /* plan.client_count */
    uint32_t processes;         /* started so far */
    struct sim_admin *admin;
    struct sim_control *control;
    struct sim_audit *audit;
    struct hf_fence_mark marks[SIM_KEYS_MAX]; /* of the guarded registers */
    struct sim_writes writes;
    struct sim_oracle *oracle;
    struct sim_counts counts;
};

/* Run the plan. True when nothing broke. Set in `run` are history and verbose,
 * all else is filled in. */
bool sim_run_plan(const struct sim_wish *wish, struct sim_run *run);

/* A line of the history, with the moment before it. */
void sim_say(struct sim_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* An invariant does not hold: told, and the run ends. The first one counts. */
void sim_broken(struct sim_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* 0 to `most`. */
struct hf_span sim_random_span(struct sim_run *run, struct hf_span most);
bool sim_random_chance(struct sim_run *run, uint32_t in_65536);
/* "k1". */
const char *sim_key_name(int key);
/* Time by which faults and new rounds have ended. */
static inline bool sim_is_calm(const struct sim_run *run)
{
    return hf_time_reached(run->plan.calm_at, run->now);
}
struct hf_wall sim_wall(const struct sim_run *run);

#endif
