/* SPDX-License-Identifier: Apache-2.0 */
#include "base/field.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/nth_malloc.h"

enum colour { RED, GREEN, BLUE };

static const char *const colours[] = {"red", "green", "blue", NULL};

struct thing {
    char name[8];
    char note[16];
    uint8_t id[4];
    uint32_t version;
    uint64_t revision;
    int64_t offset;
    bool is_shared;
    int colour;
    uint64_t token;
    int untouched;
};

static const struct hf_field fields[] = {
    HF_FIELD(struct thing, version, U32, ALWAYS),
    HF_FIELD(struct thing, name, TEXT, ALWAYS),
    HF_FIELD(struct thing, note, TEXT, OPTIONAL),
    HF_FIELD(struct thing, id, HEX, OPTIONAL),
    HF_FIELD(struct thing, revision, U64, OPTIONAL),
    HF_FIELD(struct thing, offset, I64, OPTIONAL),
    HF_FIELD(struct thing, is_shared, BOOL, OPTIONAL),
    HF_FIELD_NAMES(struct thing, colour, OPTIONAL, colours),
    HF_FIELD(struct thing, token, DECIMAL, OPTIONAL),
    HF_FIELD_END,
};

static void encodes(const struct thing *thing, const char *wanted)
{
    struct hf_buf buf;

    hf_buf_init(&buf, 1000);
    assert_int_equal(hf_field_encode(fields, thing, &buf), HF_ERR_OK);
    assert_string_equal(buf.data, wanted);
    hf_buf_clear(&buf);
}

static void decodes(const char *text, struct thing *thing)
{
    struct hf_error error = {.text = ""};

    memset(thing, 0x55, sizeof(*thing));
    assert_int_equal(hf_field_decode(fields, text, strlen(text), thing, &error),
                     HF_ERR_OK);
    assert_int_equal(thing->untouched, 0x55555555);
}

static void refuses(const char *text, const char *wanted)
{
    struct hf_error error = {.text = ""};
    struct thing thing;

    memset(&thing, 0x55, sizeof(thing));
    assert_int_equal(
        hf_field_decode(fields, text, strlen(text), &thing, &error),
        HF_ERR_USAGE);
    assert_int_equal(error.code, HF_ERR_USAGE);
    if (!strstr(error.text, wanted))
        fail_msg("\"%s\" does not say \"%s\"", error.text, wanted);
    /* Nothing half read is left behind. */
    assert_int_equal(thing.version, 0);
    assert_string_equal(thing.name, "");
    assert_int_equal(thing.revision, 0);
}

/* ---- writing ----------------------------------------------------------- */

static void every_kind_is_written(void **state)
{
    const struct thing thing = {
        .name = "job",
        .note = "a \"b\"\n",
        .id = {0, 1, 0xab, 0xff},
        .version = UINT32_MAX,
        .revision = INT64_MAX,
        .offset = INT64_MIN,
        .is_shared = true,
        .colour = BLUE,
        .token = UINT64_MAX,
    };

    (void)state;
    encodes(&thing, "{\"version\":4294967295,\"name\":\"job\",\"note\":\"a "
                    "\\\"b\\\"\\n\",\"id\":\"0001abff\","
                    "\"revision\":9223372036854775807,"
                    "\"offset\":-9223372036854775808,\"is_shared\":true,"
                    "\"colour\":\"blue\",\"token\":\"18446744073709551615\"}");
}

static void what_is_optional_and_empty_is_left_out(void **state)
{
    struct thing thing = {.name = ""};

    (void)state;
    encodes(&thing, "{\"version\":0,\"name\":\"\"}");
    /* Rubbish behind the end of a text is not part of it. */
    thing.note[1] = 'x';
    encodes(&thing, "{\"version\":0,\"name\":\"\"}");
    encodes(&(struct thing){.id = {0, 0, 0, 1}},
            "{\"version\":0,\"name\":\"\",\"id\":\"00000001\"}");
}

