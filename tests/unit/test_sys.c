/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/folder.h"

/* A seam, a folder of its own, and a file in it, open twice. */
struct place {
    struct hf_sys sys;
    char *folder;
    int dir;
    int file;
    int other; /* opened apart: its lock is another's */
};

static int setup(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    assert_non_null(place);
    hf_sys_init_real(&place->sys);
    place->folder = folder_new();
    place->dir = open(place->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    place->file =
        openat(place->dir, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    place->other = openat(place->dir, "file", O_RDWR | O_CLOEXEC);
    assert_true(place->dir >= 0 && place->file >= 0 && place->other >= 0);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    struct place *place = *state;

    close(place->dir);
    close(place->file);
    close(place->other);
    folder_free(place->folder);
    free(place);
    return 0;
}

/* ---- clocks ------------------------------------------------------------ */

static void the_steady_clock_is_monotonic_and_goes_on(void **state)
{
    struct place *place = *state;
    struct timespec raw;
    struct hf_time first = place->sys.steady(&place->sys);
    struct hf_time second = place->sys.steady(&place->sys);

    assert_true(second.ns >= first.ns && first.ns > 0);
    clock_gettime(CLOCK_MONOTONIC, &raw);
    assert_true(raw.tv_sec * INT64_C(1000000000) + raw.tv_nsec >=
                second.ns + place->sys.offset_ns);
}

/* In the child of a fresh time namespace: what its steady clock says. */
static _Noreturn void tell_steady(int to)
{
    struct hf_sys sys;
    struct hf_time now;

    hf_sys_init_real(&sys);
    now = sys.steady(&sys);
    _exit(write(to, &now, sizeof(now)) == (ssize_t)sizeof(now) ? 0 : 1);
}

/* Exit status 77: this kernel or user may not make time namespaces. */
static _Noreturn void enter_time_namespace(const char *offset, int to)
{
    int flags = CLONE_NEWTIME | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
    int fd;
    int status;
    pid_t child;

    if (unshare(flags))
        _exit(77);
    fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, offset, strlen(offset)) < 0)
        _exit(77);
    child = fork();
    if (child == 0)
        tell_steady(to);
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void reads_the_kernels_clock_behind(struct place *place,
                                           const char *offset)
{
    struct hf_time before = place->sys.steady(&place->sys);
    struct hf_time after;
    struct hf_time inside;
    int ends[2];
    int status;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0)
        enter_time_namespace(offset, ends[1]);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    after = place->sys.steady(&place->sys);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        close(ends[0]);
        skip();
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(read(ends[0], &inside, sizeof(inside)), sizeof(inside));
    close(ends[0]);
    assert_true(before.ns <= inside.ns && inside.ns <= after.ns);
}

static void a_time_namespace_reads_the_same_steady_clock(void **state)
{
    reads_the_kernels_clock_behind(*state, "monotonic 1000000 5\n");
    /* The kernel writes this as -6 s and 999,999,995 ns. */
    reads_the_kernels_clock_behind(*state, "monotonic -6 999999995\n");
}

static void the_wall_clock_is_the_systems(void **state)
{
    struct place *place = *state;
    struct timespec before;
    struct timespec after;
    int64_t seconds;

    clock_gettime(CLOCK_REALTIME, &before);
    seconds = place->sys.wall(&place->sys).ns / 1000000000;
    clock_gettime(CLOCK_REALTIME, &after);
    assert_true(before.tv_sec <= seconds && seconds <= after.tv_sec);
    /* Either answer may be true here; it must not change anything. */
    place->sys.wall_is_trusted(&place->sys);
}

/* ---- boot id, random bytes
 * ---------------------------------------------------- */

static void the_boot_id_is_the_kernels(void **state)
{
    struct place *place = *state;
    uint8_t id[HF_BOOT_ID_SIZE] = {0};
    char text[64] = "";
    char mine[40];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    fclose(file);
    assert_int_equal(place->sys.boot_id(&place->sys, id), 0);
    snprintf(mine, sizeof(mine),
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x",
             id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8],
             id[9], id[10], id[11], id[12], id[13], id[14], id[15]);
    assert_memory_equal(text, mine, 36);
}

