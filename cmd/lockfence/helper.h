/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helpers of lockfence: programs of their own for what needs a large
 * library (libpq, libcurl), so that the other commands start without it. For
 * lockfence's main.
 */
#ifndef LOCKFENCE_HELPER_H
#define LOCKFENCE_HELPER_H

#include "base/err.h"
#include "cmd/lockfence/options.h"

/*
 * Become the helper, with the same arguments. It is looked for beside lockfence
 * itself (a build that is not installed), then in the folder of helpers. Does
 * not return unless it fails. Errors: UNAVAILABLE, NOMEM.
 */
enum hf_err helper_become(enum lockfence_program program, char **argv,
                          struct hf_error *error);

#endif
