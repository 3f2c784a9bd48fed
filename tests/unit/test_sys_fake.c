/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/sys_fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/folder.h"

struct place {
    struct sys_fake fake;
    struct hf_sys *sys;
    char *folder;
    int dir;
};

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    assert_non_null(place);
    sys_fake_init(&place->fake);
    place->sys = &place->fake.sys;
    place->folder = folder_new();
    place->dir = open(place->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(place->dir >= 0);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;

    close(place->dir);
    folder_free(place->folder);
    free(place);
    return 0;
}

static int make_file(struct place *place, const char *name)
{
    return place->sys->open(place->sys, place->dir, name,
                            O_RDWR | O_CREAT | O_TRUNC, 0600);
}

static void clocks_stand_still_until_told_to_move(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = place->sys;
    int64_t steady = sys->steady(sys).ns;
    int64_t wall = sys->wall(sys).ns;

    assert_true(sys->steady(sys).ns == steady && sys->wall(sys).ns == wall);
    sys_fake_pass(&place->fake, hf_span_ms(1500));
    assert_true(sys->steady(sys).ns == steady + 1500000000);
    assert_true(sys->wall(sys).ns == wall + 1500000000);
    place->fake.wall.ns = -5;
    assert_true(sys->wall(sys).ns == -5);
    place->fake.tick = (struct hf_span){10};
    assert_true(sys->wall(sys).ns == 5);
    assert_true(sys->steady(sys).ns == steady + 1500000020);
    assert_true(sys->wall_is_trusted(sys));
    place->fake.wall_is_trusted = false;
    assert_false(sys->wall_is_trusted(sys));
}

static void boot_id_and_random_bytes_are_commanded(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = place->sys;
    uint8_t id[HF_BOOT_ID_SIZE];
    uint8_t first[32];
    uint8_t second[32];

    memset(place->fake.boot_id, 9, HF_BOOT_ID_SIZE);
    assert_int_equal(sys->boot_id(sys, id), 0);
    assert_memory_equal(id, place->fake.boot_id, HF_BOOT_ID_SIZE);
    place->fake.seed = 42;
    assert_int_equal(sys->random(sys, first, sizeof(first)), 0);
    assert_int_equal(sys->random(sys, second, sizeof(second)), 0);
    assert_memory_not_equal(first, second, sizeof(first));
    place->fake.seed = 42;
    assert_int_equal(sys->random(sys, second, sizeof(second)), 0);
    assert_memory_equal(first, second, sizeof(first));
}

