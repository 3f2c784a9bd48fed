/* SPDX-License-Identifier: Apache-2.0 */
/* Who watches is woken by who writes, and nobody else is. The clock stands
 * still unless a test moves it: no look about once a second hides a lost
 * wake-up. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000, MANY = 1000 };

static void watch(struct lab *lab, struct hf_store *store,
                  struct hf_store_request *request, const char *prefix,
                  uint64_t after)
{
    *request = (struct hf_store_request){.kind = HF_STORE_WATCH,
                                         .prefix = {prefix, strlen(prefix)},
                                         .after = after};
    hf_store_submit(store, request, lab->fake.steady);
}

static bool is_readable(struct hf_store *store)
{
    struct pollfd fd = {.fd = store->ops->fd(store), .events = POLLIN};

    assert_true(fd.fd >= 0);
    return poll(&fd, 1, 0) == 1;
}

static struct hf_store_request *next(struct lab *lab, struct hf_store *store)
{
    return hf_store_next(store, lab->fake.steady);
}

static void expect_woken(struct lab *lab, struct hf_store *store,
                         struct hf_store_request *request, const char *key)
{
    assert_true(is_readable(store));
    assert_ptr_equal(next(lab, store), request);
    assert_int_equal(request->outcome, HF_OUTCOME_COMMITTED);
    assert_int_equal(request->change_count, 1);
    assert_memory_equal(request->changes[0].record.key.data, key, strlen(key));
    hf_store_request_clear(request);
    assert_false(is_readable(store));
}

static unsigned int count_fifos(struct lab *lab)
{
    DIR *folder = opendir(lab_file(lab, ".run"));
    const struct dirent *entry;
    unsigned int count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)))
        count += !strncmp(entry->d_name, "w-", 2);
    closedir(folder);
    return count;
}

static int count_registrations(struct lab *lab)
{
    sqlite3_stmt *statement;
    sqlite3 *db;
    int count;

    assert_int_equal(
        sqlite3_open_v2(lab->path, &db, SQLITE_OPEN_READONLY, NULL), 0);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT count(*) FROM cell WHERE "
                                        "k>=x'77' AND k<x'78'",
                                        -1, &statement, NULL),
                     0);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    count = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return count;
}

/* ---- woken ---- */

static void a_writer_wakes_a_watcher(void **state)
{
    struct lab *lab = *state;
    struct hf_store *waiter = lab_open(lab);
    struct hf_store *writer = lab_open(lab);
    struct hf_store_request request;
    uint64_t after = 0;

    for (int i = 0; i < 3; i++) {
        watch(lab, waiter, &request, "hold/a", after);
        assert_null(next(lab, waiter));
        assert_false(is_readable(waiter));
        after = lab_put(lab, writer, "hold/a", 0);
        expect_woken(lab, waiter, &request, "hold/a");
        assert_int_equal(request.revision, after);
        watch(lab, waiter, &request, "hold/a", after);
        assert_int_equal(lab_release(lab, writer, "hold/a"),
                         HF_OUTCOME_COMMITTED);
        expect_woken(lab, waiter, &request, "hold/a");
        after = request.revision;
        /* Registered once, and for all. */
        assert_int_equal(count_registrations(lab), 1);
    }
    lab_close(waiter);
    assert_int_equal(count_registrations(lab), 0);
    assert_int_equal(count_fifos(lab), 0);
    lab_close(writer);
}

static int lock_times_out(struct hf_sys *sys, int fd, enum hf_lock_mode mode,
                          struct hf_span limit)
{
    (void)sys;
    (void)fd;
    (void)mode;
    (void)limit;
    return -ETIMEDOUT;
}

