/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum file_kind { DATABASE, JOURNAL };

/* A file as SQLite has it open: one of the handle's two. */
struct file {
    sqlite3_file base; /* first */
    struct hf_sqlite *sq;
    enum file_kind kind;
};

/*
 * SQLite's own locks, on bytes that lie beyond what it stores, keep other
 * programs out which use SQLite on the file. Among us the gate is enough, so
 * all of them are taken as one.
 */
enum { LOCK_BYTE = 0x40000000, LOCK_BYTES = 512 };

/* A journal without a header means nothing. */
enum { JOURNAL_HEADER = 28 };

static struct file *file_of(sqlite3_file *file)
{
    return (struct file *)file;
}

static int fd_of(const struct file *file)
{
    return file->kind == DATABASE ? file->sq->gate_fd : file->sq->journal_fd;
}

/* Keep the reason, for the sentence; space has a code of its own. */
static int failed(struct file *file, ssize_t got, int code)
{
    file->sq->io_errno = (int)-got;
    if (code == SQLITE_IOERR_WRITE && (got == -ENOSPC || got == -EDQUOT))
        return SQLITE_FULL;
    return code;
}

/* ---- the journal's buffer ---- */

/*
 * SQLite writes three pieces for each page. They are gathered, and written
 * before anything is written to the database, which is the order that counts.
 */
static int flush(struct file *file)
{
    struct hf_sqlite *sq = file->sq;
    struct hf_sqlite_buffer *buffer = sq->journal_buffer;
    size_t size = buffer->size;
    ssize_t put;

    if (!size)
        return SQLITE_OK;
    buffer->size = 0;
    if (buffer->at == 0)
        sq->journal_is_there = true;
    put = sq->sys->pwrite(sq->sys, sq->journal_fd, buffer->bytes, size,
                          buffer->at);
    return put < 0 ? failed(file, put, SQLITE_IOERR_WRITE) : SQLITE_OK;
}

static int write_journal(struct file *file, const void *bytes, int size,
                         sqlite3_int64 at)
{
    struct hf_sqlite_buffer *buffer = file->sq->journal_buffer;
    int rc = SQLITE_OK;

    if (buffer->size && (at != buffer->at + (sqlite3_int64)buffer->size ||
                         (size_t)size > sizeof(buffer->bytes) - buffer->size))
        rc = flush(file);
    if (rc)
        return rc;
    if ((size_t)size > sizeof(buffer->bytes)) {
        ssize_t put = file->sq->sys->pwrite(file->sq->sys, fd_of(file), bytes,
                                            (size_t)size, at);

        return put < 0 ? failed(file, put, SQLITE_IOERR_WRITE) : SQLITE_OK;
    }
    if (!buffer->size)
        buffer->at = at;
    memcpy(buffer->bytes + buffer->size, bytes, (size_t)size);
    buffer->size += (size_t)size;
    return SQLITE_OK;
}

/* ---- files ---- */

static int file_close(sqlite3_file *base)
{
    struct file *file = file_of(base);

    return file->kind == JOURNAL ? flush(file) : SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *to, int size, sqlite3_int64 at)
{
    struct file *file = file_of(base);
    int rc = file->kind == JOURNAL ? flush(file) : SQLITE_OK;
    ssize_t got;

    if (rc)
        return rc;
    got =
        file->sq->sys->pread(file->sq->sys, fd_of(file), to, (size_t)size, at);
    if (got == size)
        return SQLITE_OK;
    if (got < 0)
        return failed(file, got, SQLITE_IOERR_READ);
    memset((char *)to + got, 0, (size_t)(size - got));
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *bytes, int size,
                      sqlite3_int64 at)
{
    struct file *file = file_of(base);
    ssize_t put;
    int rc;

    if (file->kind == JOURNAL)
        return write_journal(file, bytes, size, at);
    rc = flush(file);
    if (rc)
        return rc;
    put = file->sq->sys->pwrite(file->sq->sys, fd_of(file), bytes, (size_t)size,
                                at);
    return put < 0 ? failed(file, put, SQLITE_IOERR_WRITE) : SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct file *file = file_of(base);
    int rc = flush(file);
    int got;

    if (rc)
        return rc;
    if (file->kind == JOURNAL && size == 0)
        file->sq->journal_is_there = false;
    got = file->sq->sys->truncate(file->sq->sys, fd_of(file), size);
    return got ? failed(file, got, SQLITE_IOERR_TRUNCATE) : SQLITE_OK;
}

/*
 * Never: a power cut may lose or tear the file, and that is allowed, for no
 * holder survives the kernel and the mark keeps revisions rising.
 */
static int file_sync(sqlite3_file *base, int flags)
{
    (void)flags;
    return flush(file_of(base));
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct file *file = file_of(base);
    struct stat about;
    int rc = file->kind == JOURNAL ? flush(file) : SQLITE_OK;
    int got;

    if (rc)
        return rc;
    got = file->sq->sys->fstat(file->sq->sys, fd_of(file), &about);
    if (got)
        return failed(file, got, SQLITE_IOERR_FSTAT);
    *size = about.st_size;
    return SQLITE_OK;
}

static int set_lock(struct file *file, short type)
{
    struct flock lock = {.l_type = type,
                         .l_whence = SEEK_SET,
                         .l_start = LOCK_BYTE,
                         .l_len = LOCK_BYTES};
    int errnum;

    if (!TEMP_FAILURE_RETRY(fcntl(fd_of(file), F_SETLK, &lock)))
        return SQLITE_OK;
    errnum = errno;
    if (errnum == EAGAIN || errnum == EACCES)
        return SQLITE_BUSY;
    return failed(file, -errnum, SQLITE_IOERR_LOCK);
}

