/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/folder.h"
#include "tests/lib/sys_fake.h"

struct fixture {
    struct sys_fake fake;
    char *folder;
    char path[4096];
};

static void enter(struct fixture *fixture)
{
    sys_fake_init(&fixture->fake);
    fixture->folder = folder_new();
    snprintf(fixture->path, sizeof(fixture->path), "%s/f", fixture->folder);
}

static void leave(struct fixture *fixture)
{
    folder_free(fixture->folder);
}

/* A fresh, empty folder for the next step of a walk. */
static void begin_anew(struct fixture *fixture)
{
    folder_free(fixture->folder);
    fixture->folder = folder_new();
    snprintf(fixture->path, sizeof(fixture->path), "%s/f", fixture->folder);
}

static int input_of(const char *text)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (int)strlen(text));
    close(ends[1]);
    return ends[0];
}

enum how { REPLACE, APPEND };

static enum hf_err put(struct fixture *fixture, enum how how, uint64_t token,
                       const char *grant, const char *text,
                       struct hf_error *error)
{
    struct hf_fence_claim claim = {.token = token};
    struct hf_fence_file file;
    enum hf_err err;
    int input = input_of(text);

    snprintf(claim.grant, sizeof(claim.grant), "%s", grant);
    err = hf_fence_file_open(&file, &fixture->fake.sys, fixture->path, false,
                             error);
    if (!err)
        err = hf_fence_file_ask(&file, &claim, error);
    if (!err)
        err = hf_fence_file_stage(&file, input, -1, error);
    if (!err)
        err = how == APPEND ? hf_fence_file_append(&file, &claim, error)
                            : hf_fence_file_replace(&file, &claim, error);
    hf_fence_file_clear(&file);
    close(input);
    return err;
}

static const char *contents(struct fixture *fixture, char *to, size_t size)
{
    FILE *file = fopen(fixture->path, "re");
    size_t got = file ? fread(to, 1, size - 1, file) : 0;

    to[got] = '\0';
    if (file)
        fclose(file);
    return file ? to : NULL;
}

static void expect(struct fixture *fixture, const char *text)
{
    char found[256];

    assert_non_null(contents(fixture, found, sizeof(found)));
    assert_string_equal(found, text);
}

/* Nothing beside the file and its mark, if that. */
static void expect_tidy(struct fixture *fixture)
{
    char command[4200];
    char found[256] = "";
    FILE *list;
    int ends[2];
    pid_t child;
    int status;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        snprintf(command, sizeof(command), "%s", fixture->folder);
        execlp("find", "find", command, "-mindepth", "1", "!", "-name", "f",
               "!", "-name", ".f.fence", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    list = fdopen(ends[0], "r");
    if (!fgets(found, sizeof(found), list))
        found[0] = '\0';
    fclose(list);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_string_equal(found, "");
}

static void look(struct fixture *fixture, struct hf_fence_file_status *status)
{
    struct hf_error error;

    assert_int_equal(
        hf_fence_file_look(&fixture->fake.sys, fixture->path, status, &error),
        HF_ERR_OK);
}

static void a_file_is_replaced_by_a_token_that_is_not_lower(void **state)
{
    struct fixture fixture;
    struct hf_error error;
    struct hf_fence_file_status status;

    (void)state;
    enter(&fixture);
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "one", &error), 0);
    expect(&fixture, "one");
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "two", &error), 0);
    expect(&fixture, "two");
    assert_int_equal(put(&fixture, REPLACE, 6, "b", "three", &error), 0);
    expect(&fixture, "three");
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "old", &error),
                     HF_ERR_STALE);
    assert_int_equal(put(&fixture, REPLACE, 6, "x", "other", &error),
                     HF_ERR_OTHER_GRANT);
    assert_int_equal(put(&fixture, APPEND, 5, "a", "old", &error),
                     HF_ERR_STALE);
    expect(&fixture, "three");
    expect_tidy(&fixture);
    look(&fixture, &status);
    assert_true(status.has_mark && status.exists);
    assert_false(status.is_other);
    assert_false(status.is_cut);
    assert_int_equal(status.mark.mark.token, 6);
    assert_string_equal(status.mark.mark.grant, "b");
    leave(&fixture);
}

static void what_is_appended_goes_behind_the_end(void **state)
{
    struct fixture fixture;
    struct hf_error error;

    (void)state;
    enter(&fixture);
    assert_int_equal(put(&fixture, APPEND, 5, "a", "one", &error), 0);
    assert_int_equal(put(&fixture, APPEND, 5, "a", "two", &error), 0);
    assert_int_equal(put(&fixture, APPEND, 7, "b", "", &error), 0);
    expect(&fixture, "onetwo");
    assert_int_equal(put(&fixture, APPEND, 6, "c", "x", &error), HF_ERR_STALE);
    expect(&fixture, "onetwo");
    expect_tidy(&fixture);
    leave(&fixture);
}

