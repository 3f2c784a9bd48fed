/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fence/file_attr.h"

enum { CHUNK_BYTES = 256 * 1024 };

/* ---- open, ask, stage ------------------------------------------------------
 */

enum hf_err hf_fence_file_open(struct hf_fence_file *file, struct hf_sys *sys,
                               const char *path, bool force,
                               struct hf_error *error)
{
    char name[HF_FENCE_MARK_NAME_MAX + 1];
    enum hf_err err;

    file->sys = sys;
    file->stage = (struct hf_fence_stage){.fd = -1};
    err = hf_fence_place_find(&file->place, sys, path, error);
    if (!err)
        err = hf_fence_mark_name(&file->place, "", name, error);
    if (!err && !force)
        err = hf_fence_place_is_local(&file->place, sys, error);
    if (!err)
        err = hf_fence_place_may_write(&file->place, error);
    return err;
}

void hf_fence_file_clear(struct hf_fence_file *file)
{
    hf_fence_stage_clear(&file->stage, &file->place, file->sys);
    hf_fence_place_clear(&file->place, file->sys);
}

enum hf_err hf_fence_file_ask(struct hf_fence_file *file,
                              const struct hf_fence_claim *claim,
                              struct hf_error *error)
{
    struct hf_fence_file_mark mark;
    enum hf_err err = hf_fence_mark_peek(&file->place, file->sys, &mark, error);

    if (!err)
        err = hf_fence_check(&mark.mark, claim, file->place.path, error);
    return err;
}

enum hf_err hf_fence_file_stage(struct hf_fence_file *file, int input,
                                int64_t size, struct hf_error *error)
{
    struct hf_fence_stage *stage = &file->stage;
    enum hf_err err =
        hf_fence_stage_open(stage, &file->place, file->sys, error);

    if (!err)
        err = hf_fence_stage_fill(stage, &file->place, file->sys, input, error);
    if (!err && size >= 0 && stage->size != (uint64_t)size)
        err = hf_error_set(error, HF_ERR_REJECTED,
                           "the input has %" PRIu64 " bytes instead of %" PRId64
                           ", so %s was not changed",
                           stage->size, size, file->place.path);
    return err;
}

/* ---- under the lock --------------------------------------------------------
 */

/* A write from the moment its mark is locked. */
struct writing {
    struct hf_fence_file *file;
    int fd; /* of the mark */
    struct hf_fence_file_mark mark;
};

/* The mark locked, the file looked at again, the claim judged for good. */
static enum hf_err begin(struct writing *writing, struct hf_fence_file *file,
                         const struct hf_fence_claim *claim,
                         struct hf_error *error)
{
    struct hf_fence_place *place = &file->place;
    enum hf_err err;

    writing->file = file;
    writing->fd = -1;
    err = hf_fence_mark_lock(place, file->sys, &writing->fd, &writing->mark,
                             error);
    if (!err)
        err = hf_fence_check(&writing->mark.mark, claim, place->path, error);
    if (!err)
        err = hf_fence_place_look(place, file->sys, error);
    if (!err)
        err = hf_fence_place_may_write(place, error);
    if (!err)
        hf_fence_stage_sweep(&file->stage, place, file->sys);
    return err;
}

/* A mark that was made and never written is taken away again. */
static void end(struct writing *writing)
{
    struct hf_sys *sys = writing->file->sys;
    const struct hf_fence_place *place = &writing->file->place;
    char name[HF_FENCE_MARK_NAME_MAX + 1];

    if (writing->fd < 0)
        return;
    if (writing->mark.turn == 0 && !hf_fence_mark_name(place, "", name, NULL))
        sys->unlink(sys, place->folder, name);
    sys->close(sys, writing->fd);
}

static enum hf_err write_mark(struct writing *writing, struct hf_error *error)
{
    return hf_fence_mark_write(&writing->file->place, writing->file->sys,
                               writing->fd, &writing->mark, error);
}

