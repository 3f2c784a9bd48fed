/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a story and holds it against what happens: the real service over the
 * simulated store, requests and answers in one small language.
 *
 *   store local|server        which kind of store (first line of a chapter)
 *   c1 open [TTL] -> done     a client; each has a service of its own
 *   c1 acquire KEY [shared] [wait TIME] -> granted T1 | busy c2 [place N] |
 *                                          lost | failed WORD | waiting
 *   c1 hears -> granted T1    the answer to what was left waiting (or silence)
 *   c1 renew -> stands | gone | lost | failed WORD
 *   c1 release [T1] [last] -> done | not-held | failed WORD
 *                             T1 or its newest; last: its session ends with it
 *   c1 keep TIME -> done      its key, whatever becomes of it
 *   c1 leaves -> done         cancels its acquire, nothing is said about it
 *   c1 close -> done
 *   c1 dies [alone]           with its job, or without
 *   c1 job started|gone -> done
 *   c1 advance [now] -> epoch N | failed WORD
 *   pass TIME                 time goes by; everybody is looked after
 *   fault NAME [CHANCE]       a switch of store/sim.h; calm turns all off
 *   snapshot                  restore rising|epoch|new-life
 *   T1 < T2                   tokens compare so
 *   commits N                 so many since the last such line
 *   key KEY held by c1|nobody [waiting N]
 *   c1 watches [KEY]          from now on; all keys, or one
 *   c1 sees queued c2 granted c1 | missed | nothing
 *                             the news since it began or last saw any
 *
 * Usage: story FILE...; prints each line that is not as told. A chapter begins
 * at "chapter NAME" and is one test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "core/token.h"
#include "service/service.h"
#include "store/sim.h"

enum { CLIENTS_MAX = 16, TOKENS_MAX = 32, WORDS_MAX = 32, LINE_MAX_ = 512 };

struct client {
    struct hf_service *service;
    struct hf_store *store;
    struct hf_session_ref session;
    struct hf_hold_ref hold;
    struct hf_request acquire;
    bool waiting;
    bool answered;
    struct hf_request watch;
    bool watching;
    char news[LINE_MAX_];
};

struct story {
    const char *file;
    int line;
    char chapter[128];
    bool broken;
    int passed;
    int failed;
    struct hf_sim_world *world;
    struct hf_sim_faults faults;
    struct hf_sim_snapshot *snapshot;
    struct hf_time now;
    struct client clients[CLIENTS_MAX];
    uint64_t tokens[TOKENS_MAX];
    uint64_t commits;
    uint8_t grants;
    const char *words[WORDS_MAX];
    size_t count;
};

static const struct hf_class *const class_list[] = {&hf_class_batch};
static const struct hf_core_classes classes = {class_list, 1};
static const struct hf_wall wall = {INT64_C(1000000000)};

static void wrong(struct story *story, const char *what, const char *got)
{
    printf("%s:%d: %s: got \"%s\"\n", story->file, story->line, what, got);
    story->broken = true;
}

static const char *word(const struct story *story, size_t at)
{
    return at < story->count ? story->words[at] : "";
}

static bool has(const struct story *story, const char *text)
{
    size_t i;

    for (i = 0; i < story->count; i++) {
        if (strcmp(story->words[i], text) == 0)
            return true;
    }
    return false;
}

/* The words behind "->", as one text. */
static void expected(const struct story *story, char to[LINE_MAX_])
{
    size_t i = 0;

    to[0] = '\0';
    while (i < story->count && strcmp(story->words[i], "->") != 0)
        i++;
    for (i++; i < story->count; i++) {
        snprintf(to + strlen(to), LINE_MAX_ - strlen(to), "%s%s",
                 to[0] ? " " : "", story->words[i]);
    }
}

static int64_t duration_ms(struct story *story, const char *text)
{
    struct hf_span span = {0};

    if (hf_duration_parse(text, &span, NULL))
        wrong(story, "a duration", text);
    return span.ns / 1000000;
}

/* ---- the world ------------------------------------------------------------
 */

static void close_client(struct client *client)
{
    hf_request_clear(&client->acquire);
    hf_request_clear(&client->watch);
    hf_service_close(client->service);
    memset(client, 0, sizeof(*client));
}

