/* SPDX-License-Identifier: Apache-2.0 */
#include "client/deadline.h"

/*
 * The part of the TTL that is given away for clocks that run at different
 * rates: 1/128 of it covers a relative error of 7,812 ppm, where a quartz of
 * the poorest kind errs by some hundreds.
 */
#define RATE_SHARE 128
/* Keepalives of a TTL: two may be lost and the third still comes in time. */
#define RENEWALS 3
/* Tries between one keepalive and the next, once one has failed. */
#define RETRIES 4

static const struct hf_span retry_least = {INT64_C(20000000)};
static const struct hf_span retry_most = {INT64_C(1000000000)};
static const struct hf_span grace_most = {INT64_C(10000000000)};

static struct hf_span retry_span(struct hf_span ttl)
{
    struct hf_span span = {ttl.ns / (RENEWALS * RETRIES)};

    if (span.ns < retry_least.ns)
        return retry_least;
    return span.ns > retry_most.ns ? retry_most : span;
}

struct hf_time hf_deadline_kill_at(const struct hf_deadline *deadline)
{
    int64_t ttl = deadline->ttl.ns;

    return hf_time_add(deadline->sent_at,
                       (struct hf_span){ttl - ttl / RATE_SHARE});
}

struct hf_time hf_deadline_term_at(const struct hf_deadline *deadline)
{
    return hf_time_sub(hf_deadline_kill_at(deadline), deadline->grace);
}

struct hf_time hf_deadline_renew_at(const struct hf_deadline *deadline)
{
    return hf_time_add(deadline->sent_at,
                       (struct hf_span){deadline->ttl.ns / RENEWALS});
}

struct hf_time hf_deadline_retry_at(const struct hf_deadline *deadline,
                                    struct hf_time now)
{
    return hf_time_add(now, retry_span(deadline->ttl));
}

struct hf_span hf_deadline_default_grace(struct hf_span ttl)
{
    struct hf_span grace = {ttl.ns / 4};

    return grace.ns > grace_most.ns ? grace_most : grace;
}

bool hf_deadline_grace_fits(struct hf_span ttl, struct hf_span grace)
{
    int64_t needed = ttl.ns / RENEWALS + 2 * retry_span(ttl).ns;

    /* Compared by what is left, so that no sum can overflow. */
    return grace.ns >= 0 && needed <= ttl.ns - ttl.ns / RATE_SHARE &&
           grace.ns <= ttl.ns - ttl.ns / RATE_SHARE - needed;
}
