/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key that a command gets when none is given, and what is recorded of the
 * command and of us for others to read.
 */
#ifndef LOCKRUN_NAMING_H
#define LOCKRUN_NAMING_H

#include "cmd/lockrun/options.h"
#include "cmd/lockrun/program.h"
#include "core/request.h"

/* By the class's template, or as --key says. Errors: USAGE, NOMEM. */
enum hf_err naming_key(const struct lockrun_options *options,
                       const struct program *program,
                       const struct hf_class *class, char key[HF_KEY_SIZE],
                       struct hf_error *error);
void naming_holder(const struct lockrun_options *options,
                   const struct program *program, struct hf_holder *holder);

#endif
