/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/tree.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/lockrun/proc.h"

/* How long a line of ancestors is followed; a longer one is not believed. */
enum { ANCESTORS_MAX = 4096 };

void tree_init(struct tree *tree)
{
    siginfo_t info = {.si_pid = 0};

    *tree = (struct tree){.cgroup = {.fd = -1}, .job_fd = -1};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    /*
     * A shell that ends with `exec lockrun` leaves us its children (those of a
     * process substitution above all). They are the caller's.
     */
    if (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT))
        (void)proc_children(getpid(), &tree->strangers);
}

void tree_take_over(struct tree *tree)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pids_clear(&tree->strangers);
    tree->walk_is_known = false;
}

void tree_spare(struct tree *tree, pid_t pid)
{
    pids_add(&tree->strangers, pid);
}

void tree_set_job(struct tree *tree, pid_t job)
{
    tree->job = job;
    tree->job_fd = pidfd_open(job, 0);
}

void tree_forget_job(struct tree *tree)
{
    tree->job = 0;
    if (tree->job_fd >= 0)
        close(tree->job_fd);
    tree->job_fd = -1;
}

void tree_clear(struct tree *tree)
{
    tree_forget_job(tree);
    if (tree->cgroup.fd >= 0)
        (void)cgroup_remove(&tree->cgroup);
    cgroup_clear(&tree->cgroup);
    pids_clear(&tree->strangers);
}

/* ---- what happened ---------------------------------------------------------
 */

static void tell(const siginfo_t *info, struct tree_change *change)
{
    *change = (struct tree_change){
        .pid = info->si_pid, .what = TREE_ENDED, .status = info->si_status};
    switch (info->si_code) {
    case CLD_KILLED:
    case CLD_DUMPED:
        change->by_signal = true;
        change->status = 128 + info->si_status;
        break;
    case CLD_STOPPED:
    case CLD_TRAPPED:
        change->what = TREE_STOPPED;
        break;
    case CLD_CONTINUED:
        change->what = TREE_WENT_ON;
        break;
    default:
        break;
    }
}

static void take_told(struct tree *tree)
{
    siginfo_t info;

    if (!tree->told)
        return;
    (void)TEMP_FAILURE_RETRY(
        waitid(P_PID, (id_t)tree->told, &info, WEXITED | WNOHANG));
    pids_remove(&tree->strangers, tree->told);
    if (tree->told == tree->job)
        tree_forget_job(tree);
    if (tree->told == tree->guardian)
        tree->guardian = 0;
    tree->told = 0;
}

static int wait_for_any(siginfo_t *info, int flags)
{
    return (int)TEMP_FAILURE_RETRY(waitid(P_ALL, 0, info, flags));
}

bool tree_next_change(struct tree *tree, struct tree_change *change)
{
    siginfo_t info = {.si_pid = 0};

    take_told(tree);
    if (wait_for_any(&info, WEXITED | WNOHANG | WNOWAIT)) {
        /* Anything else says nothing about them. */
        tree->has_children = errno != ECHILD;
        return false;
    }
    tree->has_children = true;
    if (info.si_pid != 0)
        tree->told = info.si_pid;
    else if (wait_for_any(&info, WSTOPPED | WCONTINUED | WNOHANG) ||
             info.si_pid == 0)
        return false;
    tell(&info, change);
    return true;
}

/* Are all the children that we have the caller's? */
static bool has_only_strangers(const struct tree *tree)
{
    struct pids children = {.list = NULL};
    bool is_so = tree->strangers.count > 0 &&
                 proc_children(getpid(), &children) && !children.is_cut;

    for (size_t i = 0; i < children.count && is_so; i++)
        is_so = pids_has(&tree->strangers, children.list[i]);
    pids_clear(&children);
    return is_so;
}

bool tree_cgroup_is_gone(struct tree *tree)
{
    return tree->cgroup.fd < 0 || cgroup_remove(&tree->cgroup);
}

void tree_let_go(struct tree *tree)
{
    if (tree_cgroup_is_gone(tree))
        return;
    close(tree->cgroup.fd);
    tree->cgroup.fd = -1;
}

bool tree_is_gone(struct tree *tree)
{
    if (tree->has_children && !has_only_strangers(tree))
        return false;
    return tree_cgroup_is_gone(tree);
}

/* ---- who is there ----------------------------------------------------------
 */

bool tree_can_walk(struct tree *tree)
{
    if (!tree->walk_is_known) {
        tree->can_walk = proc_is_ours();
        tree->walk_is_known = true;
    }
    return tree->can_walk;
}

