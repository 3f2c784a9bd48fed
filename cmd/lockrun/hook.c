/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/lockrun/descriptors.h"
#include "cmd/lockrun/tree.h"

/* What is killed is looked for again so often, and so soon. */
enum { KILLS_MAX = 50, KILL_AGAIN_NS = 20000000 };
/* On the pipe: the line was killed. Else a status, 0 to 255. */
enum { WAS_KILLED = -1 };

/* ---- in the child that looks after the line --------------------------------
 */

static _Noreturn void become_line(const char *line, char *const *envp,
                                  const struct signals *signals, pid_t parent)
{
    char *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                    (char *)(uintptr_t)line, NULL};
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    if (signals->child_ignored)
        sigaction(SIGCHLD, &ignore, NULL);
    sigprocmask(SIG_SETMASK, &signals->given, NULL);
    execve("/bin/sh", argv, envp);
    _exit(errno == ENOENT ? 127 : 126);
}

/* Away from the caller's terminal and from all that lockrun has open: a lock
 * that it holds by a descriptor would be held here too. */
static void leave(int told_fd)
{
    const int kept[] = {STDERR_FILENO, told_fd};

    (void)setsid();
    prctl(PR_SET_NAME, "holdfast-hook");
    descriptors_close_all_but(kept, 2);
    if (open("/dev/null", O_RDONLY) == 0)
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void tell(int told_fd, int what)
{
    (void)!write(told_fd, &what, sizeof(what));
}

/* Until something happened to a child, or for so long. */
static void wait_for_child(struct hf_span most)
{
    struct timespec limit = hf_span_to_timespec(most);
    sigset_t child;

    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    (void)sigtimedwait(&child, NULL, &limit);
}

/* Take what happened; was the end of the line among it? */
static bool has_ended(struct tree *tree, pid_t line, int *status)
{
    struct tree_change change;
    bool is_so = false;

    while (tree_next_change(tree, &change)) {
        if (change.pid == line && change.what == TREE_ENDED) {
            is_so = true;
            *status = change.status;
        }
    }
    return is_so;
}

static void kill_all(struct tree *tree, pid_t line)
{
    struct pids refused = {.list = NULL};
    int ignored;

    for (int i = 0; i < KILLS_MAX && tree->has_children; i++) {
        tree_kill(tree, &refused);
        wait_for_child((struct hf_span){KILL_AGAIN_NS});
        (void)has_ended(tree, line, &ignored);
    }
    pids_clear(&refused);
}

static _Noreturn void look_after(pid_t line, int told_fd, struct tree *tree,
                                 struct hf_sys *sys)
{
    struct hf_time until = hf_time_add(sys->steady(sys), HOOK_LIMIT);
    struct hf_span left = HOOK_LIMIT;
    bool is_told = false;
    int status;

    tree_set_job(tree, line);
    for (;;) {
        if (has_ended(tree, line, &status)) {
            is_told = true;
            tell(told_fd, status);
        }
        left = hf_time_since(until, sys->steady(sys));
        if (!tree->has_children || left.ns <= 0)
            break;
        wait_for_child(left);
    }
    if (tree->has_children && !is_told)
        tell(told_fd, WAS_KILLED);
    kill_all(tree, line);
    _exit(0);
}

static _Noreturn void run_line(const char *line, char *const *envp,
                               struct hf_sys *sys,
                               const struct signals *signals, int told_fd)
{
    pid_t own = getpid();
    struct tree tree;
    pid_t pid;

    leave(told_fd);
    tree_init(&tree);
    pid = fork();
    if (pid == 0)
        become_line(line, envp, signals, own);
    if (pid < 0) {
        tell(told_fd, 126);
        _exit(0);
    }
    look_after(pid, told_fd, &tree, sys);
}

/* ---- in lockrun ------------------------------------------------------------
 */

int hook_start(struct hook *hook, const char *line, char *const *envp,
               struct hf_sys *sys, const struct signals *signals)
{
    int ends[2];
    int errnum;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return errno;
    hook->pid = fork();
    errnum = hook->pid < 0 ? errno : 0;
    if (hook->pid == 0)
        run_line(line, envp, sys, signals, ends[1]);
    close(ends[1]);
    hook->fd = errnum ? -1 : ends[0];
    if (errnum)
        close(ends[0]);
    return errnum;
}

enum hook_end hook_look(struct hook *hook, int *status)
{
    ssize_t got;

    if (hook->fd < 0)
        return HOOK_NONE;
    got = read(hook->fd, status, sizeof(*status));
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return HOOK_RUNS;
    close(hook->fd);
    hook->fd = -1;
    if (got != sizeof(*status))
        return HOOK_NO_WORD;
    return *status == WAS_KILLED ? HOOK_KILLED : HOOK_ENDED;
}
