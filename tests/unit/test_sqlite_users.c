/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores of several users, and default places in the presence of others. Each
 * user is a number that nobody has; needs root, and namespaces for places.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/sqlite_lab.h"

enum {
    TTL_MS = 60000,
    FIRST = 60001,
    SECOND = 60002,
    THIRD = 60003, /* of no group that matters */
    GROUP = 60100
};

#define skip_without_root()                                                    \
    do {                                                                       \
        if (geteuid() != 0)                                                    \
            skip();                                                            \
    } while (0)

/* ---- users ---- */

static void become(uid_t uid)
{
    gid_t group = GROUP;

    if (uid == 0)
        return;
    must(setgroups(uid == THIRD ? 0 : 1, &group) == 0);
    must(setresgid(uid, uid, uid) == 0);
    must(setresuid(uid, uid, uid) == 0);
}

/* What a user does; true is well. */
typedef bool deed(struct lab *lab);

static bool does(struct lab *lab, uid_t uid, mode_t mask, deed *what)
{
    int status = 0;
    pid_t pid = fork();

    must(pid >= 0);
    if (pid == 0) {
        become(uid);
        umask(mask);
        lab->fake.seed ^= (uint64_t)getpid() << 20;
        _exit(what(lab) ? 0 : 1);
    }
    must(waitpid(pid, &status, 0) == pid);
    must(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
}

static bool runs_a_job(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);
    bool held = lab_take(lab, store, "held", lease);

    if (held)
        must(lab_release(lab, store, "held") == HF_OUTCOME_COMMITTED);
    must(lab_revoke(lab, store, lease) == HF_OUTCOME_COMMITTED);
    lab_close(store);
    return held;
}

static bool finds_it_busy(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);
    bool held = lab_take(lab, store, "held", lease);

    lab_close(store);
    return !held;
}

static bool is_denied(struct lab *lab)
{
    struct hf_store *store = lab_try_open(lab);

    if (store || lab->error.code != HF_ERR_DENIED)
        fprintf(stderr, "%s\n", store ? "opened" : lab->error.text);
    return !store && lab->error.code == HF_ERR_DENIED &&
           strstr(lab->error.text, lab->folder) &&
           strstr(lab->error.text, "--store");
}

static void hold_as_first(struct lab *lab, void *argument)
{
    struct hf_store *store;
    hf_lease_id lease;

    (void)argument;
    become(FIRST);
    umask(077);
    store = lab_open(lab);
    lease = lab_grant(lab, store, TTL_MS);
    must(lab_take(lab, store, "held", lease));
    lab_ready(lab);
}

static void make_group_folder(struct lab *lab, uid_t owner, mode_t mode)
{
    assert_int_equal(chmod(lab->folder, 0755), 0);
    snprintf(lab->path, sizeof(lab->path), "%s/shared", lab->folder);
    assert_int_equal(mkdir(lab->path, 0700), 0);
    assert_int_equal(chown(lab->path, owner, GROUP), 0);
    assert_int_equal(chmod(lab->path, mode), 0);
    snprintf(lab->path + strlen(lab->path),
             sizeof(lab->path) - strlen(lab->path), "/db");
}

/* ---- a group's store: F29 ---- */

static void check_group_store(struct lab *lab)
{
    static const uid_t turns[] = {FIRST, SECOND, 0, SECOND, FIRST, 0};
    static const char *const files[] = {"", ".mark", "-journal", ".run/head"};
    struct stat about;
    pid_t pid;

    pid = lab_start(lab, hold_as_first, NULL);
    assert_true(does(lab, SECOND, 022, finds_it_busy));
    assert_true(does(lab, 0, 022, finds_it_busy));
    assert_true(does(lab, THIRD, 022, is_denied));
    lab_end(pid);
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
        assert_true(does(lab, turns[i], 077, runs_a_job));
        assert_true(does(lab, turns[i], 0, runs_a_job));
        /* A raise of the mark is every member's too. */
        sys_fake_pass(&lab->fake, hf_span_ms(3 * 3600 * 1000));
    }
    assert_true(does(lab, THIRD, 0, is_denied));
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        assert_int_equal(stat(lab_file(lab, files[i]), &about), 0);
        assert_int_equal(about.st_gid, GROUP);
        assert_int_equal(about.st_mode & 07777, 0660);
    }
}

static void a_sticky_setgid_folder_serves_its_group(void **state)
{
    skip_without_root();
    make_group_folder(*state, 0, 03770);
    check_group_store(*state);
}

static void a_plain_folder_of_a_group_serves_it_too(void **state)
{
    skip_without_root();
    make_group_folder(*state, 0, 0770);
    check_group_store(*state);
}

