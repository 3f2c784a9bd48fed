/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call to the kernel that the embedded store makes fails once, or is the
 * last one that a process makes; each allocation fails once. Whatever was
 * answered must then be true.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/nth_malloc.h"
#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000, CALLS_MIN = 100 };

/* What a run was answered. */
struct trace {
    bool opened;
    enum hf_outcome took;
    enum hf_outcome added;
    enum hf_outcome released;
    enum hf_outcome revoked;
    uint64_t newest;
};

static void note(struct trace *trace, enum hf_outcome outcome,
                 uint64_t revision)
{
    if (outcome != HF_OUTCOME_COMMITTED)
        return;
    must(revision > trace->newest);
    trace->newest = revision;
}

static hf_lease_id try_grant(struct lab *lab, struct hf_store *store)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_GRANT,
                                       .ttl_ms = TTL_MS};

    (void)lab_run(lab, store, &request);
    hf_store_request_clear(&request);
    return request.outcome == HF_OUTCOME_COMMITTED ? request.lease : 0;
}

/* A job's life. */
static void live(struct lab *lab, struct trace *trace)
{
    struct hf_store *store = lab_try_open(lab);
    uint64_t revision = 0;
    hf_lease_id lease;

    *trace = (struct trace){.opened = store != NULL,
                            .took = HF_OUTCOME_FAILED,
                            .added = HF_OUTCOME_FAILED,
                            .released = HF_OUTCOME_FAILED,
                            .revoked = HF_OUTCOME_FAILED};
    if (!store)
        return;
    lease = try_grant(lab, store);
    if (lease) {
        trace->took = lab_try_take(lab, store, "one", lease, NULL, &revision);
        note(trace, trace->took, revision);
        (void)lab_phase(lab, store, lease, HF_PHASE_NOTHING_STARTED, NULL);
        (void)lab_renew(lab, store, lease);
        trace->added = lab_try_take(lab, store, "two", lease, NULL, &revision);
        note(trace, trace->added, revision);
        trace->released = lab_release(lab, store, "one");
        trace->revoked = lab_revoke(lab, store, lease);
    }
    lab_close(store);
}

static void check_key(bool is_there, enum hf_outcome put, bool maybe_deleted,
                      bool surely_deleted)
{
    if (put == HF_OUTCOME_COMMITTED && !maybe_deleted)
        assert_true(is_there);
    if (put == HF_OUTCOME_FAILED || put == HF_OUTCOME_REFUSED || surely_deleted)
        assert_false(is_there);
}

static bool maybe(enum hf_outcome outcome)
{
    return outcome == HF_OUTCOME_COMMITTED || outcome == HF_OUTCOME_UNKNOWN;
}

/* What was answered is so, and the store goes on as if nothing had been. */
static void check(struct lab *lab, const struct trace *trace)
{
    struct hf_store *store = lab_open(lab);
    bool gone = trace->revoked == HF_OUTCOME_COMMITTED;
    hf_lease_id lease;

    check_key(lab_exists(lab, store, "one"), trace->took,
              maybe(trace->released) || maybe(trace->revoked),
              trace->released == HF_OUTCOME_COMMITTED || gone);
    check_key(lab_exists(lab, store, "two"), trace->added,
              maybe(trace->revoked), gone);
    assert_null(hf_sqlite_notice(store));
    assert_int_equal(lab_identity(lab, store).epoch_min, 1);
    /* Its process is gone, and nothing was started. */
    lease = lab_grant(lab, store, TTL_MS);
    assert_true(lab_put(lab, store, "one", lease) > trace->newest);
    assert_true(lab_take(lab, store, "two", lease));
    assert_int_equal(lab_revoke(lab, store, lease), HF_OUTCOME_COMMITTED);
    lab_close(store);
    assert_int_equal(lab_count_files(lab, "damaged"), 0);
}

/* The store is there already, and in use by another handle. */
static void make_first(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);

    assert_true(lab_take(lab, store, "plain", 0));
    lab_close(store);
}

