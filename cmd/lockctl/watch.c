/* SPDX-License-Identifier: Apache-2.0 */
/* lockctl watch [PREFIX|KEY]: each change as a line, with its cause. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "cmd/lockctl/hold.h"
#include "cmd/lockctl/list.h"
#include "cmd/lockctl/lockctl.h"
#include "cmd/lockctl/table.h"

/* As wide as the longest cause. */
enum { CAUSE_WIDTH = 21 };
/* How often the reader is looked after. */
enum { LOOK_MS = 500 };

struct watching {
    struct lockctl *ctl;
    struct hf_request request;
    uint64_t told; /* changes, against --count */
};

static const char *cause_of(enum hf_notice_kind kind)
{
    switch (kind) {
    case HF_NOTICE_QUEUED:
        return "waits";
    case HF_NOTICE_LEFT:
        return "gave up waiting";
    case HF_NOTICE_WAIT_ENDED:
        return "waiter lapsed or died";
    case HF_NOTICE_GRANTED:
        return "granted";
    case HF_NOTICE_HANDED_OVER:
        return "handed over";
    case HF_NOTICE_RELEASED:
        return "released";
    case HF_NOTICE_ENDED:
        return "ended: lapsed or died";
    case HF_NOTICE_OUTDATED:
        return "ended by a new epoch";
    case HF_NOTICE_KEPT:
        return "kept";
    case HF_NOTICE_FREED:
        break;
    }
    return "kept no more";
}

static struct hf_utc_text now_text(const struct watching *watching)
{
    struct lockctl *ctl = watching->ctl;

    return hf_utc_print(ctl->sys.wall(&ctl->sys), ctl->options.is_json ? 3 : 0);
}

/* ---- as text --------------------------------------------------------------
 */

/* Append " NAME TEXT", unless the line would be too wide for the terminal;
 * what is missed least comes last. */
static void add_piece(struct hf_buf *line, size_t width, const char *name,
                      const char *text)
{
    struct hf_buf piece;

    if (!*text)
        return;
    hf_buf_init(&piece, 4096);
    (void)hf_buf_printf(&piece, "  %s", name);
    (void)hf_escape_add(&piece, text, strlen(text));
    if (piece.failed)
        line->failed = piece.failed;
    else if (width == 0 ||
             text_width(line->data) + text_width(piece.data) <= width)
        (void)hf_buf_add(line, piece.data, piece.size);
    hf_buf_clear(&piece);
}

static void add_text(const struct watching *watching,
                     const struct hf_notice *notice)
{
    const struct hf_hold_info *info = &notice->info;
    struct hf_buf *to = &watching->ctl->out;
    size_t width = terminal_width();
    struct hf_buf line;
    char number[32];

    hf_buf_init(&line, 8192);
    (void)hf_buf_printf(&line, "%s  %-*s  %s", now_text(watching).text,
                        CAUSE_WIDTH, cause_of(notice->kind), info->key);
    if (!line.failed) {
        snprintf(number, sizeof(number), "%" PRIu32, info->who.pid);
        add_piece(&line, width, "pid ", number);
        snprintf(number, sizeof(number), "%" PRIu64, info->token);
        add_piece(&line, width, "token ", hold_is_hold(info) ? number : "");
        add_piece(&line, width, "", info->who.host);
        add_piece(&line, width, "", info->who.program);
        add_piece(&line, width, "",
                  info->who.mode == HF_SHARED ? "shared" : "");
        add_piece(&line, width, "", info->who.note);
    }
    if (line.failed)
        to->failed = HF_ERR_NOMEM;
    else
        (void)hf_buf_printf(to, "%s\n", line.data);
    hf_buf_clear(&line);
}

/* ---- as JSON lines --------------------------------------------------------
 */

static void add_json(const struct watching *watching,
                     const struct hf_notice *notice)
{
    struct hf_json json;

    hf_json_begin(&json, &watching->ctl->out);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "time", now_text(watching).text);
    hold_notice_json(&json, notice);
    hf_json_object_end(&json);
    (void)hf_json_end(&json);
    (void)hf_buf_add(&watching->ctl->out, "\n", 1);
}

