/* SPDX-License-Identifier: Apache-2.0 */
/* lockctl show KEY: who holds it, who waits, and why in one sentence. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "client/deadline.h"
#include "cmd/lockctl/hold.h"
#include "cmd/lockctl/lockctl.h"
#include "cmd/lockctl/process.h"
#include "cmd/lockctl/table.h"
#include "cmd/lockctl/waiters.h"
#include "cmd/lockctl/why.h"
#include "core/token.h"

/* All that is shown of one key. */
struct shown {
    struct lockctl *ctl;
    struct hf_request show;
    struct hf_request epoch;
    struct hf_request list; /* of all, where nothing is known of this one */
    struct hf_time now;
    struct hf_wall wall;
    struct hf_buf why;
    struct process_tree tree; /* of the exclusive holder */
};

/* "name      text", the text escaped. */
static void add_line(struct hf_buf *to, const char *name, const char *text)
{
    (void)hf_buf_printf(to, "%-9s ", name);
    (void)hf_escape_add(to, text, strlen(text));
    (void)hf_buf_add(to, "\n", 1);
}

/* By when the holder has stopped of its own accord, if it is not renewed: as
 * its own lockrun counts it, but for the time that its request took. */
static int64_t deadline_ms(const struct hf_hold_info *info)
{
    struct hf_deadline deadline = {.ttl = hf_span_ms(info->lease_ttl_ms)};
    int64_t gone_ms = info->lease_ttl_ms - info->lease_remaining_ms;

    return hf_deadline_kill_at(&deadline).ns / 1000000 - gone_ms;
}

static void add_deadline(struct hf_buf *to, const struct hf_hold_info *info)
{
    int64_t left_ms = deadline_ms(info);

    if (!hold_stands(hold_state_of(info)))
        return;
    (void)hf_buf_printf(to,
                        left_ms < 0 ? "%-9s passed %s ago\n"
                                    : "%-9s in %s, unless it is renewed\n",
                        "deadline",
                        age_print(left_ms < 0 ? -left_ms : left_ms).text);
}

static void deadline_json(struct hf_json *json, const struct hf_hold_info *info)
{
    if (hold_stands(hold_state_of(info)))
        hf_json_i64(json, "deadline_in_ms", deadline_ms(info));
    else
        hf_json_null(json, "deadline_in_ms");
}

/* What runs for one who holds the key; where others share it, read now. */
static const struct process_tree *tree_of(const struct shown *shown,
                                          const struct hf_hold_info *info,
                                          struct process_tree *own)
{
    if (info->kind == HF_HOLD)
        return &shown->tree;
    *own = (struct process_tree){.count = 0};
    process_tree_read(&info->who, hold_age_ms(info, shown->now), own);
    return own;
}

static void add_processes(struct hf_buf *to, const struct process_tree *tree)
{
    size_t i;

    if (tree->count == 0)
        return;
    (void)hf_buf_printf(to, "%-9s ", "processes");
    for (i = 0; i < tree->count; i++) {
        const struct process *process = &tree->list[i];

        (void)hf_buf_printf(to, "%s%" PRIu32 " ", i ? ", " : "", process->pid);
        (void)hf_escape_add(to, process->name, strlen(process->name));
        if (process->state == 'T' || process->state == 't')
            (void)hf_buf_add_str(to, " (stopped)");
        else if (process->state == 'D')
            (void)hf_buf_add_str(to, " (waits in the kernel)");
        else if (process->state == 'Z')
            (void)hf_buf_add_str(to, " (ended)");
    }
    (void)hf_buf_add_str(to, tree->more ? ", ...\n" : "\n");
}

