/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/cmocka_all.h"

static void every_error_has_a_word_a_status_and_a_sentence(void **state)
{
    (void)state;
    for (int code = 0; code < HF_ERR_COUNT; code++) {
        const char *word = hf_err_name((enum hf_err)code);
        int status = hf_err_status((enum hf_err)code);

        assert_true(strlen(word) > 1);
        assert_int_equal(strspn(word, "abcdefghijklmnopqrstuvwxyz-"),
                         strlen(word));
        assert_true(status >= 0 && status < 126);
        assert_int_equal(status == 0, code == HF_ERR_OK);
        assert_true(strlen(hf_err_text((enum hf_err)code)) > 3);
        for (int other = 0; other < code; other++)
            assert_string_not_equal(word, hf_err_name((enum hf_err)other));
    }
}

static void the_documented_statuses_stand(void **state)
{
    (void)state;
    assert_int_equal(hf_err_status(HF_ERR_OK), 0);
    assert_int_equal(hf_err_status(HF_ERR_USAGE), 64);
    assert_int_equal(hf_err_status(HF_ERR_UNAVAILABLE), 69);
    assert_int_equal(hf_err_status(HF_ERR_BUSY), 75);
    assert_int_equal(hf_err_status(HF_ERR_DENIED), 77);
    assert_int_equal(hf_err_status(HF_ERR_CONFIG), 78);
    assert_int_equal(hf_err_status(HF_ERR_LOST), 79);
    assert_string_equal(hf_err_name(HF_ERR_NOT_HELD), "not-held");
}

static void set_formats_and_returns_the_code(void **state)
{
    struct hf_error error;

    (void)state;
    assert_int_equal(hf_error_set(&error, HF_ERR_BUSY, "key %s, %d", "a/b", 7),
                     HF_ERR_BUSY);
    assert_int_equal(error.code, HF_ERR_BUSY);
    assert_string_equal(error.text, "key a/b, 7");
}

static void nobody_needs_to_want_the_sentence(void **state)
{
    (void)state;
    assert_int_equal(hf_error_set(NULL, HF_ERR_NOMEM, "%s", "x"), HF_ERR_NOMEM);
    assert_int_equal(hf_error_set_errno(NULL, HF_ERR_DENIED, EACCES, "%s", "x"),
                     HF_ERR_DENIED);
}

static void errno_text_stands_behind_the_sentence(void **state)
{
    struct hf_error error;

    (void)state;
    hf_error_set_errno(&error, HF_ERR_NOSPACE, ENOSPC, "write %s", "/x/y");
    assert_string_equal(error.text, "write /x/y: No space left on device");
}

static void wrap_puts_its_words_in_front_and_keeps_the_code(void **state)
{
    struct hf_error error;

    (void)state;
    hf_error_set(&error, HF_ERR_CONFIG, "no such field");
    assert_int_equal(hf_error_wrap(&error, "read %s", "batch.yaml"),
                     HF_ERR_CONFIG);
    assert_int_equal(error.code, HF_ERR_CONFIG);
    assert_string_equal(error.text, "read batch.yaml: no such field");
}

static void an_error_may_be_written_from_its_own_text(void **state)
{
    struct hf_error error;

    (void)state;
    hf_error_set(&error, HF_ERR_CONFIG, "inner");
    hf_error_set(&error, HF_ERR_DENIED, "<%s>", error.text);
    assert_string_equal(error.text, "<inner>");
}

static void what_could_move_a_terminal_is_replaced(void **state)
{
    struct hf_error error;

    (void)state;
    hf_error_set(&error, HF_ERR_USAGE, "%s",
                 "a\x1b[31m\rb\n\x7f c\xc2\x9b"
                 "d \xe2\x80\xae"
                 "e \xff\xc3");
    assert_string_equal(error.text, "a?[31m?b?? c?d ?e ??");
    hf_error_set(&error, HF_ERR_USAGE, "%s", "größer als 5 €");
    assert_string_equal(error.text, "größer als 5 €");
}

static void a_long_sentence_is_cut_between_characters(void **state)
{
    struct hf_error error;
    char text[2000];

    (void)state;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    hf_error_set(&error, HF_ERR_USAGE, "%s", text);
    assert_int_equal(strlen(error.text), HF_ERROR_TEXT_MAX - 1);
    /* A character of three bytes of which two would fit. */
    memcpy(text + HF_ERROR_TEXT_MAX - 3, "\xe2\x82\xac", 3);
    hf_error_set(&error, HF_ERR_USAGE, "%s", text);
    assert_int_equal(strlen(error.text), HF_ERROR_TEXT_MAX - 3);
    hf_error_wrap(&error, "outer");
    assert_int_equal(strlen(error.text), HF_ERROR_TEXT_MAX - 1);
    assert_memory_equal(error.text, "outer: xxx", 10);
}

static void a_failed_assertion_says_where_and_aborts(void **state)
{
    char said[256] = "";
    int ends[2];
    int status;
    pid_t child;
    ssize_t size;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        sigaction(SIGABRT, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        dup2(ends[1], STDERR_FILENO);
        hf_assert(1 + 1 == 2);
        hf_assert(1 + 1 == 3);
        _exit(0);
    }
    close(ends[1]);
    size = read(ends[0], said, sizeof(said) - 1);
    close(ends[0]);
    assert_true(size > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(said, "test_err.c:"));
    assert_non_null(strstr(said, "impossible: not (1 + 1 == 3)\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_a_word_a_status_and_a_sentence),
        cmocka_unit_test(the_documented_statuses_stand),
        cmocka_unit_test(set_formats_and_returns_the_code),
        cmocka_unit_test(nobody_needs_to_want_the_sentence),
        cmocka_unit_test(errno_text_stands_behind_the_sentence),
        cmocka_unit_test(wrap_puts_its_words_in_front_and_keeps_the_code),
        cmocka_unit_test(an_error_may_be_written_from_its_own_text),
        cmocka_unit_test(what_could_move_a_terminal_is_replaced),
        cmocka_unit_test(a_long_sentence_is_cut_between_characters),
        cmocka_unit_test(a_failed_assertion_says_where_and_aborts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
