/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Reads up to size - 1 bytes, and ends them; false: no such file. */
static bool read_text(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return false;
    got = read(fd, to, size - 1);
    (void)close(fd);
    if (got < 0)
        return false;
    to[got] = '\0';
    return true;
}

static bool is_of_our_namespace(uint64_t inode)
{
    struct stat about;

    return stat("/proc/self/ns/pid", &about) == 0 && about.st_ino == inode;
}

/*
 * Fill `process` from /proc/PID/stat: "PID (NAME) STATE ... STARTTIME ...",
 * where NAME may hold anything, so its end is the last parenthesis. Field 22 is
 * the start, in ticks since boot.
 */
static bool read_process(uint32_t pid, struct process *process,
                         unsigned long long *start)
{
    char path[64];
    char text[1024];
    const char *name;
    const char *at;
    size_t size;
    int field;

    snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned)pid);
    if (!read_text(path, text, sizeof(text)))
        return false;
    name = strchr(text, '(');
    at = strrchr(text, ')');
    if (!name || !at || at < name || at[1] != ' ')
        return false;
    size = (size_t)(at - name) - 1;
    if (size >= sizeof(process->name))
        size = sizeof(process->name) - 1;
    memcpy(process->name, name + 1, size);
    process->name[size] = '\0';
    process->pid = pid;
    process->state = at[2];
    at += 2;
    for (field = 3; field < 22 && at; field++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    *start = strtoull(at, NULL, 10);
    return true;
}

/* Did it start after the hold began? Suspends make a process look older than it
 * is on the clock of holds, so that a holder is never taken for a stranger. */
static bool is_younger(unsigned long long start, int64_t age_ms)
{
    long ticks = sysconf(_SC_CLK_TCK);
    struct timespec now;
    int64_t own_ms;

    if (ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &now))
        return true;
    own_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 -
             (int64_t)(start * 1000 / (unsigned long long)ticks);
    /* A tick is coarse, and the grant's time is taken at its start. */
    return own_ms + 1000 < age_ms;
}

static void add_process(struct process_tree *tree, uint32_t pid)
{
    unsigned long long start;

    if (tree->count == PROCESSES_MAX)
        tree->more = true;
    else if (read_process(pid, &tree->list[tree->count], &start))
        tree->count++;
}

static void add_children(struct process_tree *tree, uint32_t pid)
{
    char path[64];
    char text[4096];
    char *at = text;

    snprintf(path, sizeof(path), "/proc/%u/task/%u/children", (unsigned)pid,
             (unsigned)pid);
    if (!read_text(path, text, sizeof(text)))
        return;
    for (;;) {
        char *end;
        unsigned long child = strtoul(at, &end, 10);

        if (end == at || tree->more)
            return;
        at = end;
        add_process(tree, (uint32_t)child);
    }
}

/* Was it started with this line in its environment? */
static bool has_in_environment(uint32_t pid, const char *wanted)
{
    char path[64];
    FILE *file;
    char *line = NULL;
    size_t room = 0;
    bool has = false;

    snprintf(path, sizeof(path), "/proc/%u/environ", (unsigned)pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    while (!has && getdelim(&line, &room, '\0', file) > 0)
        has = strcmp(line, wanted) == 0;
    free(line);
    fclose(file);
    return has;
}

static void add_those_of_session(struct process_tree *tree, const char *session)
{
    char wanted[128];
    const struct dirent *entry;
    DIR *proc = opendir("/proc");

    snprintf(wanted, sizeof(wanted), "LOCK_SESSION=%s", session);
    while (proc && (entry = readdir(proc))) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

        if (pid != 0 && has_in_environment(pid, wanted))
            add_process(tree, pid);
    }
    if (proc)
        closedir(proc);
}

void process_tree_read(const struct hf_holder *who, int64_t age_ms,
                       struct process_tree *tree)
{
    unsigned long long start;
    size_t i;

    memset(tree, 0, sizeof(*tree));
    if (who->pid == 0 || !is_of_our_namespace(who->pid_namespace))
        return;
    tree->has_lost_holder = !read_process(who->pid, &tree->list[0], &start) ||
                            tree->list[0].state == 'Z' ||
                            is_younger(start, age_ms);
    if (tree->has_lost_holder) {
        add_those_of_session(tree, who->session);
        return;
    }
    tree->count = 1;
    /* The list grows while it is walked: all that is below, level by level. */
    for (i = 0; i < tree->count; i++)
        add_children(tree, tree->list[i].pid);
}
