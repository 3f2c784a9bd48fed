/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/oracle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/token.h"
#include "tests/sim/control.h"
#include "tests/sim/oracle_state.h"

static const char *const row_names[] = {"hold", "share", "wait", "floor"};

struct sim_oracle *sim_oracle_new(struct sim_run *run)
{
    struct sim_oracle *oracle = calloc(1, sizeof(*oracle));

    (void)run;
    hf_assert(oracle);
    oracle->sealed = true; /* no epoch record yet */
    return oracle;
}

void sim_oracle_free(struct sim_oracle *oracle)
{
    if (oracle)
        free(oracle->grants);
    free(oracle);
}

/* ---- rows ---- */

struct row *sim_row_find(struct state *state, enum row_kind kind, int key,
                         const uint8_t grant[HF_GRANT_ID_SIZE])
{
    for (size_t i = 0; i < state->row_count; i++) {
        struct row *row = &state->rows[i];

        if (row->kind == kind && row->key == key &&
            (!grant || memcmp(row->grant, grant, sizeof(row->grant)) == 0))
            return row;
    }
    return NULL;
}

/* The row that `like` is, or overwrites. */
static struct row *find_like(struct state *state, const struct row *like)
{
    return sim_row_find(state, like->kind, like->key,
                        sim_row_is_single(like) ? NULL : like->grant);
}

static void row_remove(struct state *state, struct row *row)
{
    *row = state->rows[--state->row_count];
}

static void row_add(struct state *state, const struct row *row)
{
    hf_assert(state->row_count < ROWS_MAX);
    state->rows[state->row_count++] = *row;
}

static struct session *session_find(struct state *state, const char *id)
{
    for (size_t i = 0; i < state->session_count; i++) {
        if (strcmp(state->sessions[i].id, id) == 0)
            return &state->sessions[i];
    }
    return NULL;
}

struct grant *sim_grant_find(struct sim_oracle *oracle,
                             const uint8_t id[HF_GRANT_ID_SIZE])
{
    for (size_t i = oracle->grant_count; i-- > 0;) {
        if (memcmp(oracle->grants[i].id, id, HF_GRANT_ID_SIZE) == 0)
            return &oracle->grants[i];
    }
    return NULL;
}

static struct grant *grant_add(struct sim_oracle *oracle, const struct row *row)
{
    struct grant *grant;

    if (oracle->grant_count == oracle->grant_room) {
        oracle->grant_room = oracle->grant_room ? 2 * oracle->grant_room : 64;
        oracle->grants =
            realloc(oracle->grants, oracle->grant_room * sizeof(struct grant));
        hf_assert(oracle->grants);
    }
    grant = &oracle->grants[oracle->grant_count++];
    *grant = (struct grant){
        .serial = row->serial, .key = row->key, .mode = row->mode};
    memcpy(grant->id, row->grant, sizeof(grant->id));
    return grant;
}

/* ---- the seal ---- */

void sim_oracle_seal_look(struct sim_run *run)
{
    struct sim_oracle *oracle = run->oracle;
    const struct epoch *epoch = &oracle->state.epoch;
    struct hf_store_identity identity = hf_sim_world_identity(run->world);
    bool sealed =
        !epoch->exists || epoch->sealed || epoch->epoch < identity.epoch_min ||
        memcmp(epoch->store_id, identity.id, sizeof(identity.id)) != 0;

    if (sealed && !oracle->sealed)
        oracle->sealed_since = run->now;
    if (sealed != oracle->sealed)
        sim_say(run, sealed ? "the store is sealed" : "the seal is lifted");
    oracle->sealed = sealed;
}

bool sim_oracle_is_sealed(const struct sim_run *run)
{
    return run->oracle->sealed;
}

bool sim_oracle_is_advancing(const struct sim_run *run)
{
    const struct epoch *epoch = &run->oracle->state.epoch;

    return epoch->exists && epoch->sealed;
}

uint32_t sim_oracle_epoch_top(const struct sim_run *run)
{
    return run->oracle->epoch_top;
}

/* ---- ends of holds ---- */

static void lease_ended(struct sim_run *run, const struct row *row)
{
    const struct sim_process *process = sim_process_find(run, row->serial);
    bool holds = process && process->granted && !process->releasing &&
                 memcmp(process->grant, row->grant, sizeof(row->grant)) == 0;

    if (!holds)
        return;
    run->counts.lapses++;
    if (process->excused || sim_plan_has(&run->plan, SIM_FAULT_EARLY) ||
        (process->crashed && !process->job_runs))
        return;
    if (run->now.ns < process->deadline.ns)
        sim_broken(run,
                   "deadline: the lease of %s on %s ends before its local "
                   "deadline %.6f",
                   sim_process_name(process), sim_key_name(row->key),
                   (double)process->deadline.ns / 1e9);
}

