/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last witnesses: processes that still have a file of this store open which
 * was removed. Asked only when database and session folder are both lost, or
 * when a store is made anew. For sqlite_recover.c alone.
 */
#ifndef HF_STORE_SQLITE_SCAN_H
#define HF_STORE_SQLITE_SCAN_H

#include "store/sqlite_store.h"

/* Removed session files that are looked at, at most. */
enum { HF_SQLITE_SCAN_FILES = 256 };

struct hf_sqlite_scan {
    bool found;       /* there was a store here, in this boot */
    bool is_complete; /* every process that may have used it could be seen */
    size_t count;
    int fds[HF_SQLITE_SCAN_FILES]; /* removed session files, opened */
    ino_t inos[HF_SQLITE_SCAN_FILES];
};

/* Look through /proc. What it opens is closed by hf_sqlite_scan_clear. */
void hf_sqlite_scan(struct hf_sqlite *sq, struct hf_sqlite_scan *scan);
void hf_sqlite_scan_clear(struct hf_sqlite *sq, struct hf_sqlite_scan *scan);

#endif
