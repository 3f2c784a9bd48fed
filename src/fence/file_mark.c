/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/file_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/field.h"

/*
 * A place holds the longest key and id with all of the rest, and is a divisor
 * of a page, so that it is never spread over two.
 */
enum { PLACE_SIZE = 1024, PLACES = 2, SUM_SIZE = 16 };
enum { LOCK_LIMIT_MS = 60000 };
/* A mark that was removed between open and lock is looked for again. */
enum { TRIES = 16 };

static const struct hf_field fields[] = {
    HF_FIELD(struct hf_fence_file_mark, version, U32, ALWAYS),
    HF_FIELD(struct hf_fence_file_mark, turn, U64, ALWAYS),
    {.name = "token",
     .kind = HF_FIELD_DECIMAL,
     .need = HF_FIELD_ALWAYS,
     .offset = offsetof(struct hf_fence_file_mark, mark.token),
     .size = sizeof(uint64_t)},
    {.name = "grant",
     .kind = HF_FIELD_TEXT,
     .need = HF_FIELD_OPTIONAL,
     .offset = offsetof(struct hf_fence_file_mark, mark.grant),
     .size = HF_FENCE_GRANT_SIZE},
    {.name = "key",
     .kind = HF_FIELD_TEXT,
     .need = HF_FIELD_OPTIONAL,
     .offset = offsetof(struct hf_fence_file_mark, mark.key),
     .size = HF_KEY_SIZE},
    HF_FIELD(struct hf_fence_file_mark, inode, DECIMAL, OPTIONAL),
    HF_FIELD(struct hf_fence_file_mark, is_appending, BOOL, OPTIONAL),
    HF_FIELD(struct hf_fence_file_mark, append_from, U64, OPTIONAL),
    HF_FIELD(struct hf_fence_file_mark, append_to, U64, OPTIONAL),
    HF_FIELD(struct hf_fence_file_mark, wall_ms, I64, ALWAYS),
    HF_FIELD_END,
};

enum hf_err hf_fence_mark_name(const struct hf_fence_place *place,
                               const char *suffix,
                               char name[HF_FENCE_MARK_NAME_MAX + 1],
                               struct hf_error *error)
{
    size_t size = strlen(place->name);
    int length = snprintf(name, HF_FENCE_MARK_NAME_MAX + 1, ".%s.fence%s",
                          place->name, suffix);

    if (place->name[0] == '.' && size > 7 &&
        strcmp(place->name + size - 6, ".fence") == 0)
        return hf_error_set(error, HF_ERR_USAGE,
                            "%s bears the name of a mark, which guards "
                            "another file",
                            place->path);
    if (length > HF_FENCE_MARK_NAME_MAX)
        return hf_error_set(error, HF_ERR_USAGE,
                            "%s: the name is too long for a mark beside it",
                            place->path);
    return HF_ERR_OK;
}

static enum hf_err damaged(const struct hf_fence_place *place,
                           struct hf_error *error)
{
    return hf_error_set(error, HF_ERR_DAMAGED,
                        "the mark of %s (.%s.fence beside it) is damaged: "
                        "stop all writers, see that the file is right, and "
                        "remove the mark",
                        place->path, place->name);
}

/* ---- one place -------------------------------------------------------------
 */

