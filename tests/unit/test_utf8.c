/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <string.h>

#include "tests/lib/cmocka_all.h"

static void reads(const char *text, uint32_t wanted)
{
    uint32_t code = 0;

    assert_int_equal(hf_utf8_read(text, strlen(text), &code), strlen(text));
    assert_int_equal(code, wanted);
}

static void refuses(const char *text)
{
    uint32_t code = 0;

    assert_int_equal(hf_utf8_read(text, strlen(text), &code), 0);
}

static void characters_of_each_length_are_read(void **state)
{
    uint32_t code = 1;

    (void)state;
    assert_int_equal(hf_utf8_read("\0", 1, &code), 1);
    assert_int_equal(code, 0);
    reads("a", 'a');
    reads("\x7f", 0x7f);
    reads("\xc2\x80", 0x80);
    reads("\xdf\xbf", 0x7ff);
    reads("\xe0\xa0\x80", 0x800);
    reads("\xed\x9f\xbf", 0xd7ff);
    reads("\xee\x80\x80", 0xe000);
    reads("\xef\xbf\xbf", 0xffff);
    reads("\xf0\x90\x80\x80", 0x10000);
    reads("\xf4\x8f\xbf\xbf", 0x10ffff);
}

static void bytes_that_are_no_utf8_are_refused(void **state)
{
    (void)state;
    refuses("\x80");
    refuses("\xbf");
    refuses("\xc0\x80");
    refuses("\xc1\xbf");
    refuses("\xe0\x9f\xbf");
    refuses("\xed\xa0\x80");
    refuses("\xed\xbf\xbf");
    refuses("\xf0\x8f\xbf\xbf");
    refuses("\xf4\x90\x80\x80");
    refuses("\xf5\x80\x80\x80");
    refuses("\xff");
    refuses("\xc3(");
    refuses("\xe2\x82(");
    refuses("\xe2(\xac");
}

static void a_cut_character_is_refused_and_nothing_behind_it_read(void **state)
{
    const char text[] = {'\xf0', '\x9f', '\x98', '\x80'};
    uint32_t code;

    (void)state;
    for (size_t size = 1; size < sizeof(text); size++) {
        char exact[4];

        memcpy(exact, text, size);
        assert_int_equal(hf_utf8_read(exact, size, &code), 0);
    }
    assert_int_equal(hf_utf8_read(text, sizeof(text), &code), 4);
}

static void every_character_reads_back_as_it_was_written(void **state)
{
    uint32_t read = 0;

    (void)state;
    for (uint32_t code = 0x800; code < 0x10000; code++) {
        char text[3] = {(char)(0xE0 | code >> 12),
                        (char)(0x80 | (code >> 6 & 63)),
                        (char)(0x80 | (code & 63))};
        bool is_half = code >= 0xD800 && code <= 0xDFFF;

        assert_int_equal(hf_utf8_read(text, 3, &read), is_half ? 0 : 3);
        assert_true(is_half || read == code);
    }
}

static void controls_and_marks_of_direction_are_unsafe(void **state)
{
    const uint32_t unsafe[] = {0,      7,      9,      10,     27,
                               31,     0x7f,   0x80,   0x9b,   0x9f,
                               0x61c,  0x200e, 0x200f, 0x2028, 0x2029,
                               0x202a, 0x202e, 0x2066, 0x2069};
    const uint32_t safe[] = {' ',    '~',    0xa0,   0xe9,   0x5d0,
                             0x61b,  0x200d, 0x2010, 0x202f, 0x2065,
                             0x206a, 0x20ac, 0x1f600};

    (void)state;
    for (size_t i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
        assert_true(hf_utf8_is_unsafe(unsafe[i]));
    for (size_t i = 0; i < sizeof(safe) / sizeof(safe[0]); i++)
        assert_false(hf_utf8_is_unsafe(safe[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_of_each_length_are_read),
        cmocka_unit_test(bytes_that_are_no_utf8_are_refused),
        cmocka_unit_test(a_cut_character_is_refused_and_nothing_behind_it_read),
        cmocka_unit_test(every_character_reads_back_as_it_was_written),
        cmocka_unit_test(controls_and_marks_of_direction_are_unsafe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
