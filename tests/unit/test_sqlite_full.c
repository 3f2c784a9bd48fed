/* SPDX-License-Identifier: Apache-2.0 */
/* No room: a job starts with its lease or not at all, and every lease can be
 * let go. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000 };

static hf_lease_id try_grant(struct lab *lab, struct hf_store *store)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_GRANT,
                                       .ttl_ms = TTL_MS};
    enum hf_outcome outcome = lab_run(lab, store, &request);

    hf_store_request_clear(&request);
    return outcome == HF_OUTCOME_COMMITTED ? request.lease : 0;
}

/* ---- space by the byte, where writing over costs as much ---- */

static void check_bytes(struct lab *lab, int64_t space)
{
    struct hf_store *store;
    enum hf_outcome took = HF_OUTCOME_FAILED;
    bool held = false;

    lab->fake.space = space;
    store = lab_try_open(lab);
    if (store) {
        hf_lease_id lease = try_grant(lab, store);

        if (lease)
            took = lab_try_take(lab, store, "held", lease, &held, NULL);
        if (!lease || took == HF_OUTCOME_FAILED)
            assert_int_equal(lab->error.code, HF_ERR_NOSPACE);
    } else {
        assert_int_equal(lab->error.code, HF_ERR_NOSPACE);
        assert_non_null(strstr(lab->error.text, lab->path));
    }
    lab->fake.space = -1;
    if (store) {
        if (took != HF_OUTCOME_UNKNOWN)
            assert_int_equal(lab_exists(lab, store, "held"),
                             took == HF_OUTCOME_COMMITTED);
        assert_int_equal(lab_release(lab, store, "held"), HF_OUTCOME_COMMITTED);
        assert_null(hf_sqlite_notice(store));
        lab_close(store);
    }
    assert_int_equal(lab_count_files(lab, "damaged"), 0);
}

static void room_may_end_at_any_byte(void **state)
{
    struct lab *lab = *state;

    lab_close(lab_open(lab));
    for (int64_t space = 0; space < 60000; space += space < 3000 ? 61 : 509)
        check_bytes(lab, space);
}

static void room_may_end_while_a_store_is_made(void **state)
{
    struct lab *lab = *state;

    for (int64_t space = 0; space < 60000; space += 307) {
        check_bytes(lab, space);
        folder_free(lab->folder);
        lab->folder = folder_new();
        snprintf(lab->path, sizeof(lab->path), "%s/db", lab->folder);
    }
}

/* ---- a real file system: C15 ---- */