static void add_holder(const struct shown *shown,
                       const struct hf_hold_info *info)
{
    struct hf_buf *to = &shown->ctl->out;
    const struct hf_holder *who = &info->who;
    struct process_tree own;
    char text[256];

    (void)hf_buf_add(to, "\n", 1);
    snprintf(text, sizeof(text), "%s, pid %" PRIu32 ", user %s, %s", who->host,
             who->pid, user_print(who->uid).text,
             who->uid == geteuid() ? "which is you" : "not you");
    add_line(to, "holder", text);
    add_line(to, "program", who->program);
    if (who->note[0])
        add_line(to, "note", who->note);
    snprintf(text, sizeof(text), "%s, %s", who->class_name,
             hf_mode_names[who->mode]);
    add_line(to, "class", text);
    snprintf(text, sizeof(text), "%s, %s ago", hf_hold_since(info).text,
             age_print(hold_age_ms(info, shown->now)).text);
    add_line(to, "since", text);
    snprintf(text, sizeof(text), "%s (%s)", lease_print(info).text,
             hold_state_name(hold_state_of(info)));
    add_line(to, "lease", text);
    add_deadline(to, info);
    snprintf(text, sizeof(text),
             "%" PRIu64 " (epoch %" PRIu32 ", revision %" PRIu64 ")",
             info->token, hf_token_epoch(info->token),
             hf_token_revision(info->token));
    add_line(to, "token", text);
    add_line(to, "session", who->session);
    add_processes(to, tree_of(shown, info, &own));
}

static void add_floor(const struct shown *shown,
                      const struct hf_hold_info *info)
{
    struct hf_buf *to = &shown->ctl->out;
    char text[256];

    (void)hf_buf_add(to, "\n", 1);
    snprintf(text, sizeof(text), "until %s, %s more, whoever asks",
             hold_kept_until(info, shown->wall).text,
             age_print(info->lease_remaining_ms).text);
    add_line(to, "kept", text);
    snprintf(text, sizeof(text), "%s, pid %" PRIu32 ", user %s", info->who.host,
             info->who.pid, user_print(info->who.uid).text);
    add_line(to, "by", text);
}

static void add_queue(const struct shown *shown)
{
    struct hf_buf *to = &shown->ctl->out;
    struct table table;
    uint64_t place = 0;
    size_t i;

    if (shown->show.waiting == 0)
        return;
    table_init(&table, waiters_columns);
    for (i = 0; i < shown->show.info_count; i++) {
        if (shown->show.infos[i].kind == HF_WAITER)
            waiters_add(&table, &shown->show.infos[i], ++place, "", shown->now);
    }
    (void)hf_buf_printf(to, "\nqueue     %" PRIu64 "\n", shown->show.waiting);
    if (table_print(&table, terminal_width(), terminal_is_styled(), to))
        to->failed = HF_ERR_NOMEM;
    table_clear(&table);
    if (place < shown->show.waiting)
        (void)hf_buf_printf(to, "... and %" PRIu64 " more\n",
                            shown->show.waiting - place);
}

/* A record of a key that ends like the one that was asked for: a job without
 * --key has one made of its command's path. */
static bool is_alike(const struct shown *shown, size_t i)
{
    const struct hf_request *list = &shown->list;
    const char *mine = strrchr(shown->show.key, '/');
    const char *its = strrchr(list->infos[i].key, '/');

    return strcmp(mine, its) == 0 &&
           (i == 0 || strcmp(list->infos[i].key, list->infos[i - 1].key) != 0);
}

static void add_alike(const struct shown *shown)
{
    for (size_t i = 0; i < shown->list.info_count; i++) {
        if (is_alike(shown, i))
            add_line(&shown->ctl->out, "see also", shown->list.infos[i].key);
    }
}

static void alike_json(const struct shown *shown, struct hf_json *json)
{
    hf_json_array(json, "see_also");
    for (size_t i = 0; i < shown->list.info_count; i++) {
        if (is_alike(shown, i))
            hf_json_text(json, NULL, shown->list.infos[i].key);
    }
    hf_json_array_end(json);
}

static void print_text(const struct shown *shown)
{
    struct hf_buf *to = &shown->ctl->out;
    size_t i;

    add_line(to, "key", shown->show.key);
    add_line(to, "why", shown->why.data);
    for (i = 0; i < shown->show.info_count; i++) {
        const struct hf_hold_info *info = &shown->show.infos[i];

        if (hold_is_hold(info))
            add_holder(shown, info);
        else if (hold_state_of(info) == HOLD_KEPT)
            add_floor(shown, info);
    }
    add_queue(shown);
    add_alike(shown);
}

static void processes_json(struct hf_json *json,
                           const struct process_tree *tree)
{
    size_t i;

    hf_json_array(json, "processes");
    for (i = 0; i < tree->count; i++) {
        char state[2] = {tree->list[i].state, '\0'};

        hf_json_object(json, NULL);
        hf_json_u64(json, "pid", tree->list[i].pid);
        hf_json_text(json, "state", state);
        hf_json_text(json, "name", tree->list[i].name);
        hf_json_object_end(json);
    }
    hf_json_array_end(json);
}

