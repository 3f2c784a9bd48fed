/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A moment of the wall clock as text: RFC 3339, always UTC, so that two hosts'
 * messages can be laid side by side. Reads no time zone files. Everybody may
 * use it.
 */
#ifndef HF_BASE_UTC_H
#define HF_BASE_UTC_H

#include "base/time.h"

struct hf_utc_text {
    char text[32];
};

/*
 * "2026-06-01T12:00:00Z", cut (not rounded) to `digits` of a second's fraction,
 * 0 to 9: with 3, "2026-06-01T12:00:00.250Z".
 */
struct hf_utc_text hf_utc_print(struct hf_wall wall, unsigned int digits);

#endif