/* The new contents as durable as they will be, with all of the old one's
 * attributes; nobody sees them yet. */
static enum hf_err prepare(struct hf_fence_file *file, uint64_t *inode,
                           struct hf_error *error)
{
    struct hf_sys *sys = file->sys;
    struct stat stat;
    int result = 0;

    if (file->place.exists) {
        enum hf_err err =
            hf_fence_attr_copy(&file->place, sys, file->stage.fd, error);

        if (err)
            return err;
    } else {
        result = hf_fence_stage_set_mode(&file->stage, sys);
    }
    if (result >= 0)
        result = sys->fsync(sys, file->stage.fd);
    if (result >= 0)
        result = sys->fstat(sys, file->stage.fd, &stat);
    if (result < 0)
        return hf_fence_io_error(error, -result,
                                 "cannot write beside %s, which was not "
                                 "changed",
                                 file->place.path);
    *inode = stat.st_ino;
    return HF_ERR_OK;
}

static enum hf_err show(struct writing *writing, struct hf_error *error)
{
    struct hf_fence_file *file = writing->file;
    struct hf_sys *sys = file->sys;
    int result = hf_fence_stage_show(&file->stage, &file->place, sys);

    if (result < 0)
        return hf_fence_io_error(error, -result, "cannot replace %s",
                                 file->place.path);
    result = sys->fsync(sys, file->place.folder);
    if (result < 0)
        return hf_error_set_errno(error, HF_ERR_UNSETTLED, -result,
                                  "%s was replaced, but whether that outlives "
                                  "a power cut is not known",
                                  file->place.path);
    return HF_ERR_OK;
}

static enum hf_err replace(struct writing *writing,
                           const struct hf_fence_claim *claim,
                           struct hf_error *error)
{
    uint64_t inode = 0;
    enum hf_err err = prepare(writing->file, &inode, error);

    if (err)
        return err;
    hf_fence_raise(&writing->mark.mark, claim);
    writing->mark.inode = inode;
    writing->mark.is_appending = false;
    writing->mark.append_from = writing->mark.append_to = 0;
    err = write_mark(writing, error);
    if (!err)
        err = show(writing, error);
    return err;
}

enum hf_err hf_fence_file_replace(struct hf_fence_file *file,
                                  const struct hf_fence_claim *claim,
                                  struct hf_error *error)
{
    struct writing writing;
    enum hf_err err = begin(&writing, file, claim, error);

    if (!err)
        err = replace(&writing, claim, error);
    end(&writing);
    return err;
}

/* ---- appending -------------------------------------------------------------
 */

/*
 * Take back an append that was cut short. If the file has grown past it,
 * somebody who does not ask the fence has written since: that is left alone.
 */
static enum hf_err repair(struct writing *writing, int fd, struct stat *stat,
                          struct hf_error *error)
{
    struct hf_sys *sys = writing->file->sys;
    struct hf_fence_file_mark *mark = &writing->mark;
    int result;

    if (!mark->is_appending || mark->inode != stat->st_ino ||
        (uint64_t)stat->st_size <= mark->append_from ||
        (uint64_t)stat->st_size > mark->append_to)
        return HF_ERR_OK;
    result = sys->truncate(sys, fd, (off_t)mark->append_from);
    if (result < 0)
        return hf_fence_io_error(error, -result,
                                 "cannot take back what an interrupted append "
                                 "left in %s",
                                 writing->file->place.path);
    stat->st_size = (off_t)mark->append_from;
    return HF_ERR_OK;
}

