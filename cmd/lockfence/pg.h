/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of lockfence pg share: the SQL of the guard and of tables
 * to be guarded. For lockfence-pg.
 */
#ifndef LOCKFENCE_PG_H
#define LOCKFENCE_PG_H

#include "base/buf.h"
#include "cmd/lockfence/frame.h"

/* SQL texts are small; a list of tables comes from a command line. */
enum { PG_SQL_BYTES_MAX = 4 << 20 };

/* --key, or LOCK_KEY; "" when neither is there. Errors: USAGE. */
enum hf_err pg_key(const struct lockfence_run *run, char key[HF_KEY_SIZE]);

/*
 * All that pg init does, as one transaction, into `sql`. Errors: USAGE (tables
 * without a key), NOMEM.
 */
enum hf_err pg_make_plan(const struct lockfence_run *run, struct hf_buf *sql);

#endif
