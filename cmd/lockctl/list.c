/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/lockctl/hold.h"
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

/* From a sorted answer. */
static enum hf_err make_lines(struct list *list, struct hf_error *error)
{
    const struct hf_request *from = &list->request;
    size_t i;
    size_t of_key = 0; /* first line of the present key */

    list->lines = calloc(from->info_count + 1, sizeof(*list->lines));
    if (!list->lines)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for the list");
    for (i = 0; i < from->info_count; i++) {
        const struct hf_hold_info *info = &from->infos[i];
        size_t at;

        if (i == 0 || strcmp(info->key, from->infos[i - 1].key) != 0)
            of_key = list->count;
        /* What no longer keeps a key is as good as gone. */
        if (info->kind == HF_FLOOR && hold_state_of(info) != HOLD_KEPT)
            continue;
        if (hold_is_hold(info) || of_key == list->count)
            list->lines[list->count++].info = info;
        for (at = of_key; info->kind == HF_WAITER && at < list->count; at++)
            list->lines[at].waiting++;
    }
    return HF_ERR_OK;
}

static enum hold_state state_of(const struct list_line *line)
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

static void add_line(struct table *table, const struct list_line *line,
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
    table_add(table, hf_hold_since(info).text);
    table_add(table, age_print(hold_age_ms(info, now)).text);
    if (!info->lease_known)
        table_add(table, "");
    else if (info->lease_remaining_ms < 0 || state_of(line) == HOLD_DEAD)
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

void list_json(struct lockctl *ctl, const struct list *list)
{
    struct hf_json json;
    size_t i;

    hf_json_begin(&json, &ctl->out);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "store", lockctl_place(ctl));
    hf_json_array(&json, "holds");
    for (i = 0; i < list->count; i++) {
        const struct list_line *line = &list->lines[i];

        hf_json_object(&json, NULL);
        hf_json_text(&json, "key", line->info->key);
        if (line->info->kind == HF_WAITER)
            hf_json_text(&json, "state", hold_state_name(HOLD_FREE));
        else
            hold_json(&json, line->info, list->now, 0);
        hf_json_u64(&json, "waiting", line->waiting);
        hf_json_object_end(&json);
    }
    hf_json_array_end(&json);
    hf_json_bool(&json, "more", list->request.more);
    hf_json_object_end(&json);
    (void)hf_json_end(&json);
    (void)hf_buf_add(&ctl->out, "\n", 1);
}

void list_text(struct lockctl *ctl, const struct list *list, size_t width)
{
    struct table table;
    size_t i;

    if (list->count == 0)
        return;
    table_init(&table, columns);
    for (i = 0; i < list->count; i++)
        add_line(&table, &list->lines[i], list->now);
    if (table_print(&table, width, terminal_is_styled(), &ctl->out))
        ctl->out.failed = HF_ERR_NOMEM;
    table_clear(&table);
}

enum hf_err list_check_prefix(const char *prefix, struct hf_error *error)
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

enum hf_err list_read(struct lockctl *ctl, const char *prefix,
                      struct list *list, struct hf_error *error)
{
    enum hf_err err;

    memset(list, 0, sizeof(*list));
    list->request.kind = HF_REQUEST_LIST;
    list->request.limit = HF_STORE_LIST_MAX;
    memcpy(list->request.key, prefix, strlen(prefix) + 1);
    err = lockctl_ask(ctl, &list->request, error);
    list->now = ctl->sys.steady(&ctl->sys);
    if (list->request.info_count)
        qsort(list->request.infos, list->request.info_count,
              sizeof(*list->request.infos), compare);
    if (!err)
        err = make_lines(list, error);
    if (err)
        list_clear(list);
    return err;
}

void list_clear(struct list *list)
{
    free(list->lines);
    hf_request_clear(&list->request);
    memset(list, 0, sizeof(*list));
}

/* ---- order ------------------------------------------------------------- */

/* Above all the records' own order, so that equals stay where they are. */
static int by_key(const void *a, const void *b)
{
    const struct list_line *left = a;
    const struct list_line *right = b;

    return left->info < right->info ? -1 : left->info > right->info;
}

/* The oldest first. */
static int by_age(const void *a, const void *b)
{
    int64_t left = ((const struct list_line *)a)->info->who.since_steady_ms;
    int64_t right = ((const struct list_line *)b)->info->who.since_steady_ms;

    return left < right ? -1 : left > right ? 1 : by_key(a, b);
}

/* The longest queue first. */
static int by_waiting(const void *a, const void *b)
{
    uint64_t left = ((const struct list_line *)a)->waiting;
    uint64_t right = ((const struct list_line *)b)->waiting;

    return left > right ? -1 : left < right ? 1 : by_key(a, b);
}

static int64_t lease_of(const struct list_line *line)
{
    if (line->info->kind == HF_WAITER || !line->info->lease_known)
        return INT64_MAX;
    return line->info->lease_remaining_ms;
}

/* What ends next first. */
static int by_lease(const void *a, const void *b)
{
    int64_t left = lease_of(a);
    int64_t right = lease_of(b);

    return left < right ? -1 : left > right ? 1 : by_key(a, b);
}

void list_sort(struct list *list, enum list_order order)
{
    static int (*const compares[])(const void *a, const void *b) = {
        [LIST_BY_KEY] = by_key,
        [LIST_BY_AGE] = by_age,
        [LIST_BY_WAITING] = by_waiting,
        [LIST_BY_LEASE] = by_lease,
    };

    if (list->count)
        qsort(list->lines, list->count, sizeof(*list->lines), compares[order]);
}
