/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t proc_read_at(int dir, const char *path, char *to, size_t room)
{
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    ssize_t got = fd < 0 ? -1 : 1;

    while (got > 0 && size < room - 1) {
        got = read(fd, to + size, room - 1 - size);
        if (got > 0)
            size += (size_t)got;
    }
    if (got < 0)
        got = -errno;
    if (fd >= 0)
        close(fd);
    to[size] = '\0';
    return got < 0 ? got : (ssize_t)size;
}

ssize_t proc_read(const char *path, char *to, size_t room)
{
    return proc_read_at(AT_FDCWD, path, to, room);
}

bool proc_is_ours(void)
{
    static const char name[] = "\nNSpid:";
    char text[4096];
    const char *line;
    char *end;

    if (proc_read("/proc/self/status", text, sizeof(text)) <= 0)
        return false;
    /*
     * Our number in each namespace from that of /proc down to our own; a second
     * one means that other processes bear the numbers that we know. A kernel
     * without such namespaces has no such line.
     */
    line = strstr(text, name);
    return !line || (strtol(line + sizeof(name) - 1, &end, 10) == getpid() &&
                     *end == '\n');
}

/* The nth field of `text`, which begins in field `from`; "" if there is none.
 */
static const char *field(const char *text, int from, int nth)
{
    for (; from < nth; from++) {
        text = strchr(text, ' ');
        if (!text)
            return "";
        text++;
    }
    return text;
}

/* PF_EXITING of the kernel's flags, and SIGKILL in the mask of what pends. */
enum { FLAG_EXITING = 0x4, PENDING_KILL = 1 << (SIGKILL - 1) };

bool proc_about(pid_t pid, struct proc_about *about)
{
    char path[64];
    char text[1024];
    const char *open;
    const char *close;
    size_t size;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (proc_read(path, text, sizeof(text)) <= 0)
        return false;
    /* "PID (NAME) STATE PARENT ...": the name may hold anything. */
    open = strchr(text, '(');
    close = strrchr(text, ')');
    if (!open || !close || close < open || !close[1] || !close[2])
        return false;
    size = (size_t)(close - open) - 1;
    if (size >= sizeof(about->name))
        size = sizeof(about->name) - 1;
    memcpy(about->name, open + 1, size);
    about->name[size] = '\0';
    about->state = close[2];
    /* Numbered as in proc(5): the state is field 3. */
    about->parent = (pid_t)strtol(field(close + 2, 3, 4), NULL, 10);
    /* Of a process whose first thread has ended, others may go on. */
    about->is_over =
        about->state == 'X' ||
        (about->state == 'Z' && strtol(field(close + 2, 3, 20), NULL, 10) <= 1);
    about->is_ending =
        about->is_over ||
        (strtoul(field(close + 2, 3, 9), NULL, 10) & FLAG_EXITING) ||
        (strtoul(field(close + 2, 3, 31), NULL, 10) & PENDING_KILL);
    return true;
}

/* Its signals, as lines of its status. */
static bool read_status(pid_t pid, char text[4096])
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    return proc_read(path, text, 4096) > 0;
}

/* Of its status, the line that begins so; 0 where that is not told. */
static uint64_t signal_mask(const char *status, const char *name)
{
    const char *at = strstr(status, name);

    return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

#define BIT_OF(number) (UINT64_C(1) << ((number)-1))

bool proc_is_pending(pid_t pid, int number)
{
    char text[4096];

    return read_status(pid, text) &&
           signal_mask(text, "\nShdPnd:") & BIT_OF(number);
}

bool proc_is_to_stop(pid_t pid)
{
    const uint64_t stops =
        BIT_OF(SIGSTOP) | BIT_OF(SIGTSTP) | BIT_OF(SIGTTIN) | BIT_OF(SIGTTOU);
    uint64_t pending;
    char text[4096];

    if (!read_status(pid, text))
        return false;
    pending = signal_mask(text, "\nSigPnd:") | signal_mask(text, "\nShdPnd:");
    return pending & stops & ~signal_mask(text, "\nSigBlk:") &
           ~signal_mask(text, "\nSigIgn:") & ~signal_mask(text, "\nSigCgt:");
}

void proc_wait_place(pid_t pid, char to[64])
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/wchan", (int)pid);
    if (proc_read(path, to, 64) <= 0 || strcmp(to, "0") == 0)
        to[0] = '\0';
}

/* The next entry that is a number, 0 at the end. */
static pid_t next_number(DIR *dir)
{
    const struct dirent *entry;

    while ((entry = readdir(dir))) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            return (pid_t)strtol(entry->d_name, NULL, 10);
    }
    return 0;
}

bool proc_children(pid_t pid, struct pids *to)
{
    char path[96];
    char text[65536];
    DIR *dir;
    pid_t thread;
    bool was_read = false;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    /* Gone since: nothing to read, and nothing wrong. */
    if (!dir)
        return errno == ENOENT;
    while ((thread = next_number(dir))) {
        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid,
                 (int)thread);
        if (proc_read(path, text, sizeof(text)) >= 0) {
            pids_add_text(to, text);
            was_read = true;
        }
    }
    closedir(dir);
    return was_read;
}

void proc_scan(struct pids *tree)
{
    DIR *dir = opendir("/proc");
    struct proc_about about;
    bool found = dir != NULL;
    pid_t pid;

    /* A child may be listed before its parent: until nothing new is seen. */
    while (found) {
        found = false;
        rewinddir(dir);
        while ((pid = next_number(dir))) {
            if (proc_about(pid, &about) && pids_has(tree, about.parent) &&
                !pids_has(tree, pid)) {
                pids_add(tree, pid);
                found = !tree->is_cut;
            }
        }
    }
    if (dir)
        closedir(dir);
}
