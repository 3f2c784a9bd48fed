/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte buffer born with a limit. Grows by doubling, never past the limit;
 * after a failed append it is marked and later appends fail too, so that a
 * run of appends needs one check at its end. Everybody may use it.
 */
#ifndef HF_BASE_BUF_H
#define HF_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

#include "base/err.h"

struct hf_buf {
    char *data; /* NUL behind the last byte once anything was appended */
    size_t size;
    size_t capacity;
    size_t limit;       /* of `size`: the NUL comes on top */
    enum hf_err failed; /* OK, NOMEM, or USAGE when the limit was met */
};

void hf_buf_init(struct hf_buf *buf, size_t limit);
void hf_buf_clear(struct hf_buf *buf);
/* Empty, memory kept, mark removed. */
void hf_buf_reset(struct hf_buf *buf);
/* What is appended must not lie in the buffer itself. Errors: NOMEM, USAGE. */
enum hf_err hf_buf_add(struct hf_buf *buf, const void *data, size_t size);
enum hf_err hf_buf_add_str(struct hf_buf *buf, const char *text);
enum hf_err hf_buf_printf(struct hf_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum hf_err hf_buf_vprintf(struct hf_buf *buf, const char *format,
                           va_list args);
/*
 * Ownership of the bytes to the caller (free()), and the buffer is as after
 * init. NULL when nothing is held, or when an append failed: half a text is
 * none.
 */
char *hf_buf_take(struct hf_buf *buf);

#endif
