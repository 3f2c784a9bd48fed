/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_vfs.h"

#include <stdio.h>
#include <string.h>

static sqlite3_vfs *base_of(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static bool ends_with(const char *text, const char *end)
{
    size_t text_size = strlen(text);
    size_t end_size = strlen(end);

    return text_size >= end_size && !strcmp(text + text_size - end_size, end);
}

/*
 * The journal is made with the store and stays (PERSIST). Opened with O_CREAT,
 * as SQLite would, a member of a group could not write another member's journal
 * in a sticky folder: so O_CREAT only when it is missing.
 */
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
                    int flags, int *out_flags)
{
    sqlite3_vfs *base = base_of(vfs);
    int rc;

    if (!(flags & SQLITE_OPEN_MAIN_JOURNAL) || !(flags & SQLITE_OPEN_CREATE))
        return base->xOpen(base, name, file, flags, out_flags);
    rc = base->xOpen(base, name, file, flags & ~SQLITE_OPEN_CREATE, out_flags);
    if ((rc & 0xff) != SQLITE_CANTOPEN)
        return rc;
    if (file->pMethods)
        file->pMethods->xClose(file);
    memset(file, 0, (size_t)base->szOsFile);
    return base->xOpen(base, name, file, flags, out_flags);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    return base_of(vfs)->xDelete(base_of(vfs), name, sync);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    /* A log that somebody put there would be replayed into the database. */
    if (ends_with(name, "-wal")) {
        *out = 0;
        return SQLITE_OK;
    }
    return base_of(vfs)->xAccess(base_of(vfs), name, flags, out);
}

/* Judged already, link by link; SQLite would look at each part again. */
static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size,
                             char *out)
{
    int length = snprintf(out, (size_t)size, "%s", name);

    (void)vfs;
    return length >= 0 && length < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out)
{
    return base_of(vfs)->xRandomness(base_of(vfs), size, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    return base_of(vfs)->xSleep(base_of(vfs), microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *out)
{
    return base_of(vfs)->xCurrentTime(base_of(vfs), out);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
    return base_of(vfs)->xGetLastError(base_of(vfs), size, out);
}

int hf_sqlite_vfs_open(struct hf_sqlite *sq, const char *path, int flags,
                       sqlite3 **db)
{
    sqlite3_vfs *base = sqlite3_vfs_find(sq->sys->sqlite_vfs);
    int rc;

    if (!base)
        return SQLITE_ERROR;
    snprintf(sq->vfs_name, sizeof(sq->vfs_name), "holdfast-%p", (void *)sq);
    sq->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = base->szOsFile,
        .mxPathname = base->mxPathname > HF_SQLITE_PATH_MAX
                          ? base->mxPathname
                          : HF_SQLITE_PATH_MAX,
        .zName = sq->vfs_name,
        .pAppData = base,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_current_time,
        .xGetLastError = vfs_last_error,
    };
    rc = sqlite3_vfs_register(&sq->vfs, 0);
    if (rc)
        return rc;
    rc = sqlite3_open_v2(path, db, flags, sq->vfs_name);
    /* Only the name was needed: the connection keeps the pointer. */
    sqlite3_vfs_unregister(&sq->vfs);
    return rc;
}
