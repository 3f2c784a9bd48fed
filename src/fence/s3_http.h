/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP request to an S3 store and its answer, through libcurl. Follows no
 * redirect, verifies TLS, tries nothing twice, and tells a request that was
 * certainly never sent from one whose outcome is unknown. Used by the S3 fence
 * (s3.c) alone; the only file that knows libcurl is s3_http.c. Blocks.
 */
#ifndef HF_FENCE_S3_HTTP_H
#define HF_FENCE_S3_HTTP_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"
#include "fence/s3_sign.h"

/* Answers are short: an error, or a guard object. Objects go to a file. */
enum { HF_S3_ANSWER_MAX = 65536, HF_S3_WHY_SIZE = 256 };

struct hf_s3_http;

struct hf_s3_http_options {
    const char *ca_bundle;  /* NULL: the system's */
    const char *user_agent; /* borrowed */
    struct hf_span connect_limit;
    /* No byte in either direction for so long: given up. */
    struct hf_span idle_limit;
};

/* The bytes of a request: `size` of the file, then the tail. */
struct hf_s3_body {
    int fd;        /* read with pread(2); -1: the tail is all */
    uint64_t size; /* of the file */
    const char *tail;
    size_t tail_size;
    /*
     * -1; or, for the probe, a socket: once half of the bytes are sent, one
     * byte is written to it, and one read from it before the rest is sent.
     */
    int pause_fd;
};

struct hf_s3_request {
    const char *method;
    const char *url;
    const struct hf_s3_headers *headers; /* all of them, signature included */
    const struct hf_s3_body *body;       /* NULL: none */
    int to_fd; /* where the bytes of a 2xx answer go; -1: into the answer */
};

enum hf_s3_sent {
    HF_S3_ANSWERED, /* `status` is what the store said */
    HF_S3_NOT_SENT, /* nothing reached the store */
    HF_S3_UNKNOWN   /* sent, or begun to be, and no whole answer */
};

struct hf_s3_answer {
    enum hf_s3_sent sent;
    int status;
    struct hf_s3_headers headers; /* those that a fence asks for */
    struct hf_buf body;
    /* `to_fd` failed: its errno, and what was written is a part. */
    int write_errno;
    char why[HF_S3_WHY_SIZE]; /* without an answer: what the network says */
};

/* Errors: NOMEM, UNAVAILABLE (libcurl does not start). */
enum hf_err hf_s3_http_new(const struct hf_s3_http_options *options,
                           struct hf_s3_http **http, struct hf_error *error);
void hf_s3_http_free(struct hf_s3_http *http);

/*
 * `answer` is overwritten, and to be cleared each time. Errors are this host's
 * alone (NOMEM, USAGE: a header list or URL that cannot be); what the store or
 * the network did is in the answer.
 */
enum hf_err hf_s3_http_do(struct hf_s3_http *http,
                          const struct hf_s3_request *request,
                          struct hf_s3_answer *answer, struct hf_error *error);
void hf_s3_answer_clear(struct hf_s3_answer *answer);

#endif
