/* SPDX-License-Identifier: Apache-2.0 */
/* Where a store lies, and what is refused there. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000, STRANGER = 54321 };

static void expect_no_open(struct lab *lab, enum hf_err code, const char *part)
{
    struct hf_store *store = lab_try_open(lab);

    if (store)
        fail_msg("it was opened, with no \"%s\"", part);
    if (lab->error.code != code || !strstr(lab->error.text, part))
        fail_msg("\"%s\" (%d) has no \"%s\"", lab->error.text, lab->error.code,
                 part);
    assert_null(strchr(lab->error.text, '\n'));
}

static void make_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wex");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static bool has_text(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    (void)!fread(found, 1, sizeof(found) - 1, file);
    fclose(file);
    return !strcmp(found, text);
}

/* ---- places ---- */

static void the_place_follows_from_the_user_id_alone(void **state)
{
    char place[64];

    (void)state;
    assert_int_equal(hf_sqlite_place(0, place, sizeof(place)), HF_ERR_OK);
    assert_string_equal(place, "/var/lib/holdfast/lock.db");
    assert_int_equal(hf_sqlite_place(1000, place, sizeof(place)), HF_ERR_OK);
    assert_string_equal(place, "/var/tmp/holdfast-1000/lock.db");
    assert_int_equal(hf_sqlite_place(4294967294U, place, sizeof(place)),
                     HF_ERR_OK);
    assert_string_equal(place, "/var/tmp/holdfast-4294967294/lock.db");
    assert_int_equal(hf_sqlite_place(1000, place, 10), HF_ERR_USAGE);
}

static void a_path_must_be_whole_and_name_a_file(void **state)
{
    struct lab *lab = *state;
    static const char *const wrong[] = {"db",    "./db",    "",
                                        "/tmp/", "/tmp/..", "/tmp/."};
    char path[5000];

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        snprintf(lab->path, sizeof(lab->path), "%s", wrong[i]);
        expect_no_open(lab, HF_ERR_USAGE, "store path");
    }
    memset(path, 'a', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    path[0] = '/';
    {
        struct hf_sqlite_options options = {.path = path};
        struct hf_store *store;

        assert_int_equal(
            hf_sqlite_open(&lab->fake.sys, &options, &store, &lab->error),
            HF_ERR_USAGE);
    }
}

static void a_missing_folder_is_named_and_not_made(void **state)
{
    struct lab *lab = *state;

    snprintf(lab->path, sizeof(lab->path), "%s/none/db", lab->folder);
    expect_no_open(lab, HF_ERR_UNAVAILABLE, "/none");
    assert_int_equal(lab_count_files(lab, "none"), 0);
}