static void a_folder_that_a_member_made_serves_the_group(void **state)
{
    skip_without_root();
    make_group_folder(*state, SECOND, 02770);
    check_group_store(*state);
}

/* Others may look in, and reach nothing. */
static void a_third_who_may_look_in_changes_nothing(void **state)
{
    struct lab *lab = *state;

    skip_without_root();
    make_group_folder(lab, 0, 03775);
    assert_true(does(lab, FIRST, 0, runs_a_job));
    assert_true(does(lab, THIRD, 0, is_denied));
    assert_true(does(lab, SECOND, 0, runs_a_job));
}

static bool mends_damage(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    bool held = lab_take(lab, store, "held", 0);

    must(strstr(hf_sqlite_notice(store), "damaged") != NULL);
    lab_close(store);
    return !held;
}

/* In a sticky folder nobody may rename or remove another member's file. */
static void a_member_mends_another_members_damaged_store(void **state)
{
    struct lab *lab = *state;
    pid_t pid;

    skip_without_root();
    make_group_folder(lab, 0, 03770);
    pid = lab_start(lab, hold_as_first, NULL);
    lab_scribble(lab->path, 0, "rubbish", 7);
    assert_true(does(lab, SECOND, 077, mends_damage));
    lab_end(pid);
    assert_true(does(lab, FIRST, 077, runs_a_job));
}

static bool hands_over(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    struct hf_action read = {.kind = HF_DO_GET, .key = {"waits", 5}};
    struct hf_branch look = {.then = &read, .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &look, .branch_count = 1};
    hf_lease_id lease;

    must(lab_run(lab, store, &request) == HF_OUTCOME_COMMITTED);
    must(look.results[0].record_count == 1);
    lease = look.results[0].records[0].lease;
    hf_store_request_clear(&request);
    must(lab_take(lab, store, "held", lease));
    lab_close(store);
    return true;
}

static bool sees_it_held_in_the_note(struct lab *lab)
{
    struct hf_store *store;
    bool held;

    must(unlink(lab->path) == 0);
    store = lab_open(lab);
    held = lab_exists(lab, store, "held");
    lab_close(store);
    return held;
}

static void wait_as_first(struct lab *lab, void *argument)
{
    struct hf_store *store;

    (void)argument;
    become(FIRST);
    umask(077);
    store = lab_open(lab);
    must(lab_take(lab, store, "waits", lab_grant(lab, store, TTL_MS)));
    lab_ready(lab);
}

/* The note in the first one's session file is written by the second. */
static void a_hand_over_between_users_is_noted(void **state)
{
    struct lab *lab = *state;
    pid_t pid;

    skip_without_root();
    make_group_folder(lab, 0, 03770);
    pid = lab_start(lab, wait_as_first, NULL);
    assert_true(does(lab, SECOND, 077, hands_over));
    assert_true(does(lab, 0, 077, sees_it_held_in_the_note));
    lab_end(pid);
}

/* ---- what a third makes beforehand ---- */