/* A handle that was kept out lets go of all its files, and of its FIFO. */
static void a_watcher_that_was_kept_out_is_woken_again(void **state)
{
    struct lab *lab = *state;
    struct hf_store *waiter = lab_open(lab);
    struct hf_store *writer = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, waiter, TTL_MS);
    struct hf_store_request request;
    int (*lock)(struct hf_sys * sys, int fd, enum hf_lock_mode mode,
                struct hf_span limit) = lab->fake.sys.lock;

    (void)lab_put(lab, waiter, "wait/a", lease);
    watch(lab, waiter, &request, "hold/a", lab_revision(lab, waiter));
    assert_null(next(lab, waiter));
    lab->fake.sys.lock = lock_times_out;
    assert_int_equal(lab_renew(lab, waiter, lease), HF_OUTCOME_FAILED);
    lab->fake.sys.lock = lock;
    assert_int_equal(lab_renew(lab, waiter, lease), HF_OUTCOME_COMMITTED);
    /* The look about once a second. */
    lab->fake.steady = hf_time_add(lab->fake.steady, hf_span_ms(2000));
    assert_null(next(lab, waiter));
    assert_int_equal(count_fifos(lab), 1);
    (void)lab_put(lab, writer, "hold/a", 0);
    expect_woken(lab, waiter, &request, "hold/a");
    lab_close(waiter);
    lab_close(writer);
}

static void fd_is_constant_and_may_be_asked_for_late(void **state)
{
    struct lab *lab = *state;
    struct hf_store *waiter = lab_open(lab);
    struct hf_store *writer = lab_open(lab);
    struct hf_store_request request;
    int fd = waiter->ops->fd(waiter);

    watch(lab, waiter, &request, "a", 0);
    assert_int_equal(waiter->ops->fd(waiter), fd);
    (void)lab_put(lab, writer, "a", 0);
    expect_woken(lab, waiter, &request, "a");
    lab_close(waiter);
    waiter = lab_open(lab);
    watch(lab, waiter, &request, "b", 0);
    (void)lab_put(lab, writer, "b", 0);
    expect_woken(lab, waiter, &request, "b");
    lab_close(waiter);
    lab_close(writer);
}

static void every_prefix_of_a_key_is_woken_and_no_other(void **state)
{
    struct lab *lab = *state;
    static const char *const prefixes[] = {
        "", "h", "hold/", "hold/a", "hold/ab", "hold/b", "i", "hold/a/b/c"};
    enum { WATCHERS = sizeof(prefixes) / sizeof(prefixes[0]) };
    struct hf_store_request requests[WATCHERS];
    struct hf_store *watchers[WATCHERS];
    struct hf_store *writer = lab_open(lab);

    for (int i = 0; i < WATCHERS; i++) {
        watchers[i] = lab_open(lab);
        watch(lab, watchers[i], &requests[i], prefixes[i], 0);
    }
    (void)lab_put(lab, writer, "hold/a", 0);
    for (int i = 0; i < WATCHERS; i++) {
        if (i < 4)
            expect_woken(lab, watchers[i], &requests[i], "hold/a");
        else
            assert_false(is_readable(watchers[i]));
        lab_close(watchers[i]);
        hf_store_request_clear(&requests[i]);
    }
    lab_close(writer);
}

static void a_thousand_waiters_do_not_wake_each_other(void **state)
{
    struct lab *lab = *state;
    struct hf_store_request *requests = calloc(MANY, sizeof(*requests));
    struct hf_store **waiters = calloc(MANY, sizeof(*waiters));
    char(*keys)[32] = calloc(MANY, sizeof(*keys));
    struct hf_store *writer = lab_open(lab);

    assert_true(requests && waiters && keys);
    for (int i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof(keys[i]), "wait/k/%05d", i);
        waiters[i] = lab_open(lab);
        watch(lab, waiters[i], &requests[i], keys[i], 0);
    }
    for (int i = 0; i < MANY; i += 99) {
        (void)lab_put(lab, writer, keys[i], 0);
        for (int j = 0; j < MANY; j++)
            assert_int_equal(is_readable(waiters[j]), i == j);
        expect_woken(lab, waiters[i], &requests[i], keys[i]);
    }
    for (int i = 0; i < MANY; i++) {
        lab_close(waiters[i]);
        hf_store_request_clear(&requests[i]);
    }
    lab_close(writer);
    free(keys);
    free(waiters);
    free(requests);
}

