/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the s3 commands share: the store that the options and the environment
 * name. For the commands of lockfence-s3 alone.
 */
#ifndef LOCKFENCE_S3_H
#define LOCKFENCE_S3_H

#include "cmd/lockfence/commands.h"
#include "fence/s3.h"

/* One store, and the object that the first operand names. */
struct s3_session {
    struct hf_s3_config config;
    struct hf_s3_name name;
    struct hf_s3 *s3;
};

extern const char s3_user_agent[];

/*
 * `key_may_be_empty`: the operand may be a bucket or a folder. Errors: USAGE,
 * CONFIG, NOMEM, UNAVAILABLE. To be closed after success.
 */
enum hf_err s3_open(const struct lockfence_run *run, bool key_may_be_empty,
                    struct s3_session *session);
void s3_close(struct s3_session *session);

#endif
