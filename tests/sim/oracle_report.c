/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/token.h"
#include "tests/sim/oracle_state.h"

/* ---- copies, for restores ---- */

struct sim_oracle_copy {
    struct state state;
};

struct sim_oracle_copy *sim_oracle_copy_take(const struct sim_run *run)
{
    struct sim_oracle_copy *copy = malloc(sizeof(*copy));

    hf_assert(copy);
    copy->state = run->oracle->state;
    return copy;
}

void sim_oracle_copy_free(struct sim_oracle_copy *copy)
{
    free(copy);
}

uint32_t sim_oracle_copy_epoch(const struct sim_oracle_copy *copy)
{
    return copy->state.epoch.epoch;
}

/* A put that the restore has undone may be made again. */
static void recount_grants(struct sim_oracle *oracle, struct hf_time now)
{
    for (size_t i = 0; i < oracle->grant_count; i++) {
        struct grant *grant = &oracle->grants[i];
        const struct row *row = sim_row_find(
            &oracle->state, grant->mode == HF_SHARED ? ROW_SHARE : ROW_HOLD,
            grant->key, grant->id);

        if (grant->stands && !row)
            grant->ended_at = now;
        grant->stands = row != NULL;
        if (!row)
            grant->puts = 0;
    }
}

void sim_oracle_excuse(struct sim_run *run)
{
    for (int i = 0; i < run->plan.client_count; i++) {
        for (struct sim_process *process = run->clients[i].first; process;
             process = process->older)
            process->excused = true;
    }
}

void sim_oracle_copy_restore(struct sim_run *run,
                             const struct sim_oracle_copy *copy)
{
    struct sim_oracle *oracle = run->oracle;

    hf_assert(oracle->batch_count == 0);
    oracle->state = copy->state;
    oracle->life++;
    for (size_t i = 0; i < oracle->state.row_count; i++)
        oracle->state.rows[i].restored = true;
    recount_grants(oracle, run->now);
    sim_oracle_excuse(run);
    sim_oracle_seal_look(run);
}

/* ---- what clients were told ---- */

void sim_oracle_granted(struct sim_run *run, struct sim_process *process)
{
    struct grant *grant = sim_grant_find(run->oracle, process->grant);

    if (!grant) {
        sim_broken(run,
                   "truth: %s was told that it holds %s, but no such "
                   "grant was put",
                   sim_process_name(process), sim_key_name(process->key));
        return;
    }
    if (grant->acknowledged)
        sim_broken(run, "once: the grant of %s was told twice",
                   sim_process_name(process));
    grant->acknowledged = true;
    if (grant->life != run->oracle->life)
        return; /* restored in between: its next renewal tells it */
    if (grant->token != process->token || grant->key != process->key ||
        grant->mode != (int)process->mode)
        sim_broken(run,
                   "truth: %s was told token %" PRIu32 ":%" PRIu64
                   ", but its grant stands under %" PRIu32 ":%" PRIu64,
                   sim_process_name(process), hf_token_epoch(process->token),
                   hf_token_revision(process->token),
                   hf_token_epoch(grant->token),
                   hf_token_revision(grant->token));
}

void sim_oracle_renewed(struct sim_run *run, struct sim_process *process)
{
    const struct sim_oracle *oracle = run->oracle;
    const struct grant *grant = sim_grant_find(run->oracle, process->grant);
    struct hf_time sent =
        hf_sim_clock_when(run->plan.clocks[process->client], process->sent_at);

    /* Rounding between two clocks may cost a nanosecond. */
    if (oracle->sealed && oracle->sealed_since.ns + 1 < sent.ns)
        sim_broken(run,
                   "seal: %s was renewed though the store has been sealed "
                   "since %.6f",
                   sim_process_name(process),
                   (double)oracle->sealed_since.ns / 1e9);
    hf_assert(grant);
    if (!grant->stands && grant->ended_at.ns + 1 < sent.ns)
        sim_broken(run,
                   "truth: %s was renewed on %s, but its hold had ended at "
                   "%.6f",
                   sim_process_name(process), sim_key_name(process->key),
                   (double)grant->ended_at.ns / 1e9);
}

void sim_oracle_released(struct sim_run *run, struct sim_process *process)
{
    const struct grant *grant = sim_grant_find(run->oracle, process->grant);

    if (!grant || (grant->stands && !process->excused))
        sim_broken(run,
                   "truth: %s was told that %s is released, but its hold "
                   "stands",
                   sim_process_name(process), sim_key_name(process->key));
}

/* Must `other` have stopped before a job under the same key begins? */
static bool must_have_stopped(const struct sim_run *run,
                              const struct sim_process *other)
{
    const struct sim_client *client = &run->clients[other->client];

    if (!other->job_runs || other->excused ||
        sim_plan_has(&run->plan, SIM_FAULT_EARLY))
        return false;
    if (run->now.ns <= other->deadline.ns)
        return true;
    /* Its time is over: excused is who is stopped, or has nobody to stop it.
     * (A stopped job does nothing; what it does as it goes on is judged then.)
     */
    return !other->crashed &&
           !(client->process == other && client->paused_until.ns > 0);
}

void sim_oracle_job_starts(struct sim_run *run, struct sim_process *process)
{
    for (int i = 0; i < run->plan.client_count; i++) {
        for (const struct sim_process *other = run->clients[i].first; other;
             other = other->older) {
            if (other == process || other->key != process->key ||
                (other->mode == HF_SHARED && process->mode == HF_SHARED))
                continue;
            if (must_have_stopped(run, other))
                sim_broken(run,
                           "overlap: the job of %s starts on %s while that of "
                           "%s works",
                           sim_process_name(process),
                           sim_key_name(process->key), sim_process_name(other));
        }
    }
}

void sim_oracle_write(struct sim_run *run, int key, uint64_t high_before,
                      uint64_t token, bool taken)
{
    if (taken && token < high_before)
        sim_broken(run,
                   "fence: %s took a write under %" PRIu32 ":%" PRIu64
                   " after one under %" PRIu32 ":%" PRIu64,
                   sim_key_name(key), hf_token_epoch(token),
                   hf_token_revision(token), hf_token_epoch(high_before),
                   hf_token_revision(high_before));
    if (!taken && token >= high_before)
        sim_broken(run, "fence: %s refused a write under its newest token",
                   sim_key_name(key));
}