static void random_bytes_fill_what_was_asked_for(void **state)
{
    struct place *place = *state;
    uint8_t first[1000] = {0};
    uint8_t second[1000] = {0};
    unsigned int zeros = 0;

    assert_int_equal(place->sys.random(&place->sys, first, sizeof(first)), 0);
    assert_int_equal(place->sys.random(&place->sys, second, sizeof(second)), 0);
    assert_memory_not_equal(first, second, sizeof(first));
    for (size_t i = 900; i < sizeof(first); i++)
        zeros += first[i] == 0;
    assert_true(zeros < 50);
    memset(first, 7, sizeof(first));
    assert_int_equal(place->sys.random(&place->sys, first, 0), 0);
    assert_int_equal(first[0], 7);
}

/* ---- files
 * -------------------------------------------------------------------- */

static void a_file_opens_closed_to_other_programs(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = &place->sys;
    int fd = sys->open(sys, place->dir, "new", O_RDWR | O_CREAT | O_EXCL, 0640);

    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(sys->close(sys, fd), 0);
    assert_int_equal(sys->close(sys, fd), -EBADF);
    assert_int_equal(
        sys->open(sys, place->dir, "new", O_RDWR | O_CREAT | O_EXCL, 0600),
        -EEXIST);
    assert_int_equal(sys->open(sys, place->dir, "none", O_RDONLY, 0), -ENOENT);
}

static void reads_are_short_only_at_the_end(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = &place->sys;
    char bytes[10] = "";

    assert_int_equal(sys->pwrite(sys, place->file, "abcdef", 6, 2), 6);
    assert_int_equal(sys->pread(sys, place->file, bytes, 8, 0), 8);
    assert_memory_equal(bytes, "\0\0abcdef", 8);
    assert_int_equal(sys->pread(sys, place->file, bytes, 10, 5), 3);
    assert_memory_equal(bytes, "def", 3);
    assert_int_equal(sys->pread(sys, place->file, bytes, 10, 8), 0);
    assert_int_equal(sys->pread(sys, -1, bytes, 10, 0), -EBADF);
    assert_int_equal(sys->pwrite(sys, place->dir, "x", 1, 0), -EBADF);
    assert_int_equal(sys->truncate(sys, place->file, 4), 0);
    assert_int_equal(sys->pread(sys, place->file, bytes, 10, 0), 4);
    assert_int_equal(sys->fsync(sys, place->file), 0);
    assert_int_equal(sys->fsync(sys, -1), -EBADF);
    assert_int_equal(sys->truncate(sys, -1, 0), -EBADF);
}