static void all_files_are_the_users_alone(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store;
    struct stat about;
    mode_t former = umask(0);
    static const char *const files[] = {"", ".mark", "-journal", ".run/head"};

    store = lab_open(lab);
    (void)lab_grant(lab, store, TTL_MS);
    umask(former);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        /* The journal comes with the first transaction. */
        assert_int_equal(stat(lab_file(lab, files[i]), &about), 0);
        assert_int_equal(about.st_mode & 07777, 0600);
    }
    assert_int_equal(stat(lab_file(lab, ".run"), &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
    lab_close(store);
}

/* ---- planted: C17 ---- */

static void a_link_is_never_followed(void **state)
{
    struct lab *lab = *state;
    static const char *const names[] = {"", ".mark", "-journal", ".run/head"};
    char target[300];

    snprintf(target, sizeof(target), "%s/target", lab->folder);
    make_file(target, "untouched");
    assert_int_equal(mkdir(lab_file(lab, ".run"), 0700), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *name = lab_file(lab, names[i]);

        (void)unlink(name);
        assert_int_equal(symlink(target, name), 0);
        expect_no_open(lab, HF_ERR_DENIED, "symbolic link");
        expect_no_open(lab, HF_ERR_DENIED, name);
        assert_true(has_text(target, "untouched"));
        assert_int_equal(unlink(name), 0);
    }
    assert_int_equal(rmdir(lab_file(lab, ".run")), 0);
    assert_int_equal(symlink(lab->folder, lab_file(lab, ".run")), 0);
    expect_no_open(lab, HF_ERR_DENIED, "symbolic link");
}

static void what_is_no_file_is_refused(void **state)
{
    struct lab *lab = *state;

    assert_int_equal(mkdir(lab->path, 0700), 0);
    expect_no_open(lab, HF_ERR_UNAVAILABLE, lab->path);
    assert_int_equal(rmdir(lab->path), 0);
    assert_int_equal(mkfifo(lab->path, 0600), 0);
    expect_no_open(lab, HF_ERR_DENIED, "not a regular file");
    assert_int_equal(unlink(lab->path), 0);
    if (mknod(lab->path, S_IFCHR | 0600, makedev(1, 3)) == 0) {
        expect_no_open(lab, HF_ERR_DENIED, "not a regular file");
        assert_int_equal(unlink(lab->path), 0);
    }
    make_file(lab_file(lab, ".run"), "a file");
    expect_no_open(lab, HF_ERR_UNAVAILABLE, ".run");
    assert_true(has_text(lab_file(lab, ".run"), "a file"));
}

static void a_file_with_a_second_name_is_refused(void **state)
{
    struct lab *lab = *state;

    make_file(lab_file(lab, "-other"), "untouched");
    assert_int_equal(link(lab_file(lab, "-other"), lab->path), 0);
    expect_no_open(lab, HF_ERR_DENIED, "second name");
    assert_true(has_text(lab_file(lab, "-other"), "untouched"));
}

static void a_planted_log_is_not_looked_at(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store;

    make_file(lab_file(lab, "-wal"), "7\x7f\x06\x82 not a log");
    store = lab_open(lab);
    assert_true(lab_take(lab, store, "a", 0));
    lab_close(store);
    assert_int_equal(access(lab_file(lab, "-wal"), F_OK), 0);
    assert_null(strstr(lab->error.text, "damaged"));
}

/* ---- folders ---- */

static void
a_folder_open_to_all_is_refused_but_a_sticky_one_is_not(void **state)
{
    struct lab *lab = *state;

    assert_int_equal(chmod(lab->folder, 0777), 0);
    expect_no_open(lab, HF_ERR_DENIED, "can be written by everybody");
    expect_no_open(lab, HF_ERR_DENIED, "--store");
    assert_int_equal(chmod(lab->folder, 01777), 0);
    lab_close(lab_open(lab));
    {
        struct stat about;

        /* It is nobody's group store. */
        assert_int_equal(stat(lab->path, &about), 0);
        assert_int_equal(about.st_mode & 07777, 0600);
    }
}

static void a_folder_above_that_is_open_to_all_is_refused(void **state)
{
    struct lab *lab = *state;
    char inner[300];

    snprintf(inner, sizeof(inner), "%s/inner", lab->folder);
    assert_int_equal(mkdir(inner, 0700), 0);
    snprintf(lab->path, sizeof(lab->path), "%s/db", inner);
    assert_int_equal(chmod(lab->folder, 0777), 0);
    expect_no_open(lab, HF_ERR_DENIED, "can be written by everybody");
    assert_int_equal(chmod(lab->folder, 0755), 0);
    lab_close(lab_open(lab));
}

static void a_link_on_the_way_is_followed_if_it_is_ours(void **state)
{
    struct lab *lab = *state;
    char inner[300];
    char way[300];

    snprintf(inner, sizeof(inner), "%s/inner", lab->folder);
    snprintf(way, sizeof(way), "%s/way", lab->folder);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink("inner", way), 0);
    snprintf(lab->path, sizeof(lab->path), "%s/db", way);
    lab_close(lab_open(lab));
    if (geteuid() != 0)
        return;
    /* In a folder that is open to all, somebody else's is not. */
    assert_int_equal(chmod(lab->folder, 01777), 0);
    assert_int_equal(lchown(way, STRANGER, STRANGER), 0);
    expect_no_open(lab, HF_ERR_DENIED, "somebody else's symbolic link");
}