/* The claim is judged again at the moment of replacing: a newer holder wrote
 * while this one was reading. */
static void who_became_stale_while_reading_is_refused(void **state)
{
    struct fixture fixture;
    struct hf_error error;
    struct hf_fence_claim slow = {.token = 5, .grant = "a"};
    struct hf_fence_file file;
    int input = input_of("slow");

    (void)state;
    enter(&fixture);
    assert_int_equal(hf_fence_file_open(&file, &fixture.fake.sys, fixture.path,
                                        false, &error),
                     0);
    assert_int_equal(hf_fence_file_ask(&file, &slow, &error), 0);
    assert_int_equal(hf_fence_file_stage(&file, input, -1, &error), 0);
    assert_int_equal(put(&fixture, REPLACE, 6, "b", "new", &error), 0);
    assert_int_equal(hf_fence_file_replace(&file, &slow, &error), HF_ERR_STALE);
    hf_fence_file_clear(&file);
    close(input);
    expect(&fixture, "new");
    expect_tidy(&fixture);
    leave(&fixture);
}

static void input_of_another_size_changes_nothing(void **state)
{
    struct fixture fixture;
    struct hf_error error;
    struct hf_fence_file file;
    int input = input_of("half");

    (void)state;
    enter(&fixture);
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "old", &error), 0);
    assert_int_equal(hf_fence_file_open(&file, &fixture.fake.sys, fixture.path,
                                        false, &error),
                     0);
    assert_int_equal(hf_fence_file_stage(&file, input, 8, &error),
                     HF_ERR_REJECTED);
    assert_non_null(strstr(error.text, "4 bytes instead of 8"));
    hf_fence_file_clear(&file);
    close(input);
    expect(&fixture, "old");
    expect_tidy(&fixture);
    leave(&fixture);
}

/* ---- every failure, every death ------------------------------------------ */

/*
 * After a write of `text` with token 7 over "old", written with 5, met a
 * failure: the file is the one or the other, never newer than its mark, and
 * the next write finds nothing in its way.
 */
static void judge(struct fixture *fixture, enum how how, enum hf_err err)
{
    struct hf_fence_file_status status;
    const char *done = how == APPEND ? "oldnew" : "new";
    struct hf_error error;
    char found[256];
    bool is_done;

    look(fixture, &status);
    assert_non_null(contents(fixture, found, sizeof(found)));
    is_done = strcmp(found, done) == 0;
    if (!is_done && !status.is_cut)
        assert_string_equal(found, "old");
    if (is_done)
        assert_int_equal(status.mark.mark.token, 7);
    if (err == HF_ERR_OK)
        assert_true(is_done && !status.is_cut);
    if (status.mark.mark.token == 7)
        assert_int_equal(put(fixture, how, 6, "b", "stale", &error),
                         HF_ERR_STALE);
    /* An append that is not known to be whole is taken back, then done. */
    is_done = is_done && !status.is_cut;
    assert_int_equal(put(fixture, how, 7, "c", "last", &error), 0);
    if (how == APPEND)
        expect(fixture, is_done ? "oldnewlast" : "oldlast");
    else
        expect(fixture, "last");
    expect_tidy(fixture);
}

static void walk(struct fixture *fixture, enum how how, int errnum)
{
    for (unsigned int n = 1;; n++) {
        struct hf_error error;
        enum hf_err err;
        bool is_whole;

        begin_anew(fixture);
        assert_int_equal(put(fixture, REPLACE, 5, "a", "old", &error), 0);
        if (errnum)
            sys_fake_fail(&fixture->fake, FAKE_ANY, n, errnum);
        else
            sys_fake_die(&fixture->fake, FAKE_ANY, n);
        err = put(fixture, how, 7, "c", "new", &error);
        is_whole = !sys_fake_end(&fixture->fake);
        judge(fixture, how, err);
        if (is_whole) {
            assert_int_equal(err, HF_ERR_OK);
            assert_true(n > 15);
            return;
        }
    }
}

static void no_failure_leaves_half_a_write(void **state)
{
    struct fixture fixture;

    (void)state;
    enter(&fixture);
    walk(&fixture, REPLACE, EIO);
    walk(&fixture, APPEND, EIO);
    walk(&fixture, REPLACE, ENOSPC);
    walk(&fixture, APPEND, ENOSPC);
    leave(&fixture);
}

