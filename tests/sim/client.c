/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/client.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/token.h"
#include "tests/sim/control.h"
#include "tests/sim/door.h"
#include "tests/sim/job.h"

/* More turns than this at one moment: it will never let time go by. */
enum { SPINS_MAX = 2000 };

static struct hf_sim_clock clock_of(const struct sim_run *run, int client)
{
    return run->plan.clocks[client];
}

static struct hf_time read_clock(const struct sim_run *run, int client)
{
    return hf_sim_clock_read(clock_of(run, client), run->now);
}

/* ---- the transport ---- */

static struct sim_transport *own(struct hf_transport *transport)
{
    return (struct sim_transport *)transport;
}

static void transport_submit(struct hf_transport *transport,
                             struct hf_request *request, struct hf_time now,
                             struct hf_wall wall)
{
    hf_service_submit(own(transport)->service, request, now, wall);
}

static void transport_cancel(struct hf_transport *transport,
                             struct hf_request *request, struct hf_time now,
                             struct hf_wall wall)
{
    if (!own(transport)->dead)
        hf_service_cancel(own(transport)->service, request, now, wall);
}

static struct hf_request *transport_next(struct hf_transport *transport,
                                         struct hf_time now,
                                         struct hf_wall wall)
{
    return hf_service_next(own(transport)->service, now, wall);
}

static int transport_fd(struct hf_transport *transport)
{
    return hf_service_fd(own(transport)->service);
}

static struct hf_time transport_wake_at(struct hf_transport *transport)
{
    return hf_service_wake_at(own(transport)->service);
}

static void transport_close(struct hf_transport *transport)
{
    hf_service_close(own(transport)->service);
}

static const struct hf_transport_ops transport_ops = {
    .submit = transport_submit,
    .cancel = transport_cancel,
    .next = transport_next,
    .fd = transport_fd,
    .wake_at = transport_wake_at,
    .close = transport_close};

/* ---- a process ---- */

const char *sim_process_name(const struct sim_process *process)
{
    static char names[8][24];
    static unsigned at;
    char *name = names[at++ % 8];

    snprintf(name, sizeof(names[0]), "c%d.%" PRIu32, process->client + 1,
             process->serial);
    return name;
}

struct sim_process *sim_process_find(const struct sim_run *run, uint32_t serial)
{
    for (int i = 0; i < run->plan.client_count; i++) {
        struct sim_process *process = run->clients[i].first;

        while (process && process->serial != serial)
            process = process->older;
        if (process)
            return process;
    }
    return NULL;
}

static void fill_options(struct sim_run *run, const struct sim_process *process,
                         struct hf_session_options *options)
{
    *options =
        (struct hf_session_options){.ttl_ms = run->plan.ttl_ms, .grace = {-1}};
    memcpy(options->class_name, run->class.name, sizeof(run->class.name));
    snprintf(options->holder.host, sizeof(options->holder.host), "h%d",
             process->client + 1);
    snprintf(options->holder.program, sizeof(options->holder.program), "job");
    options->holder.pid = process->serial;
    for (size_t i = 0; i < sizeof(options->random); i++)
        options->random[i] = (uint8_t)hf_sim_random_next(&run->random);
    if (!sim_is_calm(run) && sim_random_chance(run, run->plan.keep_chance))
        options->hold_min = sim_random_span(run, run->plan.keep_max);
    if (options->hold_min.ns && options->hold_min.ns < 1000000000)
        options->hold_min.ns = 1000000000;
}