static void names_are_moved_made_and_removed(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = &place->sys;
    struct stat about;

    assert_int_equal(sys->rename(sys, place->dir, "file", place->dir, "moved"),
                     0);
    assert_int_equal(sys->rename(sys, place->dir, "file", place->dir, "moved"),
                     -ENOENT);
    assert_int_equal(sys->mkdir(sys, place->dir, "folder", 0700), 0);
    assert_int_equal(sys->mkdir(sys, place->dir, "folder", 0700), -EEXIST);
    assert_int_equal(sys->mkfifo(sys, place->dir, "fifo", 0600), 0);
    assert_int_equal(sys->mkfifo(sys, place->dir, "fifo", 0600), -EEXIST);
    assert_int_equal(sys->lstat(sys, place->dir, "fifo", &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    assert_int_equal(sys->unlink(sys, place->dir, "fifo"), 0);
    assert_int_equal(sys->unlink(sys, place->dir, "fifo"), -ENOENT);
    assert_int_equal(sys->lstat(sys, place->dir, "fifo", &about), -ENOENT);
    assert_int_equal(sys->lstat(sys, place->dir, "moved", &about), 0);
    assert_true(S_ISREG(about.st_mode));
}

static void a_link_is_seen_as_a_link(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = &place->sys;
    struct stat about;

    assert_int_equal(symlinkat("file", place->dir, "link"), 0);
    assert_int_equal(sys->lstat(sys, place->dir, "link", &about), 0);
    assert_true(S_ISLNK(about.st_mode));
}

static void modes_and_owners_are_changed_on_what_is_open(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = &place->sys;
    struct stat about;

    assert_int_equal(sys->fchmod(sys, place->file, 0400), 0);
    assert_int_equal(sys->fchown(sys, place->file, geteuid(), getegid()), 0);
    assert_int_equal(sys->fstat(sys, place->file, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0400);
    assert_int_equal(sys->fchmod(sys, -1, 0400), -EBADF);
    assert_int_equal(sys->fchown(sys, -1, 0, 0), -EBADF);
    assert_int_equal(sys->fstat(sys, -1, &about), -EBADF);
}

static void a_file_system_is_told_by_its_magic_number(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = &place->sys;
    uint64_t type = 0;
    int fd = sys->open(sys, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0);

    assert_true(fd >= 0);
    assert_int_equal(sys->fs_type(sys, fd, &type), 0);
    assert_true(type == PROC_SUPER_MAGIC);
    assert_int_equal(sys->close(sys, fd), 0);
    assert_int_equal(sys->fs_type(sys, fd, &type), -EBADF);
}

/* ---- locks
 * ---------------------------------------------------------------------- */

static void an_exclusive_lock_keeps_all_others_out(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = &place->sys;

    assert_int_equal(sys->try_lock(sys, place->file, HF_LOCK_EXCLUSIVE), 0);
    assert_int_equal(sys->try_lock(sys, place->other, HF_LOCK_EXCLUSIVE),
                     -EWOULDBLOCK);
    assert_int_equal(sys->try_lock(sys, place->other, HF_LOCK_SHARED),
                     -EWOULDBLOCK);
    assert_int_equal(sys->unlock(sys, place->file), 0);
    assert_int_equal(sys->try_lock(sys, place->other, HF_LOCK_EXCLUSIVE), 0);
}

static void shared_locks_stand_side_by_side(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = &place->sys;

    assert_int_equal(sys->lock(sys, place->file, HF_LOCK_SHARED, hf_span_ms(1)),
                     0);
    assert_int_equal(
        sys->lock(sys, place->other, HF_LOCK_SHARED, hf_span_ms(1)), 0);
    assert_int_equal(sys->try_lock(sys, place->other, HF_LOCK_EXCLUSIVE),
                     -EWOULDBLOCK);
    assert_int_equal(sys->lock(sys, -1, HF_LOCK_SHARED, hf_span_ms(1)), -EBADF);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static void on_alarm(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};

    alarms = 0;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
}

/* Lose the lock after 30 ms, never earlier, with SIGALRM as it was before. */
static void loses(struct place *place)
{
    struct hf_sys *sys = &place->sys;
    struct sigaction before;
    struct sigaction after;
    sigset_t mask_before;
    sigset_t mask_after;
    struct hf_time start;
    struct hf_span passed;

    sigaction(SIGALRM, NULL, &before);
    sigprocmask(SIG_BLOCK, NULL, &mask_before);
    start = sys->steady(sys);
    assert_int_equal(
        sys->lock(sys, place->other, HF_LOCK_EXCLUSIVE, hf_span_ms(30)),
        -ETIMEDOUT);
    passed = hf_time_since(sys->steady(sys), start);
    assert_true(passed.ns >= hf_span_ms(30).ns);
    sigaction(SIGALRM, NULL, &after);
    sigprocmask(SIG_BLOCK, NULL, &mask_after);
    assert_ptr_equal(before.sa_handler, after.sa_handler);
    assert_int_equal(before.sa_flags, after.sa_flags);
    assert_int_equal(sigismember(&mask_before, SIGALRM),
                     sigismember(&mask_after, SIGALRM));
}

static void a_wait_ends_at_its_limit_and_not_before(void **state)
{
    struct place *place = *state;
    struct hf_sys *sys = &place->sys;
    struct itimerval timer;

    assert_int_equal(sys->try_lock(sys, place->file, HF_LOCK_EXCLUSIVE), 0);
    on_alarm(SIG_DFL);
    loses(place);
    assert_int_equal(getitimer(ITIMER_REAL, &timer), 0);
    assert_true(timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0);
    assert_int_equal(
        sys->lock(sys, place->other, HF_LOCK_EXCLUSIVE, hf_span_ms(0)),
        -ETIMEDOUT);
    assert_int_equal(
        sys->lock(sys, place->other, HF_LOCK_EXCLUSIVE, hf_span_ms(-5)),
        -ETIMEDOUT);
}

static void a_wait_ends_although_the_caller_ignores_the_alarm(void **state)
{
    struct place *place = *state;

    assert_int_equal(
        place->sys.try_lock(&place->sys, place->file, HF_LOCK_EXCLUSIVE), 0);
    on_alarm(SIG_IGN);
    loses(place);
    on_alarm(SIG_DFL);
}

static void a_wait_ends_although_the_caller_blocks_the_alarm(void **state)
{
    struct place *place = *state;
    sigset_t alarm_alone;
    sigset_t pending;

    assert_int_equal(
        place->sys.try_lock(&place->sys, place->file, HF_LOCK_EXCLUSIVE), 0);
    on_alarm(count_alarm);
    sigemptyset(&alarm_alone);
    sigaddset(&alarm_alone, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm_alone, NULL);
    loses(place);
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGALRM), 0);
    /* One that the caller had waiting still waits afterwards. */
    kill(getpid(), SIGALRM);
    loses(place);
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGALRM), 1);
    assert_int_equal(alarms, 0);
    sigprocmask(SIG_UNBLOCK, &alarm_alone, NULL);
    assert_int_equal(alarms, 1);
    on_alarm(SIG_DFL);
}

