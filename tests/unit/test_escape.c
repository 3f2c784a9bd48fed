/* SPDX-License-Identifier: Apache-2.0 */
#include "base/escape.h"

#include <string.h>

#include "base/utf8.h"
#include "tests/lib/cmocka_all.h"

static void shows(const char *text, size_t size, const char *wanted)
{
    struct hf_buf buf;

    hf_buf_init(&buf, 1000);
    assert_int_equal(hf_escape_add(&buf, text, size), HF_ERR_OK);
    assert_string_equal(buf.data, wanted);
    hf_buf_clear(&buf);
}

static void text_in_any_language_stays(void **state)
{
    const char *text = "Gr\xc3\xbc\xc3\x9f"
                       "e \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d "
                       "\xf0\x9f\x98\x80 ~!\"'";

    (void)state;
    shows("", 0, "");
    shows(text, strlen(text), text);
}

static void what_moves_a_terminal_becomes_visible(void **state)
{
    (void)state;
    shows("a\x1b[31mb", 7, "a\\x1b[31mb");
    shows("a\r\nb\t\0", 6, "a\\x0d\\nb\\t\\x00");
    shows("\x7f\xc2\x9b", 3, "\\x7f\\u009b");
    shows("\xe2\x80\xae"
          "abc\xe2\x81\xa6",
          9, "\\u202eabc\\u2066");
    shows("\xff\xc3(", 3, "\\xff\\xc3(");
}

static void an_escape_cannot_be_feigned(void **state)
{
    (void)state;
    shows("\\x1b", 4, "\\\\x1b");
    shows("C:\\n", 4, "C:\\\\n");
}

static void cut(const char *text, size_t room, const char *wanted)
{
    char to[64];

    memset(to, '#', sizeof(to));
    assert_ptr_equal(hf_escape_cut(to, room, text, strlen(text)), to);
    assert_string_equal(to, wanted);
    assert_int_equal(to[room], '#');
}

static void what_fits_is_whole(void **state)
{
    (void)state;
    cut("", 4, "");
    cut("abc", 4, "abc");
    cut("abcdefghij", 11, "abcdefghij");
    cut("a\nb", 5, "a\\nb");
}

static void what_does_not_fit_is_cut_between_characters(void **state)
{
    (void)state;
    cut("abcd", 4, "...");
    cut("abcdefghij", 10, "abcdef...");
    cut("abcdef\xe2\x82\xac", 9, "abcde...");
    cut("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 9, "\xe2\x82\xac...");
    cut("ab\x1b"
        "cd",
        8, "ab...");
    cut("\x1b\x1b\x1b", 8, "\\x1b...");
}

static void whatever_comes_in_nothing_unsafe_goes_out(void **state)
{
    uint64_t random = 88172645463325252;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        char from[12];
        char to[24];
        size_t size;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        memcpy(from, &random, 8);
        memcpy(from + 8, "\xe2\x80\xae\x1b", 4);
        hf_escape_cut(to, 4 + random % 20, from, 12);
        size = strlen(to);
        assert_true(size < 4 + random % 20);
        for (size_t at = 0; at < size;) {
            uint32_t code;
            size_t length = hf_utf8_read(to + at, size - at, &code);

            assert_true(length > 0 && !hf_utf8_is_unsafe(code));
            at += length;
        }
    }
}

static void a_full_buffer_is_told(void **state)
{
    struct hf_buf buf;

    (void)state;
    hf_buf_init(&buf, 3);
    assert_int_equal(hf_escape_add(&buf, "\n\n", 2), HF_ERR_USAGE);
    hf_buf_clear(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_in_any_language_stays),
        cmocka_unit_test(what_moves_a_terminal_becomes_visible),
        cmocka_unit_test(an_escape_cannot_be_feigned),
        cmocka_unit_test(what_fits_is_whole),
        cmocka_unit_test(what_does_not_fit_is_cut_between_characters),
        cmocka_unit_test(whatever_comes_in_nothing_unsafe_goes_out),
        cmocka_unit_test(a_full_buffer_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
