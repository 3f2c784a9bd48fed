/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one seed stands for: how many clients, what they do, which store, which
 * faults and how often. Drawn before the run, from the seed alone.
 */
#ifndef HF_TESTS_SIM_PLAN_H
#define HF_TESTS_SIM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "store/sim.h"

enum sim_fault {
#define SIM_FAULT(name, word, text) SIM_FAULT_##name,
#include "tests/sim/fault.def"
#undef SIM_FAULT
    SIM_FAULT_COUNT
};

enum sim_kind {
    SIM_EMBEDDED, /* as the embedded store: local, answers at once */
    SIM_SHARED,   /* local too, but requests take their time and may be late */
    SIM_SERVER, /* a cluster elsewhere: clocks differ, leases end by themselves
                 */
    SIM_KIND_COUNT
};
extern const char *const sim_kind_names[]; /* ended by NULL */

/* What is asked for on the command line; the rest is drawn. */
struct sim_wish {
    uint64_t seed;
    int kind;        /* enum sim_kind; below 0: drawn */
    uint32_t faults; /* bit per enum sim_fault: may happen */
};

#define SIM_FAULTS_ALL ((UINT32_C(1) << SIM_FAULT_COUNT) - 1)

enum { SIM_CLIENTS_MAX = 6, SIM_KEYS_MAX = 2 };

struct sim_plan {
    uint64_t seed;
    enum sim_kind kind;
    uint32_t faults; /* those that this seed uses */
    int client_count;
    int key_count;
    int rounds; /* how often each client wants a key, at most */
    int64_t ttl_ms;
    struct hf_span answer_limit;
    struct hf_span hold_max;  /* a job's length: 0 to this */
    struct hf_span idle_max;  /* between two rounds of a client */
    struct hf_span wait_max;  /* how long a client is ready to wait */
    struct hf_span write_max; /* a job's write is on its way 0 to this long */
    uint32_t shared_chance;   /* in 65536, per round */
    uint32_t cancel_chance;
    uint32_t crash_chance;
    uint32_t door_chance; /* to die between asking the store and hearing */
    uint32_t keep_chance;
    struct hf_span keep_max;
    struct hf_span pause_every; /* mean, over all clients; 0: never */
    uint32_t pause_chance;      /* to be stopped as a turn ends */
    struct hf_span pause_max;
    int restores;
    int advances;
    struct hf_time calm_at; /* from here on no faults, and no new rounds */
    struct hf_sim_clock clocks[SIM_CLIENTS_MAX + 1]; /* the last: admin */
    struct hf_sim_options store;
};

void sim_plan_draw(struct sim_plan *plan, const struct sim_wish *wish);
static inline bool sim_plan_has(const struct sim_plan *plan,
                                enum sim_fault fault)
{
    return plan->faults >> fault & 1;
}
/* "a,b", "all" or "none" as bits; false: a word is not known. */
bool sim_faults_parse(const char *text, uint32_t *faults);

#endif