/* All descendants, also those that have ended. */
static void collect(struct tree *tree, struct pids *to)
{
    bool is_listed;

    pids_add(to, tree->job);
    if (tree->cgroup.fd >= 0)
        cgroup_list(&tree->cgroup, to);
    if (!tree_can_walk(tree))
        return;
    is_listed = proc_children(getpid(), to);
    if (!is_listed) {
        pids_add(to, getpid());
        proc_scan(to);
        pids_remove(to, getpid());
    }
    for (size_t i = 0; i < tree->strangers.count; i++)
        pids_remove(to, tree->strangers.list[i]);
    /* The list grows while it is walked: children of children. */
    for (size_t i = 0; is_listed && i < to->count; i++)
        (void)proc_children(to->list[i], to);
    pids_remove(to, tree->guardian);
}

void tree_list(struct tree *tree, struct pids *to)
{
    struct pids all = {.list = NULL};
    struct proc_about about;

    collect(tree, &all);
    for (size_t i = 0; i < all.count; i++) {
        if (!tree_can_walk(tree) ||
            (proc_about(all.list[i], &about) && !about.is_over))
            pids_add(to, all.list[i]);
    }
    to->is_cut = to->is_cut || all.is_cut;
    pids_clear(&all);
}

/* ---- signals ---------------------------------------------------------------
 */

/*
 * Is the process that has this number now one of ours? Asked once a descriptor
 * holds it: a number that was given to a stranger meanwhile must not be hit.
 */
static bool is_ours(struct tree *tree, pid_t pid)
{
    struct proc_about about;
    struct pids members = {.list = NULL};
    pid_t self = getpid();
    pid_t at = pid;
    bool is_member;
    int limit = tree_can_walk(tree) ? ANCESTORS_MAX : 0;

    for (int i = 0; i < limit && proc_about(at, &about); i++) {
        if (about.parent == self)
            return !pids_has(&tree->strangers, at);
        if (about.parent <= 1)
            break;
        at = about.parent;
    }
    if (tree->cgroup.fd < 0)
        return false;
    cgroup_list(&tree->cgroup, &members);
    is_member = pids_has(&members, pid);
    pids_clear(&members);
    return is_member;
}

bool tree_signal_job(struct tree *tree, int number)
{
    return tree->job_fd < 0 ||
           !pidfd_send_signal(tree->job_fd, number, NULL, 0) || errno != EPERM;
}

/* False: not permitted. */
static bool signal_one(struct tree *tree, pid_t pid, int number)
{
    bool is_permitted = true;
    int fd;

    if (pid == tree->job)
        return tree_signal_job(tree, number);
    fd = pidfd_open(pid, 0);
    if (fd < 0)
        return true;
    if (is_ours(tree, pid) && pidfd_send_signal(fd, number, NULL, 0))
        is_permitted = errno != EPERM;
    close(fd);
    return is_permitted;
}

void tree_signal(struct tree *tree, int number, enum tree_whom whom,
                 struct pids *refused)
{
    struct pids all = {.list = NULL};
    pid_t group = getpgrp();

    /* The first process of a pid namespace whose /proc was not mounted anew
     * sees nobody, and reaches everybody: all there is descends from it. */
    if (!tree_can_walk(tree) && getpid() == 1 && whom == TREE_ALL) {
        (void)kill(-1, number);
        return;
    }
    collect(tree, &all);
    for (size_t i = 0; i < all.count; i++) {
        pid_t pid = all.list[i];

        if (whom == TREE_OTHER_GROUPS && getpgid(pid) == group)
            continue;
        if (!signal_one(tree, pid, number))
            pids_add(refused, pid);
    }
    pids_clear(&all);
}

/* Stopped; or it will be, as soon as what it waits for in the kernel is over.
 */
static bool stands(pid_t pid)
{
    struct proc_about about;

    return proc_about(pid, &about) &&
           (about.state == 'T' || (about.state == 'D' && proc_is_to_stop(pid)));
}

void tree_wake(struct tree *tree)
{
    struct pids all = {.list = NULL};

    if (tree->cgroup.fd >= 0)
        cgroup_thaw(&tree->cgroup);
    collect(tree, &all);
    for (size_t i = 0; tree_can_walk(tree) && i < all.count; i++) {
        if (stands(all.list[i]))
            (void)signal_one(tree, all.list[i], SIGCONT);
    }
    pids_clear(&all);
}

void tree_kill(struct tree *tree, struct pids *refused)
{
    if (tree->cgroup.fd >= 0)
        (void)cgroup_kill(&tree->cgroup);
    tree_signal(tree, SIGKILL, TREE_ALL, refused);
}
