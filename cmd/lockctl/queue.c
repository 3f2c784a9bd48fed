/* SPDX-License-Identifier: Apache-2.0 */
/* lockctl queue [KEY]: who waits, in the order in which they will get it. */
#include <stdlib.h>
#include <string.h>

#include "cmd/lockctl/lockctl.h"
#include "cmd/lockctl/waiters.h"

/* By key, then in the order they came. */
static int compare(const void *a, const void *b)
{
    const struct hf_hold_info *left = a;
    const struct hf_hold_info *right = b;
    int order = strcmp(left->key, right->key);

    if (order)
        return order;
    if (left->created != right->created)
        return left->created < right->created ? -1 : 1;
    return memcmp(left->who.grant, right->who.grant, sizeof(left->who.grant));
}

/* The waiters alone, in order; returns how many. */
static size_t sort(struct hf_request *answer)
{
    size_t count = 0;
    size_t i;

    for (i = 0; i < answer->info_count; i++) {
        if (answer->infos[i].kind == HF_WAITER)
            answer->infos[count++] = answer->infos[i];
    }
    if (count)
        qsort(answer->infos, count, sizeof(*answer->infos), compare);
    return count;
}

/* Of the one at `at`, whose forerunner had `former`: 1 is next. */
static uint64_t place_of(const struct hf_request *answer, size_t at,
                         uint64_t former)
{
    if (at > 0 && strcmp(answer->infos[at].key, answer->infos[at - 1].key) == 0)
        return former + 1;
    return 1;
}

static void print_json(struct lockctl *ctl, const struct hf_request *answer,
                       size_t count, struct hf_time now)
{
    uint64_t place = 0;
    struct hf_json json;
    size_t i;

    hf_json_begin(&json, &ctl->out);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "store", lockctl_place(ctl));
    hf_json_array(&json, "waiters");
    for (i = 0; i < count; i++) {
        place = place_of(answer, i, place);
        hf_json_object(&json, NULL);
        hf_json_text(&json, "key", answer->infos[i].key);
        hold_json(&json, &answer->infos[i], now, place);
        hf_json_object_end(&json);
    }
    hf_json_array_end(&json);
    hf_json_u64(&json, "waiting", answer->waiting);
    hf_json_bool(&json, "more", answer->waiting > count);
    hf_json_object_end(&json);
    (void)hf_json_end(&json);
    (void)hf_buf_add(&ctl->out, "\n", 1);
}

static void print_text(struct lockctl *ctl, const struct hf_request *answer,
                       size_t count, struct hf_time now)
{
    bool has_keys = answer->kind == HF_REQUEST_LIST;
    uint64_t place = 0;
    struct table table;
    size_t i;

    if (count == 0)
        return;
    table_init(&table, waiters_columns);
    for (i = 0; i < count; i++) {
        place = place_of(answer, i, place);
        waiters_add(&table, &answer->infos[i], place,
                    has_keys ? answer->infos[i].key : "", now);
    }
    if (table_print(&table, terminal_width(), terminal_is_styled(), &ctl->out))
        ctl->out.failed = HF_ERR_NOMEM;
    table_clear(&table);
}

int lockctl_queue(struct lockctl *ctl)
{
    struct hf_request answer = {.kind = HF_REQUEST_LIST,
                                .limit = HF_STORE_LIST_MAX};
    struct hf_error error;
    struct hf_time now;
    size_t count;

    if (ctl->opts.operand_count) {
        answer.kind = HF_REQUEST_SHOW;
        if (hf_key_complete(ctl->opts.operands[0], HF_KEY_DEFAULT_HOME,
                            answer.key, &error))
            return lockctl_fail(&error);
    }
    if (lockctl_open(ctl, true, &error) || lockctl_ask(ctl, &answer, &error))
        return lockctl_fail(&error);
    now = ctl->sys.steady(&ctl->sys);
    count = sort(&answer);
    if (ctl->options.is_json)
        print_json(ctl, &answer, count, now);
    else
        print_text(ctl, &answer, count, now);
    if (answer.waiting > count)
        lockctl_note("%zu of %llu that wait are shown", count,
                     (unsigned long long)answer.waiting);
    hf_request_clear(&answer);
    return 0;
}