static void end_world(struct story *story)
{
    size_t i;

    for (i = 0; i < CLIENTS_MAX; i++)
        close_client(&story->clients[i]);
    hf_sim_snapshot_free(story->snapshot);
    story->snapshot = NULL;
    hf_sim_world_free(story->world);
    story->world = NULL;
}

static void new_world(struct story *story, bool local)
{
    struct hf_sim_options options = {
        .seed = 1,
        .traits = {.shared_queue = true,
                   .cheap_conflict = local,
                   .local = true},
        .first_revision = 100,
        .expires_by_itself = !local,
    };

    end_world(story);
    story->world = hf_sim_world_new(&options);
    story->now = (struct hf_time){1};
    memset(&story->faults, 0, sizeof(story->faults));
    story->commits = 0;
    hf_sim_world_advance(story->world, story->now);
}

static struct client *client_of(struct story *story, const char *name)
{
    int number = (int)strtol(name + 1, NULL, 10);
    struct hf_core_options options = {
        .answer_limit = hf_span_ms(5000),
        .ops_max = 64,
    };
    struct client *client;

    if (name[0] != 'c' || number < 1 || number > CLIENTS_MAX)
        return NULL;
    client = &story->clients[number - 1];
    if (!client->service) {
        client->store = hf_sim_open(story->world);
        options.traits = client->store->traits;
        client->service = hf_service_new(client->store, &classes, &options);
    }
    return client;
}

/* Put down what a watch told, and go on watching. */
static void note_news(struct story *story, struct client *client)
{
    struct hf_request *watch = &client->watch;
    size_t i;

    if (watch->answer != HF_ANSWER_DONE)
        wrong(story, "a watch", watch->error.text);
    for (i = 0; i < watch->notice_count; i++)
        snprintf(client->news + strlen(client->news),
                 sizeof(client->news) - strlen(client->news), "%s%s c%u",
                 client->news[0] ? " " : "",
                 hf_notice_names[watch->notices[i].kind],
                 (unsigned)watch->notices[i].info.who.pid);
    if (watch->missed) {
        snprintf(client->news + strlen(client->news),
                 sizeof(client->news) - strlen(client->news), "%smissed",
                 client->news[0] ? " " : "");
        client->watching = false;
        hf_request_clear(watch);
        return;
    }
    if (watch->revision <= watch->after)
        wrong(story, "a later revision", "an old one");
    watch->after = watch->revision;
    hf_request_clear(watch);
    hf_service_submit(client->service, watch, story->now, wall);
}

/* Everybody takes what has come; acquires that were waiting are answered. */
static void look_after(struct story *story)
{
    size_t i;

    for (i = 0; i < CLIENTS_MAX; i++) {
        struct client *client = &story->clients[i];
        struct hf_request *request;

        if (!client->service)
            continue;
        while ((request = hf_service_next(client->service, story->now, wall))) {
            if (request == &client->acquire)
                client->answered = true;
            else if (request == &client->watch)
                note_news(story, client);
            else
                wrong(story, "an answer nobody asked for", "?");
        }
    }
}

static void pass(struct story *story, int64_t ms)
{
    struct hf_time end = hf_time_add(story->now, hf_span_ms(ms));

    while (story->now.ns < end.ns) {
        struct hf_time step = hf_time_add(story->now, hf_span_ms(10));

        story->now = hf_time_min(step, end);
        hf_sim_world_advance(story->world, story->now);
        look_after(story);
    }
}

/* Submit and wait, for up to a minute of the story's time. */
static bool ask(struct story *story, struct client *client,
                struct hf_request *request)
{
    int tries;

    hf_service_submit(client->service, request, story->now, wall);
    for (tries = 0; tries < 6000; tries++) {
        struct hf_request *done =
            hf_service_next(client->service, story->now, wall);

        if (done == request)
            return true;
        if (done == &client->acquire)
            client->answered = true;
        if (done == &client->watch)
            note_news(story, client);
        story->now = hf_time_add(story->now, hf_span_ms(tries ? 10 : 0));
        hf_sim_world_advance(story->world, story->now);
    }
    hf_service_cancel(client->service, request, story->now, wall);
    return false;
}

