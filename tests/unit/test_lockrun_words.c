/* SPDX-License-Identifier: Apache-2.0 */
/* What lockrun makes of words: the program, its names, the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/lockrun/environment.h"
#include "cmd/lockrun/handed.h"
#include "cmd/lockrun/pids.h"
#include "cmd/lockrun/program.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/folder.h"
#include "tests/lib/nth_malloc.h"

#define WORDS(...)                                                             \
    ((char *const *)(uintptr_t)((const char *const[]){__VA_ARGS__, NULL}))

/* ---- the program -----------------------------------------------------------
 */

static void folders_are_tried_in_turn(void **state)
{
    char path[PATH_MAX];
    const char *folders = "/a::/b/";
    const char *at = program_next(folders, "x", path);

    (void)state;
    assert_ptr_equal(at, folders);
    assert_string_equal(path, "/a/x");
    at = program_next(at + 3, "x", path);
    assert_string_equal(path, "x");
    at = program_next(at + 1, "x", path);
    assert_string_equal(path, "/b//x");
    assert_null(program_next(NULL, "x", path));
}

static void a_folder_too_long_for_a_path_is_passed_over(void **state)
{
    char folders[2 * PATH_MAX];
    char path[PATH_MAX];

    (void)state;
    memset(folders, 'a', PATH_MAX);
    memcpy(folders + PATH_MAX, ":/b", 4);
    assert_non_null(program_next(folders, "x", path));
    assert_string_equal(path, "/b/x");
}

static void make_program(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
}

static void one_program_has_one_absolute_path(void **state)
{
    char *folder = folder_new();
    char wanted[PATH_MAX];
    char given[PATH_MAX];
    struct program program;
    struct hf_error error;
    char former[PATH_MAX];

    (void)state;
    assert_non_null(getcwd(former, sizeof(former)));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("a", 0755), 0);
    assert_int_equal(mkdir("a/b", 0755), 0);
    assert_int_equal(symlink("a/b", "link"), 0);
    make_program("a/job");
    assert_non_null(realpath("a/job", wanted));
    for (size_t i = 0; i < 5; i++) {
        static const char *const names[] = {"a/job", "./a//./job", "a/b/../job",
                                            "link/../job", NULL};

        snprintf(given, sizeof(given), "%s", names[i] ? names[i] : wanted);
        assert_int_equal(program_find(&program, given, "/bin", &error), 0);
        assert_string_equal(program.absolute, wanted);
        assert_null(program.folders);
        program_clear(&program);
    }
    assert_int_equal(program_find(&program, "job", "/none:a", &error), 0);
    assert_string_equal(program.absolute, wanted);
    assert_string_equal(program.folders, "a");
    program_clear(&program);
    assert_int_equal(program_find(&program, "job", "/none", &error), 127);
    assert_int_equal(program_find(&program, "", "a", &error), 127);
    assert_int_equal(chdir(former), 0);
    folder_free(folder);
}

static void lines_for_a_shell_are_known(void **state)
{
    (void)state;
    assert_true(program_is_shell("/usr/bin/dash"));
    assert_true(program_is_shell("zsh"));
    assert_false(program_is_shell("/bin/fish"));
    assert_false(program_is_shell("/bin/sh/x"));
    assert_true(program_has_line(WORDS("sh", "-c", "x")));
    assert_true(program_has_line(WORDS("sh", "-exc", "x")));
    assert_true(program_has_line(WORDS("bash", "-o", "pipefail", "-c", "x")));
    assert_true(program_has_line(WORDS("bash", "--norc", "-c", "x")));
    assert_true(program_has_line(WORDS("sh", "+x", "-c", "x")));
    assert_false(program_has_line(WORDS("sh", "file", "-c")));
    assert_false(program_has_line(WORDS("sh", "--", "-c")));
    assert_false(program_has_line(WORDS("sh", "-", "-c")));
    assert_false(program_has_line(WORDS("bash", "--rcfile", "c")));
    assert_false(program_has_line(WORDS("sh")));
}

