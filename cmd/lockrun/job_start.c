/* SPDX-License-Identifier: Apache-2.0 */
/* How a job begins, and why one could not. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/lockrun/job.h"
#include "cmd/lockrun/proc.h"

/* One run in sixteen, by the last digit of a random id, clears up. */
static bool is_due_to_sweep(const char *session)
{
    size_t size = strlen(session);

    return size > 0 && session[size - 1] == '0';
}

const char *job_make_cgroup(struct job *job, const char *session)
{
    const char *what = "";
    int errnum = cgroup_make(&job->tree.cgroup, session, &what);

    if (errnum) {
        say_step(job->say,
                 "no cgroup of the job's own (%s: %s); its processes are "
                 "followed one by one",
                 what, strerror(errnum));
        return NULL;
    }
    if (is_due_to_sweep(session))
        cgroup_sweep(&job->tree.cgroup);
    say_step(job->say, "the job gets the cgroup %s", job->tree.cgroup.folder);
    return job->tree.cgroup.folder;
}

void job_drop_cgroup(struct job *job)
{
    if (job->tree.cgroup.fd >= 0)
        (void)cgroup_remove(&job->tree.cgroup);
}

/* The interpreter that the first line of a script names, for a message. */
static bool read_interpreter(const char *path, char to[128])
{
    char text[128];
    ssize_t size = proc_read(path, text, sizeof(text));

    if (size < 3 || text[0] != '#' || text[1] != '!')
        return false;
    memcpy(to, text + 2, (size_t)size - 1);
    to[strcspn(to, "\n")] = '\0';
    return true;
}

static int tell_why(const struct spawn *spawn, int errnum, size_t words_added,
                    struct hf_error *error)
{
    const char *path = spawn->program->path;
    char interpreter[128];
    bool is_missing = errnum == ENOENT || errnum == ENOTDIR ||
                      errnum == ELOOP || errnum == ENAMETOOLONG;

    if (errnum == E2BIG)
        (void)hf_error_set(error, HF_ERR_USAGE,
                           "%s: argument list too long: arguments and "
                           "environment are more than the kernel takes; %zu "
                           "bytes of it are the LOCK_* of lockrun",
                           path, words_added);
    else if (errnum == EACCES && program_is_folder(path, error))
        return 126;
    else if (errnum == ENOENT && !access(path, F_OK) &&
             read_interpreter(path, interpreter))
        (void)hf_error_set(error, HF_ERR_USAGE,
                           "%s: its first line asks for the interpreter "
                           "\"%s\", which is not there%s",
                           path, interpreter,
                           strchr(interpreter, '\r')
                               ? " (the line ends with a carriage return)"
                               : "");
    else
        (void)hf_error_set_errno(error, HF_ERR_USAGE, errnum, "%s", path);
    return is_missing ? 127 : 126;
}

/* Kernels and settings that do not let a process be born in a cgroup. */
static bool is_about_cgroup(int errnum)
{
    return errnum != EAGAIN && errnum != ENOMEM && errnum != EMFILE &&
           errnum != ENFILE;
}

int job_start(struct job *job, const struct guardian_orders *orders,
              struct spawn *spawn, size_t words_added, bool *needs_no_cgroup,
              struct hf_error *error)
{
    int exec_errnum = 0;
    int errnum;

    job->grace = orders->grace;
    spawn->cgroup_fd = job->tree.cgroup.fd;
    errnum = guardian_start(&job->guardian, orders, spawn, &job->tree,
                            &job->pid, &exec_errnum);
    if (errnum == ETIME) {
        (void)hf_error_set(error, HF_ERR_LOST,
                           "lockrun stood still (stopped, or stuck) until the "
                           "lease was over: %s was not started",
                           spawn->program->path);
        return hf_err_status(HF_ERR_LOST);
    }
    *needs_no_cgroup =
        errnum && spawn->cgroup_fd >= 0 && is_about_cgroup(errnum);
    if (*needs_no_cgroup) {
        say_step(job->say, "the job cannot be put into its cgroup (%s)",
                 strerror(errnum));
        return 0;
    }
    if (errnum) {
        (void)hf_error_set_errno(error, HF_ERR_USAGE, errnum,
                                 "making a process for %s",
                                 spawn->program->path);
        return 126;
    }
    if (exec_errnum)
        return tell_why(spawn, exec_errnum, words_added, error);
    if (job->pid)
        tree_set_job(&job->tree, job->pid);
    return 0;
}