/* ---- lines ------------------------------------------------------------------
 */

static void compare(struct story *story, const char *got)
{
    char want[LINE_MAX_];

    expected(story, want);
    if (strcmp(want, got) != 0)
        wrong(story, want, got);
}

static const char *plain_answer(const struct hf_request *request,
                                char to[LINE_MAX_])
{
    switch (request->answer) {
    case HF_ANSWER_DONE:
        return "done";
    case HF_ANSWER_GRANTED:
        return "granted";
    case HF_ANSWER_BUSY:
        return "busy";
    case HF_ANSWER_LOST:
        return "lost";
    case HF_ANSWER_NOT_HELD:
        return "not-held";
    case HF_ANSWER_FAILED:
        snprintf(to, LINE_MAX_, "failed %s", hf_err_name(request->error.code));
        return to;
    }
    return "?";
}

static void start_request(struct story *story, struct client *client,
                          struct hf_request *request, enum hf_request_kind kind)
{
    (void)story;
    memset(request, 0, sizeof(*request));
    request->kind = kind;
    request->state_fd = -1;
    memcpy(request->class_name, "batch", 6);
    request->session = client->session;
}

static void do_open(struct story *story, struct client *client)
{
    struct hf_request request;
    char text[LINE_MAX_];

    start_request(story, client, &request, HF_REQUEST_SESSION_OPEN);
    request.random[0] = ++story->grants;
    request.ttl_ms = strcmp(word(story, 2), "->") != 0
                         ? duration_ms(story, word(story, 2))
                         : 6000;
    if (!ask(story, client, &request)) {
        compare(story, "silence");
        return;
    }
    client->session = request.session;
    compare(story, plain_answer(&request, text));
    hf_request_clear(&request);
}

/* "busy c2 place 3": the holder's pid is its client's number. */
static void acquired(struct story *story, struct client *client)
{
    struct hf_request *request = &client->acquire;
    char want[LINE_MAX_];
    char text[LINE_MAX_];
    char got[LINE_MAX_];
    int name;

    client->waiting = false;
    client->answered = false;
    expected(story, want);
    snprintf(got, sizeof(got), "%s", plain_answer(request, text));
    if (request->answer == HF_ANSWER_GRANTED) {
        client->session = request->session;
        client->hold.token = request->token;
        memcpy(client->hold.key, request->key, sizeof(request->key));
        client->hold.mode = request->mode;
        memcpy(client->hold.grant, request->grant, sizeof(request->grant));
        if (sscanf(want, "granted T%d", &name) == 1 && name < TOKENS_MAX) {
            story->tokens[name] = request->token;
            snprintf(got, sizeof(got), "granted T%d", name);
        }
    }
    if (request->answer == HF_ANSWER_BUSY) {
        client->session = request->session;
        if (request->info_count)
            snprintf(got, sizeof(got), "busy c%u",
                     (unsigned)request->infos[0].who.pid);
        if (strstr(want, "place"))
            snprintf(got + strlen(got), sizeof(got) - strlen(got), " place %u",
                     (unsigned)request->place);
    }
    if (strcmp(want, got) != 0)
        wrong(story, want, got);
    hf_request_clear(request);
}

static void do_acquire(struct story *story, struct client *client, int number)
{
    struct hf_request *request = &client->acquire;
    char want[LINE_MAX_];
    size_t i;

    start_request(story, client, request, HF_REQUEST_ACQUIRE);
    snprintf(request->key, sizeof(request->key), "t/n/%s", word(story, 2));
    request->mode = has(story, "shared") ? HF_SHARED : HF_EXCLUSIVE;
    for (i = 3; i < story->count; i++) {
        if (strcmp(story->words[i], "wait") == 0)
            request->wait_ms = duration_ms(story, word(story, i + 1));
    }
    request->grant[0] = ++story->grants;
    request->grant[1] = 1;
    request->holder.pid = (uint32_t)number;
    hf_service_submit(client->service, request, story->now, wall);
    client->waiting = true;
    client->answered = false;
    expected(story, want);
    if (strcmp(want, "waiting") == 0) {
        look_after(story);
        if (client->answered)
            wrong(story, want, "an answer");
        return;
    }
    look_after(story);
    for (i = 0; i < 6000 && !client->answered; i++)
        pass(story, 10);
    if (client->answered)
        acquired(story, client);
    else
        wrong(story, want, "silence");
}

