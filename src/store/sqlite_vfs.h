/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite's door to files, a thin layer over its own (or over the one that tests
 * name in hf_sys.sqlite_vfs): the journal is opened as members of a group may
 * open it, a write-ahead log beside the database is never looked at, paths are
 * taken as they are. For sqlite_table.c alone.
 */
#ifndef HF_STORE_SQLITE_VFS_H
#define HF_STORE_SQLITE_VFS_H

#include "store/sqlite_store.h"

/* sqlite3_open_v2 through this layer; a result of SQLite's. */
int hf_sqlite_vfs_open(struct hf_sqlite *sq, const char *path, int flags,
                       sqlite3 **db);

#endif
