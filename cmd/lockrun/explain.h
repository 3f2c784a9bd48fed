/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `lockrun --explain CODE`: what an exit status means.
 */
#ifndef LOCKRUN_EXPLAIN_H
#define LOCKRUN_EXPLAIN_H

#include "base/buf.h"

/* Append lines of text. `code` is 0 to 255. Errors: those of `out`. */
enum hf_err explain(int code, struct hf_buf *out);

#endif
