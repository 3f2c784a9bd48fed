/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockctl: the operators' terminal. Parses, lets one command do its work, and
 * writes its text; nothing is printed before all went well.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/lockctl/lockctl.h"

/* 3,072 records with long texts, in JSON. */
enum { OUT_LIMIT = 16 << 20 };

static int (*const functions[])(struct lockctl *ctl) = {
#define LOCKCTL_COMMAND(id, function, ...) [LOCKCTL_##id] = function,
#include "cmd/lockctl/commands.def"
#undef LOCKCTL_COMMAND
};

int lockctl_fail(const struct hf_error *error)
{
    fprintf(stderr, "lockctl: %s\n", error->text);
    return hf_err_status(error->code);
}

void lockctl_note(const char *format, ...)
{
    char text[2 * HF_ERROR_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "lockctl: %s\n", text);
}

bool lockctl_flush(struct lockctl *ctl)
{
    struct hf_error error;
    size_t done = 0;

    if (ctl->out.failed) {
        (void)hf_error_set(&error, HF_ERR_NOMEM,
                           "no memory for the output; name a longer PREFIX");
        (void)lockctl_fail(&error);
        return false;
    }
    while (done < ctl->out.size) {
        ssize_t wrote =
            write(STDOUT_FILENO, ctl->out.data + done, ctl->out.size - done);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            (void)hf_error_set_errno(&error, HF_ERR_UNAVAILABLE, errno,
                                     "cannot write to standard output");
            (void)lockctl_fail(&error);
            return false;
        }
        done += (size_t)wrote;
    }
    hf_buf_reset(&ctl->out);
    return true;
}

static int run(struct lockctl *ctl)
{
    struct hf_error error;
    enum hf_err err;

    switch (ctl->opts.action) {
    case HF_OPTS_RUN:
        break;
    case HF_OPTS_HELP:
    case HF_OPTS_VERSION:
    case HF_OPTS_DUMP:
        err = hf_opts_answer(&lockctl_tool, &ctl->opts, &ctl->out);
        if (!err)
            return 0;
        (void)hf_error_set(&error, err, "%s", hf_err_text(err));
        return lockctl_fail(&error);
    }
    return functions[ctl->opts.command->id](ctl);
}

int lockctl_run(int argc, char **argv, const struct lockctl_options *preset)
{
    struct lockctl ctl = {.transport = NULL};
    struct hf_error error;
    int status;

    if (preset)
        ctl.options = *preset;
    if (hf_opts_parse(&lockctl_tool, argc, argv, &ctl.options, &ctl.opts,
                      &error))
        return lockctl_fail(&error);
    hf_sys_init_real(&ctl.sys);
    hf_buf_init(&ctl.out, OUT_LIMIT);
    status = run(&ctl);
    if (!lockctl_flush(&ctl) && status == 0)
        status = hf_err_status(HF_ERR_UNAVAILABLE);
    lockctl_close(&ctl);
    hf_buf_clear(&ctl.out);
    return status;
}

int main(int argc, char **argv)
{
    return lockctl_run(argc, argv, NULL);
}
