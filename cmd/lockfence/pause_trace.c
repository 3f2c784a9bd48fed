/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/pause_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
              PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL
};

/* ---- the tracer: a process of its own, so that it may wait for any child
 * ----- */

static const struct {
    long number;
    const char *name;
} acts[] = {
#define ACT(name) {SYS_##name, #name},
#include "cmd/lockfence/pause_act.def"
#undef ACT
/* The older forms, which not every architecture has. */
#ifdef SYS_open
    {SYS_open, "open"},
#endif
#ifdef SYS_creat
    {SYS_creat, "creat"},
#endif
#ifdef SYS_rename
    {SYS_rename, "rename"},
#endif
#ifdef SYS_link
    {SYS_link, "link"},
#endif
#ifdef SYS_symlink
    {SYS_symlink, "symlink"},
#endif
#ifdef SYS_unlink
    {SYS_unlink, "unlink"},
#endif
#ifdef SYS_mkdir
    {SYS_mkdir, "mkdir"},
#endif
    {SYS_openat, "openat"},
};

/* The name of the act that a call begins; NULL: it is none. */
static const char *act_of(const struct __ptrace_syscall_info *info)
{
    long number = (long)info->entry.nr;
    const uint64_t *args = (const uint64_t *)info->entry.args;

    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        if (acts[i].number != number)
            continue;
        if (number == SYS_openat && !(args[2] & (O_CREAT | O_TRUNC)))
            return NULL;
#ifdef SYS_open
        if (number == SYS_open && !(args[1] & (O_CREAT | O_TRUNC)))
            return NULL;
#endif
        if ((number == SYS_write || number == SYS_writev) &&
            args[0] == STDERR_FILENO)
            return NULL;
        return acts[i].name;
    }
    return NULL;
}

struct tracer {
    pid_t shell;
    unsigned int stop_at;
    unsigned int acts;
    bool
        has_begun; /* the shell runs: what it took to start it is not counted */
    bool is_free;  /* it was let go: calls are looked at no more */
    int fd;
};

static void tell(const struct tracer *tracer, char kind, unsigned int act,
                 int status, const char *call)
{
    char line[80];
    int size =
        snprintf(line, sizeof(line), "%c %u %d %s\n", kind, act, status, call);

    if (send(tracer->fd, line, (size_t)size, MSG_NOSIGNAL) != size)
        _exit(1);
}

/* Count an act, and stand still at the right one until a byte comes. */
static void look_at_call(struct tracer *tracer, pid_t pid)
{
    struct __ptrace_syscall_info info;
    const char *call;
    char byte;

    if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY)
        return;
    call = act_of(&info);
    if (!call || !tracer->has_begun)
        return;
    tracer->acts++;
    if (tracer->acts != tracer->stop_at)
        return;
    tell(tracer, 'S', tracer->acts, 0, call);
    while (read(tracer->fd, &byte, 1) < 0 && errno == EINTR)
        ;
    tracer->is_free = true;
}

static void go_on(const struct tracer *tracer, pid_t pid, int signal)
{
    ptrace(tracer->is_free ? PTRACE_CONT : PTRACE_SYSCALL, pid, NULL,
           (void *)(intptr_t)signal);
}

/* One stop of one of its threads. */
static void handle_stop(struct tracer *tracer, pid_t pid, int wait_status)
{
    int signal = WSTOPSIG(wait_status);
    int event = wait_status >> 16;

    if (event == PTRACE_EVENT_EXEC)
        tracer->has_begun = true;
    if (signal == (SIGTRAP | 0x80)) {
        if (!tracer->is_free)
            look_at_call(tracer, pid);
        go_on(tracer, pid, 0);
    } else if (event == PTRACE_EVENT_STOP &&
               (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
                signal == SIGTTOU)) {
        /* A real stop of its group: it stays so until SIGCONT. */
        ptrace(PTRACE_LISTEN, pid, NULL, NULL);
    } else {
        go_on(tracer, pid, event ? 0 : signal);
    }
}

/* The tracer's whole life; never returns. */
static void trace(struct tracer *tracer)
{
    int wait_status = 0;

    for (;;) {
        pid_t pid = waitpid(-1, &wait_status, __WALL);

        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            break;
        if (WIFSTOPPED(wait_status))
            handle_stop(tracer, pid, wait_status);
        else if (pid == tracer->shell)
            tell(tracer, 'E', tracer->acts, pause_status_of(wait_status), "-");
    }
    _exit(0);
}

/* The shell-to-be waits for the end of the pipe `gate`, so that it is traced
 * before it does anything. */
