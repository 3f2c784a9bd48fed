/* SPDX-License-Identifier: Apache-2.0 */
#include "client/hold_json.h"

#include "base/hex.h"
#include "core/token.h"

struct hf_utc_text hf_hold_since(const struct hf_hold_info *info)
{
    struct hf_wall wall = {hf_span_ms(info->who.since_wall_ms).ns};

    if (info->who.since_wall_ms == 0)
        return (struct hf_utc_text){""};
    return hf_utc_print(wall, 0);
}

struct hf_utc_text hf_hold_left_at(const struct hf_hold_info *info)
{
    struct hf_wall wall = {hf_span_ms(info->left.wall_ms).ns};

    return hf_utc_print(wall, 0);
}

void hf_hold_json_token(struct hf_json *json, uint64_t token)
{
    hf_json_decimal(json, "token", token);
    hf_json_u64(json, "epoch", hf_token_epoch(token));
    hf_json_decimal(json, "revision", hf_token_revision(token));
}

void hf_hold_json_who(struct hf_json *json, const struct hf_hold_info *info)
{
    const struct hf_holder *who = &info->who;

    hf_json_text(json, "class", who->class_name);
    hf_json_text(json, "host", who->host);
    hf_json_u64(json, "pid", who->pid);
    hf_json_u64(json, "uid", who->uid);
    hf_json_text(json, "program", who->program);
    hf_json_text(json, "note", who->note);
    hf_json_text(json, "since", hf_hold_since(info).text);
}

void hf_hold_json_ids(struct hf_json *json, const struct hf_hold_info *info)
{
    char grant[2 * HF_GRANT_ID_SIZE + 1];

    hf_hex(info->who.grant, sizeof(info->who.grant), grant);
    hf_json_text(json, "session", info->who.session);
    hf_json_text(json, "grant", grant);
}
