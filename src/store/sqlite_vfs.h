/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite's door to files: its database and journal are the two descriptors that
 * the gate has opened and judged, used through the seam. Nothing is opened by
 * name, nothing is synced, nothing is locked more than once: the gate does
 * that. For sqlite_table.c alone.
 *
 * Two files and no more (but for SQLite's own temporary ones). The journal
 * stays where it is when a transaction ends: to delete it means to make it
 * void.
 */
#ifndef HF_STORE_SQLITE_VFS_H
#define HF_STORE_SQLITE_VFS_H

#include "store/sqlite_store.h"

/* sqlite3_open_v2 through this layer; a result of SQLite's. */
int hf_sqlite_vfs_open(struct hf_sqlite *sq, int flags, sqlite3 **db);

#endif
