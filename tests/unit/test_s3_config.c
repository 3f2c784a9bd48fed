/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/folder.h"
#include "tests/lib/nth_malloc.h"

/* The two files, in a folder that is taken for HOME. */
struct home {
    char *folder;
    char word[4096];
    char *environment[8]; /* HOME first */
    struct hf_sys sys;
};

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void begin(struct home *home, const char *credentials,
                  const char *config)
{
    char path[4200];

    memset(home, 0, sizeof(*home));
    hf_sys_init_real(&home->sys);
    home->folder = folder_new();
    snprintf(home->word, sizeof(home->word), "HOME=%s", home->folder);
    home->environment[0] = home->word;
    snprintf(path, sizeof(path), "%s/.aws", home->folder);
    assert_true(home->sys.mkdir(&home->sys, AT_FDCWD, path, 0700) == 0);
    snprintf(path, sizeof(path), "%s/.aws/credentials", home->folder);
    write_file(path, credentials);
    snprintf(path, sizeof(path), "%s/.aws/config", home->folder);
    write_file(path, config);
}

static void finds(struct home *home, const char *profile,
                  struct hf_s3_config *config)
{
    const struct hf_s3_choices choices = {.profile = profile};
    struct hf_error error;

    if (hf_s3_config_find(&home->sys, &choices, home->environment, config,
                          &error))
        fail_msg("%s", error.text);
}

static const char credentials[] = "# a comment\n"
                                  "; another\n"
                                  "[default]\r\n"
                                  "aws_access_key_id = first\r\n"
                                  "aws_secret_access_key=one=two\n"
                                  "aws_session_token =\tt/o+k=\n"
                                  "\n"
                                  "[ spaced ]\n"
                                  "aws_access_key_id=second\n"
                                  "aws_secret_access_key=three\n";
static const char config_text[] = "[default]\n"
                                  "region = eu-west-1\n"
                                  "s3 =\n"
                                  "  addressing_style = path\n"
                                  "[profile spaced]\n"
                                  "region=ap-south-1\n"
                                  "endpoint_url = http://one.example\n"
                                  "s3 =\n"
                                  "    addressing_style = virtual\n"
                                  "other =\n"
                                  "  region = nested\n"
                                  "[profile served]\n"
                                  "aws_access_key_id=third\n"
                                  "aws_secret_access_key=four\n"
                                  "endpoint_url = http://two.example\n"
                                  "services = mine\n"
                                  "[services mine]\n"
                                  "dynamodb =\n"
                                  "  endpoint_url = http://wrong.example\n"
                                  "s3 =\n"
                                  "  endpoint_url = http://three.example\n";

static void profiles_are_read_as_the_aws_tools_read_them(void **state)
{
    struct hf_s3_config config;
    struct home home;

    (void)state;
    begin(&home, credentials, config_text);
    finds(&home, NULL, &config);
    assert_string_equal(config.access_key, "first");
    assert_string_equal(config.secret_key, "one=two");
    assert_string_equal(config.session_token, "t/o+k=");
    assert_string_equal(config.region, "eu-west-1");
    assert_null(config.endpoint);
    assert_int_equal(config.style, HF_S3_STYLE_PATH);
    hf_s3_config_clear(&config);

    finds(&home, "spaced", &config);
    assert_string_equal(config.access_key, "second");
    assert_null(config.session_token);
    assert_string_equal(config.region, "ap-south-1");
    assert_string_equal(config.endpoint, "http://one.example");
    assert_int_equal(config.style, HF_S3_STYLE_VIRTUAL);
    hf_s3_config_clear(&config);

    finds(&home, "served", &config);
    assert_string_equal(config.access_key, "third");
    assert_string_equal(config.endpoint, "http://three.example");
    assert_string_equal(config.region, "us-east-1");
    hf_s3_config_clear(&config);
    folder_free(home.folder);
}

static void the_environment_goes_before_the_files(void **state)
{
    char key[] = "AWS_ACCESS_KEY_ID=env";
    char secret[] = "AWS_SECRET_ACCESS_KEY=secret";
    char region[] = "AWS_DEFAULT_REGION=eu-north-1";
    char endpoint[] = "AWS_ENDPOINT_URL=http://four.example";
    char profile[] = "AWS_PROFILE=spaced";
    char ignored[] = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=TRUE";
    struct hf_s3_config config;
    struct home home;

    (void)state;
    begin(&home, credentials, config_text);
    home.environment[1] = key;
    home.environment[2] = secret;
    home.environment[3] = region;
    home.environment[4] = endpoint;
    home.environment[5] = profile;
    finds(&home, NULL, &config);
    assert_string_equal(config.access_key, "env");
    /* The session token of the file belongs to the file's keys. */
    assert_null(config.session_token);
    assert_string_equal(config.region, "eu-north-1");
    assert_string_equal(config.endpoint, "http://four.example");
    hf_s3_config_clear(&config);

    home.environment[6] = ignored;
    finds(&home, NULL, &config);
    assert_null(config.endpoint);
    hf_s3_config_clear(&config);

    /* A profile that is named on the command line goes before all. */
    finds(&home, "spaced", &config);
    assert_string_equal(config.access_key, "second");
    hf_s3_config_clear(&config);
    folder_free(home.folder);
}

static void refuses(struct home *home, const char *profile, const char *why)
{
    const struct hf_s3_choices choices = {.profile = profile};
    struct hf_s3_config config;
    struct hf_error error;

    assert_int_equal(hf_s3_config_find(&home->sys, &choices, home->environment,
                                       &config, &error),
                     HF_ERR_CONFIG);
    if (!strstr(error.text, why))
        fail_msg("%s", error.text);
}

static void what_has_no_keys_says_why(void **state)
{
    struct home home;

    (void)state;
    begin(&home, "[half]\naws_secret_access_key=x\n",
          "[profile role]\nrole_arn = arn:x\n"
          "[profile made]\ncredential_process = /bin/true\n");
    refuses(&home, NULL, "no S3 keys");
    refuses(&home, "half", "the access key id is missing");
    refuses(&home, "nobody", "no profile \"nobody\"");
    refuses(&home, "role", "role_arn");
    refuses(&home, "made", "credential_process");
    home.environment[0] = NULL;
    refuses(&home, NULL, "is HOME set?");
    folder_free(home.folder);
}

static void a_failed_allocation_is_an_error_and_leaks_nothing(void **state)
{
    const struct hf_s3_choices choices = {.profile = "served"};
    struct hf_s3_config config;
    struct hf_error error;
    struct home home;

    (void)state;
    begin(&home, credentials, config_text);
    for (unsigned int n = 1;; n++) {
        enum hf_err failed;

        nth_malloc_fail(n);
        failed = hf_s3_config_find(&home.sys, &choices, home.environment,
                                   &config, &error);
        if (!nth_malloc_end()) {
            assert_int_equal(failed, HF_ERR_OK);
            break;
        }
        assert_int_equal(failed, HF_ERR_NOMEM);
    }
    hf_s3_config_clear(&config);
    folder_free(home.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_are_read_as_the_aws_tools_read_them),
        cmocka_unit_test(the_environment_goes_before_the_files),
        cmocka_unit_test(what_has_no_keys_says_why),
        cmocka_unit_test(a_failed_allocation_is_an_error_and_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
