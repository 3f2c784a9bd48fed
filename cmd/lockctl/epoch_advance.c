/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockctl epoch advance --why TEXT: ends everything that is held. Shows first
 * what that is, and wants the present epoch's number typed before it goes on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/lockctl/epoch.h"
#include "cmd/lockctl/hold.h"

/* Between two lines that say how long it still waits. */
#define PROGRESS_EVERY hf_span_ms(5000)
/* In each list of the dry run. */
enum { NAMED_MAX = 50 };

struct advancing {
    struct lockctl *ctl;
    struct hf_request show;
    struct hf_request list;
    struct hf_request advance;
    size_t holds;
    size_t waiters;
};

static void count(struct advancing *advancing)
{
    size_t i;

    for (i = 0; i < advancing->list.info_count; i++) {
        if (advancing->list.infos[i].kind == HF_WAITER)
            advancing->waiters++;
        else if (hold_is_hold(&advancing->list.infos[i]))
            advancing->holds++;
    }
}

/* What would be ended, and how long it waits, to a stream that people read. */
static void print_plan(const struct advancing *advancing, struct hf_buf *to)
{
    const struct hf_epoch_info *info = &advancing->show.epoch;
    struct hf_time now = advancing->ctl->sys.steady(&advancing->ctl->sys);
    size_t named = 0;
    size_t i;

    epoch_text(to, lockctl_place(advancing->ctl), info);
    (void)hf_buf_printf(to,
                        "\nAn advance ends %zu hold%s and %zu place%s in "
                        "queues%s%s\n",
                        advancing->holds, advancing->holds == 1 ? "" : "s",
                        advancing->waiters, advancing->waiters == 1 ? "" : "s",
                        advancing->list.more ? ", and more" : "",
                        advancing->holds > 0 ? ":" : ".");
    for (i = 0; i < advancing->list.info_count; i++) {
        const struct hf_hold_info *hold = &advancing->list.infos[i];

        if (!hold_is_hold(hold))
            continue;
        if (++named > NAMED_MAX) {
            (void)hf_buf_add_str(to, "  ...\n");
            break;
        }
        (void)hf_buf_printf(to, "  %s, %s, pid %" PRIu32 ", %s, for %s\n",
                            hold->key, hold->who.host, hold->who.pid,
                            hold_state_name(hold_state_of(hold)),
                            age_print(hold_age_ms(hold, now)).text);
    }
    if (info->longest_lease_ms <= 0)
        (void)hf_buf_add_str(to, "It need not wait: no lease runs that a "
                                 "holder may count on.\n");
    else if (advancing->ctl->options.is_now)
        (void)hf_buf_printf(
            to,
            "It would wait %s for leases that holders count on; with "
            "--now it does not, and their jobs may write on.\n",
            age_print(info->longest_lease_ms).text);
    else
        (void)hf_buf_printf(to,
                            "It waits %s, until the last lease that a holder "
                            "may count on has ended.\n",
                            age_print(info->longest_lease_ms).text);
}

static void print_json(const struct advancing *advancing, const char *outcome,
                       const struct hf_epoch_info *info)
{
    struct hf_buf *to = &advancing->ctl->out;
    struct hf_time now = advancing->ctl->sys.steady(&advancing->ctl->sys);
    struct hf_json json;
    size_t i;

    hf_json_begin(&json, to);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "store", lockctl_place(advancing->ctl));
    hf_json_text(&json, "outcome", outcome);
    epoch_json(&json, info);
    hf_json_i64(&json, "waits_ms",
                advancing->ctl->options.is_now
                    ? 0
                    : advancing->show.epoch.longest_lease_ms);
    hf_json_array(&json, "ends");
    for (i = 0; i < advancing->list.info_count; i++) {
        const struct hf_hold_info *hold = &advancing->list.infos[i];

        if (!hold_is_hold(hold))
            continue;
        hf_json_object(&json, NULL);
        hf_json_text(&json, "key", hold->key);
        hold_json(&json, hold, now, 0);
        hf_json_object_end(&json);
    }
    hf_json_array_end(&json);
    hf_json_u64(&json, "ends_waiters", advancing->waiters);
    hf_json_bool(&json, "more", advancing->list.more);
    hf_json_object_end(&json);
    (void)hf_json_end(&json);
    (void)hf_buf_add(to, "\n", 1);
}

/* Show the plan on standard error, and have the epoch's number typed. */
static enum hf_err confirm(const struct advancing *advancing,
                           struct hf_error *error)
{
    char expected[16];
    char typed[64];
    struct hf_buf plan;

