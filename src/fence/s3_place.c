/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_place.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "fence/s3_sign.h"

/* Letters, digits, '.', '-' and, in old buckets, '_': nothing that could change
 * the meaning of a URL. */
static bool is_bucket(const char *text, size_t size)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789.-_";

    if (size < 3 || size > HF_S3_BUCKET_MAX || text[0] == '.' || text[0] == '-')
        return false;
    for (size_t i = 0; i < size; i++)
        if (!strchr(allowed, text[i]))
            return false;
    return true;
}

enum hf_err hf_s3_name_parse(const char *text, bool key_may_be_empty,
                             struct hf_s3_name *name, struct hf_error *error)
{
    struct hf_s3_name found = {.bucket = ""};
    size_t bucket_size;
    const char *key;

    if (strncmp(text, "s3://", 5) != 0)
        return hf_error_set(error, HF_ERR_USAGE,
                            "\"%.80s\" is not of the form s3://BUCKET/KEY",
                            text);
    bucket_size = strcspn(text + 5, "/");
    if (!is_bucket(text + 5, bucket_size))
        return hf_error_set(error, HF_ERR_USAGE,
                            "\"%.80s\": a bucket has 3 to %d of A-Z a-z 0-9 . "
                            "- _",
                            text, HF_S3_BUCKET_MAX);
    memcpy(found.bucket, text + 5, bucket_size);
    key = text + 5 + bucket_size;
    key += *key == '/';
    if (!*key && !key_may_be_empty)
        return hf_error_set(error, HF_ERR_USAGE, "\"%.80s\" names no object",
                            text);
    if (strlen(key) > HF_S3_KEY_MAX)
        return hf_error_set(error, HF_ERR_USAGE,
                            "the name of the object has more than %d bytes",
                            HF_S3_KEY_MAX);
    memcpy(found.key, key, strlen(key) + 1);
    *name = found;
    return HF_ERR_OK;
}

/* An endpoint taken apart. */
struct endpoint {
    char scheme[8];
    char host[256]; /* with its port, unless it is the scheme's own */
    char path[256]; /* "" or "/...", no '/' at its end */
};

static bool is_host(const char *text, size_t size)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]";

    if (!size || size >= sizeof(((struct endpoint *)0)->host))
        return false;
    for (size_t i = 0; i < size; i++)
        if (!strchr(allowed, text[i]))
            return false;
    return true;
}

/* libcurl leaves the scheme's own port out of its Host header; so do we. */
static void drop_own_port(struct endpoint *endpoint)
{
    const char *own = strcmp(endpoint->scheme, "https") ? ":80" : ":443";
    size_t size = strlen(endpoint->host);

    if (size > strlen(own) && !strcmp(endpoint->host + size - strlen(own), own))
        endpoint->host[size - strlen(own)] = '\0';
}

static enum hf_err parse_endpoint(const char *text, struct endpoint *endpoint,
                                  struct hf_error *error)
{
    struct endpoint found = {.scheme = ""};
    const char *host = strstr(text, "://");
    size_t scheme_size = host ? (size_t)(host - text) : 0;
    size_t host_size;
    size_t path_size;

    if ((scheme_size != 4 || strncmp(text, "http", 4) != 0) &&
        (scheme_size != 5 || strncmp(text, "https", 5) != 0))
        return hf_error_set(error, HF_ERR_CONFIG,
                            "the endpoint \"%.80s\" is no http:// or https:// "
                            "URL",
                            text);
    memcpy(found.scheme, text, scheme_size);
    host += 3;
    host_size = strcspn(host, "/");
    path_size = strlen(host + host_size);
    while (path_size && host[host_size + path_size - 1] == '/')
        path_size--;
    if (!is_host(host, host_size) || path_size >= sizeof(found.path) ||
        strpbrk(host + host_size, "?#%\\ "))
        return hf_error_set(error, HF_ERR_CONFIG,
                            "the endpoint \"%.80s\" is not of the form "
                            "https://HOST[:PORT][/PATH]",
                            text);
    memcpy(found.host, host, host_size);
    memcpy(found.path, host + host_size, path_size);
    drop_own_port(&found);
    *endpoint = found;
    return HF_ERR_OK;
}

/*
 * By itself: virtual-host style at AWS, unless the bucket's dots would spoil
 * the certificate's name; path style elsewhere, for only that needs no names in
 * DNS for each bucket.
 */
static bool is_virtual(const struct hf_s3_config *config, const char *bucket)
{
    switch (config->style) {
    case HF_S3_STYLE_PATH:
        return false;
    case HF_S3_STYLE_VIRTUAL:
        return true;
    case HF_S3_STYLE_AUTO:
        break;
    }
    return !config->endpoint && !strchr(bucket, '.');
}

static enum hf_err aws_endpoint(const char *region, struct endpoint *endpoint,
                                struct hf_error *error)
{
    size_t size = strlen(region);

    if (!size || size > 64 ||
        strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") != size)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "\"%.80s\" is no name of a region", region);
    *endpoint = (struct endpoint){.scheme = "https"};
    snprintf(endpoint->host, sizeof(endpoint->host), "s3.%s.amazonaws.com%s",
             region, strncmp(region, "cn-", 3) ? "" : ".cn");
    return HF_ERR_OK;
}

enum hf_err hf_s3_place_make(const struct hf_s3_config *config,
                             const struct hf_s3_name *name,
                             struct hf_s3_place *place, struct hf_error *error)
{
    struct endpoint endpoint;
    struct hf_buf path;
    enum hf_err failed =
        config->endpoint ? parse_endpoint(config->endpoint, &endpoint, error)
                         : aws_endpoint(config->region, &endpoint, error);

    if (failed)
        return failed;
    hf_buf_init(&path, sizeof(place->path) - 1);
    hf_s3_encode(&path, endpoint.path, strlen(endpoint.path), true);
    hf_buf_add_str(&path, "/");
    if (is_virtual(config, name->bucket)) {
        snprintf(place->host, sizeof(place->host), "%s.%s", name->bucket,
                 endpoint.host);
    } else {
        snprintf(place->host, sizeof(place->host), "%s", endpoint.host);
        hf_buf_printf(&path, "%s/", name->bucket);
    }
    hf_s3_encode(&path, name->key, strlen(name->key), true);
    if (path.failed) {
        failed = hf_error_set(error, path.failed, "no room for the URL");
    } else {
        memcpy(place->path, path.data, path.size + 1);
        snprintf(place->url, sizeof(place->url), "%s://%s%s", endpoint.scheme,
                 place->host, place->path);
    }
    hf_buf_clear(&path);
    return failed;
}