/* A line about the watch itself. */
static void add_state_json(const struct watching *watching, const char *state)
{
    struct hf_json json;

    hf_json_begin(&json, &watching->ctl->out);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "time", now_text(watching).text);
    hf_json_text(&json, "change", state);
    hf_json_text(&json, "store", lockctl_place(watching->ctl));
    hf_json_decimal(&json, "at_revision", watching->request.after);
    hf_json_object_end(&json);
    (void)hf_json_end(&json);
    (void)hf_buf_add(&watching->ctl->out, "\n", 1);
}

/* ---- watching -------------------------------------------------------------
 */

/* From the present revision on. */
static enum hf_err begin(struct watching *watching, struct hf_error *error)
{
    struct hf_request epoch = {.kind = HF_REQUEST_EPOCH_SHOW};
    enum hf_err err = lockctl_ask(watching->ctl, &epoch, error);

    watching->request.after = epoch.epoch.store_revision;
    hf_request_clear(&epoch);
    return err;
}

/* Tell what was answered; true: go on. */
static bool tell(struct watching *watching)
{
    const struct hf_request *request = &watching->request;
    const struct hf_opt_number *count = &watching->ctl->options.count;
    size_t i;

    for (i = 0; i < request->notice_count; i++) {
        if (count->is_given && watching->told >= (uint64_t)count->number)
            break;
        if (watching->ctl->options.is_json)
            add_json(watching, &request->notices[i]);
        else
            add_text(watching, &request->notices[i]);
        watching->told++;
    }
    return !count->is_given || watching->told < (uint64_t)count->number;
}

/* The store cannot tell all that happened: say so, begin afresh. */
static enum hf_err begin_again(struct watching *watching,
                               struct hf_error *error)
{
    enum hf_err err = begin(watching, error);

    if (err)
        return err;
    if (watching->ctl->options.is_json)
        add_state_json(watching, "missed");
    else
        lockctl_note("note: the store went back, or has forgotten changes; "
                     "lockctl ls tells what is held now");
    return HF_ERR_OK;
}

/* Who read our lines has gone? A write would tell, but nothing may change for
 * hours. */
static bool is_unread(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};

    return poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLHUP);
}

/* Until there is an answer; false: nobody reads it. */
static bool wait_for(struct watching *watching)
{
    struct lockctl *ctl = watching->ctl;
    struct hf_request *request = &watching->request;

    lockctl_submit(ctl, request);
    while (!lockctl_wait(
        ctl, request,
        hf_time_add(ctl->sys.steady(&ctl->sys), hf_span_ms(LOOK_MS)))) {
        if (!is_unread())
            continue;
        ctl->transport->ops->cancel(ctl->transport, request,
                                    ctl->sys.steady(&ctl->sys),
                                    ctl->sys.wall(&ctl->sys));
        return false;
    }
    return true;
}

static int watch(struct watching *watching)
{
    struct hf_request *request = &watching->request;
    struct hf_error error;
    bool goes_on = true;

    while (goes_on) {
        if (!lockctl_flush(watching->ctl))
            return hf_err_status(HF_ERR_UNAVAILABLE);
        if (!wait_for(watching)) {
            /* As a write would have ended us. */
            (void)raise(SIGPIPE);
            return hf_err_status(HF_ERR_UNAVAILABLE);
        }
        if (request->answer == HF_ANSWER_FAILED)
            return lockctl_fail(&request->error);
        goes_on = tell(watching);
        request->after = request->revision;
        if (request->missed && begin_again(watching, &error))
            return lockctl_fail(&error);
        hf_request_clear(request);
    }
    return 0;
}

int lockctl_watch(struct lockctl *ctl)
{
    struct watching watching = {.ctl = ctl,
                                .request = {.kind = HF_REQUEST_WATCH}};
    const char *what = ctl->opts.operand_count ? ctl->opts.operands[0] : "";
    struct hf_request *request = &watching.request;
    struct hf_error error;
    int status;

    request->whole = *what && what[strlen(what) - 1] != '/';
    if (request->whole
            ? hf_key_complete(what, HF_KEY_DEFAULT_HOME, request->key, &error)
            : list_check_prefix(what, &error))
        return lockctl_fail(&error);
    if (!request->whole)
        memcpy(request->key, what, strlen(what) + 1);
    if (lockctl_open(ctl, true, &error) || begin(&watching, &error))
        return lockctl_fail(&error);
    if (ctl->options.is_json)
        add_state_json(&watching, "watching");
    else
        lockctl_note("watching %s; ^C ends it", lockctl_place(ctl));
    status = watch(&watching);
    hf_request_clear(request);
    return status;
}
