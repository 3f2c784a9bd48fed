/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge of a simulated run: it walks the stream of what was committed and
 * holds it, and what clients were told, against the invariants of the design
 * (section 12). It knows the records, but nothing of how the core comes to
 * them; it never asks the store.
 */
#ifndef HF_TESTS_SIM_ORACLE_H
#define HF_TESTS_SIM_ORACLE_H

#include "core/record.h"
#include "core/request.h"
#include "store/sim.h"
#include "tests/sim/plan.h"

struct sim_run;
struct sim_process;
struct sim_oracle;

struct sim_oracle *sim_oracle_new(struct sim_run *run);
void sim_oracle_free(struct sim_oracle *oracle);

/* Judge all that was committed since the last call. */
void sim_oracle_drain(struct sim_run *run);
/* A restore: the state is again as it was when the copy was taken. */
struct sim_oracle_copy;
struct sim_oracle_copy *sim_oracle_copy_take(const struct sim_run *run);
void sim_oracle_copy_restore(struct sim_run *run,
                             const struct sim_oracle_copy *copy);
/* The epoch that the copy's record tells; 0: none. */
uint32_t sim_oracle_copy_epoch(const struct sim_oracle_copy *copy);
void sim_oracle_copy_free(struct sim_oracle_copy *copy);

/* ---- what clients report, each at the moment when it happens ---- */

/* It was told that it holds its key, by this grant under this token. */
void sim_oracle_granted(struct sim_run *run, struct sim_process *process);
/* A renewal was answered: its hold stood. */
void sim_oracle_renewed(struct sim_run *run, struct sim_process *process);
/* It was told that its key is given back. */
void sim_oracle_released(struct sim_run *run, struct sim_process *process);
/* Its job begins to work now. */
void sim_oracle_job_starts(struct sim_run *run, struct sim_process *process);
/* A write reached a guarded register. */
void sim_oracle_write(struct sim_run *run, int key, uint64_t high_before,
                      uint64_t token, bool taken);

/* The highest epoch that any record ever told. */
uint32_t sim_oracle_epoch_top(const struct sim_run *run);
/* Does the store grant nothing, as far as the stream tells? */
bool sim_oracle_is_sealed(const struct sim_run *run);
/* Does its record say that an advance is under way? */
bool sim_oracle_is_advancing(const struct sim_run *run);

#endif
