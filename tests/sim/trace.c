/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4096 };

struct trace {
    struct hf_store store; /* first */
    struct hf_store *inner;
    struct sim_run *run;
    char who[32];
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

static struct trace *own(struct hf_store *store)
{
    return (struct trace *)store;
}

static void trace_submit(struct hf_store *store,
                         struct hf_store_request *request, struct hf_time now)
{
    struct trace *trace = own(store);
    struct line line = {.size = 0};

    add_question(&line, request);
    sim_say(trace->run, "  %s -> #%04x %s", trace->who,
            (unsigned)((uintptr_t)request >> 4 & 0xffff), line.text);
    hf_store_submit(trace->inner, request, now);
}

static void trace_cancel(struct hf_store *store,
                         struct hf_store_request *request)
{
    struct trace *trace = own(store);

    sim_say(trace->run, "  %s -> #%04x cancel", trace->who,
            (unsigned)((uintptr_t)request >> 4 & 0xffff));
    trace->inner->ops->cancel(trace->inner, request);
}

static struct hf_store_request *trace_next(struct hf_store *store,
                                           struct hf_time now)
{
    struct trace *trace = own(store);
    struct hf_store_request *request = hf_store_next(trace->inner, now);
    struct line line = {.size = 0};

    if (!request)
        return NULL;
    add_answer(&line, request);
    sim_say(trace->run, "  %s <- #%04x %s", trace->who,
            (unsigned)((uintptr_t)request >> 4 & 0xffff), line.text);
    return request;
}

static int trace_fd(struct hf_store *store)
{
    return own(store)->inner->ops->fd(own(store)->inner);
}

static struct hf_time trace_wake_at(struct hf_store *store)
{
    return own(store)->inner->ops->wake_at(own(store)->inner);
}

static void trace_close(struct hf_store *store)
{
    own(store)->inner->ops->close(own(store)->inner);
    free(store);
}

struct hf_store *sim_trace(struct sim_run *run, struct hf_store *inner,
                           const char *who)
{
    static const struct hf_store_ops ops = {.submit = trace_submit,
                                            .cancel = trace_cancel,
                                            .next = trace_next,
                                            .fd = trace_fd,
                                            .wake_at = trace_wake_at,
                                            .close = trace_close};
    struct trace *trace;

    if (!run->verbose)
        return inner;
    trace = calloc(1, sizeof(*trace));
    hf_assert(trace);
    trace->store.ops = &ops;
    trace->store.traits = inner->traits;
    trace->inner = inner;
    trace->run = run;
    snprintf(trace->who, sizeof(trace->who), "%s", who);
    return &trace->store;
}