static void the_end_of_a_dead_holder_wakes_too(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    struct hf_store *waiter = lab_open(lab);
    struct hf_store *taker = lab_open(lab);
    struct hf_store_request request;
    uint64_t after =
        lab_put(lab, holder, "held", lab_grant(lab, holder, TTL_MS));

    watch(lab, waiter, &request, "held", after);
    assert_null(next(lab, waiter));
    lab_close(holder);
    assert_true(lab_take(lab, taker, "held", 0));
    assert_true(is_readable(waiter));
    assert_ptr_equal(next(lab, waiter), &request);
    assert_int_equal(request.change_count, 2);
    assert_true(request.changes[0].by_lease);
    hf_store_request_clear(&request);
    lab_close(waiter);
    lab_close(taker);
}

/* ---- watchers that died ---- */

static void watch_and_die(struct lab *lab, void *argument)
{
    struct hf_store *store = lab_open(lab);
    static struct hf_store_request request;
    const char *prefix = argument;

    watch(lab, store, &request, prefix, 0);
    must(next(lab, store) == NULL);
}

static void a_dead_watcher_is_forgotten_by_who_would_wake_it(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    char prefix[] = "hold/";

    lab_die(lab, watch_and_die, prefix);
    assert_int_equal(count_registrations(lab), 1);
    assert_int_equal(count_fifos(lab), 1);
    (void)lab_put(lab, store, "other", 0);
    assert_int_equal(count_registrations(lab), 1);
    (void)lab_put(lab, store, "hold/a", 0);
    assert_int_equal(count_registrations(lab), 0);
    assert_int_equal(count_fifos(lab), 0);
    lab_close(store);
}

/* Their keys are never touched again. */
static void many_dead_watchers_do_not_pile_up(void **state)
{
    struct lab *lab = *state;
    char prefix[32];

    for (int i = 0; i < 300; i++) {
        snprintf(prefix, sizeof(prefix), "wait/k/%d", i);
        lab->fake.seed += 1000;
        lab_die(lab, watch_and_die, prefix);
    }
    assert_in_range(count_registrations(lab), 1, 140);
    assert_in_range(count_fifos(lab), 1, 140);
}

static void a_fifo_that_is_none_is_not_written_to(void **state)
{
    struct lab *lab = *state;
    struct hf_store *waiter = lab_open(lab);
    struct hf_store *writer = lab_open(lab);
    struct hf_store_request request;
    char command[600];
    struct stat about;

    watch(lab, waiter, &request, "a", 0);
    snprintf(command, sizeof(command),
             "cd '%s.run' && f=$(ls | grep ^w-) && rm $f && touch $f && "
             "ln -s $f ../planted",
             lab->path);
    assert_int_equal(system(command), 0);
    (void)lab_put(lab, writer, "a", 0);
    assert_false(is_readable(waiter));
    snprintf(command, sizeof(command), "test -z \"$(cat '%s'.run/w-*)\"",
             lab->path);
    assert_int_equal(system(command), 0);
    /* The net holds. */
    sys_fake_pass(&lab->fake, hf_span_ms(1300));
    assert_ptr_equal(next(lab, waiter), &request);
    hf_store_request_clear(&request);
    (void)about;
    lab_close(waiter);
    lab_close(writer);
}

/* ---- the net ---- */

static void without_wakeups_a_look_about_once_a_second_is_left(void **state)
{
    struct lab *lab = *state;
    struct hf_store *waiter = lab_look(lab);
    struct hf_store *writer;
    struct hf_store_request request;
    struct hf_time at;

    /* One that only looks registers nothing, nor needs a store. */
    watch(lab, waiter, &request, "a", 0);
    writer = lab_open(lab);
    (void)lab_put(lab, writer, "a", 0);
    assert_null(next(lab, waiter));
    at = waiter->ops->wake_at(waiter);
    assert_in_range(at.ns - lab->fake.steady.ns, 700000000, 1300000000);
    lab->fake.steady = at;
    assert_ptr_equal(next(lab, waiter), &request);
    assert_int_equal(request.change_count, 1);
    hf_store_request_clear(&request);
    assert_int_equal(waiter->ops->wake_at(waiter).ns, INT64_MAX);
    assert_int_equal(count_registrations(lab), 0);
    lab_close(waiter);
    lab_close(writer);
}

