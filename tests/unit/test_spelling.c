/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spelling.h"

#include <string.h>

#include "tests/lib/cmocka_all.h"

static void distance(const char *a, const char *b, unsigned int wanted)
{
    assert_int_equal(hf_spelling_distance(a, b, 9), wanted);
    assert_int_equal(hf_spelling_distance(b, a, 9), wanted);
}

static void slips_of_the_finger_count_one_each(void **state)
{
    (void)state;
    distance("", "", 0);
    distance("wait", "wait", 0);
    distance("wait", "waitt", 1);
    distance("wait", "wai", 1);
    distance("wait", "walt", 1);
    distance("wait", "wiat", 1);
    distance("wait", "", 4);
    distance("kitten", "sitting", 3);
    distance("leftover", "left-over", 1);
    distance("abcdef", "badcfe", 3);
}

static void a_distance_beyond_the_limit_is_not_counted_out(void **state)
{
    (void)state;
    assert_int_equal(hf_spelling_distance("abc", "xyz", 2), 3);
    assert_int_equal(hf_spelling_distance("abc", "xyz", 3), 3);
    assert_int_equal(hf_spelling_distance("abc", "xyz", 0), 1);
}

static void very_long_words_are_near_nothing(void **state)
{
    char word[65];

    (void)state;
    memset(word, 'a', sizeof(word));
    word[64] = '\0';
    assert_int_equal(hf_spelling_distance(word, word, 3), 4);
    word[63] = '\0';
    assert_int_equal(hf_spelling_distance(word, word, 3), 0);
}

static void suggests(const char *word, const char *wanted)
{
    const char *const known[] = {"wait", "watch", "max-run", "nonblock", "s"};
    struct hf_spelling spelling;

    hf_spelling_begin(&spelling, word);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        hf_spelling_offer(&spelling, known[i]);
    if (wanted)
        assert_string_equal(spelling.best, wanted);
    else
        assert_null(spelling.best);
}

static void the_nearest_word_is_suggested_if_it_is_near(void **state)
{
    (void)state;
    suggests("wiat", "wait");
    suggests("wathc", "watch");
    suggests("maxrun", "max-run");
    suggests("nonblcok", "nonblock");
    suggests("nonblocking", "nonblock");
    suggests("lockfile", NULL);
    suggests("zzzz", NULL);
    suggests("wxyz", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips_of_the_finger_count_one_each),
        cmocka_unit_test(a_distance_beyond_the_limit_is_not_counted_out),
        cmocka_unit_test(very_long_words_are_near_nothing),
        cmocka_unit_test(the_nearest_word_is_suggested_if_it_is_near),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