static int64_t left_us(void)
{
    struct itimerval timer;

    assert_int_equal(getitimer(ITIMER_REAL, &timer), 0);
    assert_int_equal(timer.it_interval.tv_sec, 7);
    return timer.it_value.tv_sec * INT64_C(1000000) + timer.it_value.tv_usec;
}

static void the_callers_own_timer_goes_on_afterwards(void **state)
{
    struct place *place = *state;
    const struct itimerval timer = {.it_value = {.tv_sec = 1000},
                                    .it_interval = {.tv_sec = 7}};
    const struct itimerval off = {.it_value = {0}};
    struct hf_time start;
    int64_t left;
    int64_t passed;

    assert_int_equal(
        place->sys.try_lock(&place->sys, place->file, HF_LOCK_EXCLUSIVE), 0);
    on_alarm(count_alarm);
    start = place->sys.steady(&place->sys);
    setitimer(ITIMER_REAL, &timer, NULL);
    loses(place);
    left = left_us();
    passed = hf_time_since(place->sys.steady(&place->sys), start).ns / 1000;
    /* At least the 30 ms of the wait are gone, and not much more than passed.
     */
    assert_true(left <= 1000000000 - 30000);
    assert_true(left + passed >= 1000000000 - 1000);
    assert_int_equal(alarms, 0);
    setitimer(ITIMER_REAL, &off, NULL);
    on_alarm(SIG_DFL);
}

static void the_callers_timer_that_ran_out_meanwhile_goes_off(void **state)
{
    struct place *place = *state;
    const struct itimerval timer = {.it_value = {.tv_usec = 10000}};
    const struct timespec pause_for = {.tv_nsec = 1000000};

    assert_int_equal(
        place->sys.try_lock(&place->sys, place->file, HF_LOCK_EXCLUSIVE), 0);
    on_alarm(count_alarm);
    setitimer(ITIMER_REAL, &timer, NULL);
    loses(place);
    for (int turns = 0; turns < 10000 && alarms == 0; turns++)
        nanosleep(&pause_for, NULL);
    assert_int_equal(alarms, 1);
    on_alarm(SIG_DFL);
}

/* Does `pid` wait for a flock(2)? */
static bool waits_for_lock(pid_t pid)
{
    FILE *locks = fopen("/proc/locks", "re");
    char line[256];
    bool waits = false;

    while (locks && fgets(line, sizeof(line), locks)) {
        const char *arrow = strstr(line, "-> FLOCK");
        char digits[32];

        snprintf(digits, sizeof(digits), " %d ", (int)pid);
        waits |= arrow && strstr(arrow, digits) != NULL;
    }
    if (locks)
        fclose(locks);
    return waits;
}

