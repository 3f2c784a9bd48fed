/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/limits.h"

#include "base/duration.h"
#include "client/deadline.h"

/* A span that the class bounds; `least_ms` may be 0. */
static enum hf_err judge_span(const struct hf_opt_span *span,
                              const char *option, int64_t least_ms,
                              int64_t most_ms, const struct hf_class *rules,
                              struct hf_error *error)
{
    struct hf_span least = hf_span_ms(least_ms);
    struct hf_span most = hf_span_ms(most_ms);

    if (!span->is_given || span->span.ns == INT64_MAX)
        return HF_ERR_OK;
    if (span->span.ns > most.ns)
        return hf_error_set(error, HF_ERR_USAGE,
                            "%s %s is longer than class %s allows (%s)", option,
                            hf_duration_print(span->span).text, rules->name,
                            hf_duration_print(most).text);
    if (span->span.ns < least.ns)
        return hf_error_set(error, HF_ERR_USAGE,
                            "%s %s is shorter than class %s allows (%s)",
                            option, hf_duration_print(span->span).text,
                            rules->name, hf_duration_print(least).text);
    return HF_ERR_OK;
}

struct hf_span limits_ttl(const struct lockrun_options *options,
                          const struct hf_class *rules)
{
    return options->ttl.is_given ? options->ttl.span
                                 : hf_span_ms(rules->ttl_default_ms);
}

static enum hf_err judge_grace(const struct lockrun_options *options,
                               const struct hf_class *rules,
                               struct hf_error *error)
{
    struct hf_span ttl = limits_ttl(options, rules);

    if (!options->grace.is_given ||
        hf_deadline_grace_fits(ttl, options->grace.span))
        return HF_ERR_OK;
    return hf_error_set(
        error, HF_ERR_USAGE,
        "--grace %s does not fit into a TTL of %s, of which a third and two "
        "more tries are for renewals; a longer --ttl makes room",
        hf_duration_print(options->grace.span).text,
        hf_duration_print(ttl).text);
}

enum hf_err limits_judge(const struct lockrun_options *options,
                         const struct hf_class *rules, struct hf_error *error)
{
    enum hf_err err = HF_ERR_OK;

    if (options->mode == HF_SHARED && !rules->shared)
        return hf_error_set(error, HF_ERR_DENIED,
                            "class %s has no shared holds (its mode is "
                            "exclusive)",
                            rules->name);
    /* -n goes before -w. */
    if (!options->is_try)
        err = judge_span(&options->wait, "-w", 0, rules->wait_max_ms, rules,
                         error);
    if (!err)
        err = judge_span(&options->ttl, "--ttl", rules->ttl_min_ms,
                         rules->ttl_max_ms, rules, error);
    if (!err)
        err = judge_grace(options, rules, error);
    if (!err && rules->hold_max_ms > 0)
        err = judge_span(&options->max_run, "--max-run", 0, rules->hold_max_ms,
                         rules, error);
    return err;
}
