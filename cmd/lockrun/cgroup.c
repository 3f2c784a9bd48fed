/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "cmd/lockrun/proc.h"

/* Where nearly every system mounts it: alone, or beside version 1. */
static const char *const usual_places[] = {"/sys/fs/cgroup",
                                           "/sys/fs/cgroup/unified"};
/* Groups that the job made are removed up to this many; more are left empty. */
enum { REMOVALS_MAX = 256 };
/* What comes before the session's id in the name of a group. */
#define PREFIX "holdfast-"
/* A group this old has been used: its lockrun is not just about to. */
enum { ABANDONED_AFTER_S = 3600 };

/* ---- where lockrun is ------------------------------------------------------
 */

/* Our own group, as seen from the root of the tree that we see. */
static int read_own_path(char path[PATH_MAX], const char **what)
{
    char text[8192];
    ssize_t size = proc_read("/proc/self/cgroup", text, sizeof(text));
    char *line;
    char *end;

    *what = "/proc/self/cgroup";
    if (size < 0)
        return (int)-size;
    line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    *what = "no cgroup of version 2";
    if (!line)
        return ENOENT;
    line = strchr(line, '/');
    end = line ? strchr(line, '\n') : NULL;
    if (!end || end - line >= PATH_MAX)
        return ENAMETOOLONG;
    *end = '\0';
    /* Outside of what this namespace sees, or removed: not to be reached. */
    if (strstr(line, "/..") || strstr(line, " (deleted)"))
        return ENOENT;
    memcpy(path, line[1] ? line : "", line[1] ? (size_t)(end - line) + 1 : 1);
    return 0;
}

static bool is_version_2(const char *folder)
{
    struct statfs about;

    return statfs(folder, &about) == 0 &&
           (unsigned long)about.f_type == CGROUP2_SUPER_MAGIC;
}

/* mountinfo writes blanks, tabs, line ends and backslashes as \ooo. */
static void unescape(char *text)
{
    char *to = text;

    for (; *text; text++) {
        if (text[0] == '\\' && text[1] && text[2] && text[3]) {
            *to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
                           (text[3] - '0'));
            text += 3;
        } else {
            *to++ = *text;
        }
    }
    *to = '\0';
}

/*
 * A line of /proc/self/mountinfo: id, parent, device, root, place, options, ...
 * then " - " and the type. Does it show the group `own`, and as what?
 */
static bool shows(char *line, const char *own, char folder[PATH_MAX])
{
    char *field[5] = {NULL};
    char *next = line;
    size_t root;
    char *type = strstr(line, " - ");

    if (!type || strncmp(type, " - cgroup2 ", 11) != 0)
        return false;
    for (int i = 0; i < 5; i++) {
        field[i] = next;
        next = strchr(next, ' ');
        if (!next)
            return false;
        *next++ = '\0';
    }
    unescape(field[3]);
    unescape(field[4]);
    root = strcmp(field[3], "/") == 0 ? 0 : strlen(field[3]);
    if (strncmp(own, field[3], root) != 0 || (own[root] && own[root] != '/'))
        return false;
    return snprintf(folder, PATH_MAX, "%s%s", field[4], own + root) < PATH_MAX;
}

static bool search_mounts(const char *own, char folder[PATH_MAX])
{
    char text[65536];
    char *line = text;

    if (proc_read("/proc/self/mountinfo", text, sizeof(text)) < 0)
        return false;
    while (line) {
        char *end = strchr(line, '\n');

        if (end)
            *end++ = '\0';
        if (shows(line, own, folder) && is_version_2(folder))
            return true;
        line = end;
    }
    return false;
}

static int find_own_folder(char folder[PATH_MAX], const char **what)
{
    char own[PATH_MAX];
    int errnum = read_own_path(own, what);

    if (errnum)
        return errnum;
    *what = "no cgroup of version 2 is mounted";
    for (size_t i = 0; i < sizeof(usual_places) / sizeof(usual_places[0]);
         i++) {
        if (snprintf(folder, PATH_MAX, "%s%s", usual_places[i], own) <
                PATH_MAX &&
            is_version_2(folder))
            return 0;
    }
    return search_mounts(own, folder) ? 0 : ENOENT;
}

/* ---- made and removed ------------------------------------------------------
 */

void cgroup_clear(struct cgroup *cgroup)
{
    if (cgroup->fd >= 0)
        close(cgroup->fd);
    free(cgroup->folder);
    *cgroup = (struct cgroup){.fd = -1};
}

