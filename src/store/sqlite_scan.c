/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char removed[] = " (deleted)";

/* Does `link`, as /proc tells it, name a removed file of this store? */
static bool is_removed(const struct hf_sqlite *sq, char *link, bool *is_session)
{
    size_t size = strlen(link);
    size_t tail = sizeof(removed) - 1;
    size_t run = strlen(sq->place.run);

    if (size <= tail || strcmp(link + size - tail, removed) != 0)
        return false;
    link[size - tail] = '\0';
    *is_session =
        !strncmp(link, sq->place.run, run) && !strncmp(link + run, "/s-", 3);
    return *is_session || !strcmp(link, sq->place.path) ||
           !strcmp(link, sq->place.head);
}

static void keep(struct hf_sqlite *sq, struct hf_sqlite_scan *scan,
                 const char *path)
{
    struct stat about;
    int fd = sq->sys->open(sq->sys, AT_FDCWD, path, O_RDWR | O_NONBLOCK, 0);
    bool is_new = fd >= 0 && !sq->sys->fstat(sq->sys, fd, &about) &&
                  S_ISREG(about.st_mode) && about.st_nlink == 0 &&
                  (about.st_uid == 0 || about.st_uid == geteuid());

    for (size_t i = 0; is_new && i < scan->count; i++)
        is_new = scan->inos[i] != about.st_ino;
    if (is_new && scan->count < HF_SQLITE_SCAN_FILES) {
        scan->inos[scan->count] = about.st_ino;
        scan->fds[scan->count++] = fd;
        return;
    }
    if (is_new)
        scan->is_complete = false;
    if (fd >= 0)
        sq->sys->close(sq->sys, fd);
}

static void look_at_process(struct hf_sqlite *sq, const char *pid,
                            struct hf_sqlite_scan *scan)
{
    char path[64];
    DIR *folder;
    const struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%.16s/fd", pid);
    folder = opendir(path);
    /* Another user's, who has no business with a store of ours; the kernel
     * hides few of our own (those that changed their credentials). */
    if (!folder)
        return;
    while ((entry = readdir(folder))) {
        char link[HF_SQLITE_PATH_MAX + 64];
        char name[128];
        bool is_session;
        ssize_t size;

        size = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);
        if (size <= 0)
            continue;
        link[size] = '\0';
        if (!is_removed(sq, link, &is_session))
            continue;
        scan->found = true;
        snprintf(name, sizeof(name), "%s/%.32s", path, entry->d_name);
        if (is_session)
            keep(sq, scan, name);
    }
    closedir(folder);
}

void hf_sqlite_scan(struct hf_sqlite *sq, struct hf_sqlite_scan *scan)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    char own[24];

    *scan = (struct hf_sqlite_scan){.is_complete = folder && !sq->group};
    snprintf(own, sizeof(own), "%ld", (long)getpid());
    while (folder && (entry = readdir(folder))) {
        if (isdigit((unsigned char)entry->d_name[0]) &&
            strcmp(entry->d_name, own) != 0)
            look_at_process(sq, entry->d_name, scan);
    }
    if (folder)
        closedir(folder);
}

void hf_sqlite_scan_clear(struct hf_sqlite *sq, struct hf_sqlite_scan *scan)
{
    for (size_t i = 0; i < scan->count; i++)
        sq->sys->close(sq->sys, scan->fds[i]);
    scan->count = 0;
}
