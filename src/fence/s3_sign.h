/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AWS Signature Version 4 as S3 wants it, in the header form. Pure: no clock,
 * no network. Used by the S3 fence. An own signer, because libcurl's (7.88)
 * does not sort queries and orders wrongly two headers of which one name begins
 * the other (x-amz-server-side-encryption and ...-aws-kms-key-id).
 * Algorithm: "Signature Version 4 signing process" of AWS's S3 reference.
 */
#ifndef HF_FENCE_S3_SIGN_H
#define HF_FENCE_S3_SIGN_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"

enum { HF_S3_HEADERS_MAX = 48 };

/* Headers of one request, in the order in which they were added. */
struct hf_s3_headers {
    size_t count;
    char *names[HF_S3_HEADERS_MAX]; /* lower case, own memory */
    char *values[HF_S3_HEADERS_MAX];
};

/*
 * The name is kept in lower case; a header of that name is replaced. Errors:
 * NOMEM; USAGE: a byte that no header may carry, or too many of them.
 */
enum hf_err hf_s3_headers_add(struct hf_s3_headers *headers, const char *name,
                              const char *value, struct hf_error *error);
/* The value, or NULL. `name` in lower case. */
const char *hf_s3_headers_find(const struct hf_s3_headers *headers,
                               const char *name);
void hf_s3_headers_clear(struct hf_s3_headers *headers);

/* Who asks. All borrowed. */
struct hf_s3_signer {
    const char *access_key;
    const char *secret_key;
    const char *session_token; /* NULL: long-term keys */
    const char *region;
};

/*
 * Append `text` percent-encoded: all but A-Z a-z 0-9 - . _ ~, and '/' where
 * `keeps_slash`. Errors: NOMEM, USAGE (limit).
 */
enum hf_err hf_s3_encode(struct hf_buf *to, const char *text, size_t size,
                         bool keeps_slash);

/*
 * Add x-amz-date, x-amz-content-sha256, x-amz-security-token where there is
 * one, and authorization, over all headers that are in the list by then (host
 * must be). `path` and `query` are encoded already; the query, without '?', has
 * its parameters sorted and each with its '='. `payload_hash` is hex, or
 * UNSIGNED-PAYLOAD. Errors: NOMEM, USAGE.
 */
enum hf_err hf_s3_sign(const struct hf_s3_signer *signer, const char *method,
                       const char *path, const char *query,
                       const char *payload_hash, struct hf_wall now,
                       struct hf_s3_headers *headers, struct hf_error *error);

#endif