/* In a child with mounts of its own; its status is what it returns. */
static int run_apart(struct lab *lab, int (*what)(struct lab *lab))
{
    int status = 0;
    pid_t pid = fork();

    must(pid >= 0);
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) ||
            mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
            mount("none", lab->folder, "tmpfs", MS_NOSUID, "size=512k"))
            _exit(2);
        _exit(what(lab));
    }
    must(waitpid(pid, &status, 0) == pid);
    must(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* All but `left` bytes. */
static void fill(struct lab *lab, off_t left)
{
    static char block[4096];
    int fd = open(lab_file(lab, "-filler"),
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    off_t size;

    must(fd >= 0);
    while (write(fd, block, sizeof(block)) > 0)
        continue;
    must(errno == ENOSPC);
    size = lseek(fd, 0, SEEK_END);
    must(ftruncate(fd, size > left ? size - left : 0) == 0);
    close(fd);
}

static void empty(struct lab *lab)
{
    must(unlink(lab_file(lab, "-filler")) == 0);
}

/* However full it gets after the grant. */
static int let_go_on_a_full_disk(struct lab *lab)
{
    for (int i = 0; i < 40; i++) {
        struct hf_store *store = lab_open(lab);
        hf_lease_id lease = lab_grant(lab, store, TTL_MS);
        uint64_t before = lab_put(lab, store, "held", lease);

        fill(lab, 0);
        must(lab_renew(lab, store, lease) == HF_OUTCOME_COMMITTED);
        must(lab_exists(lab, store, "held"));
        must(lab_release(lab, store, "held") == HF_OUTCOME_COMMITTED);
        must(!lab_exists(lab, store, "held"));
        must(lab_revision(lab, store) > before);
        must(lab_revoke(lab, store, lease) == HF_OUTCOME_COMMITTED);
        lab_close(store);
        empty(lab);
    }
    must(lab_count_files(lab, "damaged") == 0);
    return 0;
}

/* Revoked at once, with many keys, as a session that ends. */
static int revoke_on_a_full_disk(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);
    char key[32];

    for (int i = 0; i < 60; i++) {
        snprintf(key, sizeof(key), "held/%d", i);
        must(lab_take(lab, store, key, lease));
    }
    fill(lab, 0);
    must(lab_revoke(lab, store, lease) == HF_OUTCOME_COMMITTED);
    must(!lab_exists(lab, store, "held/0"));
    must(!lab_exists(lab, store, "held/59"));
    lab_close(store);
    return 0;
}

/* Another taker, when the holder died on a full disk. */
static void hold(struct lab *lab, void *argument)
{
    struct hf_store *store = lab_open(lab);

    (void)argument;
    must(lab_take(lab, store, "held", lab_grant(lab, store, TTL_MS)));
}

static int take_from_the_dead(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    bool held = false;

    lab_die(lab, hold, NULL);
    fill(lab, 0);
    if (lab_try_take(lab, store, "held", 0, &held, NULL) ==
        HF_OUTCOME_COMMITTED)
        must(held);
    else
        must(lab->error.code == HF_ERR_NOSPACE);
    empty(lab);
    must(lab_exists(lab, store, "held"));
    (void)lab_take(lab, store, "held", 0);
    must(lab_exists(lab, store, "held"));
    lab_close(store);
    return 0;
}

/* From no room at all upwards, until it works: each time it is said, and
 * nothing of it stays. */
static int begin_on_a_full_disk(struct lab *lab)
{
    bool worked = false;

    for (off_t left = 0; !worked && left < 200000; left += 4096) {
        struct hf_store *store;
        hf_lease_id lease = 0;

        fill(lab, left);
        store = lab_try_open(lab);
        if (store)
            lease = try_grant(lab, store);
        if (lease)
            worked = lab_try_take(lab, store, "held", lease, NULL, NULL) ==
                     HF_OUTCOME_COMMITTED;
        if (!worked) {
            must(lab->error.code == HF_ERR_NOSPACE);
            must(strstr(lab->error.text, lab->path) != NULL);
        }
        if (store)
            lab_close(store);
        empty(lab);
    }
    must(worked);
    must(lab_count_files(lab, "damaged") == 0);
    return 0;
}

/* A damaged file that cannot be copied is renamed instead. */
static int mend_on_a_full_disk(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);
    struct hf_store *other;
    char key[32];

    must(lab_take(lab, store, "held", lease));
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof(key), "row/%d", i);
        must(lab_take(lab, store, key, 0));
    }
    lab_scribble(lab->path, 0, "rubbish", 7);
    fill(lab, 64 * 1024);
    other = lab_open(lab);
    must(!lab_take(lab, other, "held", 0));
    must(strstr(hf_sqlite_notice(other), "damaged") != NULL);
    must(lab_count_files(lab, "db.damaged-") == 1);
    must(lab_renew(lab, store, lease) == HF_OUTCOME_COMMITTED);
    lab_close(other);
    lab_close(store);
    return 0;
}

static int look_at_a_read_only_disk(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    uint64_t revision = lab_put(lab, store, "held", 0);

    lab_close(store);
    must(mount("none", lab->folder, "none", MS_REMOUNT | MS_RDONLY, NULL) == 0);
    must(!lab_try_open(lab));
    must(lab->error.code == HF_ERR_UNAVAILABLE);
    must(strstr(lab->error.text, lab->path) != NULL);
    must(strstr(lab->error.text, "Read-only") != NULL);
    store = lab_look(lab);
    must(lab_changed(lab, store, "held") == revision);
    lab_close(store);
    return 0;
}

static void check_apart(struct lab *lab, int (*what)(struct lab *lab))
{
    int got;

    if (geteuid() != 0)
        skip();
    got = run_apart(lab, what);
    if (got == 2)
        skip();
    assert_int_equal(got, 0);
}

static void on_a_full_disk_every_lease_is_let_go(void **state)
{
    check_apart(*state, let_go_on_a_full_disk);
}

static void on_a_full_disk_a_session_of_many_keys_ends(void **state)
{
    check_apart(*state, revoke_on_a_full_disk);
}

static void on_a_full_disk_a_dead_holder_gives_way_or_it_is_said(void **state)
{
    check_apart(*state, take_from_the_dead);
}

static void on_a_full_disk_nothing_begins_by_halves(void **state)
{
    check_apart(*state, begin_on_a_full_disk);
}

static void on_a_full_disk_a_damaged_file_is_kept_all_the_same(void **state)
{
    check_apart(*state, mend_on_a_full_disk);
}

static void a_read_only_disk_can_be_looked_at(void **state)
{
    check_apart(*state, look_at_a_read_only_disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(room_may_end_at_any_byte),
        LAB_TEST(room_may_end_while_a_store_is_made),
        LAB_TEST(on_a_full_disk_every_lease_is_let_go),
        LAB_TEST(on_a_full_disk_a_session_of_many_keys_ends),
        LAB_TEST(on_a_full_disk_a_dead_holder_gives_way_or_it_is_said),
        LAB_TEST(on_a_full_disk_nothing_begins_by_halves),
        LAB_TEST(on_a_full_disk_a_damaged_file_is_kept_all_the_same),
        LAB_TEST(a_read_only_disk_can_be_looked_at),
    };

    return cmocka_run_group_tests_name("embedded store, full disks", tests,
                                       NULL, NULL);
}