static void the_hash_tells_words_apart_by_where_they_end(void **state)
{
    char a[17];
    char b[17];
    struct hf_error error;

    (void)state;
    assert_int_equal(program_hash_arguments(WORDS("x", "ab", "c"), a, &error),
                     HF_ERR_OK);
    assert_int_equal(program_hash_arguments(WORDS("y", "ab", "c"), b, &error),
                     HF_ERR_OK);
    assert_string_equal(a, b);
    program_hash_arguments(WORDS("x", "a", "bc"), b, &error);
    assert_string_not_equal(a, b);
    program_hash_arguments(WORDS("x", "ab", "c", ""), b, &error);
    assert_string_not_equal(a, b);
}

static void describe(const char *absolute, char *const *argv, char *to)
{
    char path[PATH_MAX];
    struct program program = {.name = argv[0], .absolute = path};

    snprintf(path, sizeof(path), "%s", absolute);
    program_describe(&program, argv, to);
}

static void others_see_the_program_and_the_script_but_no_arguments(void **state)
{
    char text[HF_PROGRAM_SIZE];

    (void)state;
    describe("/usr/bin/rsync", WORDS("rsync", "-a", "secret"), text);
    assert_string_equal(text, "/usr/bin/rsync");
    describe("/usr/bin/python3", WORDS("python3", "job.py", "secret"), text);
    assert_string_equal(text, "/usr/bin/python3 job.py");
    describe("/bin/sh", WORDS("sh", "-c", "secret"), text);
    assert_string_equal(text, "/bin/sh");
}

static void long_names_keep_their_ends(void **state)
{
    char text[HF_PROGRAM_SIZE];
    char path[PATH_MAX];
    char script[PATH_MAX];

    (void)state;
    for (size_t size = 1; size < 400; size++) {
        memset(path, 'p', size);
        memcpy(path + size, "END", 4);
        memset(script, 's', 400 - size);
        memcpy(script + 400 - size, "LAST", 5);
        describe(path, WORDS("p", script), text);
        assert_true(strlen(text) < HF_PROGRAM_SIZE);
        assert_non_null(strstr(text, "END"));
        memcpy(path + size, "/sh", 4);
        describe(path, WORDS("p", script), text);
        assert_true(strlen(text) < HF_PROGRAM_SIZE);
        assert_non_null(strstr(text, "/sh "));
        assert_string_equal(text + strlen(text) - 4, "LAST");
    }
}

/* ---- the environment --------------------------------------------------------
 */

static const struct environment_words words = {
    .token = (UINT64_C(3) << 48) | 77,
    .key = "t/n/k",
    .class_name = "batch",
    .session = "s1",
    .state = "/run/s",
};

static const char *value_of(char *const *list, const char *name)
{
    size_t size = strlen(name);
    const char *found = NULL;

    for (; *list; list++) {
        if (strncmp(*list, name, size) == 0 && (*list)[size] == '=') {
            assert_null(found);
            found = *list + size + 1;
        }
    }
    return found;
}

static void the_lease_takes_the_place_of_an_outer_one(void **state)
{
    struct environment made;
    struct hf_error error;

    (void)state;
    assert_int_equal(
        environment_make(&made,
                         WORDS("LOCK_TOKEN=1", "A=1", "LOCK_TOKEN=2",
                               "LOCK_OTHER=x", "LOCK_TOKENS=x", "NOEQUALS",
                               "LOCK_KEY", "=y", "A=1"),
                         &words, &error),
        HF_ERR_OK);
    assert_string_equal(value_of(made.list, "LOCK_TOKEN"), "844424930132045");
    assert_string_equal(value_of(made.list, "LOCK_EPOCH"), "3");
    assert_string_equal(value_of(made.list, "LOCK_REVISION"), "77");
    assert_string_equal(value_of(made.list, "LOCK_KEY"), "t/n/k");
    assert_string_equal(value_of(made.list, "LOCK_CLASS"), "batch");
    assert_string_equal(value_of(made.list, "LOCK_SESSION"), "s1");
    assert_string_equal(value_of(made.list, "LOCK_STATE"), "/run/s");
    /* The caller's own stand first, in their order. */
    assert_string_equal(made.list[0], "A=1");
    assert_string_equal(made.list[1], "LOCK_OTHER=x");
    assert_string_equal(made.list[2], "LOCK_TOKENS=x");
    assert_string_equal(made.list[3], "NOEQUALS");
    assert_string_equal(made.list[4], "LOCK_KEY");
    assert_string_equal(made.list[5], "=y");
    assert_string_equal(made.list[6], "A=1");
    assert_null(made.list[14]);
    environment_clear(&made);
}

