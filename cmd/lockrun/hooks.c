/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/hooks.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "client/hold_json.h"
#include "cmd/lockrun/environment.h"

static const struct {
    const char *event;
    const char *option;
} names[HOOK_COUNT] = {
    [HOOK_BUSY] = {"busy", "--on-busy"},
    [HOOK_DOUBT] = {"doubt", "--on-doubt"},
    [HOOK_LOST] = {"lost", "--on-lost"},
};

static void start(struct run *run, enum hook_kind kind, const char *line,
                  struct environment_words *words,
                  struct environment_event *event)
{
    struct environment environment;
    struct hf_error error;
    int errnum;

    event->name = names[kind].event;
    words->event = event;
    words->key = run->key;
    words->class_name = hf_session_rules(run->session)->name;
    if (environment_make(&environment, environ, words, &error)) {
        say(&run->say, "%s: %s", names[kind].option, error.text);
        return;
    }
    errnum = hook_start(&run->hooks[kind], line, environment.list, run->sys,
                        &run->signals);
    environment_clear(&environment);
    if (errnum)
        say(&run->say, "%s: making a process: %s", names[kind].option,
            strerror(errnum));
    else
        say_step(&run->say, "%s: started", names[kind].option);
}

void hooks_busy(struct run *run, const struct hf_hold_info *holder,
                const char *reason, int status)
{
    struct environment_words words = {.token = 0};
    struct environment_event event = {
        .reason = reason, .status = status, .holder = holder};
    struct hf_utc_text since = {""};

    if (!run->options->on_busy)
        return;
    if (holder)
        since = hf_hold_since(holder);
    event.since = since.text;
    start(run, HOOK_BUSY, run->options->on_busy, &words, &event);
}

static struct environment_words hold_words(const struct run *run)
{
    return (struct environment_words){
        .token = hf_session_token(run->session),
        .session = hf_session_id(run->session),
        .state = hf_session_state_path(run->session),
    };
}

void hooks_doubt(struct run *run, const char *reason)
{
    struct environment_words words = hold_words(run);
    struct environment_event event = {
        .reason = reason, .status = -1, .lockrun = (uint32_t)getpid()};

    if (!run->options->on_doubt)
        return;
    if (run->hooks[HOOK_DOUBT].fd >= 0) {
        say_step(&run->say, "--on-doubt: still at work since the last time");
        return;
    }
    start(run, HOOK_DOUBT, run->options->on_doubt, &words, &event);
    if (run->hooks[HOOK_DOUBT].fd >= 0)
        tree_spare(&run->job.tree, run->hooks[HOOK_DOUBT].pid);
}

void hooks_lost(struct run *run, const char *reason, int status)
{
    struct environment_words words = hold_words(run);
    struct environment_event event = {.reason = reason, .status = status};

    if (!run->options->on_lost)
        return;
    start(run, HOOK_LOST, run->options->on_lost, &words, &event);
    if (run->hooks[HOOK_LOST].fd >= 0)
        tree_spare(&run->job.tree, run->hooks[HOOK_LOST].pid);
}

static void look(struct run *run, enum hook_kind kind)
{
    const char *option = names[kind].option;
    int status = 0;

    switch (hook_look(&run->hooks[kind], &status)) {
    case HOOK_ENDED:
        if (status)
            say(&run->say, "%s: the line ended with %d", option, status);
        else
            say_step(&run->say, "%s: done", option);
        break;
    case HOOK_KILLED:
        say(&run->say, "%s: the line was killed: it did not end within %s",
            option, hf_duration_print(HOOK_LIMIT).text);
        break;
    case HOOK_NO_WORD:
        say(&run->say, "%s: what became of the line is not known", option);
        break;
    case HOOK_RUNS:
    case HOOK_NONE:
        break;
    }
}

void hooks_look(struct run *run)
{
    for (int kind = 0; kind < HOOK_COUNT; kind++)
        look(run, (enum hook_kind)kind);
}

bool hooks_run(const struct run *run)
{
    for (int kind = 0; kind < HOOK_COUNT; kind++) {
        if (run->hooks[kind].fd >= 0)
            return true;
    }
    return false;
}

void hooks_finish(struct run *run)
{
    struct pollfd ready[HOOK_COUNT + 1];

    for (;;) {
        hooks_look(run);
        if (!hooks_run(run) || run_take_ending_signal(run))
            return;
        for (int kind = 0; kind < HOOK_COUNT; kind++)
            ready[kind] =
                (struct pollfd){.fd = run->hooks[kind].fd, .events = POLLIN};
        ready[HOOK_COUNT] =
            (struct pollfd){.fd = run->signals.fd, .events = POLLIN};
        (void)poll(ready, HOOK_COUNT + 1, -1);
    }
}
