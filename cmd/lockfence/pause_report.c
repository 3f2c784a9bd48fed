/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/pause_report.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/utf8.h"

static const struct {
    const char *word;
    enum pause_must must;
    const char *what;
} trials[PAUSE_TRIAL_COUNT] = {
#define PAUSE_TRIAL(name, word, must, what)                                    \
    [PAUSE_##name] = {word, PAUSE_MUST_##must, what},
#include "cmd/lockfence/pause_trial.def"
#undef PAUSE_TRIAL
};

const char *pause_trial_what(enum pause_trial trial)
{
    return trials[trial].what;
}

enum pause_must pause_trial_must(enum pause_trial trial, bool is_strict)
{
    enum pause_must must = trials[trial].must;

    if (must != PAUSE_MUST_TAKE_ONCE)
        return must;
    return is_strict ? PAUSE_MUST_REFUSE : PAUSE_MUST_TAKE;
}

void pause_report_moment(struct pause_report *report, struct hf_span at,
                         const char *text)
{
    if (report->moment_count == PAUSE_MOMENTS_MAX)
        return;
    report->moments[report->moment_count].at = at;
    snprintf(report->moments[report->moment_count].text,
             sizeof(report->moments[0].text), "%s", text);
    report->moment_count++;
}

/* ---- judging
 * ------------------------------------------------------------------ */

/* How one trial came out. */
enum outcome { RIGHT, HOLE, UNCLEAR, LEFT_OUT };

static enum outcome outcome_of(const struct pause_report *report,
                               enum pause_trial trial)
{
    static const enum outcome outcomes[][PAUSE_FATE_COUNT] = {
        /* not tried, taken, refused, unclear */
        [PAUSE_MUST_TAKE] = {LEFT_OUT, RIGHT, UNCLEAR, UNCLEAR},
        [PAUSE_MUST_TAKE_ONCE] = {LEFT_OUT, RIGHT, UNCLEAR, UNCLEAR},
        [PAUSE_MUST_REFUSE] = {LEFT_OUT, HOLE, RIGHT, UNCLEAR},
        [PAUSE_MUST_FAIL] = {LEFT_OUT, HOLE, RIGHT, RIGHT},
        [PAUSE_MUST_NOTE] = {LEFT_OUT, RIGHT, RIGHT, RIGHT},
    };

    return outcomes[pause_trial_must(trial, report->is_strict)]
                   [report->found[trial].fate];
}

/* The first trial of that outcome; COUNT: none. */
static enum pause_trial first_of(const struct pause_report *report,
                                 enum outcome outcome)
{
    int i = 0;

    while (i < PAUSE_TRIAL_COUNT &&
           outcome_of(report, (enum pause_trial)i) != outcome)
        i++;
    return (enum pause_trial)i;
}

/* Trials without which nothing is proved: all but those that may be left out.
 */
static bool is_whole(const struct pause_report *report)
{
    for (int i = 0; i < PAUSE_TRIAL_COUNT; i++)
        if (report->found[i].fate == PAUSE_NOT_TRIED && i != PAUSE_POINTS &&
            i != PAUSE_NEAR && i != PAUSE_RESUMED)
            return false;
    return true;
}

enum pause_verdict pause_report_verdict(const struct pause_report *report)
{
    /* A stale write that went in is proof, whatever else went wrong. */
    if (first_of(report, HOLE) != PAUSE_TRIAL_COUNT)
        return PAUSE_NOT_FENCED;
    if (report->broken[0] || first_of(report, UNCLEAR) != PAUSE_TRIAL_COUNT ||
        !is_whole(report))
        return PAUSE_INCONCLUSIVE;
    /* A line that looks, writes, and tells by its status what it saw refuses
     * as well as a fence does, as long as nobody looks at the resource. */
    return report->verify_line ? PAUSE_FENCED : PAUSE_INCONCLUSIVE;
}

static const char *const verdict_words[] = {
    [PAUSE_FENCED] = "FENCED",
    [PAUSE_NOT_FENCED] = "NOT FENCED",
    [PAUSE_INCONCLUSIVE] = "INCONCLUSIVE",
};

void pause_report_sentence(const struct pause_report *report,
                           struct hf_buf *out)
{
    enum pause_verdict verdict = pause_report_verdict(report);
    enum pause_trial hole = first_of(report, HOLE);
    enum pause_trial unclear = first_of(report, UNCLEAR);
    const char *why;

    hf_buf_printf(out, "%s: ", verdict_words[verdict]);
    switch (verdict) {
    case PAUSE_FENCED:
        why = report->found[PAUSE_POINTS].why;
        hf_buf_add_str(out, "the resource refused every stale write");
        if (report->found[PAUSE_POINTS].fate == PAUSE_NOT_TRIED)
            hf_buf_printf(out,
                          " that was tried; one that is stopped between a "
                          "check and its write was not (%s)",
                          why);
        break;
    case PAUSE_NOT_FENCED:
        why = report->found[hole].why;
        hf_buf_printf(out,
                      "the resource took a write that it had to refuse: %s",
                      trials[hole].what);
        if (hole == PAUSE_POINTS && why[0]) {
            hf_buf_add_str(out, " (");
            hf_escape_add(out, why, strlen(why));
            hf_buf_add_str(out, ")");
        }
        break;
    case PAUSE_INCONCLUSIVE:
        if (unclear != PAUSE_TRIAL_COUNT) {
            why = report->found[unclear].why;
            hf_buf_printf(out, "%s: ", trials[unclear].what);
        } else if (report->broken[0]) {
            why = report->broken;
        } else if (!is_whole(report)) {
            why = "not all was tried";
        } else {
            why = "every stale write was refused as the write line itself "
                  "tells it, which one that looks and then writes does too: "
                  "--verify LINE, which prints what the resource holds, "
                  "settles it";
        }
        hf_escape_add(out, why, strlen(why));
        break;
    }
}

/* ---- text
 * --------------------------------------------------------------------- */

static const char *const fate_words[PAUSE_FATE_COUNT] = {
    [PAUSE_NOT_TRIED] = "not tried",
    [PAUSE_TAKEN] = "taken",
    [PAUSE_REFUSED] = "refused",
    [PAUSE_UNCLEAR] = "failed",
};

static const char *const outcome_words[] = {
    [RIGHT] = "right",
    [HOLE] = "HOLE",
    [UNCLEAR] = "UNCLEAR",
    [LEFT_OUT] = "-",
};

void pause_report_text(const struct pause_report *report, struct hf_buf *out)
{
    for (int i = 0; i < PAUSE_TRIAL_COUNT; i++) {
        const struct pause_found *found = &report->found[i];

        hf_buf_printf(out, "%-7s  %-9s  %s",
                      outcome_words[outcome_of(report, (enum pause_trial)i)],
                      fate_words[found->fate], trials[i].what);
        if (found->why[0]) {
            hf_buf_add_str(out, ": ");
            hf_escape_add(out, found->why, strlen(found->why));
        }
        hf_buf_add_str(out, "\n");
    }
    pause_report_sentence(report, out);
    hf_buf_add_str(out, "\n");
}

/* ---- JSON
 * --------------------------------------------------------------------- */

static int64_t in_ms(struct hf_span span)
{
    return span.ns / 1000000;
}

static void add_trial_json(const struct pause_report *report,
                           enum pause_trial trial, struct hf_json *json)
{
    const struct pause_found *found = &report->found[trial];
    enum pause_must must = pause_trial_must(trial, report->is_strict);

    hf_json_object(json, NULL);
    hf_json_text(json, "name", trials[trial].word);
    hf_json_text(json, "what", trials[trial].what);
    hf_json_text(json, "must",
                 must == PAUSE_MUST_NOTE   ? "either"
                 : must == PAUSE_MUST_TAKE ? "be taken"
                                           : "be refused");
    hf_json_text(json, "was", fate_words[found->fate]);
    if (found->was_tried) {
        hf_json_i64(json, "status", found->status);
        hf_json_i64(json, "at_ms", in_ms(found->at));
        hf_json_i64(json, "took_ms", in_ms(found->took));
    }
    if (found->token)
        hf_json_decimal(json, "token", found->token);
    if (found->why[0])
        hf_json_text(json, "remark", found->why);
    hf_json_object_end(json);
}

void pause_report_json(const struct pause_report *report, struct hf_buf *out)
{
    struct hf_json json;
    struct hf_buf sentence;

    hf_buf_init(&sentence, 4096);
    pause_report_sentence(report, &sentence);
    hf_json_begin(&json, out);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "verdict", verdict_words[pause_report_verdict(report)]);
    hf_json_text(&json, "sentence", sentence.failed ? "" : sentence.data);
    hf_json_text(&json, "key", report->key);
    hf_json_text(&json, "write", report->write_line);
    if (report->verify_line)
        hf_json_text(&json, "verify", report->verify_line);
    hf_json_bool(&json, "strict", report->is_strict);
    hf_json_array(&json, "trials");
    for (int i = 0; i < PAUSE_TRIAL_COUNT; i++)
        add_trial_json(report, (enum pause_trial)i, &json);
    hf_json_array_end(&json);
    hf_json_array(&json, "timeline");
    for (size_t i = 0; i < report->moment_count; i++) {
        hf_json_object(&json, NULL);
        hf_json_i64(&json, "at_ms", in_ms(report->moments[i].at));
        hf_json_text(&json, "text", report->moments[i].text);
        hf_json_object_end(&json);
    }
    hf_json_array_end(&json);
    hf_json_object_end(&json);
    if (!hf_json_end(&json))
        hf_buf_add_str(out, "\n");
    hf_buf_clear(&sentence);
}

