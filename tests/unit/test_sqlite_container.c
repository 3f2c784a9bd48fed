/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Containers on one kernel that share a store's folder: each with processes,
 * mounts, /run, /dev/shm and a clock's offset of its own. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/sqlite_lab.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

enum { TTL_MS = 60000, CANNOT = 2 };

/* What runs in a container, as its process 1; 0 is well. */
typedef int inside(struct lab *lab);

static void use_real_clocks(struct lab *lab)
{
    lab->fake.sys.steady = lab->fake.real.steady;
    lab->fake.sys.offset_is_known = false;
}

static bool shift_clock(int64_t seconds)
{
    FILE *file;

    if (!seconds)
        return true;
    if (unshare(CLONE_NEWTIME))
        return false;
    file = fopen("/proc/self/timens_offsets", "we");
    if (!file)
        return false;
    fprintf(file, "monotonic %lld 0\n", (long long)seconds);
    return fclose(file) == 0;
}

static bool make_container(int64_t seconds)
{
    return !unshare(CLONE_NEWNS | CLONE_NEWPID) &&
           !mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) &&
           shift_clock(seconds);
}

static bool fill_container(void)
{
    return !mount("none", "/proc", "proc", 0, NULL) &&
           !mount("none", "/run", "tmpfs", 0, NULL) &&
           !mount("none", "/dev/shm", "tmpfs", 0, NULL);
}

/* The container's parent; dies with the test, and its process 1 with it. */
static int be_container(struct lab *lab, inside *what, int64_t seconds)
{
    int status = 0;
    pid_t pid;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!make_container(seconds))
        return CANNOT;
    pid = fork();
    must(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!fill_container())
            _exit(CANNOT);
        must(getpid() == 1);
        lab->fake.seed ^= (uint64_t)seconds + 1234567;
        use_real_clocks(lab);
        _exit(what(lab));
    }
    must(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void run_container(struct lab *lab, inside *what, int64_t seconds)
{
    int status = 0;
    pid_t pid = fork();

    must(pid >= 0);
    if (pid == 0)
        _exit(be_container(lab, what, seconds));
    must(waitpid(pid, &status, 0) == pid);
    must(WIFEXITED(status));
    /* While nothing is open, for it does not return. */
    if (WEXITSTATUS(status) == CANNOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int does_nothing(struct lab *lab)
{
    (void)lab;
    return 0;
}

static void need_containers(struct lab *lab)
{
    if (geteuid() != 0)
        skip();
    run_container(lab, does_nothing, 0);
    run_container(lab, does_nothing, 1);
}

/* ---- ---- */

static int finds_it_held(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);
    uint64_t token;

    must(!lab_take(lab, store, "held", lease));
    token = lab_put(lab, store, "there", lease);
    must(token > lab_changed(lab, store, "held"));
    must(lab_revoke(lab, store, lease) == HF_OUTCOME_COMMITTED);
    must(hf_sqlite_notice(store) == NULL);
    lab_close(store);
    return 0;
}

static int takes_it(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);

    must(lab_take(lab, store, "held", lab_grant(lab, store, TTL_MS)));
    lab_close(store);
    return 0;
}

static void a_hold_counts_in_every_container(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store;
    hf_lease_id lease;

    need_containers(lab);
    use_real_clocks(lab);
    store = lab_open(lab);
    lease = lab_grant(lab, store, TTL_MS);
    assert_true(lab_take(lab, store, "held", lease));
    run_container(lab, finds_it_held, 0);
    assert_int_equal(lab_renew(lab, store, lease), HF_OUTCOME_COMMITTED);
    assert_int_equal(lab_release(lab, store, "held"), HF_OUTCOME_COMMITTED);
    run_container(lab, takes_it, 0);
    /* Process 1 of that container is dead; ours is not. */
    assert_true(lab_take(lab, store, "held", lease));
    run_container(lab, finds_it_held, 0);
    lab_close(store);
}

/* An hour and more ahead or behind by their own reading. */
static void a_clock_with_an_offset_ends_no_lease(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store;
    hf_lease_id lease;

    need_containers(lab);
    use_real_clocks(lab);
    store = lab_open(lab);
    lease = lab_grant(lab, store, TTL_MS);
    assert_true(lab_take(lab, store, "held", lease));
    assert_int_equal(lab_phase(lab, store, lease, HF_PHASE_STARTED, NULL),
                     HF_OUTCOME_COMMITTED);
    run_container(lab, finds_it_held, 100000);
    lab_close(store);
    /* Nothing proves its death; the clock says that it is not yet over. */
    run_container(lab, finds_it_held, 100000);
}

static int holds_with_a_job(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);

    must(lab_take(lab, store, "held", lease));
    must(lab_phase(lab, store, lease, HF_PHASE_STARTED, NULL) ==
         HF_OUTCOME_COMMITTED);
    lab_close(store);
    return 0;
}

static void a_lease_granted_under_an_offset_has_its_length(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store;
    struct hf_store_request show = {.kind = HF_STORE_LEASE_SHOW};
    struct hf_action read = {.kind = HF_DO_GET, .key = {"held", 4}};
    struct hf_branch branch = {.then = &read, .then_count = 1};
    struct hf_store_request look = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};

    need_containers(lab);
    run_container(lab, holds_with_a_job, 100000);
    use_real_clocks(lab);
    store = lab_open(lab);
    assert_int_equal(lab_run(lab, store, &look), HF_OUTCOME_COMMITTED);
    show.lease = branch.results[0].records[0].lease;
    hf_store_request_clear(&look);
    assert_int_equal(lab_run(lab, store, &show), HF_OUTCOME_COMMITTED);
    assert_in_range(show.remaining_ms, 1, TTL_MS);
    hf_store_request_clear(&show);
    assert_false(lab_take(lab, store, "held", 0));
    lab_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(a_hold_counts_in_every_container),
        LAB_TEST(a_clock_with_an_offset_ends_no_lease),
        LAB_TEST(a_lease_granted_under_an_offset_has_its_length),
    };

    return cmocka_run_group_tests_name("embedded store, containers", tests,
                                       NULL, NULL);
}