static void a_table_of_no_fields_is_an_empty_object(void **state)
{
    const struct hf_field none[] = {HF_FIELD_END};
    struct hf_buf buf;
    struct hf_error error;
    int record = 7;

    (void)state;
    hf_buf_init(&buf, 1000);
    assert_int_equal(hf_field_encode(none, &record, &buf), HF_ERR_OK);
    assert_string_equal(buf.data, "{}");
    assert_int_equal(hf_field_decode(none, "{}", 2, &record, &error),
                     HF_ERR_OK);
    assert_int_equal(record, 7);
    hf_buf_clear(&buf);
}

static void a_record_that_cannot_be_is_not_written(void **state)
{
    struct hf_buf buf;
    struct thing thing = {.colour = 3};

    (void)state;
    hf_buf_init(&buf, 1000);
    assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_INTERNAL);
    thing.colour = -1;
    assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_INTERNAL);
    thing.colour = RED;
    memset(thing.name, 'x', sizeof(thing.name));
    assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_INTERNAL);
    thing.name[7] = '\0';
    thing.revision = (uint64_t)INT64_MAX + 1;
    assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_INTERNAL);
    hf_buf_clear(&buf);
}

static void the_limit_of_the_buffer_is_told(void **state)
{
    struct thing thing = {.name = "job"};
    struct hf_buf buf;

    (void)state;
    for (size_t limit = 0; limit < 26; limit++) {
        hf_buf_init(&buf, limit);
        assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_USAGE);
        hf_buf_clear(&buf);
    }
    hf_buf_init(&buf, 26);
    assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_OK);
    assert_int_equal(buf.size, 26);
    hf_buf_clear(&buf);
}

static void writing_allocates_only_for_the_buffer(void **state)
{
    struct thing thing = {.name = "job", .token = 5};
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 1000);
    hf_buf_printf(&buf, "%500d", 1);
    hf_buf_reset(&buf);
    nth_malloc_fail(1);
    assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_OK);
    assert_false(nth_malloc_end());
    hf_buf_clear(&buf);
}

/* ---- reading ----------------------------------------------------------- */

static void what_was_written_is_read_back(void **state)
{
    const struct thing wanted = {
        .name = "job\x7f",
        .note = "\xc3\xa9\x1b \xe2\x80\xae",
        .id = {0, 1, 0xab, 0xff},
        .version = UINT32_MAX,
        .revision = INT64_MAX,
        .offset = INT64_MIN,
        .is_shared = true,
        .colour = GREEN,
        .token = UINT64_MAX,
        .untouched = 0x55555555,
    };
    struct thing thing;
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 1000);
    assert_int_equal(hf_field_encode(fields, &wanted, &buf), HF_ERR_OK);
    decodes(buf.data, &thing);
    assert_string_equal(thing.name, wanted.name);
    assert_string_equal(thing.note, wanted.note);
    assert_memory_equal(thing.id, wanted.id, 4);
    assert_true(thing.version == wanted.version);
    assert_true(thing.revision == wanted.revision);
    assert_true(thing.offset == wanted.offset);
    assert_true(thing.is_shared);
    assert_int_equal(thing.colour, GREEN);
    assert_true(thing.token == wanted.token);
    hf_buf_clear(&buf);
}

/* A cut in the middle of a character, or another character set: each such byte
 * takes two when it is read, and what does not fit is not written. */
