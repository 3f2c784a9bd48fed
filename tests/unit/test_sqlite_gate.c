/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that do not exclude, that are held too long, and handles that may not
 * do what they are asked. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000 };

static void expect_no_open(struct lab *lab, enum hf_err code, const char *part)
{
    assert_null(lab_try_open(lab));
    assert_int_equal(lab->error.code, code);
    if (!strstr(lab->error.text, part))
        fail_msg("\"%s\" has no \"%s\"", lab->error.text, part);
    assert_null(strchr(lab->error.text, '\n'));
}

/* ---- locks that are none: F12 ---- */

static int lock_nothing(struct hf_sys *sys, int fd, enum hf_lock_mode mode,
                        struct hf_span limit)
{
    (void)sys;
    (void)fd;
    (void)mode;
    (void)limit;
    return 0;
}

static int try_nothing(struct hf_sys *sys, int fd, enum hf_lock_mode mode)
{
    (void)sys;
    (void)fd;
    (void)mode;
    return 0;
}

static int lock_fails(struct hf_sys *sys, int fd, enum hf_lock_mode mode,
                      struct hf_span limit)
{
    (void)sys;
    (void)fd;
    (void)mode;
    (void)limit;
    return -ENOLCK;
}

static int try_fails(struct hf_sys *sys, int fd, enum hf_lock_mode mode)
{
    (void)sys;
    (void)fd;
    (void)mode;
    return -ENOLCK;
}

static void locks_that_always_succeed_are_found(void **state)
{
    struct lab *lab = *state;

    lab->fake.sys.lock = lock_nothing;
    lab->fake.sys.try_lock = try_nothing;
    expect_no_open(lab, HF_ERR_UNAVAILABLE, "do not exclude");
    expect_no_open(lab, HF_ERR_UNAVAILABLE, lab->path);
    expect_no_open(lab, HF_ERR_UNAVAILABLE, "--store");
}

static void locks_that_fail_are_found(void **state)
{
    struct lab *lab = *state;

    lab->fake.sys.lock = lock_fails;
    expect_no_open(lab, HF_ERR_UNAVAILABLE, "locks do not work");
}

static void locks_that_fail_when_tried_are_found(void **state)
{
    struct lab *lab = *state;

    lab->fake.sys.try_lock = try_fails;
    expect_no_open(lab, HF_ERR_UNAVAILABLE, "locks do not work");
}

/* ---- file systems ---- */

static void remote_file_systems_are_refused_by_name(void **state)
{
    struct lab *lab = *state;
    static const struct {
        uint64_t magic;
        const char *name;
    } remote[] = {{0x6969, "type nfs,"},      {0x65735546, "type fuse,"},
                  {0xff534d42, "type cifs,"}, {0x01021997, "type 9p,"},
                  {0x12345678, "0x12345678"}, {0x00c36400, "type ceph,"}};

    for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++) {
        lab->fake.fs_type = remote[i].magic;
        expect_no_open(lab, HF_ERR_UNAVAILABLE, remote[i].name);
        expect_no_open(lab, HF_ERR_UNAVAILABLE, "--store");
    }
    lab->fake.fs_type = 0x58465342;
    lab_close(lab_open(lab));
}

/* ---- held too long ---- */

static struct hf_store *open_for(struct lab *lab, int64_t limit_ms)
{
    struct hf_sqlite_options options = {.path = lab->path,
                                        .gate_limit = hf_span_ms(limit_ms)};
    struct hf_store *store = NULL;

    if (hf_sqlite_open(&lab->fake.sys, &options, &store, &lab->error))
        return NULL;
    return store;
}

static void hold_gate(struct lab *lab, void *argument)
{
    int fd = open(lab->path, O_RDWR | O_CLOEXEC);

    (void)argument;
    must(fd >= 0 && flock(fd, LOCK_EX) == 0);
    lab_ready(lab);
}