static int make_folder(struct cgroup *cgroup, const char **what)
{
    int errnum;

    *what = "mkdir";
    if (mkdir(cgroup->folder, 0755))
        return errno;
    cgroup->fd = open(cgroup->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (cgroup->fd >= 0)
        return 0;
    errnum = errno;
    *what = "open";
    rmdir(cgroup->folder);
    return errnum;
}

int cgroup_make(struct cgroup *cgroup, const char *session, const char **what)
{
    char folder[PATH_MAX];
    size_t size;
    int errnum;

    errnum = find_own_folder(folder, what);
    if (errnum)
        return errnum;
    size = strlen(folder);
    *what = "the name of its folder";
    if (size + sizeof("/" PREFIX) + strlen(session) > PATH_MAX)
        return ENAMETOOLONG;
    snprintf(folder + size, PATH_MAX - size, "/" PREFIX "%s", session);
    cgroup->folder = strdup(folder);
    if (!cgroup->folder)
        return ENOMEM;
    return make_folder(cgroup, what);
}

/* The first group below that of `fd`, into `name`. */
static bool has_folder(int fd, char name[NAME_MAX + 1])
{
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = own >= 0 ? fdopendir(own) : NULL;
    const struct dirent *entry = NULL;

    if (!dir) {
        if (own >= 0)
            close(own);
        return false;
    }
    while ((entry = readdir(dir))) {
        if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0)
            break;
    }
    if (entry)
        memcpy(name, entry->d_name, strlen(entry->d_name) + 1);
    closedir(dir);
    return entry != NULL;
}

/* Remove one group that has none below it; false when there is none to remove,
 * or it cannot be. */
static bool remove_a_leaf(int top)
{
    char name[NAME_MAX + 1];
    char below[NAME_MAX + 1];
    int fd = dup(top);
    bool done = false;

    while (fd >= 0 && has_folder(fd, name)) {
        int next =
            openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

        if (next >= 0 && has_folder(next, below)) {
            close(fd);
            fd = next;
            continue;
        }
        if (next >= 0)
            close(next);
        done = unlinkat(fd, name, AT_REMOVEDIR) == 0;
        break;
    }
    if (fd >= 0)
        close(fd);
    return done;
}

bool cgroup_remove(struct cgroup *cgroup)
{
    bool is_gone = rmdir(cgroup->folder) == 0 || errno == ENOENT;

    if (!is_gone && cgroup_is_empty(cgroup)) {
        for (int i = 0; i < REMOVALS_MAX && remove_a_leaf(cgroup->fd); i++)
            continue;
        /* What cannot be removed is empty all the same. */
        (void)rmdir(cgroup->folder);
        is_gone = true;
    }
    if (is_gone) {
        close(cgroup->fd);
        cgroup->fd = -1;
    }
    return is_gone;
}

void cgroup_sweep(const struct cgroup *cgroup)
{
    int above = openat(cgroup->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = above >= 0 ? fdopendir(above) : NULL;
    const struct dirent *entry;
    struct stat about;
    time_t now = time(NULL);

    if (!dir) {
        if (above >= 0)
            close(above);
        return;
    }
    while ((entry = readdir(dir))) {
        if (strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1) != 0)
            continue;
        if (!fstatat(above, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) &&
            now - about.st_mtime > ABANDONED_AFTER_S)
            (void)unlinkat(above, entry->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
}

/* ---- used ------------------------------------------------------------------
 */

bool cgroup_is_empty(const struct cgroup *cgroup)
{
    char text[256];
    ssize_t size =
        proc_read_at(cgroup->fd, "cgroup.events", text, sizeof(text));

    /* The folder is gone: so is all that was in it. */
    if (size == -ENODEV || size == -ENOENT)
        return true;
    return size > 0 && strstr(text, "populated 0") != NULL;
}

int cgroup_events_fd(const struct cgroup *cgroup)
{
    return openat(cgroup->fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
}

void cgroup_events_take(int *events_fd)
{
    char text[256];

    /* Of a group that is gone it would poll for ever. */
    if (*events_fd >= 0 &&
        TEMP_FAILURE_RETRY(pread(*events_fd, text, sizeof(text), 0)) < 0) {
        close(*events_fd);
        *events_fd = -1;
    }
}

static bool write_word(const struct cgroup *cgroup, const char *file,
                       const char *word)
{
    int fd = openat(cgroup->fd, file, O_WRONLY | O_CLOEXEC);
    bool done;

    if (fd < 0)
        return false;
    done = write(fd, word, 1) == 1;
    close(fd);
    return done;
}

bool cgroup_kill(const struct cgroup *cgroup)
{
    return write_word(cgroup, "cgroup.kill", "1");
}

void cgroup_thaw(const struct cgroup *cgroup)
{
    char text[8];

    /* Asked first: nearly none is frozen, and writing takes locks. */
    if (proc_read_at(cgroup->fd, "cgroup.freeze", text, sizeof(text)) > 0 &&
        text[0] == '1')
        (void)write_word(cgroup, "cgroup.freeze", "0");
}

void cgroup_list(const struct cgroup *cgroup, struct pids *pids)
{
    char text[65536];

    if (proc_read_at(cgroup->fd, "cgroup.procs", text, sizeof(text)) > 0)
        pids_add_text(pids, text);
}
