/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "service/service.h"
#include "tests/sim/control.h"
#include "tests/sim/door.h"

#define LOOKS_EVERY hf_span_ms(5000)

enum admin_state { IDLE, SHOWING, ADVANCING };

struct sim_admin {
    struct hf_service *service;
    struct hf_request request;
    enum admin_state state;
    struct hf_time looks_at; /* when it next looks whether it is needed */
    struct hf_time tries_at; /* not before, after a failure */
    struct hf_time planned[2];
    int planned_count;
    bool wanted;
    bool hasty;     /* the present advance waits for nobody */
    bool was_hasty; /* one that did not may still land */
};

static struct hf_time clock_now(const struct sim_run *run)
{
    return hf_sim_clock_read(run->plan.clocks[SIM_CLIENTS_MAX], run->now);
}

void sim_admin_init(struct sim_run *run)
{
    struct sim_admin *admin = calloc(1, sizeof(*admin));
    struct hf_store *store = hf_sim_open(run->world);

    hf_assert(admin && store);
    hf_sim_set_clock(store, run->plan.clocks[SIM_CLIENTS_MAX]);
    admin->service =
        hf_service_new(sim_door_new(run, store, "admin", SIM_DOOR_OPEN),
                       &run->classes, &run->core);
    hf_assert(admin->service);
    admin->looks_at = hf_time_add(run->now, LOOKS_EVERY);
    admin->planned_count = run->plan.advances;
    for (int i = 0; i < admin->planned_count; i++) {
        struct hf_span whole = {run->plan.calm_at.ns};

        admin->planned[i] = hf_time_add(run->now, sim_random_span(run, whole));
    }
    run->admin = admin;
}

void sim_admin_clear(struct sim_run *run)
{
    if (!run->admin)
        return;
    hf_service_close(run->admin->service);
    hf_request_clear(&run->admin->request);
    free(run->admin);
    run->admin = NULL;
}

bool sim_admin_is_hasty(const struct sim_run *run)
{
    return run->admin && run->admin->was_hasty;
}

/* Only a store of this machine mends its seal by itself, and not one that an
 * advance put there. */
static bool is_needed(const struct sim_run *run)
{
    if (run->plan.kind == SIM_SERVER)
        return sim_oracle_is_sealed(run);
    return sim_oracle_is_advancing(run);
}

bool sim_admin_is_done(const struct sim_run *run)
{
    return run->admin->state == IDLE && !run->admin->wanted && !is_needed(run);
}

struct hf_time sim_admin_wake_at(const struct sim_run *run)
{
    const struct sim_admin *admin = run->admin;
    struct hf_time at = admin->looks_at;

    if (admin->wanted && admin->state == IDLE)
        at = hf_time_min(at, admin->tries_at);
    for (int i = 0; i < admin->planned_count; i++)
        at = hf_time_min(at, admin->planned[i]);
    return hf_time_min(at,
                       hf_sim_clock_when(run->plan.clocks[SIM_CLIENTS_MAX],
                                         hf_service_wake_at(admin->service)));
}

static void ask(struct sim_run *run, enum hf_request_kind kind)
{
    struct sim_admin *admin = run->admin;
    uint64_t seen = admin->request.epoch.revision;

    hf_request_clear(&admin->request);
    admin->request = (struct hf_request){.kind = kind, .state_fd = -1};
    if (kind == HF_REQUEST_EPOCH_ADVANCE) {
        admin->request.epoch.revision = seen;
        admin->request.now = admin->hasty;
        snprintf(admin->request.epoch.by, sizeof(admin->request.epoch.by),
                 "admin");
    }
    hf_service_submit(admin->service, &admin->request, clock_now(run),
                      sim_wall(run));
}

static void try_again(struct sim_run *run, const char *what)
{
    struct sim_admin *admin = run->admin;

    sim_say(run, "admin %s: %s", what, admin->request.error.text);
    admin->state = IDLE;
    admin->tries_at = hf_time_add(hf_time_add(run->now, hf_span_ms(1000)),
                                  sim_random_span(run, hf_span_ms(9000)));
}

static void was_shown(struct sim_run *run)
{
    struct sim_admin *admin = run->admin;

    if (admin->request.answer != HF_ANSWER_DONE) {
        try_again(run, "cannot see the epoch");
        return;
    }
    if (!admin->request.epoch.exists) {
        sim_say(run, "admin sees no epoch to advance");
        admin->state = IDLE;
        admin->wanted = false;
        return;
    }
    admin->hasty = sim_random_chance(run, 16384);
    admin->was_hasty |= admin->hasty;
    sim_say(run, "admin advances epoch %" PRIu32 "%s",
            admin->request.epoch.epoch,
            admin->hasty ? " and waits for nobody" : "");
    admin->state = ADVANCING;
    ask(run, HF_REQUEST_EPOCH_ADVANCE);
}

static void was_advanced(struct sim_run *run)
{
    struct sim_admin *admin = run->admin;

    if (admin->request.answer != HF_ANSWER_DONE) {
        try_again(run, "could not advance");
        return;
    }
    run->counts.advances++;
    sim_say(run, "admin has advanced the epoch to %" PRIu32,
            admin->request.epoch.epoch);
    admin->state = IDLE;
    admin->wanted = false;
    admin->was_hasty = false;
}

static void look(struct sim_run *run)
{
    struct sim_admin *admin = run->admin;
    for (int i = 0; i < admin->planned_count; i++) {
        if (!hf_time_reached(admin->planned[i], run->now))
            continue;
        admin->planned[i] = HF_TIME_NEVER;
        admin->wanted = true;
    }
    if (hf_time_reached(admin->looks_at, run->now)) {
        admin->looks_at = hf_time_add(run->now, LOOKS_EVERY);
        admin->wanted |= is_needed(run);
    }
    if (!admin->wanted || admin->state != IDLE ||
        !hf_time_reached(admin->tries_at, run->now))
        return;
    admin->state = SHOWING;
    ask(run, HF_REQUEST_EPOCH_SHOW);
}

void sim_admin_turn(struct sim_run *run)
{
    struct sim_admin *admin = run->admin;
    struct hf_time now = clock_now(run);
    struct hf_request *answered;

    while (!run->broken &&
           (answered = hf_service_next(admin->service, now, sim_wall(run)))) {
        sim_oracle_drain(run);
        if (admin->state == SHOWING)
            was_shown(run);
        else
            was_advanced(run);
        sim_oracle_drain(run);
    }
    sim_oracle_drain(run);
    look(run);
    sim_oracle_drain(run);
}
