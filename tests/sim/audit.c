/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "service/service.h"
#include "tests/sim/door.h"

/* What the oracle saw. */
struct truth {
    uint64_t revision;
    enum hf_notice_kind kind;
    int key;
    uint8_t grant[HF_GRANT_ID_SIZE];
    bool told;
};

struct sim_audit {
    struct hf_service *service;
    struct hf_request request;
    bool out;
    struct hf_time tries_at; /* when nothing is out */
    uint64_t after;
    struct truth *truths;
    size_t count;
    size_t room;
    size_t next; /* the first that is not told yet */
};

static const char *const kind_names[] = {[HF_NOTICE_QUEUED] = "queued",
                                         [HF_NOTICE_LEFT] = "left",
                                         [HF_NOTICE_WAIT_ENDED] = "wait ended",
                                         [HF_NOTICE_GRANTED] = "granted",
                                         [HF_NOTICE_HANDED_OVER] =
                                             "handed over",
                                         [HF_NOTICE_RELEASED] = "released",
                                         [HF_NOTICE_ENDED] = "ended",
                                         [HF_NOTICE_OUTDATED] = "outdated",
                                         [HF_NOTICE_KEPT] = "kept",
                                         [HF_NOTICE_FREED] = "freed"};

static struct hf_time clock_now(const struct sim_run *run)
{
    return hf_sim_clock_read(run->plan.clocks[SIM_CLIENTS_MAX], run->now);
}

void sim_audit_init(struct sim_run *run)
{
    struct sim_audit *audit = calloc(1, sizeof(*audit));
    struct hf_store *store = hf_sim_open(run->world);

    hf_assert(audit && store);
    hf_sim_set_clock(store, run->plan.clocks[SIM_CLIENTS_MAX]);
    audit->service =
        hf_service_new(sim_door_new(run, store, "audit", SIM_DOOR_OPEN),
                       &run->classes, &run->core);
    hf_assert(audit->service);
    audit->after = hf_sim_world_revision(run->world);
    run->audit = audit;
}

void sim_audit_clear(struct sim_run *run)
{
    if (!run->audit)
        return;
    hf_service_close(run->audit->service);
    hf_request_clear(&run->audit->request);
    free(run->audit->truths);
    free(run->audit);
    run->audit = NULL;
}

void sim_audit_expect(struct sim_run *run, uint64_t revision,
                      enum hf_notice_kind kind, int key,
                      const uint8_t grant[HF_GRANT_ID_SIZE])
{
    struct sim_audit *audit = run->audit;
    struct truth *truth;

    if (audit->count == audit->room) {
        audit->room = audit->room ? 2 * audit->room : 64;
        audit->truths =
            realloc(audit->truths, audit->room * sizeof(struct truth));
        hf_assert(audit->truths);
    }
    truth = &audit->truths[audit->count++];
    *truth = (struct truth){.revision = revision, .kind = kind, .key = key};
    memcpy(truth->grant, grant, sizeof(truth->grant));
}

struct hf_time sim_audit_wake_at(const struct sim_run *run)
{
    const struct sim_audit *audit = run->audit;

    if (!audit->out)
        return audit->tries_at;
    return hf_sim_clock_when(run->plan.clocks[SIM_CLIENTS_MAX],
                             hf_service_wake_at(audit->service));
}

/* Where the store itself loses changes nobody can be told all, nor what those
 * meant that were not lost. */
static bool must_be_whole(const struct sim_run *run)
{
    return run->plan.store.faults.watch_lost == 0;
}

bool sim_audit_is_done(const struct sim_run *run)
{
    return run->audit->next == run->audit->count || !must_be_whole(run);
}

static bool is_it(const struct truth *truth, const struct hf_notice *notice)
{
    return !truth->told && truth->kind == notice->kind &&
           truth->revision == notice->revision &&
           strcmp(sim_key_name(truth->key), notice->info.key) == 0 &&
           memcmp(truth->grant, notice->info.who.grant, sizeof(truth->grant)) ==
               0;
}

static void was_told(struct sim_run *run, const struct hf_notice *notice)
{
    struct sim_audit *audit = run->audit;
    size_t i = audit->next;

    while (i < audit->count && !is_it(&audit->truths[i], notice))
        i++;
    if (i == audit->count) {
        sim_broken(run,
                   "audit: \"%s\" of %s is told at @%" PRIu64
                   ", which did not happen so, or was told before",
                   kind_names[notice->kind], notice->info.key,
                   notice->revision);
        return;
    }
    audit->truths[i].told = true;
}

/* All up to `revision` must have been told by now. */
static void pass_to(struct sim_run *run, uint64_t revision)
{
    struct sim_audit *audit = run->audit;

    for (; audit->next < audit->count; audit->next++) {
        const struct truth *truth = &audit->truths[audit->next];

        if (truth->revision > revision)
            return;
        if (!truth->told && must_be_whole(run))
            sim_broken(run,
                       "audit: \"%s\" of %s at @%" PRIu64
                       " was never told, but all up to @%" PRIu64 " was",
                       kind_names[truth->kind], sim_key_name(truth->key),
                       truth->revision, revision);
    }
}

static void start_afresh(struct sim_run *run)
{
    struct sim_audit *audit = run->audit;

    audit->next = audit->count;
    audit->after = hf_sim_world_revision(run->world);
}

static void was_answered(struct sim_run *run)
{
    struct sim_audit *audit = run->audit;
    const struct hf_request *request = &audit->request;
    uint64_t last = audit->after;

    audit->out = false;
    audit->tries_at = run->now;
    if (request->answer != HF_ANSWER_DONE) {
        audit->tries_at = hf_time_add(run->now, hf_span_ms(1000));
        return;
    }
    if (request->missed) {
        run->counts.audits_missed++;
        start_afresh(run);
        return;
    }
    for (size_t i = 0; i < request->notice_count; i++) {
        const struct hf_notice *notice = &request->notices[i];

        if (notice->revision < last || notice->revision <= audit->after)
            sim_broken(run, "audit: @%" PRIu64 " is told after @%" PRIu64,
                       notice->revision, last);
        last = notice->revision;
        if (must_be_whole(run))
            was_told(run, notice);
        run->counts.audits++;
    }
    pass_to(run, request->revision);
    audit->after = request->revision;
}

static void ask(struct sim_run *run)
{
    struct sim_audit *audit = run->audit;

    hf_request_clear(&audit->request);
    audit->request = (struct hf_request){
        .kind = HF_REQUEST_WATCH, .after = audit->after, .state_fd = -1};
    audit->out = true;
    hf_service_submit(audit->service, &audit->request, clock_now(run),
                      sim_wall(run));
}

void sim_audit_turn(struct sim_run *run)
{
    struct sim_audit *audit = run->audit;
    struct hf_time now = clock_now(run);

    do {
        if (audit->out && hf_service_next(audit->service, now, sim_wall(run))) {
            sim_oracle_drain(run);
            was_answered(run);
        }
        if (audit->out || !hf_time_reached(audit->tries_at, run->now))
            return;
        ask(run);
    } while (!run->broken);
}

void sim_audit_restored(struct sim_run *run)
{
    struct sim_audit *audit = run->audit;

    if (audit->out)
        hf_service_cancel(audit->service, &audit->request, clock_now(run),
                          sim_wall(run));
    audit->out = false;
    audit->tries_at = run->now;
    start_afresh(run);
}
