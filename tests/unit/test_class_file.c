/* SPDX-License-Identifier: Apache-2.0 */
#include "service/class_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"

#define FILE_NAME "/etc/holdfast/classes.d/nightly.yaml"

static enum hf_err parse(const char *text, struct hf_class *class,
                         struct hf_error *error)
{
    return hf_class_parse("nightly", FILE_NAME, text, strlen(text), class,
                          error);
}

/* `text` is refused, with `sentence` behind the file's name. */
static void is_refused(const char *text, const char *sentence)
{
    struct hf_class class = {.name = "untouched"};
    struct hf_error error = {.text = ""};
    char whole[HF_ERROR_TEXT_MAX];

    assert_int_equal(parse(text, &class, &error), HF_ERR_CONFIG);
    assert_int_equal(error.code, HF_ERR_CONFIG);
    snprintf(whole, sizeof(whole), FILE_NAME ":%s", sentence);
    assert_string_equal(error.text, whole);
    assert_string_equal(class.name, "untouched");
}

static struct hf_class read_class(const char *text)
{
    struct hf_class class;
    struct hf_error error = {.text = ""};

    if (parse(text, &class, &error))
        fail_msg("%s", error.text);
    return class;
}

static void every_field_is_read(void **state)
{
    struct hf_class class = read_class("# nightly work\n"
                                       "ttl:\n"
                                       "  min: 10\n"
                                       "  default: 90s\n"
                                       "  max: 1h30m\n"
                                       "mode: exclusive\n"
                                       "wait: {default: 500ms, max: 2h}\n"
                                       "hold_max: 6h\n"
                                       "key: 'ops/nightly/{host}/{user}'\n"
                                       "enforcement: advisory\n"
                                       "quorum_loss: closed\n"
                                       "queue: durable\n");

    (void)state;
    assert_string_equal(class.name, "nightly");
    assert_int_equal(class.ttl_min_ms, 10000);
    assert_int_equal(class.ttl_default_ms, 90000);
    assert_int_equal(class.ttl_max_ms, 5400000);
    assert_false(class.shared);
    assert_int_equal(class.wait_default_ms, 500);
    assert_int_equal(class.wait_max_ms, 7200000);
    assert_int_equal(class.hold_max_ms, 21600000);
    assert_string_equal(class.key, "ops/nightly/{host}/{user}");
}

static void what_is_not_said_is_as_in_batch_but_for_name_and_key(void **state)
{
    struct hf_class class = read_class("{}");

    (void)state;
    assert_string_equal(class.name, "nightly");
    assert_string_equal(class.key, "local/nightly/{command path}");
    memcpy(class.name, hf_class_batch.name, sizeof(class.name));
    memcpy(class.key, hf_class_batch.key, sizeof(class.key));
    assert_memory_equal(&class, &hf_class_batch, sizeof(class));
}

static void the_table_tells_the_defaults_that_are_used(void **state)
{
    struct hf_class class = read_class("{}");
    const struct hf_class_field *field;

    (void)state;
    for (field = hf_class_fields; field->path; field++) {
        struct hf_buf text;

        if (!field->standard)
            continue;
        hf_buf_init(&text, 1000);
        assert_int_equal(hf_class_field_print(field, &class, &text), HF_ERR_OK);
        assert_string_equal(text.data, field->standard);
        hf_buf_clear(&text);
    }
}

static void unknown_words_are_errors_with_a_suggestion(void **state)
{
    (void)state;
    is_refused("mode: shared\ntll: {min: 5s}\n",
               "2:1: \"tll\" is not a field of a class; did you mean \"ttl\"?");
    is_refused("ttl: {default: 5s,\n      maxx: 5m}\n",
               "2:7: \"ttl.maxx\" is not a field of a class; did you mean "
               "\"max\"?");
    is_refused("colour: red\n", "1:1: \"colour\" is not a field of a class");
    is_refused("mode: share\n",
               "1:7: mode: \"share\" is not known; it takes one of: exclusive "
               "shared");
}

static void a_path_with_its_dot_is_no_field(void **state)
{
    (void)state;
    is_refused("ttl.min: 5s\n", "1:1: \"ttl.min\" is not a field of a class");
}

static void a_name_in_the_file_is_refused(void **state)
{
    (void)state;
    is_refused("name: nightly\n",
               "1:1: a class is called what its file is called: take name out");
    is_refused("class: nightly\n", "1:1: a class is called what its file is "
                                   "called: take class out");
}

static void what_nothing_obeys_is_refused_by_name(void **state)
{
    const struct hf_class_field *field;
    size_t count = 0;

    (void)state;
    for (field = hf_class_fields; field->path; field++) {
        char text[64];
        char sentence[256];

        if (field->kind != HF_CLASS_FIELD_LATER)
            continue;
        count++;
        snprintf(text, sizeof(text), "mode: shared\n%s: {a: b}\n", field->path);
        snprintf(sentence, sizeof(sentence),
                 "2:1: %s is known (%s), but nothing in this version obeys "
                 "it: take it out",
                 field->path, field->sentence);
        is_refused(text, sentence);
    }
    assert_true(count > 0);
}

static void a_posture_that_is_not_kept_is_refused(void **state)
{
    (void)state;
    is_refused("enforcement: fenced\n",
               "1:14: enforcement: fenced is known, but nothing in this "
               "version obeys it; advisory is what happens");
    is_refused("quorum_loss: open\n",
               "1:14: quorum_loss: open is known, but nothing in this version "
               "obeys it; closed is what happens");
    is_refused("queue: memory\n",
               "1:8: queue: memory is known, but nothing in this version "
               "obeys it; durable is what happens");
    is_refused("queue: none\n",
               "1:8: queue: \"none\" is not known; it takes durable");
}

