/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lock service says of one key: who holds it, and what it has issued.
 * Only looks. For the commands that set a fence beside the service; no fence
 * itself, for the answer is old the moment it is there.
 */
#ifndef LOCKFENCE_ASK_H
#define LOCKFENCE_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sys.h"
#include "core/request.h"

struct ask_answer {
    bool is_held;
    uint64_t token; /* of the holder; the highest of those who share */
    struct hf_holder who;
    uint64_t issued; /* no token above this one was ever given out */
};

/*
 * `store` as --store has it, or NULL: HOLDFAST_STORE, or the user's own place.
 * Errors: UNAVAILABLE, SEALED, DENIED and others as the service says them.
 */
enum hf_err ask_key(struct hf_sys *sys, const char *store, const char *key,
                    struct ask_answer *answer, struct hf_error *error);

#endif
