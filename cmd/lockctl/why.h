/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a key is stuck, or that it is not, in one sentence. Pure: judges what the
 * service told, asks nobody. For `lockctl show`.
 */
#ifndef LOCKCTL_WHY_H
#define LOCKCTL_WHY_H

#include <stdbool.h>

#include "base/buf.h"
#include "core/request.h"

struct why {
    /* Of one key, as SHOW answers them. */
    const struct hf_hold_info *infos;
    size_t info_count;
    uint64_t waiting; /* all, also those that `infos` left out */
    struct hf_time now;
    struct hf_wall wall;
    bool is_sealed;
    /* The exclusive holder's lockrun was stopped by a signal: its pid, or 0. */
    uint32_t stopped_pid;
    /* Or it is gone: nobody renews its lease. */
    uint32_t gone_pid;
};

/* Append the sentence, no end of line. Errors: of the buffer. */
enum hf_err why_print(const struct why *why, struct hf_buf *to);

#endif
