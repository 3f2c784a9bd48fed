/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What befalls a simulated world from outside: clients stopped, a full store,
 * older states put back; and the admin, the operator who advances the epoch
 * when that is planned, or when a server's store is sealed.
 */
#ifndef HF_TESTS_SIM_CONTROL_H
#define HF_TESTS_SIM_CONTROL_H

#include "tests/sim/run.h"

void sim_control_init(struct sim_run *run);
void sim_control_clear(struct sim_run *run);
struct hf_time sim_control_wake_at(const struct sim_run *run);
void sim_control_turn(struct sim_run *run);

/* Somebody was told that it holds a key: the worst moment for a restore. */
void sim_control_granted(struct sim_run *run);

void sim_admin_init(struct sim_run *run);
void sim_admin_clear(struct sim_run *run);
struct hf_time sim_admin_wake_at(const struct sim_run *run);
void sim_admin_turn(struct sim_run *run);
/* Nothing of it is under way, and nothing calls for it. */
bool sim_admin_is_done(const struct sim_run *run);
/* An advance that does not wait for anybody's deadline may be under way. */
bool sim_admin_is_hasty(const struct sim_run *run);

#endif
