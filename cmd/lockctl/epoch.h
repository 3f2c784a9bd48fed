/* SPDX-License-Identifier: Apache-2.0 */
/* The epoch record as text and as JSON. For lockctl's epoch commands. */
#ifndef LOCKCTL_EPOCH_H
#define LOCKCTL_EPOCH_H

#include "base/json.h"
#include "base/utc.h"
#include "cmd/lockctl/lockctl.h"

/* When it was last raised. */
struct hf_utc_text epoch_at(const struct hf_epoch_info *info);
/* Members of the open object. */
void epoch_json(struct hf_json *json, const struct hf_epoch_info *info);
void epoch_text(struct hf_buf *to, const char *place,
                const struct hf_epoch_info *info);

#endif