/* When nothing was committed, to look costs two system calls. */
static void to_look_in_vain_is_cheap(void **state)
{
    struct lab *lab = *state;
    struct hf_store *waiter = lab_open(lab);
    struct hf_store_request request;

    (void)lab_put(lab, waiter, "b", 0);
    watch(lab, waiter, &request, "a", 0);
    for (int i = 0; i < 5; i++) {
        lab->fake.steady = waiter->ops->wake_at(waiter);
        sys_fake_fail(&lab->fake, FAKE_ANY, 0, 0);
        assert_null(next(lab, waiter));
        /* And a random number for the next time. */
        assert_true(lab->fake.count[FAKE_ANY] <= 3);
    }
    lab_close(waiter);
    hf_store_request_clear(&request);
}

/* ---- when the store changes under a watch ---- */

static void a_watch_outlives_the_loss_of_the_session_folder(void **state)
{
    struct lab *lab = *state;
    struct hf_store *waiter = lab_open(lab);
    struct hf_store *writer = lab_open(lab);
    struct hf_store_request request;
    uint64_t after = lab_put(lab, writer, "b", 0);

    watch(lab, waiter, &request, "a", after);
    lab_remove_tree(lab_file(lab, ".run"));
    lab->fake.steady = waiter->ops->wake_at(waiter);
    assert_null(next(lab, waiter));
    (void)lab_put(lab, writer, "a", 0);
    expect_woken(lab, waiter, &request, "a");
    lab_close(waiter);
    lab_close(writer);
}

static void a_watch_ends_when_the_store_is_an_older_one(void **state)
{
    struct lab *lab = *state;
    struct hf_store *waiter = lab_open(lab);
    struct hf_store *writer = lab_open(lab);
    struct hf_store_request request;
    uint64_t after;

    (void)lab_put(lab, writer, "b", 0);
    lab_copy(lab->path, lab_file(lab, "-copy"));
    after = lab_put(lab, writer, "a", 0);
    watch(lab, waiter, &request, "a", after);
    assert_null(next(lab, waiter));
    lab_copy(lab_file(lab, "-copy"), lab->path);
    lab->fake.steady = waiter->ops->wake_at(waiter);
    (void)lab_put(lab, writer, "c", 0);
    assert_ptr_equal(next(lab, waiter), &request);
    assert_int_equal(request.outcome, HF_OUTCOME_REFUSED);
    assert_int_equal(request.refusal, HF_REFUSED_COMPACTED);
    hf_store_request_clear(&request);
    lab_close(waiter);
    lab_close(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(a_writer_wakes_a_watcher),
        LAB_TEST(a_watcher_that_was_kept_out_is_woken_again),
        LAB_TEST(fd_is_constant_and_may_be_asked_for_late),
        LAB_TEST(every_prefix_of_a_key_is_woken_and_no_other),
        LAB_TEST(a_thousand_waiters_do_not_wake_each_other),
        LAB_TEST(the_end_of_a_dead_holder_wakes_too),
        LAB_TEST(a_dead_watcher_is_forgotten_by_who_would_wake_it),
        LAB_TEST(many_dead_watchers_do_not_pile_up),
        LAB_TEST(a_fifo_that_is_none_is_not_written_to),
        LAB_TEST(without_wakeups_a_look_about_once_a_second_is_left),
        LAB_TEST(to_look_in_vain_is_cheap),
        LAB_TEST(a_watch_outlives_the_loss_of_the_session_folder),
        LAB_TEST(a_watch_ends_when_the_store_is_an_older_one),
    };

    struct rlimit files;

    /* A thousand stores in one process are more than many a shell allows. */
    if (getrlimit(RLIMIT_NOFILE, &files))
        return 1;
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files))
        return 1;
    return cmocka_run_group_tests_name("embedded store, wake-ups", tests, NULL,
                                       NULL);
}
