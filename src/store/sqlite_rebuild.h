/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session files as a whole: walked to undo what a killed process noted, to
 * make the rows of a lost database again, to clear away what is left of a
 * former boot. For sqlite_recover.c alone, but for any_lives.
 */
#ifndef HF_STORE_SQLITE_REBUILD_H
#define HF_STORE_SQLITE_REBUILD_H

#include "store/sqlite_edit.h"
#include "store/sqlite_scan.h"

/* Cut off what was noted for `revision`, which was never committed. */
enum hf_err hf_sqlite_rebuild_undo(struct hf_sqlite *sq, uint64_t revision,
                                   struct hf_error *error);

/* What walking the files found. */
struct hf_sqlite_rebuilt {
    uint64_t files;    /* that note any key */
    uint64_t sessions; /* of them, put back */
    uint64_t newest;   /* revision that a note tells of */
    int64_t ttl_max_ms;
};

/*
 * Put rows back for every session that is not over, into the open transaction
 * of `edit`; where two notes claim one key the later change counts. Removed
 * files that `scan` found count like those that are there.
 */
enum hf_err hf_sqlite_rebuild_rows(struct hf_sqlite_edit *edit,
                                   const struct hf_sqlite_scan *scan,
                                   struct hf_sqlite_rebuilt *rebuilt,
                                   struct hf_error *error);
/* Remove all leases and their keys from the open transaction, without
 * history: what they became is not known. Registrations too. */
enum hf_err hf_sqlite_rebuild_clear(struct hf_sqlite_edit *edit,
                                    struct hf_error *error);
/* Remove all leases with their keys, each by an entry of its own. */
enum hf_err hf_sqlite_rebuild_end_all(struct hf_sqlite_edit *edit,
                                      struct hf_error *error);

/* Does a process hold the lock of any session file? */
bool hf_sqlite_rebuild_any_lives(struct hf_sqlite *sq);
/* Of which store are the session files of this boot, where nothing else tells
 * it? False: there are none. */
bool hf_sqlite_rebuild_find_id(struct hf_sqlite *sq,
                               const struct hf_sqlite_scan *scan,
                               uint8_t id[16]);
/* Remove the files of another boot that nobody holds. */
void hf_sqlite_rebuild_tidy(struct hf_sqlite *sq);

#endif
