/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the state file true (client/state_file.h): writes it when what it tells
 * has changed, and not otherwise.
 */
#ifndef LOCKRUN_KEEPER_H
#define LOCKRUN_KEEPER_H

#include "base/sys.h"
#include "client/session.h"
#include "client/state_file.h"
#include "cmd/lockrun/say.h"

struct keeper {
    bool is_new;     /* true at first: nothing was written yet */
    bool has_failed; /* and it was told */
    struct hf_state_file written;
};

/* Bring the file up to date with the session. A failure is told once: the job
 * then cannot know its deadline, and goes on all the same. */
void keeper_write(struct keeper *keeper, const struct hf_session *session,
                  struct hf_sys *sys, const struct say *say);
/* The job is over: whoever still reads the file shall know. */
void keeper_close(struct keeper *keeper, const struct hf_session *session,
                  struct hf_sys *sys);

#endif
