/* SPDX-License-Identifier: Apache-2.0 */
#include "core/key.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"

static void is_a_key(const char *text)
{
    struct hf_error error = {.text = ""};

    if (hf_key_check(text, &error))
        fail_msg("\"%s\": %s", text, error.text);
}

static void is_refused(const char *text, const char *why)
{
    struct hf_error error = {.text = ""};

    if (hf_key_check(text, &error) != HF_ERR_USAGE)
        fail_msg("\"%s\" is taken for a key", text);
    if (!strstr(error.text, why))
        fail_msg("\"%s\": %s", text, error.text);
}

static void a_key_has_three_segments_or_more(void **state)
{
    (void)state;
    is_a_key("t/n/k");
    is_a_key("tenant/namespace/name/and/more");
    is_a_key("A-Z/a.z/0_9@:+=%");
    is_refused("t/n", "2 segments");
    is_refused("t", "1 segment;");
}

static void
what_is_outside_of_the_grammar_is_refused_with_its_place(void **state)
{
    (void)state;
    is_refused("", "empty segment at byte 1");
    is_refused("t//k", "empty segment at byte 3");
    is_refused("t/n/", "empty segment at byte 5");
    is_refused("/t/n/k", "empty segment at byte 1");
    is_refused("t/n/a b", "byte 6 (0x20)");
    is_refused("t/n/a\nb", "byte 6 (0x0a)");
    is_refused("t/n/\033[31m", "byte 5 (0x1b)");
    is_refused("t/n/\xc3\xa9", "byte 5 (0xc3)");
    is_refused("t/n/.", "\".\"");
    is_refused("t/../k", "\"..\"");
    is_refused("t/n/$(x)", "byte 5 (0x24)");
    is_a_key("t/n/-rf");
    is_a_key("t/n/...");
}

static void limits_are_exact(void **state)
{
    char segment[HF_KEY_SEGMENT_MAX + 2];
    char key[HF_KEY_BYTES_MAX + 16];
    size_t size;

    (void)state;
    memset(segment, 'a', sizeof(segment));
    segment[HF_KEY_SEGMENT_MAX] = '\0';
    snprintf(key, sizeof(key), "t/n/%s", segment);
    is_a_key(key);
    segment[HF_KEY_SEGMENT_MAX] = 'a';
    segment[HF_KEY_SEGMENT_MAX + 1] = '\0';
    snprintf(key, sizeof(key), "t/n/%s", segment);
    is_refused(key, "129 bytes");
    for (size = 0; size < HF_KEY_BYTES_MAX; size++)
        key[size] = size % 3 == 2 ? '/' : 'b';
    key[HF_KEY_BYTES_MAX] = '\0';
    is_a_key(key);
    key[HF_KEY_BYTES_MAX] = 'c';
    key[HF_KEY_BYTES_MAX + 1] = '\0';
    is_refused(key, "513 bytes");
}

static void a_name_without_slash_gets_a_home(void **state)
{
    char key[HF_KEY_SIZE] = "untouched";
    struct hf_error error;

    (void)state;
    assert_int_equal(
        hf_key_complete("nightly", HF_KEY_DEFAULT_HOME, key, &error),
        HF_ERR_OK);
    assert_string_equal(key, "local/default/nightly");
    assert_int_equal(hf_key_complete("t/n/k", "x/y", key, &error), HF_ERR_OK);
    assert_string_equal(key, "t/n/k");
    assert_int_equal(hf_key_complete("t/n", "x/y", key, &error), HF_ERR_USAGE);
    assert_int_equal(hf_key_complete("", "x/y", key, &error), HF_ERR_USAGE);
    assert_int_equal(hf_key_complete("..", "x/y", key, &error), HF_ERR_USAGE);
    assert_string_equal(key, "t/n/k");
}