static pid_t start_shell(const char *line, char *const *environment,
                         const char *output_path, int gate[2])
{
    const char *words[] = {"sh", "-c", line, NULL};
    pid_t pid = fork();
    int nothing;
    int output;
    char byte;

    if (pid != 0)
        return pid;
    setpgid(0, 0);
    close(gate[1]);
    while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
        ;
    nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    output = open(output_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (nothing >= 0 && output >= 0 && dup2(nothing, 0) == 0 &&
        dup2(output, 1) == 1 && dup2(output, 2) == 2)
        execve("/bin/sh", (char *const *)words, environment);
    _exit(127);
}

/* Is the shell ours to look at, and on its way? */
static bool seize(const struct tracer *tracer)
{
    int wait_status;

    return ptrace(PTRACE_SEIZE, tracer->shell, NULL,
                  (void *)(intptr_t)OPTIONS) == 0 &&
           ptrace(PTRACE_INTERRUPT, tracer->shell, NULL, NULL) == 0 &&
           waitpid(tracer->shell, &wait_status, __WALL) == tracer->shell &&
           WIFSTOPPED(wait_status) &&
           ptrace(PTRACE_SYSCALL, tracer->shell, NULL, NULL) == 0;
}

/* In the tracer's process: never returns. */
static void become_tracer(struct tracer *tracer, const char *line,
                          char *const *environment, const char *output_path)
{
    int gate[2];

    if (pipe2(gate, O_CLOEXEC) < 0)
        _exit(1);
    tracer->shell = start_shell(line, environment, output_path, gate);
    if (tracer->shell < 0)
        _exit(1);
    if (!seize(tracer)) {
        kill(tracer->shell, SIGKILL);
        tell(tracer, 'F', 0, 0, "ptrace");
        _exit(1);
    }
    close(gate[0]);
    close(gate[1]);
    trace(tracer);
}

/* ---- from outside
 * ------------------------------------------------------------- */

enum hf_err pause_trace_start(const char *line, char *const *environment,
                              const char *output_path, unsigned int stop_at,
                              struct pause_trace *started,
                              struct hf_error *error)
{
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                  "no socket");
    pid = fork();
    if (pid == 0) {
        struct tracer tracer = {.stop_at = stop_at, .fd = ends[1]};

        /* A holder's pipe that stays open here would keep its job alive. */
        close_range(3, (unsigned int)ends[1] - 1, 0);
        close_range((unsigned int)ends[1] + 1, ~0U, 0);
        become_tracer(&tracer, line, environment, output_path);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                  "cannot start a process");
    }
    *started = (struct pause_trace){.tracer = pid, .fd = ends[0]};
    return HF_ERR_OK;
}

/* One line of the tracer's; false: none within the limit, or it is gone. */
static bool read_line(struct hf_sys *sys, int fd, struct hf_span limit,
                      char *line, size_t room, bool *is_gone)
{
    struct hf_time end = hf_time_add(sys->steady(sys), limit);
    size_t size = 0;

    *is_gone = false;
    while (size + 1 < room) {
        struct pollfd about = {.fd = fd, .events = POLLIN};
        struct hf_span left = hf_time_since(end, sys->steady(sys));
        ssize_t got;

        if (left.ns <= 0)
            return false;
        if (poll(&about, 1, (int)hf_span_to_ms_up(left)) <= 0)
            continue;
        got = read(fd, line + size, 1);
        if (got <= 0 && !(got < 0 && errno == EINTR)) {
            *is_gone = true;
            return false;
        }
        if (got == 1 && line[size++] == '\n')
            break;
    }
    line[size] = '\0';
    return true;
}

enum pause_trace_news pause_trace_next(struct hf_sys *sys,
                                       struct pause_trace *trace,
                                       struct hf_span limit,
                                       struct pause_trace_event *event)
{
    char line[80];
    bool is_gone;
    char *at;

    if (!read_line(sys, trace->fd, limit, line, sizeof(line), &is_gone))
        return is_gone ? PAUSE_TRACE_FAILED : PAUSE_TRACE_OVER_TIME;
    event->act = (unsigned int)strtoul(line + 1, &at, 10);
    event->status = (int)strtol(at, &at, 10);
    at += *at == ' ';
    at[strcspn(at, "\n")] = '\0';
    snprintf(event->call, sizeof(event->call), "%.31s", at);
    if (line[0] == 'S')
        return PAUSE_TRACE_STOPPED;
    return line[0] == 'E' ? PAUSE_TRACE_ENDED : PAUSE_TRACE_FAILED;
}

void pause_trace_go(struct pause_trace *trace)
{
    send(trace->fd, "", 1, MSG_NOSIGNAL);
}

void pause_trace_end(struct hf_sys *sys, struct pause_trace *trace)
{
    int status;

    /* PTRACE_O_EXITKILL: what it traces dies with it. */
    kill(trace->tracer, SIGKILL);
    pause_wait(sys, trace->tracer, hf_span_ms(2000), &status);
    close(trace->fd);
}
