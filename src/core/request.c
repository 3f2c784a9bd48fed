/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request.h"

#include <stdlib.h>
#include <string.h>

const char *const hf_mode_names[] = {
    [HF_EXCLUSIVE] = "exclusive",
    [HF_SHARED] = "shared",
    NULL,
};

const char *const hf_notice_names[] = {
    [HF_NOTICE_QUEUED] = "queued",
    [HF_NOTICE_LEFT] = "left",
    [HF_NOTICE_WAIT_ENDED] = "wait-ended",
    [HF_NOTICE_GRANTED] = "granted",
    [HF_NOTICE_HANDED_OVER] = "handed-over",
    [HF_NOTICE_RELEASED] = "released",
    [HF_NOTICE_ENDED] = "ended",
    [HF_NOTICE_OUTDATED] = "outdated",
    [HF_NOTICE_KEPT] = "kept",
    [HF_NOTICE_FREED] = "freed",
    NULL,
};

void hf_request_clear(struct hf_request *request)
{
    free((char *)(uintptr_t)request->state_path);
    free(request->infos);
    free(request->notices);
    memset(&request->answer, 0,
           sizeof(*request) - offsetof(struct hf_request, answer));
    request->state_fd = -1;
}

const char *hf_request_name(enum hf_request_kind kind)
{
    static const char *const names[] = {
#define HF_REQUEST(name, text) [HF_REQUEST_##name] = #name,
#include "core/request.def"
#undef HF_REQUEST
    };

    hf_assert(kind < HF_REQUEST_COUNT);
    return names[kind];
}
