/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/pause_kit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

struct hf_span pause_kit_elapsed(const struct pause_kit *kit)
{
    struct hf_sys *sys = kit->setting.sys;

    return hf_time_since(sys->steady(sys), kit->begun);
}

void pause_kit_say(struct pause_kit *kit, const char *format, ...)
{
    struct hf_span at = pause_kit_elapsed(kit);
    char text[160];
    struct hf_buf line;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    pause_report_moment(kit->report, at, text);
    if (kit->run->options->quiet)
        return;
    hf_buf_init(&line, 1024);
    hf_buf_printf(&line, "%5.1fs  ", (double)at.ns / 1e9);
    hf_escape_add(&line, text, strlen(text));
    hf_buf_add_str(&line, "\n");
    if (!line.failed && write(STDERR_FILENO, line.data, line.size) < 0) {
        /* Progress that nobody reads is no reason to end. */
    }
    hf_buf_clear(&line);
}

void pause_kit_next_id(struct pause_kit *kit, char id[PAUSE_ID_SIZE])
{
    struct hf_sys *sys = kit->setting.sys;
    uint32_t chance = 0;

    if (sys->random(sys, &chance, sizeof(chance)) < 0)
        chance = 0;
    snprintf(id, PAUSE_ID_SIZE, "w%u-%08" PRIx32, ++kit->writes, chance);
}

/* ---- reading back
 * -------------------------------------------------------------- */

static bool read_file(const char *path, struct hf_buf *to)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char chunk[4096];
    ssize_t got = -1;

    if (fd < 0)
        return false;
    do {
        got = read(fd, chunk, sizeof(chunk));
        if (got > 0 && hf_buf_add(to, chunk, (size_t)got))
            got = -1;
    } while (got > 0);
    close(fd);
    return got == 0;
}

enum pause_stands pause_kit_read_back(struct pause_kit *kit, bool remembers,
                                      char *why)
{
    struct pause_result result;
    enum pause_stands stands = PAUSE_STANDS_UNREAD;
    struct hf_buf now;
    struct hf_error error;
    char path[512];
    char **environment;

    if (!kit->verify)
        return PAUSE_STANDS_SAME;
    snprintf(path, sizeof(path), "%s/verify", kit->folder);
    environment = pause_environment(NULL, NULL, "verify");
    if (!environment ||
        pause_run_line(kit->setting.sys, kit->verify, environment, path,
                       kit->setting.write_limit, &result, &error)) {
        free(environment);
        snprintf(why, PAUSE_SAID_SIZE, "no memory");
        return PAUSE_STANDS_UNREAD;
    }
    free(environment);
    hf_buf_init(&now, PAUSE_VERIFY_MAX);
    if (result.is_over_time || result.status) {
        snprintf(why, PAUSE_SAID_SIZE, "the verify line ended with %d: %.180s",
                 result.status, result.said);
    } else if (!read_file(path, &now)) {
        snprintf(why, PAUSE_SAID_SIZE, "the verify line printed too much");
    } else {
        stands =
            now.size == kit->stands.size &&
                    (!now.size || !memcmp(now.data, kit->stands.data, now.size))
                ? PAUSE_STANDS_SAME
                : PAUSE_STANDS_OTHER;
        if (remembers) {
            struct hf_buf old = kit->stands;

            kit->stands = now;
            now = old;
        }
    }
    hf_buf_clear(&now);
    return stands;
}

/* ---- judging a write
 * ------------------------------------------------------------ */

static bool output_has(const struct pause_kit *kit, const char *id,
                       const char *text)
{
    struct hf_buf output;
    char path[512];
    bool has;

    snprintf(path, sizeof(path), "%s/%s.out", kit->folder, id);
    hf_buf_init(&output, PAUSE_VERIFY_MAX);
    has = read_file(path, &output) && output.size &&
          strstr(output.data, text) != NULL;
    hf_buf_clear(&output);
    return has;
}

