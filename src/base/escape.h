/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text from strangers (notes, host and program names, reasons) made fit for a
 * terminal or a log: control characters, marks that change the direction of
 * writing and bytes that are no UTF-8 become \n, \t, \x1b or \u202e, and a
 * backslash becomes two, so that nothing reads like an escape that was none.
 * Not for JSON (base/json.h). Everybody may use it.
 */
#ifndef HF_BASE_ESCAPE_H
#define HF_BASE_ESCAPE_H

#include <stddef.h>

#include "base/buf.h"

/* Append `size` bytes of `text`, escaped. Errors: NOMEM, USAGE (limit). */
enum hf_err hf_escape_add(struct hf_buf *to, const char *text, size_t size);

/*
 * The same into `to` of `room` bytes (at least 4), its end included. What does
 * not fit is left out between characters, and "..." stands in its place.
 * Returns `to`.
 */
const char *hf_escape_cut(char *to, size_t room, const char *text, size_t size);

#endif
