/* SPDX-License-Identifier: Apache-2.0 */
/* What is lost, damaged or put back under the store, and what it makes of it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000 };

/* A holder in this process, with a job that is said to run. */
static hf_lease_id hold(struct lab *lab, struct hf_store *store,
                        const char *key)
{
    hf_lease_id lease = lab_grant(lab, store, TTL_MS);

    assert_true(lab_take(lab, store, key, lease));
    assert_int_equal(lab_phase(lab, store, lease, HF_PHASE_STARTED, NULL),
                     HF_OUTCOME_COMMITTED);
    return lease;
}

/* Some history and one record without a lease. */
static void fill(struct lab *lab, struct hf_store *store, unsigned int rows)
{
    char key[32];

    assert_true(lab_take(lab, store, "plain", 0));
    for (unsigned int i = 0; i < rows; i++) {
        snprintf(key, sizeof(key), "row/%u", i);
        assert_true(lab_take(lab, store, key, 0));
    }
}

/*
 * Whatever was done to the file: the holder's key is not free, other keys are,
 * revisions go on rising, and the holder can renew and release.
 */
static void check_goes_on(struct lab *lab, struct hf_store *holder,
                          hf_lease_id lease, uint64_t before)
{
    struct hf_store *other = lab_open(lab);
    hf_lease_id theirs = lab_grant(lab, other, TTL_MS);
    uint64_t revision = 0;
    bool held = false;

    assert_false(lab_take(lab, other, "held", theirs));
    assert_int_equal(lab_try_take(lab, other, "free", theirs, &held, &revision),
                     HF_OUTCOME_COMMITTED);
    assert_true(held);
    assert_true(revision > before);
    assert_int_equal(lab_renew(lab, holder, lease), HF_OUTCOME_COMMITTED);
    assert_true(lab_exists(lab, holder, "held"));
    assert_int_equal(lab_release(lab, holder, "held"), HF_OUTCOME_COMMITTED);
    assert_true(lab_take(lab, other, "held", theirs));
    assert_true(lab_changed(lab, other, "held") > revision);
    lab_close(other);
}

static void expect_notice(struct hf_store *store, const char *part)
{
    const char *notice = hf_sqlite_notice(store);

    assert_non_null(notice);
    if (!strstr(notice, part))
        fail_msg("\"%s\" has no \"%s\"", notice, part);
    assert_null(strchr(notice, '\n'));
    assert_null(hf_sqlite_notice(store));
}

/* ---- damage ---- */

typedef void damage_fn(struct lab *lab);

static void damage_header(struct lab *lab)
{
    lab_scribble(lab->path, 0, "this is no database at all", 26);
}

static void damage_first_page(struct lab *lab)
{
    char rubbish[4096];

    memset(rubbish, 0xff, sizeof(rubbish));
    lab_scribble(lab->path, 0, rubbish, sizeof(rubbish));
}

static void damage_cells(struct lab *lab)
{
    char rubbish[4096];

    memset(rubbish, 0xa5, sizeof(rubbish));
    lab_scribble(lab->path, 4096, rubbish, sizeof(rubbish));
}

static void damage_by_truncation(struct lab *lab)
{
    assert_int_equal(truncate(lab->path, 4096 + 100), 0);
}

static void damage_by_zeros(struct lab *lab)
{
    char zeros[8192] = {0};

    lab_scribble(lab->path, 0, zeros, sizeof(zeros));
}

static void check_damage(struct lab *lab, damage_fn *damage, bool in_use)
{
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    struct hf_store *other;
    uint64_t before;

    fill(lab, holder, 20);
    before = lab_revision(lab, holder);
    damage(lab);
    if (!in_use) {
        other = lab_open(lab);
        assert_false(lab_take(lab, other, "held", 0));
        expect_notice(other, "damaged");
        lab_close(other);
    } else {
        assert_int_equal(lab_renew(lab, holder, lease), HF_OUTCOME_COMMITTED);
        expect_notice(holder, "1 running session");
    }
    assert_int_equal(lab_count_files(lab, "db.damaged-20260601T"), 1);
    check_goes_on(lab, holder, lease, before);
    lab_close(holder);
}