static void plan_process(struct sim_run *run, struct sim_process *process)
{
    struct hf_span life = {run->plan.wait_max.ns / 2 + run->plan.hold_max.ns};

    process->key =
        (int)hf_sim_random_below(&run->random, (uint64_t)run->plan.key_count);
    process->mode = sim_random_chance(run, run->plan.shared_chance)
                        ? HF_SHARED
                        : HF_EXCLUSIVE;
    process->job_ends = HF_TIME_NEVER;
    process->next_write = HF_TIME_NEVER;
    process->abandons = HF_TIME_NEVER;
    process->crashes = HF_TIME_NEVER;
    process->deadline = HF_TIME_NEVER;
    process->asks_at_most = SIM_DOOR_OPEN;
    if (sim_is_calm(run))
        return;
    if (sim_random_chance(run, run->plan.door_chance))
        process->asks_at_most =
            1 + (uint32_t)hf_sim_random_below(&run->random, 15);
    if (sim_random_chance(run, run->plan.cancel_chance))
        process->abandons =
            hf_time_add(run->now, sim_random_span(run, run->plan.wait_max));
    if (sim_random_chance(run, run->plan.crash_chance)) {
        process->crashes = hf_time_add(run->now, sim_random_span(run, life));
        process->crashes_alone = sim_random_chance(run, 20000);
    }
    process->has_cgroup = sim_random_chance(run, 32768);
}

static void process_start(struct sim_run *run, struct sim_client *client)
{
    struct sim_process *process = calloc(1, sizeof(*process));
    struct hf_session_options options;
    struct hf_store *store = hf_sim_open(run->world);

    hf_assert(process && store);
    hf_sim_set_clock(store, clock_of(run, client->index));
    process->serial = ++run->processes;
    process->store_process = hf_sim_process(store);
    process->client = client->index;
    process->transport.transport.ops = &transport_ops;
    process->store = store;
    plan_process(run, process);
    process->door = sim_door_new(run, store, sim_process_name(process),
                                 process->asks_at_most);
    process->transport.service =
        hf_service_new(process->door, &run->classes, &run->core);
    hf_assert(process->transport.service);
    fill_options(run, process, &options);
    process->session = hf_session_new(&process->transport.transport, &options);
    hf_assert(process->session);
    process->older = client->first;
    client->first = process;
    client->process = process;
    run->counts.processes++;
    sim_say(run, "%s starts", sim_process_name(process));
}

static void process_end(struct sim_run *run, struct sim_client *client)
{
    struct sim_process *process = client->process;

    hf_session_free(process->session, read_clock(run, client->index),
                    sim_wall(run));
    process->session = NULL;
    transport_close(&process->transport.transport);
    client->process = NULL;
    client->starts = HF_TIME_NEVER;
    if (client->rounds_left > 0 && !sim_is_calm(run)) {
        client->rounds_left--;
        client->starts =
            hf_time_add(run->now, sim_random_span(run, run->plan.idle_max));
    }
}

static void process_over(struct sim_run *run, struct sim_client *client)
{
    client->process->over = true;
    process_end(run, client);
}

static void process_crash(struct sim_run *run, struct sim_client *client)
{
    struct sim_process *process = client->process;
    bool alone = process->crashes_alone && process->job_runs;

    run->counts.crashes++;
    sim_say(run, "%s dies%s", sim_process_name(process),
            alone ? ", its job lives on" : "");
    process->crashed = true;
    process->transport.dead = true;
    if (!alone)
        process->job_runs = false;
    hf_sim_kill(process->store, !alone);
    process_end(run, client);
}

/* ---- what the session says ---- */

static void want_key(struct sim_run *run, struct sim_process *process,
                     struct hf_time now)
{
    struct hf_session_want want = {.mode = process->mode};
    const struct sim_plan *plan = &run->plan;
    uint64_t kind = hf_sim_random_below(&run->random, 8);

    snprintf(want.key, sizeof(want.key), "%s", sim_key_name(process->key));
    if (process->is_probe)
        want.wait_ms = 4 * (plan->ttl_ms + (plan->store.faults.late_max.ns +
                                            plan->store.faults.expiry_max.ns) /
                                               1000000) +
                       60000;
    else if (kind > 0)
        want.wait_ms = sim_random_span(run, run->plan.wait_max).ns / 1000000;
    sim_say(run, "%s acquire %s %s wait %" PRId64 " ms",
            sim_process_name(process), want.key, hf_mode_names[want.mode],
            want.wait_ms);
    process->acquired = true;
    hf_session_acquire(process->session, &want, now, sim_wall(run));
}

