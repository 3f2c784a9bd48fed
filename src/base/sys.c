/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

/* So often the processor is given away before a lock is waited for. */
enum { LOCK_YIELDS = 8 };

/* ---- clocks ------------------------------------------------------------ */

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;

    /* Cannot fail: both clocks exist wherever Linux runs. */
    clock_gettime(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/*
 * The number of the first time namespace, fixed by the kernel: one stat(2)
 * spares nearly everybody the reading of a file.
 */
#define FIRST_TIME_NAMESPACE 0xEFFFFFFAU

/*
 * Offset of this process's time namespace, 0 where there are none; 0 or -errno.
 * The file tells it of the namespace that children will get; the two differ
 * only in a process that unshared its own and did not fork since.
 */
static int namespace_offset(int64_t *ns)
{
    struct stat own;
    char text[256];
    char *monotonic;
    int64_t seconds;
    ssize_t size;
    int errnum;
    int fd;

    *ns = 0;
    if (stat("/proc/self/ns/time", &own))
        return errno == ENOENT ? 0 : -errno;
    if (own.st_ino == FIRST_TIME_NAMESPACE)
        return 0;
    fd = TEMP_FAILURE_RETRY(
        open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC));
    if (fd < 0)
        return -errno;
    size = TEMP_FAILURE_RETRY(read(fd, text, sizeof(text) - 1));
    errnum = errno;
    close(fd);
    if (size < 0)
        return -errnum;
    text[size] = '\0';
    monotonic = strstr(text, "monotonic");
    if (!monotonic)
        return -EIO;
    /* Seconds, perhaps negative, and nanoseconds, never so. */
    seconds = strtoll(monotonic + strlen("monotonic"), &monotonic, 10);
    *ns = seconds * NS_PER_S + strtoll(monotonic, NULL, 10);
    return 0;
}

static int learn_offset(struct hf_sys *sys)
{
    int err = sys->offset_is_known ? 0 : namespace_offset(&sys->offset_ns);

    sys->offset_is_known = !err;
    return err;
}

static struct hf_time real_steady(struct hf_sys *sys)
{
    (void)learn_offset(sys);
    return (struct hf_time){read_clock(CLOCK_MONOTONIC) - sys->offset_ns};
}

static struct hf_wall real_wall(struct hf_sys *sys)
{
    (void)sys;
    return (struct hf_wall){read_clock(CLOCK_REALTIME)};
}

static bool real_wall_is_trusted(struct hf_sys *sys)
{
    struct timex state = {.modes = 0};
    int answer;

    (void)sys;
    answer = adjtimex(&state);
    return answer >= 0 && answer != TIME_ERROR && !(state.status & STA_UNSYNC);
}

/* ---- boot id and random bytes ------------------------------------------ */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* 32 hex digits with '-' between some of them. */
static int parse_boot_id(const char *text, uint8_t id[HF_BOOT_ID_SIZE])
{
    uint8_t parsed[HF_BOOT_ID_SIZE] = {0};
    size_t digits = 0;

    for (; *text && *text != '\n'; text++) {
        int digit = hex_digit(*text);

        if (*text == '-')
            continue;
        if (digit < 0 || digits == 2 * HF_BOOT_ID_SIZE)
            return -EIO;
        parsed[digits / 2] = (uint8_t)(parsed[digits / 2] << 4 | digit);
        digits++;
    }
    if (digits != 2 * HF_BOOT_ID_SIZE)
        return -EIO;
    memcpy(id, parsed, sizeof(parsed));
    return 0;
}