static int copy_behind(struct hf_fence_file *file, int fd, off_t from)
{
    char *chunk = malloc(CHUNK_BYTES);
    struct hf_sys *sys = file->sys;
    off_t done = 0;
    int result = chunk ? 0 : -ENOMEM;

    while (result >= 0 && (uint64_t)done < file->stage.size) {
        ssize_t size =
            sys->pread(sys, file->stage.fd, chunk, CHUNK_BYTES, done);

        if (size == 0)
            size = -EIO;
        if (size > 0)
            size = sys->pwrite(sys, fd, chunk, (size_t)size, from + done);
        result = size < 0 ? (int)size : 0;
        done += size;
    }
    free(chunk);
    return result < 0 ? result : sys->fsync(sys, fd);
}

/* The mark says what is to be taken back before a byte is written. */
static enum hf_err append_to(struct writing *writing, int fd,
                             const struct hf_fence_claim *claim,
                             struct hf_error *error)
{
    struct hf_fence_file *file = writing->file;
    struct hf_fence_file_mark *mark = &writing->mark;
    struct hf_sys *sys = file->sys;
    struct stat stat;
    int result = sys->fstat(sys, fd, &stat);
    enum hf_err err;

    if (result < 0)
        return hf_fence_io_error(error, -result, "%s", file->place.path);
    err = repair(writing, fd, &stat, error);
    if (err)
        return err;
    hf_fence_raise(&mark->mark, claim);
    mark->inode = stat.st_ino;
    mark->is_appending = true;
    mark->append_from = (uint64_t)stat.st_size;
    mark->append_to = mark->append_from + file->stage.size;
    err = write_mark(writing, error);
    if (err)
        return err;
    result = copy_behind(file, fd, stat.st_size);
    if (result < 0)
        err = hf_fence_io_error(error, -result, "cannot append to %s",
                                file->place.path);
    mark->is_appending = false;
    mark->append_from = mark->append_to = 0;
    /* Until this word is written, the next writer takes the append back. */
    if (!err)
        err = write_mark(writing, error);
    if (!err)
        return HF_ERR_OK;
    result = sys->truncate(sys, fd, stat.st_size);
    if (result < 0)
        return hf_error_set_errno(error, HF_ERR_UNSETTLED, -result,
                                  "cannot append to %s, nor take back what was "
                                  "appended, which the next writer will do",
                                  file->place.path);
    write_mark(writing, NULL);
    return err;
}

static enum hf_err append(struct writing *writing,
                          const struct hf_fence_claim *claim,
                          struct hf_error *error)
{
    struct hf_fence_file *file = writing->file;
    struct hf_sys *sys = file->sys;
    enum hf_err err;
    int fd;

    if (!file->place.exists)
        return replace(writing, claim, error);
    fd = sys->open(sys, file->place.folder, file->place.name,
                   O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return hf_fence_io_error(error, -fd, "cannot write %s",
                                 file->place.path);
    err = append_to(writing, fd, claim, error);
    sys->close(sys, fd);
    return err;
}

enum hf_err hf_fence_file_append(struct hf_fence_file *file,
                                 const struct hf_fence_claim *claim,
                                 struct hf_error *error)
{
    struct writing writing;
    enum hf_err err = begin(&writing, file, claim, error);

    if (!err)
        err = append(&writing, claim, error);
    end(&writing);
    return err;
}

/* ---- looking ---------------------------------------------------------------
 */

enum hf_err hf_fence_file_look(struct hf_sys *sys, const char *path,
                               struct hf_fence_file_status *status,
                               struct hf_error *error)
{
    struct hf_fence_place place;
    enum hf_err err = hf_fence_place_find(&place, sys, path, error);

    if (!err)
        err = hf_fence_mark_peek(&place, sys, &status->mark, error);
    if (!err) {
        const struct hf_fence_file_mark *mark = &status->mark;

        memcpy(status->path, place.path, sizeof(status->path));
        status->exists = place.exists;
        status->has_mark = mark->turn > 0;
        status->is_other = status->has_mark &&
                           (!place.exists || mark->inode != place.stat.st_ino);
        status->is_cut = mark->is_appending && !status->is_other;
    }
    hf_fence_place_clear(&place, sys);
    return err;
}