/* A hold went, not with its lease: was it its owner's wish? */
static void hold_ended(struct sim_run *run, const struct row *row,
                       bool handed_over)
{
    const struct sim_process *process = sim_process_find(run, row->serial);
    bool acknowledged =
        process && process->granted &&
        memcmp(process->grant, row->grant, sizeof(row->grant)) == 0;

    if (!process)
        return;
    if (acknowledged && process->releasing)
        return;
    if (!acknowledged && !handed_over &&
        (process->abandoned || process->rejoined || process->over ||
         process->crashed))
        return;
    sim_broken(run,
               "owner only: the %s of %s on %s was %s, but it gave it "
               "back to nobody",
               row_names[row->kind], sim_process_name(process),
               sim_key_name(row->key), handed_over ? "handed on" : "deleted");
}

static void end_row(struct sim_run *run, const struct change *change,
                    bool advanced, bool replaced)
{
    struct sim_oracle *oracle = run->oracle;
    struct row *row = find_like(&oracle->state, &change->row);
    struct grant *grant;

    hf_assert(row && row->changed == change->row.changed);
    if (sim_row_is_grant(row)) {
        if (change->by_lease)
            lease_ended(run, row);
        else if (!advanced)
            hold_ended(run, row, replaced);
        grant = sim_grant_find(oracle, row->grant);
        hf_assert(grant);
        grant->stands = false;
        grant->ended_at = run->now;
    }
    row_remove(&oracle->state, row);
}

/* ---- grants ---- */

/* May it stand beside what stands? */
static void judge_overlap(struct sim_run *run, const struct row *row)
{
    const struct state *state = &run->oracle->state;

    for (size_t i = 0; i < state->row_count; i++) {
        const struct row *other = &state->rows[i];

        if (other->key != row->key || other->kind == ROW_WAIT ||
            (other->kind == ROW_SHARE && row->kind == ROW_SHARE))
            continue;
        sim_broken(run,
                   "exclusion: a %s on %s is granted to process %" PRIu32
                   " while process %" PRIu32 " has a %s there",
                   row_names[row->kind], sim_key_name(row->key), row->serial,
                   other->serial, row_names[other->kind]);
    }
}

/* Nobody who waited longer, and whom it must not pass, still waits. */
static void judge_queue(struct sim_run *run, const struct row *row,
                        uint64_t queued)
{
    const struct state *state = &run->oracle->state;

    for (size_t i = 0; i < state->row_count; i++) {
        const struct row *other = &state->rows[i];

        if (other->kind != ROW_WAIT || other->key != row->key ||
            other->created >= queued || other->restored ||
            (row->kind == ROW_SHARE && other->mode == HF_SHARED))
            continue;
        sim_broken(run,
                   "queue: %s is granted to process %" PRIu32
                   " though process %" PRIu32 " has waited longer",
                   sim_key_name(row->key), row->serial, other->serial);
    }
}

static void judge_token(struct sim_run *run, const struct row *row)
{
    struct sim_oracle *oracle = run->oracle;
    uint64_t *top = &oracle->token_top[row->key];
    uint64_t *share_top = &oracle->share_top[row->key];
    uint64_t token = 0;

    if (!hf_token_make(oracle->state.epoch.epoch, row->changed, &token)) {
        sim_broken(run, "tokens: no token can be made of %" PRIu32 ":%" PRIu64,
                   oracle->state.epoch.epoch, row->changed);
        return;
    }
    /* Shared holds of one transaction have one token. */
    if (token < *top ||
        (token == *top && !(row->kind == ROW_SHARE && *share_top == token)))
        sim_broken(run,
                   "tokens: %s goes to process %" PRIu32 " under %" PRIu32
                   ":%" PRIu64 ", but %" PRIu32 ":%" PRIu64
                   " was granted before",
                   sim_key_name(row->key), row->serial, hf_token_epoch(token),
                   hf_token_revision(token), hf_token_epoch(*top),
                   hf_token_revision(*top));
    *top = token;
    if (row->kind == ROW_SHARE)
        *share_top = token;
}