static void do_hears(struct story *story, struct client *client)
{
    look_after(story);
    if (client->answered)
        acquired(story, client);
    else
        compare(story, "silence");
}

static void do_renew(struct story *story, struct client *client)
{
    struct hf_request request;
    char text[LINE_MAX_];

    start_request(story, client, &request, HF_REQUEST_RENEW);
    request.holds = &client->hold;
    request.hold_count = client->hold.token ? 1 : 0;
    if (!ask(story, client, &request)) {
        compare(story, "silence");
        return;
    }
    if (request.answer == HF_ANSWER_DONE && request.hold_count)
        compare(story, client->hold.stands ? "stands" : "gone");
    else
        compare(story, plain_answer(&request, text));
    hf_request_clear(&request);
}

static void do_release(struct story *story, struct client *client)
{
    struct hf_request request;
    struct hf_hold_ref hold = client->hold;
    char text[LINE_MAX_];
    int name;

    start_request(story, client, &request, HF_REQUEST_RELEASE);
    if (sscanf(word(story, 2), "T%d", &name) == 1)
        hold.token = story->tokens[name];
    request.holds = &hold;
    request.hold_count = 1;
    request.last = has(story, "last");
    if (!ask(story, client, &request)) {
        compare(story, "silence");
        return;
    }
    if (request.last)
        client->session.revision = 0;
    compare(story, plain_answer(&request, text));
    hf_request_clear(&request);
}

static void do_keep(struct story *story, struct client *client)
{
    struct hf_request request;
    char text[LINE_MAX_];

    start_request(story, client, &request, HF_REQUEST_KEEP);
    request.holds = &client->hold;
    request.hold_count = 1;
    request.keep_ms = duration_ms(story, word(story, 2));
    if (!ask(story, client, &request)) {
        compare(story, "silence");
        return;
    }
    compare(story, plain_answer(&request, text));
    hf_request_clear(&request);
}

static void do_plain(struct story *story, struct client *client,
                     enum hf_request_kind kind)
{
    struct hf_request request;
    char text[LINE_MAX_];

    start_request(story, client, &request, kind);
    if (kind == HF_REQUEST_JOB)
        request.phase = has(story, "gone") ? HF_PHASE_GONE : HF_PHASE_STARTED;
    if (!ask(story, client, &request)) {
        compare(story, "silence");
        return;
    }
    compare(story, plain_answer(&request, text));
    hf_request_clear(&request);
}

static void do_advance(struct story *story, struct client *client)
{
    struct hf_request request;
    char text[LINE_MAX_];

    start_request(story, client, &request, HF_REQUEST_EPOCH_SHOW);
    if (!ask(story, client, &request)) {
        compare(story, "silence");
        return;
    }
    request.kind = HF_REQUEST_EPOCH_ADVANCE;
    request.now = has(story, "now");
    if (!ask(story, client, &request)) {
        compare(story, "silence");
        return;
    }
    if (request.answer == HF_ANSWER_DONE) {
        snprintf(text, sizeof(text), "epoch %u", (unsigned)request.epoch.epoch);
        compare(story, text);
    } else {
        compare(story, plain_answer(&request, text));
    }
    hf_request_clear(&request);
}

static void do_watches(struct story *story, struct client *client)
{
    struct hf_request request;

    start_request(story, client, &request, HF_REQUEST_EPOCH_SHOW);
    if (client->watching)
        hf_service_cancel(client->service, &client->watch, story->now, wall);
    if (!ask(story, client, &request) || request.answer != HF_ANSWER_DONE)
        wrong(story, "EPOCH_SHOW", "no answer");
    start_request(story, client, &client->watch, HF_REQUEST_WATCH);
    client->watch.after = request.epoch.store_revision;
    hf_request_clear(&request);
    client->watch.whole = story->count > 2;
    if (client->watch.whole)
        snprintf(client->watch.key, sizeof(client->watch.key), "t/n/%s",
                 word(story, 2));
    client->watching = true;
    client->news[0] = '\0';
    hf_service_submit(client->service, &client->watch, story->now, wall);
}

