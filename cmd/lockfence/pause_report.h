/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pause test found: trials, timeline, verdict, and how they are
 * printed, as text, JSON and JUnit. For pausetest alone.
 */
#ifndef LOCKFENCE_PAUSE_REPORT_H
#define LOCKFENCE_PAUSE_REPORT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/time.h"
#include "cmd/lockfence/pause_proc.h"

enum pause_trial {
#define PAUSE_TRIAL(name, word, must, what) PAUSE_##name,
#include "cmd/lockfence/pause_trial.def"
#undef PAUSE_TRIAL
    PAUSE_TRIAL_COUNT
};

enum pause_must {
    PAUSE_MUST_TAKE,
    PAUSE_MUST_TAKE_ONCE,
    PAUSE_MUST_REFUSE,
    PAUSE_MUST_FAIL,
    PAUSE_MUST_NOTE
};

/* What became of a write. */
enum pause_fate {
    PAUSE_NOT_TRIED,
    PAUSE_TAKEN,
    PAUSE_REFUSED,
    PAUSE_UNCLEAR, /* it failed, and not by the resource's refusal */
    PAUSE_FATE_COUNT
};

enum pause_verdict { PAUSE_FENCED, PAUSE_NOT_FENCED, PAUSE_INCONCLUSIVE };

struct pause_found {
    enum pause_fate fate;
    bool was_tried;
    int status;     /* of the write line */
    uint64_t token; /* 0: none */
    struct hf_span at;
    struct hf_span took;
    char why[400]; /* a remark: what it said, what is unclear */
};

enum { PAUSE_MOMENTS_MAX = 128 };

struct pause_report {
    const char *write_line;
    const char *verify_line; /* NULL: none */
    const char *key;
    bool is_strict;
    struct pause_found found[PAUSE_TRIAL_COUNT];
    size_t moment_count;
    struct {
        struct hf_span at;
        char text[160];
    } moments[PAUSE_MOMENTS_MAX];
    /* What kept the test from its end; "" when nothing did. */
    char broken[600];
};

const char *pause_trial_what(enum pause_trial trial);
enum pause_must pause_trial_must(enum pause_trial trial, bool is_strict);

void pause_report_moment(struct pause_report *report, struct hf_span at,
                         const char *text);

enum pause_verdict pause_report_verdict(const struct pause_report *report);
/* "FENCED: ..." and its fellows, one sentence. */
void pause_report_sentence(const struct pause_report *report,
                           struct hf_buf *out);
void pause_report_text(const struct pause_report *report, struct hf_buf *out);
void pause_report_json(const struct pause_report *report, struct hf_buf *out);
void pause_report_junit(const struct pause_report *report, struct hf_buf *out);

#endif