static void without_a_state_file_an_outer_one_is_not_left(void **state)
{
    struct environment_words without = words;
    struct environment made;
    struct hf_error error;

    (void)state;
    without.state = NULL;
    assert_int_equal(
        environment_make(&made, WORDS("LOCK_STATE=/x"), &without, &error),
        HF_ERR_OK);
    assert_null(value_of(made.list, "LOCK_STATE"));
    environment_clear(&made);
}

static void
a_line_is_told_what_happened_and_nothing_of_another_hold(void **state)
{
    const struct hf_hold_info holder = {
        .who = {
            .host = "h", .pid = 7, .uid = 8, .program = "/p", .note = "$(x)"}};
    const struct environment_event event = {.name = "busy",
                                            .reason = "is held",
                                            .status = 75,
                                            .holder = &holder,
                                            .since = "2026"};
    const struct environment_words busy = {
        .key = "t/n/k", .class_name = "batch", .event = &event};
    struct environment made;
    struct hf_error error;

    (void)state;
    assert_int_equal(environment_make(&made,
                                      WORDS("LOCK_TOKEN=1", "LOCK_SESSION=s",
                                            "LOCK_STATE=/x", "LOCK_EVENT=old",
                                            "LOCK_PID=1", "A=1"),
                                      &busy, &error),
                     HF_ERR_OK);
    assert_null(value_of(made.list, "LOCK_TOKEN"));
    assert_null(value_of(made.list, "LOCK_SESSION"));
    assert_null(value_of(made.list, "LOCK_STATE"));
    assert_null(value_of(made.list, "LOCK_PID"));
    assert_string_equal(value_of(made.list, "LOCK_KEY"), "t/n/k");
    assert_string_equal(value_of(made.list, "LOCK_EVENT"), "busy");
    assert_string_equal(value_of(made.list, "LOCK_REASON"), "is held");
    assert_string_equal(value_of(made.list, "LOCK_STATUS"), "75");
    assert_string_equal(value_of(made.list, "LOCK_HOLDER_PID"), "7");
    assert_string_equal(value_of(made.list, "LOCK_HOLDER_UID"), "8");
    assert_string_equal(value_of(made.list, "LOCK_HOLDER_HOST"), "h");
    assert_string_equal(value_of(made.list, "LOCK_HOLDER_PROGRAM"), "/p");
    assert_string_equal(value_of(made.list, "LOCK_HOLDER_NOTE"), "$(x)");
    assert_string_equal(value_of(made.list, "LOCK_HOLDER_SINCE"), "2026");
    assert_string_equal(value_of(made.list, "A"), "1");
    environment_clear(&made);
}

static void no_memory_is_told(void **state)
{
    (void)state;
    for (unsigned int n = 1;; n++) {
        struct environment made;
        struct hf_error error;
        enum hf_err err;

        nth_malloc_fail(n);
        err = environment_make(&made, WORDS("A=1"), &words, &error);
        if (!nth_malloc_end()) {
            environment_clear(&made);
            break;
        }
        assert_int_equal(err, HF_ERR_NOMEM);
        assert_null(made.list);
    }
}

/* ---- what was handed over --------------------------------------------------
 */

