/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/pause_proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICK_MS = 5, STOP_TICKS = 400, PARENTS_MAX = 8192 };

enum hf_err pause_adopt_orphans(struct hf_error *error)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                  "the kernel hands over no orphans");
    return HF_ERR_OK;
}

/* ---- who is there ----------------------------------------------------------
 */

/* State letter and parent of a process, out of /proc/PID/stat: they stand
 * behind the name, which may hold anything. */
static bool read_stat(pid_t pid, char *state, pid_t *parent)
{
    char path[40];
    char text[512];
    const char *at;
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    at = strrchr(text, ')');
    if (!at || at[1] != ' ' || !at[2] || at[3] != ' ')
        return false;
    *state = at[2];
    *parent = (pid_t)strtol(at + 4, NULL, 10);
    return true;
}

struct process {
    pid_t pid;
    pid_t parent;
};

static size_t read_processes(struct process *all)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    size_t count = 0;

    if (!folder)
        return 0;
    while ((entry = readdir(folder)) && count < PARENTS_MAX) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        char state;

        if (pid > 0 && read_stat(pid, &state, &all[count].parent) &&
            state != 'Z' && state != 'X')
            all[count++].pid = pid;
    }
    closedir(folder);
    return count;
}

static bool is_among(const pid_t *pids, int count, pid_t pid)
{
    for (int i = 0; i < count; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

int pause_descendants(pid_t pids[PAUSE_PIDS_MAX])
{
    struct process *all = calloc(PARENTS_MAX, sizeof(*all));
    size_t there = all ? read_processes(all) : 0;
    int count = 0;
    int before = -1;

    /* A parent may be listed behind its child: go round until none is new. */
    while (count != before) {
        before = count;
        for (size_t i = 0; i < there && count < PAUSE_PIDS_MAX; i++)
            if ((all[i].parent == getpid() ||
                 is_among(pids, count, all[i].parent)) &&
                !is_among(pids, count, all[i].pid))
                pids[count++] = all[i].pid;
    }
    free(all);
    return count;
}

/* ---- stopping and ending ----------------------------------------------------
 */

static bool is_stopped(pid_t pid)
{
    pid_t parent;
    char state;

    return !read_stat(pid, &state, &parent) || state == 'T' || state == 't' ||
           state == 'Z' || state == 'X';
}

bool pause_is_alive(pid_t pid)
{
    pid_t parent;
    char state;

    return read_stat(pid, &state, &parent) && state != 'Z' && state != 'X';
}

enum hf_err pause_stop_all(pid_t pids[PAUSE_PIDS_MAX], int *count,
                           struct hf_error *error)
{
    int quiet = 0;

    /* Twice in a row nobody moves and nobody is new: none is left that could
     * start another. */
    for (int tick = 0; tick < STOP_TICKS && quiet < 2; tick++) {
        bool moves = false;

        *count = pause_descendants(pids);
        for (int i = 0; i < *count; i++)
            if (!is_stopped(pids[i])) {
                moves = true;
                kill(pids[i], SIGSTOP);
            }
        quiet = moves ? 0 : quiet + 1;
        if (moves)
            poll(NULL, 0, TICK_MS);
    }
    return quiet == 2 ? HF_ERR_OK
                      : hf_error_set(error, HF_ERR_UNAVAILABLE,
                                     "the first holder's processes could not "
                                     "all be stopped");
}

void pause_continue(const pid_t *pids, int count)
{
    for (int i = 0; i < count; i++)
        kill(pids[i], SIGCONT);
}

void pause_kill_all(void)
{
    static pid_t pids[PAUSE_PIDS_MAX];

    for (int tick = 0; tick < STOP_TICKS; tick++) {
        int count = pause_descendants(pids);

        for (int i = 0; i < count; i++)
            kill(pids[i], SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (!count)
            return;
        poll(NULL, 0, TICK_MS);
    }
}

/* ---- lines ------------------------------------------------------------------
 */

int pause_status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
                                    : WEXITSTATUS(wait_status);
}

bool pause_wait(struct hf_sys *sys, pid_t child, struct hf_span limit,
                int *status)
{
    struct hf_time end = hf_time_add(sys->steady(sys), limit);
    int fd = (int)syscall(SYS_pidfd_open, child, 0);
    int wait_status = 0;
    pid_t ended;

    for (;;) {
        struct pollfd about = {.fd = fd, .events = POLLIN};
        struct hf_span left = hf_time_since(end, sys->steady(sys));

        ended = waitpid(child, &wait_status, WNOHANG);
        if (ended || left.ns <= 0)
            break;
        poll(&about, 1, fd < 0 ? TICK_MS : (int)hf_span_to_ms_up(left));
    }
    if (fd >= 0)
        close(fd);
    if (ended != child)
        return false;
    *status = pause_status_of(wait_status);
    return true;
}

/* In the child: never returns. */
static void become_line(const char *line, char *const *environment,
                        const char *output_path)
{
    const char *words[] = {"sh", "-c", line, NULL};
    int nothing = open("/dev/null", O_RDONLY);
    int output =
        open(output_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (nothing >= 0 && output >= 0 && dup2(nothing, 0) == 0 &&
        dup2(output, 1) == 1 && dup2(output, 2) == 2)
        execve("/bin/sh", (char *const *)words, environment);
    _exit(127);
}

enum hf_err pause_start_line(const char *line, char *const *environment,
                             const char *output_path, pid_t *child,
                             struct hf_error *error)
{
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        become_line(line, environment, output_path);
    }
    if (pid < 0)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                  "cannot start a shell");
    setpgid(pid, pid);
    *child = pid;
    return HF_ERR_OK;
}

enum hf_err pause_run_line(struct hf_sys *sys, const char *line,
                           char *const *environment, const char *output_path,
                           struct hf_span limit, struct pause_result *result,
                           struct hf_error *error)
{
    struct hf_time begun = sys->steady(sys);
    pid_t child;
    enum hf_err failed =
        pause_start_line(line, environment, output_path, &child, error);

    if (failed)
        return failed;
    *result = (struct pause_result){.status = 0};
    if (!pause_wait(sys, child, limit, &result->status)) {
        result->is_over_time = true;
        kill(-child, SIGKILL);
        if (!pause_wait(sys, child, hf_span_ms(2000), &result->status))
            result->status = 128 + SIGKILL;
    }
    result->took = hf_time_since(sys->steady(sys), begun);
    pause_last_line(output_path, result->said);
    return HF_ERR_OK;
}

void pause_last_line(const char *path, char said[PAUSE_SAID_SIZE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char text[2048];
    ssize_t got = 0;
    off_t size;
    char *line;

    said[0] = '\0';
    if (fd < 0)
        return;
    size = lseek(fd, 0, SEEK_END);
    if (size > 0)
        got = pread(fd, text, sizeof(text) - 1,
                    size > (off_t)sizeof(text) - 1
                        ? size - (off_t)(sizeof(text) - 1)
                        : 0);
    close(fd);
    while (got > 0 && (text[got - 1] == '\n' || text[got - 1] == ' '))
        got--;
    if (got <= 0)
        return;
    text[got] = '\0';
    line = strrchr(text, '\n');
    snprintf(said, PAUSE_SAID_SIZE, "%.239s", line ? line + 1 : text);
}
