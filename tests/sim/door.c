/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/door.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4096, NAMES_MAX = 64 };

struct door {
    struct hf_store store; /* first */
    struct hf_store *inner;
    struct sim_run *run;
    uint32_t left; /* requests that still go out; SIM_DOOR_OPEN: any number */
    char who[32];
    const struct hf_store_request *names[NAMES_MAX];
    unsigned name_at;
};

struct line {
    char text[LINE_BYTES];
    size_t size;
};

static void add(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
    size_t room = sizeof(line->text) - line->size;
    va_list args;
    int size;

    va_start(args, format);
    size = vsnprintf(line->text + line->size, room, format, args);
    va_end(args);
    if (size > 0)
        line->size += (size_t)size < room ? (size_t)size : room - 1;
}

static void add_key(struct line *line, struct hf_bytes key)
{
    size_t root = sizeof("holdfast/") - 1;

    if (key.size > root)
        add(line, " %.*s", (int)(key.size - root), key.data + root);
    else
        add(line, " %.*s", (int)key.size, key.data);
}

static void add_conditions(struct line *line, const struct hf_branch *branch)
{
    static const char *const names[] = {"absent", "unchanged", "prefix-absent"};

    for (size_t i = 0; i < branch->condition_count; i++) {
        const struct hf_condition *condition = &branch->conditions[i];

        add(line, "%s %s", i ? " and" : " if", names[condition->kind]);
        add_key(line, condition->key);
        if (condition->kind == HF_IF_UNCHANGED)
            add(line, "@%" PRIu64, condition->revision);
    }
}

static void add_actions(struct line *line, const char *word,
                        const struct hf_action *actions, size_t count)
{
    static const char *const names[] = {"put", "delete", "delete-prefix", "get",
                                        "list"};

    for (size_t i = 0; i < count; i++) {
        add(line, "%s %s", i ? "," : word, names[actions[i].kind]);
        add_key(line, actions[i].key);
    }
}

static void add_question(struct line *line,
                         const struct hf_store_request *request)
{
    static const char *const names[] = {"txn",  "grant", "renew", "revoke",
                                        "show", "phase", "watch"};

    add(line, "%s", names[request->kind]);
    if (request->expect.epoch_min)
        add(line, " expecting %02x%02x:%" PRIu32, request->expect.id[0],
            request->expect.id[1], request->expect.epoch_min);
    if (request->kind == HF_STORE_WATCH) {
        add_key(line, request->prefix);
        add(line, " after %" PRIu64, request->after);
    } else if (request->kind != HF_STORE_TXN) {
        add(line, " %" PRIx64, request->lease);
    }
    for (size_t i = 0;
         request->kind == HF_STORE_TXN && i < request->branch_count; i++) {
        const struct hf_branch *branch = &request->branches[i];

        add_conditions(line, branch);
        add_actions(line, " then", branch->then, branch->then_count);
        add_actions(line, " else", branch->otherwise, branch->otherwise_count);
    }
}

static void add_records(struct line *line,
                        const struct hf_action_result *result)
{
    for (size_t i = 0; i < result->record_count; i++) {
        add(line, " [");
        add_key(line, result->records[i].key);
        add(line, " @%" PRIu64 " ]", result->records[i].changed);
    }
}

static void add_answer(struct line *line,
                       const struct hf_store_request *request)
{
    static const char *const outcomes[] = {"committed", "refused", "unknown",
                                           "failed"};
    static const char *const refusals[] = {"", " lease", " compacted",
                                           " identity"};

    add(line, "%s%s", outcomes[request->outcome], refusals[request->refusal]);
    if (request->revision)
        add(line, " @%" PRIu64 " of %02x%02x:%" PRIu32, request->revision,
            request->identity.id[0], request->identity.id[1],
            request->identity.epoch_min);
    if (request->kind == HF_STORE_WATCH)
        add(line, " %zu changes", request->change_count);
    for (size_t i = 0;
         request->kind == HF_STORE_TXN &&
         request->outcome == HF_OUTCOME_COMMITTED && i < request->branch_count;
         i++) {
        const struct hf_branch *branch = &request->branches[i];
        size_t count =
            branch->held ? branch->then_count : branch->otherwise_count;

        add(line, branch->held ? " held" : " not held");
        for (size_t j = 0; j < count; j++)
            add_records(line, &branch->results[j]);
    }
}

static struct door *own(struct hf_store *store)
{
    return (struct door *)store;
}

/* Short, and the same in every run: the store's own name of a request. */
static unsigned name_of(struct door *door,
                        const struct hf_store_request *request)
{
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        if (door->names[i] == request)
            return i;
    }
    door->names[door->name_at % NAMES_MAX] = request;
    return door->name_at++ % NAMES_MAX;
}

static void tell_question(struct door *door,
                          const struct hf_store_request *request)
{
    struct line line = {.size = 0};

    if (!door->run->verbose)
        return;
    add_question(&line, request);
    sim_say(door->run, "  %s -> #%u %s", door->who, name_of(door, request),
            line.text);
}

static void door_submit(struct hf_store *store,
                        struct hf_store_request *request, struct hf_time now)
{
    struct door *door = own(store);

    if (!door->left)
        return;
    if (door->left != SIM_DOOR_OPEN)
        door->left--;
    tell_question(door, request);
    hf_store_submit(door->inner, request, now);
}

static void door_cancel(struct hf_store *store,
                        struct hf_store_request *request)
{
    struct door *door = own(store);

    if (door->run->verbose)
        sim_say(door->run, "  %s -> #%u cancel", door->who,
                name_of(door, request));
    door->inner->ops->cancel(door->inner, request);
}

static struct hf_store_request *door_next(struct hf_store *store,
                                          struct hf_time now)
{
    struct door *door = own(store);
    struct hf_store_request *request;
    struct line line = {.size = 0};

    if (!door->left)
        return NULL;
    request = hf_store_next(door->inner, now);
    if (!request || !door->run->verbose)
        return request;
    add_answer(&line, request);
    sim_say(door->run, "  %s <- #%u %s", door->who, name_of(door, request),
            line.text);
    return request;
}

static int door_fd(struct hf_store *store)
{
    return own(store)->inner->ops->fd(own(store)->inner);
}

static struct hf_time door_wake_at(struct hf_store *store)
{
    return own(store)->inner->ops->wake_at(own(store)->inner);
}

static void door_close(struct hf_store *store)
{
    own(store)->inner->ops->close(own(store)->inner);
    free(store);
}

bool sim_door_is_closed(const struct hf_store *door)
{
    return ((const struct door *)door)->left == 0;
}

struct hf_store *sim_door_new(struct sim_run *run, struct hf_store *inner,
                              const char *who, uint32_t closes_after)
{
    static const struct hf_store_ops ops = {.submit = door_submit,
                                            .cancel = door_cancel,
                                            .next = door_next,
                                            .fd = door_fd,
                                            .wake_at = door_wake_at,
                                            .close = door_close};
    struct door *door = calloc(1, sizeof(*door));

    hf_assert(door);
    door->store.ops = &ops;
    door->store.traits = inner->traits;
    door->inner = inner;
    door->run = run;
    door->left = closes_after;
    snprintf(door->who, sizeof(door->who), "%s", who);
    return &door->store;
}