static void do_sees(struct story *story, struct client *client)
{
    char want[LINE_MAX_] = "";
    size_t i;

    look_after(story);
    for (i = 2; i < story->count; i++)
        snprintf(want + strlen(want), sizeof(want) - strlen(want), "%s%s",
                 want[0] ? " " : "", story->words[i]);
    if (strcmp(want, client->news[0] ? client->news : "nothing") != 0)
        wrong(story, want, client->news);
    client->news[0] = '\0';
}

static void do_client(struct story *story, struct client *client, int number)
{
    const char *verb = word(story, 1);

    if (strcmp(verb, "open") == 0) {
        do_open(story, client);
    } else if (strcmp(verb, "acquire") == 0) {
        do_acquire(story, client, number);
    } else if (strcmp(verb, "hears") == 0) {
        do_hears(story, client);
    } else if (strcmp(verb, "renew") == 0) {
        do_renew(story, client);
    } else if (strcmp(verb, "release") == 0) {
        do_release(story, client);
    } else if (strcmp(verb, "leaves") == 0) {
        hf_service_cancel(client->service, &client->acquire, story->now, wall);
        client->waiting = false;
        look_after(story);
    } else if (strcmp(verb, "keep") == 0) {
        do_keep(story, client);
    } else if (strcmp(verb, "close") == 0) {
        do_plain(story, client, HF_REQUEST_SESSION_CLOSE);
    } else if (strcmp(verb, "job") == 0) {
        do_plain(story, client, HF_REQUEST_JOB);
    } else if (strcmp(verb, "dies") == 0) {
        hf_sim_kill(client->store, !has(story, "alone"));
        close_client(client);
    } else if (strcmp(verb, "watches") == 0) {
        do_watches(story, client);
    } else if (strcmp(verb, "sees") == 0) {
        do_sees(story, client);
    } else if (strcmp(verb, "advance") == 0) {
        do_advance(story, client);
    } else {
        wrong(story, "a verb", verb);
    }
}

static void do_fault(struct story *story)
{
    static const struct {
        const char *name;
        size_t offset;
    } switches[] = {
        {"unknown_done", offsetof(struct hf_sim_faults, unknown_done)},
        {"unknown_not", offsetof(struct hf_sim_faults, unknown_not)},
        {"unknown_late", offsetof(struct hf_sim_faults, unknown_late)},
        {"failed", offsetof(struct hf_sim_faults, failed)},
        {"answer_lost", offsetof(struct hf_sim_faults, answer_lost)},
        {"watch_lost", offsetof(struct hf_sim_faults, watch_lost)},
        {"keepalive_lies", offsetof(struct hf_sim_faults, keepalive_lies)},
    };
    size_t i;

    for (i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        if (strcmp(word(story, 1), switches[i].name) == 0) {
            *(uint32_t *)((char *)&story->faults + switches[i].offset) =
                story->count > 2
                    ? (uint32_t)(int)strtol(word(story, 2), NULL, 10)
                    : 65536;
            story->faults.late_max = hf_span_ms(3000);
            hf_sim_world_faults(story->world, &story->faults);
            return;
        }
    }
    if (strcmp(word(story, 1), "no_space") == 0) {
        story->faults.no_space = true;
        hf_sim_world_faults(story->world, &story->faults);
        return;
    }
    wrong(story, "a fault", word(story, 1));
}

static void do_restore(struct story *story)
{
    enum hf_sim_restore how = HF_SIM_RESTORE_RISING;

    if (has(story, "epoch"))
        how = HF_SIM_RESTORE_EPOCH;
    else if (has(story, "new-life"))
        how = HF_SIM_RESTORE_NEW_LIFE;
    hf_sim_snapshot_restore(story->world, story->snapshot, how);
}

static void do_commits(struct story *story)
{
    uint64_t commits = hf_sim_world_commits(story->world);
    char got[32];

    snprintf(got, sizeof(got), "%u", (unsigned)(commits - story->commits));
    if (strcmp(word(story, 1), got) != 0)
        wrong(story, "commits", got);
    story->commits = commits;
}

