/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/file_stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/file_mark.h"

/* Large enough to be cheap, small enough for any process. */
enum { CHUNK_BYTES = 256 * 1024 };
/* Behind the mark's name; random digits follow where it has a name at once. */
#define SHOWN ".new"
#define STAGED ".new-"

/* ---- opening ---------------------------------------------------------------
 */

static int random_name(const struct hf_fence_place *place, struct hf_sys *sys,
                       char name[NAME_MAX + 1])
{
    uint64_t random;
    char suffix[32];
    int result = sys->random(sys, &random, sizeof(random));

    if (result < 0)
        return result;
    snprintf(suffix, sizeof(suffix), STAGED "%016" PRIx64, random);
    return hf_fence_mark_name(place, suffix, name, NULL) ? -ENAMETOOLONG : 0;
}

/* A file with a name, for file systems that have none without; or -errno. */
static int open_named(struct hf_fence_stage *stage,
                      const struct hf_fence_place *place, struct hf_sys *sys)
{
    struct stat stat;
    int result = random_name(place, sys, stage->name);
    int fd;

    if (result < 0)
        return result;
    fd = sys->open(sys, place->folder, stage->name,
                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return fd;
    result = sys->try_lock(sys, fd, HF_LOCK_EXCLUSIVE);
    if (result == 0)
        result = sys->fstat(sys, fd, &stat);
    /* Between the two calls it looked like something left over. */
    if (result == 0 && stat.st_nlink == 0)
        result = -EAGAIN;
    if (result == 0)
        return fd;
    sys->unlink(sys, place->folder, stage->name);
    sys->close(sys, fd);
    return result;
}

enum hf_err hf_fence_stage_open(struct hf_fence_stage *stage,
                                const struct hf_fence_place *place,
                                struct hf_sys *sys, struct hf_error *error)
{
    stage->size = 0;
    stage->name[0] = '\0';
    stage->is_named = false;
    /* Nobody sees it, so it may have what a new file would have. */
    stage->fd = sys->open(sys, place->folder, ".", O_TMPFILE | O_RDWR, 0666);
    /* Kernels and file systems have several words for "not here". */
    if (stage->fd == -EOPNOTSUPP || stage->fd == -EISDIR ||
        stage->fd == -EINVAL || stage->fd == -ENOENT) {
        stage->is_named = true;
        stage->fd = open_named(stage, place, sys);
    }
    if (stage->fd >= 0)
        return HF_ERR_OK;
    stage->name[0] = '\0';
    return hf_fence_io_error(error, -stage->fd, "cannot write beside %s",
                             place->path);
}

int hf_fence_stage_set_mode(const struct hf_fence_stage *stage,
                            struct hf_sys *sys)
{
    mode_t mask;

    if (!stage->is_named)
        return 0;
    mask = umask(0);
    umask(mask);
    return sys->fchmod(sys, stage->fd, 0666 & ~mask);
}

/* ---- filling ---------------------------------------------------------------
 */

/* Input that somebody has made non-blocking. */
static bool wait_for(int input)
{
    struct pollfd poll_fd = {.fd = input, .events = POLLIN};

    return poll(&poll_fd, 1, -1) > 0;
}

enum hf_err hf_fence_stage_fill(struct hf_fence_stage *stage,
                                const struct hf_fence_place *place,
                                struct hf_sys *sys, int input,
                                struct hf_error *error)
{
    char *chunk = malloc(CHUNK_BYTES);
    enum hf_err err = HF_ERR_OK;

    if (!chunk)
        return hf_error_set(error, HF_ERR_NOMEM, "memory ran out");
    while (!err) {
        ssize_t got = read(input, chunk, CHUNK_BYTES);
        int code = errno;
        ssize_t put;

        if (got < 0 && (code == EINTR || (code == EAGAIN && wait_for(input))))
            continue;
        if (got < 0)
            err = hf_error_set_errno(error, HF_ERR_REJECTED, code,
                                     "cannot read standard input, so %s was "
                                     "not changed",
                                     place->path);
        if (got <= 0)
            break;
        put =
            sys->pwrite(sys, stage->fd, chunk, (size_t)got, (off_t)stage->size);
        if (put < 0)
            err = hf_fence_io_error(error, (int)-put,
                                    "cannot write beside %s, which was not "
                                    "changed",
                                    place->path);
        stage->size += (uint64_t)got;
    }
    free(chunk);
    return err;
}

/* ---- showing ---------------------------------------------------------------
 */

/* Give the nameless file a name. linkat(2) cannot replace, so rename follows.
 */
static int name_it(struct hf_fence_stage *stage,
                   const struct hf_fence_place *place)
{
    char self[64];
    int result;

    if (hf_fence_mark_name(place, SHOWN, stage->name, NULL))
        return -ENAMETOOLONG;
    snprintf(self, sizeof(self), "/proc/self/fd/%d", stage->fd);
    result =
        linkat(AT_FDCWD, self, place->folder, stage->name, AT_SYMLINK_FOLLOW)
            ? -errno
            : 0;
    /* Without /proc; needs a privilege, which is why it comes second. */
    if (result == -ENOENT)
        result =
            linkat(stage->fd, "", place->folder, stage->name, AT_EMPTY_PATH)
                ? -errno
                : 0;
    if (result < 0)
        stage->name[0] = '\0';
    return result;
}

int hf_fence_stage_show(struct hf_fence_stage *stage,
                        const struct hf_fence_place *place, struct hf_sys *sys)
{
    int result = stage->name[0] ? 0 : name_it(stage, place);

    if (result == 0)
        result = sys->rename(sys, place->folder, stage->name, place->folder,
                             place->name);
    if (result == 0)
        stage->name[0] = '\0';
    return result;
}

void hf_fence_stage_clear(struct hf_fence_stage *stage,
                          const struct hf_fence_place *place,
                          struct hf_sys *sys)
{
    if (stage->fd < 0)
        return;
    if (stage->name[0])
        sys->unlink(sys, place->folder, stage->name);
    sys->close(sys, stage->fd);
    stage->fd = -1;
    stage->name[0] = '\0';
}

/* ---- what others left ------------------------------------------------------
 */

static void sweep_one(const struct hf_fence_place *place, struct hf_sys *sys,
                      const char *name)
{
    int fd = sys->open(sys, place->folder, name,
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);

    /* Not locked: its maker is gone. */
    if (fd >= 0 && sys->try_lock(sys, fd, HF_LOCK_EXCLUSIVE) == 0)
        sys->unlink(sys, place->folder, name);
    if (fd >= 0)
        sys->close(sys, fd);
}

static void sweep_named(const struct hf_fence_place *place, struct hf_sys *sys)
{
    char prefix[HF_FENCE_MARK_NAME_MAX + 1];
    struct dirent *entry;
    DIR *folder;
    int fd;

    if (hf_fence_mark_name(place, STAGED, prefix, NULL))
        return;
    fd = sys->open(sys, place->folder, ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return;
    folder = fdopendir(fd);
    if (!folder) {
        sys->close(sys, fd);
        return;
    }
    for (entry = readdir(folder); entry; entry = readdir(folder)) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            sweep_one(place, sys, entry->d_name);
    }
    closedir(folder);
}

void hf_fence_stage_sweep(const struct hf_fence_stage *stage,
                          const struct hf_fence_place *place,
                          struct hf_sys *sys)
{
    char name[HF_FENCE_MARK_NAME_MAX + 1];

    /* A folder may be large: it is read only where that is needed. */
    if (stage->is_named)
        sweep_named(place, sys);
    else if (!hf_fence_mark_name(place, SHOWN, name, NULL))
        sys->unlink(sys, place->folder, name);
}