static void times_have_bounds(void **state)
{
    (void)state;
    is_refused("ttl: {min: 999ms}\n",
               "1:12: ttl.min: 999ms is not from 1s to 1d");
    is_refused("ttl: {max: 25h}\n", "1:12: ttl.max: 25h is not from 1s to 1d");
    is_refused("wait: {max: 366d}\n",
               "1:13: wait.max: 366d is not from 0s to 365d");
    is_refused("hold_max: 0\n", "1:11: hold_max: 0 is not from 1s to 365d");
}

static void what_is_no_time_is_told_with_its_place(void **state)
{
    struct hf_class class;
    struct hf_error error;
    static const char *const bad[] = {"-5s", "5 apples", "''", "1e3",
                                      "forever"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[64];
        const char *start = FILE_NAME ":1:11: hold_max: ";

        snprintf(text, sizeof(text), "hold_max: %s\n", bad[i]);
        assert_int_equal(parse(text, &class, &error), HF_ERR_CONFIG);
        assert_memory_equal(error.text, start, strlen(start));
    }
}

static void times_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    is_refused("ttl: {min: 2m}\n",
               "1:12: ttl.min (2m) is longer than ttl.default (1m by default)");
    is_refused("ttl: {default: 30s, max: 20s}\n",
               "1:26: ttl.default (30s) is longer than ttl.max (20s)");
    is_refused("ttl:\n  max: 30s\n", "2:8: ttl.default (1m by default) is "
                                     "longer than ttl.max (30s)");
    is_refused("wait: {default: 2h, max: 1h}\n",
               "1:26: wait.default (2h) is longer than wait.max (1h)");
}

static void shapes_are_judged(void **state)
{
    (void)state;
    is_refused("ttl: 30s\n",
               "1:6: ttl takes a mapping, such as ttl: {min: 5s}");
    is_refused("mode: [shared]\n", "1:7: mode takes one value");
    is_refused("- mode\n", "1:1: a class is a mapping of fields, such as "
                           "\"ttl: {default: 1m}\"");
    is_refused("mode:\n",
               "1:6: mode: \"\" is not known; it takes one of: exclusive "
               "shared");
}

static void a_template_that_makes_no_key_is_refused(void **state)
{
    struct hf_class class;
    struct hf_error error;
    const char *start = FILE_NAME ":1:6: key: ";
    char text[400];
    char lots[300];

    (void)state;
    assert_int_equal(parse("key: 'a/b/{colour}'\n", &class, &error),
                     HF_ERR_CONFIG);
    assert_memory_equal(error.text, start, strlen(start));
    assert_int_equal(parse("key: 'a b/c/d'\n", &class, &error), HF_ERR_CONFIG);
    assert_memory_equal(error.text, start, strlen(start));
    memset(lots, 'a', sizeof(lots));
    lots[sizeof(lots) - 1] = '\0';
    snprintf(text, sizeof(text), "key: t/n/%s\n", lots);
    is_refused(text, "1:6: key: longer than 256 bytes");
}

static void a_name_that_is_no_class_name_is_refused(void **state)
{
    static const char *const names[] = {"", "Nightly", "../batch", "9to5"};
    struct hf_class class;
    struct hf_error error;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(
            hf_class_parse(names[i], FILE_NAME, "{}", 2, &class, &error),
            HF_ERR_USAGE);
}

static void a_read_class_is_printed_as_a_file_says_it(void **state)
{
    struct hf_class class = read_class("mode: exclusive\nhold_max: 90\n");
    const struct hf_class_field *field;
    struct hf_buf text;

    (void)state;
    hf_buf_init(&text, 1000);
    for (field = hf_class_fields; field->path; field++) {
        if (strcmp(field->path, "mode") != 0 &&
            strcmp(field->path, "hold_max") != 0)
            continue;
        assert_int_equal(hf_class_field_print(field, &class, &text), HF_ERR_OK);
        assert_int_equal(hf_buf_add_str(&text, " "), HF_ERR_OK);
    }
    class.hold_max_ms = 0;
    for (field = hf_class_fields; field->path; field++) {
        if (strcmp(field->path, "hold_max") == 0)
            assert_int_equal(hf_class_field_print(field, &class, &text),
                             HF_ERR_OK);
    }
    assert_string_equal(text.data, "exclusive 1m30s none");
    hf_buf_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(what_is_not_said_is_as_in_batch_but_for_name_and_key),
        cmocka_unit_test(the_table_tells_the_defaults_that_are_used),
        cmocka_unit_test(unknown_words_are_errors_with_a_suggestion),
        cmocka_unit_test(a_path_with_its_dot_is_no_field),
        cmocka_unit_test(a_name_in_the_file_is_refused),
        cmocka_unit_test(what_nothing_obeys_is_refused_by_name),
        cmocka_unit_test(a_posture_that_is_not_kept_is_refused),
        cmocka_unit_test(times_have_bounds),
        cmocka_unit_test(what_is_no_time_is_told_with_its_place),
        cmocka_unit_test(times_that_contradict_each_other_are_refused),
        cmocka_unit_test(shapes_are_judged),
        cmocka_unit_test(a_template_that_makes_no_key_is_refused),
        cmocka_unit_test(a_name_that_is_no_class_name_is_refused),
        cmocka_unit_test(a_read_class_is_printed_as_a_file_says_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
