/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job's environment: the caller's, word for word, with the LOCK_* of this
 * lease in place of any that were there. Nothing else is added or tidied; whom
 * it is addressed to is in handed.h. That of a line which is run when something
 * happens has what happened as well.
 */
#ifndef LOCKRUN_ENVIRONMENT_H
#define LOCKRUN_ENVIRONMENT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/request.h"

/* For a line alone. */
struct environment_event {
    const char *name;                  /* "busy", "doubt", "lost" */
    const char *reason;                /* a sentence */
    int status;                        /* of lockrun's end; below 0: none yet */
    uint32_t lockrun;                  /* its process; 0: not told */
    const struct hf_hold_info *holder; /* who is in the way, or NULL */
    const char *since;                 /* then: RFC 3339 */
};

struct environment_words {
    uint64_t token; /* 0: nothing is held; there is no session and no state */
    const char *key;
    const char *class_name;
    const char *session;
    const char *state; /* path of the state file; NULL: there is none */
    const struct environment_event *event; /* NULL: for the job */
};

struct environment {
    char **list; /* for execve(2) */
    /* Bytes that the LOCK_* take of what the kernel allows for words. */
    size_t added;
    struct hf_buf text; /* holds ours; the others are borrowed */
};

/* `given` is borrowed and must outlive it. Errors: NOMEM. */
enum hf_err environment_make(struct environment *environment,
                             char *const *given,
                             const struct environment_words *words,
                             struct hf_error *error);
void environment_clear(struct environment *environment);

#endif
