/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/sqlite_store.h"

/* Groups that one process may be in, as far as we look. */
enum { GROUPS_MAX = 256 };

/* ---- paths ---- */

enum hf_err hf_sqlite_place(uid_t uid, char *to, size_t size)
{
    int length;

    /* From the number alone: HOME, TMPDIR and the like differ between a login,
     * cron and sudo, and two places would be two locks of one name. */
    if (uid == 0)
        length = snprintf(to, size, "/var/lib/holdfast/lock.db");
    else
        length = snprintf(to, size, "/var/tmp/holdfast-%lu/lock.db",
                          (unsigned long)uid);
    return length > 0 && (size_t)length < size ? HF_ERR_OK : HF_ERR_USAGE;
}

/* /dev/shm is there for every user and outlives a login; /run/user does not. */
static bool find_run(struct hf_sqlite_place *place, uid_t uid)
{
    int length;

    if (!place->is_default)
        length = asprintf(&place->run, "%s.run", place->path);
    else if (uid == 0)
        length = asprintf(&place->run, "/run/holdfast");
    else
        length =
            asprintf(&place->run, "/dev/shm/holdfast-%lu", (unsigned long)uid);
    if (length < 0)
        place->run = NULL;
    if (place->run && asprintf(&place->head, "%s/head", place->run) < 0)
        place->head = NULL;
    return place->run && place->head;
}

static enum hf_err check_path(const char *path, struct hf_error *error)
{
    const char *name;

    if (path[0] != '/')
        return hf_error_set(error, HF_ERR_USAGE,
                            "store path %s: it must begin with /", path);
    name = strrchr(path, '/') + 1;
    if (strlen(path) >= HF_SQLITE_PATH_MAX || strlen(name) > 200)
        return hf_error_set(error, HF_ERR_USAGE,
                            "the store's path is too long");
    if (!name[0] || !strcmp(name, ".") || !strcmp(name, ".."))
        return hf_error_set(error, HF_ERR_USAGE,
                            "store path %s: it must name a file", path);
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_place_find(struct hf_sqlite_place *place,
                                 const char *path, uid_t uid,
                                 struct hf_error *error)
{
    char usual[64];
    enum hf_err err;
    size_t length;

