/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local deadline: by when the holder has stopped. Pure arithmetic on the
 * steady clock; the simulator runs this very code. Invariant: counted from when
 * the last answered keepalive was *sent*, it comes before the store can let the
 * lease lapse, for clocks whose rates differ by less than 1/128 (7,812 ppm).
 */
#ifndef HF_CLIENT_DEADLINE_H
#define HF_CLIENT_DEADLINE_H

#include <stdbool.h>

#include "base/time.h"

struct hf_deadline {
    struct hf_time sent_at; /* of the last answered keepalive */
    struct hf_span ttl;
    struct hf_span grace; /* between TERM and KILL */
};

/* When the tree must be gone: sent_at + ttl - ttl/128. */
struct hf_time hf_deadline_kill_at(const struct hf_deadline *deadline);
/* When it is asked to end: kill_at - grace. */
struct hf_time hf_deadline_term_at(const struct hf_deadline *deadline);
/* When the next keepalive is due: sent_at + ttl/3. */
struct hf_time hf_deadline_renew_at(const struct hf_deadline *deadline);
/* After a failed one at `now`: ttl/12, but 20 ms to 1 s, later. */
struct hf_time hf_deadline_retry_at(const struct hf_deadline *deadline,
                                    struct hf_time now);
/* The grace when none is asked for: a quarter of the TTL, at most 10 s. */
struct hf_span hf_deadline_default_grace(struct hf_span ttl);
/* Is there room for a grace: after the first renewal is due, two retries? */
bool hf_deadline_grace_fits(struct hf_span ttl, struct hf_span grace);

#endif