static void no_death_leaves_half_a_write(void **state)
{
    struct fixture fixture;

    (void)state;
    enter(&fixture);
    walk(&fixture, REPLACE, 0);
    walk(&fixture, APPEND, 0);
    leave(&fixture);
}

/* The first write of all has no mark to fall back on. */
static void
no_death_of_the_first_write_leaves_a_file_without_a_mark(void **state)
{
    struct fixture fixture;
    bool is_whole = false;

    (void)state;
    enter(&fixture);
    for (unsigned int n = 1; !is_whole; n++) {
        struct hf_fence_file_status status;
        struct hf_error error;
        enum hf_err err;

        begin_anew(&fixture);
        sys_fake_die(&fixture.fake, FAKE_ANY, n);
        err = put(&fixture, REPLACE, 7, "c", "new", &error);
        is_whole = !sys_fake_end(&fixture.fake);
        look(&fixture, &status);
        if (status.exists) {
            expect(&fixture, "new");
            assert_int_equal(status.mark.mark.token, 7);
        }
        assert_true(is_whole || err != HF_ERR_OK || status.exists);
        assert_int_equal(put(&fixture, REPLACE, 7, "c", "last", &error), 0);
        expect(&fixture, "last");
        expect_tidy(&fixture);
    }
    leave(&fixture);
}

static void a_full_disk_changes_nothing(void **state)
{
    struct fixture fixture;
    bool is_whole = false;

    (void)state;
    enter(&fixture);
    for (int space = 0; !is_whole; space += 2) {
        struct hf_error error;
        enum hf_err err;

        begin_anew(&fixture);
        assert_int_equal(put(&fixture, REPLACE, 5, "a", "old", &error), 0);
        fixture.fake.space = space;
        err = put(&fixture, APPEND, 7, "c", "new", &error);
        is_whole = err == HF_ERR_OK;
        if (err)
            assert_int_equal(err, HF_ERR_NOSPACE);
        fixture.fake.space = -1;
        judge(&fixture, APPEND, err);
    }
    leave(&fixture);
}

/* ---- the mark ------------------------------------------------------------ */

static void mark_path(struct fixture *fixture, char *to, size_t size)
{
    snprintf(to, size, "%s/.f.fence", fixture->folder);
}

/* Write `bytes` over the mark's place `turn` wrote. */
static void spoil(struct fixture *fixture, uint64_t turn)
{
    char path[4200];
    int fd;

    mark_path(fixture, path, sizeof(path));
    fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "torn", 4, (off_t)(turn % 2) * 1024 + 30), 4);
    close(fd);
}

static void a_torn_mark_leaves_the_one_before(void **state)
{
    struct fixture fixture;
    struct hf_fence_file_status status;
    struct hf_error error;

    (void)state;
    enter(&fixture);
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "one", &error), 0);
    assert_int_equal(put(&fixture, REPLACE, 6, "b", "two", &error), 0);
    look(&fixture, &status);
    spoil(&fixture, status.mark.turn);
    look(&fixture, &status);
    assert_int_equal(status.mark.mark.token, 5);
    assert_true(status.is_other);
    /* It is written anew, over the torn place. */
    assert_int_equal(put(&fixture, REPLACE, 7, "c", "three", &error), 0);
    look(&fixture, &status);
    assert_int_equal(status.mark.mark.token, 7);
    spoil(&fixture, status.mark.turn);
    spoil(&fixture, status.mark.turn + 1);
    assert_int_equal(put(&fixture, REPLACE, 9, "d", "four", &error),
                     HF_ERR_DAMAGED);
    assert_non_null(strstr(error.text, ".f.fence"));
    expect(&fixture, "three");
    leave(&fixture);
}

static void what_only_bears_a_marks_name_is_not_used(void **state)
{
    struct fixture fixture;
    struct hf_error error;
    char path[4200];
    char victim[4200];

    (void)state;
    enter(&fixture);
    mark_path(&fixture, path, sizeof(path));
    snprintf(victim, sizeof(victim), "%s/victim", fixture.folder);
    assert_int_equal(symlink(victim, path), 0);
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "x", &error),
                     HF_ERR_UNFENCED);
    assert_int_equal(access(victim, F_OK), -1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "x", &error),
                     HF_ERR_UNFENCED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "x", &error),
                     HF_ERR_UNFENCED);
    leave(&fixture);
}