static int real_boot_id(struct hf_sys *sys, uint8_t id[HF_BOOT_ID_SIZE])
{
    char text[64];
    ssize_t size;
    int errnum;
    int fd;

    errnum = learn_offset(sys);
    if (errnum)
        return errnum;
    if (sys->boot_is_known) {
        memcpy(id, sys->boot, sizeof(sys->boot));
        return 0;
    }
    fd = TEMP_FAILURE_RETRY(
        open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    if (fd < 0)
        return -errno;
    size = TEMP_FAILURE_RETRY(read(fd, text, sizeof(text) - 1));
    errnum = errno;
    close(fd);
    if (size < 0)
        return -errnum;
    text[size] = '\0';
    errnum = parse_boot_id(text, sys->boot);
    if (errnum)
        return errnum;
    sys->boot_is_known = true;
    memcpy(id, sys->boot, sizeof(sys->boot));
    return 0;
}

static int real_random(struct hf_sys *sys, void *to, size_t bytes)
{
    uint8_t *next = to;

    (void)sys;
    while (bytes > 0) {
        ssize_t got = getrandom(next, bytes, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        next += got;
        bytes -= (size_t)got;
    }
    return 0;
}

/* ---- files ------------------------------------------------------------- */

/* A call's result as the seam tells it; stands right behind the call. */
static long told(long result)
{
    return result < 0 ? -errno : result;
}

static int real_open(struct hf_sys *sys, int dir, const char *path, int flags,
                     mode_t mode)
{
    (void)sys;
    return (int)told(
        TEMP_FAILURE_RETRY(openat(dir, path, flags | O_CLOEXEC, mode)));
}

static int real_close(struct hf_sys *sys, int fd)
{
    (void)sys;
    /* Linux has closed it when it says EINTR: a second try could hit another's
     * descriptor. */
    if (close(fd) && errno != EINTR)
        return -errno;
    return 0;
}

static ssize_t real_pread(struct hf_sys *sys, int fd, void *to, size_t bytes,
                          off_t offset)
{
    char *next = to;
    size_t done = 0;

    (void)sys;
    while (done < bytes) {
        long got = told(TEMP_FAILURE_RETRY(
            pread(fd, next + done, bytes - done, offset + (off_t)done)));

        if (got < 0)
            return got;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static ssize_t real_pwrite(struct hf_sys *sys, int fd, const void *from,
                           size_t bytes, off_t offset)
{
    const char *next = from;
    size_t done = 0;

    (void)sys;
    while (done < bytes) {
        long put = told(TEMP_FAILURE_RETRY(
            pwrite(fd, next + done, bytes - done, offset + (off_t)done)));

        if (put < 0)
            return put;
        if (put == 0)
            return -EIO;
        done += (size_t)put;
    }
    return (ssize_t)done;
}

static int real_truncate(struct hf_sys *sys, int fd, off_t size)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(ftruncate(fd, size)));
}

static int real_fsync(struct hf_sys *sys, int fd)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(fsync(fd)));
}

static int real_rename(struct hf_sys *sys, int from_dir, const char *from,
                       int to_dir, const char *to)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(renameat(from_dir, from, to_dir, to)));
}

static int real_unlink(struct hf_sys *sys, int dir, const char *path)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(unlinkat(dir, path, 0)));
}

static int real_mkdir(struct hf_sys *sys, int dir, const char *path,
                      mode_t mode)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(mkdirat(dir, path, mode)));
}

static int real_mkfifo(struct hf_sys *sys, int dir, const char *path,
                       mode_t mode)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(mkfifoat(dir, path, mode)));
}

static int real_fstat(struct hf_sys *sys, int fd, struct stat *to)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(fstat(fd, to)));
}

static int real_lstat(struct hf_sys *sys, int dir, const char *path,
                      struct stat *to)
{
    (void)sys;
    return (int)told(
        TEMP_FAILURE_RETRY(fstatat(dir, path, to, AT_SYMLINK_NOFOLLOW)));
}

static int real_fchmod(struct hf_sys *sys, int fd, mode_t mode)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(fchmod(fd, mode)));
}

static int real_fchown(struct hf_sys *sys, int fd, uid_t uid, gid_t gid)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(fchown(fd, uid, gid)));
}

static int real_fs_type(struct hf_sys *sys, int fd, uint64_t *type)
{
    struct statfs about;
    long result = told(TEMP_FAILURE_RETRY(fstatfs(fd, &about)));

    (void)sys;
    if (result < 0)
        return (int)result;
    /* A magic number has 32 bits, whatever sign f_type gives it. */
    *type = (uint32_t)about.f_type;
    return 0;
}

/* ---- locks ------------------------------------------------------------- */

static int operation(enum hf_lock_mode mode)
{
    return mode == HF_LOCK_SHARED ? LOCK_SH : LOCK_EX;
}

static int real_try_lock(struct hf_sys *sys, int fd, enum hf_lock_mode mode)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(flock(fd, operation(mode) | LOCK_NB)));
}

/* The handler's only work is to make flock(2) return. */
static void interrupt(int signal)
{
    (void)signal;
}

/* What the caller had, put back afterwards. */
struct alarm_state {
    struct itimerval timer;
    struct sigaction action;
    sigset_t mask;
    bool was_pending;
    int64_t since;
};

static struct timeval timeval_of(int64_t ns)
{
    /* Zero would mean "never". */
    if (ns < 1000)
        ns = 1000;
    return (struct timeval){.tv_sec = ns / NS_PER_S,
                            .tv_usec = ns % NS_PER_S / 1000};
}