static void expands(const char *path, const char *hash, const char *wanted)
{
    struct hf_key_words words = {.command_path = path, .line_hash = hash};
    char key[HF_KEY_SIZE];
    struct hf_error error = {.text = ""};

    if (hf_key_expand("local/batch/{command path}", &words, key, &error))
        fail_msg("%s: %s", path, error.text);
    assert_string_equal(key, wanted);
}

static void a_command_path_becomes_a_key(void **state)
{
    (void)state;
    expands("/usr/bin/sh", NULL, "local/batch/usr/bin/sh");
    expands("/usr/bin/sh", "00ff", "local/batch/usr/bin/sh/line-00ff");
    expands("/opt/my jobs/nightly 100%.sh", NULL,
            "local/batch/opt/my%20jobs/nightly%20100%25.sh");
    expands("/", NULL, "local/batch/%25");
    expands("/a/./b", NULL, "local/batch/a/%2E/b");
    expands("/\xc3\xa9", NULL, "local/batch/%C3%A9");
}

static void long_paths_differ_still(void **state)
{
    struct hf_key_words words = {0};
    char path[3000];
    char first[HF_KEY_SIZE];
    char second[HF_KEY_SIZE];
    struct hf_error error = {.text = ""};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(path) - 1; i++)
        path[i] = i % 100 == 0 ? '/' : ' ';
    path[sizeof(path) - 1] = '\0';
    words.command_path = path;
    if (hf_key_expand("local/batch/{command path}", &words, first, &error))
        fail_msg("%s", error.text);
    path[sizeof(path) - 2] = 'x';
    if (hf_key_expand("local/batch/{command path}", &words, second, &error))
        fail_msg("%s", error.text);
    is_a_key(first);
    is_a_key(second);
    assert_string_not_equal(first, second);
}

static void a_short_template_is_told_what_it_lacks(void **state)
{
    struct hf_error error;

    (void)state;
    assert_int_equal(hf_key_check_template("foo", &error), HF_ERR_USAGE);
    assert_string_equal(error.text,
                        "key template \"foo\" has one part; it needs three, "
                        "tenant/namespace/name, such as local/default/foo");
    assert_int_equal(hf_key_check_template("foo/{user}", &error), HF_ERR_USAGE);
    assert_string_equal(error.text,
                        "key template \"foo/{user}\" has two parts; it needs "
                        "three, tenant/namespace/name, such as "
                        "local/foo/{user}");
    /* It has more wrong with it than that. */
    assert_int_equal(hf_key_check_template("foo/", &error), HF_ERR_USAGE);
    assert_non_null(strstr(error.text, "empty segment at byte 5"));
    assert_int_equal(hf_key_check_template("", &error), HF_ERR_USAGE);
    assert_non_null(strstr(error.text, "empty segment at byte 1"));
}

static void a_bad_template_is_refused(void **state)
{
    struct hf_error error;

    (void)state;
    assert_int_equal(hf_key_check_template("a/b/{command path}", &error),
                     HF_ERR_OK);
    assert_int_equal(hf_key_check_template("a/b/{user}-{host}", &error),
                     HF_ERR_OK);
    assert_int_equal(hf_key_check_template("a/b/{pid}", &error), HF_ERR_USAGE);
    assert_non_null(strstr(error.text, "unknown word {pid}"));
    assert_int_equal(hf_key_check_template("a/b/{user", &error), HF_ERR_USAGE);
    assert_int_equal(hf_key_check_template("a/{user}", &error), HF_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_three_segments_or_more),
        cmocka_unit_test(
            what_is_outside_of_the_grammar_is_refused_with_its_place),
        cmocka_unit_test(limits_are_exact),
        cmocka_unit_test(a_name_without_slash_gets_a_home),
        cmocka_unit_test(a_command_path_becomes_a_key),
        cmocka_unit_test(long_paths_differ_still),
        cmocka_unit_test(a_short_template_is_told_what_it_lacks),
        cmocka_unit_test(a_bad_template_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