static void a_mark_is_no_file_to_write(void **state)
{
    struct fixture fixture;
    struct hf_error error;

    (void)state;
    enter(&fixture);
    mark_path(&fixture, fixture.path, sizeof(fixture.path));
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "x", &error), HF_ERR_USAGE);
    leave(&fixture);
}

static void network_file_systems_are_refused(void **state)
{
    static const uint64_t types[] = {0x6969, 0xFF534D42, 0x65735546, 0x1234567};
    struct fixture fixture;
    struct hf_error error;

    (void)state;
    enter(&fixture);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct hf_fence_file file;

        fixture.fake.fs_type = types[i];
        assert_int_equal(put(&fixture, REPLACE, 5, "a", "x", &error),
                         HF_ERR_UNFENCED);
        assert_int_equal(hf_fence_file_open(&file, &fixture.fake.sys,
                                            fixture.path, true, &error),
                         HF_ERR_OK);
        hf_fence_file_clear(&file);
    }
    assert_int_equal(access(fixture.path, F_OK), -1);
    leave(&fixture);
}

static void a_file_put_there_by_others_is_noticed(void **state)
{
    struct fixture fixture;
    struct hf_fence_file_status status;
    struct hf_error error;
    char other[4200];
    FILE *file;

    (void)state;
    enter(&fixture);
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "x", &error), 0);
    snprintf(other, sizeof(other), "%s/other", fixture.folder);
    file = fopen(other, "we");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(rename(other, fixture.path), 0);
    look(&fixture, &status);
    assert_true(status.is_other);
    assert_int_equal(unlink(fixture.path), 0);
    look(&fixture, &status);
    assert_true(status.is_other && !status.exists);
    leave(&fixture);
}

/* ---- without nameless files -----------------------------------------------
 */

/* The seam of a file system that has no files without a name. */
static int open_without_tmpfile(struct hf_sys *sys, int dir, const char *path,
                                int flags, mode_t mode)
{
    struct sys_fake *fake = (struct sys_fake *)sys;

    if ((flags & O_TMPFILE) == O_TMPFILE)
        return -EOPNOTSUPP;
    return fake->real.open(&fake->real, dir, path, flags, mode);
}

static void without_nameless_files_what_is_left_over_is_swept(void **state)
{
    struct fixture fixture;
    struct hf_error error;
    struct hf_fence_file file;
    struct stat stat_of;
    int input = input_of("half");

    (void)state;
    enter(&fixture);
    fixture.fake.sys.open = open_without_tmpfile;
    assert_int_equal(put(&fixture, REPLACE, 5, "a", "one", &error), 0);
    assert_int_equal(put(&fixture, APPEND, 5, "a", "two", &error), 0);
    expect(&fixture, "onetwo");
    expect_tidy(&fixture);
    /* A writer at work is left alone; one that is gone is not. */
    assert_int_equal(hf_fence_file_open(&file, &fixture.fake.sys, fixture.path,
                                        false, &error),
                     0);
    assert_int_equal(hf_fence_file_stage(&file, input, -1, &error), 0);
    assert_int_equal(put(&fixture, REPLACE, 6, "b", "three", &error), 0);
    assert_int_equal(fstat(file.stage.fd, &stat_of), 0);
    assert_int_equal(stat_of.st_nlink, 1);
    assert_int_equal(stat_of.st_mode & 0777, 0600);
    close(file.stage.fd);
    file.stage.fd = -1;
    hf_fence_file_clear(&file);
    assert_int_equal(put(&fixture, REPLACE, 6, "b", "four", &error), 0);
    expect_tidy(&fixture);
    expect(&fixture, "four");
    close(input);
    leave(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_replaced_by_a_token_that_is_not_lower),
        cmocka_unit_test(what_is_appended_goes_behind_the_end),
        cmocka_unit_test(who_became_stale_while_reading_is_refused),
        cmocka_unit_test(input_of_another_size_changes_nothing),
        cmocka_unit_test(no_failure_leaves_half_a_write),
        cmocka_unit_test(no_death_leaves_half_a_write),
        cmocka_unit_test(
            no_death_of_the_first_write_leaves_a_file_without_a_mark),
        cmocka_unit_test(a_full_disk_changes_nothing),
        cmocka_unit_test(a_torn_mark_leaves_the_one_before),
        cmocka_unit_test(what_only_bears_a_marks_name_is_not_used),
        cmocka_unit_test(a_mark_is_no_file_to_write),
        cmocka_unit_test(network_file_systems_are_refused),
        cmocka_unit_test(a_file_put_there_by_others_is_noticed),
        cmocka_unit_test(without_nameless_files_what_is_left_over_is_swept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
