/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockctl release KEY --token TOKEN: ends exactly that grant. Looks first, so
 * that a job that the kernel says lives is never robbed of its lock; the store
 * then compares the token once more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/lockctl/hold.h"
#include "cmd/lockctl/lockctl.h"
#include "cmd/lockctl/process.h"
#include "core/token.h"

enum { STATUS_NOT_HELD = 1 };

enum outcome {
    RELEASED,
    ENDED, /* its lease was over: the store ended it when it was asked */
    WOULD_RELEASE,
    NOT_HELD,
    ALIVE
};

struct releasing {
    struct lockctl *ctl;
    uint64_t token;
    struct hf_request show;
    struct hf_request list;
    struct hf_request release;
    const struct hf_hold_info *hold;  /* that has the token, or NULL */
    const struct hf_hold_info *other; /* a hold of the key with another one */
};

static void find(struct releasing *releasing)
{
    const struct hf_request *show = &releasing->show;
    size_t i;

    for (i = 0; i < show->info_count; i++) {
        const struct hf_hold_info *info = &show->infos[i];

        if (!hold_is_hold(info))
            continue;
        if (info->token == releasing->token)
            releasing->hold = info;
        else
            releasing->other = info;
    }
}

/* Who holds it, for a sentence: "host, pid 7 (sh), since ..., token 5". */
static void describe(const struct hf_hold_info *info, char *to, size_t size)
{
    snprintf(to, size,
             "%s, pid %" PRIu32 " (%s), since %s, under token %" PRIu64,
             info->who.host, info->who.pid, info->who.program,
             hf_hold_since(info).text, info->token);
}

/* lockrun hands a signal on; where that is gone, what it started is named. */
static const char *how_to_stop(const struct hf_hold_info *info,
                               struct hf_time now, char *to, size_t size)
{
    struct process_tree tree;
    int at = snprintf(to, size, "kill");

    process_tree_read(&info->who, hold_age_ms(info, now), &tree);
    if (!tree.has_lost_holder)
        snprintf(to, size,
                 "kill %" PRIu32 ", or kill -9 %" PRIu32
                 " if it does not end of that",
                 info->who.pid, info->who.pid);
    else if (tree.count == 0)
        snprintf(to, size,
                 "its lockrun is gone, and which they are is not "
                 "to be seen from here");
    for (size_t i = 0; tree.has_lost_holder && i < tree.count; i++)
        at +=
            snprintf(to + at, size - (size_t)at, " %" PRIu32, tree.list[i].pid);
    return to;
}

static void sentence(const struct releasing *releasing, enum outcome outcome,
                     struct hf_time now, struct hf_error *error)
{
    const struct hf_hold_info *info = releasing->hold;
    char who[512] = "";
    char how[256];

    if (outcome == NOT_HELD)
        info = releasing->other;
    if (info)
        describe(info, who, sizeof(who));
    switch (outcome) {
    case RELEASED:
        (void)hf_error_set(error, HF_ERR_OK, "%s: released; it was held by %s",
                           releasing->show.key, who);
        return;
    case ENDED:
        (void)hf_error_set(error, HF_ERR_OK,
                           "%s: ended; %s already; it was held by %s",
                           releasing->show.key,
                           info->proof == HF_PROOF_DEAD ? "its holder was dead"
                                                        : "its lease was over",
                           who);
        return;
    case WOULD_RELEASE:
        (void)hf_error_set(error, HF_ERR_OK,
                           "%s: would be released; it is held by %s",
                           releasing->show.key, who);
        return;
    case NOT_HELD:
        if (info)
            (void)hf_error_set(error, HF_ERR_NOT_HELD,
                               "%s: token %" PRIu64 " is not the one of the "
                               "present grant: nothing was changed; it is "
                               "held by %s",
                               releasing->show.key, releasing->token, who);
        else
            (void)hf_error_set(error, HF_ERR_NOT_HELD,
                               "%s: nobody holds it, under token %" PRIu64
                               " or any other: nothing was changed",
                               releasing->show.key, releasing->token);
        return;
    case ALIVE:
        (void)hf_error_set(
            error, HF_ERR_BUSY,
            "%s: the kernel says that the job lives: nothing was changed; "
            "stop it, and the key is free (on %s: %s); it is held by %s",
            releasing->show.key, info->who.host,
            how_to_stop(info, now, how, sizeof(how)), who);
        return;
    }
}

