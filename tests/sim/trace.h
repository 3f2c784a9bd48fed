/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that tells the history what goes through it, and is another store for
 * the rest: what --verbose puts under each service.
 */
#ifndef HF_TESTS_SIM_TRACE_H
#define HF_TESTS_SIM_TRACE_H

#include "tests/sim/run.h"

/*
 * `inner` itself, or with run->verbose a store around it, which closes it.
 * `who` is told in each line.
 */
struct hf_store *sim_trace(struct sim_run *run, struct hf_store *inner,
                           const char *who);

#endif
