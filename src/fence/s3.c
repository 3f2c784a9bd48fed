/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/sha256.h"

enum { LOOK_TRIES = 5 };

struct hf_s3 {
    struct hf_sys *sys;
    const struct hf_s3_config *config;
    struct hf_s3_http *http;
};

enum hf_err hf_s3_new(struct hf_sys *sys, const struct hf_s3_config *config,
                      const char *user_agent, struct hf_s3 **s3,
                      struct hf_error *error)
{
    struct hf_s3_http_options options = {
        .ca_bundle = config->ca_bundle,
        .user_agent = user_agent,
        .connect_limit = hf_span_ms(10000),
        .idle_limit = hf_span_ms(60000),
    };
    struct hf_s3 *new = calloc(1, sizeof(*new));
    enum hf_err failed;

    if (!new)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for S3");
    failed = hf_s3_http_new(&options, &new->http, error);
    if (failed) {
        free(new);
        return failed;
    }
    new->sys = sys;
    new->config = config;
    *s3 = new;
    return HF_ERR_OK;
}

void hf_s3_free(struct hf_s3 *s3)
{
    if (!s3)
        return;
    hf_s3_http_free(s3->http);
    free(s3);
}

struct hf_sys *hf_s3_sys(const struct hf_s3 *s3)
{
    return s3->sys;
}

void hf_s3_wait(struct hf_s3 *s3, unsigned int try)
{
    unsigned int ms = try > 5 ? 3000 : 100u << (try - 1);
    uint16_t chance = 0;

    /* Without a random number all wait the longest. */
    if (s3->sys->random(s3->sys, &chance, sizeof(chance)) < 0)
        chance = 0;
    poll(NULL, 0, (int)(ms - ms / 2 * chance / UINT16_MAX));
}

/* ---- requests ---------------------------------------------------------------
 */

static enum hf_err sign(struct hf_s3 *s3, const struct hf_s3_call *call,
                        const struct hf_s3_place *place,
                        struct hf_s3_headers *headers, struct hf_error *error)
{
    const struct hf_s3_config *config = s3->config;
    const struct hf_s3_signer signer = {
        .access_key = config->access_key,
        .secret_key = config->secret_key,
        .session_token = config->session_token,
        .region = config->region,
    };
    char empty[HF_SHA256_TEXT_SIZE];
    uint8_t hash[HF_SHA256_SIZE];
    struct hf_sha256 nothing;
    enum hf_err failed = hf_s3_headers_add(headers, "host", place->host, error);

    for (size_t i = 0; call->headers && i < call->headers->count && !failed;
         i++)
        failed = hf_s3_headers_add(headers, call->headers->names[i],
                                   call->headers->values[i], error);
    if (failed)
        return failed;
    hf_sha256_begin(&nothing);
    hf_sha256_end(&nothing, hash);
    hf_sha256_text(hash, empty);
    return hf_s3_sign(&signer, call->method, place->path, "",
                      call->payload_hash ? call->payload_hash : empty,
                      s3->sys->wall(s3->sys), headers, error);
}

enum hf_err hf_s3_do(struct hf_s3 *s3, const struct hf_s3_call *call,
                     struct hf_s3_answer *answer, struct hf_error *error)
{
    struct hf_s3_headers headers = {.count = 0};
    struct hf_s3_place place;
    enum hf_err failed =
        hf_s3_place_make(s3->config, call->name, &place, error);

    if (failed)
        return failed;
    failed = sign(s3, call, &place, &headers, error);
    if (!failed) {
        const struct hf_s3_request request = {
            .method = call->method,
            .url = place.url,
            .headers = &headers,
            .body = call->body,
            .to_fd = call->to_fd,
        };

        failed = hf_s3_http_do(s3->http, &request, answer, error);
        if (failed)
            hf_s3_answer_clear(answer);
    }
    hf_s3_headers_clear(&headers);
    return failed;
}

/* ---- answers ----------------------------------------------------------------
 */

/* The text of an element of an error's XML, cut to fit; "" where there is none.
 * For messages alone: hf_error_set makes it fit for a terminal. */
static void read_element(const struct hf_s3_answer *answer, const char *name,
                         char *to, size_t room)
{
    char open[32];
    const char *at;
    size_t size;

    to[0] = '\0';
    snprintf(open, sizeof(open), "<%s>", name);
    at = answer->body.size ? strstr(answer->body.data, open) : NULL;
    if (!at)
        return;
    at += strlen(open);
    size = strcspn(at, "<");
    if (size >= room)
        size = room - 1;
    memcpy(to, at, size);
    to[size] = '\0';
}

