/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

/*
 * Each round is one look and one write. Writers of one grant may meet often;
 * beyond this many there is one that does not obey the rule.
 */
enum { ROUNDS_MAX = 10, GUARD_MAX = 2048 };

/* What is known while the rounds go on. */
struct attempt {
    struct hf_s3 *s3;
    const struct hf_s3_put *put;
    struct hf_s3_object object;
    char what[HF_S3_BUCKET_MAX + HF_S3_KEY_MAX + 16];
    bool is_open; /* an earlier write of ours may still have been done */
    struct hf_error last; /* why the last write was not taken */
};

enum hf_err hf_s3_put_id(struct hf_sys *sys, char id[HF_S3_PUT_ID_SIZE],
                         struct hf_error *error)
{
    uint64_t chance[2];
    int got = sys->random(sys, chance, sizeof(chance));

    if (got < 0)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, -got,
                                  "no random bytes from the kernel");
    snprintf(id, HF_S3_PUT_ID_SIZE, "%016" PRIx64 "%016" PRIx64, chance[0],
             chance[1]);
    return HF_ERR_OK;
}

/* ---- one round
 * --------------------------------------------------------------- */

static enum hf_err make_headers(const struct attempt *attempt,
                                struct hf_s3_headers *headers,
                                struct hf_error *error)
{
    const struct hf_s3_put *put = attempt->put;
    const struct hf_s3_headers *given = put->headers;
    char token[HF_TOKEN_TEXT_SIZE + 1];
    enum hf_err failed = HF_ERR_OK;

    for (size_t i = 0; given && i < given->count && !failed; i++)
        failed = hf_s3_headers_add(headers, given->names[i], given->values[i],
                                   error);
    snprintf(token, sizeof(token), "%" PRIu64, put->claim->token);
    if (!failed)
        failed = hf_s3_headers_add(headers, HF_S3_META_TOKEN, token, error);
    if (!failed && put->claim->grant[0])
        failed = hf_s3_headers_add(headers, HF_S3_META_GRANT, put->claim->grant,
                                   error);
    if (!failed && (put->claim->key[0] || attempt->object.mark.key[0]))
        failed = hf_s3_headers_add(
            headers, HF_S3_META_KEY,
            put->claim->key[0] ? put->claim->key : attempt->object.mark.key,
            error);
    if (!failed)
        failed = hf_s3_headers_add(headers, HF_S3_META_PUT, put->id, error);
    if (!failed && attempt->object.exists)
        failed =
            hf_s3_headers_add(headers, "if-match", attempt->object.etag, error);
    if (!failed && !attempt->object.exists)
        failed = hf_s3_headers_add(headers, "if-none-match", "*", error);
    return failed;
}

/* Write on the condition of what was seen. OK tells *fate. */
static enum hf_err write_once(struct attempt *attempt, enum hf_s3_fate *fate,
                              struct hf_s3_put_result *result,
                              struct hf_error *error)
{
    const struct hf_s3_put *put = attempt->put;
    struct hf_s3_headers headers = {.count = 0};
    const struct hf_s3_call call = {
        .method = "PUT",
        .name = put->name,
        .headers = &headers,
        .body = &put->bytes->body,
        .payload_hash = put->bytes->hash,
        .to_fd = -1,
    };
    struct hf_s3_answer answer;
    const char *etag;
    enum hf_err failed = make_headers(attempt, &headers, error);

    if (!failed)
        failed = hf_s3_do(attempt->s3, &call, &answer, error);
    hf_s3_headers_clear(&headers);
    if (failed)
        return failed;
    *fate = hf_s3_judge(&answer);
    /* "Not found", said to a write: the object went away since the look, or
     * If-Match on none (AWS). */
    if (*fate == HF_S3_ABSENT)
        *fate = HF_S3_CONFLICT;
    etag = hf_s3_headers_find(&answer.headers, "etag");
    if (*fate == HF_S3_DONE)
        snprintf(result->etag, sizeof(result->etag), "%s", etag ? etag : "");
    else
        hf_s3_explain(attempt->s3, put->name, &answer, &attempt->last);
    hf_s3_answer_clear(&answer);
    return HF_ERR_OK;
}

/* May this claim write on what was seen? */
static enum hf_err judge(const struct attempt *attempt,
                         struct hf_s3_put_result *result,
                         struct hf_error *error)
{
    const struct hf_s3_put *put = attempt->put;
    const struct hf_s3_object *object = &attempt->object;
    enum hf_err failed;

