/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hazard 60: a number that was read may be another process's when it is used.
 * tree.c against a /proc that is scripted here, so that the number of a
 * stranger is listed as it stood when it was still the job's. The processes are
 * real.
 */
#include "cmd/lockrun/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/lockrun/proc.h"
#include "tests/lib/cmocka_all.h"

int __wrap_pidfd_open(pid_t pid, unsigned int flags);
int __wrap_pidfd_send_signal(int fd, int number, siginfo_t *info,
                             unsigned int flags);

static pid_t listed;   /* as a child of ours */
static pid_t parent;   /* who it is by now */
static char state;     /* of it */
static bool is_pinned; /* a descriptor holds its number */
static bool was_looked_at_early;

/* valgrind knows no pidfd. */
int __wrap_pidfd_open(pid_t pid, unsigned int flags)
{
    assert_int_equal(pid, listed);
    assert_int_equal(flags, 0);
    is_pinned = true;
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_pidfd_send_signal(int fd, int number, siginfo_t *info,
                             unsigned int flags)
{
    (void)info;
    assert_true(fd >= 0 && is_pinned);
    assert_int_equal(flags, 0);
    return kill(listed, number);
}

bool proc_is_ours(void)
{
    return true;
}

bool proc_children(pid_t pid, struct pids *to)
{
    if (pid == getpid())
        pids_add(to, listed);
    return true;
}

bool proc_about(pid_t pid, struct proc_about *about)
{
    assert_int_equal(pid, listed);
    was_looked_at_early = was_looked_at_early || !is_pinned;
    *about = (struct proc_about){.state = state, .parent = parent};
    return true;
}

bool proc_is_to_stop(pid_t pid)
{
    assert_int_equal(pid, listed);
    return false;
}

void proc_scan(struct pids *tree)
{
    (void)tree;
}

ssize_t proc_read(const char *path, char *to, size_t room)
{
    (void)path;
    (void)to;
    (void)room;
    return -ENOENT;
}

ssize_t proc_read_at(int dir, const char *path, char *to, size_t room)
{
    (void)dir;
    return proc_read(path, to, room);
}

/* A process that nothing but a signal ends. */
static pid_t make_process(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    listed = pid;
    state = 'S';
    is_pinned = was_looked_at_early = false;
    return pid;
}

/* How it ended, if it does within two seconds; else 0, and it lives. */
static int ended_by(pid_t pid)
{
    int status;

    for (int tries = 0; tries < 200; tries++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WTERMSIG(status);
        usleep(10000);
    }
    return 0;
}

static void lives(pid_t pid)
{
    usleep(50000);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(ended_by(pid), SIGKILL);
}

/* A tree, and a process that is listed in it; of whom it is a child by now. */
static pid_t plant(struct tree *tree, pid_t its_parent)
{
    tree_init(tree);
    parent = its_parent;
    return make_process();
}

static void who_is_still_ours_gets_the_signal(void **state_)
{
    struct pids refused = {.list = NULL};
    struct tree tree;
    pid_t pid;

    (void)state_;
    pid = plant(&tree, getpid());
    tree_signal(&tree, SIGTERM, TREE_ALL, &refused);
    assert_int_equal(ended_by(pid), SIGTERM);
    assert_false(was_looked_at_early);
    pid = make_process();
    tree_kill(&tree, &refused);
    assert_int_equal(ended_by(pid), SIGKILL);
    assert_int_equal(refused.count, 0);
    tree_clear(&tree);
}

static void who_has_the_number_of_one_that_ended_gets_none(void **state_)
{
    struct pids refused = {.list = NULL};
    struct tree tree;
    pid_t pid;

    (void)state_;
    pid = plant(&tree, 1);
    tree_signal(&tree, SIGTERM, TREE_ALL, &refused);
    tree_kill(&tree, &refused);
    state = 'T';
    tree_wake(&tree);
    lives(pid);
    assert_int_equal(refused.count, 0);
    tree_clear(&tree);
}

/* Nor one of those that lockrun was born with. */
static void strangers_get_none(void **state_)
{
    struct pids refused = {.list = NULL};
    struct tree tree;
    pid_t pid;

    (void)state_;
    pid = plant(&tree, getpid());
    tree_spare(&tree, pid);
    tree_signal(&tree, SIGTERM, TREE_ALL, &refused);
    tree_kill(&tree, &refused);
    lives(pid);
    tree_clear(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_still_ours_gets_the_signal),
        cmocka_unit_test(who_has_the_number_of_one_that_ended_gets_none),
        cmocka_unit_test(strangers_get_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
