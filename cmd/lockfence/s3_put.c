/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_put.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cmd/lockfence/s3.h"

enum { TEXT_MAX = 8192 };

/* Headers that the fence itself sets, or that would undo it. */
static bool is_own_header(const char *name)
{
    static const char *const own[] = {
        "host",       "content-length",   "transfer-encoding", "expect",
        "if-match",   "if-none-match",    "authorization",     "content-type",
        "connection", "x-amz-copy-source"};

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (!strcasecmp(name, own[i]))
            return true;
    return !strncasecmp(name, "x-amz-meta-lock-", 16) ||
           !strcasecmp(name, "x-amz-date") ||
           !strcasecmp(name, "x-amz-content-sha256") ||
           !strcasecmp(name, "x-amz-security-token");
}

static enum hf_err add_pair(struct hf_s3_headers *headers, const char *pair,
                            struct hf_error *error)
{
    const char *sign = strchr(pair, '=');
    char name[128];

    if ((size_t)(sign - pair) >= sizeof(name))
        return hf_error_set(error, HF_ERR_USAGE,
                            "--header: the name is too long");
    memcpy(name, pair, (size_t)(sign - pair));
    name[sign - pair] = '\0';
    if (is_own_header(name))
        return hf_error_set(error, HF_ERR_USAGE,
                            "--header: \"%s\" is not given this way", name);
    if (hf_s3_headers_add(headers, name, sign + 1, error))
        return hf_error_wrap(error, "--header");
    return HF_ERR_OK;
}

static enum hf_err make_headers(const struct lockfence_run *run,
                                struct hf_s3_headers *headers)
{
    const struct hf_opt_pairs *pairs = &run->options->s3.headers;
    const char *type = run->options->s3.type;
    enum hf_err failed = HF_ERR_OK;

    if (type)
        failed = hf_s3_headers_add(headers, "content-type", type, run->error);
    for (size_t i = 0; i < pairs->count && !failed; i++)
        failed = add_pair(headers, pairs->pairs[i], run->error);
    return failed;
}

/* ---- what was done
 * -------------------------------------------------------------- */

static enum hf_err show(const struct lockfence_run *run,
                        const struct hf_s3_put *put,
                        const struct hf_s3_put_result *result)
{
    struct hf_json json;
    struct hf_buf out;
    enum hf_err failed;

    if (!run->options->json)
        return HF_ERR_OK;
    hf_buf_init(&out, TEXT_MAX);
    hf_json_begin(&json, &out);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "bucket", put->name->bucket);
    hf_json_text(&json, "object", put->name->key);
    hf_json_decimal(&json, "token", put->claim->token);
    hf_json_text(&json, "verdict", hf_fence_verdict_name(result->verdict));
    hf_json_text(&json, "etag", result->etag);
    hf_json_bool(&json, "etag_kept", result->is_etag_kept);
    hf_json_bool(&json, "settled", result->was_settled);
    hf_json_u64(&json, "tries", result->tries);
    hf_json_object_end(&json);
    if (!hf_json_end(&json))
        hf_buf_add_str(&out, "\n");
    failed = frame_print(&out, run->error);
    hf_buf_clear(&out);
    return failed;
}

/* The one hole of a fence whose condition is the ETag, said when it is open. */
static void warn_of_same_bytes(const struct lockfence_run *run,
                               const struct hf_s3_put_result *result)
{
    if (result->is_etag_kept && !run->options->quiet)
        frame_say("note: these bytes were there already, so the ETag is the "
                  "same as before: a writer that stood still since before this "
                  "put would not be refused (--stamp makes each put's own; "
                  "--quiet leaves this note out)");
}

/* ---- guard
 * --------------------------------------------------------------------- */

static enum hf_err raise_guard(const struct lockfence_run *run,
                               struct hf_s3 *s3, const struct hf_s3_name *name,
                               const struct hf_fence_claim *claim, bool shows)
{
    struct hf_s3_put_result result;
    struct hf_s3_bytes bytes;
    char id[HF_S3_PUT_ID_SIZE];
    struct hf_s3_put put = {
        .name = name,
        .claim = claim,
        .bytes = &bytes,
        .id = id,
        .adopt = run->options->s3.adopt,
    };
    enum hf_err failed = hf_s3_put_id(run->sys, id, run->error);

    if (!failed)
        failed = hf_s3_guard_bytes(run->sys, claim, id, &bytes, run->error);
    if (failed)
        return failed;
    failed = hf_s3_put(s3, &put, &result, run->error);
    hf_s3_bytes_clear(run->sys, &bytes);
    return failed || !shows ? failed : show(run, &put, &result);
}

