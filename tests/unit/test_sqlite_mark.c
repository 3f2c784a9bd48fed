/* SPDX-License-Identifier: Apache-2.0 */
/* Revisions rise, whatever the clock says and whichever witness is lost. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/sqlite_mark.h"
#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000, SLOT_BYTES = 4096 };

#define S INT64_C(1000000000)
#define HOUR (3600 * S)
#define TWO_HOURS (UINT64_C(2 * 3600) << 14)
#define YEAR (365 * 24 * HOUR)

static void set_clock(struct lab *lab, int64_t by_ns)
{
    lab->fake.wall.ns += by_ns;
}

static void reboot(struct lab *lab)
{
    lab->fake.boot_id[3] ^= 0x40;
    lab->fake.steady.ns = 10 * S;
}

/* A job; the revision of its grant. */
static uint64_t job(struct lab *lab, struct hf_store *store)
{
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);
    uint64_t revision = lab_put(lab, store, "held", lease);

    assert_int_equal(lab_release(lab, store, "held"), HF_OUTCOME_COMMITTED);
    assert_int_equal(lab_revoke(lab, store, lease), HF_OUTCOME_COMMITTED);
    return revision;
}

static uint64_t job_alone(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    uint64_t revision = job(lab, store);

    lab_close(store);
    return revision;
}

static uint32_t epoch(struct lab *lab)
{
    struct hf_store *store = lab_open(lab);
    uint32_t epoch_min = lab_identity(lab, store).epoch_min;

    lab_close(store);
    return epoch_min;
}

/* The slot of the mark that counts. */
static struct hf_sqlite_mark read_mark(struct lab *lab)
{
    struct hf_sqlite_mark slots[2];
    int fd = open(lab_file(lab, ".mark"), O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pread(fd, &slots[i], sizeof(slots[i]), i * SLOT_BYTES),
                         sizeof(slots[i]));
    close(fd);
    return slots[slots[1].sequence > slots[0].sequence];
}

/* ---- syncs ---- */

static void a_grant_syncs_nothing_while_the_bound_holds(void **state)
{
    struct lab *lab = *state;

    (void)job_alone(lab);
    sys_fake_fail(&lab->fake, FAKE_ANY, 0, 0);
    for (int i = 0; i < 50; i++) {
        (void)job_alone(lab);
        sys_fake_pass(&lab->fake, hf_span_ms(60000));
    }
    assert_int_equal(lab->fake.count[FAKE_FSYNC], 0);
    assert_true(lab->fake.count[FAKE_PWRITE] > 0);
}

static void the_bound_is_raised_once_an_hour(void **state)
{
    struct lab *lab = *state;

    (void)job_alone(lab);
    sys_fake_fail(&lab->fake, FAKE_ANY, 0, 0);
    for (int i = 0; i < 10 * 60; i++) {
        uint64_t revision;

        sys_fake_pass(&lab->fake, hf_span_ms(60000));
        revision = job_alone(lab);
        assert_true(revision <= read_mark(lab).bound);
    }
    /* The first two hours were ahead from the beginning. */
    assert_in_range(lab->fake.count[FAKE_FSYNC], 8, 10);
}

/* ---- clocks: C18, F20 ---- */

static void check_clock(struct lab *lab, int64_t by_ns)
{
    uint64_t before = job_alone(lab);
    struct hf_store *store = lab_open(lab);
    uint64_t next;

    set_clock(lab, by_ns);
    /* Between runs, and during one. */
    next = job_alone(lab);
    assert_true(next > before);
    assert_true(job(lab, store) > next);
    set_clock(lab, -by_ns);
    next = job(lab, store);
    assert_true(job_alone(lab) > next);
    assert_int_equal(lab_identity(lab, store).epoch_min, 1);
    lab_close(store);
}

static void a_clock_an_hour_behind(void **state)
{
    check_clock(*state, -HOUR);
}

static void a_clock_ten_years_behind(void **state)
{
    check_clock(*state, -10 * YEAR);
}

static void a_clock_an_hour_ahead(void **state)
{
    check_clock(*state, HOUR);
}

static void a_clock_ten_years_ahead(void **state)
{
    check_clock(*state, 10 * YEAR);
}

