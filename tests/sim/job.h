/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of simulated processes: they write to a guarded register now and
 * then, under their token, and their writes take their time. A job whose
 * lockrun died alone lives on here.
 */
#ifndef HF_TESTS_SIM_JOB_H
#define HF_TESTS_SIM_JOB_H

#include "tests/sim/client.h"

void sim_job_start(struct sim_run *run, struct sim_process *process);
void sim_job_stop(struct sim_run *run, struct sim_process *process);
/* The jobs of a client do what is due: writes, and the end of orphans. */
void sim_jobs_turn(struct sim_run *run, struct sim_client *client);
struct hf_time sim_jobs_wake_at(const struct sim_client *client);

#endif
