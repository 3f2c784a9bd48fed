/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do when database, head and mark do not agree, or one of them is not
 * there: after a boot, a crash, a loss, an older copy put back. The rules and
 * their reasons are in docs/internals/embedded-store.md. For
 * src/store/sqlite*.c alone, inside the gate, without a transaction.
 */
#ifndef HF_STORE_SQLITE_RECOVER_H
#define HF_STORE_SQLITE_RECOVER_H

#include "store/sqlite_store.h"

/*
 * Bring all of them into agreement. OK: look again. Errors: UNAVAILABLE,
 * DENIED, NOSPACE, NOMEM, DAMAGED.
 */
enum hf_err hf_sqlite_recover(struct hf_sqlite *sq, struct hf_error *error);

/*
 * Keep the present database file aside as PATH.WHY-DATE and leave an empty one
 * in its place; the gate stays on it, or the handle is detached. Errors as
 * above.
 */
enum hf_err hf_sqlite_set_aside(struct hf_sqlite *sq, const char *why,
                                struct hf_error *error);

/*
 * A journal that a killed process left is SQLite's to play back, but only if it
 * belongs to this very file: one of a file that was replaced since is made
 * void. Before SQLite looks at it.
 */
enum hf_err hf_sqlite_journal_judge(struct hf_sqlite *sq,
                                    struct hf_error *error);

#endif
