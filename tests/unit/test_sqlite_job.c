/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job of a lease, seen by others than its maker: what one says who has
 * nothing but the session file, and whose cgroup a taker kills.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite_cgroup.h"
#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000 };

/* ---- by the session file alone ---- */

static int open_again(int fd)
{
    char path[64];
    int again;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    again = open(path, O_RDWR | O_CLOEXEC);
    assert_true(again >= 0);
    return again;
}

static void a_taken_lease_is_known_to_have_ended(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    struct hf_store *other = lab_open(lab);
    bool has_ended = true;
    hf_lease_id lease;
    int fd;

    lease = lab_grant_fd(lab, store, TTL_MS, &fd);
    assert_true(lab_take(lab, store, "held", lease));
    assert_int_equal(hf_sqlite_lease_has_ended(&lab->fake.sys, fd, &has_ended),
                     0);
    assert_false(has_ended);
    /* Run out is not taken. */
    lab->fake.steady.ns += INT64_C(1000000) * (TTL_MS + 1);
    assert_int_equal(hf_sqlite_lease_has_ended(&lab->fake.sys, fd, &has_ended),
                     0);
    assert_false(has_ended);
    lease = lab_grant(lab, other, TTL_MS);
    assert_true(lab_take(lab, other, "held", lease));
    assert_int_equal(hf_sqlite_lease_has_ended(&lab->fake.sys, fd, &has_ended),
                     0);
    assert_true(has_ended);
    lab_close(other);
    lab_close(store);
}

static void a_file_that_was_removed_or_spoilt_tells_nothing(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    bool has_ended;
    char path[400];
    int again;
    int fd;
    hf_lease_id lease = lab_grant_fd(lab, store, TTL_MS, &fd);

    again = open_again(fd);
    snprintf(path, sizeof(path), "%s.run/s-%016llx", lab->path,
             (unsigned long long)lease);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(
        hf_sqlite_lease_has_ended(&lab->fake.sys, again, &has_ended), -ESTALE);
    assert_int_equal(pwrite(again, "?", 1, HF_STORE_STATE_BYTES + 20), 1);
    assert_int_equal(
        hf_sqlite_lease_has_ended(&lab->fake.sys, again, &has_ended), -EBADMSG);
    assert_int_equal(hf_sqlite_job_phase(&lab->fake.sys, again, HF_PHASE_GONE),
                     -EBADMSG);
    close(again);
    lab_close(store);
}

static void dies_with_a_job(struct lab *lab, void *argument)
{
    struct hf_store *store = lab_open(lab);
    enum hf_lease_phase *last = argument;
    hf_lease_id lease;
    int fd;

    lease = lab_grant_fd(lab, store, TTL_MS, &fd);
    must(lab_take(lab, store, "held", lease));
    must(!hf_sqlite_job_phase(&lab->fake.sys, fd, HF_PHASE_STARTED));
    if (*last != HF_PHASE_STARTED)
        must(!hf_sqlite_job_phase(&lab->fake.sys, fd, *last));
}

static void what_it_says_of_the_job_counts_when_the_maker_is_dead(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    enum hf_lease_phase phase = HF_PHASE_STARTED;
    hf_lease_id lease;

    lab_die(lab, dies_with_a_job, &phase);
    lease = lab_grant(lab, store, TTL_MS);
    assert_false(lab_take(lab, store, "held", lease));
    lab->fake.steady.ns += INT64_C(1000000) * (TTL_MS + 1);
    assert_true(lab_take(lab, store, "held", lease));
    assert_int_equal(lab_revoke(lab, store, lease), HF_OUTCOME_COMMITTED);

    phase = HF_PHASE_GONE;
    lab_die(lab, dies_with_a_job, &phase);
    lease = lab_grant(lab, store, TTL_MS);
    assert_true(lab_take(lab, store, "held", lease));
    assert_int_equal(lab_proof(lab, store, lease), HF_PROOF_LIVES);
    lab_close(store);
}

/* ---- whose cgroup is killed ---- */

/* A folder that looks like a cgroup, and what a session file says of it. */
struct group {
    struct hf_sqlite sq;
    struct hf_sqlite_session_head head;
    char path[HF_SQLITE_CGROUP_MAX];
};

static int says_cgroup2(struct hf_sys *sys, int fd, uint64_t *type)
{
    (void)sys;
    (void)fd;
    *type = UINT64_C(0x63677270);
    return 0;
}