static int file_lock(sqlite3_file *base, int level)
{
    struct file *file = file_of(base);
    int rc = SQLITE_OK;

    if (file->kind == JOURNAL || level == SQLITE_LOCK_NONE)
        return SQLITE_OK;
    if (file->sq->lock_level == SQLITE_LOCK_NONE)
        rc = set_lock(file, file->sq->read_only ? F_RDLCK : F_WRLCK);
    if (!rc && level > file->sq->lock_level)
        file->sq->lock_level = level;
    return rc;
}

static int file_unlock(sqlite3_file *base, int level)
{
    struct file *file = file_of(base);

    if (file->kind == JOURNAL || level >= file->sq->lock_level)
        return SQLITE_OK;
    file->sq->lock_level = level;
    return level == SQLITE_LOCK_NONE ? set_lock(file, F_UNLCK) : SQLITE_OK;
}

/* Who else could have one? We have the gate. */
static int file_check_reserved(sqlite3_file *base, int *is_reserved)
{
    (void)base;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int what, void *argument)
{
    (void)base;
    (void)what;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base)
{
    (void)base;
    return 512;
}

/*
 * What holds for a file that is judged by kill -9 alone: what was written
 * before is there. So the journal's header need not be written again.
 */
static int file_characteristics(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL |
           SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_characteristics,
};

/* ---- names ---- */

static struct hf_sqlite *sqlite_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

/* The one that SQLite has by itself, for what is not ours. */
static sqlite3_vfs *usual(void)
{
    return sqlite3_vfs_find("unix");
}

static bool ends_with(const char *text, const char *end)
{
    size_t text_size = strlen(text);
    size_t end_size = strlen(end);

    return text_size >= end_size && !strcmp(text + text_size - end_size, end);
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base,
                    int flags, int *out_flags)
{
    struct file *file = file_of(base);
    struct hf_sqlite *sq = sqlite_of(vfs);

    base->pMethods = NULL;
    if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL)))
        return usual()->xOpen(usual(), name, base, flags, out_flags);
    if (flags & SQLITE_OPEN_MAIN_JOURNAL && sq->journal_fd < 0)
        return SQLITE_CANTOPEN;
    file->sq = sq;
    file->kind = flags & SQLITE_OPEN_MAIN_DB ? DATABASE : JOURNAL;
    base->pMethods = &methods;
    if (out_flags)
        *out_flags = flags;
    return SQLITE_OK;
}

/* The end of a transaction. Once this is written, what was changed stands. */
static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    static const char zeros[JOURNAL_HEADER];
    struct hf_sqlite *sq = sqlite_of(vfs);
    ssize_t put;

    (void)sync;
    if (!ends_with(name, "-journal"))
        return SQLITE_IOERR_DELETE;
    sq->journal_buffer->size = 0;
    if (!sq->journal_is_there)
        return SQLITE_OK;
    put = sq->sys->pwrite(sq->sys, sq->journal_fd, zeros, sizeof(zeros), 0);
    if (put < 0) {
        sq->io_errno = (int)-put;
        return SQLITE_IOERR_DELETE;
    }
    sq->journal_is_there = false;
    return SQLITE_OK;
}

/* A write-ahead log that somebody put there is never looked at. */
static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    (void)flags;
    *out = ends_with(name, "-journal") && sqlite_of(vfs)->journal_is_there;
    return SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size,
                             char *out)
{
    int length = snprintf(out, (size_t)size, "%s", name);

    (void)vfs;
    return length >= 0 && length < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out)
{
    struct hf_sqlite *sq = sqlite_of(vfs);

    memset(out, 0, (size_t)size);
    return sq->sys->random(sq->sys, out, (size_t)size) ? 0 : size;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return usual()->xSleep(usual(), microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *out)
{
    (void)vfs;
    return usual()->xCurrentTime(usual(), out);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    (void)size;
    (void)out;
    return sqlite_of(vfs)->io_errno;
}

int hf_sqlite_vfs_open(struct hf_sqlite *sq, int flags, sqlite3 **db)
{
    unsigned char ignored;
    int rc;

    /* Counting its memory is of no use to us, and slow; and of the twenty pages
     * that it would have ready we use five. Only before its first use in a
     * process can it be told so. */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
    rc = sqlite3_initialize();
    if (rc)
        return rc;
    if (!sq->journal_buffer)
        sq->journal_buffer = malloc(sizeof(*sq->journal_buffer));
    if (!sq->journal_buffer)
        return SQLITE_NOMEM;
    snprintf(sq->vfs_name, sizeof(sq->vfs_name), "holdfast-%p", (void *)sq);
    sq->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(struct file) > (size_t)usual()->szOsFile
                        ? (int)sizeof(struct file)
                        : usual()->szOsFile,
        .mxPathname = HF_SQLITE_PATH_MAX + 16,
        .zName = sq->vfs_name,
        .pAppData = sq,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_current_time,
        .xGetLastError = vfs_last_error,
    };
    sq->io_errno = 0;
    sq->lock_level = SQLITE_LOCK_NONE;
    sq->journal_buffer->size = 0;
    /* As the default one, while SQLite draws its first random number: it would
     * open /dev/urandom for it. The connection keeps the pointer, so that the
     * name is not needed any more. */
    rc = sqlite3_vfs_register(&sq->vfs, 1);
    if (rc)
        return rc;
    rc = sqlite3_open_v2(sq->place.path, db, flags, sq->vfs_name);
    sqlite3_randomness(1, &ignored);
    sqlite3_vfs_unregister(&sq->vfs);
    return rc;
}
