/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials, region and endpoint of an S3 store, found where the aws tools
 * find them: options, environment, ~/.aws/credentials and ~/.aws/config with
 * their profiles. Not a full credential chain: what asks a network or starts a
 * program (container and instance metadata, SSO, assumed roles,
 * credential_process) is left out, and said so when nothing else is found.
 * Used by the S3 fence. Reads files, no network.
 */
#ifndef HF_FENCE_S3_CONFIG_H
#define HF_FENCE_S3_CONFIG_H

#include "base/err.h"
#include "base/sys.h"

enum hf_s3_style { HF_S3_STYLE_AUTO, HF_S3_STYLE_PATH, HF_S3_STYLE_VIRTUAL };

/* What the command line says; NULL: nothing. Borrowed. */
struct hf_s3_choices {
    const char *profile;
    const char *region;
    const char *endpoint;
};

/* Own memory each; NULL where there is none. */
struct hf_s3_config {
    char *access_key;
    char *secret_key;
    char *session_token;
    char *region;   /* never NULL after success: us-east-1 if nothing says */
    char *endpoint; /* NULL: AWS's own */
    char *ca_bundle;
    enum hf_s3_style style;
};

/*
 * `environment` is a list as in environ(7). Errors: CONFIG: a profile that is
 * not there, half a pair of keys, no keys at all, a file that cannot be read;
 * NOMEM. To be cleared after success.
 */
enum hf_err hf_s3_config_find(struct hf_sys *sys,
                              const struct hf_s3_choices *choices,
                              char *const *environment,
                              struct hf_s3_config *config,
                              struct hf_error *error);
void hf_s3_config_clear(struct hf_s3_config *config);

#endif
