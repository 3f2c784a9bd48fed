/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fence/sha256.h"

/* Room for what is signed: headers of some KB, and a key of 1,024 bytes, each
 * of which may become three. */
enum { CANONICAL_MAX = 32768, AUTHORIZATION_MAX = 4096 };

/* ---- headers --------------------------------------------------------------
 */

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

/* In lower case, own memory; NULL: no name, or no memory (*is_wrong tells). */
static char *name_of(const char *name, bool *is_wrong)
{
    char *copy = strdup(name);

    *is_wrong = false;
    if (!copy)
        return NULL;
    for (char *at = copy; *at; at++) {
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
        *is_wrong = *is_wrong || !is_name_byte(*at);
    }
    if (!*is_wrong && *copy)
        return copy;
    *is_wrong = true;
    free(copy);
    return NULL;
}

/* Signed is the value without blanks at its ends and with single ones within;
 * kept like this, so that what is sent is what was signed. */
static char *value_of(const char *value, bool *is_wrong)
{
    size_t size = 0;
    char *copy = malloc(strlen(value) + 1);

    *is_wrong = false;
    if (!copy)
        return NULL;
    for (const char *at = value; *at; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            *is_wrong = true;
            free(copy);
            return NULL;
        }
        if (*at != ' ' || (size && copy[size - 1] != ' '))
            copy[size++] = *at;
    }
    if (size && copy[size - 1] == ' ')
        size--;
    copy[size] = '\0';
    return copy;
}

static size_t index_of(const struct hf_s3_headers *headers, const char *name)
{
    size_t i = 0;

    while (i < headers->count && strcmp(headers->names[i], name) != 0)
        i++;
    return i;
}

enum hf_err hf_s3_headers_add(struct hf_s3_headers *headers, const char *name,
                              const char *value, struct hf_error *error)
{
    bool name_is_wrong;
    bool value_is_wrong = false;
    char *own_name = name_of(name, &name_is_wrong);
    char *own_value = own_name ? value_of(value, &value_is_wrong) : NULL;
    size_t at;

    if (!own_name || !own_value) {
        free(own_name);
        if (name_is_wrong)
            return hf_error_set(error, HF_ERR_USAGE,
                                "\"%s\" cannot be the name of a header", name);
        if (value_is_wrong)
            return hf_error_set(error, HF_ERR_USAGE,
                                "the value of \"%s\" has a control character",
                                name);
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a header");
    }
    at = index_of(headers, own_name);
    if (at == HF_S3_HEADERS_MAX) {
        free(own_name);
        free(own_value);
        return hf_error_set(error, HF_ERR_USAGE, "more than %d headers",
                            HF_S3_HEADERS_MAX);
    }
    if (at < headers->count) {
        free(headers->names[at]);
        free(headers->values[at]);
    } else {
        headers->count++;
    }
    headers->names[at] = own_name;
    headers->values[at] = own_value;
    return HF_ERR_OK;
}

const char *hf_s3_headers_find(const struct hf_s3_headers *headers,
                               const char *name)
{
    size_t at = index_of(headers, name);

    return at < headers->count ? headers->values[at] : NULL;
}

void hf_s3_headers_clear(struct hf_s3_headers *headers)
{
    for (size_t i = 0; i < headers->count; i++) {
        free(headers->names[i]);
        free(headers->values[i]);
    }
    headers->count = 0;
}

/* ---- signing --------------------------------------------------------------
 */

enum hf_err hf_s3_encode(struct hf_buf *to, const char *text, size_t size,
                         bool keeps_slash)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            (c >= '0' && c <= '9') || (c && strchr("-._~", c)) ||
            (c == '/' && keeps_slash))
            hf_buf_add(to, text + i, 1);
        else
            hf_buf_printf(to, "%%%02X", c);
    }
    return to->failed;
}

