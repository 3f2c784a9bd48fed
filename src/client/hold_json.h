/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hold or waiter, as the service tells it, in JSON: the members that every
 * tool's --json has in common, so that they have one name and one form. Each
 * adds to the object that is open. For lockctl and lockrun.
 */
#ifndef HF_CLIENT_HOLD_JSON_H
#define HF_CLIENT_HOLD_JSON_H

#include "base/json.h"
#include "base/utc.h"
#include "core/request.h"

/* Since when, RFC 3339; "" when that was not recorded. */
struct hf_utc_text hf_hold_since(const struct hf_hold_info *info);

/* When the command of one in the phase LEFT ended. */
struct hf_utc_text hf_hold_left_at(const struct hf_hold_info *info);

/* token, epoch, revision: of a hold or a share. */
void hf_hold_json_token(struct hf_json *json, uint64_t token);
/* class, host, pid, uid, program, note, since. */
void hf_hold_json_who(struct hf_json *json, const struct hf_hold_info *info);
/* session, grant. */
void hf_hold_json_ids(struct hf_json *json, const struct hf_hold_info *info);

#endif