static bool is_empty(const char *bytes, size_t size)
{
    return size == 0 ||
           (bytes[0] == '\0' && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Is it a mark that this fence writes? Its sum is no proof of that: whoever may
 * write the file may write the mark. */
static bool is_sound(const struct hf_fence_file_mark *mark)
{
    return mark->version == 1 && mark->turn > 0 &&
           mark->mark.token <= INT64_MAX &&
           hf_fence_grant_is_valid(mark->mark.grant) &&
           (!mark->mark.key[0] || !hf_key_check(mark->mark.key, NULL));
}

static bool decode(const char bytes[PLACE_SIZE],
                   struct hf_fence_file_mark *mark)
{
    size_t size = PLACE_SIZE;
    char sum[SUM_SIZE + 1];

    while (size > 0 && (bytes[size - 1] == ' ' || bytes[size - 1] == '\n'))
        size--;
    if (size < SUM_SIZE + 2 || bytes[SUM_SIZE] != ' ')
        return false;
    hf_key_hash(bytes + SUM_SIZE + 1, size - SUM_SIZE - 1, sum);
    if (memcmp(sum, bytes, SUM_SIZE) != 0)
        return false;
    return !hf_field_decode(fields, bytes + SUM_SIZE + 1, size - SUM_SIZE - 1,
                            mark, NULL) &&
           is_sound(mark);
}

static enum hf_err encode(const struct hf_fence_file_mark *mark,
                          char bytes[PLACE_SIZE])
{
    struct hf_buf json;
    char sum[SUM_SIZE + 1];
    enum hf_err err;

    hf_buf_init(&json, PLACE_SIZE - SUM_SIZE - 2);
    err = hf_field_encode(fields, mark, &json);
    if (!err) {
        hf_key_hash(json.data, json.size, sum);
        memset(bytes, ' ', PLACE_SIZE - 1);
        memcpy(bytes, sum, SUM_SIZE);
        memcpy(bytes + SUM_SIZE + 1, json.data, json.size);
        bytes[PLACE_SIZE - 1] = '\n';
    }
    hf_buf_clear(&json);
    return err;
}

/* ---- the file --------------------------------------------------------------
 */

static enum hf_err read_places(const struct hf_fence_place *place,
                               struct hf_sys *sys, int fd,
                               struct hf_fence_file_mark *mark,
                               struct hf_error *error)
{
    char bytes[PLACES * PLACE_SIZE] = {0};
    ssize_t size = sys->pread(sys, fd, bytes, sizeof(bytes), 0);
    bool is_spoilt = false;

    *mark = (struct hf_fence_file_mark){.version = 1};
    if (size < 0)
        return hf_fence_io_error(error, (int)-size,
                                 "cannot read the mark of %s", place->path);
    for (int i = 0; i < PLACES; i++) {
        const char *at = bytes + i * PLACE_SIZE;
        struct hf_fence_file_mark found = {.version = 0};

        if (is_empty(at, PLACE_SIZE))
            continue;
        /* One in the other's place would be overwritten by its successor. */
        if (!decode(at, &found) || found.turn % PLACES != (uint64_t)i)
            is_spoilt = true;
        else if (found.turn > mark->turn)
            *mark = found;
    }
    return is_spoilt && mark->turn == 0 ? damaged(place, error) : HF_ERR_OK;
}

/* -ENOENT or another -errno; what is no plain file with one name is -EBADF. */
static int open_mark(const struct hf_fence_place *place, struct hf_sys *sys,
                     const char *name, int flags)
{
    struct stat stat;
    /* A pipe of that name must not make us wait for its other end. */
    int fd = sys->open(sys, place->folder, name,
                       flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    int result;

    if (fd < 0)
        return fd == -ELOOP || fd == -EISDIR ? -EBADF : fd;
    result = sys->fstat(sys, fd, &stat);
    if (result == 0 && (!S_ISREG(stat.st_mode) || stat.st_nlink > 1))
        result = -EBADF;
    if (result == 0)
        return fd;
    sys->close(sys, fd);
    return result;
}

static enum hf_err cannot_open(const struct hf_fence_place *place,
                               const char *name, int errnum,
                               struct hf_error *error)
{
    if (errnum == EBADF)
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "%s: %s beside it is no mark (a link, a folder or "
                            "another kind of file): look who put it there",
                            place->path, name);
    return hf_fence_io_error(error, errnum, "cannot open the mark of %s (%s)",
                             place->path, name);
}

enum hf_err hf_fence_mark_peek(const struct hf_fence_place *place,
                               struct hf_sys *sys,
                               struct hf_fence_file_mark *mark,
                               struct hf_error *error)
{
    char name[HF_FENCE_MARK_NAME_MAX + 1];
    enum hf_err err = hf_fence_mark_name(place, "", name, error);
    int fd;

    *mark = (struct hf_fence_file_mark){.version = 1};
    if (err)
        return err;
    fd = open_mark(place, sys, name, O_RDONLY);
    if (fd == -ENOENT)
        return HF_ERR_OK;
    if (fd < 0)
        return cannot_open(place, name, -fd, error);
    err = read_places(place, sys, fd, mark, error);
    sys->close(sys, fd);
    return err;
}

/*
 * A new mark may be written by whoever may write the file: all of them must be
 * able to lock it. (Beside a new file it has what a new file gets.) What cannot
 * be given is no error: then the others are told that they may not.
 */
static void share_mark(const struct hf_fence_place *place, struct hf_sys *sys,
                       int fd)
{
    mode_t others = S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;

    if (!place->exists)
        return;
    if (geteuid() == 0)
        sys->fchown(sys, fd, place->stat.st_uid, place->stat.st_gid);
    else
        sys->fchown(sys, fd, (uid_t)-1, place->stat.st_gid);
    sys->fchmod(sys, fd, S_IRUSR | S_IWUSR | (place->stat.st_mode & others));
}

static int open_or_make(const struct hf_fence_place *place, struct hf_sys *sys,
                        const char *name)
{
    int fd = open_mark(place, sys, name, O_RDWR);

    if (fd != -ENOENT)
        return fd;
    fd = sys->open(sys, place->folder, name, O_RDWR | O_CREAT | O_EXCL,
                   place->exists ? S_IRUSR | S_IWUSR : 0666);
    if (fd == -EEXIST)
        return open_mark(place, sys, name, O_RDWR);
    if (fd >= 0)
        share_mark(place, sys, fd);
    return fd;
}

/* Is the locked file still the one of that name? 1, 0 or -errno. */
static int is_named(const struct hf_fence_place *place, struct hf_sys *sys,
                    const char *name, int fd)
{
    struct stat here;
    struct stat there;
    int result = sys->fstat(sys, fd, &here);

    if (result == 0)
        result = sys->lstat(sys, place->folder, name, &there);
    if (result < 0)
        return result == -ENOENT ? 0 : result;
    return here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

enum hf_err hf_fence_mark_lock(const struct hf_fence_place *place,
                               struct hf_sys *sys, int *fd_out,
                               struct hf_fence_file_mark *mark,
                               struct hf_error *error)
{
    char name[HF_FENCE_MARK_NAME_MAX + 1];
    enum hf_err err = hf_fence_mark_name(place, "", name, error);
    int result = -ENOENT;

    for (int i = 0; !err && i < TRIES; i++) {
        int fd = open_or_make(place, sys, name);

        if (fd == -ENOENT)
            continue;
        if (fd < 0)
            return cannot_open(place, name, -fd, error);
        result =
            sys->lock(sys, fd, HF_LOCK_EXCLUSIVE, hf_span_ms(LOCK_LIMIT_MS));
        if (result == 0)
            result = is_named(place, sys, name, fd);
        if (result == 1) {
            err = read_places(place, sys, fd, mark, error);
            if (err)
                sys->close(sys, fd);
            else
                *fd_out = fd;
            return err;
        }
        sys->close(sys, fd);
        if (result < 0)
            break;
    }
    if (err)
        return err;
    if (result == -ETIMEDOUT)
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "another writer has kept the mark of %s for a "
                            "minute",
                            place->path);
    return hf_fence_io_error(error, result < 0 ? -result : EBUSY,
                             "cannot lock the mark of %s", place->path);
}

enum hf_err hf_fence_mark_write(const struct hf_fence_place *place,
                                struct hf_sys *sys, int fd,
                                struct hf_fence_file_mark *mark,
                                struct hf_error *error)
{
    struct hf_fence_file_mark next = *mark;
    char bytes[PLACE_SIZE];
    enum hf_err err;
    ssize_t result;

    next.turn++;
    next.wall_ms = sys->wall(sys).ns / 1000000;
    err = encode(&next, bytes);
    if (err)
        return hf_error_set(error, err, "cannot make the mark of %s",
                            place->path);
    result = sys->pwrite(sys, fd, bytes, sizeof(bytes),
                         (off_t)(next.turn % PLACES) * PLACE_SIZE);
    if (result >= 0)
        result = sys->fsync(sys, fd);
    /* The name of a new mark must be as durable as what it says. */
    if (result >= 0 && next.turn == 1)
        result = sys->fsync(sys, place->folder);
    if (result < 0)
        return hf_fence_io_error(error, (int)-result,
                                 "cannot write the mark of %s", place->path);
    *mark = next;
    return HF_ERR_OK;
}