static void note_grant(struct sim_run *run, const struct row *row)
{
    struct sim_oracle *oracle = run->oracle;
    struct grant *grant = sim_grant_find(oracle, row->grant);

    if (!grant)
        grant = grant_add(oracle, row);
    if (grant->puts++)
        sim_broken(run,
                   "once: the grant of process %" PRIu32
                   " on %s is put a second time",
                   row->serial, sim_key_name(row->key));
    grant->stands = true;
    grant->put_at = run->now;
    grant->life = oracle->life;
    (void)hf_token_make(oracle->state.epoch.epoch, row->changed, &grant->token);
}

static void judge_grant(struct sim_run *run, const struct row *row,
                        uint64_t queued)
{
    const struct sim_process *process = sim_process_find(run, row->serial);

    if (run->oracle->sealed)
        sim_broken(run,
                   "seal: %s is granted to process %" PRIu32
                   " though the store is sealed",
                   sim_key_name(row->key), row->serial);
    if (!process || !process->acquired || process->key != row->key ||
        (int)process->mode != row->mode)
        sim_broken(run,
                   "owner only: %s is granted to process %" PRIu32
                   ", which did not ask for it so",
                   sim_key_name(row->key), row->serial);
    judge_overlap(run, row);
    judge_queue(run, row, queued);
    judge_token(run, row);
    note_grant(run, row);
}

/* ---- one revision ---- */

static struct change *find_put(struct sim_oracle *oracle, enum change_kind kind)
{
    for (size_t i = 0; i < oracle->batch_count; i++) {
        struct change *change = &oracle->batch[i];

        if (change->kind == kind && !change->is_delete)
            return change;
    }
    return NULL;
}

/* Is the key granted anew in this very revision? */
static bool is_granted_in_batch(const struct sim_oracle *oracle, int key)
{
    for (size_t i = 0; i < oracle->batch_count; i++) {
        const struct change *change = &oracle->batch[i];

        if (change->kind == CHANGE_ROW && !change->is_delete &&
            sim_row_is_grant(&change->row) && change->row.key == key)
            return true;
    }
    return false;
}

/* When the place in the queue was taken that this grant uses up; "never": it
 * had none, and so must find nobody waiting at all. */
static uint64_t queued_at(struct sim_oracle *oracle, const struct row *row)
{
    const struct row *wait =
        sim_row_find(&oracle->state, ROW_WAIT, row->key, row->grant);

    return wait ? wait->created : UINT64_MAX;
}

static void say_change(struct sim_run *run, const struct change *change)
{
    const struct row *row = &change->row;
    const char *how = "put";

    if (!run->history)
        return;
    if (change->is_delete)
        how = change->by_lease ? "ends with its lease" : "deleted";
    switch (change->kind) {
    case CHANGE_ROW:
        if (change->is_delete)
            sim_say(run, "@%" PRIu64 " %s %s %s", run->oracle->revision,
                    row_names[row->kind], sim_key_name(row->key), how);
        else
            sim_say(run, "@%" PRIu64 " %s %s put for process %" PRIu32,
                    run->oracle->revision, row_names[row->kind],
                    sim_key_name(row->key), row->serial);
        break;
    case CHANGE_SESSION:
        sim_say(run, "@%" PRIu64 " session %s %s", run->oracle->revision,
                change->session.id, how);
        break;
    case CHANGE_EPOCH:
        sim_say(run, "@%" PRIu64 " epoch %" PRIu32 "%s %s",
                run->oracle->revision, change->epoch.epoch,
                change->epoch.sealed ? " sealed" : "", how);
        break;
    case CHANGE_OTHER:
        sim_say(run, "@%" PRIu64 " something else %s", run->oracle->revision,
                how);
        break;
    }
}

/* Rows that this revision ends, and those that it overwrites. */
static void judge_ends(struct sim_run *run, bool advanced)
{
    struct sim_oracle *oracle = run->oracle;

    for (size_t i = 0; i < oracle->batch_count; i++) {
        struct change *change = &oracle->batch[i];
        struct row *old;

        if (change->kind != CHANGE_ROW)
            continue;
        if (change->is_delete) {
            if (sim_row_is_grant(&change->row))
                end_row(run, change, advanced,
                        is_granted_in_batch(oracle, change->row.key));
            continue;
        }
        old = find_like(&oracle->state, &change->row);
        if (old && sim_row_is_grant(old)) {
            struct change ends = {.kind = CHANGE_ROW, .is_delete = true};

            run->counts.hand_offs++;
            ends.row = *old;
            end_row(run, &ends, false, true);
        }
    }
}