bool pause_kit_says_refused(const struct pause_kit *kit,
                            const struct pause_result *result, const char *id)
{
    const struct lockfence_options *options = kit->run->options;
    const struct hf_opt_number *own = &options->pause.refused_status;
    int status = result->status;

    if (result->is_over_time)
        return false;
    if (status == hf_err_status(HF_ERR_STALE) ||
        status == hf_err_status(HF_ERR_OTHER_GRANT) ||
        status == hf_err_status(HF_ERR_REPEATED) ||
        status == hf_err_status(HF_ERR_NO_TOKEN))
        return true;
    if (own->is_given && own->number == status)
        return true;
    return status && options->pause.refused_text &&
           output_has(kit, id, options->pause.refused_text);
}

static void explain_failure(const struct pause_result *result, char *why,
                            size_t room)
{
    if (result->is_over_time)
        snprintf(why, room, "no end within the limit%s%s",
                 result->said[0] ? ": " : "", result->said);
    else
        snprintf(why, room, "status %d%s%s", result->status,
                 result->said[0] ? ": " : "", result->said);
}

/* A write that must be taken: was it, and does it show? */
static void judge_taken(struct pause_kit *kit, enum pause_trial trial,
                        const struct pause_result *result,
                        struct pause_found *found)
{
    char why[PAUSE_SAID_SIZE] = "";
    enum pause_stands stands;

    if (result->status || result->is_over_time) {
        found->fate = PAUSE_UNCLEAR;
        explain_failure(result, found->why, sizeof(found->why));
        return;
    }
    stands = pause_kit_read_back(kit, true, why);
    found->fate = PAUSE_TAKEN;
    if (stands == PAUSE_STANDS_UNREAD) {
        found->fate = PAUSE_UNCLEAR;
        snprintf(found->why, sizeof(found->why), "%s", why);
    } else if (kit->verify && stands == PAUSE_STANDS_SAME &&
               (trial == PAUSE_TAKEOVER || trial == PAUSE_THIRD)) {
        found->fate = PAUSE_UNCLEAR;
        snprintf(found->why, sizeof(found->why),
                 "the verify line prints the same as before it (the write line "
                 "should write $LOCK_TOKEN or $PAUSETEST_WRITE)");
    }
}

/* Is the very same line, run the same way, taken under a current grant? */
static bool control_is_taken(struct pause_kit *kit,
                             const struct pause_grant *control)
{
    struct pause_result result;
    struct hf_error error;
    char why[PAUSE_SAID_SIZE];
    char id[PAUSE_ID_SIZE];
    char path[512];
    char **environment;
    enum hf_err failed;

    pause_kit_next_id(kit, id);
    snprintf(path, sizeof(path), "%s/%s.out", kit->folder, id);
    environment = pause_environment(control, NULL, id);
    if (!environment)
        return false;
    failed = pause_run_line(kit->setting.sys, kit->setting.line, environment,
                            path, kit->setting.write_limit, &result, &error);
    free(environment);
    return !failed && !result.is_over_time && !result.status &&
           pause_kit_read_back(kit, true, why) != PAUSE_STANDS_UNREAD;
}

/* A write that must be refused: was it, by the resource? */
static void judge_refused(struct pause_kit *kit, const char *id,
                          const struct pause_result *result,
                          const struct pause_grant *control,
                          struct pause_found *found)
{
    bool says_refused = pause_kit_says_refused(kit, result, id);
    char why[PAUSE_SAID_SIZE] = "";
    enum pause_stands stands = pause_kit_read_back(kit, false, why);