static void write_file(const struct group *group, const char *name,
                       const char *text)
{
    char path[HF_SQLITE_CGROUP_MAX + 32];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", group->path, name);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_group(struct lab *lab, struct group *group, const char *name)
{
    memset(group, 0, sizeof(*group));
    lab->fake.sys.fs_type = says_cgroup2;
    group->sq.sys = &lab->fake.sys;
    snprintf(group->path, sizeof(group->path), "%s/%s", lab->folder, name);
    assert_int_equal(mkdir(group->path, 0755), 0);
    write_file(group, "cgroup.events", "populated 0\nfrozen 0\n");
    write_file(group, "cgroup.kill", "");
    group->head.cgroup_size = (uint32_t)strlen(group->path);
    hf_sqlite_cgroup_identify(&group->sq, group->path, &group->head);
    assert_true(group->head.cgroup_ino != 0);
}

static bool was_killed(const struct group *group)
{
    char path[HF_SQLITE_CGROUP_MAX + 32];
    struct stat about;

    snprintf(path, sizeof(path), "%s/cgroup.kill", group->path);
    assert_int_equal(stat(path, &about), 0);
    return about.st_size > 0;
}

static void the_very_folder_of_the_job_is_killed(void **state)
{
    struct lab *lab = *state;
    struct group group;

    make_group(lab, &group, "holdfast-one");
    assert_true(
        hf_sqlite_cgroup_kill(&group.sq, group.path, &group.head, getuid()));
    assert_true(was_killed(&group));
}

static void another_owners_folder_is_not_killed(void **state)
{
    struct lab *lab = *state;
    struct group group;

    make_group(lab, &group, "holdfast-one");
    hf_sqlite_cgroup_kill(&group.sq, group.path, &group.head, getuid() + 1);
    assert_false(was_killed(&group));
}

static void a_folder_that_lockrun_does_not_make_is_not_killed(void **state)
{
    struct lab *lab = *state;
    struct group group;

    make_group(lab, &group, "system.slice");
    hf_sqlite_cgroup_kill(&group.sq, group.path, &group.head, getuid());
    assert_false(was_killed(&group));
}

static void a_folder_with_another_number_is_not_killed(void **state)
{
    struct lab *lab = *state;
    struct group group;

    make_group(lab, &group, "holdfast-one");
    group.head.cgroup_ino++;
    hf_sqlite_cgroup_kill(&group.sq, group.path, &group.head, getuid());
    assert_false(was_killed(&group));
    group.head.cgroup_ino--;
    group.head.cgroup_parent_ino++;
    hf_sqlite_cgroup_kill(&group.sq, group.path, &group.head, getuid());
    assert_false(was_killed(&group));
    group.head.cgroup_parent_ino = 0;
    hf_sqlite_cgroup_kill(&group.sq, group.path, &group.head, getuid());
    assert_false(was_killed(&group));
}

static void without_a_cgroup_nothing_is_killed(void **state)
{
    struct lab *lab = *state;
    struct group group;

    make_group(lab, &group, "holdfast-one");
    group.head.cgroup_size = 0;
    hf_sqlite_cgroup_kill(&group.sq, group.path, &group.head, getuid());
    assert_false(was_killed(&group));
}

/* What reading a file of a folder that was removed since gives. */
static ssize_t reads_no_device(struct hf_sys *sys, int fd, void *to,
                               size_t size, off_t at)
{
    (void)sys;
    (void)fd;
    (void)to;
    (void)size;
    (void)at;
    return -ENODEV;
}

static void what_is_removed_meanwhile_is_empty(void **state)
{
    struct lab *lab = *state;
    struct group group;

    make_group(lab, &group, "holdfast-one");
    lab->fake.sys.pread = reads_no_device;
    lab->fake.tick = hf_span_ms(500);
    assert_true(
        hf_sqlite_cgroup_kill(&group.sq, group.path, &group.head, getuid()));
    assert_true(was_killed(&group));
}

static void what_does_not_get_empty_is_not_waited_for_long(void **state)
{
    struct lab *lab = *state;
    struct group group;

    make_group(lab, &group, "holdfast-one");
    write_file(&group, "cgroup.events", "populated 1\nfrozen 0\n");
    /* Each look at the clock is half of the limit. */
    lab->fake.tick = hf_span_ms(500);
    assert_false(
        hf_sqlite_cgroup_kill(&group.sq, group.path, &group.head, getuid()));
    assert_true(was_killed(&group));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(a_taken_lease_is_known_to_have_ended),
        LAB_TEST(a_file_that_was_removed_or_spoilt_tells_nothing),
        LAB_TEST(what_it_says_of_the_job_counts_when_the_maker_is_dead),
        LAB_TEST(the_very_folder_of_the_job_is_killed),
        LAB_TEST(another_owners_folder_is_not_killed),
        LAB_TEST(a_folder_that_lockrun_does_not_make_is_not_killed),
        LAB_TEST(a_folder_with_another_number_is_not_killed),
        LAB_TEST(without_a_cgroup_nothing_is_killed),
        LAB_TEST(what_is_removed_meanwhile_is_empty),
        LAB_TEST(what_does_not_get_empty_is_not_waited_for_long),
    };

    return cmocka_run_group_tests_name("embedded store, job", tests, NULL,
                                       NULL);
}
