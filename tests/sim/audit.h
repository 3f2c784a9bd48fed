/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An auditor in the simulated world: it follows the real WATCH of the service
 * from the first revision on, and what it is told is held against what the
 * oracle read off the stream itself: every change of a key once, in order, with
 * its cause.
 */
#ifndef HF_TESTS_SIM_AUDIT_H
#define HF_TESTS_SIM_AUDIT_H

#include "tests/sim/run.h"

void sim_audit_init(struct sim_run *run);
void sim_audit_clear(struct sim_run *run);
struct hf_time sim_audit_wake_at(const struct sim_run *run);
void sim_audit_turn(struct sim_run *run);
/* Has it been told all that there was to tell? */
bool sim_audit_is_done(const struct sim_run *run);
/* What happened at `revision`, as the oracle sees it. */
void sim_audit_expect(struct sim_run *run, uint64_t revision,
                      enum hf_notice_kind kind, int key,
                      const uint8_t grant[HF_GRANT_ID_SIZE]);
/* The state was replaced: nobody can tell what lies in between. */
void sim_audit_restored(struct sim_run *run);

#endif