enum hf_err command_s3_guard(const struct lockfence_run *run)
{
    struct hf_fence_claim claim;
    struct s3_session session;
    enum hf_err failed = frame_claim(run->options, &claim, run->error);

    if (!failed)
        failed = s3_open(run, false, &session);
    if (failed)
        return failed;
    failed = raise_guard(run, session.s3, &session.name, &claim, true);
    s3_close(&session);
    return failed;
}

/* ---- put
 * ----------------------------------------------------------------------- */

static enum hf_s3_stamp stamp_of(const struct lockfence_options *options)
{
    if (options->s3.stamp_line)
        return HF_S3_STAMP_LINE;
    if (!options->s3.stamp.is_given)
        return HF_S3_STAMP_NONE;
    return options->s3.stamp.index ? HF_S3_STAMP_ZSTD : HF_S3_STAMP_GZIP;
}

/* A stale token is refused before a stream is read and a temporary file is
 * filled; what counts is judged again with the write. */
static enum hf_err judge_early(const struct lockfence_run *run,
                               struct s3_session *session,
                               const struct hf_fence_claim *claim)
{
    char what[HF_S3_BUCKET_MAX + HF_S3_KEY_MAX + 16];
    struct hf_s3_object object;
    enum hf_err failed =
        hf_s3_look(session->s3, &session->name, &object, run->error);

    snprintf(what, sizeof(what), "s3://%s/%s", session->name.bucket,
             session->name.key);
    return failed ? failed
                  : hf_fence_check(&object.mark, claim, what, run->error);
}

static enum hf_err put_bytes(const struct lockfence_run *run,
                             struct s3_session *session,
                             const struct hf_fence_claim *claim,
                             struct hf_s3_bytes *bytes)
{
    const struct lockfence_options *options = run->options;
    struct hf_s3_headers headers = {.count = 0};
    struct hf_s3_put_result result;
    struct hf_s3_name guard;
    char id[HF_S3_PUT_ID_SIZE];
    struct hf_s3_put put = {
        .name = &session->name,
        .claim = claim,
        .bytes = bytes,
        .headers = &headers,
        .id = id,
        .adopt = options->s3.adopt,
    };
    enum hf_err failed = hf_s3_put_id(run->sys, id, run->error);

    if (!failed)
        failed =
            hf_s3_bytes_stamp(run->sys, bytes, stamp_of(options),
                              options->s3.stamp_line, claim, id, run->error);
    if (!failed)
        failed = make_headers(run, &headers);
    if (!failed && options->s3.guard)
        failed = hf_s3_name_parse(options->s3.guard, false, &guard, run->error);
    if (!failed && options->s3.guard)
        failed = raise_guard(run, session->s3, &guard, claim, false);
    if (!failed)
        failed = hf_s3_put(session->s3, &put, &result, run->error);
    hf_s3_headers_clear(&headers);
    if (failed)
        return failed;
    warn_of_same_bytes(run, &result);
    return show(run, &put, &result);
}

enum hf_err command_s3_put(const struct lockfence_run *run)
{
    const char *path = run->operand_count > 1 ? run->operands[1] : "-";
    struct hf_fence_claim claim;
    struct s3_session session;
    struct hf_s3_bytes bytes;
    enum hf_err failed = frame_claim(run->options, &claim, run->error);

    /* Before a store is waited for, which may not be there either. */
    if (!failed && strcmp(path, "-") != 0 && access(path, R_OK))
        failed = hf_error_set_errno(run->error, HF_ERR_UNAVAILABLE, errno,
                                    "%.300s", path);
    if (!failed)
        failed = s3_open(run, false, &session);
    if (failed)
        return failed;
    failed = judge_early(run, &session, &claim);
    if (!failed)
        failed = hf_s3_bytes_take(run->sys, path, getenv("TMPDIR"), &bytes,
                                  run->error);
    if (!failed) {
        failed = put_bytes(run, &session, &claim, &bytes);
        hf_s3_bytes_clear(run->sys, &bytes);
    }
    s3_close(&session);
    return failed;
}
