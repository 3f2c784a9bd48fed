/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/folder.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

char *folder_new(void)
{
    const char *base = getenv("TMPDIR");
    struct timespec now;
    char *path;

    /* No two are made in one nanosecond of one process. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (asprintf(&path, "%s/hf-test-%d-%lld%09ld",
                 base && *base ? base : "/tmp", (int)getpid(),
                 (long long)now.tv_sec, now.tv_nsec) < 0)
        path = NULL;
    hf_assert(path != NULL && mkdir(path, 0700) == 0);
    return path;
}

static int remove_one(const char *path, const struct stat *about, int flag,
                      struct FTW *place)
{
    (void)about;
    (void)flag;
    (void)place;
    return remove(path);
}

void folder_free(char *path)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
        fprintf(stderr, "cannot remove %s: %s\n", path, strerror(errno));
    free(path);
}

unsigned int folder_count(const char *path)
{
    DIR *folder = opendir(path);
    unsigned int count = 0;

    hf_assert(folder != NULL);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}
