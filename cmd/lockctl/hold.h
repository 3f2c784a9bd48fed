/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lockctl makes of a hold or waiter as the service tells it: its state in
 * a word, how old it is, whose it is; as text and as JSON. Asks nobody but the
 * file of users. For lockctl's commands.
 */
#ifndef LOCKCTL_HOLD_H
#define LOCKCTL_HOLD_H

#include "base/json.h"
#include "base/sys.h"
#include "base/utc.h"
#include "client/hold_json.h"
#include "core/request.h"

enum hold_state {
    HOLD_LIVE,   /* the kernel says that a process of it lives */
    HOLD_LEFT,   /* the same, but its command has ended */
    HOLD_DEAD,   /* the kernel says that none does */
    HOLD_LEASE,  /* nothing is known but that its lease runs */
    HOLD_LAPSED, /* its lease is over: it stands until somebody asks */
    HOLD_KEPT,   /* nobody holds it any more, but it is kept for a while */
    HOLD_FREE    /* nobody holds the key; never a record's own */
};

/* Is it a hold or a share: what a token names? */
bool hold_is_hold(const struct hf_hold_info *info);
/* Somebody has it, as far as is known. */
bool hold_stands(enum hold_state state);
enum hold_state hold_state_of(const struct hf_hold_info *info);
const char *hold_state_name(enum hold_state state);

/* How long it stands or waits, never below 0. */
int64_t hold_age_ms(const struct hf_hold_info *info, struct hf_time now);

/* A length of time for people: "41s", "3m12s", "5h07m", "3d04h". */
struct age_text {
    char text[32];
};
struct age_text age_print(int64_t ms);

/* "1000 (alice)", "1000" where the file of users does not know it. */
struct user_text {
    char text[64];
};
struct user_text user_print(uint32_t uid);

/* Until when a kept key is kept, RFC 3339. */
struct hf_utc_text hold_kept_until(const struct hf_hold_info *info,
                                   struct hf_wall now);

/* "1m, renewed 19s ago, 41s left", "1m, renewed 1m12s ago, 12s over", "not
 * known". The grant counts as a renewal. */
struct lease_text {
    char text[96];
};
struct lease_text lease_print(const struct hf_hold_info *info);

/*
 * The fields of one as members of the JSON object that is open: all that it
 * has; `place` in the queue when it waits, counted from 1.
 */
void hold_json(struct hf_json *json, const struct hf_hold_info *info,
               struct hf_time now, uint64_t place);
/* The same of what became of a key: its name, the revision of that change, and
 * whose hold or wait it is or was. */
void hold_notice_json(struct hf_json *json, const struct hf_notice *notice);

#endif
