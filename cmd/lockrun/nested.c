/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/nested.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/lockrun/ask.h"
#include "cmd/lockrun/busy.h"
#include "cmd/lockrun/environment.h"
#include "cmd/lockrun/proc.h"

/* More ancestors than anybody has; a bound for the walk, no more. */
enum { ANCESTORS_MAX = 4096 };

static bool is_ancestor(pid_t pid)
{
    pid_t at = getppid();

    for (int i = 0; at > 1 && i < ANCESTORS_MAX; i++) {
        struct proc_about about;

        if (at == pid)
            return true;
        if (!proc_about(at, &about))
            return false;
        at = about.parent;
    }
    return at == pid;
}

static bool is_outer(const struct hf_hold_info *info)
{
    const char *session = getenv("LOCK_SESSION");

    if (info->kind != HF_HOLD && info->kind != HF_SHARE)
        return false;
    if (session && strcmp(session, info->who.session) == 0)
        return true;
    return info->who.pid_namespace == busy_pid_namespace() &&
           is_ancestor((pid_t)info->who.pid);
}

/* The outer hold's variables, for an environment that was cleared on the way
 * (sudo) tells nothing of them. */
static char *const *outer_environment(struct run *run,
                                      const struct hf_hold_info *info,
                                      struct environment *environment,
                                      struct hf_error *error)
{
    const char *session = getenv("LOCK_SESSION");
    const struct environment_words words = {
        .token = info->token,
        .key = run->key,
        .class_name = info->who.class_name,
        .session = info->who.session,
        .state = session && strcmp(session, info->who.session) == 0
                     ? getenv("LOCK_STATE")
                     : NULL,
    };

    return environment_make(environment, environ, &words, error)
               ? NULL
               : environment->list;
}

const struct hf_hold_info *nested_among(const struct hf_request *who)
{
    for (size_t i = 0; i < who->info_count; i++) {
        if (is_outer(&who->infos[i]))
            return &who->infos[i];
    }
    return NULL;
}

bool nested_find(const struct run *run, struct hf_hold_info *outer)
{
    const struct hf_request *busy = hf_session_busy(run->session);
    const struct hf_hold_info *found;
    struct hf_request all;

    if (busy->info_count == 0)
        return false;
    *outer = busy->infos[0];
    if (is_outer(outer))
        return true;
    /* Others may share it with the outer one: the first of them was named. */
    if (outer->kind == HF_HOLD || outer->kind == HF_FLOOR)
        return false;
    ask_who_has(&run->store, run->key, run->sys, &all);
    found = nested_among(&all);
    if (found)
        *outer = *found;
    hf_request_clear(&all);
    return found != NULL;
}

/* What is asked of a hold, and is not ours to do. */
static void tell_what_is_not_kept(const struct run *run,
                                  const struct hf_hold_info *info)
{
    const struct lockrun_options *options = run->options;
    const struct {
        const char *name;
        bool is_given;
    } rows[] = {
        {"--ttl", options->ttl.is_given},
        {"--grace", options->grace.is_given},
        {"--hold-min", options->hold_min.is_given},
        {"--max-run", options->max_run.is_given},
        {"--leftover", options->leftover_word.is_given},
        {"--on-doubt", options->on_doubt != NULL},
        {"--on-lost", options->on_lost != NULL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].is_given)
            say(&run->say,
                "%s is the outer lockrun's to keep (pid %u): with "
                "--nested=join it is not kept here",
                rows[i].name, (unsigned int)info->who.pid);
    }
}

static int join(struct run *run, const struct hf_hold_info *info)
{
    struct environment environment;
    struct hf_error error;
    char *const *list = outer_environment(run, info, &environment, &error);
    int errnum;

    if (!list)
        return run_fail(run, &error);
    say_step(&run->say, "joining the hold of %s that runs this command",
             run->key);
    tell_what_is_not_kept(run, info);
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (run->closed & 1U << fd)
            close(fd);
    }
    if (run->signals.child_ignored)
        sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigprocmask(SIG_SETMASK, &run->signals.given, NULL);
    execvpe(run->options->command[0], run->options->command, list);
    errnum = errno;
    environment_clear(&environment);
    say(&run->say, "%s: %s", run->options->command[0], strerror(errnum));
    return errnum == ENOENT ? 127 : 126;
}

enum hf_err nested_judge(const struct lockrun_options *options, const char *key,
                         const struct hf_hold_info *outer,
                         struct hf_error *error)
{
    bool is_enough = outer->kind == HF_HOLD || options->mode == HF_SHARED;

    if (options->joins && is_enough)
        return HF_ERR_OK;
    return hf_error_set(
        error, HF_ERR_USAGE,
        "%s is held%s by the lockrun (pid %u) that runs this very command: to "
        "wait for it would be to wait for ever; take away one of the two, give "
        "one another --key, or %s",
        key, outer->kind == HF_SHARE ? " shared" : "",
        (unsigned int)outer->who.pid,
        is_enough ? "say --nested=join" : "let both be -x, or both -s");
}

int nested_end(struct run *run, const struct hf_hold_info *info)
{
    struct hf_error error;

    return nested_judge(run->options, run->key, info, &error)
               ? run_fail(run, &error)
               : join(run, info);
}
