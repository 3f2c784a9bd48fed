/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lockfence and its helpers share: reading the line, saying an error,
 * ending, and the claim that a writer makes. For the mains and commands of this
 * folder.
 */
#ifndef LOCKFENCE_FRAME_H
#define LOCKFENCE_FRAME_H

#include <stdbool.h>

#include "base/buf.h"
#include "cmd/lockfence/options.h"
#include "fence/rule.h"

/* One command: its options and operands, and where its refusal goes. */
struct lockfence_run {
    struct hf_sys *sys;
    const struct lockfence_options *options;
    char **operands; /* ended by NULL */
    int operand_count;
    struct hf_error *error;
    /* A command whose answer is an exit status (held: 0, 1, 2) puts it here
     * and returns OK. */
    int *answer;
};

/*
 * Read the line. False: *status is the exit status (help was shown, or the line
 * is wrong and that was said). True: opts->command is to be run.
 */
bool frame_parse(int argc, char **argv, struct lockfence_options *options,
                 struct hf_opts *opts, int *status);

/*
 * The main of a helper: reads the line that lockfence was given and runs the
 * command by `run_command`. Returns the exit status.
 */
int frame_helper(int argc, char **argv,
                 enum hf_err (*run_command)(enum lockfence_command command,
                                            const struct lockfence_run *run));

/* What a command returned becomes the exit status; an error is said. */
int frame_end(enum hf_err err, const struct hf_error *error);

/* The claim of this process, by its options and LOCK_*. As for
 * hf_fence_claim_make. */
enum hf_err frame_claim(const struct lockfence_options *options,
                        struct hf_fence_claim *claim, struct hf_error *error);

/* Write `text` to standard output. Error: UNAVAILABLE. */
enum hf_err frame_print(const struct hf_buf *text, struct hf_error *error);

/* "lockfence: TEXT" and a line end on standard error, made fit for terminals.
 */
void frame_say(const char *text);

#endif