    place->is_default = !path;
    if (!path) {
        err = hf_sqlite_place(uid, usual, sizeof(usual));
        path = usual;
    } else {
        err = check_path(path, error);
    }
    if (err)
        return err;
    place->path = strdup(path);
    if (place->path) {
        place->name = strrchr(place->path, '/') + 1;
        length = (size_t)(place->name - place->path) - 1;
        place->folder = strndup(length ? path : "/", length ? length : 1);
    }
    if (!place->path || !place->folder || !find_run(place, uid))
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a path");
    return HF_ERR_OK;
}

void hf_sqlite_place_clear(struct hf_sqlite_place *place)
{
    free(place->folder);
    free(place->path);
    free(place->run);
    free(place->head);
    *place = (struct hf_sqlite_place){.name = NULL};
}

/* ---- sentences ---- */

enum hf_err hf_sqlite_place_error(struct hf_error *error, int errnum,
                                  const char *what, const char *where,
                                  const char *name)
{
    enum hf_err code = HF_ERR_UNAVAILABLE;

    switch (errnum) {
    case EACCES:
    case EPERM:
    case ELOOP:
        code = HF_ERR_DENIED;
        break;
    case ENOSPC:
    case EDQUOT:
        code = HF_ERR_NOSPACE;
        break;
    case ENOMEM:
        code = HF_ERR_NOMEM;
        break;
    default:
        break;
    }
    if (errnum == ELOOP)
        return hf_error_set(error, code,
                            "%s %s%s%s: it is a symbolic link; a store is "
                            "never reached through one: name the real path "
                            "with --store",
                            what, where, name[0] ? "/" : "", name);
    return hf_error_set_errno(error, code, errnum, "%s %s%s%s", what, where,
                              name[0] ? "/" : "", name);
}

enum hf_err hf_sqlite_place_refuse(struct hf_error *error, const char *where,
                                   const char *name, const struct stat *about,
                                   const char *why)
{
    return hf_error_set(
        error, HF_ERR_DENIED,
        "%s%s%s %s (owner %lu, group %lu, mode %04o): it is not used; mend or "
        "remove it, or name another place with --store",
        where, name[0] ? "/" : "", name, why, (unsigned long)about->st_uid,
        (unsigned long)about->st_gid, (unsigned int)(about->st_mode & 07777));
}

/* ---- who may be trusted ---- */

bool hf_sqlite_place_is_ours(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

static bool is_member(gid_t gid)
{
    gid_t groups[GROUPS_MAX];
    int count;

    if (geteuid() == 0 || getegid() == gid)
        return true;
    count = getgroups(GROUPS_MAX, groups);
    for (int i = 0; i < count; i++) {
        if (groups[i] == gid)
            return true;
    }
    return false;
}

static bool is_open_to_all(const struct stat *about)
{
    return about->st_mode & S_IWOTH;
}

/*
 * A folder of a group may belong to any member, since only members can have
 * made one of that group, but in a folder that hands its group to whatever
 * anybody makes in it.
 */
static bool is_members_folder(struct hf_sqlite *sq, const char *path,
                              const struct stat *about)
{
    char parent[HF_SQLITE_PATH_MAX + 8];
    struct stat above;
    char *slash;

    if (!(about->st_mode & S_IWGRP) || is_open_to_all(about) ||
        !is_member(about->st_gid))
        return false;
    snprintf(parent, sizeof(parent), "%s", path);
    slash = strrchr(parent, '/');
    if (!slash || slash == parent)
        return false;
    *slash = '\0';
    if (sq->sys->lstat(sq->sys, AT_FDCWD, parent, &above))
        return false;
    return !(is_open_to_all(&above) && (above.st_mode & S_ISGID) &&
             above.st_gid == about->st_gid);
}

static enum hf_err judge_folder(struct hf_sqlite *sq, const char *path,
                                const struct stat *about,
                                struct hf_error *error)
{
    if (!S_ISDIR(about->st_mode))
        return hf_sqlite_place_refuse(error, path, "", about,
                                      "is not a folder");
    if (sq->trusts)
        return HF_ERR_OK;
    if (is_open_to_all(about) && !(about->st_mode & S_ISVTX))
        return hf_sqlite_place_refuse(error, path, "", about,
                                      "can be written by everybody");
    if (!hf_sqlite_place_is_ours(about->st_uid) &&
        !is_members_folder(sq, path, about))
        return hf_sqlite_place_refuse(error, path, "", about,
                                      "belongs to another user");
    return HF_ERR_OK;
}

/* ---- folders ---- */

static enum hf_err open_folder(struct hf_sqlite *sq, const char *path,
                               int nofollow, int *fd, struct stat *about,
                               struct hf_error *error)
{
    struct hf_sys *sys = sq->sys;
    int got =
        sys->open(sys, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | nofollow, 0);
    enum hf_err err;

    *fd = -1;
    if (got == -ENOENT)
        return HF_ERR_OK;
    if (got == -ENOTDIR && !sys->lstat(sys, AT_FDCWD, path, about) &&
        S_ISLNK(about->st_mode))
        got = -ELOOP;
    if (got < 0)
        return hf_sqlite_place_error(error, -got, "open", path, "");
    *fd = got;
    got = sys->fstat(sys, *fd, about);
    if (got)
        err = hf_sqlite_place_error(error, -got, "look at", path, "");
    else
        err = judge_folder(sq, path, about, error);
    if (err) {
        sys->close(sys, *fd);
        *fd = -1;
    }
    return err;
}

static enum hf_err make_folder(struct hf_sqlite *sq, const char *path,
                               mode_t mode, struct hf_error *error)
{
    struct hf_sys *sys = sq->sys;
    int got = sys->mkdir(sys, AT_FDCWD, path, mode & 0777);

    if (got && got != -EEXIST)
        return hf_sqlite_place_error(error, -got, "make", path, "");
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_place_folder(struct hf_sqlite *sq, bool *is_missing,
                                   struct hf_error *error)
{
    const char *path = sq->place.folder;
    /* A link on the way is followed if it was judged. */
    int nofollow = sq->place.is_default ? O_NOFOLLOW : 0;
    struct stat about;
    enum hf_err err;

    *is_missing = false;
    err = open_folder(sq, path, nofollow, &sq->folder_fd, &about, error);
    if (!err && sq->folder_fd < 0 && !sq->read_only && sq->place.is_default) {
        err = make_folder(sq, path, 0700, error);
        if (!err)
            err =
                open_folder(sq, path, nofollow, &sq->folder_fd, &about, error);
    }
    if (err)
        return err;
    if (sq->folder_fd < 0) {
        *is_missing = true;
        if (sq->read_only)
            return HF_ERR_OK;
        return hf_sqlite_place_error(error, ENOENT, "open the store's folder",
                                     path, "");
    }
    sq->group = (about.st_mode & S_IWGRP) && !is_open_to_all(&about);
    sq->gid = about.st_gid;
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_place_run(struct hf_sqlite *sq, bool makes,
                                bool *is_missing, struct hf_error *error)
{
    struct hf_sys *sys = sq->sys;
    const char *path = sq->place.run;
    mode_t mode = sq->group ? 02770 : 0700;
    struct stat about;
    enum hf_err err =
        open_folder(sq, path, O_NOFOLLOW, &sq->run_fd, &about, error);
    int got = 0;

    *is_missing = !err && sq->run_fd < 0;
    if (err || !*is_missing || !makes)
        return err;
    *is_missing = false;
    err = make_folder(sq, path, mode, error);
    if (!err)
        err = open_folder(sq, path, O_NOFOLLOW, &sq->run_fd, &about, error);
    if (err || sq->run_fd < 0)
        return err ? err
                   : hf_sqlite_place_error(error, ENOENT, "open", path, "");
    if (about.st_uid == geteuid()) {
        if (sq->group && about.st_gid != sq->gid)
            got = sys->fchown(sys, sq->run_fd, (uid_t)-1, sq->gid);
        if (!got && (about.st_mode & 07777) != mode)
            got = sys->fchmod(sys, sq->run_fd, mode);
    }
    if (got)
        return hf_sqlite_place_error(error, -got, "set the mode of", path, "");
    return HF_ERR_OK;
}

/* ---- files ---- */

static enum hf_err judge_file(struct hf_sqlite *sq, const char *where,
                              const char *name, const struct stat *about,
                              struct hf_error *error)
{
    /* Opened to be written, it would have been refused so. */
    if (S_ISDIR(about->st_mode))
        return hf_sqlite_place_error(error, EISDIR, "open", where, name);
    if (!S_ISREG(about->st_mode))
        return hf_sqlite_place_refuse(error, where, name, about,
                                      "is not a regular file");
    if (sq->trusts)
        return HF_ERR_OK;
    if (about->st_nlink > 1)
        return hf_sqlite_place_refuse(error, where, name, about,
                                      "has a second name");
    if (is_open_to_all(about))
        return hf_sqlite_place_refuse(error, where, name, about,
                                      "can be written by everybody");
    if (!hf_sqlite_place_is_ours(about->st_uid) &&
        !(sq->group && about->st_gid == sq->gid))
        return hf_sqlite_place_refuse(error, where, name, about,
                                      "belongs to another user");
    return HF_ERR_OK;
}

/* Whatever the umask, and whoever comes first: every member can use it. */
static int set_mode(struct hf_sqlite *sq, int fd, struct stat *about)
{
    struct hf_sys *sys = sq->sys;
    mode_t mode = sq->group ? 0660 : 0600;
    int got = 0;

    if (sq->group && about->st_gid != sq->gid)
        got = sys->fchown(sys, fd, (uid_t)-1, sq->gid);
    if (!got && (about->st_mode & 07777) != mode)
        got = sys->fchmod(sys, fd, mode);
    if (!got) {
        about->st_gid = sq->group ? sq->gid : about->st_gid;
        about->st_mode = (about->st_mode & ~(mode_t)07777) | mode;
    }
    return got;
}

/*
 * First without O_CREAT: in a sticky folder the kernel (protected_regular)
 * refuses even root's open of another user's file if it carries O_CREAT.
 */
static int open_or_make(struct hf_sqlite *sq, int dir, const char *name,
                        enum hf_sqlite_open_how how, bool *is_new)
{
    struct hf_sys *sys = sq->sys;
    int flags = (sq->read_only ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_NONBLOCK;
    mode_t mode = sq->group ? 0660 : 0600;
    int got = -ENOENT;

    *is_new = false;
    for (int tries = 0; tries < 4; tries++) {
        if (how != HF_SQLITE_OPEN_NEW)
            got = sys->open(sys, dir, name, flags, 0);
        if (got != -ENOENT || how == HF_SQLITE_OPEN_IF_THERE)
            return got;
        got = sys->open(sys, dir, name, flags | O_CREAT | O_EXCL, mode);
        *is_new = got >= 0;
        /* Somebody was quicker: open that one. */
        if (got != -EEXIST || how == HF_SQLITE_OPEN_NEW)
            return got;
        got = -ENOENT;
    }
    return got;
}

enum hf_err hf_sqlite_place_open(struct hf_sqlite *sq, int dir,
                                 const char *where, const char *name,
                                 enum hf_sqlite_open_how how, int *fd,
                                 struct stat *about, struct hf_error *error)
{
    struct hf_sys *sys = sq->sys;
    struct stat own;
    enum hf_err err;
    bool is_new;
    int got;

    if (!about)
        about = &own;
    *fd = -1;
    got = open_or_make(sq, dir, name, how, &is_new);
    if ((got == -ENOENT && how == HF_SQLITE_OPEN_IF_THERE) ||
        (got == -EEXIST && how == HF_SQLITE_OPEN_NEW))
        return HF_ERR_OK;
    if (got < 0)
        return hf_sqlite_place_error(error, -got, "open", where, name);
    *fd = got;
    got = sys->fstat(sys, *fd, about);
    if (!got && is_new)
        got = set_mode(sq, *fd, about);
    if (got)
        err = hf_sqlite_place_error(error, -got, "look at", where, name);
    else
        err = judge_file(sq, where, name, about, error);
    if (err) {
        sys->close(sys, *fd);
        *fd = -1;
    }
    return err;
}