static void give_back(struct sim_run *run, struct sim_process *process,
                      struct hf_time now)
{
    sim_job_stop(run, process);
    process->releasing = true;
    sim_say(run, "%s release", sim_process_name(process));
    if (hf_session_job(process->session, HF_PHASE_GONE, NULL, now,
                       sim_wall(run)))
        sim_say(run, "%s could not tell that its job is gone",
                sim_process_name(process));
    hf_session_release(process->session, now, sim_wall(run));
}

static void note_deadline(struct sim_run *run, struct sim_process *process)
{
    const struct hf_deadline *deadline = hf_session_deadline(process->session);

    process->sent_at = deadline->sent_at;
    process->deadline = hf_sim_clock_when(clock_of(run, process->client),
                                          hf_deadline_kill_at(deadline));
}

static void was_granted(struct sim_run *run, struct sim_process *process,
                        struct hf_time now)
{
    const struct hf_request *request = hf_session_busy(process->session);

    process->granted = true;
    process->token = hf_session_token(process->session);
    /* With a floor under it, the last request was the one that put that. */
    memcpy(process->grant,
           request->hold_count ? request->holds[0].grant : request->grant,
           sizeof(process->grant));
    snprintf(process->session_id, sizeof(process->session_id), "%s",
             hf_session_id(process->session));
    note_deadline(run, process);
    run->counts.grants++;
    if (request->waited)
        run->counts.grants_after_wait++;
    sim_say(run, "%s granted %s token %" PRIu32 ":%" PRIu64 " until %.6f",
            sim_process_name(process), sim_key_name(process->key),
            hf_token_epoch(process->token), hf_token_revision(process->token),
            (double)process->deadline.ns / 1e9);
    sim_oracle_granted(run, process);
    sim_control_granted(run);
    process->job_ends =
        hf_time_add(run->now, sim_random_span(run, run->plan.hold_max));
    if (hf_session_job(process->session, HF_PHASE_STARTED,
                       process->has_cgroup ? "/cgroup" : NULL, now,
                       sim_wall(run))) {
        sim_say(run, "%s starts no job: the store took no note of it",
                sim_process_name(process));
        return;
    }
    sim_job_start(run, process);
}

static void was_renewed(struct sim_run *run, struct sim_process *process)
{
    if (!process->granted || process->releasing || !process->session ||
        hf_session_is_lost(process->session) ||
        hf_session_deadline(process->session)->sent_at.ns ==
            process->sent_at.ns)
        return;
    note_deadline(run, process);
    run->counts.renewals++;
    sim_say(run, "%s renewed until %.6f", sim_process_name(process),
            (double)process->deadline.ns / 1e9);
    sim_oracle_renewed(run, process);
}

static void must_end(struct sim_run *run, struct sim_process *process)
{
    const struct hf_deadline *deadline = hf_session_deadline(process->session);
    struct hf_span soon = {deadline->grace.ns + deadline->grace.ns / 4};

    sim_say(run, "%s asks its job to end", sim_process_name(process));
    process->job_ends = hf_time_min(
        process->job_ends, hf_time_add(run->now, sim_random_span(run, soon)));
}

static void must_die(struct sim_run *run, struct sim_process *process,
                     struct hf_time now)
{
    run->counts.kills++;
    sim_say(run, "%s kills its job: %s", sim_process_name(process),
            hf_session_error(process->session)->text);
    give_back(run, process, now);
}

static void is_over(struct sim_run *run, struct sim_client *client,
                    enum hf_news news)
{
    struct sim_process *process = client->process;