static void do_key(struct story *story)
{
    struct client *asker = client_of(story, "c16");
    struct hf_request request;
    char got[LINE_MAX_] = "nobody";
    size_t i;

    start_request(story, asker, &request, HF_REQUEST_SHOW);
    snprintf(request.key, sizeof(request.key), "t/n/%s", word(story, 1));
    if (!ask(story, asker, &request) || request.answer != HF_ANSWER_DONE) {
        wrong(story, "SHOW", "no answer");
        return;
    }
    for (i = 0; i < request.info_count; i++) {
        if (request.infos[i].kind != HF_WAITER)
            snprintf(got, sizeof(got), "c%u",
                     (unsigned)request.infos[i].who.pid);
    }
    if (strcmp(word(story, 4), got) != 0)
        wrong(story, "holder", got);
    if (strcmp(word(story, 5), "waiting") == 0 &&
        (uint64_t)(int)strtol(word(story, 6), NULL, 10) != request.waiting) {
        snprintf(got, sizeof(got), "%u waiting", (unsigned)request.waiting);
        wrong(story, "queue", got);
    }
    hf_request_clear(&request);
}

static void end_chapter(struct story *story)
{
    if (!story->chapter[0])
        return;
    printf("%s %s\n", story->broken ? "not ok" : "ok", story->chapter);
    if (story->broken)
        story->failed++;
    else
        story->passed++;
    story->chapter[0] = '\0';
}

static void do_line(struct story *story)
{
    const char *first = word(story, 0);
    int left;
    int right;

    if (strcmp(first, "chapter") == 0) {
        size_t i;

        end_chapter(story);
        for (i = 1; i < story->count; i++)
            snprintf(story->chapter + strlen(story->chapter),
                     sizeof(story->chapter) - strlen(story->chapter), "%s%s",
                     i > 1 ? " " : "", story->words[i]);
        story->broken = false;
        new_world(story, true);
    } else if (strcmp(first, "store") == 0) {
        new_world(story, strcmp(word(story, 1), "local") == 0);
    } else if (strcmp(first, "pass") == 0) {
        pass(story, duration_ms(story, word(story, 1)));
    } else if (strcmp(first, "fault") == 0) {
        do_fault(story);
    } else if (strcmp(first, "calm") == 0) {
        memset(&story->faults, 0, sizeof(story->faults));
        hf_sim_world_faults(story->world, &story->faults);
    } else if (strcmp(first, "snapshot") == 0) {
        hf_sim_snapshot_free(story->snapshot);
        story->snapshot = hf_sim_snapshot_take(story->world);
    } else if (strcmp(first, "restore") == 0) {
        do_restore(story);
    } else if (strcmp(first, "commits") == 0) {
        do_commits(story);
    } else if (strcmp(first, "key") == 0) {
        do_key(story);
    } else if (first[0] == 'T' && sscanf(first, "T%d", &left) == 1 &&
               sscanf(word(story, 2), "T%d", &right) == 1) {
        if (story->tokens[left] >= story->tokens[right])
            wrong(story, "tokens rise", "not so");
    } else if (client_of(story, first)) {
        do_client(story, client_of(story, first),
                  (int)strtol(first + 1, NULL, 10));
    } else {
        wrong(story, "a line of the language", first);
    }
}

static void tell(struct story *story, FILE *file)
{
    char line[LINE_MAX_];

    story->line = 0;
    while (fgets(line, sizeof(line), file)) {
        char *save = NULL;
        char *hash = strchr(line, '#');
        char *next;

        story->line++;
        if (hash)
            *hash = '\0';
        story->count = 0;
        for (next = strtok_r(line, " \t\n", &save);
             next && story->count < WORDS_MAX;
             next = strtok_r(NULL, " \t\n", &save))
            story->words[story->count++] = next;
        if (story->count > 0)
            do_line(story);
    }
    end_chapter(story);
    end_world(story);
}

int main(int argc, char **argv)
{
    struct story story = {0};
    int i;

    for (i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "r");

        if (!file) {
            fprintf(stderr, "story: cannot open %s\n", argv[i]);
            return 2;
        }
        story.file = argv[i];
        tell(&story, file);
        fclose(file);
    }
    printf("%d passed, %d failed\n", story.passed, story.failed);
    return story.failed > 0 || story.passed == 0;
}
