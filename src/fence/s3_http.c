/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_http.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One header line of an answer; the longest wanted value is a key of 512. */
enum { HEADER_LINE_MAX = 4096 };

struct hf_s3_http {
    CURL *easy;
    struct hf_s3_http_options options;
    char error_text[CURL_ERROR_SIZE];
};

/* What the callbacks of one request share. */
struct transfer {
    struct hf_s3_http *http;
    const struct hf_s3_request *request;
    struct hf_s3_answer *answer;
    uint64_t at; /* of the body: what was read so far */
    bool has_paused;
    bool has_no_memory;
    bool is_too_long;
    int read_errno;
};

/* ---- callbacks --------------------------------------------------------------
 */

static uint64_t body_size(const struct hf_s3_body *body)
{
    return body->size + body->tail_size;
}

/* Say that half is sent, and wait for the byte that lets the rest go. */
static void pause_at_half(struct transfer *transfer)
{
    int fd = transfer->request->body->pause_fd;
    char byte = 0;

    transfer->has_paused = true;
    if (send(fd, &byte, 1, MSG_NOSIGNAL) == 1)
        while (read(fd, &byte, 1) < 0 && errno == EINTR)
            ;
}

static size_t give_body(char *to, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    const struct hf_s3_body *body = transfer->request->body;
    uint64_t half = body_size(body) / 2;
    size_t room = size * count;
    ssize_t got;

    if (body->pause_fd >= 0 && !transfer->has_paused) {
        if (transfer->at >= half)
            pause_at_half(transfer);
        else if (room > half - transfer->at)
            room = (size_t)(half - transfer->at);
    }
    if (transfer->at < body->size) {
        if (room > body->size - transfer->at)
            room = (size_t)(body->size - transfer->at);
        got = pread(body->fd, to, room, (off_t)transfer->at);
        if (got <= 0) {
            transfer->read_errno = got < 0 ? errno : EIO;
            return CURL_READFUNC_ABORT;
        }
    } else {
        size_t done = (size_t)(transfer->at - body->size);

        if (room > body->tail_size - done)
            room = body->tail_size - done;
        if (room)
            memcpy(to, body->tail + done, room);
        got = (ssize_t)room;
    }
    transfer->at += (uint64_t)got;
    return (size_t)got;
}

static int rewind_body(void *context, curl_off_t offset, int origin)
{
    struct transfer *transfer = context;

    if (origin != SEEK_SET || offset < 0 ||
        (uint64_t)offset > body_size(transfer->request->body))
        return CURL_SEEKFUNC_FAIL;
    transfer->at = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static bool is_wanted(const char *name, size_t size)
{
    static const char *const wanted[] = {"etag",
                                         "content-length",
                                         "content-type",
                                         "last-modified",
                                         "x-amz-bucket-region",
                                         "x-amz-version-id",
                                         "retry-after",
                                         "date",
                                         "location"};

    if (size > 16 && !strncasecmp(name, "x-amz-meta-lock-", 16))
        return true;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (size == strlen(wanted[i]) && !strncasecmp(name, wanted[i], size))
            return true;
    return false;
}

static size_t take_header(char *from, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t length = size * count;
    char line[HEADER_LINE_MAX];
    char *colon;

    /* A new block of headers: "100 Continue" came before it, or a proxy's. */
    if (length >= 5 && !memcmp(from, "HTTP/", 5))
        hf_s3_headers_clear(&transfer->answer->headers);
    colon = memchr(from, ':', length);
    if (!colon || length >= sizeof(line) ||
        !is_wanted(from, (size_t)(colon - from)))
        return length;
    memcpy(line, from, length);
    line[length] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    line[colon - from] = '\0';
    /* A value that no header may have counts as none. */
    if (hf_s3_headers_add(&transfer->answer->headers, line,
                          line + (colon - from) + 1, NULL) == HF_ERR_NOMEM) {
        transfer->has_no_memory = true;
        return 0;
    }
    return length;
}

static bool write_all(int fd, const char *from, size_t size)
{
    while (size) {
        ssize_t put = write(fd, from, size);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        from += put;
        size -= (size_t)put;
    }
    return true;
}

static size_t take_body(char *from, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t length = size * count;
    long status = 0;

    curl_easy_getinfo(transfer->http->easy, CURLINFO_RESPONSE_CODE, &status);
    if (transfer->request->to_fd >= 0 && status / 100 == 2) {
        if (write_all(transfer->request->to_fd, from, length))
            return length;
        transfer->answer->write_errno = errno;
        return 0;
    }
    if (!hf_buf_add(&transfer->answer->body, from, length))
        return length;
    if (transfer->answer->body.failed == HF_ERR_NOMEM)
        transfer->has_no_memory = true;
    else
        transfer->is_too_long = true;
    return 0;
}

/* ---- the request ------------------------------------------------------------
 */

enum hf_err hf_s3_http_new(const struct hf_s3_http_options *options,
                           struct hf_s3_http **http, struct hf_error *error)
{
    struct hf_s3_http *new;

    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "libcurl does not start");
    new = calloc(1, sizeof(*new));
    if (new)
        new->easy = curl_easy_init();
    if (!new || !new->easy) {
        free(new);
        curl_global_cleanup();
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for HTTP");
    }
    new->options = *options;
    *http = new;
    return HF_ERR_OK;
}

void hf_s3_http_free(struct hf_s3_http *http)
{
    if (!http)
        return;
    curl_easy_cleanup(http->easy);
    free(http);
    curl_global_cleanup();
}