    if (advancing->ctl->options.is_yes)
        return HF_ERR_OK;
    if (!isatty(STDIN_FILENO))
        return hf_error_set(error, HF_ERR_USAGE,
                            "epoch advance ends everything that is held: on "
                            "no terminal it needs --yes (--dry-run shows "
                            "what it would do); nothing was changed");
    hf_buf_init(&plan, 1 << 20);
    print_plan(advancing, &plan);
    if (!plan.failed)
        fputs(plan.data, stderr);
    hf_buf_clear(&plan);
    snprintf(expected, sizeof(expected), "%" PRIu32,
             advancing->show.epoch.epoch);
    fprintf(stderr, "Type the number of the present epoch to go on: ");
    (void)fflush(stderr);
    if (!fgets(typed, sizeof(typed), stdin))
        typed[0] = '\0';
    typed[strcspn(typed, "\n")] = '\0';
    if (strcmp(typed, expected) != 0)
        return hf_error_set(error, HF_ERR_USAGE,
                            "that is not %s: nothing was changed", expected);
    return HF_ERR_OK;
}

/* "NAME@HOST", as far as it can be told. */
static void who_asks(char to[HF_HOST_SIZE])
{
    char host[HF_HOST_SIZE] = "";
    struct user_text user = user_print(geteuid());

    if (gethostname(host, sizeof(host)))
        host[0] = '\0';
    host[sizeof(host) - 1] = '\0';
    snprintf(to, HF_HOST_SIZE, "%.20s on %.40s", user.text, host);
}

static enum hf_err advance(struct advancing *advancing, struct hf_error *error)
{
    struct lockctl *ctl = advancing->ctl;
    struct hf_request *request = &advancing->advance;
    int64_t waits_ms = advancing->show.epoch.longest_lease_ms;
    struct hf_time end;
    struct hf_time next;

    request->epoch.revision = advancing->show.epoch.revision;
    request->now = ctl->options.is_now;
    who_asks(request->epoch.by);
    snprintf(request->epoch.why, sizeof(request->epoch.why), "%s",
             ctl->options.why);
    if (!request->now && waits_ms > 0)
        lockctl_note("sealing the store; then waiting %s for the leases of "
                     "holders to end. Interrupted, the store stays sealed: run "
                     "this again",
                     age_print(waits_ms).text);
    lockctl_submit(ctl, request);
    next = ctl->sys.steady(&ctl->sys);
    end = hf_time_add(next, hf_span_ms(waits_ms));
    for (;;) {
        struct hf_span left;

        next = hf_time_add(next, PROGRESS_EVERY);
        if (lockctl_wait(ctl, request, next))
            break;
        left = hf_time_since(end, ctl->sys.steady(&ctl->sys));
        lockctl_note("sealed; %s left",
                     age_print(left.ns > 0 ? left.ns / 1000000 : 0).text);
    }
    if (request->answer != HF_ANSWER_FAILED)
        return HF_ERR_OK;
    *error = request->error;
    return error->code;
}

/* Told before anything is opened for writing. */
static enum hf_err look(struct advancing *advancing, struct hf_error *error)
{
    struct lockctl *ctl = advancing->ctl;

    if (lockctl_open(ctl, true, error) ||
        lockctl_ask(ctl, &advancing->show, error) ||
        lockctl_ask(ctl, &advancing->list, error))
        return error->code;
    count(advancing);
    if (!advancing->show.epoch.exists)
        return hf_error_set(error, HF_ERR_NOT_HELD,
                            "%s: nothing was ever granted here, so there is no "
                            "epoch to advance",
                            lockctl_place(ctl));
    return HF_ERR_OK;
}

static int look_and_advance(struct advancing *advancing)
{
    struct lockctl *ctl = advancing->ctl;
    struct hf_error error;

    if (look(advancing, &error))
        return lockctl_fail(&error);
    if (ctl->options.is_dry_run) {
        if (ctl->options.is_json)
            print_json(advancing, "would-advance", &advancing->show.epoch);
        else
            print_plan(advancing, &ctl->out);
        return 0;
    }
    if (!ctl->options.why) {
        (void)hf_error_set(&error, HF_ERR_USAGE,
                           "epoch advance needs --why with the reason, which "
                           "is kept (--dry-run shows what it would do)");
        return lockctl_fail(&error);
    }
    if (confirm(advancing, &error))
        return lockctl_fail(&error);
    ctl->transport->ops->close(ctl->transport);
    ctl->transport = NULL;
    if (lockctl_open(ctl, false, &error) || advance(advancing, &error))
        return lockctl_fail(&error);
    if (ctl->options.is_json)
        print_json(advancing, "advanced", &advancing->advance.epoch);
    else
        (void)hf_buf_printf(&ctl->out,
                            "epoch %" PRIu32 ": everything held before is "
                            "over (%zu hold%s)\n",
                            advancing->advance.epoch.epoch, advancing->holds,
                            advancing->holds == 1 ? "" : "s");
    return 0;
}

int lockctl_epoch_advance(struct lockctl *ctl)
{
    struct advancing advancing = {
        .ctl = ctl,
        .show = {.kind = HF_REQUEST_EPOCH_SHOW},
        .list = {.kind = HF_REQUEST_LIST, .limit = HF_STORE_LIST_MAX},
        .advance = {.kind = HF_REQUEST_EPOCH_ADVANCE},
    };
    int status = look_and_advance(&advancing);

    hf_request_clear(&advancing.show);
    hf_request_clear(&advancing.list);
    hf_request_clear(&advancing.advance);
    return status;
}
