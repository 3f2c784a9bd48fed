/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths of time as people write them, as timeout(1) takes them: 90, 500ms,
 * 1.5s, 1h30m, 2h, 1d. One syntax for options, class files and messages.
 * Everybody may use it.
 */
#ifndef HF_BASE_DURATION_H
#define HF_BASE_DURATION_H

#include "base/err.h"
#include "base/time.h"

/*
 * Read a whole text: a number of seconds, or numbers each with a unit (d, h, m,
 * s, ms) from the larger to the smaller. Numbers are decimal, may have a
 * fraction, no sign and no exponent; what is finer than a nanosecond is rounded
 * up, so that no wait becomes none. Finite, never negative; the word "forever"
 * is the caller's to know. Error: USAGE, *span untouched; the sentence
 * begins with the text in quotes.
 */
enum hf_err hf_duration_parse(const char *text, struct hf_span *span,
                              struct hf_error *error);

/* The longest is "-106751d23h47m16.854775807s" and its end. */
struct hf_duration_text {
    char text[32];
};

/*
 * The same syntax, exactly, as short as it goes: "1h30m", "1.5s", "500ms",
 * "0s", "forever". A negative span has a '-' in front.
 */
struct hf_duration_text hf_duration_print(struct hf_span span);

#endif