static void bytes_that_are_no_utf8_are_read_back(void **state)
{
    struct thing thing = {.name = "\xff\xfe\xfd\xfc\xfb\xfa\xf9"};
    struct thing again;
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 1000);
    assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_OK);
    decodes(buf.data, &again);
    assert_string_equal(again.name, "\xc3\xbf\xc3\xbe\xc3\xbd");
    hf_buf_reset(&buf);
    memcpy(thing.name, "abcde\xc3", sizeof("abcde\xc3"));
    assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_OK);
    decodes(buf.data, &again);
    assert_string_equal(again.name, "abcde\xc3\x83");
    hf_buf_reset(&buf);
    memcpy(thing.name, "abcdef\xc3", sizeof("abcdef\xc3"));
    assert_int_equal(hf_field_encode(fields, &thing, &buf), HF_ERR_OK);
    decodes(buf.data, &again);
    assert_string_equal(again.name, "abcdef");
    hf_buf_clear(&buf);
}

static void what_is_optional_and_missing_is_zero(void **state)
{
    struct thing thing;

    (void)state;
    decodes(" {\"name\": \"x\",\n\"version\": 3}\n", &thing);
    assert_int_equal(thing.version, 3);
    assert_string_equal(thing.name, "x");
    assert_string_equal(thing.note, "");
    assert_memory_equal(thing.id, "\0\0\0\0", 4);
    assert_int_equal(thing.colour, RED);
    assert_false(thing.is_shared);
    assert_true(thing.token == 0);
}

static void a_text_may_fill_its_place_but_for_the_end(void **state)
{
    struct thing thing;

    (void)state;
    decodes("{\"version\":1,\"name\":\"1234567\"}", &thing);
    assert_string_equal(thing.name, "1234567");
    refuses("{\"version\":1,\"name\":\"12345678\"}",
            "\"name\": 8 bytes are too long, at most 7 fit");
}

static void unknown_and_doubled_members_are_refused(void **state)
{
    (void)state;
    refuses("{\"version\":1,\"name\":\"x\",\"nome\":\"y\"}",
            "\"nome\": no such member");
    refuses("{\"version\":1,\"name\":\"x\",\"n\":{\"a\":[1]}}",
            "\"n\": no such member");
    refuses("{\"version\":1,\"name\":\"x\",\"version\":1}", "duplicate");
    refuses("{\"version\":1,\"name\":\"x\",\"\":1}", "\"\": no such member");
}

static void missing_members_are_named(void **state)
{
    (void)state;
    refuses("{\"version\":1}", "\"name\": is missing");
    refuses("{\"name\":\"x\"}", "\"version\": is missing");
    refuses("{}", "\"version\": is missing");
}

#define REST ",\"name\":\"x\"}"
#define BOTH ",\"version\":1,\"name\":\"x\"}"

static void wrong_kinds_are_refused(void **state)
{
    (void)state;
    refuses("{\"version\":\"1\"" REST, "\"version\": must be a whole number");
    refuses("{\"version\":1.0" REST, "\"version\": must be a whole number");
    refuses("{\"version\":1e0" REST, "\"version\": must be a whole number");
    refuses("{\"version\":null" REST, "\"version\": must be a whole number");
    refuses("{\"version\":true" REST, "\"version\": must be a whole number");
    refuses("{\"version\":1,\"name\":1}", "\"name\": must be a string");
    refuses("{\"version\":1,\"name\":null}", "\"name\": must be a string");
    refuses("{\"version\":1,\"name\":[\"x\"]}", "\"name\": must be a string");
    refuses("{\"is_shared\":1" BOTH, "\"is_shared\": must be true or false");
    refuses("{\"is_shared\":\"true\"" BOTH, "\"is_shared\"");
    refuses("{\"colour\":1" BOTH, "\"colour\": must be a string");
    refuses("{\"colour\":\"pink\"" BOTH,
            "\"colour\": \"pink\" is none of its words");
    refuses("{\"token\":5" BOTH, "\"token\": must be a string of decimal");
    refuses("{\"id\":5" BOTH, "\"id\": must be 8 lower-case hex digits");
}

