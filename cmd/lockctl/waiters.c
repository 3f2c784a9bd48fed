/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/waiters.h"

#include <inttypes.h>
#include <stdio.h>

/* Where the terminal is narrow the columns with high numbers go first. */
const struct table_column waiters_columns[] = {
    {.title = "KEY"},
    {.title = "PLACE", .is_right = true},
    {.title = "STATE"},
    {.title = "MODE", .drop = 5},
    {.title = "HOST", .drop = 3},
    {.title = "PID", .is_right = true},
    {.title = "USER", .is_right = true, .drop = 6},
    {.title = "PROGRAM", .drop = 2},
    {.title = "SINCE", .drop = 7},
    {.title = "WAITED", .is_right = true, .drop = 1},
    {.title = "LEASE", .is_right = true, .drop = 4},
    {.title = "NOTE", .drop = 8},
    {.title = NULL}};

static void add_number(struct table *table, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    table_add(table, text);
}

void waiters_add(struct table *table, const struct hf_hold_info *info,
                 uint64_t place, const char *key, struct hf_time now)
{
    const struct hf_holder *who = &info->who;

    table_add(table, key);
    add_number(table, place);
    table_add(table, hold_state_name(hold_state_of(info)));
    table_add(table, hf_mode_names[who->mode]);
    table_add(table, who->host);
    add_number(table, who->pid);
    add_number(table, who->uid);
    table_add(table, who->program);
    table_add(table, hf_hold_since(info).text);
    table_add(table, age_print(hold_age_ms(info, now)).text);
    if (!info->lease_known)
        table_add(table, "");
    else if (info->lease_remaining_ms < 0)
        table_add(table, "over");
    else
        table_add(table, age_print(info->lease_remaining_ms).text);
    table_add(table, who->note);
}
