/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define CGROUP2_MAGIC UINT64_C(0x63677270)
/* How lockrun names the groups that it makes (cmd/lockrun/cgroup.c). */
#define PREFIX "/holdfast-"
/* What was killed is gone within a moment, unless it hangs in the kernel; the
 * others wait at the gate for as long. */
#define KILL_LIMIT hf_span_ms(1000)

/* Path of the folder above; false for none. */
static bool parent_of(const char *path, char *to, size_t size)
{
    const char *slash = strrchr(path, '/');

    if (!slash || slash == path || (size_t)(slash - path) >= size)
        return false;
    memcpy(to, path, (size_t)(slash - path));
    to[slash - path] = '\0';
    return true;
}

void hf_sqlite_cgroup_identify(struct hf_sqlite *sq, const char *path,
                               struct hf_sqlite_session_head *head)
{
    char parent[HF_SQLITE_CGROUP_MAX];
    struct stat own;
    struct stat above;

    if (!parent_of(path, parent, sizeof(parent)) ||
        sq->sys->lstat(sq->sys, AT_FDCWD, path, &own) ||
        sq->sys->lstat(sq->sys, AT_FDCWD, parent, &above))
        return;
    head->cgroup_ino = own.st_ino;
    head->cgroup_parent_ino = above.st_ino;
}

static bool is_same_parent(struct hf_sqlite *sq, const char *path,
                           uint64_t parent_ino)
{
    char parent[HF_SQLITE_CGROUP_MAX];
    struct stat about;
    uint64_t magic = 0;
    int fd;

    if (!parent_ino || !parent_of(path, parent, sizeof(parent)))
        return false;
    fd = sq->sys->open(sq->sys, AT_FDCWD, parent,
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd < 0)
        return false;
    if (sq->sys->fs_type(sq->sys, fd, &magic) ||
        sq->sys->fstat(sq->sys, fd, &about))
        magic = 0;
    sq->sys->close(sq->sys, fd);
    return magic == CGROUP2_MAGIC && about.st_ino == parent_ino;
}

static int open_file(struct hf_sqlite *sq, const char *path, const char *name,
                     int flags)
{
    char file[HF_SQLITE_CGROUP_MAX + 16];

    snprintf(file, sizeof(file), "%s/%s", path, name);
    return sq->sys->open(sq->sys, AT_FDCWD, file, flags | O_NOFOLLOW, 0);
}

static bool says_empty(struct hf_sqlite *sq, int events)
{
    char text[256];
    ssize_t got = sq->sys->pread(sq->sys, events, text, sizeof(text) - 1, 0);

    /* The folder was removed since it was opened: only an empty one is. */
    if (got < 0)
        return got == -ENODEV;
    text[got] = '\0';
    return strstr(text, "populated 0") != NULL;
}

bool hf_sqlite_cgroup_is_empty(struct hf_sqlite *sq, const char *path,
                               const struct hf_sqlite_session_head *head)
{
    struct stat about;
    bool is_empty;
    int got;
    int fd;

    if (!head->cgroup_size ||
        !is_same_parent(sq, path, head->cgroup_parent_ino))
        return false;
    got = sq->sys->lstat(sq->sys, AT_FDCWD, path, &about);
    if (got == -ENOENT || (!got && about.st_ino != head->cgroup_ino))
        return true;
    if (got)
        return false;
    fd = open_file(sq, path, "cgroup.events", O_RDONLY);
    if (fd < 0)
        return false;
    is_empty = says_empty(sq, fd);
    sq->sys->close(sq->sys, fd);
    return is_empty;
}

static bool may_be_killed(struct hf_sqlite *sq, const char *path,
                          const struct hf_sqlite_session_head *head, uid_t uid)
{
    const char *slash = strrchr(path, '/');
    struct stat about;

    return head->cgroup_size && slash &&
           !strncmp(slash, PREFIX, sizeof(PREFIX) - 1) &&
           is_same_parent(sq, path, head->cgroup_parent_ino) &&
           !sq->sys->lstat(sq->sys, AT_FDCWD, path, &about) &&
           about.st_ino == head->cgroup_ino && about.st_uid == uid;
}

static bool wait_until_empty(struct hf_sqlite *sq, int events)
{
    struct hf_sys *sys = sq->sys;
    struct hf_time until = hf_time_add(sys->steady(sys), KILL_LIMIT);
    struct pollfd change = {.fd = events, .events = POLLPRI};

    while (!says_empty(sq, events)) {
        struct hf_span left = hf_time_since(until, sys->steady(sys));

        if (left.ns <= 0)
            return false;
        (void)poll(&change, 1, (int)hf_span_to_ms_up(left));
    }
    return true;
}

bool hf_sqlite_cgroup_kill(struct hf_sqlite *sq, const char *path,
                           const struct hf_sqlite_session_head *head, uid_t uid)
{
    struct hf_sys *sys = sq->sys;
    bool is_empty = true;
    ssize_t put = -1;
    int events;
    int fd;

    if (!may_be_killed(sq, path, head, uid))
        return true;
    events = open_file(sq, path, "cgroup.events", O_RDONLY);
    fd = open_file(sq, path, "cgroup.kill", O_WRONLY);
    if (fd >= 0) {
        put = sys->pwrite(sys, fd, "1", 1, 0);
        sys->close(sys, fd);
    }
    if (events >= 0) {
        is_empty =
            put > 0 ? wait_until_empty(sq, events) : says_empty(sq, events);
        sys->close(sys, events);
    }
    return is_empty;
}
