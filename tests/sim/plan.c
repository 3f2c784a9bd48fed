/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/plan.h"

#include <string.h>

#include "store/sim_random.h"

const char *const sim_kind_names[] = {"embedded", "shared", "server", NULL};

static const char *const fault_words[] = {
#define SIM_FAULT(name, word, text) word,
#include "tests/sim/fault.def"
#undef SIM_FAULT
};

#define BIT(name) (UINT32_C(1) << SIM_FAULT_##name)

/* What a store of each kind can do to its clients. A store of this machine
 * carries out at once what it carries out at all, and everybody reads one
 * clock; only there is an older copy put back under running jobs. */
static const uint32_t kind_faults[SIM_KIND_COUNT] = {
    [SIM_EMBEDDED] = BIT(UNKNOWN) | BIT(FAILED) | BIT(WATCH) | BIT(SPACE) |
                     BIT(PAUSE) | BIT(CRASH) | BIT(CANCEL) | BIT(RESTORE) |
                     BIT(ADVANCE) | BIT(KEEP) | BIT(SHARED),
    [SIM_SHARED] = BIT(UNKNOWN) | BIT(LATE) | BIT(LOST) | BIT(FAILED) |
                   BIT(DELAY) | BIT(WATCH) | BIT(SPACE) | BIT(PAUSE) |
                   BIT(CRASH) | BIT(CANCEL) | BIT(ADVANCE) | BIT(KEEP) |
                   BIT(SHARED),
    [SIM_SERVER] = SIM_FAULTS_ALL,
};

static struct hf_span ms(int64_t count)
{
    return hf_span_ms(count);
}

static struct hf_span seconds(struct hf_sim_random *random, int64_t least,
                              int64_t most)
{
    return ms(hf_sim_random_range(random, least * 1000, most * 1000));
}

static int number(struct hf_sim_random *random, int least, int most)
{
    return (int)hf_sim_random_range(random, least, most);
}

static uint32_t chance(struct hf_sim_random *random, uint32_t most)
{
    return (uint32_t)hf_sim_random_below(random, most) + 1;
}

/* Each fault is left out of half of the seeds, so that each is also seen
 * alone; a tenth of the seeds has none at all. */
static uint32_t draw_faults(struct hf_sim_random *random,
                            const struct sim_plan *plan, uint32_t allowed)
{
    uint32_t drawn = (uint32_t)hf_sim_random_next(random);
    bool none = hf_sim_random_below(random, 10) == 0;

    allowed &= kind_faults[plan->kind];
    if (none)
        return allowed & (BIT(DELAY) | BIT(SHARED));
    return allowed & drawn;
}

static void draw_store(struct hf_sim_random *random, struct sim_plan *plan)
{
    struct hf_sim_options *store = &plan->store;
    struct hf_sim_faults *faults = &store->faults;
    bool server = plan->kind == SIM_SERVER;

    store->seed = hf_sim_random_next(random);
    store->traits = (struct hf_store_traits){
        .shared_queue = !server, .cheap_conflict = !server, .local = !server};
    store->expires_by_itself = server;
    store->first_revision = 1 + hf_sim_random_below(random, 1 << 20);
    /* By one in most: where revisions begin again, they then meet again. */
    if (!server && hf_sim_random_below(random, 3) == 0)
        store->revision_step_max = 1 + hf_sim_random_below(random, 9);
    if (hf_sim_random_below(random, 4) == 0)
        store->history_max = (uint32_t)number(random, 2, 60);
    if (sim_plan_has(plan, SIM_FAULT_DRIFT))
        store->rate_ppm = number(random, -3900, 3900);
    if (sim_plan_has(plan, SIM_FAULT_UNKNOWN)) {
        faults->unknown_done = chance(random, 6000);
        faults->unknown_not = chance(random, 6000);
    }
    if (sim_plan_has(plan, SIM_FAULT_LATE)) {
        faults->unknown_late = chance(random, 6000);
        faults->late_max = seconds(random, 1, 40);
    }
    if (sim_plan_has(plan, SIM_FAULT_LOST))
        faults->answer_lost = chance(random, 4000);
    if (sim_plan_has(plan, SIM_FAULT_FAILED))
        faults->failed = chance(random, 6000);
    if (sim_plan_has(plan, SIM_FAULT_DELAY))
        faults->delay_max = ms(number(random, 1, 1500));
    if (sim_plan_has(plan, SIM_FAULT_WATCH)) {
        faults->compacted = chance(random, 10000);
        if (hf_sim_random_below(random, 2))
            faults->watch_lost = chance(random, 20000);
    }
    if (sim_plan_has(plan, SIM_FAULT_EARLY))
        faults->lease_early = chance(random, 8000);
    if (sim_plan_has(plan, SIM_FAULT_LIES))
        faults->keepalive_lies = chance(random, 60000);
    if (sim_plan_has(plan, SIM_FAULT_EXPIRY))
        faults->expiry_max = seconds(random, 1, 20);
}