    if (object->exists && !object->is_marked && !put->adopt)
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "%s has no mark: it was last written by something "
                            "that does not go through the fence; nothing was "
                            "changed (once, to put it under the fence: "
                            "--adopt)",
                            attempt->what);
    result->verdict = hf_fence_judge(&object->mark, put->claim);
    failed = hf_fence_check(&object->mark, put->claim, attempt->what, error);
    if (failed && attempt->is_open)
        hf_error_wrap(error, "after a try whose outcome is not known");
    return failed;
}

static bool is_ours(const struct attempt *attempt)
{
    return attempt->object.exists &&
           !strcmp(attempt->object.put, attempt->put->id);
}

static enum hf_err give_up(const struct attempt *attempt, enum hf_s3_fate fate,
                           struct hf_error *error)
{
    if (attempt->is_open)
        return hf_error_set(error, HF_ERR_UNSETTLED,
                            "%s; whether the write was taken is not known",
                            attempt->last.text);
    if (fate == HF_S3_CONFLICT)
        return hf_error_set(error, HF_ERR_REJECTED,
                            "%s was changed by others between each look and "
                            "write, %d times; nothing was changed",
                            attempt->what, ROUNDS_MAX);
    return hf_error_set(error, attempt->last.code, "%s", attempt->last.text);
}

enum hf_err hf_s3_put(struct hf_s3 *s3, const struct hf_s3_put *put,
                      struct hf_s3_put_result *result, struct hf_error *error)
{
    struct attempt attempt = {.s3 = s3, .put = put};
    enum hf_s3_fate fate = HF_S3_REFUSED;

    *result = (struct hf_s3_put_result){.tries = 0};
    snprintf(attempt.what, sizeof(attempt.what), "s3://%s/%s",
             put->name->bucket, put->name->key);
    while (result->tries < ROUNDS_MAX) {
        struct hf_error unread;
        enum hf_err failed =
            hf_s3_look(s3, put->name, &attempt.object, &unread);

        if (failed && attempt.is_open)
            return give_up(&attempt, fate, error);
        if (failed)
            return hf_error_set(error, failed, "%s", unread.text);
        /* Any earlier write of ours, also one that was answered with 412
         * because libcurl or a proxy had sent it twice. */
        if (result->tries && is_ours(&attempt)) {
            result->was_settled = true;
            memcpy(result->etag, attempt.object.etag, sizeof(result->etag));
            return HF_ERR_OK;
        }
        failed = judge(&attempt, result, error);
        if (failed)
            return failed;
        result->tries++;
        failed = write_once(&attempt, &fate, result, error);
        if (failed)
            return failed;
        result->is_etag_kept =
            attempt.object.exists && !strcmp(result->etag, attempt.object.etag);
        if (fate == HF_S3_DONE)
            return HF_ERR_OK;
        if (fate == HF_S3_REFUSED)
            return give_up(&attempt, fate, error);
        if (fate == HF_S3_OPEN)
            attempt.is_open = true;
        hf_s3_wait(s3, result->tries);
    }
    /* The last write may have been ours all the same. */
    if (!hf_s3_look(s3, put->name, &attempt.object, NULL) &&
        is_ours(&attempt)) {
        result->was_settled = true;
        return HF_ERR_OK;
    }
    return give_up(&attempt, fate, error);
}

enum hf_err hf_s3_guard_bytes(struct hf_sys *sys,
                              const struct hf_fence_claim *claim,
                              const char *id, struct hf_s3_bytes *bytes,
                              struct hf_error *error)
{
    struct hf_json json;
    struct hf_buf text;
    enum hf_err failed;

    hf_buf_init(&text, GUARD_MAX);
    hf_json_begin(&json, &text);
    hf_json_object(&json, NULL);
    hf_json_i64(&json, "version", 1);
    hf_json_decimal(&json, "token", claim->token);
    hf_json_text(&json, "grant", claim->grant);
    hf_json_text(&json, "key", claim->key);
    hf_json_text(&json, "put", id);
    hf_json_object_end(&json);
    failed = hf_json_end(&json);
    if (failed)
        hf_error_set(error, failed, "no memory for the guard object");
    else
        failed = hf_s3_bytes_make(sys, bytes, text.data, text.size, error);
    hf_buf_clear(&text);
    return failed;
}
