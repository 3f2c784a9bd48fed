/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of pg_guard.sql, made into a string by the build. For lockfence pg.
 */
#ifndef HF_FENCE_PG_SQL_H
#define HF_FENCE_PG_SQL_H

extern const char hf_pg_guard_sql[];

#endif