static void numbers_out_of_range_are_refused(void **state)
{
    struct thing thing;

    (void)state;
    refuses("{\"version\":4294967296" REST, "\"version\": is larger than");
    refuses("{\"version\":-1" REST, "\"version\": must not be negative");
    refuses("{\"revision\":-1" BOTH, "\"revision\": must not be negative");
    refuses("{\"revision\":9223372036854775808" BOTH, "too big");
    refuses("{\"offset\":-9223372036854775809" BOTH, "too big");
    decodes("{\"offset\":-9223372036854775808" BOTH, &thing);
    assert_true(thing.offset == INT64_MIN);
}

static void decimals_have_one_spelling(void **state)
{
    struct thing thing;

    (void)state;
    decodes("{\"token\":\"0\"" BOTH, &thing);
    decodes("{\"token\":\"18446744073709551615\"" BOTH, &thing);
    assert_true(thing.token == UINT64_MAX);
    refuses("{\"token\":\"18446744073709551616\"" BOTH, "\"token\"");
    refuses("{\"token\":\"99999999999999999999\"" BOTH, "\"token\"");
    refuses("{\"token\":\"\"" BOTH, "\"token\"");
    refuses("{\"token\":\"01\"" BOTH, "\"token\"");
    refuses("{\"token\":\"+1\"" BOTH, "\"token\"");
    refuses("{\"token\":\"-1\"" BOTH, "\"token\"");
    refuses("{\"token\":\" 1\"" BOTH, "\"token\"");
    refuses("{\"token\":\"1 \"" BOTH, "\"token\"");
    refuses("{\"token\":\"0x1\"" BOTH, "\"token\"");
}

static void hex_has_one_spelling(void **state)
{
    struct thing thing;

    (void)state;
    decodes("{\"id\":\"00ff10ab\"" BOTH, &thing);
    assert_memory_equal(thing.id, "\x00\xff\x10\xab", 4);
    refuses("{\"id\":\"00ff10a\"" BOTH, "\"id\"");
    refuses("{\"id\":\"00ff10ab0\"" BOTH, "\"id\"");
    refuses("{\"id\":\"00FF10AB\"" BOTH, "\"id\"");
    refuses("{\"id\":\"00ff10ag\"" BOTH, "\"id\"");
    refuses("{\"id\":\"\"" BOTH, "\"id\"");
}

static void what_is_no_single_object_is_refused(void **state)
{
    (void)state;
    refuses("", "byte");
    refuses(" ", "byte");
    refuses("[]", "must be one JSON object");
    refuses("1", "expected");
    refuses("{\"version\":1,\"name\":\"x\"} 1", "end of file expected");
    refuses("{\"version\":1,\"name\":\"x\"}{}", "end of file expected");
    refuses("{\"version\":1,\"name\":\"x\"", "");
    refuses("{\"version\":1,\"name\":\"x\",}", "");
    refuses("{\"version\":1,\"name\":\"x", "");
    refuses("{'version':1}", "");
    refuses("\xef\xbb\xbf{}", "");
}

static void nul_and_broken_utf8_in_text_are_refused(void **state)
{
    const char with_nul[] = "{\"version\":1,\"name\":\"x\0y\"}";
    struct hf_error error;
    struct thing thing;

    (void)state;
    refuses("{\"version\":1,\"name\":\"x\\u0000y\"}", "\\u0000");
    refuses("{\"version\":1,\"na\\u0000me\":\"xy\"}", "");
    refuses("{\"version\":1,\"name\":\"\xff\"}", "unable to decode byte 0xff");
    refuses("{\"version\":1,\"name\":\"\xed\xa0\x80\"}", "unable to decode");
    refuses("{\"version\":1,\"name\":\"\\ud800\"}", "");
    refuses("{\"version\":1,\"name\":\"a\nb\"}", "");
    assert_int_equal(
        hf_field_decode(fields, with_nul, sizeof(with_nul) - 1, &thing, &error),
        HF_ERR_USAGE);
}