/* ---- JUnit
 * -------------------------------------------------------------------- */

/* Text as XML 1.0 may hold it, in an attribute or between tags. */
static void add_xml(struct hf_buf *out, const char *text)
{
    size_t left = strlen(text);

    while (left) {
        uint32_t code = 0;
        size_t size = hf_utf8_read(text, left, &code);

        if (!size || code < 0x20 || code == 0xfffe || code == 0xffff)
            hf_buf_add_str(out,
                           size && (code == '\n' || code == '\t') ? " " : "?");
        else if (code == '&')
            hf_buf_add_str(out, "&amp;");
        else if (code == '<')
            hf_buf_add_str(out, "&lt;");
        else if (code == '>')
            hf_buf_add_str(out, "&gt;");
        else if (code == '"')
            hf_buf_add_str(out, "&quot;");
        else
            hf_buf_add(out, text, size);
        text += size ? size : 1;
        left -= size ? size : 1;
    }
}

static void add_seconds(struct hf_buf *out, struct hf_span span)
{
    hf_buf_printf(out, "%lld.%03lld", (long long)(span.ns / 1000000000),
                  (long long)(span.ns / 1000000 % 1000));
}

static void add_case(const struct pause_report *report, enum pause_trial trial,
                     struct hf_buf *out)
{
    const struct pause_found *found = &report->found[trial];
    enum outcome outcome = outcome_of(report, trial);