static void a_damaged_header_is_kept_aside_and_holds_go_on(void **state)
{
    check_damage(*state, damage_header, false);
}

static void a_handle_in_use_finds_a_damaged_header(void **state)
{
    check_damage(*state, damage_header, true);
}

static void a_damaged_first_page_is_kept_aside(void **state)
{
    check_damage(*state, damage_first_page, false);
}

static void a_damaged_page_of_cells_is_kept_aside(void **state)
{
    check_damage(*state, damage_cells, false);
}

static void a_handle_in_use_finds_a_damaged_first_page(void **state)
{
    check_damage(*state, damage_first_page, true);
}

static void a_truncated_file_is_kept_aside(void **state)
{
    check_damage(*state, damage_by_truncation, false);
}

static void a_handle_in_use_finds_a_truncated_file(void **state)
{
    check_damage(*state, damage_by_truncation, true);
}

static void a_file_of_zeros_is_kept_aside(void **state)
{
    check_damage(*state, damage_by_zeros, false);
}

/* One bit of a record, where SQLite's own structure stays whole. */
static void a_flipped_bit_in_a_record_is_found(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    uint64_t before = lab_revision(lab, holder);
    static char bytes[1 << 20];
    FILE *file = fopen(lab->path, "rb");
    size_t size;
    struct hf_store *other;
    off_t at = -1;

    assert_non_null(file);
    size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    /* "value" behind "kheld", or before it, in the page of cells. */
    for (size_t i = 4096; i + 5 < size && i < 8192; i++) {
        if (!memcmp(bytes + i, "value", 5))
            at = (off_t)i;
    }
    assert_true(at > 0);
    lab_scribble(lab->path, at, "V", 1);
    other = lab_open(lab);
    assert_false(lab_take(lab, other, "held", 0));
    expect_notice(other, "damaged");
    lab_close(other);
    check_goes_on(lab, holder, lease, before);
    lab_close(holder);
}

static void history_and_lone_records_are_saved_from_a_damaged_file(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    struct hf_store_request watch = {.kind = HF_STORE_WATCH};
    char rubbish[4096];
    struct stat about;

    fill(lab, store, 300);
    lab_close(store);
    assert_int_equal(stat(lab->path, &about), 0);
    assert_true(about.st_size >= 5 * 4096);
    /* The newest page of history. */
    memset(rubbish, 0xff, sizeof(rubbish));
    lab_scribble(lab->path, -4096, rubbish, sizeof(rubbish));
    store = lab_open(lab);
    assert_true(lab_take(lab, store, "another", 0));
    expect_notice(store, "entries of its history");
    assert_true(lab_exists(lab, store, "plain"));
    /* Nothing is told across the gap. */
    assert_int_equal(lab_run(lab, store, &watch), HF_OUTCOME_REFUSED);
    assert_int_equal(watch.refusal, HF_REFUSED_COMPACTED);
    hf_store_request_clear(&watch);
    lab_close(store);
}

static void two_damaged_files_are_both_kept(void **state)
{
    struct lab *lab = *state;

    for (int i = 0; i < 3; i++) {
        struct hf_store *store = lab_open(lab);

        (void)lab_take(lab, store, "a", 0);
        lab_close(store);
        damage_header(lab);
    }
    lab_close(lab_open(lab));
    {
        struct hf_store *store = lab_open(lab);

        (void)lab_revision(lab, store);
        lab_close(store);
    }
    assert_int_equal(lab_count_files(lab, "db.damaged-"), 3);
}

/* ---- journals ---- */

static void check_journal(struct lab *lab, const void *bytes, size_t size)
{
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    uint64_t before = lab_revision(lab, holder);

    lab_scribble(lab_file(lab, "-journal"), 0, bytes, size);
    check_goes_on(lab, holder, lease, before);
    assert_int_equal(lab_count_files(lab, "damaged"), 0);
    lab_close(holder);
}