enum hf_s3_fate hf_s3_judge(const struct hf_s3_answer *answer)
{
    char code[64];

    switch (answer->sent) {
    case HF_S3_NOT_SENT:
        return HF_S3_LATER;
    case HF_S3_UNKNOWN:
        return HF_S3_OPEN;
    case HF_S3_ANSWERED:
        break;
    }
    switch (answer->status) {
    case 412:
    case 409:
        return HF_S3_CONFLICT;
    case 404:
        read_element(answer, "Code", code, sizeof(code));
        return strcmp(code, "NoSuchBucket") ? HF_S3_ABSENT : HF_S3_REFUSED;
    case 501:
        return HF_S3_REFUSED;
    case 408:
    case 429:
        return HF_S3_OPEN;
    default: /* numbers, not an enum */
        break;
    }
    if (answer->status / 100 == 2)
        return HF_S3_DONE;
    /* 500, 502, 503, 504 ...: also said of requests that were carried out. */
    return answer->status / 100 == 5 ? HF_S3_OPEN : HF_S3_REFUSED;
}

/* A sentence on what to do, by the store's own code or the status. */
static const char *hint_of(int status, const char *code)
{
    static const struct {
        const char *code;
        int status;
        const char *hint;
    } hints[] = {
        {"NoSuchBucket", 0, "there is no such bucket"},
        {"SignatureDoesNotMatch", 0,
         "the secret key does not fit the access key id, or a proxy changed "
         "the request"},
        {"InvalidAccessKeyId", 0, "the store does not know this access key id"},
        {"ExpiredToken", 0, "the session token has run out"},
        {"RequestTimeTooSkewed", 0,
         "the clock of this host and the store's are too far apart"},
        {"AuthorizationHeaderMalformed", 0,
         "the region is wrong (AWS_REGION, --region)"},
        {"XAmzContentSHA256Mismatch", 0,
         "the bytes changed on their way, or the file was changed while it was "
         "sent"},
        {"BadDigest", 0,
         "the bytes changed on their way, or the file was changed while it was "
         "sent"},
        {"EntityTooLarge", 0, "the store takes no object of that size at once"},
        {NULL, 403,
         "not permitted (an object that is absent answers this too where "
         "listing the bucket is not permitted)"},
        {NULL, 501, "the store does not know conditional writes: no fence"},
        {NULL, 301, "the bucket is in another region"},
        {NULL, 307, "the bucket is in another region, or has just been made"},
        {NULL, 400, "the store finds the request wrong (the region?)"},
        {NULL, 404, "there is no such object or bucket"},
    };

    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
        if (hints[i].code ? !strcmp(hints[i].code, code)
                          : hints[i].status == status)
            return hints[i].hint;
    return NULL;
}

static enum hf_err error_of(const struct hf_s3_answer *answer)
{
    switch (hf_s3_judge(answer)) {
    case HF_S3_DONE:
        return HF_ERR_INTERNAL;
    case HF_S3_LATER:
        return HF_ERR_UNAVAILABLE;
    case HF_S3_OPEN:
        return HF_ERR_UNSETTLED;
    case HF_S3_ABSENT:
    case HF_S3_CONFLICT:
        return HF_ERR_REJECTED;
    case HF_S3_REFUSED:
        break;
    }
    if (answer->status == 501)
        return HF_ERR_UNFENCED;
    if (answer->status == 403 || answer->status == 401)
        return HF_ERR_DENIED;
    return answer->status / 100 == 3 ? HF_ERR_CONFIG : HF_ERR_REJECTED;
}

enum hf_err hf_s3_explain(const struct hf_s3 *s3, const struct hf_s3_name *name,
                          const struct hf_s3_answer *answer,
                          struct hf_error *error)
{
    const char *region =
        hf_s3_headers_find(&answer->headers, "x-amz-bucket-region");
    enum hf_err err = error_of(answer);
    struct hf_s3_place place;
    const char *hint;
    char message[200];
    char code[64];