    hf_buf_printf(out,
                  "  <testcase classname=\"pausetest\" name=\"%s\" time=\"",
                  trials[trial].word);
    add_seconds(out, found->took);
    hf_buf_add_str(out, "\">");
    if (outcome != RIGHT) {
        const char *tag = outcome == HOLE      ? "failure"
                          : outcome == UNCLEAR ? "error"
                                               : "skipped";

        hf_buf_printf(out, "<%s message=\"", tag);
        add_xml(out, trials[trial].what);
        hf_buf_printf(out, ": %s", fate_words[found->fate]);
        if (found->why[0]) {
            hf_buf_add_str(out, ": ");
            add_xml(out, found->why);
        }
        hf_buf_add_str(out, "\"/>");
    }
    hf_buf_add_str(out, "</testcase>\n");
}

void pause_report_junit(const struct pause_report *report, struct hf_buf *out)
{
    enum pause_verdict verdict = pause_report_verdict(report);
    struct hf_buf sentence;
    int counts[LEFT_OUT + 1] = {0};

    hf_buf_init(&sentence, 4096);
    pause_report_sentence(report, &sentence);
    for (int i = 0; i < PAUSE_TRIAL_COUNT; i++)
        counts[outcome_of(report, (enum pause_trial)i)]++;
    hf_buf_printf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"lockfence pausetest\" tests=\"%d\" "
        "failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
        PAUSE_TRIAL_COUNT + 1, counts[HOLE] + (verdict == PAUSE_NOT_FENCED),
        counts[UNCLEAR] + (verdict == PAUSE_INCONCLUSIVE), counts[LEFT_OUT]);
    for (int i = 0; i < PAUSE_TRIAL_COUNT; i++)
        add_case(report, (enum pause_trial)i, out);
    /* A case of its own, so that INCONCLUSIVE is never green. */
    hf_buf_add_str(out,
                   "  <testcase classname=\"pausetest\" name=\"verdict\">");
    if (verdict != PAUSE_FENCED) {
        const char *tag = verdict == PAUSE_NOT_FENCED ? "failure" : "error";

        hf_buf_printf(out, "<%s message=\"", tag);
        add_xml(out, sentence.failed ? "" : sentence.data);
        hf_buf_add_str(out, "\"/>");
    }
    hf_buf_add_str(out, "</testcase>\n  <system-out>");
    for (size_t i = 0; i < report->moment_count; i++) {
        add_seconds(out, report->moments[i].at);
        hf_buf_add_str(out, " ");
        add_xml(out, report->moments[i].text);
        hf_buf_add_str(out, "\n");
    }
    hf_buf_add_str(out, "</system-out>\n</testsuite>\n");
    hf_buf_clear(&sentence);
}