static bool is_of(enum hf_hold_kind kind, const struct hf_hold_info *info)
{
    return kind == info->kind || (kind == HF_HOLD && info->kind == HF_SHARE);
}

static void infos_json(const struct shown *shown, struct hf_json *json,
                       enum hf_hold_kind kind, const char *name)
{
    struct process_tree own;
    uint64_t place = 0;
    size_t i;

    hf_json_array(json, name);
    for (i = 0; i < shown->show.info_count; i++) {
        const struct hf_hold_info *info = &shown->show.infos[i];

        if (!is_of(kind, info))
            continue;
        hf_json_object(json, NULL);
        hold_json(json, info, shown->now, ++place);
        if (kind == HF_HOLD) {
            deadline_json(json, info);
            processes_json(json, tree_of(shown, info, &own));
        }
        hf_json_object_end(json);
    }
    hf_json_array_end(json);
}

static void print_json(const struct shown *shown)
{
    struct hf_buf *to = &shown->ctl->out;
    struct hf_json json;

    hf_json_begin(&json, to);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "store", lockctl_place(shown->ctl));
    hf_json_bool(&json, "sealed", shown->epoch.epoch.sealed);
    hf_json_text(&json, "key", shown->show.key);
    hf_json_text(&json, "why", shown->why.data);
    infos_json(shown, &json, HF_HOLD, "holders");
    infos_json(shown, &json, HF_WAITER, "waiters");
    infos_json(shown, &json, HF_FLOOR, "kept");
    hf_json_u64(&json, "waiting", shown->show.waiting);
    hf_json_bool(&json, "more", shown->show.more);
    alike_json(shown, &json);
    hf_json_object_end(&json);
    (void)hf_json_end(&json);
    (void)hf_buf_add(to, "\n", 1);
}

/* Look at the holder's processes, and say the sentence. */
static void judge(struct shown *shown)
{
    const struct hf_request *show = &shown->show;
    struct why why = {
        .infos = show->infos,
        .info_count = show->info_count,
        .waiting = show->waiting,
        .now = shown->now,
        .wall = shown->wall,
        .is_sealed = shown->epoch.epoch.sealed,
    };
    size_t i;

    for (i = 0; i < show->info_count; i++) {
        const struct hf_hold_info *info = &show->infos[i];

        if (info->kind != HF_HOLD)
            continue;
        process_tree_read(&info->who, hold_age_ms(info, shown->now),
                          &shown->tree);
        if (shown->tree.has_lost_holder)
            why.gone_pid = info->who.pid;
    }
    if (!why.gone_pid && shown->tree.count &&
        (shown->tree.list[0].state == 'T' || shown->tree.list[0].state == 't'))
        why.stopped_pid = shown->tree.list[0].pid;
    hf_buf_init(&shown->why, 4096);
    if (why_print(&why, &shown->why))
        shown->ctl->out.failed = HF_ERR_NOMEM;
}

int lockctl_show(struct lockctl *ctl)
{
    struct shown shown = {
        .ctl = ctl,
        .show = {.kind = HF_REQUEST_SHOW},
        .epoch = {.kind = HF_REQUEST_EPOCH_SHOW},
        .list = {.kind = HF_REQUEST_LIST, .limit = HF_STORE_LIST_MAX}};
    struct hf_error error;

    if (hf_key_complete(ctl->opts.operands[0], HF_KEY_DEFAULT_HOME,
                        shown.show.key, &error) ||
        lockctl_open(ctl, true, &error) ||
        lockctl_ask(ctl, &shown.epoch, &error) ||
        lockctl_ask(ctl, &shown.show, &error) ||
        (shown.show.info_count == 0 && lockctl_ask(ctl, &shown.list, &error)))
        return lockctl_fail(&error);
    shown.now = ctl->sys.steady(&ctl->sys);
    shown.wall = ctl->sys.wall(&ctl->sys);
    judge(&shown);
    if (ctl->out.failed)
        ;
    else if (ctl->options.is_json)
        print_json(&shown);
    else
        print_text(&shown);
    hf_buf_clear(&shown.why);
    hf_request_clear(&shown.show);
    hf_request_clear(&shown.epoch);
    hf_request_clear(&shown.list);
    return 0;
}
