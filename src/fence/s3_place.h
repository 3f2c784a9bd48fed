/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an object is: "s3://BUCKET/KEY" and the store's endpoint become host,
 * path and URL, in path or virtual-host style. Pure. Used by the S3 fence.
 */
#ifndef HF_FENCE_S3_PLACE_H
#define HF_FENCE_S3_PLACE_H

#include "base/err.h"
#include "fence/s3_config.h"

/* AWS's limit for keys, and of bucket names everywhere. */
enum { HF_S3_KEY_MAX = 1024, HF_S3_BUCKET_MAX = 63 };

struct hf_s3_name {
    char bucket[HF_S3_BUCKET_MAX + 1];
    char key[HF_S3_KEY_MAX + 1];
};

/*
 * Read "s3://BUCKET/KEY"; the key may be empty only where `key_may_be_empty`.
 * Error: USAGE.
 */
enum hf_err hf_s3_name_parse(const char *text, bool key_may_be_empty,
                             struct hf_s3_name *name, struct hf_error *error);

struct hf_s3_place {
    char host[512];                     /* for the Host header: name[:port] */
    char path[3 * HF_S3_KEY_MAX + 512]; /* encoded, begins with '/' */
    char url[3 * HF_S3_KEY_MAX + 1088];
};

/* Error: CONFIG: the endpoint is no http or https URL, or has more to it. */
enum hf_err hf_s3_place_make(const struct hf_s3_config *config,
                             const struct hf_s3_name *name,
                             struct hf_s3_place *place, struct hf_error *error);

#endif
