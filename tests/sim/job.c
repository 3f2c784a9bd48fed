/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/job.h"

#include <inttypes.h>
#include <string.h>

#include "core/token.h"

static struct hf_time next_write(struct sim_run *run)
{
    struct hf_span most = {run->plan.hold_max.ns / 2 + 1000000};

    return hf_time_add(run->now, sim_random_span(run, most));
}

void sim_job_start(struct sim_run *run, struct sim_process *process)
{
    process->job_runs = true;
    sim_say(run, "%s job starts, to end at %.6f", sim_process_name(process),
            (double)process->job_ends.ns / 1e9);
    sim_oracle_job_starts(run, process);
    if (process->mode == HF_EXCLUSIVE)
        process->next_write = next_write(run);
}

void sim_job_stop(struct sim_run *run, struct sim_process *process)
{
    if (process->job_runs)
        sim_say(run, "%s job ends", sim_process_name(process));
    process->job_runs = false;
    process->next_write = HF_TIME_NEVER;
}

static bool is_orphan(const struct sim_process *process)
{
    return process->job_runs && process->crashed;
}

static bool is_stopped(const struct sim_client *client,
                       const struct sim_process *process)
{
    return client->process == process && client->paused_until.ns > 0 &&
           client->job_paused;
}

static void send_write(struct sim_run *run, struct sim_process *process)
{
    struct sim_writes *writes = &run->writes;
    struct sim_write *write;

    process->next_write = next_write(run);
    if (writes->count == SIM_WRITES_MAX)
        return;
    write = &writes->list[writes->count++];
    write->arrives =
        hf_time_add(run->now, sim_random_span(run, run->plan.write_max));
    write->serial = process->serial;
    write->key = process->key;
    write->token = process->token;
    memcpy(write->session, process->session_id, sizeof(write->session));
}

void sim_jobs_turn(struct sim_run *run, struct sim_client *client)
{
    for (struct sim_process *process = client->first; process;
         process = process->older) {
        if (!process->job_runs || is_stopped(client, process))
            continue;
        if (is_orphan(process) &&
            hf_time_reached(process->job_ends, run->now)) {
            sim_job_stop(run, process);
            hf_sim_kill_tree(run->world, process->store_process);
        } else if (hf_time_reached(process->next_write, run->now)) {
            send_write(run, process);
        }
    }
}

struct hf_time sim_jobs_wake_at(const struct sim_client *client)
{
    struct hf_time at = HF_TIME_NEVER;

    for (const struct sim_process *process = client->first; process;
         process = process->older) {
        if (!process->job_runs || is_stopped(client, process))
            continue;
        at = hf_time_min(at, process->next_write);
        if (is_orphan(process))
            at = hf_time_min(at, process->job_ends);
    }
    return at;
}

struct hf_time sim_writes_wake_at(const struct sim_run *run)
{
    struct hf_time at = HF_TIME_NEVER;

    for (size_t i = 0; i < run->writes.count; i++)
        at = hf_time_min(at, run->writes.list[i].arrives);
    return at;
}

static void arrive(struct sim_run *run, const struct sim_write *write)
{
    struct hf_fence_mark *mark = &run->marks[write->key];
    struct hf_fence_claim claim = {.token = write->token};
    uint64_t before = mark->token;
    bool taken;

    memcpy(claim.grant, write->session, sizeof(write->session));
    taken = !hf_fence_verdict_error(hf_fence_judge(mark, &claim));
    if (taken)
        hf_fence_raise(mark, &claim);

    run->counts.writes++;
    if (!taken)
        run->counts.writes_refused++;
    sim_say(run, "%s write of %" PRIu32 " under %" PRIu32 ":%" PRIu64 " %s",
            sim_key_name(write->key), write->serial,
            hf_token_epoch(write->token), hf_token_revision(write->token),
            taken ? "taken" : "refused");
    sim_oracle_write(run, write->key, before, write->token, taken);
}

void sim_writes_arrive(struct sim_run *run)
{
    struct sim_writes *writes = &run->writes;
    size_t i = 0;

    while (i < writes->count) {
        if (hf_time_reached(writes->list[i].arrives, run->now)) {
            struct sim_write write = writes->list[i];

            writes->list[i] = writes->list[--writes->count];
            arrive(run, &write);
        } else {
            i++;
        }
    }
}
