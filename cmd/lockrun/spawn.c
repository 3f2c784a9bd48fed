/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child calls a handful of functions, and builds paths. */
enum { STACK_BYTES = 8192 + 2 * PATH_MAX };

struct child {
    const struct spawn *spawn;
    pid_t parent;
    int tell_fd;             /* the errno of exec is written there; -1 */
    volatile int exec_errno; /* and stands here, where memory is shared */
};

/* Does execvp(3) try the next folder after this? */
static bool goes_on(int errnum)
{
    switch (errnum) {
    case EACCES:
    case ENOENT:
    case ENOTDIR:
    case ESTALE:
    case ENODEV:
    case ETIMEDOUT:
        return true;
    default:
        return false;
    }
}

/* Returns only when it failed: the errno to tell. */
static int exec_first_that_works(const struct spawn *spawn)
{
    const struct program *program = spawn->program;
    const char *folders = program->folders;
    bool was_refused = false;
    char path[PATH_MAX];
    int errnum;

    execve(program->path, spawn->argv, spawn->envp);
    errnum = errno;
    while (folders && goes_on(errnum)) {
        was_refused = was_refused || errnum == EACCES;
        folders = strchr(folders, ':');
        if (folders)
            folders = program_next(folders + 1, program->name, path);
        if (!folders)
            break;
        execve(path, spawn->argv, spawn->envp);
        errnum = errno;
    }
    return was_refused ? EACCES : errnum;
}

/* In the child. Returns the exit status of one that could not become the
 * command. */
static int become_command(void *argument)
{
    struct child *child = argument;
    const struct spawn *spawn = child->spawn;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    int errnum;

    /* If the guardian is killed, so is its job. A second net only: programs
     * that change their user lose it, and it reaches the first process alone.
     */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != child->parent)
        return 127;
    handed_readdress(spawn->handed, getpid());
    if (spawn->session_fd >= 0 &&
        fcntl(spawn->session_fd, F_DUPFD, SESSION_FD_LEAST) < 0)
        (void)fcntl(spawn->session_fd, F_DUPFD, STDERR_FILENO + 1);
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (spawn->closed & 1U << fd)
            close(fd);
    }
    if (spawn->signals->child_ignored)
        sigaction(SIGCHLD, &ignore, NULL);
    sigprocmask(SIG_SETMASK, &spawn->signals->given, NULL);
    errnum = exec_first_that_works(spawn);
    child->exec_errno = errnum;
    if (child->tell_fd >= 0)
        (void)!write(child->tell_fd, &errnum, sizeof(errnum));
    return 127;
}

#if defined(__x86_64__) && defined(SYS_clone3)
#define HAS_CLONE3 1
/*
 * clone3(2) with a stack for the child, which calls `run` on it and ends with
 * what that returns. The C library has no function for this, and one in C
 * cannot be had: it would return twice on one stack.
 */
static long clone3_run(struct clone_args *args, int (*run)(void *),
                       void *argument)
{
    register int (*function)(void *) __asm__("r12") = run;
    register void *given __asm__("r13") = argument;
    long result;

    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "mov %%eax, %%edi\n\t"
                     "mov %[end], %%eax\n\t"
                     "syscall\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "0"((long)SYS_clone3), "D"(args), "S"(sizeof(*args)),
                       "r"(function), "r"(given), [end] "i"(SYS_exit_group)
                     : "rcx", "r11", "memory", "cc");
    return result;
}

/* In the cgroup, and on our memory until it is the command: we stand still
 * meanwhile. */
static int borrow_memory(const struct spawn *spawn, pid_t *pid, int *exec_errno)
{
    struct child child = {.spawn = spawn, .parent = getpid(), .tell_fd = -1};
    /* Not an array here: what the child leaves behind on it, and where, is
     * nothing that a compiler or a sanitizer may take for ours. */
    char *stack = malloc(STACK_BYTES);
    struct clone_args args = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_INTO_CGROUP,
        .exit_signal = SIGCHLD,
        .stack = (uintptr_t)stack,
        .stack_size = STACK_BYTES,
        .cgroup = (uint64_t)spawn->cgroup_fd,
    };
    long made;

    if (!stack)
        return ENOMEM;
    made = clone3_run(&args, become_command, &child);
    free(stack);
    if (made < 0)
        return (int)-made;
    *pid = (pid_t)made;
    *exec_errno = child.exec_errno;
    return 0;
}
#endif

/* fork(2), in the job's cgroup if that is to be. */
static pid_t make_copy(int cgroup_fd)
{
#ifdef SYS_clone3
    struct clone_args args = {
        .flags = CLONE_INTO_CGROUP,
        .exit_signal = SIGCHLD,
        .cgroup = (uint64_t)cgroup_fd,
    };

    if (cgroup_fd >= 0)
        return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
#endif
    if (cgroup_fd < 0)
        return fork();
    errno = ENOSYS;
    return -1;
}

static int fork_off(const struct spawn *spawn, const struct spawn_watch *watch,
                    pid_t *pid, int *exec_errno)
{
    struct child child = {.spawn = spawn, .parent = getpid()};
    int errnum = 0;
    int ends[2];
    pid_t made; /* *pid may be in memory that the child shares */

    if (pipe2(ends, O_CLOEXEC))
        return errno;
    child.tell_fd = ends[1];
    *exec_errno = 0;
    made = make_copy(spawn->cgroup_fd);
    if (made == 0)
        _exit(become_command(&child));
    if (made < 0)
        errnum = errno;
    close(ends[1]);
    if (!errnum) {
        *pid = made;
        watch->watch(watch->context, ends[0], made);
        (void)!read(ends[0], exec_errno, sizeof(*exec_errno));
    }
    close(ends[0]);
    return errnum;
}

static int spawn_once(const struct spawn *spawn,
                      const struct spawn_watch *watch, pid_t *pid,
                      int *exec_errno)
{
#ifdef HAS_CLONE3
    if (spawn->cgroup_fd >= 0)
        return borrow_memory(spawn, pid, exec_errno);
#endif
    return fork_off(spawn, watch, pid, exec_errno);
}

static int spawn_as_script(const struct spawn *spawn,
                           const struct spawn_watch *watch, pid_t *pid,
                           int *exec_errno)
{
    static char sh[] = "/bin/sh";
    static struct program shell = {.name = sh, .path = sh};
    struct spawn again = *spawn;
    size_t count = 0;
    char **argv;
    int errnum;

    while (spawn->argv[count])
        count++;
    argv = calloc(count + 3, sizeof(*argv));
    if (!argv)
        return ENOMEM;
    argv[0] = (char *)(uintptr_t)shell.name;
    argv[1] = (char *)(uintptr_t)spawn->program->path;
    for (size_t i = 1; i < count; i++)
        argv[i + 1] = spawn->argv[i];
    again.program = &shell;
    again.argv = argv;
    errnum = spawn_once(&again, watch, pid, exec_errno);
    free(argv);
    return errnum;
}

int spawn_command(const struct spawn *spawn, const struct spawn_watch *watch,
                  pid_t *pid, int *exec_errno)
{
    int errnum = spawn_once(spawn, watch, pid, exec_errno);

    if (errnum || *exec_errno != ENOEXEC)
        return errnum;
    while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    return spawn_as_script(spawn, watch, pid, exec_errno);
}