static void a_clock_before_2026_is_no_clock(void **state)
{
    struct lab *lab = *state;

    lab->fake.wall.ns = 0;
    lab->fake.wall_is_trusted = false;
    /* It begins at the two hours ahead that every new store does. */
    assert_in_range(job_alone(lab), TWO_HOURS + 1, TWO_HOURS + 10);
    assert_in_range(job_alone(lab), TWO_HOURS + 3, TWO_HOURS + 20);
}

static void a_clock_centuries_ahead_is_refused(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store;

    (void)job_alone(lab);
    /* As far as 64 bits of nanoseconds go that is the year 2262; the end of
     * revisions is made to come by the mark. */
    store = lab_open(lab);
    (void)job(lab, store);
    {
        struct hf_sqlite_mark mark = read_mark(lab);

        mark.bound = HF_SQLITE_REVISION_END;
        mark.sequence += 2;
        mark.sum = hf_sqlite_sum(&mark, offsetof(struct hf_sqlite_mark, sum),
                                 mark.magic);
        lab_scribble(lab_file(lab, ".mark"),
                     (off_t)(mark.sequence % 2) * SLOT_BYTES, &mark,
                     sizeof(mark));
    }
    lab_close(store);
    assert_int_equal(unlink(lab->path), 0);
    reboot(lab);
    store = lab_open(lab);
    assert_int_equal(lab_try_take(lab, store, "held", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    assert_non_null(strstr(lab->error.text, "used up its revisions"));
    lab_close(store);
}

/* ---- what is lost at a power cut ---- */

/* The last commits are gone, and the clock stood still or went back. */
static void after_a_power_cut_no_revision_is_issued_again(void **state)
{
    struct lab *lab = *state;
    uint64_t before = 0;

    (void)job_alone(lab);
    lab_copy(lab->path, lab_file(lab, "-copy"));
    for (int i = 0; i < 5; i++)
        before = job_alone(lab);
    lab_copy(lab_file(lab, "-copy"), lab->path);
    reboot(lab);
    set_clock(lab, -10 * YEAR);
    lab->fake.wall_is_trusted = false;
    assert_true(job_alone(lab) > before);
    assert_int_equal(epoch(lab), 1);
}

static void with_the_database_gone_too(void **state)
{
    struct lab *lab = *state;
    uint64_t before = job_alone(lab);

    assert_int_equal(unlink(lab->path), 0);
    lab_remove_tree(lab_file(lab, ".run"));
    reboot(lab);
    set_clock(lab, -10 * YEAR);
    lab->fake.wall_is_trusted = false;
    assert_true(job_alone(lab) > before);
    assert_int_equal(epoch(lab), 1);
}

static void many_reboots_do_not_use_revisions_up(void **state)
{
    struct lab *lab = *state;
    uint64_t first = job_alone(lab);
    uint64_t last = first;

    for (int i = 0; i < 200; i++) {
        reboot(lab);
        last = job_alone(lab);
    }
    /* An hour, and a little more than a minute for each. */
    assert_true(last - first < (UINT64_C(3600) + 200 * 70) << 14);
}

/* ---- the mark itself ---- */

static void lose_mark(struct lab *lab)
{
    assert_int_equal(unlink(lab_file(lab, ".mark")), 0);
}

static void a_lost_mark_and_a_doubtful_clock_raise_the_epoch(void **state)
{
    struct lab *lab = *state;

    (void)job_alone(lab);
    for (uint32_t i = 2; i < 5; i++) {
        struct hf_store *store;

        lose_mark(lab);
        reboot(lab);
        lab->fake.wall_is_trusted = false;
        store = lab_open(lab);
        assert_int_equal(lab_identity(lab, store).epoch_min, i);
        assert_non_null(strstr(hf_sqlite_notice(store), "the epoch is"));
        /* Durable before it was answered. */
        assert_int_equal(read_mark(lab).epoch_min, i);
        (void)job(lab, store);
        lab_close(store);
        assert_int_equal(epoch(lab), i);
    }
}

static void a_clock_behind_raises_the_epoch_though_trusted(void **state)
{
    struct lab *lab = *state;

    (void)job_alone(lab);
    lose_mark(lab);
    reboot(lab);
    set_clock(lab, -HOUR);
    assert_int_equal(epoch(lab), 2);
}

static void a_trusted_clock_ahead_spares_the_epoch(void **state)
{
    struct lab *lab = *state;
    uint64_t before;

    (void)job_alone(lab);
    sys_fake_pass(&lab->fake, hf_span_ms(3 * 3600 * 1000));
    before = job_alone(lab);
    lose_mark(lab);
    reboot(lab);
    sys_fake_pass(&lab->fake, hf_span_ms(60000));
    assert_int_equal(epoch(lab), 1);
    assert_true(job_alone(lab) > before);
}

static void the_head_of_this_boot_spares_the_epoch(void **state)
{
    struct lab *lab = *state;
    uint64_t before = job_alone(lab);

    lose_mark(lab);
    lab->fake.wall_is_trusted = false;
    set_clock(lab, -10 * YEAR);
    assert_true(job_alone(lab) > before);
    assert_int_equal(epoch(lab), 1);
}

static void a_damaged_mark_is_like_a_lost_one(void **state)
{
    struct lab *lab = *state;
    char rubbish[3 * SLOT_BYTES];

    (void)job_alone(lab);
    memset(rubbish, 0x77, sizeof(rubbish));
    lab_scribble(lab_file(lab, ".mark"), 0, rubbish, sizeof(rubbish));
    reboot(lab);
    lab->fake.wall_is_trusted = false;
    assert_int_equal(epoch(lab), 2);
    assert_int_equal(epoch(lab), 2);
}

static void of_a_torn_mark_the_other_half_counts(void **state)
{
    struct lab *lab = *state;
    uint64_t before;

    (void)job_alone(lab);
    sys_fake_pass(&lab->fake, hf_span_ms(2 * 3600 * 1000));
    before = job_alone(lab);
    for (int slot = 0; slot < 2; slot++) {
        lab_scribble(lab_file(lab, ".mark"), slot * SLOT_BYTES + 20,
                     "torn torn torn", 14);
        reboot(lab);
        lab->fake.wall_is_trusted = false;
        set_clock(lab, -YEAR);
        assert_int_equal(epoch(lab), 1);
        assert_true(job_alone(lab) > before);
        before = job_alone(lab);
    }
}

static void a_mark_that_cannot_be_raised_stops_nobody(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    uint64_t before;
    uint64_t bound;

    (void)job(lab, store);
    sys_fake_pass(&lab->fake, hf_span_ms(3 * 3600 * 1000));
    before = job(lab, store);
    bound = read_mark(lab).bound;
    for (int i = 0; i < 5; i++) {
        uint64_t next;

        sys_fake_pass(&lab->fake, hf_span_ms(2 * 3600 * 1000));
        sys_fake_fail(&lab->fake, FAKE_FSYNC, 1, ENOSPC);
        next = lab_put(lab, store, "held", 0);
        assert_true(sys_fake_end(&lab->fake));
        assert_true(next > before && next <= bound);
        sys_fake_fail(&lab->fake, FAKE_FSYNC, 1, ENOSPC);
        assert_int_equal(lab_release(lab, store, "held"), HF_OUTCOME_COMMITTED);
        (void)sys_fake_end(&lab->fake);
        before = next;
    }
    lab_close(store);
}

/* Nothing at all is left, not even a process, of a store that was far ahead of
 * the clock for its many boots. */
static void after_the_loss_of_everything_tokens_still_rise(void **state)
{
    struct lab *lab = *state;
    uint64_t before = 0;

    (void)job_alone(lab);
    sys_fake_pass(&lab->fake, hf_span_ms(3 * 3600 * 1000));
    for (int i = 0; i < 30; i++) {
        reboot(lab);
        before = job_alone(lab);
    }
    folder_free(lab->folder);
    lab->folder = folder_new();
    snprintf(lab->path, sizeof(lab->path), "%s/db", lab->folder);
    assert_true(job_alone(lab) > before);
}

/* ---- epochs that come into use ---- */

static enum hf_outcome bring_epoch(struct lab *lab, struct hf_store *store,
                                   uint32_t number)
{
    struct hf_action put = {HF_DO_PUT, {"epoch", 5}, {"e", 1}, 0, 0};
    struct hf_branch branch = {.then = &put, .then_count = 1};
    struct hf_store_request request = {.kind = HF_STORE_TXN,
                                       .branches = &branch,
                                       .branch_count = 1,
                                       .epoch = number};
    enum hf_outcome outcome = lab_run(lab, store, &request);

    if (outcome == HF_OUTCOME_COMMITTED)
        assert_int_equal(request.identity.epoch_min, number);
    hf_store_request_clear(&request);
    return outcome;
}

static void an_epoch_in_use_is_remembered_when_all_else_is_lost(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    struct hf_store *other = lab_open(lab);

    (void)job(lab, other);
    assert_int_equal(bring_epoch(lab, store, 7), HF_OUTCOME_COMMITTED);
    assert_int_equal(read_mark(lab).epoch_min, 7);
    assert_int_equal(lab_identity(lab, other).epoch_min, 7);
    lab_close(other);
    lab_close(store);
    assert_int_equal(unlink(lab->path), 0);
    assert_int_equal(epoch(lab), 7);
    /* A raise goes above it. */
    lose_mark(lab);
    reboot(lab);
    lab->fake.wall_is_trusted = false;
    assert_int_equal(epoch(lab), 8);
}

static void an_epoch_is_durable_before_the_transaction(void **state)
{
    struct lab *lab = *state;

    (void)job_alone(lab);
    for (uint32_t n = 1;; n++) {
        struct hf_store *store = lab_open(lab);
        enum hf_outcome outcome;
        bool was_cut;

        sys_fake_die(&lab->fake, FAKE_PWRITE, n);
        outcome = bring_epoch(lab, store, 10 + n);
        was_cut = sys_fake_end(&lab->fake);
        lab_close(store);
        store = lab_open(lab);
        if (outcome == HF_OUTCOME_COMMITTED || lab_exists(lab, store, "epoch"))
            assert_int_equal(read_mark(lab).epoch_min, 10 + n);
        (void)lab_release(lab, store, "epoch");
        lab_close(store);
        if (!was_cut)
            break;
    }
}

static void a_state_from_before_a_raise_raises_it_again(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store;

    store = lab_open(lab);
    assert_true(lab_take(lab, store, "plain", 0));
    lab_close(store);
    lab_copy(lab->path, lab_file(lab, "-copy"));
    lose_mark(lab);
    reboot(lab);
    lab->fake.wall_is_trusted = false;
    assert_int_equal(epoch(lab), 2);
    (void)job_alone(lab);
    lab_copy(lab_file(lab, "-copy"), lab->path);
    assert_int_equal(epoch(lab), 3);
    assert_int_equal(epoch(lab), 3);
    lab_copy(lab_file(lab, "-copy"), lab->path);
    reboot(lab);
    store = lab_open(lab);
    assert_int_equal(lab_identity(lab, store).epoch_min, 4);
    assert_non_null(strstr(hf_sqlite_notice(store), "before its epoch"));
    assert_true(lab_exists(lab, store, "plain"));
    lab_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(a_grant_syncs_nothing_while_the_bound_holds),
        LAB_TEST(the_bound_is_raised_once_an_hour),
        LAB_TEST(a_clock_an_hour_behind),
        LAB_TEST(a_clock_ten_years_behind),
        LAB_TEST(a_clock_an_hour_ahead),
        LAB_TEST(a_clock_ten_years_ahead),
        LAB_TEST(a_clock_before_2026_is_no_clock),
        LAB_TEST(a_clock_centuries_ahead_is_refused),
        LAB_TEST(after_a_power_cut_no_revision_is_issued_again),
        LAB_TEST(with_the_database_gone_too),
        LAB_TEST(many_reboots_do_not_use_revisions_up),
        LAB_TEST(a_lost_mark_and_a_doubtful_clock_raise_the_epoch),
        LAB_TEST(a_clock_behind_raises_the_epoch_though_trusted),
        LAB_TEST(a_trusted_clock_ahead_spares_the_epoch),
        LAB_TEST(the_head_of_this_boot_spares_the_epoch),
        LAB_TEST(a_damaged_mark_is_like_a_lost_one),
        LAB_TEST(of_a_torn_mark_the_other_half_counts),
        LAB_TEST(a_mark_that_cannot_be_raised_stops_nobody),
        LAB_TEST(after_the_loss_of_everything_tokens_still_rise),
        LAB_TEST(an_epoch_in_use_is_remembered_when_all_else_is_lost),
        LAB_TEST(an_epoch_is_durable_before_the_transaction),
        LAB_TEST(a_state_from_before_a_raise_raises_it_again),
    };

    return cmocka_run_group_tests_name("embedded store, mark and clocks", tests,
                                       NULL, NULL);
}
