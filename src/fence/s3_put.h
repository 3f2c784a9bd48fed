/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A put under the fence's rule: look at the object's mark, judge, and write on
 * the condition that nobody has written since. The condition is judged by the
 * store, so a writer that stood still between its look and its write loses.
 * Used by lockfence-s3. docs/internals/s3-fence.md has the argument.
 */
#ifndef HF_FENCE_S3_PUT_H
#define HF_FENCE_S3_PUT_H

#include "fence/s3.h"
#include "fence/s3_body.h"

struct hf_s3_put {
    const struct hf_s3_name *name;
    const struct hf_fence_claim *claim;
    const struct hf_s3_bytes *bytes;
    const struct hf_s3_headers *headers; /* content-type and such; or NULL */
    const char *id;                      /* of this put: hf_s3_put_id */
    bool adopt; /* an object without a mark is taken under the fence */
};

struct hf_s3_put_result {
    enum hf_fence_verdict verdict;
    unsigned int tries;
    char etag[HF_S3_ETAG_SIZE];
    bool is_etag_kept; /* the bytes were there already: see --stamp */
    bool was_settled;  /* an answer was lost, and the object is ours */
};

/* 128 random bits as text. Error: UNAVAILABLE. */
enum hf_err hf_s3_put_id(struct hf_sys *sys, char id[HF_S3_PUT_ID_SIZE],
                         struct hf_error *error);

/*
 * Errors: those of the rule (hf_fence_check); UNFENCED: an object without a
 * mark, or a store that knows no conditions; UNSETTLED: the outcome could not
 * be learned; REJECTED, DENIED, CONFIG, UNAVAILABLE, NOMEM: nothing was
 * changed.
 */
enum hf_err hf_s3_put(struct hf_s3 *s3, const struct hf_s3_put *put,
                      struct hf_s3_put_result *result, struct hf_error *error);

/* The bytes of a guard object: no two puts have the same. Errors: NOMEM. */
enum hf_err hf_s3_guard_bytes(struct hf_sys *sys,
                              const struct hf_fence_claim *claim,
                              const char *id, struct hf_s3_bytes *bytes,
                              struct hf_error *error);

#endif