/* Only who holds a key can keep it. */
static void judge_floor(struct sim_run *run, const struct row *row)
{
    const struct grant *grant = sim_grant_find(run->oracle, row->grant);

    if (!grant || !grant->stands || grant->key != row->key)
        sim_broken(
            run, "floor: process %" PRIu32 " keeps %s, which it does not hold",
            row->serial, sim_key_name(row->key));
}

static void judge_puts(struct sim_run *run, const uint64_t *queued)
{
    struct sim_oracle *oracle = run->oracle;

    for (size_t i = 0; i < oracle->batch_count; i++) {
        struct change *change = &oracle->batch[i];
        struct row *row;

        if (change->kind != CHANGE_ROW)
            continue;
        row = find_like(&oracle->state, &change->row);
        if (row && !sim_row_is_grant(row))
            row_remove(&oracle->state, row);
    }
    for (size_t i = 0; i < oracle->batch_count; i++) {
        struct change *change = &oracle->batch[i];

        if (change->kind != CHANGE_ROW || change->is_delete)
            continue;
        if (sim_row_is_grant(&change->row))
            judge_grant(run, &change->row, queued[i]);
        else if (change->row.kind == ROW_FLOOR)
            judge_floor(run, &change->row);
        row_add(&oracle->state, &change->row);
    }
}

static void note_sessions(struct sim_oracle *oracle)
{
    struct state *state = &oracle->state;

    for (size_t i = 0; i < oracle->batch_count; i++) {
        const struct change *change = &oracle->batch[i];
        struct session *session;

        if (change->kind != CHANGE_SESSION)
            continue;
        session = session_find(state, change->session.id);
        if (change->is_delete) {
            hf_assert(session);
            *session = state->sessions[--state->session_count];
        } else if (session) {
            *session = change->session;
        } else {
            hf_assert(state->session_count < SESSIONS_MAX);
            state->sessions[state->session_count++] = change->session;
        }
    }
}

/* No hold without its session's record, on one lease. */
static void judge_attachment(struct sim_run *run)
{
    struct state *state = &run->oracle->state;

    for (size_t i = 0; i < state->row_count; i++) {
        const struct row *row = &state->rows[i];
        const struct session *session;

        if (!sim_row_is_grant(row))
            continue;
        session = session_find(state, row->session);
        if (!session || session->lease != row->lease || !row->lease)
            sim_broken(run,
                       "attachment: the %s on %s of process %" PRIu32
                       " stands without its session",
                       row_names[row->kind], sim_key_name(row->key),
                       row->serial);
    }
}

static void judge_batch(struct sim_run *run)
{
    struct sim_oracle *oracle = run->oracle;
    const struct change *put = find_put(oracle, CHANGE_EPOCH);
    struct epoch before = oracle->state.epoch;
    uint64_t queued[BATCH_MAX];
    bool advanced = put && put->epoch.epoch > before.epoch;

    for (size_t i = 0; i < oracle->batch_count; i++) {
        const struct change *change = &oracle->batch[i];

        say_change(run, change);
        queued[i] = change->kind == CHANGE_ROW && !change->is_delete
                        ? queued_at(oracle, &change->row)
                        : 0;
    }
    if (put && before.exists && put->epoch.epoch < before.epoch)
        sim_broken(run, "epoch: it falls from %" PRIu32 " to %" PRIu32,
                   before.epoch, put->epoch.epoch);
    sim_oracle_causes(run);
    judge_ends(run, advanced);
    judge_puts(run, queued);
    note_sessions(oracle);
    judge_attachment(run);
    if (put)
        oracle->state.epoch = put->epoch;
    if (oracle->state.epoch.epoch > oracle->epoch_top)
        oracle->epoch_top = oracle->state.epoch.epoch;
    if (advanced && sim_admin_is_hasty(run))
        sim_oracle_excuse(run);
    sim_oracle_seal_look(run);
    oracle->batch_count = 0;
}

void sim_oracle_drain(struct sim_run *run)
{
    struct sim_oracle *oracle = run->oracle;
    const struct hf_change *change;

    while (!run->broken && (change = hf_sim_world_committed(run->world))) {
        if (oracle->batch_count && change->revision != oracle->revision)
            judge_batch(run);
        oracle->revision = change->revision;
        hf_assert(oracle->batch_count < BATCH_MAX);
        sim_change_read(change, &oracle->batch[oracle->batch_count++]);
    }
    if (oracle->batch_count && !run->broken)
        judge_batch(run);
}
