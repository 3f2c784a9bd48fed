/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <jansson.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/nth_malloc.h"

static void writes_string(const char *text, size_t size, const char *wanted)
{
    struct hf_buf buf;

    hf_buf_init(&buf, 1000);
    assert_int_equal(hf_json_add_string(&buf, text, size), HF_ERR_OK);
    assert_string_equal(buf.data, wanted);
    hf_buf_clear(&buf);
}

static void plain_text_is_written_as_it_is(void **state)
{
    (void)state;
    writes_string("", 0, "\"\"");
    writes_string("abc /~", 6, "\"abc /~\"");
    writes_string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
                  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

static void quotes_controls_and_direction_marks_are_escaped(void **state)
{
    (void)state;
    writes_string("a\"b\\c", 5, "\"a\\\"b\\\\c\"");
    writes_string("\n\t\r\0\x1b\x7f", 6,
                  "\"\\n\\t\\u000d\\u0000\\u001b\\u007f\"");
    writes_string("x\xc2\x9by", 4, "\"x\\u009by\"");
    writes_string("\xe2\x80\xaez", 4, "\"\\u202ez\"");
}

static void a_byte_that_is_no_utf8_is_escaped_alone(void **state)
{
    (void)state;
    writes_string("a\xff"
                  "b\xc3",
                  4, "\"a\\u00ffb\\u00c3\"");
    writes_string("\xe2\x82z", 3, "\"\\u00e2\\u0082z\"");
}

static void any_bytes_give_a_string_that_a_parser_takes(void **state)
{
    char bytes[3];
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 1000);
    for (unsigned int i = 0; i < 256; i++) {
        for (unsigned int j = 0; j < 256; j += 5) {
            json_t *read;

            bytes[0] = (char)i;
            bytes[1] = (char)j;
            bytes[2] = (char)(i ^ j);
            hf_buf_reset(&buf);
            hf_json_add_string(&buf, bytes, sizeof(bytes));
            read = json_loadb(buf.data, buf.size,
                              JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
            assert_true(json_is_string(read));
            json_decref(read);
        }
    }
    hf_buf_clear(&buf);
}

static void the_ends_of_each_number_are_written_exactly(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 1000);
    hf_json_add_u64(&buf, 0);
    hf_buf_add_str(&buf, " ");
    hf_json_add_u64(&buf, UINT64_MAX);
    hf_buf_add_str(&buf, " ");
    hf_json_add_i64(&buf, INT64_MIN);
    hf_buf_add_str(&buf, " ");
    hf_json_add_i64(&buf, INT64_MAX);
    assert_string_equal(buf.data, "0 18446744073709551615 "
                                  "-9223372036854775808 9223372036854775807");
    hf_buf_clear(&buf);
}

static void write_document(struct hf_json *json, struct hf_buf *buf)
{
    hf_json_begin(json, buf);
    hf_json_object(json, NULL);
    hf_json_text(json, "key", "a/b");
    hf_json_array(json, "holds");
    hf_json_object(json, NULL);
    hf_json_decimal(json, "token", UINT64_C(281474976710657));
    hf_json_bool(json, "shared", false);
    hf_json_object_end(json);
    hf_json_object(json, NULL);
    hf_json_object_end(json);
    hf_json_i64(json, NULL, -5);
    hf_json_array_end(json);
    hf_json_array(json, "none");
    hf_json_array_end(json);
    hf_json_null(json, "until");
    hf_json_u64(json, "n\"", 7);
    hf_buf_add_str(hf_json_value(json, "own"), "{\"x\":1}");
    hf_json_object_end(json);
}

static void a_document_of_all_kinds_is_written(void **state)
{
    struct hf_json json;
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 1000);
    write_document(&json, &buf);
    assert_int_equal(hf_json_end(&json), HF_ERR_OK);
    assert_string_equal(buf.data,
                        "{\"key\":\"a/b\",\"holds\":[{\"token\":"
                        "\"281474976710657\",\"shared\":false},{},-5],"
                        "\"none\":[],\"until\":null,\"n\\\"\":7,"
                        "\"own\":{\"x\":1}}");
    hf_buf_clear(&buf);
}

static void an_array_can_be_the_document(void **state)
{
    struct hf_json json;
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 1000);
    hf_json_begin(&json, &buf);
    hf_json_array(&json, NULL);
    hf_json_text(&json, NULL, "x");
    hf_json_bool(&json, NULL, true);
    hf_json_array_end(&json);
    assert_int_equal(hf_json_end(&json), HF_ERR_OK);
    assert_string_equal(buf.data, "[\"x\",true]");
    hf_buf_clear(&buf);
}

static void a_full_buffer_is_told_at_the_end(void **state)
{
    struct hf_json json;
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 20);
    write_document(&json, &buf);
    assert_int_equal(hf_json_end(&json), HF_ERR_USAGE);
    hf_buf_clear(&buf);
    hf_buf_init(&buf, 2000);
    for (unsigned int n = 1;; n++) {
        nth_malloc_fail(n);
        write_document(&json, &buf);
        if (!nth_malloc_end())
            break;
        assert_int_equal(hf_json_end(&json), HF_ERR_NOMEM);
        hf_buf_clear(&buf);
    }
    assert_int_equal(hf_json_end(&json), HF_ERR_OK);
    hf_buf_clear(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_is_written_as_it_is),
        cmocka_unit_test(quotes_controls_and_direction_marks_are_escaped),
        cmocka_unit_test(a_byte_that_is_no_utf8_is_escaped_alone),
        cmocka_unit_test(any_bytes_give_a_string_that_a_parser_takes),
        cmocka_unit_test(the_ends_of_each_number_are_written_exactly),
        cmocka_unit_test(a_document_of_all_kinds_is_written),
        cmocka_unit_test(an_array_can_be_the_document),
        cmocka_unit_test(a_full_buffer_is_told_at_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
