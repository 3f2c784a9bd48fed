/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "store/sqlite_place.h"
#include "store/sqlite_store.h"

/* What a look at one path tells. */
struct seen {
    bool is_there;
    uint32_t major; /* of its device; 0: no disk of its own */
    uint32_t minor;
    struct stat about; /* mode and owner alone */
};

/*
 * Not through the seam's lstat, which may wait for a server that does not
 * answer: what this kernel knows already is enough.
 */
static int look(const char *path, struct seen *seen)
{
    struct statx found;
    int errnum;

    *seen = (struct seen){.is_there = false};
    if (statx(AT_FDCWD, path,
              AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
              STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID, &found)) {
        errnum = errno;
        return errnum == ENOENT ? 0 : -errnum;
    }
    seen->is_there = true;
    seen->major = found.stx_dev_major;
    seen->minor = found.stx_dev_minor;
    seen->about.st_mode = found.stx_mode;
    seen->about.st_uid = found.stx_uid;
    seen->about.st_gid = found.stx_gid;
    return 0;
}

/*
 * A file system with a block device below it is on this machine, and so is the
 * one that the system itself stands on; of all others the table of mounts,
 * which takes longer to read, tells the name.
 */
static bool is_surely_local(const struct seen *seen, const struct seen *root)
{
    return seen->major != 0 ||
           (root->major == seen->major && root->minor == seen->minor);
}

/* Could somebody else put another one in its place? */
static enum hf_err judge(const char *path, const struct stat *about,
                         bool *above_is_open, struct hf_error *error)
{
    bool is_open = about->st_mode & S_IWOTH;

    if (S_ISLNK(about->st_mode)) {
        if (*above_is_open && !hf_sqlite_place_is_ours(about->st_uid))
            return hf_sqlite_place_refuse(error, path, "", about,
                                          "is somebody else's symbolic link");
        *above_is_open = false;
        return HF_ERR_OK;
    }
    if (is_open && !(about->st_mode & S_ISVTX))
        return hf_sqlite_place_refuse(error, path, "", about,
                                      "can be written by everybody");
    *above_is_open = is_open;
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_place_way(const struct hf_sqlite *sq,
                                struct hf_error *error)
{
    const char *whole = sq->place.path;
    size_t folder_size = strlen(sq->place.folder);
    char path[HF_SQLITE_PATH_MAX] = "/";
    bool above_is_open = false;
    bool is_named = false; /* the table of mounts has been asked */
    struct seen root;
    struct seen seen;
    enum hf_err err;
    int got = look("/", &root);

    for (size_t size = 0; !got && whole[size];) {
        size++;
        size += strcspn(whole + size, "/");
        snprintf(path, sizeof(path), "%.*s", (int)size, whole);
        got = look(path, &seen);
        /* What is not there is the opener's to tell. */
        if (got || !seen.is_there)
            break;
        if (!is_named && !is_surely_local(&seen, &root)) {
            err = hf_sqlite_place_mounts(&sq->place, error);
            if (err)
                return err;
            is_named = true;
        }
        if (sq->trusts || size > folder_size)
            continue;
        err = judge(path, &seen.about, &above_is_open, error);
        if (err)
            return err;
    }
    return got ? hf_sqlite_place_error(error, -got, "look at", path, "")
               : HF_ERR_OK;
}