static void expect_shut_out(struct lab *lab, struct hf_store *store,
                            const char *why)
{
    assert_int_equal(lab_try_take(lab, store, "other", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    assert_int_equal(lab->error.code, HF_ERR_UNAVAILABLE);
    assert_non_null(strstr(lab->error.text, why));
}

static void a_gate_held_too_long_names_the_process(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = open_for(lab, 50);
    struct hf_store *late;
    char who[32];
    pid_t pid;

    assert_non_null(store);
    assert_true(lab_take(lab, store, "held", 0));
    pid = lab_start(lab, hold_gate, NULL);
    snprintf(who, sizeof(who), "process %d has it now", (int)pid);
    expect_shut_out(lab, store, who);
    /* To look at what is in order nobody needs the gate. */
    late = open_for(lab, 50);
    assert_non_null(late);
    expect_shut_out(lab, late, who);
    must(unlink(lab_file(lab, ".mark")) == 0);
    assert_null(open_for(lab, 50));
    assert_int_equal(lab->error.code, HF_ERR_UNAVAILABLE);
    lab_end(pid);
    assert_true(lab_take(lab, late, "other", 0));
    lab_close(late);
    lab_close(store);
}

static void lock_like_sqlite(struct lab *lab, void *argument)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = 0x40000002,
                         .l_len = 510};
    int fd = open(lab->path, O_RDWR | O_CLOEXEC);

    (void)argument;
    must(fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0);
    lab_ready(lab);
}

