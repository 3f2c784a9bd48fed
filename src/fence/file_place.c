/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/file_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum verdict { LOCAL, REMOTE };

static const struct {
    const char *name;
    uint32_t magic;
    enum verdict verdict;
} file_systems[] = {
#define HF_FS(name, magic, verdict) {name, magic, verdict},
#include "store/sqlite_fs.def"
#undef HF_FS
};

enum { FS_COUNT = sizeof(file_systems) / sizeof(file_systems[0]) };

enum hf_err hf_fence_io_error(struct hf_error *error, int errnum,
                              const char *format, ...)
{
    char what[HF_ERROR_TEXT_MAX];
    enum hf_err code = HF_ERR_UNAVAILABLE;
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (errnum == ENOSPC || errnum == EDQUOT)
        code = HF_ERR_NOSPACE;
    else if (errnum == EACCES || errnum == EPERM || errnum == EROFS)
        code = HF_ERR_DENIED;
    else if (errnum == ENOMEM)
        code = HF_ERR_NOMEM;
    return hf_error_set_errno(error, code, errnum, "%s", what);
}

/* ---- finding it ---------------------------------------------------------- */

/* Absolute and without links, `path` itself or (not there yet) its folder. */
static enum hf_err resolve(const char *path, char *to, bool *exists,
                           struct hf_error *error)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t size = (size_t)(name - path);
    struct stat link;

    *exists = realpath(path, to) != NULL;
    if (*exists)
        return HF_ERR_OK;
    if (errno != ENOENT || name[0] == '\0')
        return hf_fence_io_error(error, errno, "%s", path);
    if (lstat(path, &link) == 0)
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "%s is a link to a file that does not exist: name "
                            "the file itself",
                            path);
    if (size >= sizeof(folder))
        return hf_error_set(error, HF_ERR_USAGE, "the path is too long");
    memcpy(folder, path, size);
    folder[size] = '\0';
    if (!realpath(size > 0 ? folder : ".", to)) {
        int code = errno;

        return hf_error_set_errno(error, HF_ERR_USAGE, code,
                                  "%s: no folder to write it in", path);
    }
    size = strlen(to);
    if (size + strlen(name) + 2 > PATH_MAX)
        return hf_error_set(error, HF_ERR_USAGE, "the path is too long");
    if (strcmp(to, "/") != 0)
        to[size++] = '/';
    memcpy(to + size, name, strlen(name) + 1);
    return HF_ERR_OK;
}

enum hf_err hf_fence_place_find(struct hf_fence_place *place,
                                struct hf_sys *sys, const char *path,
                                struct hf_error *error)
{
    char *slash;
    enum hf_err err;

    place->folder = -1;
    place->name = "";
    if (path[0] == '\0')
        return hf_error_set(error, HF_ERR_USAGE, "the path is empty");
    err = resolve(path, place->path, &place->exists, error);
    if (err)
        return err;
    /* The folder is opened once, and all names are taken relative to it. */
    slash = strrchr(place->path, '/');
    place->name = slash + 1;
    if (slash == place->path) {
        place->folder =
            sys->open(sys, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY, 0);
    } else {
        *slash = '\0';
        place->folder =
            sys->open(sys, AT_FDCWD, place->path, O_RDONLY | O_DIRECTORY, 0);
        *slash = '/';
    }
    if (place->folder < 0)
        return hf_fence_io_error(error, -place->folder,
                                 "cannot open the folder of %s", place->path);
    return hf_fence_place_look(place, sys, error);
}

void hf_fence_place_clear(struct hf_fence_place *place, struct hf_sys *sys)
{
    if (place->folder >= 0)
        sys->close(sys, place->folder);
    place->folder = -1;
}

/* ---- what it is ------------------------------------------------------------
 */

static const char *kind(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a folder";
    if (S_ISLNK(mode))
        return "a symbolic link";
    if (S_ISFIFO(mode))
        return "a pipe";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

/*
 * Is something mounted on the very file? Its other name, wherever that is,
 * would have another mark. Kernels before 5.8 do not tell; there the rename
 * fails.
 */
static bool is_mount_point(const struct hf_fence_place *place)
{
    struct statx folder;
    struct statx file;

    if (statx(place->folder, "", AT_EMPTY_PATH, STATX_MNT_ID, &folder) ||
        statx(place->folder, place->name, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID,
              &file))
        return false;
    return (folder.stx_mask & file.stx_mask & STATX_MNT_ID) &&
           folder.stx_mnt_id != file.stx_mnt_id;
}

enum hf_err hf_fence_place_look(struct hf_fence_place *place,
                                struct hf_sys *sys, struct hf_error *error)
{
    int result = sys->lstat(sys, place->folder, place->name, &place->stat);

    place->exists = result == 0;
    if (result == -ENOENT)
        return HF_ERR_OK;
    if (result < 0)
        return hf_fence_io_error(error, -result, "%s", place->path);
    if (!S_ISREG(place->stat.st_mode))
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "%s is %s: only a plain file can be fenced",
                            place->path, kind(place->stat.st_mode));
    if (place->stat.st_nlink > 1)
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "%s has %lu names (hard links), and each would "
                            "have a mark of its own",
                            place->path, (unsigned long)place->stat.st_nlink);
    if (is_mount_point(place))
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "%s is a mount point: write the file where it "
                            "comes from, for its mark lies there",
                            place->path);
    return HF_ERR_OK;
}

enum hf_err hf_fence_place_may_write(const struct hf_fence_place *place,
                                     struct hf_error *error)
{
    if (!place->exists)
        return HF_ERR_OK;
    /* Root may write it all the same; the missing bits are there to protect. */
    if (!(place->stat.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)))
        return hf_error_set(error, HF_ERR_DENIED,
                            "%s is read-only (mode %03o): chmod u+w if it is "
                            "to be written",
                            place->path,
                            (unsigned int)place->stat.st_mode & 0777);
    if (faccessat(place->folder, place->name, W_OK, AT_EACCESS)) {
        int code = errno;

        return hf_fence_io_error(error, code, "cannot write %s", place->path);
    }
    return HF_ERR_OK;
}

enum hf_err hf_fence_place_is_local(const struct hf_fence_place *place,
                                    struct hf_sys *sys, struct hf_error *error)
{
    uint64_t type;
    int result = sys->fs_type(sys, place->folder, &type);
    size_t i;

    if (result < 0)
        return hf_fence_io_error(error, -result, "%s", place->path);
    for (i = 0; i < FS_COUNT && file_systems[i].magic != (uint32_t)type; i++)
        continue;
    if (i < FS_COUNT && file_systems[i].verdict == LOCAL)
        return HF_ERR_OK;
    return hf_error_set(
        error, HF_ERR_UNFENCED,
        "%s lies on a file system (%s) whose locks and "
        "renames are not known to exclude writers on other "
        "hosts: no fence; --force writes all the same",
        place->path, i < FS_COUNT ? file_systems[i].name : "of unknown kind");
}
