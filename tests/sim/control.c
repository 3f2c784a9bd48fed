/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/control.h"

#include <stdlib.h>

#include "tests/sim/audit.h"
#include "tests/sim/client.h"

enum { RESTORES_MAX = 3 };

static const char *const restore_names[] = {
    [HF_SIM_RESTORE_RISING] = "an older copy",
    [HF_SIM_RESTORE_EPOCH] = "an older copy that cannot vouch for revisions",
    [HF_SIM_RESTORE_NEW_ID] = "another store's file",
    [HF_SIM_RESTORE_NEW_LIFE] = "a copy under a new name"};

struct restore {
    struct hf_time take_at; /* NEVER once taken */
    struct hf_time put_at;  /* NEVER once put */
    enum hf_sim_restore how;
    bool follows_a_grant; /* it is put back soon after the next one */
    struct hf_sim_snapshot *snapshot;
    struct sim_oracle_copy *copy;
};

struct sim_control {
    struct hf_time pause_at;
    struct hf_time space_at; /* the store is full from here, or no more */
    bool full;
    struct restore restores[RESTORES_MAX];
    int restore_count;
    bool calm;
};

static struct hf_time at_random(struct sim_run *run)
{
    struct hf_span whole = {run->plan.calm_at.ns};

    return hf_time_add((struct hf_time){0}, sim_random_span(run, whole));
}

static enum hf_sim_restore draw_how(struct sim_run *run)
{
    if (run->plan.kind == SIM_SERVER)
        return HF_SIM_RESTORE_NEW_LIFE;
    if (sim_random_chance(run, 32768))
        return HF_SIM_RESTORE_EPOCH;
    return sim_random_chance(run, 32768) ? HF_SIM_RESTORE_RISING
                                         : HF_SIM_RESTORE_NEW_ID;
}

static void plan_restore(struct sim_run *run, struct restore *restore)
{
    struct hf_time a = at_random(run);
    struct hf_time b = at_random(run);

    *restore =
        (struct restore){.take_at = hf_time_min(a, b),
                         .put_at = a.ns > b.ns ? a : b,
                         .how = draw_how(run),
                         .follows_a_grant = sim_random_chance(run, 32768)};
}

void sim_control_granted(struct sim_run *run)
{
    struct hf_span soon = hf_span_ms(run->plan.ttl_ms / 3);

    for (int i = 0; i < run->control->restore_count; i++) {
        struct restore *restore = &run->control->restores[i];

        if (!restore->snapshot || !restore->follows_a_grant)
            continue;
        restore->follows_a_grant = false;
        restore->put_at = hf_time_min(
            restore->put_at, hf_time_add(run->now, sim_random_span(run, soon)));
    }
}

static struct hf_time next_pause(struct sim_run *run)
{
    struct hf_span twice = {2 * run->plan.pause_every.ns};

    if (!twice.ns)
        return HF_TIME_NEVER;
    return hf_time_add(run->now, sim_random_span(run, twice));
}

void sim_control_init(struct sim_run *run)
{
    struct sim_control *control = calloc(1, sizeof(*control));

    hf_assert(control);
    run->control = control;
    control->pause_at = next_pause(run);
    control->space_at = HF_TIME_NEVER;
    if (sim_plan_has(&run->plan, SIM_FAULT_SPACE))
        control->space_at = at_random(run);
    control->restore_count = run->plan.restores;
    for (int i = 0; i < control->restore_count; i++)
        plan_restore(run, &control->restores[i]);
}

static void restore_clear(struct restore *restore)
{
    hf_sim_snapshot_free(restore->snapshot);
    sim_oracle_copy_free(restore->copy);
    restore->snapshot = NULL;
    restore->copy = NULL;
}

void sim_control_clear(struct sim_run *run)
{
    for (int i = 0; run->control && i < run->control->restore_count; i++)
        restore_clear(&run->control->restores[i]);
    free(run->control);
    run->control = NULL;
}

struct hf_time sim_control_wake_at(const struct sim_run *run)
{
    const struct sim_control *control = run->control;
    struct hf_time at = run->plan.calm_at;

    if (control->calm)
        return HF_TIME_NEVER;
    at = hf_time_min(at, control->pause_at);
    at = hf_time_min(at, control->space_at);
    for (int i = 0; i < control->restore_count; i++) {
        at = hf_time_min(at, control->restores[i].take_at);
        at = hf_time_min(at, control->restores[i].put_at);
    }
    return at;
}

static void pause_somebody(struct sim_run *run)
{
    uint64_t whom =
        hf_sim_random_below(&run->random, (uint64_t)run->plan.client_count);

    sim_client_pause(run, &run->clients[whom]);
    run->control->pause_at = next_pause(run);
}

static void turn_space(struct sim_run *run)
{
    struct sim_control *control = run->control;
    struct hf_sim_faults faults = run->plan.store.faults;
    struct hf_span third = {run->plan.calm_at.ns / 3};

    control->full = !control->full;
    faults.no_space = control->full;
    hf_sim_world_faults(run->world, &faults);
    sim_say(run, control->full ? "the store is full" : "the store has room");
    control->space_at = control->full
                            ? hf_time_add(run->now, sim_random_span(run, third))
                            : HF_TIME_NEVER;
}

/*
 * A cluster's operator chooses the epoch behind the copy's. With a copy from
 * before an earlier advance he would choose one that was in use before: there
 * only witnesses outside of the cluster help, and they are not built yet.
 */
static bool is_fair(const struct sim_run *run, const struct restore *restore)
{
    return restore->how != HF_SIM_RESTORE_NEW_LIFE ||
           sim_oracle_copy_epoch(restore->copy) == sim_oracle_epoch_top(run);
}

static void turn_restore(struct sim_run *run, struct restore *restore)
{
    if (hf_time_reached(restore->take_at, run->now)) {
        restore->take_at = HF_TIME_NEVER;
        restore->snapshot = hf_sim_snapshot_take(run->world);
        restore->copy = sim_oracle_copy_take(run);
        sim_say(run, "a copy of the store is kept");
    }
    if (!hf_time_reached(restore->put_at, run->now))
        return;
    restore->put_at = HF_TIME_NEVER;
    if (!is_fair(run, restore)) {
        restore_clear(restore);
        return;
    }
    sim_say(run, "%s is put back", restore_names[restore->how]);
    hf_sim_snapshot_restore(run->world, restore->snapshot, restore->how);
    sim_oracle_copy_restore(run, restore->copy);
    sim_audit_restored(run);
    run->counts.restores++;
    restore_clear(restore);
}

static void become_calm(struct sim_run *run)
{
    struct hf_span quick = {run->plan.answer_limit.ns / 4};
    struct hf_sim_faults calm = {.delay_max = run->plan.store.faults.delay_max};

    if (calm.delay_max.ns > quick.ns)
        calm.delay_max = quick; /* or all would count as unknown for ever */
    run->control->calm = true;
    hf_sim_world_faults(run->world, &calm);
    sim_say(run, "from here on all is calm");
    for (int i = 0; i < run->plan.client_count; i++) {
        if (run->clients[i].paused_until.ns > 0)
            run->clients[i].paused_until = run->now;
    }
}

void sim_control_turn(struct sim_run *run)
{
    struct sim_control *control = run->control;

    if (control->calm)
        return;
    for (int i = 0; i < control->restore_count; i++)
        turn_restore(run, &control->restores[i]);
    if (hf_time_reached(control->pause_at, run->now))
        pause_somebody(run);
    if (hf_time_reached(control->space_at, run->now))
        turn_space(run);
    if (sim_is_calm(run))
        become_calm(run);
}