static void a_garbage_journal_means_nothing(void **state)
{
    char rubbish[20000];

    memset(rubbish, 0x5a, sizeof(rubbish));
    check_journal(*state, rubbish, sizeof(rubbish));
}

static void a_journal_with_a_header_alone_means_nothing(void **state)
{
    static const uint8_t header[512] = {
        0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0xff, 0xff,
        0xff, 0xff, 1,    2,    3,    4,    0,    0,    0,    9,
        0,    0,    2,    0,    0,    0,    16,   0};

    check_journal(*state, header, sizeof(header));
}

static void killed_before_commit_ends(struct lab *lab, void *argument)
{
    struct hf_store *store = lab_open(lab);
    unsigned int *nth = argument;

    (void)lab_revision(lab, store);
    sys_fake_die(&lab->fake, FAKE_PWRITE, *nth);
    (void)lab_try_take(lab, store, "cut", 0, NULL, NULL);
}

/* A copy of the file from before, put back together with a journal that a
 * killed process left in the later one. */
static void a_journal_of_another_state_is_not_played_back(void **state)
{
    struct lab *lab = *state;
    bool any_left_a_journal = false;

    for (unsigned int nth = 1; nth < 12; nth++) {
        struct hf_store *store = lab_open(lab);
        uint64_t before;
        char byte = 0;
        int fd;

        (void)lab_take(lab, store, "one", 0);
        lab_copy(lab->path, lab_file(lab, "-copy"));
        (void)lab_take(lab, store, "two", 0);
        (void)lab_take(lab, store, "three", 0);
        before = lab_revision(lab, store);
        lab_die(lab, killed_before_commit_ends, &nth);
        fd = open(lab_file(lab, "-journal"), O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        any_left_a_journal |= read(fd, &byte, 1) == 1 && byte != 0;
        close(fd);
        lab_copy(lab_file(lab, "-copy"), lab->path);
        assert_true(lab_exists(lab, store, "one"));
        assert_true(lab_revision(lab, store) > before);
        assert_int_equal(lab_release(lab, store, "one"), HF_OUTCOME_COMMITTED);
        assert_int_equal(lab_release(lab, store, "two"), HF_OUTCOME_COMMITTED);
        assert_int_equal(lab_release(lab, store, "three"),
                         HF_OUTCOME_COMMITTED);
        lab_close(store);
    }
    assert_true(any_left_a_journal);
    assert_int_equal(lab_count_files(lab, "damaged"), 0);
}

/* ---- older copies, other files ---- */

enum way { IN_PLACE, BY_RENAME };

static void put_back(struct lab *lab, const char *copy, enum way way)
{
    if (way == IN_PLACE) {
        lab_copy(copy, lab->path);
    } else {
        lab_copy(copy, lab_file(lab, "-moving"));
        assert_int_equal(rename(lab_file(lab, "-moving"), lab->path), 0);
    }
}

static void check_older(struct lab *lab, enum way way, unsigned int later,
                        bool holder_finds_it)
{
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease;
    uint64_t before;

    assert_true(lab_take(lab, holder, "plain", 0));
    lab_copy(lab->path, lab_file(lab, "-copy"));
    lease = hold(lab, holder, "held");
    for (unsigned int i = 1; i < later; i++) {
        char key[32];

        snprintf(key, sizeof(key), "later/%u", i);
        assert_true(lab_take(lab, holder, key, lease));
    }
    before = lab_changed(lab, holder, "held");
    put_back(lab, lab_file(lab, "-copy"), way);
    if (holder_finds_it) {
        assert_int_equal(lab_changed(lab, holder, "held"), before);
        expect_notice(holder, "older copy");
    } else {
        struct hf_store *other = lab_open(lab);

        /* Its token is what it was. */
        assert_int_equal(lab_changed(lab, other, "held"), before);
        assert_true(lab_exists(lab, other, "plain"));
        expect_notice(other, "older copy");
        lab_close(other);
    }
    check_goes_on(lab, holder, lease, before);
    lab_close(holder);
}

static void an_older_copy_put_back_in_place_loses_no_hold(void **state)
{
    check_older(*state, IN_PLACE, 5, false);
}

static void an_older_copy_moved_there_loses_no_hold(void **state)
{
    check_older(*state, BY_RENAME, 5, false);
}

static void a_copy_of_one_commit_ago_loses_no_hold(void **state)
{
    check_older(*state, IN_PLACE, 1, false);
}

static void the_holder_itself_finds_the_older_copy(void **state)
{
    check_older(*state, IN_PLACE, 1, true);
}

static void the_holder_itself_finds_the_copy_moved_there(void **state)
{
    check_older(*state, BY_RENAME, 3, true);
}

/* In a copy a lease looks lapsed that was renewed since. */
static void an_older_copy_knows_of_no_renewal_and_frees_nothing(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    struct hf_store *other;

    lab_copy(lab->path, lab_file(lab, "-copy"));
    sys_fake_pass(&lab->fake, hf_span_ms(TTL_MS - 1000));
    assert_int_equal(lab_renew(lab, holder, lease), HF_OUTCOME_COMMITTED);
    lab_copy(lab_file(lab, "-copy"), lab->path);
    sys_fake_pass(&lab->fake, hf_span_ms(TTL_MS - 1000));
    other = lab_open(lab);
    assert_false(lab_take(lab, other, "held", 0));
    sys_fake_pass(&lab->fake, hf_span_ms(2000));
    assert_true(lab_take(lab, other, "held", 0));
    lab_close(other);
    lab_close(holder);
}

/* What had been released before the copy's loss is not taken for held. */
static void an_older_copy_brings_back_no_released_hold(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    struct hf_store *other;

    lab_copy(lab->path, lab_file(lab, "-copy"));
    assert_int_equal(lab_release(lab, holder, "held"), HF_OUTCOME_COMMITTED);
    assert_int_equal(lab_revoke(lab, holder, lease), HF_OUTCOME_COMMITTED);
    lab_copy(lab_file(lab, "-copy"), lab->path);
    other = lab_open(lab);
    assert_true(lab_take(lab, other, "held", lab_grant(lab, other, TTL_MS)));
    lab_close(other);
    lab_close(holder);
}

static void the_file_of_another_store_is_kept_aside(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    uint64_t before = lab_revision(lab, holder);
    struct hf_store_identity mine = lab_identity(lab, holder);
    struct hf_store_identity now;
    struct lab there = *lab;
    struct hf_store *other;

    snprintf(there.path, sizeof(there.path), "%s/there", lab->folder);
    other = lab_open(&there);
    assert_true(lab_take(&there, other, "theirs", 0));
    lab_close(other);
    lab_copy(there.path, lab->path);
    other = lab_open(lab);
    assert_false(lab_exists(lab, other, "theirs"));
    expect_notice(other, "another store");
    now = lab_identity(lab, other);
    assert_memory_equal(now.id, mine.id, sizeof(mine.id));
    lab_close(other);
    assert_int_equal(lab_count_files(lab, "db.foreign-"), 1);
    check_goes_on(lab, holder, lease, before);
    lab_close(holder);
}

/* ---- wiped: C14 ---- */

static void check_deleted(struct lab *lab, bool holder_finds_it)
{
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    uint64_t before = lab_changed(lab, holder, "held");

    assert_int_equal(unlink(lab->path), 0);
    if (holder_finds_it)
        assert_int_equal(lab_renew(lab, holder, lease), HF_OUTCOME_COMMITTED);
    else
        lab_close(lab_open(lab));
    assert_int_equal(lab_changed(lab, holder, "held"), before);
    check_goes_on(lab, holder, lease, before);
    lab_close(holder);
}

static void a_store_deleted_under_a_job_is_made_again(void **state)
{
    check_deleted(*state, false);
}

static void the_holder_makes_a_deleted_store_again(void **state)
{
    check_deleted(*state, true);
}

static void a_store_deleted_when_nothing_ran_goes_on_rising(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    hf_lease_id lease = hold(lab, store, "held");
    struct hf_store_identity mine = lab_identity(lab, store);
    struct hf_store_identity now;
    uint64_t before;

    assert_int_equal(lab_release(lab, store, "held"), HF_OUTCOME_COMMITTED);
    assert_int_equal(lab_revoke(lab, store, lease), HF_OUTCOME_COMMITTED);
    before = lab_revision(lab, store);
    lab_close(store);
    assert_int_equal(unlink(lab->path), 0);
    store = lab_open(lab);
    assert_true(lab_put(lab, store, "held", 0) > before);
    now = lab_identity(lab, store);
    assert_memory_equal(now.id, mine.id, sizeof(mine.id));
    assert_int_equal(now.epoch_min, 1);
    lab_close(store);
}

/* db, mark and journal; the session folder stays. */
static void wipe_state(struct lab *lab)
{
    assert_int_equal(unlink(lab->path), 0);
    assert_int_equal(unlink(lab_file(lab, ".mark")), 0);
    assert_int_equal(unlink(lab_file(lab, "-journal")), 0);
}

static void a_wiped_state_folder_loses_no_hold(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    uint64_t before = lab_changed(lab, holder, "held");
    struct hf_store *other;

    lab->fake.wall_is_trusted = false;
    wipe_state(lab);
    other = lab_open(lab);
    assert_int_equal(lab_changed(lab, other, "held"), before);
    /* The head tells all that was issued: no epoch is needed. */
    assert_int_equal(lab_identity(lab, other).epoch_min, 1);
    lab_close(other);
    check_goes_on(lab, holder, lease, before);
    lab_close(holder);
}

static void a_wiped_session_folder_frees_no_key(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    uint64_t before = lab_changed(lab, holder, "held");
    struct hf_store *other;

    lab_remove_tree(lab_file(lab, ".run"));
    other = lab_open(lab);
    assert_false(lab_take(lab, other, "held", 0));
    /* Nothing was lost that the database has not got. */
    assert_true(lab_take(lab, other, "free at once", 0));
    assert_int_equal(lab_proof(lab, other, lease), HF_PROOF_NONE);
    lab_close(other);
    check_goes_on(lab, holder, lease, before);
    lab_close(holder);
}

static void the_holder_puts_its_session_file_back(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    int fd;
    hf_lease_id lease = lab_grant_fd(lab, holder, TTL_MS, &fd);
    struct hf_store *other;
    uint64_t before;
    char text[8] = "";

    assert_true(lab_take(lab, holder, "held", lease));
    before = lab_changed(lab, holder, "held");
    assert_int_equal(pwrite(fd, "client", 6, 0), 6);
    lab_remove_tree(lab_file(lab, ".run"));
    assert_int_equal(lab_renew(lab, holder, lease), HF_OUTCOME_COMMITTED);
    /* The same number, the client's bytes, the lock, and a whole note. */
    assert_int_equal(pread(fd, text, 6, 0), 6);
    assert_string_equal(text, "client");
    other = lab_open(lab);
    assert_int_equal(lab_proof(lab, other, lease), HF_PROOF_LIVES);
    assert_int_equal(unlink(lab->path), 0);
    assert_int_equal(lab_changed(lab, other, "held"), before);
    lab_close(other);
    lab_close(holder);
}

/* One session file alone. */
static void a_removed_session_file_frees_no_key(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    uint64_t before = lab_changed(lab, holder, "held");
    struct hf_store *other = lab_open(lab);
    char name[64];

    snprintf(name, sizeof(name), ".run/s-%016llx", (unsigned long long)lease);
    assert_int_equal(unlink(lab_file(lab, name)), 0);
    assert_false(lab_take(lab, other, "held", 0));
    assert_int_equal(lab_renew(lab, holder, lease), HF_OUTCOME_COMMITTED);
    assert_int_equal(access(lab_file(lab, name), F_OK), 0);
    assert_int_equal(unlink(lab->path), 0);
    assert_int_equal(lab_changed(lab, other, "held"), before);
    lab_close(other);
    lab_close(holder);
}

static void put_long(struct lab *lab, struct hf_store *store, const char *key,
                     hf_lease_id lease)
{
    static char value[12000];
    struct hf_action put = {.kind = HF_DO_PUT,
                            .key = {key, strlen(key)},
                            .value = {value, sizeof(value)},
                            .lease = lease};
    struct hf_branch branch = {.then = &put, .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};

    memset(value, key[0], sizeof(value));
    assert_int_equal(lab_run(lab, store, &request), HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&request);
}

/* A session that takes and lets go for days keeps a note of what it has. */
static void a_long_session_is_put_back_whole(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, holder, TTL_MS);
    uint64_t changed[10];
    char name[64];
    char key[32];
    struct stat about;

    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof(key), "%d", i % 10);
        put_long(lab, holder, key, lease);
        snprintf(key, sizeof(key), "gone/%d", i);
        put_long(lab, holder, key, lease);
        assert_int_equal(lab_release(lab, holder, key), HF_OUTCOME_COMMITTED);
    }
    snprintf(name, sizeof(name), ".run/s-%016llx", (unsigned long long)lease);
    assert_int_equal(stat(lab_file(lab, name), &about), 0);
    assert_true(about.st_size < 2 * 1024 * 1024);
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof(key), "%d", i);
        changed[i] = lab_changed(lab, holder, key);
    }
    assert_int_equal(unlink(lab->path), 0);
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof(key), "%d", i);
        assert_int_equal(lab_changed(lab, holder, key), changed[i]);
    }
    assert_false(lab_exists(lab, holder, "gone/7"));
    assert_false(lab_exists(lab, holder, "gone/299"));
    lab_close(holder);
}

