/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/lockrun/proc.h"

#define VERSION_1 "/sys/fs/cgroup/memory"
#define VERSION_2 "/sys/fs/cgroup"

/* Is "memory" one of the words of a list with commas, `size` bytes long? */
static bool names_memory(const char *list, size_t size)
{
    const char *end = list + size;

    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        size_t length = (size_t)((comma ? comma : end) - list);

        if (length == 6 && memcmp(list, "memory", 6) == 0)
            return true;
        list += length + 1;
    }
    return false;
}

/* In a file of lines "name number". -1: not there. */
static int64_t read_count(const char *path)
{
    static const char name[] = "oom_kill ";
    char text[512];
    const char *line;

    if (proc_read(path, text, sizeof(text)) < 0)
        return -1;
    for (line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, sizeof(name) - 1) == 0)
            return strtoll(line + sizeof(name) - 1, NULL, 10);
    }
    return -1;
}

static bool find(struct memory *memory, const char *root, const char *group,
                 const char *file)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof(path), "%s%s/%s", root,
                        group[1] ? group : "", file);

    if (size < 0 || (size_t)size >= sizeof(path))
        return false;
    memory->kills = read_count(path);
    if (memory->kills >= 0)
        memory->path = strdup(path);
    return memory->path != NULL;
}

/* In a container the group may be named as its host sees it, and be shown as
 * the root of what is mounted. */
static void find_one(struct memory *memory, const char *root, const char *group,
                     const char *file)
{
    if (!find(memory, root, group, file))
        (void)find(memory, root, "/", file);
}

void memory_begin(struct memory *memory)
{
    char text[8192];
    char *line = text;
    const char *group_2 = NULL;

    if (proc_read("/proc/self/cgroup", text, sizeof(text)) < 0)
        return;
    /* "number:controllers:group"; of version 2: "0::group". */
    while (line && *line) {
        char *end = strchr(line, '\n');
        char *list = strchr(line, ':');
        char *group = list ? strchr(list + 1, ':') : NULL;

        if (end)
            *end++ = '\0';
        if (group && group == list + 1) {
            group_2 = group + 1;
        } else if (group &&
                   names_memory(list + 1, (size_t)(group - list - 1))) {
            find_one(memory, VERSION_1, group + 1, "memory.oom_control");
            return;
        }
        line = end;
    }
    if (group_2)
        find_one(memory, VERSION_2, group_2, "memory.events");
}

bool memory_ran_out(const struct memory *memory)
{
    return memory->path && read_count(memory->path) > memory->kills;
}

void memory_clear(struct memory *memory)
{
    free(memory->path);
    memory->path = NULL;
}