static void size_and_depth_have_limits(void **state)
{
    char text[HF_FIELD_BYTES_MAX + 2];
    int size;

    (void)state;
    memset(text, ' ', sizeof(text));
    size = snprintf(text, 100, "%s", "{\"version\":1,\"name\":\"x\"}");
    text[size] = ' ';
    text[HF_FIELD_BYTES_MAX] = '\0';
    decodes(text, &(struct thing){.version = 0});
    text[HF_FIELD_BYTES_MAX] = ' ';
    text[HF_FIELD_BYTES_MAX + 1] = '\0';
    refuses(text, "65537 bytes are too long");
    refuses("{\"a\":[[[[1]]]]}", "deeper than 4");
    refuses("{\"a\":[[[1]]]}", "\"a\": no such member");
    /* Brackets in a string nest nothing. */
    refuses("{\"a\":\"[[[[[\\\"[[[\"}", "\"a\": no such member");
    memset(text, '[', 60000);
    text[60000] = '\0';
    refuses(text, "deeper than 4");
}

static void a_lack_of_memory_is_never_called_a_wrong_record(void **state)
{
    const char *text = "{\"version\":1,\"name\":\"x\",\"colour\":\"blue\","
                       "\"token\":\"12345678901234567890\"}";
    struct hf_error error;
    struct thing thing;
    enum hf_err err;
    unsigned int n = 0;
    bool failed = true;
    bool seen_nomem = false;

    (void)state;
    while (failed) {
        nth_malloc_fail(++n);
        err = hf_field_decode(fields, text, strlen(text), &thing, &error);
        failed = nth_malloc_end();
        assert_true(err == HF_ERR_OK || (failed && err == HF_ERR_NOMEM));
        /* Nor may a digit be missing. */
        if (!err)
            assert_true(thing.token == 12345678901234567890u);
        seen_nomem |= err == HF_ERR_NOMEM;
    }
    assert_true(seen_nomem && n > 10);
}

static void a_table_with_a_wrong_row_is_not_sound(void **state)
{
    const struct hf_field wrong[] = {
        {.name = "a", .kind = HF_FIELD_U64, .size = 4},
        {.name = "a", .kind = HF_FIELD_U32, .size = 8},
        {.name = "a", .kind = HF_FIELD_BOOL, .size = 4},
        {.name = "a", .kind = HF_FIELD_ENUM, .size = 4},
        {.name = "a", .kind = HF_FIELD_TEXT, .size = 0},
        {.name = "a\"", .kind = HF_FIELD_U32, .size = 4},
        {.name = "a\n", .kind = HF_FIELD_U32, .size = 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(hf_field_is_sound(&wrong[i]));
    for (const struct hf_field *field = fields; field->name; field++)
        assert_true(hf_field_is_sound(field));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_written),
        cmocka_unit_test(what_is_optional_and_empty_is_left_out),
        cmocka_unit_test(a_table_of_no_fields_is_an_empty_object),
        cmocka_unit_test(a_record_that_cannot_be_is_not_written),
        cmocka_unit_test(the_limit_of_the_buffer_is_told),
        cmocka_unit_test(writing_allocates_only_for_the_buffer),
        cmocka_unit_test(bytes_that_are_no_utf8_are_read_back),
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(what_is_optional_and_missing_is_zero),
        cmocka_unit_test(a_text_may_fill_its_place_but_for_the_end),
        cmocka_unit_test(unknown_and_doubled_members_are_refused),
        cmocka_unit_test(missing_members_are_named),
        cmocka_unit_test(wrong_kinds_are_refused),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(decimals_have_one_spelling),
        cmocka_unit_test(hex_has_one_spelling),
        cmocka_unit_test(what_is_no_single_object_is_refused),
        cmocka_unit_test(nul_and_broken_utf8_in_text_are_refused),
        cmocka_unit_test(size_and_depth_have_limits),
        cmocka_unit_test(a_lack_of_memory_is_never_called_a_wrong_record),
        cmocka_unit_test(a_table_with_a_wrong_row_is_not_sound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
