/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_sign.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"

/* The keys and the moment of the examples in AWS's S3 reference
 * ("Authenticating Requests: Using the Authorization Header"). */
static const struct hf_s3_signer example = {
    .access_key = "AKIAIOSFODNN7EXAMPLE",
    .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    .region = "us-east-1",
};
/* 2013-05-24T00:00:00Z */
static const struct hf_wall moment = {INT64_C(1369353600) * 1000000000};
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void add(struct hf_s3_headers *headers, const char *name,
                const char *value)
{
    struct hf_error error;

    if (hf_s3_headers_add(headers, name, value, &error))
        fail_msg("%s", error.text);
}

static void signs(struct hf_s3_headers *headers, const char *method,
                  const char *path, const char *query, const char *payload,
                  const char *names, const char *signature)
{
    struct hf_error error;
    const char *found;
    char wanted[512];

    if (hf_s3_sign(&example, method, path, query, payload, moment, headers,
                   &error))
        fail_msg("%s", error.text);
    found = hf_s3_headers_find(headers, "authorization");
    snprintf(wanted, sizeof(wanted),
             "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/"
             "us-east-1/s3/aws4_request, SignedHeaders=%s, Signature=%s",
             names, signature);
    assert_string_equal(found, wanted);
    assert_string_equal(hf_s3_headers_find(headers, "x-amz-date"),
                        "20130524T000000Z");
    hf_s3_headers_clear(headers);
}

static void the_examples_of_the_reference_come_out(void **state)
{
    struct hf_s3_headers headers = {.count = 0};

    (void)state;
    add(&headers, "Host", "examplebucket.s3.amazonaws.com");
    add(&headers, "Range", "bytes=0-9");
    signs(&headers, "GET", "/test.txt", "", EMPTY,
          "host;range;x-amz-content-sha256;x-amz-date",
          "f0e8bdb87c964420e857bd35b5d6ed31"
          "0bd44f0170aba48dd91039c6036bdb41");

    add(&headers, "Date", "Fri, 24 May 2013 00:00:00 GMT");
    add(&headers, "Host", "examplebucket.s3.amazonaws.com");
    add(&headers, "x-amz-storage-class", "REDUCED_REDUNDANCY");
    signs(&headers, "PUT", "/test%24file.text", "",
          "44ce7dd67c959e0d3524ffac1771dfbb"
          "a87d2b6b4b4e99e42034a8b803f8b072",
          "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
          "98ad721746da40c64f1a55b78f14c238"
          "d841ea1380cd77a1b5971af0ece108bd");

    add(&headers, "Host", "examplebucket.s3.amazonaws.com");
    signs(&headers, "GET", "/", "max-keys=2&prefix=J", EMPTY,
          "host;x-amz-content-sha256;x-amz-date",
          "34b48302e7b5fa45bde8084f4b7868a8"
          "6f0a534bc59db6670ed5711ef69dc6f7");
}

static void a_header_comes_once_and_as_it_was_signed(void **state)
{
    struct hf_s3_headers headers = {.count = 0};

    (void)state;
    add(&headers, "X-Amz-Meta-A", "  two   words \x20");
    assert_string_equal(hf_s3_headers_find(&headers, "x-amz-meta-a"),
                        "two words");
    add(&headers, "x-amz-meta-a", "other");
    assert_int_equal(headers.count, 1);
    assert_string_equal(hf_s3_headers_find(&headers, "x-amz-meta-a"), "other");
    add(&headers, "x-amz-meta-b", "");
    assert_string_equal(hf_s3_headers_find(&headers, "x-amz-meta-b"), "");
    assert_null(hf_s3_headers_find(&headers, "x-amz-meta"));
    hf_s3_headers_clear(&headers);
}

static void what_no_header_may_hold_is_refused(void **state)
{
    struct hf_s3_headers headers = {.count = 0};
    char name[16];

    (void)state;
    assert_int_equal(hf_s3_headers_add(&headers, "", "x", NULL), HF_ERR_USAGE);
    assert_int_equal(hf_s3_headers_add(&headers, "a b", "x", NULL),
                     HF_ERR_USAGE);
    assert_int_equal(hf_s3_headers_add(&headers, "a:", "x", NULL),
                     HF_ERR_USAGE);
    assert_int_equal(hf_s3_headers_add(&headers, "a", "x\r\ny: z", NULL),
                     HF_ERR_USAGE);
    assert_int_equal(headers.count, 0);
    for (int i = 0; i < HF_S3_HEADERS_MAX; i++) {
        snprintf(name, sizeof(name), "h%d", i);
        add(&headers, name, "x");
    }
    assert_int_equal(hf_s3_headers_add(&headers, "more", "x", NULL),
                     HF_ERR_USAGE);
    hf_s3_headers_clear(&headers);
}

static void encodes(const char *text, bool keeps_slash, const char *wanted)
{
    struct hf_buf buf;

    hf_buf_init(&buf, 256);
    assert_int_equal(hf_s3_encode(&buf, text, strlen(text), keeps_slash),
                     HF_ERR_OK);
    assert_string_equal(buf.data, wanted);
    hf_buf_clear(&buf);
}

static void names_are_percent_encoded(void **state)
{
    (void)state;
    encodes("azAZ09-._~", false, "azAZ09-._~");
    encodes("a/b", true, "a/b");
    encodes("a/b", false, "a%2Fb");
    encodes("a b+c%d\xc3\xa4", false, "a%20b%2Bc%25d%C3%A4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_reference_come_out),
        cmocka_unit_test(a_header_comes_once_and_as_it_was_signed),
        cmocka_unit_test(what_no_header_may_hold_is_refused),
        cmocka_unit_test(names_are_percent_encoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
