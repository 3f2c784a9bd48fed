/* SPDX-License-Identifier: Apache-2.0 */
/* lockctl ls [PREFIX]: what is held, a line each, and how many wait for it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/lockctl/hold.h"
#include "cmd/lockctl/lockctl.h"
#include "cmd/lockctl/table.h"

/* Where the terminal is narrow the columns with high numbers go first. */
static const struct table_column columns[] = {
    {.title = "KEY"},
    {.title = "STATE"},
    {.title = "MODE", .drop = 6},
    {.title = "HOST", .drop = 4},
    {.title = "PID", .is_right = true, .drop = 1},
    {.title = "USER", .is_right = true, .drop = 7},
    {.title = "PROGRAM", .drop = 3},
    {.title = "CLASS", .drop = 8},
    {.title = "SINCE", .drop = 10},
    {.title = "AGE", .is_right = true, .drop = 1},
    {.title = "LEASE", .is_right = true, .drop = 5},
    {.title = "WAITING", .is_right = true, .drop = 2},
    {.title = "TOKEN", .is_right = true},
    {.title = "NOTE", .drop = 9},
    {.title = NULL}};

/* A line of the list: a hold, or a key that is only waited for. */
struct line {
    const struct hf_hold_info *info; /* of the hold, or of the first waiter */
    uint64_t waiting;
};

/* Of one key: holds, then what keeps it, then waiters. */
static int rank_of(const struct hf_hold_info *info)
{
    if (hold_is_hold(info))
        return 0;
    return info->kind == HF_FLOOR ? 1 : 2;
}

/* By key, then by rank, each in the order they came. */
static int compare(const void *a, const void *b)
{
    const struct hf_hold_info *left = a;
    const struct hf_hold_info *right = b;
    int order = strcmp(left->key, right->key);

    if (order)
        return order;
    if (rank_of(left) != rank_of(right))
        return rank_of(left) < rank_of(right) ? -1 : 1;
    if (left->created != right->created)
        return left->created < right->created ? -1 : 1;
    return memcmp(left->who.grant, right->who.grant, sizeof(left->who.grant));
}

/* From a sorted list; the lines are the caller's to free. NULL: no memory. */
static struct line *lines_of(const struct hf_request *list, size_t *count)
{
    struct line *lines = calloc(list->info_count + 1, sizeof(*lines));
    size_t i;
    size_t of_key = 0; /* first line of the present key */

    *count = 0;
    for (i = 0; lines && i < list->info_count; i++) {
        const struct hf_hold_info *info = &list->infos[i];
        size_t at;

        if (i == 0 || strcmp(info->key, list->infos[i - 1].key) != 0)
            of_key = *count;
        /* What no longer keeps a key is as good as gone. */
        if (info->kind == HF_FLOOR && hold_state_of(info) != HOLD_KEPT)
            continue;
        if (hold_is_hold(info) || of_key == *count)
            lines[(*count)++].info = info;
        for (at = of_key; info->kind == HF_WAITER && at < *count; at++)
            lines[at].waiting++;
    }
    return lines;
}

static enum hold_state state_of(const struct line *line)
{
    return line->info->kind == HF_WAITER ? HOLD_FREE
                                         : hold_state_of(line->info);
}

static void add_number(struct table *table, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    table_add(table, text);
}

static void add_line(struct table *table, const struct line *line,
                     struct hf_time now)
{
    const struct hf_hold_info *info = line->info;
    const struct hf_holder *who = &info->who;
    bool is_free = info->kind == HF_WAITER;
    size_t i;

    table_add(table, info->key);
    table_add(table, hold_state_name(state_of(line)));
    if (is_free) {
        for (i = 0; i < 9; i++)
            table_add(table, "");
        add_number(table, line->waiting);
        table_add(table, "");
        table_add(table, "");
        return;
    }
    table_add(table, hf_mode_names[who->mode]);
    table_add(table, who->host);
    add_number(table, who->pid);
    add_number(table, who->uid);
    table_add(table, who->program);
    table_add(table, who->class_name);
    table_add(table, hold_since(info).text);
    table_add(table, age_print(hold_age_ms(info, now)).text);
    if (!info->lease_known)
        table_add(table, "");
    else if (info->lease_remaining_ms < 0)
        table_add(table, "over");
    else
        table_add(table, age_print(info->lease_remaining_ms).text);
    add_number(table, line->waiting);
    if (hold_is_hold(info))
        add_number(table, info->token);
    else
        table_add(table, "");
    table_add(table, who->note);
}

