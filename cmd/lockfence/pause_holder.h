/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A holder of the pause test: a real lockrun whose job, a small shell loop,
 * writes when it is told to. And a grant: the LOCK_* that lockrun handed out,
 * to be given to lines that run elsewhere. For pausetest alone.
 */
#ifndef LOCKFENCE_PAUSE_HOLDER_H
#define LOCKFENCE_PAUSE_HOLDER_H

#include <stdint.h>

#include "cmd/lockfence/pause_proc.h"
#include "core/token.h"
#include "fence/rule.h"

enum { PAUSE_WORDS_MAX = 16, PAUSE_ID_SIZE = 32 };

/* What all holders share. Borrowed, whole for the test. */
struct pause_setting {
    struct hf_sys *sys;
    const char *lockrun; /* path */
    const char *store;   /* NULL: not said to lockrun */
    const char *class_name;
    const char *key;
    const char *ttl;
    const char *line;   /* that writes */
    const char *folder; /* for outputs */
    struct hf_span grant_limit;
    struct hf_span write_limit;
};

struct pause_grant {
    char *words[PAUSE_WORDS_MAX]; /* "LOCK_TOKEN=..." and its fellows */
    size_t count;
    uint64_t token;
    char session[HF_FENCE_GRANT_SIZE];
};
void pause_grant_clear(struct pause_grant *grant);

/* Changes to a grant's words. */
struct pause_change {
    const char *name;  /* "LOCK_TOKEN"; NULL ends a list */
    const char *value; /* NULL: not set */
};

/*
 * This process's environment with the grant's LOCK_* (NULL: none) in place of
 * its own, some of them changed, and PAUSETEST_WRITE=`id`. free() the list; its
 * words are in the same block or borrowed. NULL: no memory.
 */
char **pause_environment(const struct pause_grant *grant,
                         const struct pause_change *changes, const char *id);

struct pause_holder {
    pid_t lockrun;
    pid_t agent;
    int to;   /* ids of writes */
    int from; /* what became of them */
    char said_path[512];
    struct pause_grant grant;
};

/*
 * Start lockrun and wait until its job runs, within the setting's limit.
 * Errors: UNAVAILABLE: lockrun ended or gave no key, with what it said.
 */
enum hf_err pause_holder_start(const struct pause_setting *setting,
                               const char *name, struct pause_holder *holder,
                               struct hf_error *error);

/*
 * Let the job write, and wait. Ends with is_over_time when no answer came
 * within `limit`; the write is then still under way, and its answer may be
 * waited for with pause_holder_answer. Errors: UNAVAILABLE (the job is gone).
 */
enum hf_err pause_holder_write(const struct pause_setting *setting,
                               struct pause_holder *holder, const char *id,
                               struct hf_span limit,
                               struct pause_result *result,
                               struct hf_error *error);

/*
 * A part of `holder`'s job that is out of its lockrun's reach, as it is when a
 * job sends work to another host or a container: the same loop with the same
 * LOCK_*, as a child of ours. `lockrun` of *part is its own pid. Errors:
 * UNAVAILABLE, NOMEM.
 */
enum hf_err pause_part_start(const struct pause_setting *setting,
                             const struct pause_holder *holder,
                             struct pause_holder *part, struct hf_error *error);
enum hf_err pause_holder_answer(const struct pause_setting *setting,
                                struct pause_holder *holder, const char *id,
                                struct hf_span limit,
                                struct pause_result *result,
                                struct hf_error *error);

/* Wait for lockrun to end by itself; its status, or -1: it lives. */
int pause_holder_await(const struct pause_setting *setting,
                       struct pause_holder *holder, struct hf_span limit);

/* The job ends, and with it lockrun, whose status is given; -1: it did not end
 * in time, and was killed. */
int pause_holder_finish(const struct pause_setting *setting,
                        struct pause_holder *holder);

#endif