    if (stands == PAUSE_STANDS_OTHER) {
        found->fate = PAUSE_TAKEN;
        snprintf(found->why, sizeof(found->why),
                 "the verify line shows the change (the write line ended with "
                 "%d)",
                 result->status);
        pause_kit_read_back(kit, true, why);
    } else if (stands == PAUSE_STANDS_UNREAD) {
        found->fate = PAUSE_UNCLEAR;
        snprintf(found->why, sizeof(found->why), "%s", why);
    } else if (says_refused) {
        found->fate = PAUSE_REFUSED;
    } else if (!result->status && !result->is_over_time) {
        found->fate = kit->verify ? PAUSE_REFUSED : PAUSE_TAKEN;
        if (kit->verify)
            snprintf(found->why, sizeof(found->why),
                     "nothing changed, although the write line ended with 0");
    } else if (kit->verify && !result->is_over_time && control &&
               control_is_taken(kit, control)) {
        found->fate = PAUSE_REFUSED;
        snprintf(found->why, sizeof(found->why),
                 "status %d; the same line under the current token is taken",
                 result->status);
    } else {
        found->fate = PAUSE_UNCLEAR;
        explain_failure(result, found->why, sizeof(found->why));
        if (!result->is_over_time)
            snprintf(found->why + strlen(found->why),
                     sizeof(found->why) - strlen(found->why),
                     kit->verify
                         ? " (is that a refusal? --refused-status, "
                           "--refused-text)"
                         : " (is that a refusal? --verify LINE finds it out)");
    }
}

static void judge(struct pause_kit *kit, enum pause_trial trial, const char *id,
                  const struct pause_result *result,
                  const struct pause_grant *control)
{
    struct pause_found *found = &kit->report->found[trial];
    bool is_strict = kit->report->is_strict;

    found->was_tried = true;
    found->status = result->status;
    found->took = result->took;
    switch (pause_trial_must(trial, is_strict)) {
    case PAUSE_MUST_TAKE:
    case PAUSE_MUST_TAKE_ONCE:
        judge_taken(kit, trial, result, found);
        break;
    case PAUSE_MUST_NOTE:
    case PAUSE_MUST_FAIL:
        judge_refused(kit, id, result, NULL, found);
        /* Without a token no write can be a stale one: any failure will do. */
        if (found->fate == PAUSE_UNCLEAR) {
            found->fate = PAUSE_REFUSED;
            snprintf(found->why, sizeof(found->why), "status %d",
                     result->status);
        }
        break;
    case PAUSE_MUST_REFUSE:
        judge_refused(kit, id, result, is_strict ? NULL : control, found);
        break;
    }
    pause_kit_say(kit, "%s: %s", pause_trial_what(trial),
                  found->fate == PAUSE_TAKEN     ? "taken"
                  : found->fate == PAUSE_REFUSED ? "refused"
                                                 : "failed");
}

/* ---- the two ways to write
 * ------------------------------------------------------- */

enum hf_err pause_kit_try(struct pause_kit *kit, enum pause_trial trial,
                          const struct pause_grant *grant,
                          const struct pause_change *changes,
                          const struct pause_grant *control)
{
    struct hf_error *error = kit->run->error;
    struct pause_result result;
    char id[PAUSE_ID_SIZE];
    char path[512];
    char **environment;
    enum hf_err failed;

    pause_kit_next_id(kit, id);
    snprintf(path, sizeof(path), "%s/%s.out", kit->folder, id);
    environment = pause_environment(grant, changes, id);
    if (!environment)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory");
    kit->report->found[trial].at = pause_kit_elapsed(kit);
    failed = pause_run_line(kit->setting.sys, kit->setting.line, environment,
                            path, kit->setting.write_limit, &result, error);
    free(environment);
    if (failed)
        return failed;
    judge(kit, trial, id, &result, control);
    return HF_ERR_OK;
}

enum hf_err pause_kit_try_holder(struct pause_kit *kit, enum pause_trial trial,
                                 struct pause_holder *holder,
                                 const struct pause_grant *control)
{
    struct pause_result result;
    char id[PAUSE_ID_SIZE];
    enum hf_err failed;

    pause_kit_next_id(kit, id);
    kit->report->found[trial].at = pause_kit_elapsed(kit);
    kit->report->found[trial].token = holder->grant.token;
    failed =
        pause_holder_write(&kit->setting, holder, id, kit->setting.write_limit,
                           &result, kit->run->error);
    if (failed)
        return failed;
    judge(kit, trial, id, &result, control);
    return HF_ERR_OK;
}
