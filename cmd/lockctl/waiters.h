/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of those who wait: its columns and its rows. For `lockctl queue`
 * and `lockctl show`.
 */
#ifndef LOCKCTL_WAITERS_H
#define LOCKCTL_WAITERS_H

#include "cmd/lockctl/hold.h"
#include "cmd/lockctl/table.h"

extern const struct table_column waiters_columns[];

/* A row; `key` is "" where all are of one key, `place` counts from 1. */
void waiters_add(struct table *table, const struct hf_hold_info *info,
                 uint64_t place, const char *key, struct hf_time now);

#endif