    switch (news) {
    case HF_NEWS_BUSY:
        run->counts.busy++;
        sim_say(run, "%s busy", sim_process_name(process));
        break;
    case HF_NEWS_FAILED:
        run->counts.failed++;
        sim_say(run, "%s failed: %s", sim_process_name(process),
                hf_session_error(process->session)->text);
        break;
    case HF_NEWS_RELEASED:
        sim_say(run, "%s released%s", sim_process_name(process),
                hf_session_error(process->session)->code ? ", perhaps" : "");
        if (!hf_session_error(process->session)->code)
            sim_oracle_released(run, process);
        break;
    default:
        sim_say(run, "%s has left", sim_process_name(process));
        break;
    }
    process_over(run, client);
}

static void hear(struct sim_run *run, struct sim_client *client,
                 enum hf_news news, struct hf_time now)
{
    struct sim_process *process = client->process;

    switch (news) {
    case HF_NEWS_NONE:
        break;
    case HF_NEWS_READY:
        want_key(run, process, now);
        break;
    case HF_NEWS_GRANTED:
        was_granted(run, process, now);
        break;
    case HF_NEWS_PLACE_LOST:
        run->counts.places_lost++;
        process->rejoined = true;
        sim_say(run, "%s lost its place", sim_process_name(process));
        break;
    case HF_NEWS_DOUBT:
        run->counts.doubts++;
        sim_say(run, "%s in doubt: %s", sim_process_name(process),
                hf_session_error(process->session)->text);
        break;
    case HF_NEWS_RENEWED:
        sim_say(run, "%s is sure again", sim_process_name(process));
        break;
    case HF_NEWS_TERM:
        must_end(run, process);
        break;
    case HF_NEWS_KILL:
        must_die(run, process, now);
        break;
    case HF_NEWS_BUSY:
    case HF_NEWS_RELEASED:
    case HF_NEWS_ENDED:
    case HF_NEWS_FAILED:
        is_over(run, client, news);
        break;
    }
}

/* ---- turns ---- */

bool sim_process_is_paused(const struct sim_run *run,
                           const struct sim_process *process)
{
    const struct sim_client *client = &run->clients[process->client];

    return client->process == process && client->paused_until.ns > 0;
}

static void own_timers(struct sim_run *run, struct sim_client *client,
                       struct hf_time now)
{
    struct sim_process *process = client->process;

    if (hf_time_reached(process->crashes, run->now) ||
        sim_door_is_closed(process->door)) {
        process_crash(run, client);
        return;
    }
    if (!process->granted && hf_time_reached(process->abandons, run->now)) {
        process->abandons = HF_TIME_NEVER;
        process->abandoned = true;
        run->counts.cancels++;
        sim_say(run, "%s gives up", sim_process_name(process));
        hf_session_abandon(process->session, now, sim_wall(run));
    }
    if (process->granted && !process->releasing &&
        hf_time_reached(process->job_ends, run->now)) {
        process->job_ends = HF_TIME_NEVER;
        give_back(run, process, now);
    }
}

static void watch_spin(struct sim_run *run, struct sim_client *client)
{
    if (client->spun_at.ns != run->now.ns) {
        client->spun_at = run->now;
        client->spins = 0;
    }
    if (++client->spins > SPINS_MAX)
        sim_broken(run, "liveness: c%d wants turn after turn at one moment",
                   client->index + 1);
}

/* A running job whose lockrun is awake must not outlive its deadline. */
static void judge_deadline(struct sim_run *run,
                           const struct sim_process *process)
{
    if (process->job_runs && process->session &&
        run->now.ns > process->deadline.ns)
        sim_broken(
            run, "deadline: the job of %s works on after its deadline %.6f",
            sim_process_name(process), (double)process->deadline.ns / 1e9);
}

static void process_turn(struct sim_run *run, struct sim_client *client)
{
    struct sim_process *process = client->process;
    struct hf_time now = read_clock(run, client->index);
    enum hf_news news;

    while (client->process == process && !run->broken &&
           (news = hf_session_next(process->session, now, sim_wall(run)))) {
        sim_oracle_drain(run);
        was_renewed(run, process);
        hear(run, client, news, now);
        sim_oracle_drain(run);
    }
    sim_oracle_drain(run);
    if (client->process == process && !run->broken) {
        was_renewed(run, process);
        own_timers(run, client, now);
        sim_oracle_drain(run);
    }
    judge_deadline(run, process);
}

