/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `lockrun --dry-run`: what would be done, from the class to the command, and
 * whether the key is free now. Changes nothing.
 */
#ifndef LOCKRUN_DRY_RUN_H
#define LOCKRUN_DRY_RUN_H

#include "base/buf.h"
#include "base/sys.h"
#include "cmd/lockrun/options.h"

/* Append lines of text. Returns 0, or the exit status with a sentence. */
int dry_run(struct hf_sys *sys, const struct lockrun_options *options,
            struct hf_buf *out, struct hf_error *error);

#endif