/*
 * SIGALRM once `limit_ns` have passed, and every 10 ms from then on: a signal
 * that comes right before flock(2) begins would interrupt nothing. SIGALRM is
 * blocked while things change hands, so that none of the caller's is lost.
 */
static void alarm_arm(struct alarm_state *former, int64_t limit_ns)
{
    struct sigaction action = {.sa_handler = interrupt};
    struct itimerval timer = {.it_value = {0}};
    sigset_t alarm_alone;
    sigset_t pending;

    sigemptyset(&alarm_alone);
    sigaddset(&alarm_alone, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm_alone, &former->mask);
    setitimer(ITIMER_REAL, &timer, &former->timer);
    former->since = read_clock(CLOCK_MONOTONIC);
    sigpending(&pending);
    former->was_pending = sigismember(&pending, SIGALRM) == 1;
    sigaction(SIGALRM, &action, &former->action);
    timer.it_value = timeval_of(limit_ns);
    timer.it_interval.tv_usec = 10000;
    setitimer(ITIMER_REAL, &timer, NULL);
    sigprocmask(SIG_UNBLOCK, &alarm_alone, NULL);
}

/* What is left of the caller's timer after `passed_ns`, never nothing. */
static struct timeval timer_rest(struct timeval value, int64_t passed_ns)
{
    return timeval_of(value.tv_sec * NS_PER_S + value.tv_usec * 1000 -
                      passed_ns);
}

static void alarm_disarm(const struct alarm_state *former)
{
    struct itimerval timer = {.it_value = {0}};

    /* Off first: what it sent has been handled when this call returns. */
    setitimer(ITIMER_REAL, &timer, NULL);
    sigaction(SIGALRM, &former->action, NULL);
    sigprocmask(SIG_SETMASK, &former->mask, NULL);
    if (former->timer.it_value.tv_sec || former->timer.it_value.tv_usec) {
        timer = former->timer;
        timer.it_value = timer_rest(
            timer.it_value, read_clock(CLOCK_MONOTONIC) - former->since);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    if (former->was_pending)
        kill(getpid(), SIGALRM);
}

static int real_lock(struct hf_sys *sys, int fd, enum hf_lock_mode mode,
                     struct hf_span limit)
{
    int result = real_try_lock(sys, fd, mode);
    struct alarm_state former;
    int64_t deadline;

    if (result == -EWOULDBLOCK && limit.ns <= 0)
        return -ETIMEDOUT;
    /* Most often whoever has it lets go as soon as it runs. With a thousand who
     * want it that is cheaper than a place in the kernel's queue, which is
     * walked for each newcomer. */
    for (int i = 0; i < LOCK_YIELDS && result == -EWOULDBLOCK; i++) {
        (void)sched_yield();
        result = real_try_lock(sys, fd, mode);
    }
    if (result != -EWOULDBLOCK)
        return result;
    if (limit.ns == INT64_MAX)
        return (int)told(TEMP_FAILURE_RETRY(flock(fd, operation(mode))));
    deadline = hf_sum_ns(read_clock(CLOCK_MONOTONIC), limit.ns);
    alarm_arm(&former, limit.ns);
    do {
        result = (int)told(flock(fd, operation(mode)));
        if (result == -EINTR && read_clock(CLOCK_MONOTONIC) >= deadline)
            result = -ETIMEDOUT;
    } while (result == -EINTR);
    alarm_disarm(&former);
    return result;
}

static int real_unlock(struct hf_sys *sys, int fd)
{
    (void)sys;
    return (int)told(TEMP_FAILURE_RETRY(flock(fd, LOCK_UN)));
}

void hf_sys_init_real(struct hf_sys *sys)
{
    *sys = (struct hf_sys){
        .steady = real_steady,
        .wall = real_wall,
        .wall_is_trusted = real_wall_is_trusted,
        .boot_id = real_boot_id,
        .random = real_random,
        .open = real_open,
        .close = real_close,
        .pread = real_pread,
        .pwrite = real_pwrite,
        .truncate = real_truncate,
        .fsync = real_fsync,
        .rename = real_rename,
        .unlink = real_unlink,
        .mkdir = real_mkdir,
        .mkfifo = real_mkfifo,
        .fstat = real_fstat,
        .lstat = real_lstat,
        .fchmod = real_fchmod,
        .fchown = real_fchown,
        .fs_type = real_fs_type,
        .try_lock = real_try_lock,
        .lock = real_lock,
        .unlock = real_unlock,
    };
}
