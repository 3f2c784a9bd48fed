/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: stand WHOSE NTH WITH MS FILE COMMAND [WORD...]
 *
 * Runs COMMAND (a lockrun) in a process group of its own and stops it once a
 * process has made so many calls to the kernel: WHOSE is `lockrun` or
 * `guardian`, NTH the last call that it makes before. WITH tells who stops
 * then: `one`, `group` (the process group) or `all` (the guardian as well).
 * FILE is made then, and after MS milliseconds all goes on; FILE.on is made,
 * and the exit status is COMMAND's, or 128 and the signal. 200: it ended before
 * the call; 201: this program could not do it.
 *
 * Nobody is traced any longer once it stops: the state is a plain T.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ENDED_BEFORE = 200, FAILED = 201, CHILDREN_MAX = 64 };

static void check(bool is_good, const char *what)
{
    if (is_good)
        return;
    fprintf(stderr, "stand: %s: %s\n", what, strerror(errno));
    exit(FAILED);
}

/* 0: it begins with none. */
static long number_of(const char *text)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    return errno || end == text ? 0 : number;
}

static void rest(long ms)
{
    const struct timespec span = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&span, NULL);
}

static int status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void make_file(const char *path, const char *suffix)
{
    char name[4096];
    int fd;

    snprintf(name, sizeof(name), "%s%s", path, suffix);
    fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    check(fd >= 0, name);
    close(fd);
}

/* It runs once `gate` is closed at the other end. */
static pid_t begin(char **command, int *gate)
{
    int ends[2];
    char byte;
    pid_t pid;

    check(!pipe2(ends, O_CLOEXEC), "pipe2");
    pid = fork();
    check(pid >= 0, "fork");
    if (pid) {
        close(ends[0]);
        *gate = ends[1];
        return pid;
    }
    close(ends[1]);
    (void)setsid();
    (void)!read(ends[0], &byte, 1);
    execvp(command[0], command);
    fprintf(stderr, "stand: %s: %s\n", command[0], strerror(errno));
    _exit(FAILED);
}

static void seize(pid_t pid, int gate, bool wants_guardian)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
                         (wants_guardian ? PTRACE_O_TRACEFORK : 0);

    check(!ptrace(PTRACE_SEIZE, pid, NULL, options), "PTRACE_SEIZE");
    close(gate);
}

/* Its first child is traced in its place. */
static pid_t take_child(pid_t pid)
{
    unsigned long child;
    int status;

    check(!ptrace(PTRACE_GETEVENTMSG, pid, NULL, &child), "PTRACE_GETEVENTMSG");
    check(waitpid((pid_t)child, &status, __WALL) > 0, "waitpid");
    check(!ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD),
          "PTRACE_SETOPTIONS");
    check(!ptrace(PTRACE_DETACH, pid, NULL, 0), "PTRACE_DETACH");
    return (pid_t)child;
}

/* False: it ended before; *status is how. */
static bool stop_at(pid_t *traced, bool wants_guardian, long nth, int *status)
{
    bool has_begun = false;
    bool is_inside = false;
    long count = 0;

    for (;;) {
        int signal = 0;
        int event;

        check(waitpid(*traced, status, __WALL) > 0, "waitpid");
        if (!WIFSTOPPED(*status))
            return false;
        event = *status >> 16;
        if (WSTOPSIG(*status) == (SIGTRAP | 0x80)) {
            is_inside = !is_inside;
            if (has_begun && !is_inside && ++count == nth)
                break;
        } else if (event == PTRACE_EVENT_EXEC) {
            has_begun = !wants_guardian;
        } else if (event == PTRACE_EVENT_FORK) {
            *traced = take_child(*traced);
            has_begun = true;
            is_inside = false;
        } else if (event == 0) {
            signal = WSTOPSIG(*status);
        }
        check(!ptrace(PTRACE_SYSCALL, *traced, NULL, (long)signal),
              "PTRACE_SYSCALL");
    }
    check(!ptrace(PTRACE_DETACH, *traced, NULL, (long)SIGSTOP),
          "PTRACE_DETACH");
    return true;
}

static pid_t parent_of(const char *pid)
{
    char path[64];
    char text[512];
    const char *at;
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    got = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[got < 0 ? 0 : got] = '\0';
    at = strrchr(text, ')');
    return at && strlen(at) > 4 ? (pid_t)number_of(at + 4) : 0;
}

static void signal_children(pid_t parent, int number)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;

    check(proc, "/proc");
    while ((entry = readdir(proc)))
        if (number_of(entry->d_name) > 0 && parent_of(entry->d_name) == parent)
            (void)kill((pid_t)number_of(entry->d_name), number);
    closedir(proc);
}

static void stop_others(pid_t lockrun, const char *with)
{
    int round;

    /* One that was just being made is there the second time. */
    for (round = 0; round < 2; round++) {
        if (strcmp(with, "one"))
            (void)kill(-lockrun, SIGSTOP);
        if (!strcmp(with, "all"))
            signal_children(lockrun, SIGSTOP);
        rest(20);
    }
}

int main(int argc, char **argv)
{
    bool wants_guardian;
    pid_t lockrun;
    pid_t traced;
    int status;
    int gate;

    if (argc < 7)
        return FAILED;
    wants_guardian = !strcmp(argv[1], "guardian");
    lockrun = traced = begin(argv + 6, &gate);
    seize(lockrun, gate, wants_guardian);
    if (!stop_at(&traced, wants_guardian, number_of(argv[2]), &status)) {
        if (traced != lockrun)
            check(waitpid(lockrun, &status, 0) > 0, "waitpid");
        return status_of(status) ? status_of(status) : ENDED_BEFORE;
    }
    stop_others(lockrun, argv[3]);
    make_file(argv[5], "");
    rest(number_of(argv[4]));
    (void)kill(-lockrun, SIGCONT);
    signal_children(lockrun, SIGCONT);
    (void)kill(traced, SIGCONT);
    make_file(argv[5], ".on");
    check(waitpid(lockrun, &status, 0) > 0, "waitpid");
    return status_of(status);
}
