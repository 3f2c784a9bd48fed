/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/nested.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

bool nested_is(const struct hf_hold_info *info)
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

int nested_end(struct run *run, const struct hf_hold_info *info)
{
    if (run->options->joins)
        return join(run, info);
    say(&run->say,
        "%s is held by the lockrun (pid %u) that runs this very command: to "
        "wait for it would be to wait for ever; take away one of the two, give "
        "one another --key, or say --nested=join",
        run->key, (unsigned int)info->who.pid);
    run->cause = hf_err_name(HF_ERR_USAGE);
    return hf_err_status(HF_ERR_USAGE);
}