static void print_json(struct lockctl *ctl, const struct hf_request *list,
                       const struct line *lines, size_t count,
                       struct hf_time now)
{
    struct hf_json json;
    size_t i;

    hf_json_begin(&json, &ctl->out);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "store", lockctl_place(ctl));
    hf_json_array(&json, "holds");
    for (i = 0; i < count; i++) {
        hf_json_object(&json, NULL);
        hf_json_text(&json, "key", lines[i].info->key);
        if (lines[i].info->kind == HF_WAITER)
            hf_json_text(&json, "state", hold_state_name(HOLD_FREE));
        else
            hold_json(&json, lines[i].info, now, 0);
        hf_json_u64(&json, "waiting", lines[i].waiting);
        hf_json_object_end(&json);
    }
    hf_json_array_end(&json);
    hf_json_bool(&json, "more", list->more);
    hf_json_object_end(&json);
    (void)hf_json_end(&json);
    (void)hf_buf_add(&ctl->out, "\n", 1);
}

static void print_text(struct lockctl *ctl, const struct line *lines,
                       size_t count, struct hf_time now)
{
    struct table table;
    size_t i;

    if (count == 0)
        return;
    table_init(&table, columns);
    for (i = 0; i < count; i++)
        add_line(&table, &lines[i], now);
    if (table_print(&table, terminal_width(), terminal_is_styled(), &ctl->out))
        ctl->out.failed = HF_ERR_NOMEM;
    table_clear(&table);
}

/*
 * A prefix of keys? What no key can begin with is told, for an empty list
 * would read like "nothing is held".
 */
static enum hf_err check_prefix(const char *prefix, struct hf_error *error)
{
    char key[HF_KEY_SIZE + 8];
    size_t size = strlen(prefix);
    const char *at;
    int slashes = 0;

    if (size >= HF_KEY_SIZE)
        return hf_error_set(error, HF_ERR_USAGE,
                            "PREFIX: %zu bytes, a key has at most %d", size,
                            HF_KEY_BYTES_MAX);
    for (at = prefix; *at; at++)
        slashes += *at == '/';
    /* Any prefix can be made a key, unless it is one of nothing. */
    snprintf(key, sizeof(key), "%s%s%s", prefix, "x",
             slashes == 0   ? "/x/x"
             : slashes == 1 ? "/x"
                            : "");
    if (size + 5 > HF_KEY_BYTES_MAX)
        key[size] = '\0';
    return hf_key_check(key, error);
}

int lockctl_ls(struct lockctl *ctl)
{
    struct hf_request list = {.kind = HF_REQUEST_LIST,
                              .limit = HF_STORE_LIST_MAX};
    const char *prefix = ctl->opts.operand_count ? ctl->opts.operands[0] : "";
    struct hf_time now;
    struct hf_error error;
    struct line *lines;
    size_t count;

    if (check_prefix(prefix, &error))
        return lockctl_fail(&error);
    memcpy(list.key, prefix, strlen(prefix) + 1);
    if (lockctl_open(ctl, true, &error) || lockctl_ask(ctl, &list, &error))
        return lockctl_fail(&error);
    now = ctl->sys.steady(&ctl->sys);
    if (list.info_count)
        qsort(list.infos, list.info_count, sizeof(*list.infos), compare);
    lines = lines_of(&list, &count);
    if (!lines)
        ctl->out.failed = HF_ERR_NOMEM;
    else if (ctl->options.is_json)
        print_json(ctl, &list, lines, count, now);
    else
        print_text(ctl, lines, count, now);
    if (list.more)
        lockctl_note("there is more than %d of a kind: name a longer PREFIX",
                     HF_STORE_LIST_MAX);
    free(lines);
    hf_request_clear(&list);
    return 0;
}