/* One of each call that goes through, in the order of the enum. */
static void call_each(struct place *place, int results[FAKE_CALLS])
{
    struct hf_sys *sys = place->sys;
    uint8_t id[HF_BOOT_ID_SIZE];
    struct stat about;
    uint64_t type;
    int at = place->dir;
    int fd = openat(at, "f", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    results[FAKE_BOOT_ID] = sys->boot_id(sys, id);
    results[FAKE_RANDOM] = sys->random(sys, id, 1);
    results[FAKE_OPEN] = sys->open(sys, at, "g", O_RDWR | O_CREAT, 0600);
    results[FAKE_CLOSE] = results[FAKE_OPEN] < 0
                              ? sys->close(sys, dup(fd))
                              : sys->close(sys, results[FAKE_OPEN]);
    results[FAKE_PWRITE] = (int)sys->pwrite(sys, fd, "x", 1, 0);
    results[FAKE_PREAD] = (int)sys->pread(sys, fd, id, 1, 0);
    results[FAKE_TRUNCATE] = sys->truncate(sys, fd, 0);
    results[FAKE_FSYNC] = sys->fsync(sys, fd);
    results[FAKE_FCHMOD] = sys->fchmod(sys, fd, 0600);
    results[FAKE_FCHOWN] = sys->fchown(sys, fd, geteuid(), getegid());
    results[FAKE_FSTAT] = sys->fstat(sys, fd, &about);
    results[FAKE_LSTAT] = sys->lstat(sys, at, "f", &about);
    results[FAKE_FS_TYPE] = sys->fs_type(sys, fd, &type);
    results[FAKE_TRY_LOCK] = sys->try_lock(sys, fd, HF_LOCK_SHARED);
    results[FAKE_LOCK] = sys->lock(sys, fd, HF_LOCK_SHARED, hf_span_ms(1));
    results[FAKE_UNLOCK] = sys->unlock(sys, fd);
    results[FAKE_RENAME] = sys->rename(sys, at, "f", at, "h");
    results[FAKE_UNLINK] =
        sys->unlink(sys, at, results[FAKE_RENAME] < 0 ? "f" : "h");
    results[FAKE_MKDIR] = sys->mkdir(sys, at, "d", 0700);
    results[FAKE_MKFIFO] = sys->mkfifo(sys, at, "p", 0600);
    close(fd);
    unlinkat(at, "d", AT_REMOVEDIR);
    unlinkat(at, "p", 0);
    unlinkat(at, "f", 0);
    unlinkat(at, "h", 0);
}

static void each_call_goes_through_and_is_counted(void **state)
{
    struct place *place = *state;
    int results[FAKE_CALLS];

    call_each(place, results);
    for (int call = FAKE_ANY + 1; call < FAKE_CALLS; call++) {
        assert_true(results[call] >= 0);
        assert_int_equal(place->fake.count[call], 1);
    }
    assert_int_equal(place->fake.count[FAKE_ANY], FAKE_CALLS - 1);
    assert_false(sys_fake_end(&place->fake));
}

static void each_call_can_be_made_to_fail_alone(void **state)
{
    struct place *place = *state;
    int results[FAKE_CALLS];

    for (int chosen = FAKE_ANY + 1; chosen < FAKE_CALLS; chosen++) {
        sys_fake_fail(&place->fake, (enum fake_call)chosen, 1, EDOM);
        call_each(place, results);
        assert_true(sys_fake_end(&place->fake));
        for (int call = FAKE_ANY + 1; call < FAKE_CALLS; call++) {
            if (call == chosen)
                assert_int_equal(results[call], -EDOM);
            else
                assert_true(results[call] >= 0);
        }
    }
}

static void the_nth_of_any_kind_fails(void **state)
{
    struct place *place = *state;
    int results[FAKE_CALLS];
    unsigned int failures;
    unsigned int n = 0;
    bool failed = true;

    while (failed) {
        sys_fake_fail(&place->fake, FAKE_ANY, ++n, EDOM);
        call_each(place, results);
        failed = sys_fake_end(&place->fake);
        failures = 0;
        for (int call = FAKE_ANY + 1; call < FAKE_CALLS; call++)
            failures += results[call] == -EDOM;
        assert_int_equal(failures, failed ? 1 : 0);
    }
    assert_int_equal(n, FAKE_CALLS);
}

static void a_failing_call_has_no_effect(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = place->sys;
    int fd = make_file(place, "f");
    struct stat about;

    sys_fake_fail(&place->fake, FAKE_PWRITE, 2, ENOSPC);
    assert_int_equal(sys->pwrite(sys, fd, "ab", 2, 0), 2);
    assert_int_equal(sys->pwrite(sys, fd, "cd", 2, 2), -ENOSPC);
    assert_int_equal(sys->fstat(sys, fd, &about), 0);
    assert_int_equal(about.st_size, 2);
    assert_int_equal(sys->pwrite(sys, fd, "cd", 2, 2), 2);
    assert_int_equal(place->fake.count[FAKE_PWRITE], 3);
    assert_int_equal(sys->close(sys, fd), 0);
}

static void after_its_death_nothing_has_an_effect(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = place->sys;
    int fd = make_file(place, "f");
    struct stat about;

    sys_fake_die(&place->fake, FAKE_FSYNC, 1);
    assert_int_equal(sys->pwrite(sys, fd, "ab", 2, 0), 2);
    assert_int_equal(sys->fsync(sys, fd), -EIO);
    assert_int_equal(sys->pwrite(sys, fd, "cd", 2, 2), -EIO);
    assert_int_equal(sys->unlink(sys, place->dir, "f"), -EIO);
    assert_int_equal(sys->rename(sys, place->dir, "f", place->dir, "g"), -EIO);
    assert_true(make_file(place, "h") < 0);
    assert_int_equal(sys->close(sys, fd), -EIO);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_true(sys_fake_end(&place->fake));
    assert_int_equal(sys->lstat(sys, place->dir, "h", &about), -ENOENT);
    assert_int_equal(sys->lstat(sys, place->dir, "f", &about), 0);
    assert_int_equal(about.st_size, 2);
}

static void writes_run_out_of_space(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = place->sys;
    int fd = make_file(place, "f");
    char bytes[8] = "";

    place->fake.space = 5;
    assert_int_equal(sys->pwrite(sys, fd, "abc", 3, 0), 3);
    assert_int_equal(sys->pwrite(sys, fd, "def", 3, 3), -ENOSPC);
    assert_int_equal(sys->pread(sys, fd, bytes, 8, 0), 5);
    assert_string_equal(bytes, "abcde");
    assert_int_equal(sys->pwrite(sys, fd, "x", 1, 0), -ENOSPC);
    place->fake.space = -1;
    assert_int_equal(sys->pwrite(sys, fd, "x", 1, 0), 1);
    assert_int_equal(sys->close(sys, fd), 0);
}

static void the_kind_of_file_system_is_commanded(void **state)
{
    struct place *place = *state;
    uint64_t type = 0;

    place->fake.fs_type = 0x6969;
    assert_int_equal(place->sys->fs_type(place->sys, place->dir, &type), 0);
    assert_true(type == 0x6969);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(clocks_stand_still_until_told_to_move),
        IN_PLACE(boot_id_and_random_bytes_are_commanded),
        IN_PLACE(each_call_goes_through_and_is_counted),
        IN_PLACE(each_call_can_be_made_to_fail_alone),
        IN_PLACE(the_nth_of_any_kind_fails),
        IN_PLACE(a_failing_call_has_no_effect),
        IN_PLACE(after_its_death_nothing_has_an_effect),
        IN_PLACE(writes_run_out_of_space),
        IN_PLACE(the_kind_of_file_system_is_commanded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