    if (hf_s3_place_make(s3->config, name, &place, NULL))
        place.host[0] = '\0';
    if (answer->sent != HF_S3_ANSWERED)
        return hf_error_set(error, err, "s3://%s/%.200s at %.200s: %s",
                            name->bucket, name->key, place.host, answer->why);
    read_element(answer, "Code", code, sizeof(code));
    read_element(answer, "Message", message, sizeof(message));
    hint = hint_of(answer->status, code);
    if (region && strcmp(region, s3->config->region) != 0)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "s3://%s: the bucket is in region %.64s, and the "
                            "request was for %s (AWS_REGION, --region)",
                            name->bucket, region, s3->config->region);
    return hf_error_set(
        error, err, "s3://%s/%.200s at %.200s: %s%sHTTP %d%s%s%s%s",
        name->bucket, name->key, place.host, hint ? hint : "", hint ? ": " : "",
        answer->status, code[0] ? " " : "", code,
        message[0] && !hint ? ": " : "", hint ? "" : message);
}

/* ---- objects ----------------------------------------------------------------
 */

/* Copy a header's value; false: it does not fit. */
static bool copy_header(const struct hf_s3_answer *answer, const char *name,
                        char *to, size_t room)
{
    const char *value = hf_s3_headers_find(&answer->headers, name);

    if (value && strlen(value) >= room)
        return false;
    snprintf(to, room, "%s", value ? value : "");
    return true;
}

static uint64_t read_size(const char *text)
{
    uint64_t size = 0;

    for (; text && *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(size, 10, &size) ||
            __builtin_add_overflow(size, (uint64_t)(*text - '0'), &size))
            return UINT64_MAX;
    return size;
}

static bool read_mark(const struct hf_s3_answer *answer,
                      struct hf_s3_object *object)
{
    struct hf_fence_mark *mark = &object->mark;
    const char *token = hf_s3_headers_find(&answer->headers, HF_S3_META_TOKEN);

    if (!token)
        return true;
    object->is_marked = true;
    return hf_token_parse(token, strlen(token), &mark->token) &&
           copy_header(answer, HF_S3_META_GRANT, mark->grant,
                       sizeof(mark->grant)) &&
           hf_fence_grant_is_valid(mark->grant) &&
           copy_header(answer, HF_S3_META_KEY, mark->key, sizeof(mark->key)) &&
           (!mark->key[0] || !hf_key_check(mark->key, NULL)) &&
           copy_header(answer, HF_S3_META_PUT, object->put,
                       sizeof(object->put));
}

enum hf_err hf_s3_object_read(const struct hf_s3_name *name,
                              const struct hf_s3_answer *answer,
                              struct hf_s3_object *object,
                              struct hf_error *error)
{
    struct hf_s3_object found = {.exists = true};

    if (!copy_header(answer, "etag", found.etag, sizeof(found.etag)) ||
        !found.etag[0])
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "s3://%s/%.200s: the store tells no ETag, so no "
                            "write can depend on it",
                            name->bucket, name->key);
    if (!read_mark(answer, &found))
        return hf_error_set(error, HF_ERR_REJECTED,
                            "s3://%s/%.200s: its mark (" HF_S3_META_TOKEN
                            " and its fellows) is not of the documented form; "
                            "nothing was changed",
                            name->bucket, name->key);
    copy_header(answer, "last-modified", found.modified,
                sizeof(found.modified));
    found.size =
        read_size(hf_s3_headers_find(&answer->headers, "content-length"));
    *object = found;
    return HF_ERR_OK;
}

enum hf_err hf_s3_look(struct hf_s3 *s3, const struct hf_s3_name *name,
                       struct hf_s3_object *object, struct hf_error *error)
{
    const struct hf_s3_call call = {
        .method = "HEAD", .name = name, .to_fd = -1};

    for (unsigned int try = 1;; try++) {
        struct hf_s3_answer answer;
        enum hf_s3_fate fate;
        enum hf_err failed = hf_s3_do(s3, &call, &answer, error);

        if (failed)
            return failed;
        fate = hf_s3_judge(&answer);
        if (fate == HF_S3_DONE) {
            failed = hf_s3_object_read(name, &answer, object, error);
        } else if (fate == HF_S3_ABSENT) {
            *object = (struct hf_s3_object){.exists = false};
        } else {
            failed = hf_s3_explain(s3, name, &answer, error);
            /* A look that was not answered has changed nothing. */
            if (failed == HF_ERR_UNSETTLED) {
                failed = HF_ERR_UNAVAILABLE;
                if (error)
                    error->code = failed;
            }
        }
        hf_s3_answer_clear(&answer);
        if (failed != HF_ERR_UNAVAILABLE || try == LOOK_TRIES)
            return failed;
        hf_s3_wait(s3, try);
    }
}