static void walk_failures(struct lab *lab, int errnum, bool is_fresh)
{
    unsigned int n;

    for (n = 1;; n++) {
        unsigned int fds = folder_count("/proc/self/fd");
        struct trace trace;

        if (is_fresh) {
            folder_free(lab->folder);
            lab->folder = folder_new();
            snprintf(lab->path, sizeof(lab->path), "%s/db", lab->folder);
        }
        sys_fake_fail(&lab->fake, FAKE_ANY, n, errnum);
        live(lab, &trace);
        if (!sys_fake_end(&lab->fake))
            break;
        assert_int_equal(folder_count("/proc/self/fd"), fds);
        check(lab, &trace);
        assert_int_equal(folder_count("/proc/self/fd"), fds);
    }
    assert_true(n > CALLS_MIN);
}

static void any_call_may_fail(void **state)
{
    make_first(*state);
    walk_failures(*state, EIO, false);
}

static void any_call_may_find_no_space(void **state)
{
    make_first(*state);
    walk_failures(*state, ENOSPC, false);
}

static void any_call_may_be_denied(void **state)
{
    make_first(*state);
    walk_failures(*state, EACCES, false);
}

static void any_call_of_the_making_may_fail(void **state)
{
    walk_failures(*state, EIO, true);
}

static void walk_deaths(struct lab *lab, bool is_fresh)
{
    unsigned int n;

    for (n = 1;; n++) {
        struct trace trace;

        if (is_fresh) {
            folder_free(lab->folder);
            lab->folder = folder_new();
            snprintf(lab->path, sizeof(lab->path), "%s/db", lab->folder);
        }
        sys_fake_die(&lab->fake, FAKE_ANY, n);
        live(lab, &trace);
        if (!sys_fake_end(&lab->fake))
            break;
        check(lab, &trace);
    }
    assert_true(n > CALLS_MIN);
}

static void any_call_may_be_the_last(void **state)
{
    make_first(*state);
    walk_deaths(*state, false);
}

static void any_call_of_the_making_may_be_the_last(void **state)
{
    walk_deaths(*state, true);
}

/* A repair that is cut short is done again. */
static void any_call_of_a_repair_may_be_the_last(void **state)
{
    struct lab *lab = *state;

    for (unsigned int n = 1;; n++) {
        struct hf_store *holder = lab_open(lab);
        hf_lease_id lease = lab_grant(lab, holder, TTL_MS);
        struct hf_store *other;
        bool was_cut;

        assert_true(lab_take(lab, holder, "held", lease));
        sys_fake_pass(&lab->fake, hf_span_ms(1000));
        lab_scribble(lab->path, 0, "rubbish", 7);
        sys_fake_die(&lab->fake, FAKE_ANY, n);
        other = lab_try_open(lab);
        if (other) {
            (void)lab_try_take(lab, other, "other", 0, NULL, NULL);
            lab_close(other);
        }
        was_cut = sys_fake_end(&lab->fake);
        other = lab_open(lab);
        assert_false(lab_take(lab, other, "held", 0));
        assert_int_equal(lab_renew(lab, holder, lease), HF_OUTCOME_COMMITTED);
        assert_true(lab_exists(lab, holder, "held"));
        assert_int_equal(lab_revoke(lab, holder, lease), HF_OUTCOME_COMMITTED);
        assert_true(lab_take(lab, other, "held", 0));
        assert_int_equal(lab_release(lab, other, "held"), HF_OUTCOME_COMMITTED);
        (void)lab_release(lab, other, "other");
        lab_close(other);
        lab_close(holder);
        if (!was_cut)
            break;
    }
}

static void any_allocation_may_fail(void **state)
{
    struct lab *lab = *state;

    make_first(lab);
    for (unsigned int n = 1;; n++) {
        unsigned int fds = folder_count("/proc/self/fd");
        struct trace trace;

        nth_malloc_fail(n);
        live(lab, &trace);
        if (!nth_malloc_end())
            break;
        assert_int_equal(folder_count("/proc/self/fd"), fds);
        check(lab, &trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(any_call_may_fail),
        LAB_TEST(any_call_may_find_no_space),
        LAB_TEST(any_call_may_be_denied),
        LAB_TEST(any_call_of_the_making_may_fail),
        LAB_TEST(any_call_may_be_the_last),
        LAB_TEST(any_call_of_the_making_may_be_the_last),
        LAB_TEST(any_call_of_a_repair_may_be_the_last),
        LAB_TEST(any_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("embedded store, failures", tests, NULL,
                                       NULL);
}