static int tell(struct releasing *releasing, enum outcome outcome)
{
    static const char *const names[] = {
        [RELEASED] = "released",
        [ENDED] = "ended",
        [WOULD_RELEASE] = "would-release",
        [NOT_HELD] = "not-held",
        [ALIVE] = "alive",
    };
    struct lockctl *ctl = releasing->ctl;
    const struct hf_hold_info *info =
        outcome == NOT_HELD ? releasing->other : releasing->hold;
    struct hf_time now = ctl->sys.steady(&ctl->sys);
    struct hf_error error;
    struct hf_json json;

    sentence(releasing, outcome, now, &error);
    if (ctl->options.is_json) {
        hf_json_begin(&json, &ctl->out);
        hf_json_object(&json, NULL);
        hf_json_text(&json, "store", lockctl_place(ctl));
        hf_json_text(&json, "key", releasing->show.key);
        hf_json_decimal(&json, "token", releasing->token);
        hf_json_text(&json, "outcome", names[outcome]);
        hf_json_text(&json, "text", error.text);
        if (info) {
            hf_json_object(&json, "holder");
            hold_json(&json, info, now, 0);
            hf_json_object_end(&json);
        } else {
            hf_json_null(&json, "holder");
        }
        hf_json_object_end(&json);
        (void)hf_json_end(&json);
        (void)hf_buf_add(&ctl->out, "\n", 1);
        return hf_err_status(error.code);
    }
    if (error.code)
        return lockctl_fail(&error);
    (void)hf_buf_printf(&ctl->out, "%s\n", error.text);
    return 0;
}

/*
 * Does the session hold nothing but this? Then its own record goes with it, for
 * nobody will come back for that.
 */
static bool is_last(const struct releasing *releasing)
{
    const struct hf_request *list = &releasing->list;
    size_t count = 0;
    size_t i;

    for (i = 0; i < list->info_count; i++) {
        if (strcmp(list->infos[i].who.session, releasing->hold->who.session) ==
            0)
            count++;
    }
    return !list->more && count == 1;
}

static bool hold_is_over(const struct hf_hold_info *hold)
{
    enum hold_state state = hold_state_of(hold);

    return state == HOLD_DEAD || state == HOLD_LAPSED;
}

static enum hf_err release(struct releasing *releasing, enum outcome *outcome,
                           struct hf_error *error)
{
    const struct hf_hold_info *hold = releasing->hold;
    struct hf_request *request = &releasing->release;
    struct hf_hold_ref ref = {
        .mode = hold->who.mode == HF_SHARED ? HF_SHARED : HF_EXCLUSIVE,
        .token = releasing->token,
    };
    enum hf_err err;

    memcpy(ref.key, hold->key, sizeof(ref.key));
    memcpy(ref.grant, hold->who.grant, sizeof(ref.grant));
    memcpy(request->session.id, hold->who.session, sizeof(request->session.id));
    request->session.lease = hold->lease;
    request->holds = &ref;
    request->hold_count = 1;
    request->last = is_last(releasing);
    err = lockctl_ask(releasing->ctl, request, error);
    request->holds = NULL;
    request->hold_count = 0;
    if (err)
        return err;
    if (request->answer != HF_ANSWER_NOT_HELD) {
        *outcome = RELEASED;
        return HF_ERR_OK;
    }
    releasing->other = request->info_count ? request->infos : NULL;
    /*
     * An embedded store ends a lease that is over, or whose processes are
     * dead, before it looks at what it was asked: then nothing was left to
     * release.
     */
    *outcome = hold_is_over(hold) && !releasing->other ? ENDED : NOT_HELD;
    return HF_ERR_OK;
}

static int look_and_release(struct releasing *releasing)
{
    struct lockctl *ctl = releasing->ctl;
    bool is_dry_run = ctl->options.is_dry_run;
    enum outcome outcome = WOULD_RELEASE;
    struct hf_error error;

    if (lockctl_open(ctl, is_dry_run, &error) ||
        lockctl_ask(ctl, &releasing->show, &error) ||
        lockctl_ask(ctl, &releasing->list, &error))
        return lockctl_fail(&error);
    find(releasing);
    if (!releasing->hold)
        return tell(releasing, NOT_HELD);
    if (releasing->hold->lease_known &&
        releasing->hold->proof == HF_PROOF_LIVES)
        return tell(releasing, ALIVE);
    if (hold_state_of(releasing->hold) == HOLD_LEASE)
        lockctl_note(
            "nothing is known of the processes of this grant: if one "
            "of them lives, only a fence refuses what it still writes");
    if (!is_dry_run && release(releasing, &outcome, &error))
        return lockctl_fail(&error);
    return tell(releasing, outcome);
}

int lockctl_release(struct lockctl *ctl)
{
    struct releasing releasing = {
        .ctl = ctl,
        .show = {.kind = HF_REQUEST_SHOW},
        .list = {.kind = HF_REQUEST_LIST, .limit = HF_STORE_LIST_MAX},
        .release = {.kind = HF_REQUEST_RELEASE},
    };
    const char *token = ctl->options.token;
    struct hf_error error;
    int status;

    if (hf_key_complete(ctl->opts.operands[0], HF_KEY_DEFAULT_HOME,
                        releasing.show.key, &error))
        return lockctl_fail(&error);
    if (!token || !hf_token_parse(token, strlen(token), &releasing.token)) {
        (void)hf_error_set(&error, HF_ERR_USAGE,
                           "release needs --token with the decimal number of "
                           "the grant to end; \"lockctl show %s\" tells it",
                           releasing.show.key);
        return lockctl_fail(&error);
    }
    status = look_and_release(&releasing);
    hf_request_clear(&releasing.show);
    hf_request_clear(&releasing.list);
    hf_request_clear(&releasing.release);
    return status;
}
