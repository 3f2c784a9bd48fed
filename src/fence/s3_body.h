/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of an object before they are sent: a file as it is, or a stream
 * kept in a temporary file first, hashed, and stamped where that is asked for.
 * So the length is known, nothing is sent before all of it is there, a retry
 * sends the same, and the store checks what it gets against the signed hash.
 * Used by lockfence-s3.
 */
#ifndef HF_FENCE_S3_BODY_H
#define HF_FENCE_S3_BODY_H

#include "base/buf.h"
#include "base/err.h"
#include "base/sys.h"
#include "fence/rule.h"
#include "fence/s3_http.h"
#include "fence/sha256.h"

/* What one PUT takes at AWS: 5 GiB. Parts that another request would join
 * later are not used: see docs/internals/s3-fence.md. */
#define HF_S3_BODY_MAX (UINT64_C(5) << 30)

/*
 * A stamp makes the bytes, and so the ETag, of each put unlike any other's: an
 * end that readers of the form pass over.
 */
enum hf_s3_stamp {
    HF_S3_STAMP_NONE,
    HF_S3_STAMP_GZIP, /* an empty member whose comment is the stamp */
    HF_S3_STAMP_ZSTD, /* a skippable frame */
    HF_S3_STAMP_LINE  /* a line of text behind `prefix` */
};

struct hf_s3_bytes {
    struct hf_s3_body body;
    struct hf_buf tail;
    char hash[HF_SHA256_TEXT_SIZE];
    bool owns_fd;
};

/*
 * Take the bytes of `path`, or of standard input for "-". `temporary` is the
 * folder for a stream (NULL: /tmp). Errors: UNAVAILABLE: cannot be read, or is
 * not the form that the stamp is for; NOSPACE: the folder is full; USAGE: more
 * than HF_S3_BODY_MAX, a folder; NOMEM. To be cleared after success.
 */
enum hf_err hf_s3_bytes_take(struct hf_sys *sys, const char *path,
                             const char *temporary, struct hf_s3_bytes *bytes,
                             struct hf_error *error);

/*
 * Put a stamp behind them, and hash once more: `put` is the id of this put.
 * Before a line of text comes a line end, where the last byte is none. Errors:
 * USAGE: the bytes are not of the stamp's form; UNAVAILABLE, NOMEM.
 */
enum hf_err hf_s3_bytes_stamp(struct hf_sys *sys, struct hf_s3_bytes *bytes,
                              enum hf_s3_stamp stamp, const char *prefix,
                              const struct hf_fence_claim *claim,
                              const char *put, struct hf_error *error);

/* Bytes that are made here: the tail alone. Errors: NOMEM, USAGE. */
enum hf_err hf_s3_bytes_make(struct hf_sys *sys, struct hf_s3_bytes *bytes,
                             const char *data, size_t size,
                             struct hf_error *error);

void hf_s3_bytes_clear(struct hf_sys *sys, struct hf_s3_bytes *bytes);

#endif
