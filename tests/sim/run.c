/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/run.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/record.h"
#include "tests/sim/audit.h"
#include "tests/sim/client.h"
#include "tests/sim/control.h"

/* Far more than any run needs. */
enum { STEPS_MAX = 200000 };
/* The first epoch of a cluster; design, section 3. */
enum { FIRST_EPOCH = 1000 };

void sim_say(struct sim_run *run, const char *format, ...)
{
    va_list args;

    if (!run->history)
        return;
    fprintf(run->history, "%14.6f ", (double)run->now.ns / 1e9);
    va_start(args, format);
    vfprintf(run->history, format, args);
    va_end(args);
    fputc('\n', run->history);
}

void sim_broken(struct sim_run *run, const char *format, ...)
{
    char text[SIM_BROKEN_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    sim_say(run, "BROKEN %s", text);
    if (run->broken)
        return;
    run->broken = true;
    memcpy(run->what, text, sizeof(run->what));
}

struct hf_span sim_random_span(struct sim_run *run, struct hf_span most)
{
    if (most.ns <= 0)
        return (struct hf_span){0};
    return (struct hf_span){hf_sim_random_range(&run->random, 0, most.ns)};
}

bool sim_random_chance(struct sim_run *run, uint32_t in_65536)
{
    return hf_sim_random_hits(&run->random, in_65536);
}

const char *sim_key_name(int key)
{
    static const char *const names[SIM_KEYS_MAX] = {"sim/n/k1", "sim/n/k2"};

    return names[key];
}

struct hf_wall sim_wall(const struct sim_run *run)
{
    return (struct hf_wall){INT64_C(1780000000000000000) + run->now.ns};
}

/* ---- the beginning ---- */

/* A cluster's epoch record is made by an admin, before all else. */
static void write_first_epoch(struct sim_run *run)
{
    struct hf_store *store = hf_sim_open(run->world);
    struct hf_store_identity identity = hf_sim_world_identity(run->world);
    struct hf_epoch_record record = {.version = HF_RECORD_VERSION,
                                     .epoch = FIRST_EPOCH};
    struct hf_value value = {NULL};
    char room[HF_PATHS_ROOM];
    struct hf_paths paths;
    struct hf_action put = {.kind = HF_DO_PUT};
    struct hf_branch branch = {.then = &put, .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};

    hf_assert(store);
    memcpy(record.store_id, identity.id, sizeof(record.store_id));
    hf_assert(!hf_record_encode_epoch(&record, &value));
    hf_paths_make(&paths, room, "", NULL, NULL);
    put.key = hf_bytes_of(paths.epoch);
    put.value = (struct hf_bytes){value.text, value.size};
    hf_store_submit(store, &request, run->now);
    hf_assert(hf_store_next(store, run->now) == &request);
    hf_assert(request.outcome == HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&request);
    hf_value_clear(&value);
    store->ops->close(store);
}

static void make_class(struct sim_run *run)
{
    struct hf_class *class = &run->class;

    *class = hf_class_batch;
    snprintf(class->name, sizeof(class->name), "sim");
    class->ttl_min_ms = HF_TTL_LEAST_MS;
    class->ttl_max_ms = HF_TTL_MOST_MS;
    class->shared = true;
    run->class_list[0] = class;
    run->classes = (struct hf_core_classes){run->class_list, 1};
}

static void begin(struct sim_run *run)
{
    struct hf_sim_options store = run->plan.store;

    run->random.state = run->plan.seed ^ UINT64_C(0x5deece66d);
    store.faults = (struct hf_sim_faults){.unknown_done = 0};
    run->world = hf_sim_world_new(&store);
    hf_assert(run->world);
    run->oracle = sim_oracle_new(run);
    make_class(run);
    run->core = (struct hf_core_options){.traits = store.traits,
                                         .answer_limit = run->plan.answer_limit,
                                         .ops_max = 64};
    if (run->plan.kind == SIM_SERVER)
        write_first_epoch(run);
    hf_sim_world_faults(run->world, &run->plan.store.faults);
    sim_oracle_drain(run);
    sim_clients_init(run);
    sim_admin_init(run);
    sim_control_init(run);
    sim_audit_init(run);
}

/* ---- the middle ---- */

static struct hf_time next_moment(const struct sim_run *run)
{
    struct hf_time at = hf_sim_world_wake_at(run->world);

    at = hf_time_min(at, sim_control_wake_at(run));
    at = hf_time_min(at, sim_admin_wake_at(run));
    at = hf_time_min(at, sim_audit_wake_at(run));
    at = hf_time_min(at, sim_writes_wake_at(run));
    for (int i = 0; i < run->plan.client_count; i++)
        at = hf_time_min(at, sim_client_wake_at(run, &run->clients[i]));
    return at;
}

static bool is_done(const struct sim_run *run)
{
    for (int i = 0; i < run->plan.client_count; i++) {
        if (!sim_client_is_done(&run->clients[i]))
            return false;
    }
    return sim_admin_is_done(run) && sim_audit_is_done(run) &&
           run->writes.count == 0;
}

static void step(struct sim_run *run, struct hf_time at)
{
    if (at.ns > run->now.ns)
        run->now = at;
    hf_sim_world_advance(run->world, run->now);
    sim_oracle_drain(run);
    sim_control_turn(run);
    sim_writes_arrive(run);
    for (int i = 0; i < run->plan.client_count && !run->broken; i++) {
        struct sim_client *client = &run->clients[i];

        if (hf_time_reached(sim_client_wake_at(run, client), run->now))
            sim_client_turn(run, client);
    }
    if (!run->broken && hf_time_reached(sim_admin_wake_at(run), run->now))
        sim_admin_turn(run);
    if (!run->broken && hf_time_reached(sim_audit_wake_at(run), run->now))
        sim_audit_turn(run);
    run->counts.steps++;
}

/* When, with no more faults, everybody must have had what he wants. */
static struct hf_time patience_ends(const struct sim_run *run)
{
    const struct sim_plan *plan = &run->plan;
    struct hf_span needed = {
        4 * (plan->wait_max.ns + plan->hold_max.ns + plan->pause_max.ns +
             plan->idle_max.ns + plan->keep_max.ns +
             12 * hf_span_ms(plan->ttl_ms).ns + plan->store.faults.late_max.ns +
             plan->store.faults.expiry_max.ns + 40 * plan->answer_limit.ns)};

    return hf_time_add(plan->calm_at, needed);
}

static void drive(struct sim_run *run)
{
    struct hf_time end = patience_ends(run);
    struct hf_time at = next_moment(run);

    while (!run->broken && !(sim_is_calm(run) && is_done(run))) {
        if (at.ns > end.ns) {
            sim_broken(run, "liveness: somebody waits still, long after "
                            "everything is calm");
            break;
        }
        step(run, at);
        if (run->counts.steps > STEPS_MAX)
            sim_broken(run, "liveness: no end after %d steps", STEPS_MAX);
        at = next_moment(run);
    }
}

/* ---- the end ---- */

/* Whatever was left behind, who comes now must get every key. */
static void probe(struct sim_run *run)
{
    struct hf_time end;
    struct sim_client *client = &run->clients[0];

    for (int key = 0; key < run->plan.key_count && !run->broken; key++) {
        end = hf_time_add(run->now,
                          hf_time_since(patience_ends(run), run->plan.calm_at));
        sim_client_probe(run, client, key);
        while (!run->broken && !sim_client_is_done(client)) {
            struct hf_time at = next_moment(run);

            if (at.ns > end.ns)
                sim_broken(run,
                           "liveness: nobody wants %s, yet it cannot be "
                           "had",
                           sim_key_name(key));
            else
                step(run, at);
        }
        if (!run->broken && !client->first->granted)
            sim_broken(run,
                       "liveness: nobody wants %s, yet it was not "
                       "granted",
                       sim_key_name(key));
    }
}

static void finish(struct sim_run *run)
{
    run->counts.commits = hf_sim_world_commits(run->world);
    sim_control_clear(run);
    sim_admin_clear(run);
    sim_audit_clear(run);
    sim_clients_clear(run);
    while (hf_sim_world_committed(run->world))
        continue;
    hf_sim_world_free(run->world);
    sim_oracle_free(run->oracle);
    run->world = NULL;
    run->oracle = NULL;
}

bool sim_run_plan(const struct sim_wish *wish, struct sim_run *run)
{
    *run = (struct sim_run){.history = run->history, .verbose = run->verbose};
    sim_plan_draw(&run->plan, wish);
    begin(run);
    drive(run);
    if (!run->broken)
        probe(run);
    finish(run);
    return !run->broken;
}
