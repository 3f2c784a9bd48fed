/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An S3 store as the fence sees it: signed requests on objects, what a HEAD
 * tells of an object and its mark, and what an answer means for people. The
 * rule is fence/rule.h's, writing under it s3_put.h's. Used by lockfence-s3.
 * All calls block on the network.
 */
#ifndef HF_FENCE_S3_H
#define HF_FENCE_S3_H

#include <stdint.h>

#include "base/err.h"
#include "base/sys.h"
#include "fence/rule.h"
#include "fence/s3_config.h"
#include "fence/s3_http.h"
#include "fence/s3_place.h"

enum { HF_S3_ETAG_SIZE = 128, HF_S3_PUT_ID_SIZE = 33 };

/*
 * The mark of an object is in its metadata. `put` is random for each put, so
 * that a writer knows its own object when an answer was lost.
 */
#define HF_S3_META_TOKEN "x-amz-meta-lock-token"
#define HF_S3_META_GRANT "x-amz-meta-lock-grant"
#define HF_S3_META_KEY "x-amz-meta-lock-key"
#define HF_S3_META_PUT "x-amz-meta-lock-put"

struct hf_s3;

/*
 * `config` and `user_agent` are borrowed and outlive it. Errors: NOMEM,
 * UNAVAILABLE.
 */
enum hf_err hf_s3_new(struct hf_sys *sys, const struct hf_s3_config *config,
                      const char *user_agent, struct hf_s3 **s3,
                      struct hf_error *error);
void hf_s3_free(struct hf_s3 *s3);
struct hf_sys *hf_s3_sys(const struct hf_s3 *s3);

struct hf_s3_object {
    bool exists;
    bool is_marked;
    struct hf_fence_mark mark;
    char put[HF_S3_PUT_ID_SIZE];
    char etag[HF_S3_ETAG_SIZE]; /* as the store wrote it, quotes and all */
    char modified[64];
    uint64_t size;
};

/* What a request is about, and carries. */
struct hf_s3_call {
    const char *method;
    const struct hf_s3_name *name;
    const struct hf_s3_headers *headers; /* more of them; NULL: none */
    const struct hf_s3_body *body;       /* NULL: none */
    const char *payload_hash;            /* of the body, hex; NULL: no body */
    int to_fd;                           /* as in struct hf_s3_request */
};

/*
 * Sign and do one request. Errors: NOMEM, USAGE, CONFIG; all else is in the
 * answer, to be cleared after success.
 */
enum hf_err hf_s3_do(struct hf_s3 *s3, const struct hf_s3_call *call,
                     struct hf_s3_answer *answer, struct hf_error *error);

/* What became of a request. */
enum hf_s3_fate {
    HF_S3_DONE,
    HF_S3_ABSENT,   /* 404 on the object */
    HF_S3_CONFLICT, /* a condition did not hold, or changed meanwhile */
    HF_S3_LATER,    /* nothing was done, and trying again may help */
    HF_S3_OPEN,     /* whether it was done is not known */
    HF_S3_REFUSED   /* nothing was done, and trying again does not help */
};
enum hf_s3_fate hf_s3_judge(const struct hf_s3_answer *answer);

/* A failed answer as an error: "s3://B/K: sentence". */
enum hf_err hf_s3_explain(const struct hf_s3 *s3, const struct hf_s3_name *name,
                          const struct hf_s3_answer *answer,
                          struct hf_error *error);

/* Of the headers of a HEAD or GET. Error: REJECTED: a mark that is none. */
enum hf_err hf_s3_object_read(const struct hf_s3_name *name,
                              const struct hf_s3_answer *answer,
                              struct hf_s3_object *object,
                              struct hf_error *error);

/*
 * HEAD, tried a few times while the store is not to be reached. An absent
 * object is no error. Errors: as hf_s3_do, hf_s3_explain, hf_s3_object_read.
 */
enum hf_err hf_s3_look(struct hf_s3 *s3, const struct hf_s3_name *name,
                       struct hf_s3_object *object, struct hf_error *error);

/* Wait before try number `try` (1 and up): 0.1 s, doubled each time up to 3 s,
 * and shortened at random by up to half. */
void hf_s3_wait(struct hf_s3 *s3, unsigned int try);

#endif