static void what_names_lockrun_names_the_command(void **state)
{
    char entries[][32] = {"A=1",
                          "LISTEN_PID=4711",
                          "LISTEN_FDS=2",
                          "LISTEN_PIDFDID=99",
                          "WATCHDOG_PID=4711",
                          "XLISTEN_PID=4711"};
    char *list[] = {entries[0], entries[1], entries[2], entries[3],
                    entries[4], entries[5], NULL};
    struct handed handed;

    (void)state;
    handed_find(&handed, list, 4711);
    handed_readdress(&handed, 1234567);
    assert_string_equal(list[0], "A=1");
    assert_string_equal(list[1], "LISTEN_PID=1234567");
    assert_string_equal(list[2], "LISTEN_FDS=2");
    assert_string_equal(list[3], "WATCHDOG_PID=1234567");
    assert_string_equal(list[4], "XLISTEN_PID=4711");
    assert_null(list[5]);
    /* Another command in its place, with a shorter number. */
    handed_readdress(&handed, 8);
    assert_string_equal(list[1], "LISTEN_PID=8");
    assert_string_equal(entries[1], "LISTEN_PID=4711");
}

static void what_names_another_is_left(void **state)
{
    char entries[][32] = {"LISTEN_PID=47", "LISTEN_PIDFDID=99",
                          "WATCHDOG_PID=471", "LISTEN_PID"};
    char *list[] = {entries[0], entries[1], entries[2], entries[3], NULL};
    struct handed handed;

    (void)state;
    handed_find(&handed, list, 4711);
    handed_readdress(&handed, 5);
    assert_int_equal(handed.count, 0);
    for (size_t i = 0; i < 4; i++)
        assert_ptr_equal(list[i], entries[i]);
    assert_null(list[4]);
}

/* ---- sets of processes
 * -------------------------------------------------------- */

static void a_set_holds_each_number_once(void **state)
{
    struct pids pids = {.list = NULL};

    (void)state;
    pids_add_text(&pids, "12 3\n12 -4 0 7 x 9");
    assert_int_equal(pids.count, 3);
    assert_true(pids_has(&pids, 12) && pids_has(&pids, 3));
    assert_true(pids_has(&pids, 7));
    pids_remove(&pids, 12);
    pids_remove(&pids, 99);
    assert_int_equal(pids.count, 2);
    assert_false(pids_has(&pids, 12));
    for (pid_t pid = 1; pid <= 1000; pid++)
        pids_add(&pids, pid);
    assert_int_equal(pids.count, 1000);
    pids_clear(&pids);
    assert_int_equal(pids.count, 0);
}

static void a_set_that_is_cut_says_so(void **state)
{
    struct pids pids = {.list = NULL};

    (void)state;
    nth_malloc_fail(1);
    pids_add(&pids, 5);
    assert_true(nth_malloc_end());
    assert_true(pids.is_cut);
    assert_false(pids_has(&pids, 5));
    pids_clear(&pids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_tried_in_turn),
        cmocka_unit_test(a_folder_too_long_for_a_path_is_passed_over),
        cmocka_unit_test(one_program_has_one_absolute_path),
        cmocka_unit_test(lines_for_a_shell_are_known),
        cmocka_unit_test(the_hash_tells_words_apart_by_where_they_end),
        cmocka_unit_test(
            others_see_the_program_and_the_script_but_no_arguments),
        cmocka_unit_test(long_names_keep_their_ends),
        cmocka_unit_test(the_lease_takes_the_place_of_an_outer_one),
        cmocka_unit_test(without_a_state_file_an_outer_one_is_not_left),
        cmocka_unit_test(
            a_line_is_told_what_happened_and_nothing_of_another_hold),
        cmocka_unit_test(no_memory_is_told),
        cmocka_unit_test(what_names_lockrun_names_the_command),
        cmocka_unit_test(what_names_another_is_left),
        cmocka_unit_test(a_set_holds_each_number_once),
        cmocka_unit_test(a_set_that_is_cut_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