static void a_folder_made_by_a_third_is_not_used(void **state)
{
    struct lab *lab = *state;
    char folder[300];

    skip_without_root();
    assert_int_equal(chmod(lab->folder, 01777), 0);
    snprintf(folder, sizeof(folder), "%s/shared", lab->folder);
    snprintf(lab->path, sizeof(lab->path), "%s/db", folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    assert_int_equal(chown(folder, THIRD, THIRD), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_true(does(lab, FIRST, 022, is_denied));
    assert_int_equal(chmod(folder, 0755), 0);
    assert_true(does(lab, FIRST, 022, is_denied));
    assert_true(does(lab, 0, 022, is_denied));
    /* With the group, out of a folder that gives it to everybody. */
    assert_int_equal(chown(lab->folder, 0, GROUP), 0);
    assert_int_equal(chmod(lab->folder, 03777), 0);
    assert_int_equal(chown(folder, THIRD, GROUP), 0);
    assert_int_equal(chmod(folder, 02770), 0);
    assert_true(does(lab, FIRST, 022, is_denied));
}

static void session_folders_made_by_a_third_are_not_used(void **state)
{
    struct lab *lab = *state;

    skip_without_root();
    assert_int_equal(chmod(lab->folder, 01777), 0);
    assert_int_equal(mkdir(lab_file(lab, ".run"), 0777), 0);
    assert_int_equal(chown(lab_file(lab, ".run"), THIRD, THIRD), 0);
    assert_true(does(lab, FIRST, 022, is_denied));
    assert_int_equal(chmod(lab_file(lab, ".run"), 0777), 0);
    assert_true(does(lab, FIRST, 022, is_denied));
}

/* ---- default places, in a world of our own ---- */

static bool in_own_world(struct lab *lab)
{
    static const char *const fresh[] = {"/var/lib", "/var/tmp", "/run",
                                        "/dev/shm"};

    (void)lab;
    if (unshare(CLONE_NEWNS) ||
        mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL))
        return false;
    for (size_t i = 0; i < sizeof(fresh) / sizeof(fresh[0]); i++) {
        if (mount("none", fresh[i], "tmpfs", MS_NOSUID | MS_NODEV,
                  i == 0 || i == 2 ? "mode=755" : "mode=1777"))
            return false;
    }
    return true;
}

static struct hf_store *open_default(struct lab *lab)
{
    struct hf_sqlite_options options = {.gate_limit = hf_span_ms(5000)};
    struct hf_store *store = NULL;

    if (hf_sqlite_open(&lab->fake.sys, &options, &store, &lab->error))
        return NULL;
    return store;
}

static bool is_folder(const char *path, uid_t uid)
{
    struct stat about;

    return !stat(path, &about) && S_ISDIR(about.st_mode) &&
           (about.st_mode & 07777) == 0700 && about.st_uid == uid;
}

static bool opens_default(struct lab *lab)
{
    struct hf_store *store;

    /* Nothing of the environment counts. */
    setenv("HOME", "/nowhere", 1);
    setenv("TMPDIR", "/nowhere", 1);
    setenv("XDG_RUNTIME_DIR", "/nowhere", 1);
    setenv("XDG_STATE_HOME", "/nowhere", 1);
    store = open_default(lab);
    if (!store) {
        fprintf(stderr, "%s\n", lab->error.text);
        return false;
    }
    must(lab_take(lab, store, "held", lab_grant(lab, store, TTL_MS)));
    lab_close(store);
    if (geteuid() == 0)
        return is_folder("/var/lib/holdfast", 0) &&
               is_folder("/run/holdfast", 0);
    return is_folder("/var/tmp/holdfast-60001", FIRST) &&
           is_folder("/dev/shm/holdfast-60001", FIRST);
}

static bool default_is_refused(struct lab *lab)
{
    struct hf_store *store = open_default(lab);

    if (store || !strstr(lab->error.text, "--store"))
        fprintf(stderr, "%s\n", store ? "opened" : lab->error.text);
    return !store && strstr(lab->error.text, "--store") &&
           strstr(lab->error.text, "holdfast");
}

static bool all_of_the_default_places(struct lab *lab)
{
    if (!in_own_world(lab))
        return false;
    must(does(lab, 0, 022, opens_default));
    must(does(lab, FIRST, 0, opens_default));
    /* Made beforehand by somebody else. */
    must(mkdir("/var/tmp/holdfast-60002", 0777) == 0);
    must(chown("/var/tmp/holdfast-60002", THIRD, THIRD) == 0);
    must(does(lab, SECOND, 022, default_is_refused));
    must(rmdir("/var/tmp/holdfast-60002") == 0);
    must(symlink("/tmp", "/var/tmp/holdfast-60002") == 0);
    must(does(lab, SECOND, 022, default_is_refused));
    must(unlink("/var/tmp/holdfast-60002") == 0);
    must(mkdir("/dev/shm/holdfast-60002", 0700) == 0);
    must(chown("/dev/shm/holdfast-60002", THIRD, THIRD) == 0);
    must(does(lab, SECOND, 022, default_is_refused));
    /* Not to be written, or not there. */
    must(mount("none", "/var/tmp", "none", MS_REMOUNT | MS_RDONLY, NULL) == 0);
    must(does(lab, THIRD, 022, default_is_refused));
    must(umount("/run") == 0);
    must(mount("none", "/run", "tmpfs", MS_RDONLY, NULL) == 0);
    must(does(lab, 0, 022, default_is_refused));
    return true;
}

static void default_places_are_the_users_own(void **state)
{
    skip_without_root();
    if (!does(*state, 0, 022, all_of_the_default_places))
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(a_sticky_setgid_folder_serves_its_group),
        LAB_TEST(a_plain_folder_of_a_group_serves_it_too),
        LAB_TEST(a_folder_that_a_member_made_serves_the_group),
        LAB_TEST(a_third_who_may_look_in_changes_nothing),
        LAB_TEST(a_member_mends_another_members_damaged_store),
        LAB_TEST(a_hand_over_between_users_is_noted),
        LAB_TEST(a_folder_made_by_a_third_is_not_used),
        LAB_TEST(session_folders_made_by_a_third_are_not_used),
        LAB_TEST(default_places_are_the_users_own),
    };

    return cmocka_run_group_tests_name("embedded store, users", tests, NULL,
                                       NULL);
}