/*
 * A child that holds the lock until its parent waits for it, then sends it
 * `signal` (0: none) until the handler has answered, then lets go.
 */
static pid_t start_holder(struct place *place, int signal, int *answer)
{
    const struct timespec pause_for = {.tv_nsec = 1000000};
    int ready[2];
    int answers[2];
    pid_t parent = getpid();
    pid_t child;
    char byte;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe2(answers, O_NONBLOCK), 0);
    child = fork();
    if (child == 0) {
        int left = 10000; /* turns of 1 ms */

        if (place->sys.try_lock(&place->sys, place->file, HF_LOCK_EXCLUSIVE) ||
            write(ready[1], "x", 1) != 1)
            _exit(1);
        while (left-- > 0 && !waits_for_lock(parent))
            nanosleep(&pause_for, NULL);
        if (signal)
            kill(parent, signal);
        while (signal && left-- > 0 && read(answers[0], &byte, 1) != 1)
            nanosleep(&pause_for, NULL);
        while (left-- > 0 && !waits_for_lock(parent))
            nanosleep(&pause_for, NULL);
        place->sys.unlock(&place->sys, place->file);
        _exit(left > 0 ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    close(answers[0]);
    *answer = answers[1];
    return child;
}

static volatile sig_atomic_t answer_to = -1;

static void answer_signal(int signal)
{
    (void)signal;
    if (write(answer_to, "x", 1) != 1)
        abort();
}

static void gets_it_once_it_is_free(struct place *place, struct hf_span limit,
                                    int signal)
{
    struct sigaction action = {.sa_handler = answer_signal};
    int status;
    int answer;
    pid_t child = start_holder(place, signal, &answer);

    answer_to = answer;
    if (signal)
        sigaction(signal, &action, NULL);
    /* Opened apart from the child's: a lock of our own. */
    assert_int_equal(
        place->sys.lock(&place->sys, place->other, HF_LOCK_EXCLUSIVE, limit),
        0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(place->sys.unlock(&place->sys, place->other), 0);
    close(answer);
}

static void a_wait_ends_when_the_lock_is_let_go(void **state)
{
    gets_it_once_it_is_free(*state, hf_span_ms(60000), 0);
    gets_it_once_it_is_free(*state, HF_SPAN_FOREVER, 0);
}

static void another_signal_does_not_end_the_wait(void **state)
{
    gets_it_once_it_is_free(*state, hf_span_ms(60000), SIGUSR1);
    gets_it_once_it_is_free(*state, HF_SPAN_FOREVER, SIGUSR1);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(the_steady_clock_is_monotonic_and_goes_on),
        IN_PLACE(a_time_namespace_reads_the_same_steady_clock),
        IN_PLACE(the_wall_clock_is_the_systems),
        IN_PLACE(the_boot_id_is_the_kernels),
        IN_PLACE(random_bytes_fill_what_was_asked_for),
        IN_PLACE(a_file_opens_closed_to_other_programs),
        IN_PLACE(reads_are_short_only_at_the_end),
        IN_PLACE(names_are_moved_made_and_removed),
        IN_PLACE(a_link_is_seen_as_a_link),
        IN_PLACE(modes_and_owners_are_changed_on_what_is_open),
        IN_PLACE(a_file_system_is_told_by_its_magic_number),
        IN_PLACE(an_exclusive_lock_keeps_all_others_out),
        IN_PLACE(shared_locks_stand_side_by_side),
        IN_PLACE(a_wait_ends_at_its_limit_and_not_before),
        IN_PLACE(a_wait_ends_although_the_caller_ignores_the_alarm),
        IN_PLACE(a_wait_ends_although_the_caller_blocks_the_alarm),
        IN_PLACE(the_callers_own_timer_goes_on_afterwards),
        IN_PLACE(the_callers_timer_that_ran_out_meanwhile_goes_off),
        IN_PLACE(a_wait_ends_when_the_lock_is_let_go),
        IN_PLACE(another_signal_does_not_end_the_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
