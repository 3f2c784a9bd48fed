/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door through which a simulated process reaches its store: a store around
 * the store. It counts what is asked, so that a process can be made to die
 * between asking and hearing, and with --verbose tells the history what goes
 * through.
 */
#ifndef HF_TESTS_SIM_DOOR_H
#define HF_TESTS_SIM_DOOR_H

#include "tests/sim/run.h"

/* Never closed by itself. */
#define SIM_DOOR_OPEN UINT32_MAX

/*
 * A store around `inner`, which closes it. `who` is told in each line. From the
 * `closes_after`th request on, which still goes out, nothing comes back and
 * nothing more goes out: for its process the world has ended.
 */
struct hf_store *sim_door_new(struct sim_run *run, struct hf_store *inner,
                              const char *who, uint32_t closes_after);
bool sim_door_is_closed(const struct hf_store *door);

#endif