/* The session file and the database: head and mark say that there was more. */
static void lost_rows_and_files_mean_quarantine(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    hf_lease_id lease = hold(lab, holder, "held");
    struct hf_store *other;
    char name[64];

    snprintf(name, sizeof(name), ".run/s-%016llx", (unsigned long long)lease);
    assert_int_equal(unlink(lab_file(lab, name)), 0);
    assert_int_equal(unlink(lab->path), 0);
    other = lab_open(lab);
    assert_int_equal(lab_try_take(lab, other, "held", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    assert_int_equal(lab->error.code, HF_ERR_UNAVAILABLE);
    assert_non_null(strstr(lab->error.text, "it grants again in 60 s"));
    /* The holder puts itself back, and keeps its key. */
    assert_int_equal(lab_renew(lab, holder, lease), HF_OUTCOME_COMMITTED);
    assert_false(lab_take(lab, other, "held", 0));
    sys_fake_pass(&lab->fake, hf_span_ms(59000));
    assert_int_equal(lab_renew(lab, holder, lease), HF_OUTCOME_COMMITTED);
    assert_int_equal(lab_try_take(lab, other, "free", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    sys_fake_pass(&lab->fake, hf_span_ms(1001));
    assert_true(lab_take(lab, other, "free", 0));
    assert_false(lab_take(lab, other, "held", 0));
    assert_int_equal(lab_release(lab, holder, "held"), HF_OUTCOME_COMMITTED);
    assert_true(lab_take(lab, other, "held", 0));
    lab_close(other);
    lab_close(holder);
}

static void hold_and_wait(struct lab *lab, void *argument)
{
    struct hf_store *store = lab_open(lab);

    (void)argument;
    must(lab_take(lab, store, "held", lab_grant(lab, store, TTL_MS)));
    lab_ready(lab);
}

/* Everything: only the open files of the living tell that there was a store. */
static void a_store_wiped_wholly_is_found_in_living_processes(void **state)
{
    struct lab *lab = *state;
    pid_t pid = lab_start(lab, hold_and_wait, NULL);
    struct hf_store *other;

    wipe_state(lab);
    lab_remove_tree(lab_file(lab, ".run"));
    other = lab_open(lab);
    assert_false(lab_take(lab, other, "held", 0));
    assert_int_equal(lab_try_take(lab, other, "free", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    lab_end(pid);
    sys_fake_pass(&lab->fake, hf_span_ms(TTL_MS + 1));
    assert_true(lab_take(lab, other, "free", 0));
    assert_true(lab_take(lab, other, "held", 0));
    lab_close(other);
}

/* The same with the mark left. */
static void a_store_wiped_but_for_its_mark_is_in_quarantine(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    uint64_t before = lab_put(lab, store, "held", 0);

    lab_close(store);
    assert_int_equal(unlink(lab->path), 0);
    lab_remove_tree(lab_file(lab, ".run"));
    store = lab_open(lab);
    assert_int_equal(lab_try_take(lab, store, "held", 0, NULL, NULL),
                     HF_OUTCOME_FAILED);
    sys_fake_pass(&lab->fake, hf_span_ms(60001));
    assert_true(lab_put(lab, store, "held", 0) > before);
    lab_close(store);
}

static void a_store_that_nobody_knows_of_is_simply_new(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);

    assert_true(lab_take(lab, store, "held", 0));
    assert_int_equal(lab_identity(lab, store).epoch_min, 1);
    assert_null(hf_sqlite_notice(store));
    lab_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(a_damaged_header_is_kept_aside_and_holds_go_on),
        LAB_TEST(a_handle_in_use_finds_a_damaged_header),
        LAB_TEST(a_damaged_first_page_is_kept_aside),
        LAB_TEST(a_damaged_page_of_cells_is_kept_aside),
        LAB_TEST(a_handle_in_use_finds_a_damaged_first_page),
        LAB_TEST(a_truncated_file_is_kept_aside),
        LAB_TEST(a_handle_in_use_finds_a_truncated_file),
        LAB_TEST(a_file_of_zeros_is_kept_aside),
        LAB_TEST(a_flipped_bit_in_a_record_is_found),
        LAB_TEST(history_and_lone_records_are_saved_from_a_damaged_file),
        LAB_TEST(two_damaged_files_are_both_kept),
        LAB_TEST(a_garbage_journal_means_nothing),
        LAB_TEST(a_journal_with_a_header_alone_means_nothing),
        LAB_TEST(a_journal_of_another_state_is_not_played_back),
        LAB_TEST(an_older_copy_put_back_in_place_loses_no_hold),
        LAB_TEST(an_older_copy_moved_there_loses_no_hold),
        LAB_TEST(a_copy_of_one_commit_ago_loses_no_hold),
        LAB_TEST(the_holder_itself_finds_the_older_copy),
        LAB_TEST(the_holder_itself_finds_the_copy_moved_there),
        LAB_TEST(an_older_copy_knows_of_no_renewal_and_frees_nothing),
        LAB_TEST(an_older_copy_brings_back_no_released_hold),
        LAB_TEST(the_file_of_another_store_is_kept_aside),
        LAB_TEST(a_store_deleted_under_a_job_is_made_again),
        LAB_TEST(the_holder_makes_a_deleted_store_again),
        LAB_TEST(a_store_deleted_when_nothing_ran_goes_on_rising),
        LAB_TEST(a_wiped_state_folder_loses_no_hold),
        LAB_TEST(a_wiped_session_folder_frees_no_key),
        LAB_TEST(the_holder_puts_its_session_file_back),
        LAB_TEST(a_removed_session_file_frees_no_key),
        LAB_TEST(a_long_session_is_put_back_whole),
        LAB_TEST(lost_rows_and_files_mean_quarantine),
        LAB_TEST(a_store_wiped_wholly_is_found_in_living_processes),
        LAB_TEST(a_store_wiped_but_for_its_mark_is_in_quarantine),
        LAB_TEST(a_store_that_nobody_knows_of_is_simply_new),
    };

    return cmocka_run_group_tests_name("embedded store, losses", tests, NULL,
                                       NULL);
}
