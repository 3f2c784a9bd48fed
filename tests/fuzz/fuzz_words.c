/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small words: tokens, lengths of time, moments. What is read prints back
 * as the same text or the same value; what is printed is read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/duration.h"
#include "base/utc.h"
#include "core/token.h"
#include "tests/fuzz/fuzz.h"

static void token(const char *text)
{
    char printed[HF_TOKEN_TEXT_SIZE + 1];
    uint64_t value = 4711;

    if (!hf_token_parse(text, strlen(text), &value)) {
        must(value == 4711);
        return;
    }
    must(value >= 1 && value <= INT64_MAX);
    snprintf(printed, sizeof(printed), "%" PRIu64, value);
    must(strcmp(printed, text) == 0);
}

static void parts_of_token(uint32_t epoch, uint64_t revision)
{
    uint64_t value = 4711;

    if (!hf_token_make(epoch, revision, &value)) {
        must(value == 4711);
        must(epoch < 1 || epoch > HF_EPOCH_MAX || revision < 1 ||
             revision > HF_REVISION_GRANT_MAX);
        return;
    }
    must(value >= 1 && value <= INT64_MAX);
    must(hf_token_epoch(value) == epoch);
    must(hf_token_revision(value) == revision);
}

/* What is printed reads as the same, and prints as the same again. */
static void span_prints(struct hf_span span)
{
    struct hf_duration_text text = hf_duration_print(span);
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_span again = {4711};
    enum hf_err err;

    must(memchr(text.text, '\0', sizeof(text.text)) != NULL);
    err = hf_duration_parse(text.text, &again, &error);
    if (span.ns < 0 || span.ns == INT64_MAX) {
        must(err == HF_ERR_USAGE && again.ns == 4711);
        return;
    }
    must(!err && again.ns == span.ns);
}

static void span_reads(const char *text)
{
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_span span = {4711};
    enum hf_err err = hf_duration_parse(text, &span, &error);

    if (err) {
        must(err == HF_ERR_USAGE && fuzz_is_told(&error, err));
        must(span.ns == 4711);
        return;
    }
    must(span.ns >= 0 && span.ns < INT64_MAX);
    span_prints(span);
}

/* The C library's reading of the calendar is the second opinion. */
static void moment(int64_t ns, unsigned int digits)
{
    struct hf_utc_text text = hf_utc_print((struct hf_wall){ns}, digits);
    struct tm tm = {.tm_sec = 0};
    const char *rest;
    size_t shown = digits > 9 ? 9 : digits;
    time_t seconds = ns / 1000000000 - (ns % 1000000000 < 0);

    must(memchr(text.text, '\0', sizeof(text.text)) != NULL);
    rest = strptime(text.text, "%Y-%m-%dT%H:%M:%S", &tm);
    must(rest != NULL && timegm(&tm) == seconds);
    must(strlen(rest) == (shown ? shown + 2 : 1));
    must(rest[strlen(rest) - 1] == 'Z');
    if (shown == 9)
        must(strtoll(rest + 1, NULL, 10) ==
             (ns % 1000000000 + 1000000000) % 1000000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct fuzz_input numbers = {data, size};
    char *text = fuzz_text(&input, size);
    uint64_t number;
    uint32_t epoch;

    token(text);
    span_reads(text);
    fuzz_fill(&numbers, &number, sizeof(number));
    fuzz_fill(&numbers, &epoch, sizeof(epoch));
    span_prints((struct hf_span){(int64_t)number});
    span_prints((struct hf_span){(int64_t)(number >> (epoch & 63))});
    moment((int64_t)number, epoch & 15);
    parts_of_token(epoch, number);
    parts_of_token(epoch & 0x7fff, number >> 16);
    free(text);
    return 0;
}