static void another_program_that_uses_sqlite_is_kept_out(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = open_for(lab, 50);
    pid_t pid;

    assert_non_null(store);
    assert_true(lab_take(lab, store, "held", 0));
    pid = lab_start(lab, lock_like_sqlite, NULL);
    assert_int_equal(lab_try_take(lab, store, "other", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    assert_non_null(strstr(lab->error.text, "not Holdfast"));
    lab_end(pid);
    assert_true(lab_take(lab, store, "other", 0));
    lab_close(store);
}

/* ---- waited for ---- */

static int64_t longest_wait_ms;

static int note_limit(struct hf_sys *sys, int fd, enum hf_lock_mode mode,
                      struct hf_span limit)
{
    int64_t ms = hf_span_to_ms_up(limit);

    if (ms > longest_wait_ms)
        longest_wait_ms = ms;
    return sys->try_lock(sys, fd, mode);
}

static void who_may_not_stand_for_long_does_not(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = open_for(lab, 10000);
    struct hf_store_request request = {.kind = HF_STORE_TXN};

    request.stand_until =
        hf_time_add(lab->fake.sys.steady(&lab->fake.sys), hf_span_ms(70));
    lab->fake.sys.lock = note_limit;
    longest_wait_ms = 0;
    assert_int_equal(lab_run(lab, store, &request), HF_OUTCOME_COMMITTED);
    assert_int_equal(longest_wait_ms, 70);
    /* Too late: it tries. */
    request.stand_until.ns -= INT64_C(100000000);
    longest_wait_ms = -1;
    assert_int_equal(lab_run(lab, store, &request), HF_OUTCOME_COMMITTED);
    assert_int_equal(longest_wait_ms, 0);
    assert_true(lab_take(lab, store, "other", 0));
    assert_int_equal(longest_wait_ms, 10000);
    hf_store_request_clear(&request);
    lab_close(store);
}

static int64_t real_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Neither does it stand at SQLite's lock for longer, nor does who comes later
 * give up as soon. */
static void another_program_is_waited_for_as_long_as_the_gate(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = open_for(lab, 10000);
    struct hf_store_request request = {.kind = HF_STORE_TXN};
    int64_t began;
    pid_t pid;

    (void)lab_put(lab, store, "before", 0);
    pid = lab_start(lab, lock_like_sqlite, NULL);
    began = real_ms();
    request.stand_until =
        hf_time_add(lab->fake.sys.steady(&lab->fake.sys), hf_span_ms(50));
    assert_int_equal(lab_run(lab, store, &request), HF_OUTCOME_FAILED);
    assert_in_range(real_ms() - began, 30, 1900);
    began = real_ms();
    assert_int_equal(lab_try_take(lab, store, "other", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    assert_in_range(real_ms() - began, 1900, 10000);
    lab_end(pid);
    assert_true(lab_take(lab, store, "other", 0));
    hf_store_request_clear(&request);
    lab_close(store);
}

/* ---- kept for what follows ---- */

static unsigned int gate_takings;

static int count_lock(struct hf_sys *sys, int fd, enum hf_lock_mode mode,
                      struct hf_span limit)
{
    (void)limit;
    gate_takings++;
    return sys->try_lock(sys, fd, mode);
}

static void read_more_will_follow(struct lab *lab, struct hf_store *store)
{
    struct hf_action read = {.kind = HF_DO_GET, .key = {"key", 3}};
    struct hf_branch branch = {.then = &read, .then_count = 1};
    struct hf_store_request request = {.kind = HF_STORE_TXN,
                                       .branches = &branch,
                                       .branch_count = 1,
                                       .more = true};

    assert_int_equal(lab_run(lab, store, &request), HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&request);
}

static void the_gate_is_kept_between_a_read_and_its_write(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    struct hf_store *other = open_for(lab, 50);

    lab->fake.sys.lock = count_lock;
    gate_takings = 0;
    read_more_will_follow(lab, store);
    /* The database's lock, and the head's. */
    assert_int_equal(gate_takings, 2);
    assert_true(lab_take(lab, store, "key", 0));
    assert_int_equal(gate_takings, 2);
    /* What is written stays for nobody. */
    assert_false(lab_take(lab, other, "key", 0));
    assert_int_equal(gate_takings, 4);
    lab_close(other);
    lab_close(store);
}

static void a_gate_that_is_kept_is_given_back_when_nothing_follows(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    struct hf_store *other = open_for(lab, 50);
    struct hf_time now = lab->fake.sys.steady(&lab->fake.sys);

    read_more_will_follow(lab, store);
    assert_int_equal(lab_try_take(lab, other, "key", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    assert_null(hf_store_next(store, now));
    assert_true(lab_take(lab, other, "key", 0));
    lab_close(other);
    lab_close(store);
}

/* ---- looked at without it ---- */

static struct {
    int (*mkdir)(struct hf_sys *sys, int folder, const char *name, mode_t mode);
    unsigned int made;
    unsigned int made_outside;
} folders;

static int note_mkdir(struct hf_sys *sys, int folder, const char *name,
                      mode_t mode)
{
    folders.made++;
    if (gate_takings == 0)
        folders.made_outside++;
    return folders.mkdir(sys, folder, name, mode);
}

/* Half made it would be refused by whoever comes then. */
static void a_session_folder_is_made_inside_the_gate_alone(void **state)
{
    struct lab *lab = *state;

    lab_close(lab_open(lab));
    lab_remove_tree(lab_file(lab, ".run"));
    lab->fake.sys.lock = count_lock;
    folders.mkdir = lab->fake.sys.mkdir;
    folders.made = folders.made_outside = gate_takings = 0;
    lab->fake.sys.mkdir = note_mkdir;
    lab_close(lab_open(lab));
    assert_int_equal(folders.made, 1);
    assert_int_equal(folders.made_outside, 0);
}

static void what_is_in_order_is_opened_without_the_gate(void **state)
{
    struct lab *lab = *state;

    lab_close(lab_open(lab));
    lab->fake.sys.lock = count_lock;
    gate_takings = 0;
    lab_close(lab_open(lab));
    assert_int_equal(gate_takings, 0);
}

/* ---- replaced while somebody is inside ---- */

/* At the moment after a commit when its file is seen to be still in place. */
static struct {
    struct lab *lab;
    int (*lstat)(struct hf_sys *sys, int folder, const char *name,
                 struct stat *about);
    int looks;
    bool was_kept_out;
} meanwhile;

static int lstat_then_replace(struct hf_sys *sys, int folder, const char *name,
                              struct stat *about)
{
    struct lab *lab = meanwhile.lab;
    int got = meanwhile.lstat(sys, folder, name, about);
    struct hf_store *other;

    /* First it is looked at on the way in. */
    if (strcmp(name, lab->path) != 0 || ++meanwhile.looks != 2)
        return got;
    lab->fake.sys.lstat = meanwhile.lstat;
    lab_copy(lab_file(lab, "-older"), lab_file(lab, "-moving"));
    must(rename(lab_file(lab, "-moving"), lab->path) == 0);
    other = open_for(lab, 50);
    must(other != NULL);
    meanwhile.was_kept_out =
        lab_try_take(lab, other, "held", 0, NULL, NULL) == HF_OUTCOME_FAILED &&
        lab->error.code == HF_ERR_UNAVAILABLE;
    lab_close(other);
    return got;
}

static void a_file_put_there_is_entered_when_the_writer_has_left(void **state)
{
    struct lab *lab = *state;
    struct hf_store *writer = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, writer, TTL_MS);
    struct hf_store *other;
    uint64_t revision = 0;
    bool held = false;

    (void)lab_put(lab, writer, "before", 0);
    lab_copy(lab->path, lab_file(lab, "-older"));
    meanwhile.lab = lab;
    meanwhile.lstat = lab->fake.sys.lstat;
    meanwhile.looks = 0;
    lab->fake.sys.lstat = lstat_then_replace;
    assert_int_equal(lab_try_take(lab, writer, "held", lease, &held, &revision),
                     HF_OUTCOME_COMMITTED);
    assert_int_equal(meanwhile.looks, 2);
    assert_true(meanwhile.was_kept_out);
    assert_true(held);
    other = lab_open(lab);
    assert_false(lab_take(lab, other, "held", 0));
    assert_true(lab_put(lab, other, "next", 0) > revision);
    lab_close(other);
    lab_close(writer);
}

/* ---- another process's handle ---- */

static void a_handle_is_of_no_use_to_a_child(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);
    int status = 0;
    pid_t pid;

    assert_true(lab_take(lab, store, "held", lease));
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        bool failed = lab_try_take(lab, store, "other", 0, NULL, NULL) ==
                          HF_OUTCOME_FAILED &&
                      lab_renew(lab, store, lease) == HF_OUTCOME_FAILED;

        lab_close(store);
        _exit(failed ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    /* And its closing took nothing from the parent. */
    assert_int_equal(lab_renew(lab, store, lease), HF_OUTCOME_COMMITTED);
    assert_int_equal(lab_proof(lab, store, lease), HF_PROOF_LIVES);
    lab_close(store);
}

/* ---- handles that only look ---- */

static void looking_at_a_missing_store_makes_nothing(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_look(lab);

    assert_false(lab_exists(lab, store, "held"));
    assert_int_equal(lab_revision(lab, store), 0);
    assert_int_equal(lab_try_take(lab, store, "held", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    assert_int_equal(lab->error.code, HF_ERR_DENIED);
    lab_close(store);
    assert_int_equal(lab_count_files(lab, "db"), 0);
}

static void looking_sees_and_changes_nothing(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);
    struct hf_store *look = lab_look(lab);
    uint64_t revision = lab_put(lab, store, "held", lease);

    assert_int_equal(lab_changed(lab, look, "held"), revision);
    assert_int_equal(lab_proof(lab, look, lease), HF_PROOF_LIVES);
    assert_int_equal(lab_renew(lab, look, lease), HF_OUTCOME_FAILED);
    assert_int_equal(lab_release(lab, look, "held"), HF_OUTCOME_FAILED);
    lab_close(store);
    /* Dead and of another boot: it is shown, not ended. */
    lab->fake.boot_id[1] ^= 1;
    lab_close(look);
    look = lab_look(lab);
    assert_true(lab_exists(lab, look, "held"));
    assert_int_equal(lab_proof(lab, look, lease), HF_PROOF_DEAD);
    lab_close(look);
}

static void a_damaged_store_is_only_told_of_by_who_looks(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    struct hf_action read = {.kind = HF_DO_GET, .key = {"held", 4}};
    struct hf_branch branch = {.then = &read, .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};

    assert_true(lab_take(lab, store, "held", 0));
    lab_close(store);
    lab_scribble(lab->path, 0, "rubbish", 7);
    store = lab_look(lab);
    assert_int_equal(lab_run(lab, store, &request), HF_OUTCOME_FAILED);
    assert_int_equal(lab->error.code, HF_ERR_DAMAGED);
    hf_store_request_clear(&request);
    lab_close(store);
    assert_int_equal(lab_count_files(lab, "damaged"), 0);
}

/* Cut short behind the first write to the database. */
static void die_in_commit(struct lab *lab, void *argument)
{
    struct hf_store *store = lab_open(lab);

    (void)lab_revision(lab, store);
    for (unsigned int n = 1;; n++) {
        char byte = 0;
        int fd = open(lab_file(lab, "-journal"), O_RDONLY | O_CLOEXEC);

        if (fd >= 0 && read(fd, &byte, 1) == 1 && byte)
            return;
        close(fd);
        lab_close(store);
        store = lab_open(lab);
        sys_fake_die(&lab->fake, FAKE_PWRITE, n);
        (void)lab_try_take(lab, store, "cut", 0, NULL, NULL);
        if (!sys_fake_end(&lab->fake))
            abort();
        /* Its process would be gone now; closing a dead one's handle. */
    }
    (void)argument;
}

static void a_commit_cut_short_is_told_of_by_who_looks(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    struct hf_store_request request = {.kind = HF_STORE_TXN};

    assert_true(lab_take(lab, store, "held", 0));
    lab_close(store);
    lab_die(lab, die_in_commit, NULL);
    store = lab_look(lab);
    assert_int_equal(lab_run(lab, store, &request), HF_OUTCOME_FAILED);
    assert_int_equal(lab->error.code, HF_ERR_UNAVAILABLE);
    assert_non_null(strstr(lab->error.text, "cut short"));
    hf_store_request_clear(&request);
    lab_close(store);
    /* Whoever may write mends it. */
    store = lab_open(lab);
    assert_false(lab_exists(lab, store, "cut"));
    assert_true(lab_exists(lab, store, "held"));
    lab_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(locks_that_always_succeed_are_found),
        LAB_TEST(locks_that_fail_are_found),
        LAB_TEST(locks_that_fail_when_tried_are_found),
        LAB_TEST(remote_file_systems_are_refused_by_name),
        LAB_TEST(a_gate_held_too_long_names_the_process),
        LAB_TEST(who_may_not_stand_for_long_does_not),
        LAB_TEST(another_program_is_waited_for_as_long_as_the_gate),
        LAB_TEST(the_gate_is_kept_between_a_read_and_its_write),
        LAB_TEST(a_gate_that_is_kept_is_given_back_when_nothing_follows),
        LAB_TEST(a_session_folder_is_made_inside_the_gate_alone),
        LAB_TEST(what_is_in_order_is_opened_without_the_gate),
        LAB_TEST(a_file_put_there_is_entered_when_the_writer_has_left),
        LAB_TEST(another_program_that_uses_sqlite_is_kept_out),
        LAB_TEST(a_handle_is_of_no_use_to_a_child),
        LAB_TEST(looking_at_a_missing_store_makes_nothing),
        LAB_TEST(looking_sees_and_changes_nothing),
        LAB_TEST(a_damaged_store_is_only_told_of_by_who_looks),
        LAB_TEST(a_commit_cut_short_is_told_of_by_who_looks),
    };

    return cmocka_run_group_tests_name("embedded store, gate", tests, NULL,
                                       NULL);
}