/* Who waits sleeps more: what it wakes to may be long out of date. */
static uint32_t pause_chance(const struct sim_run *run,
                             const struct sim_process *process)
{
    return process->granted ? run->plan.pause_chance
                            : 4 * run->plan.pause_chance;
}

void sim_client_turn(struct sim_run *run, struct sim_client *client)
{
    watch_spin(run, client);
    if (client->paused_until.ns > 0) {
        if (!hf_time_reached(client->paused_until, run->now)) {
            sim_jobs_turn(run, client);
            return;
        }
        client->paused_until.ns = 0;
        sim_say(run, "c%d goes on", client->index + 1);
    }
    if (!client->process && hf_time_reached(client->starts, run->now)) {
        client->starts = HF_TIME_NEVER;
        process_start(run, client);
    }
    if (client->process)
        process_turn(run, client);
    if (client->process && !sim_is_calm(run) &&
        sim_random_chance(run, pause_chance(run, client->process)))
        sim_client_pause(run, client);
    sim_jobs_turn(run, client);
}

struct hf_time sim_client_wake_at(const struct sim_run *run,
                                  const struct sim_client *client)
{
    const struct sim_process *process = client->process;
    struct hf_time at = sim_jobs_wake_at(client);

    if (client->paused_until.ns > 0)
        return hf_time_min(at, client->paused_until);
    if (!process)
        return hf_time_min(at, client->starts);
    at = hf_time_min(at, process->crashes);
    if (!process->granted)
        at = hf_time_min(at, process->abandons);
    else if (!process->releasing)
        at = hf_time_min(at, process->job_ends);
    return hf_time_min(at,
                       hf_sim_clock_when(clock_of(run, client->index),
                                         hf_session_wake_at(process->session)));
}

void sim_client_probe(struct sim_run *run, struct sim_client *client, int key)
{
    process_start(run, client);
    client->process->is_probe = true;
    client->process->key = key;
    client->process->mode = HF_EXCLUSIVE;
    sim_client_turn(run, client);
}

void sim_client_pause(struct sim_run *run, struct sim_client *client)
{
    if (client->paused_until.ns > 0 || sim_client_is_done(client))
        return;
    client->paused_until =
        hf_time_add(run->now, sim_random_span(run, run->plan.pause_max));
    client->job_paused = !sim_random_chance(run, 16384);
    run->counts.pauses++;
    sim_say(run, "c%d is stopped%s until %.6f", client->index + 1,
            client->job_paused ? "" : ", its job is not",
            (double)client->paused_until.ns / 1e9);
}

bool sim_client_is_done(const struct sim_client *client)
{
    return !client->process && client->starts.ns == INT64_MAX;
}

void sim_clients_init(struct sim_run *run)
{
    run->clients =
        calloc((size_t)run->plan.client_count, sizeof(*run->clients));
    hf_assert(run->clients);
    for (int i = 0; i < run->plan.client_count; i++) {
        run->clients[i] = (struct sim_client){
            .index = i, .rounds_left = run->plan.rounds - 1};
        run->clients[i].starts = hf_time_add(
            (struct hf_time){0}, sim_random_span(run, run->plan.idle_max));
    }
}

void sim_clients_clear(struct sim_run *run)
{
    for (int i = 0; run->clients && i < run->plan.client_count; i++) {
        struct sim_client *client = &run->clients[i];

        if (client->process) {
            client->process->transport.dead = true;
            hf_sim_kill(client->process->store, true);
            process_end(run, client);
        }
        while (client->first) {
            struct sim_process *process = client->first;

            client->first = process->older;
            free(process);
        }
    }
    free(run->clients);
    run->clients = NULL;
}