/* Indices of the headers in the order of their names. */
static void sort_headers(const struct hf_s3_headers *headers,
                         size_t order[HF_S3_HEADERS_MAX])
{
    for (size_t i = 0; i < headers->count; i++) {
        size_t at = i;

        for (;
             at && strcmp(headers->names[order[at - 1]], headers->names[i]) > 0;
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void add_signed_names(const struct hf_s3_headers *headers,
                             const size_t *order, struct hf_buf *to)
{
    for (size_t i = 0; i < headers->count; i++)
        hf_buf_printf(to, "%s%s", i ? ";" : "", headers->names[order[i]]);
}

/* Hash of the canonical request. */
static enum hf_err hash_request(const char *method, const char *path,
                                const char *query, const char *payload_hash,
                                const struct hf_s3_headers *headers,
                                const size_t *order,
                                char to[HF_SHA256_TEXT_SIZE])
{
    uint8_t digest[HF_SHA256_SIZE];
    struct hf_sha256 hash;
    struct hf_buf text;
    enum hf_err failed;

    hf_buf_init(&text, CANONICAL_MAX);
    hf_buf_printf(&text, "%s\n%s\n%s\n", method, path, query);
    for (size_t i = 0; i < headers->count; i++)
        hf_buf_printf(&text, "%s:%s\n", headers->names[order[i]],
                      headers->values[order[i]]);
    hf_buf_add_str(&text, "\n");
    add_signed_names(headers, order, &text);
    hf_buf_printf(&text, "\n%s", payload_hash);
    failed = text.failed;
    if (!failed) {
        hf_sha256_begin(&hash);
        hf_sha256_add(&hash, text.data, text.size);
        hf_sha256_end(&hash, digest);
        hf_sha256_text(digest, to);
    }
    hf_buf_clear(&text);
    return failed;
}

/* HMAC of the date, the region, the service and a fixed word, one with the
 * other's result as its key; the last one of `text`. */
static enum hf_err sign_text(const struct hf_s3_signer *signer,
                             const char *date, const char *text,
                             char to[HF_SHA256_TEXT_SIZE])
{
    const char *steps[] = {date, signer->region, "s3", "aws4_request", text};
    uint8_t key[HF_SHA256_SIZE];
    struct hf_buf secret;
    enum hf_err failed;

    hf_buf_init(&secret, 1024);
    hf_buf_printf(&secret, "AWS4%s", signer->secret_key);
    failed = secret.failed;
    if (!failed) {
        hf_hmac_sha256(secret.data, secret.size, steps[0], strlen(steps[0]),
                       key);
        for (size_t i = 1; i < sizeof(steps) / sizeof(steps[0]); i++)
            hf_hmac_sha256(key, sizeof(key), steps[i], strlen(steps[i]), key);
        hf_sha256_text(key, to);
    }
    if (secret.data)
        explicit_bzero(secret.data, secret.size);
    hf_buf_clear(&secret);
    return failed;
}

static enum hf_err
add_authorization(const struct hf_s3_signer *signer, const char *stamp,
                  const char *request_hash, struct hf_s3_headers *headers,
                  const size_t *order, struct hf_error *error)
{
    char scope[128];
    char text[512];
    char signature[HF_SHA256_TEXT_SIZE];
    char date[9];
    struct hf_buf value;
    enum hf_err failed;

    memcpy(date, stamp, 8);
    date[8] = '\0';
    snprintf(scope, sizeof(scope), "%s/%s/s3/aws4_request", date,
             signer->region);
    snprintf(text, sizeof(text), "AWS4-HMAC-SHA256\n%s\n%s\n%s", stamp, scope,
             request_hash);
    failed = sign_text(signer, date, text, signature);
    hf_buf_init(&value, AUTHORIZATION_MAX);
    hf_buf_printf(&value, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=",
                  signer->access_key, scope);
    add_signed_names(headers, order, &value);
    hf_buf_printf(&value, ", Signature=%s", signature);
    if (!failed)
        failed = value.failed;
    if (failed)
        hf_error_set(error, failed, "the request cannot be signed: %s",
                     failed == HF_ERR_NOMEM ? "no memory" : "it is too long");
    else
        failed = hf_s3_headers_add(headers, "authorization", value.data, error);
    hf_buf_clear(&value);
    return failed;
}

enum hf_err hf_s3_sign(const struct hf_s3_signer *signer, const char *method,
                       const char *path, const char *query,
                       const char *payload_hash, struct hf_wall now,
                       struct hf_s3_headers *headers, struct hf_error *error)
{
    time_t seconds = (time_t)(now.ns / 1000000000);
    char request_hash[HF_SHA256_TEXT_SIZE];
    size_t order[HF_S3_HEADERS_MAX];
    char stamp[20];
    struct tm utc;
    enum hf_err failed;

    if (strlen(signer->region) > 64)
        return hf_error_set(error, HF_ERR_USAGE,
                            "\"%s\" is no name of a region", signer->region);
    if (!gmtime_r(&seconds, &utc) ||
        !strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc))
        return hf_error_set(error, HF_ERR_INTERNAL,
                            "this host's clock tells no date");
    failed = hf_s3_headers_add(headers, "x-amz-date", stamp, error);
    if (!failed)
        failed = hf_s3_headers_add(headers, "x-amz-content-sha256",
                                   payload_hash, error);
    if (!failed && signer->session_token)
        failed = hf_s3_headers_add(headers, "x-amz-security-token",
                                   signer->session_token, error);
    if (failed)
        return failed;
    sort_headers(headers, order);
    failed = hash_request(method, path, query, payload_hash, headers, order,
                          request_hash);
    if (failed)
        return hf_error_set(error, failed, "the request cannot be signed: %s",
                            failed == HF_ERR_NOMEM ? "no memory"
                                                   : "it is too long");
    return add_authorization(signer, stamp, request_hash, headers, order,
                             error);
}
