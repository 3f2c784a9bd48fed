/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_place.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"

static char us_east_1[] = "us-east-1";

static void makes(const char *url, char *endpoint, enum hf_s3_style style,
                  const char *wanted)
{
    const struct hf_s3_config config = {
        .region = us_east_1, .endpoint = endpoint, .style = style};
    struct hf_s3_place place;
    struct hf_s3_name name;
    struct hf_error error;

    if (hf_s3_name_parse(url, false, &name, &error) ||
        hf_s3_place_make(&config, &name, &place, &error))
        fail_msg("%s", error.text);
    assert_string_equal(place.url, wanted);
}

static void at_aws_the_bucket_is_in_the_host(void **state)
{
    (void)state;
    makes("s3://bucket/a/b", NULL, HF_S3_STYLE_AUTO,
          "https://bucket.s3.us-east-1.amazonaws.com/a/b");
    makes("s3://bucket/a/b", NULL, HF_S3_STYLE_PATH,
          "https://s3.us-east-1.amazonaws.com/bucket/a/b");
    /* No certificate is made for two names in one. */
    makes("s3://my.bucket/a", NULL, HF_S3_STYLE_AUTO,
          "https://s3.us-east-1.amazonaws.com/my.bucket/a");
}

static void elsewhere_it_is_in_the_path(void **state)
{
    char plain[] = "http://127.0.0.1:8333";
    char slashes[] = "https://store.example//";
    char below[] = "https://gate.example:8443/s3/";
    char own_port[] = "https://store.example:443";

    (void)state;
    makes("s3://bucket/k", plain, HF_S3_STYLE_AUTO,
          "http://127.0.0.1:8333/bucket/k");
    makes("s3://bucket/k", slashes, HF_S3_STYLE_AUTO,
          "https://store.example/bucket/k");
    makes("s3://bucket/k", below, HF_S3_STYLE_AUTO,
          "https://gate.example:8443/s3/bucket/k");
    makes("s3://bucket/k", slashes, HF_S3_STYLE_VIRTUAL,
          "https://bucket.store.example/k");
    makes("s3://bucket/k", own_port, HF_S3_STYLE_AUTO,
          "https://store.example/bucket/k");
}

static void a_name_may_be_anything(void **state)
{
    (void)state;
    makes(
        "s3://bucket//a/../b?c#d e\xc3\xa4", NULL, HF_S3_STYLE_AUTO,
        "https://bucket.s3.us-east-1.amazonaws.com//a/../b%3Fc%23d%20e%C3%A4");
}

static void is_refused(const char *url)
{
    struct hf_s3_name name = {.key = "kept"};
    struct hf_error error;

    assert_int_equal(hf_s3_name_parse(url, false, &name, &error), HF_ERR_USAGE);
    assert_string_equal(name.key, "kept");
}

static void other_names_are_refused(void **state)
{
    char url[HF_S3_KEY_MAX + 64];

    (void)state;
    is_refused("bucket/key");
    is_refused("s3://bucket");
    is_refused("s3://bucket/");
    is_refused("s3:///key");
    is_refused("s3://ab/key");
    is_refused("s3://a@b.example/key");
    is_refused("s3://bucket:80/key");
    is_refused("s3://-bucket/key");
    snprintf(url, sizeof(url), "s3://bucket/%0*d", HF_S3_KEY_MAX + 1, 1);
    is_refused(url);
}

static void endpoint_is_refused(const char *text)
{
    char endpoint[128];
    const struct hf_s3_config config = {.region = us_east_1,
                                        .endpoint = endpoint};
    const struct hf_s3_name name = {"bucket", "key"};
    struct hf_s3_place place;
    struct hf_error error;

    snprintf(endpoint, sizeof(endpoint), "%s", text);
    assert_int_equal(hf_s3_place_make(&config, &name, &place, &error),
                     HF_ERR_CONFIG);
}

static void endpoints_with_more_to_them_are_refused(void **state)
{
    (void)state;
    endpoint_is_refused("store.example");
    endpoint_is_refused("ftp://store.example");
    endpoint_is_refused("http://");
    endpoint_is_refused("http://user:password@store.example");
    endpoint_is_refused("http://store.example/?x=1");
    endpoint_is_refused("http://store.example/a b");
    endpoint_is_refused("http://store.example/%2e");
}

static void a_region_is_no_place_to_add_to_the_host(void **state)
{
    char evil[] = "x.attacker.example/";
    const struct hf_s3_config config = {.region = evil};
    const struct hf_s3_name name = {"bucket", "key"};
    struct hf_s3_place place;
    struct hf_error error;

    (void)state;
    assert_int_equal(hf_s3_place_make(&config, &name, &place, &error),
                     HF_ERR_CONFIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_aws_the_bucket_is_in_the_host),
        cmocka_unit_test(elsewhere_it_is_in_the_path),
        cmocka_unit_test(a_name_may_be_anything),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(endpoints_with_more_to_them_are_refused),
        cmocka_unit_test(a_region_is_no_place_to_add_to_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
