/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/hold.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"

bool hold_is_hold(const struct hf_hold_info *info)
{
    return info->kind == HF_HOLD || info->kind == HF_SHARE;
}

bool hold_stands(enum hold_state state)
{
    return state == HOLD_LIVE || state == HOLD_LEFT || state == HOLD_LEASE;
}

enum hold_state hold_state_of(const struct hf_hold_info *info)
{
    if (info->lease_known && info->proof == HF_PROOF_DEAD)
        return HOLD_DEAD;
    /* Processes may live on behind a lease that is over: it counts. */
    if (!info->lease_known || info->lease_remaining_ms < 0)
        return HOLD_LAPSED;
    if (info->kind == HF_FLOOR)
        return HOLD_KEPT;
    if (info->proof != HF_PROOF_LIVES)
        return HOLD_LEASE;
    return info->phase == HF_PHASE_LEFT ? HOLD_LEFT : HOLD_LIVE;
}

const char *hold_state_name(enum hold_state state)
{
    switch (state) {
    case HOLD_LIVE:
        return "live";
    case HOLD_LEFT:
        return "leftovers";
    case HOLD_DEAD:
        return "dead";
    case HOLD_LEASE:
        return "lease";
    case HOLD_LAPSED:
        return "lapsed";
    case HOLD_KEPT:
        return "kept";
    case HOLD_FREE:
        break;
    }
    return "free";
}

int64_t hold_age_ms(const struct hf_hold_info *info, struct hf_time now)
{
    int64_t age = now.ns / 1000000 - info->who.since_steady_ms;

    return age > 0 ? age : 0;
}

struct age_text age_print(int64_t ms)
{
    struct age_text age;
    int64_t seconds = ms / 1000;
    int64_t minutes = seconds / 60;
    int64_t hours = minutes / 60;

    if (minutes == 0)
        snprintf(age.text, sizeof(age.text), "%" PRId64 "s", seconds);
    else if (hours == 0)
        snprintf(age.text, sizeof(age.text), "%" PRId64 "m%02ds", minutes,
                 (int)(seconds % 60));
    else if (hours < 24)
        snprintf(age.text, sizeof(age.text), "%" PRId64 "h%02dm", hours,
                 (int)(minutes % 60));
    else
        snprintf(age.text, sizeof(age.text), "%" PRId64 "d%02dh", hours / 24,
                 (int)(hours % 24));
    return age;
}

/* From the file alone: asking a directory service could hang. */
struct user_text user_print(uint32_t uid)
{
    FILE *users = fopen("/etc/passwd", "re");
    const struct passwd *user = NULL;
    struct user_text text;

    snprintf(text.text, sizeof(text.text), "%" PRIu32, uid);
    if (!users)
        return text;
    do
        user = fgetpwent(users);
    while (user && user->pw_uid != uid);
    if (user)
        snprintf(text.text, sizeof(text.text), "%" PRIu32 " (%.32s)", uid,
                 user->pw_name);
    (void)fclose(users);
    return text;
}

struct hf_utc_text hold_kept_until(const struct hf_hold_info *info,
                                   struct hf_wall now)
{
    struct hf_wall until = {
        hf_sum_ns(now.ns, hf_span_ms(info->lease_remaining_ms).ns)};

    return hf_utc_print(until, 0);
}

struct lease_text lease_print(const struct hf_hold_info *info)
{
    int64_t left = info->lease_remaining_ms;
    int64_t since = info->lease_ttl_ms - left;
    struct lease_text lease = {"not known"};

    if (!info->lease_known)
        return lease;
    snprintf(lease.text, sizeof(lease.text), "%s, renewed %s ago, %s %s",
             hf_duration_print(hf_span_ms(info->lease_ttl_ms)).text,
             age_print(since > 0 ? since : 0).text,
             age_print(left < 0 ? -left : left).text,
             left < 0 ? "over" : "left");
    return lease;
}

void hold_json(struct hf_json *json, const struct hf_hold_info *info,
               struct hf_time now, uint64_t place)
{
    hf_json_text(json, "state", hold_state_name(hold_state_of(info)));
    hf_json_text(json, "mode", hf_mode_names[info->who.mode]);
    if (info->kind == HF_WAITER)
        hf_json_u64(json, "place", place);
    else if (hold_is_hold(info))
        hf_hold_json_token(json, info->token);
    hf_hold_json_who(json, info);
    hf_json_i64(json, "age_ms", hold_age_ms(info, now));
    if (info->lease_known) {
        hf_json_i64(json, "lease_ttl_ms", info->lease_ttl_ms);
        hf_json_i64(json, "lease_remaining_ms", info->lease_remaining_ms);
    } else {
        hf_json_null(json, "lease_ttl_ms");
        hf_json_null(json, "lease_remaining_ms");
    }
    if (hold_state_of(info) == HOLD_LEFT) {
        hf_json_text(json, "command_ended", hf_hold_left_at(info).text);
        hf_json_i64(json, "command_status", info->left.status);
    }
    hf_hold_json_ids(json, info);
}

void hold_notice_json(struct hf_json *json, const struct hf_notice *notice)
{
    const struct hf_hold_info *info = &notice->info;

    hf_json_text(json, "change", hf_notice_names[notice->kind]);
    hf_json_text(json, "key", info->key);
    hf_json_decimal(json, "at_revision", notice->revision);
    hf_json_text(json, "mode", hf_mode_names[info->who.mode]);
    if (hold_is_hold(info))
        hf_hold_json_token(json, info->token);
    hf_hold_json_who(json, info);
    hf_hold_json_ids(json, info);
}
