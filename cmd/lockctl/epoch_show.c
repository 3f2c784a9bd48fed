/* SPDX-License-Identifier: Apache-2.0 */
/* lockctl epoch show: the epoch record, also of a sealed store. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/utc.h"
#include "cmd/lockctl/epoch.h"
#include "cmd/lockctl/hold.h"

struct hf_utc_text epoch_at(const struct hf_epoch_info *info)
{
    return hf_utc_print((struct hf_wall){hf_span_ms(info->at_wall_ms).ns}, 0);
}

void epoch_json(struct hf_json *json, const struct hf_epoch_info *info)
{
    hf_json_bool(json, "exists", info->exists);
    hf_json_bool(json, "sealed", info->sealed);
    if (info->exists) {
        hf_json_u64(json, "epoch", info->epoch);
        hf_json_text(json, "store_id", info->store_id);
        hf_json_text(json, "by", info->by);
        hf_json_text(json, "why", info->why);
        hf_json_text(json, "at", epoch_at(info).text);
        hf_json_decimal(json, "record_revision", info->revision);
    }
    hf_json_decimal(json, "store_revision", info->store_revision);
    hf_json_i64(json, "longest_lease_ms", info->longest_lease_ms);
}

static void add_line(struct hf_buf *to, const char *name, const char *text)
{
    (void)hf_buf_printf(to, "%-9s ", name);
    (void)hf_escape_add(to, text, strlen(text));
    (void)hf_buf_add(to, "\n", 1);
}

void epoch_text(struct hf_buf *to, const char *place,
                const struct hf_epoch_info *info)
{
    add_line(to, "store", place);
    if (!info->exists) {
        add_line(to, "epoch", "none: nothing was ever granted here");
        return;
    }
    (void)hf_buf_printf(to, "%-9s %" PRIu32 "%s\n", "epoch", info->epoch,
                        info->sealed
                            ? ", sealed: nothing is granted or renewed; an "
                              "advance was begun and not finished (lockctl "
                              "epoch advance)"
                            : "");
    add_line(to, "by", info->by);
    add_line(to, "why", info->why);
    add_line(to, "at", epoch_at(info).text);
    (void)hf_buf_printf(to, "%-9s %" PRIu64 "\n", "revision",
                        info->store_revision);
    add_line(to, "id", info->store_id);
    if (info->longest_lease_ms > 0)
        (void)hf_buf_printf(to,
                            "%-9s %s: the longest that a holder may count "
                            "on\n",
                            "leases", age_print(info->longest_lease_ms).text);
}

int lockctl_epoch_show(struct lockctl *ctl)
{
    struct hf_request show = {.kind = HF_REQUEST_EPOCH_SHOW};
    struct hf_error error;
    struct hf_json json;

    if (lockctl_open(ctl, true, &error) || lockctl_ask(ctl, &show, &error))
        return lockctl_fail(&error);
    if (ctl->options.is_json) {
        hf_json_begin(&json, &ctl->out);
        hf_json_object(&json, NULL);
        hf_json_text(&json, "store", lockctl_place(ctl));
        epoch_json(&json, &show.epoch);
        hf_json_object_end(&json);
        (void)hf_json_end(&json);
        (void)hf_buf_add(&ctl->out, "\n", 1);
    } else {
        epoch_text(&ctl->out, lockctl_place(ctl), &show.epoch);
    }
    hf_request_clear(&show);
    return 0;
}
