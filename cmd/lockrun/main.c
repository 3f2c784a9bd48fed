/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockrun: runs a command while holding a lease on a key. Read run.h next.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/auxv.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cmd/lockrun/dry_run.h"
#include "cmd/lockrun/explain.h"
#include "cmd/lockrun/options.h"
#include "cmd/lockrun/run.h"
#include "cmd/lockrun/say.h"

/* Enough for the manual's lists. */
enum { ANSWER_BYTES_MAX = 1 << 20 };

/*
 * Descriptors 0 to 2 that the caller closed would be taken by the next file
 * that is opened, and messages would be written into it. They are filled; the
 * job gets them closed, as they were. Returns their bits.
 */
static unsigned int fill_standard_descriptors(void)
{
    struct pollfd standard[] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};
    unsigned int closed = 0;

    if (poll(standard, 3, 0) <= 0)
        return 0;
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (!(standard[fd].revents & POLLNVAL))
            continue;
        closed |= 1U << fd;
        /* The lowest free number is this one. */
        if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
            return closed;
    }
    return closed;
}

/*
 * Rights that the caller does not have must not go to a job, a store or a line
 * that it chose. AT_SECURE alone does not tell: a security module sets it, too,
 * where nothing is raised.
 */
static bool has_raised_rights(void)
{
    return getauxval(AT_UID) != getauxval(AT_EUID) ||
           getauxval(AT_GID) != getauxval(AT_EGID) ||
           (getauxval(AT_SECURE) &&
            getxattr("/proc/self/exe", "security.capability", NULL, 0) > 0);
}

static int print(const struct say *say_, const struct hf_buf *out)
{
    size_t done = 0;

    while (done < out->size) {
        ssize_t put = write(STDOUT_FILENO, out->data + done, out->size - done);

        if (put <= 0) {
            say(say_, "standard output cannot be written");
            return hf_err_status(HF_ERR_UNAVAILABLE);
        }
        done += (size_t)put;
    }
    return 0;
}

static int finish(const struct say *say_, struct hf_buf *out,
                  const struct hf_error *error, int status)
{
    if (!status && out->failed) {
        say(say_, "memory ran out");
        status = hf_err_status(HF_ERR_NOMEM);
    } else if (status) {
        say(say_, "%s", error->text);
    } else {
        status = print(say_, out);
    }
    hf_buf_clear(out);
    return status;
}

int main(int argc, char **argv)
{
    unsigned int closed = fill_standard_descriptors();
    struct lockrun_options options;
    struct say say_ = {.verbose = false};
    struct hf_error error = {.text = ""};
    struct hf_opts opts;
    struct hf_buf out;
    struct hf_sys sys;
    int status = 0;

    hf_buf_init(&out, ANSWER_BYTES_MAX);
    hf_sys_init_real(&sys);
    if (has_raised_rights()) {
        status = hf_err_status(
            hf_error_set(&error, HF_ERR_DENIED,
                         "not to be used with raised rights (setuid, setgid, "
                         "capabilities): the command is the caller's to "
                         "choose"));
        return finish(&say_, &out, &error, status);
    }
    switch (options_read(argc, argv, &options, &opts, &error)) {
    case OPTIONS_FAILED:
        status = hf_err_status(error.code);
        break;
    case OPTIONS_ANSWER:
        (void)hf_opts_answer(&lockrun_tool, &opts, &out);
        break;
    case OPTIONS_EXPLAIN:
        (void)explain((int)options.explained.number, &out);
        break;
    case OPTIONS_RUN:
        if (!options.is_dry_run)
            run_command(&sys, &options, closed);
        status = dry_run(&sys, &options, &out, &error);
        break;
    }
    return finish(&say_, &out, &error, status);
}