static void what_a_stranger_made_is_refused(void **state)
{
    struct lab *lab = *state;
    static const char *const names[] = {"", ".mark", "-journal", ".run/head",
                                        ".run"};
    struct hf_store *store;

    if (geteuid() != 0)
        skip();
    store = lab_open(lab);
    (void)lab_take(lab, store, "a", 0);
    lab_close(store);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *name = lab_file(lab, names[i]);

        assert_int_equal(chown(name, STRANGER, STRANGER), 0);
        store = lab_try_open(lab);
        /* The journal is met by the first transaction. */
        if (store) {
            assert_int_equal(lab_try_take(lab, store, "b", 0, NULL, NULL),
                             HF_OUTCOME_FAILED);
            lab_close(store);
        }
        assert_int_equal(lab->error.code, HF_ERR_DENIED);
        assert_non_null(strstr(lab->error.text, "belongs to another user"));
        assert_non_null(strstr(lab->error.text, "owner 54321"));
        assert_int_equal(chown(name, 0, 0), 0);
    }
    assert_int_equal(chown(lab->folder, STRANGER, STRANGER), 0);
    expect_no_open(lab, HF_ERR_DENIED, "belongs to another user");
    /* To look is another matter. */
    store = lab_look(lab);
    assert_true(lab_exists(lab, store, "a"));
    lab_close(store);
}

/* ---- mounts ---- */

/* A file system whose server never answers: to touch it is to hang. */
static int open_on_hung_mount(struct lab *lab)
{
    char options[128];
    struct hf_store *store;
    int fd;

    if (unshare(CLONE_NEWNS) ||
        mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL))
        return 2;
    fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 2;
    snprintf(options, sizeof(options),
             "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
    if (mount("hang", lab->folder, "fuse.hang", MS_NOSUID | MS_NODEV, options))
        return 2;
    alarm(20);
    store = lab_try_open(lab);
    if (store || lab->error.code != HF_ERR_UNAVAILABLE ||
        !strstr(lab->error.text, "fuse.hang"))
        return 1;
    return 0;
}

static void a_hung_mount_is_refused_untouched(void **state)
{
    struct lab *lab = *state;
    int status = 0;
    pid_t pid;

    if (geteuid() != 0)
        skip();
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(open_on_hung_mount(lab));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_file_of_a_newer_form_is_left_alone(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    sqlite3 *db;

    assert_true(lab_take(lab, store, "a", 0));
    lab_close(store);
    assert_int_equal(sqlite3_open(lab->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "drop table cell; pragma user_version=7",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    lab->fake.boot_id[0] ^= 1;
    assert_null(lab_try_open(lab));
    assert_int_equal(lab->error.code, HF_ERR_UNAVAILABLE);
    assert_non_null(strstr(lab->error.text, "newer"));
    assert_int_equal(lab_count_files(lab, "damaged"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(the_place_follows_from_the_user_id_alone),
        LAB_TEST(a_file_of_a_newer_form_is_left_alone),
        LAB_TEST(a_path_must_be_whole_and_name_a_file),
        LAB_TEST(a_missing_folder_is_named_and_not_made),
        LAB_TEST(all_files_are_the_users_alone),
        LAB_TEST(a_link_is_never_followed),
        LAB_TEST(what_is_no_file_is_refused),
        LAB_TEST(a_file_with_a_second_name_is_refused),
        LAB_TEST(a_planted_log_is_not_looked_at),
        LAB_TEST(a_folder_open_to_all_is_refused_but_a_sticky_one_is_not),
        LAB_TEST(a_folder_above_that_is_open_to_all_is_refused),
        LAB_TEST(a_link_on_the_way_is_followed_if_it_is_ours),
        LAB_TEST(what_a_stranger_made_is_refused),
        LAB_TEST(a_hung_mount_is_refused_untouched),
    };

    return cmocka_run_group_tests_name("embedded store, places", tests, NULL,
                                       NULL);
}