static void draw_clocks(struct hf_sim_random *random, struct sim_plan *plan)
{
    struct hf_sim_clock same = {.ahead = seconds(random, 1, 100000)};

    for (int i = 0; i <= SIM_CLIENTS_MAX; i++) {
        plan->clocks[i] = same;
        if (plan->kind == SIM_SERVER)
            plan->clocks[i].ahead = seconds(random, 1, 100000);
        /* Two clocks differ by less than the 7,812 ppm that the deadline
         * allows for. */
        if (sim_plan_has(plan, SIM_FAULT_DRIFT))
            plan->clocks[i].rate_ppm = number(random, -3900, 3900);
    }
}

static void draw_clients(struct hf_sim_random *random, struct sim_plan *plan)
{
    static const int64_t ttls[] = {2000, 6000, 6000, 15000, 60000};
    int64_t ttl_s;

    plan->client_count = number(random, 2, SIM_CLIENTS_MAX);
    plan->key_count = hf_sim_random_below(random, 4) ? 1 : SIM_KEYS_MAX;
    plan->rounds = number(random, 1, 8);
    plan->ttl_ms = ttls[hf_sim_random_below(random, 5)];
    ttl_s = plan->ttl_ms / 1000;
    plan->answer_limit = ms(number(random, 500, 10000));
    plan->hold_max = seconds(random, 0, 2 * ttl_s);
    plan->idle_max = seconds(random, 0, number(random, 0, 1) ? 1 : 2 * ttl_s);
    plan->wait_max = seconds(random, 0, 12 * ttl_s);
    plan->write_max = seconds(random, 0, ttl_s);
    if (sim_plan_has(plan, SIM_FAULT_SHARED))
        plan->shared_chance = chance(random, 65536);
    if (sim_plan_has(plan, SIM_FAULT_CANCEL))
        plan->cancel_chance = chance(random, 30000);
    if (sim_plan_has(plan, SIM_FAULT_CRASH))
        plan->crash_chance = chance(random, 30000);
    if (sim_plan_has(plan, SIM_FAULT_CRASH))
        plan->door_chance = chance(random, 20000);
    if (sim_plan_has(plan, SIM_FAULT_KEEP)) {
        plan->keep_chance = chance(random, 65536);
        plan->keep_max = seconds(random, 1, 2 * ttl_s);
    }
    if (sim_plan_has(plan, SIM_FAULT_PAUSE)) {
        plan->pause_every = seconds(random, 1, 6 * ttl_s);
        plan->pause_max = seconds(random, 1, 3 * ttl_s);
        plan->pause_chance =
            chance(random, hf_sim_random_below(random, 3) ? 1000 : 12000);
    }
    plan->calm_at.ns = seconds(random, ttl_s, 30 * ttl_s).ns;
}

void sim_plan_draw(struct sim_plan *plan, const struct sim_wish *wish)
{
    struct hf_sim_random random = {wish->seed};
    int kind = number(&random, 0, SIM_KIND_COUNT - 1);

    *plan = (struct sim_plan){.seed = wish->seed};
    plan->kind = (enum sim_kind)(wish->kind < 0 ? kind : wish->kind);
    plan->faults = draw_faults(&random, plan, wish->faults);
    draw_clients(&random, plan);
    draw_clocks(&random, plan);
    draw_store(&random, plan);
    if (sim_plan_has(plan, SIM_FAULT_RESTORE))
        plan->restores = number(&random, 1, 3);
    if (sim_plan_has(plan, SIM_FAULT_ADVANCE))
        plan->advances = number(&random, 1, 2);
}

static bool add_word(const char *word, size_t size, uint32_t *faults)
{
    if (size == 3 && memcmp(word, "all", 3) == 0) {
        *faults |= SIM_FAULTS_ALL;
        return true;
    }
    if (size == 4 && memcmp(word, "none", 4) == 0)
        return true;
    for (int i = 0; i < SIM_FAULT_COUNT; i++) {
        if (strlen(fault_words[i]) == size &&
            memcmp(fault_words[i], word, size) == 0) {
            *faults |= UINT32_C(1) << i;
            return true;
        }
    }
    return false;
}

bool sim_faults_parse(const char *text, uint32_t *faults)
{
    uint32_t found = 0;

    for (;;) {
        size_t size = strcspn(text, ",");

        if (!add_word(text, size, &found))
            return false;
        text += size;
        if (!*text)
            break;
        text++;
    }
    *faults = found;
    return true;
}
