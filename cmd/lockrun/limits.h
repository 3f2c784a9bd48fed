/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a class allows, against what the options ask for: told before anything
 * is done, in the words of the options. The core, which serves others too,
 * judges once more.
 */
#ifndef LOCKRUN_LIMITS_H
#define LOCKRUN_LIMITS_H

#include "base/err.h"
#include "cmd/lockrun/options.h"
#include "core/request.h"

/* Of the lease that is asked for. */
struct hf_span limits_ttl(const struct lockrun_options *options,
                          const struct hf_class *rules);
/* HF_ERR_OK; USAGE or DENIED, and `error` says what does not fit. */
enum hf_err limits_judge(const struct lockrun_options *options,
                         const struct hf_class *rules, struct hf_error *error);

#endif