/* "name: value", and those that curl adds by itself taken out. */
static struct curl_slist *make_list(const struct hf_s3_headers *headers)
{
    static const char *const unwanted[] = {"Accept:", "Content-Type:"};
    struct curl_slist *list = NULL;
    struct hf_buf line;
    bool is_whole = true;

    hf_buf_init(&line, 2 * HEADER_LINE_MAX);
    for (size_t i = 0; i < 2 && is_whole; i++) {
        struct curl_slist *longer = NULL;

        if (i == 0 || !hf_s3_headers_find(headers, "content-type"))
            longer = curl_slist_append(list, unwanted[i]);
        else
            continue;
        is_whole = longer != NULL;
        list = longer ? longer : list;
    }
    for (size_t i = 0; i < headers->count && is_whole; i++) {
        struct curl_slist *longer = NULL;

        hf_buf_reset(&line);
        /* "name;" is how curl is asked to send a header without a value. */
        if (headers->values[i][0])
            hf_buf_printf(&line, "%s: %s", headers->names[i],
                          headers->values[i]);
        else
            hf_buf_printf(&line, "%s;", headers->names[i]);
        if (!line.failed)
            longer = curl_slist_append(list, line.data);
        is_whole = longer != NULL;
        list = longer ? longer : list;
    }
    hf_buf_clear(&line);
    if (is_whole)
        return list;
    curl_slist_free_all(list);
    return NULL;
}

static long in_ms(struct hf_span span)
{
    int64_t ms = hf_span_to_ms_up(span);

    return ms > 86400000 ? 86400000L : (long)ms;
}

static bool set_limits(CURL *easy, const struct hf_s3_http_options *options)
{
    CURLcode bad = CURLE_OK;

    bad |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    bad |= curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    bad |= curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    bad |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    bad |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    bad |= curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                            (long)CURL_HTTP_VERSION_1_1);
    bad |= curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                            in_ms(options->connect_limit));
    bad |= curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    bad |= curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                            (in_ms(options->idle_limit) + 999) / 1000);
    if (options->ca_bundle)
        bad |= curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca_bundle);
    if (options->user_agent)
        bad |= curl_easy_setopt(easy, CURLOPT_USERAGENT, options->user_agent);
    return bad == CURLE_OK;
}

static bool set_request(struct hf_s3_http *http, struct transfer *transfer,
                        struct curl_slist *list)
{
    const struct hf_s3_request *request = transfer->request;
    CURL *easy = http->easy;
    CURLcode bad = CURLE_OK;

    bad |= curl_easy_setopt(easy, CURLOPT_URL, request->url);
    /* A key may be "a/../b": to S3 that is a name like any other. */
    bad |= curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    bad |= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
    bad |= curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, http->error_text);
    bad |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    bad |= curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
    bad |= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    bad |= curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    if (!strcmp(request->method, "HEAD")) {
        bad |= curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    } else if (request->body) {
        bad |= curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        bad |= curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
        bad |= curl_easy_setopt(easy, CURLOPT_READDATA, transfer);
        bad |= curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewind_body);
        bad |= curl_easy_setopt(easy, CURLOPT_SEEKDATA, transfer);
        bad |= curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                                (curl_off_t)body_size(request->body));
    } else if (strcmp(request->method, "GET") != 0) {
        bad |= curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    }
    return bad == CURLE_OK;
}

static void tell_failure(struct hf_s3_http *http, struct transfer *transfer,
                         CURLcode result)
{
    struct hf_s3_answer *answer = transfer->answer;
    curl_off_t sent_after = 0;

    /* When the request itself began; 0 where no connection came about. */
    curl_easy_getinfo(http->easy, CURLINFO_PRETRANSFER_TIME_T, &sent_after);
    answer->sent = sent_after > 0 ? HF_S3_UNKNOWN : HF_S3_NOT_SENT;
    if (transfer->read_errno)
        snprintf(answer->why, sizeof(answer->why),
                 "the bytes to send cannot be read: %s",
                 strerror(transfer->read_errno));
    else if (transfer->is_too_long)
        snprintf(answer->why, sizeof(answer->why),
                 "the answer has more than %d bytes", HF_S3_ANSWER_MAX);
    else
        snprintf(answer->why, sizeof(answer->why), "%s",
                 http->error_text[0] ? http->error_text
                                     : curl_easy_strerror(result));
}

enum hf_err hf_s3_http_do(struct hf_s3_http *http,
                          const struct hf_s3_request *request,
                          struct hf_s3_answer *answer, struct hf_error *error)
{
    struct transfer transfer = {
        .http = http, .request = request, .answer = answer};
    struct curl_slist *list = make_list(request->headers);
    CURLcode result;
    long status = 0;

    *answer = (struct hf_s3_answer){.sent = HF_S3_NOT_SENT};
    hf_buf_init(&answer->body, HF_S3_ANSWER_MAX);
    http->error_text[0] = '\0';
    curl_easy_reset(http->easy);
    if (!list || !set_limits(http->easy, &http->options) ||
        !set_request(http, &transfer, list)) {
        curl_slist_free_all(list);
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a request");
    }
    result = curl_easy_perform(http->easy);
    curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
    if (result == CURLE_OK && status) {
        answer->sent = HF_S3_ANSWERED;
        answer->status = (int)status;
    } else {
        tell_failure(http, &transfer, result);
    }
    curl_slist_free_all(list);
    if (transfer.has_no_memory)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for an answer");
    return HF_ERR_OK;
}

void hf_s3_answer_clear(struct hf_s3_answer *answer)
{
    hf_s3_headers_clear(&answer->headers);
    hf_buf_clear(&answer->body);
}
