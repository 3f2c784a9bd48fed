/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/sys.h"

enum { HELP_BYTES_MAX = 1 << 20 };

static enum hf_err write_all(int fd, const char *data, size_t size,
                             struct hf_error *error)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                      "cannot write to standard output");
        data += written;
        size -= (size_t)written;
    }
    return HF_ERR_OK;
}

enum hf_err frame_print(const struct hf_buf *text, struct hf_error *error)
{
    if (text->failed)
        return hf_error_set(error, text->failed, "the text grew too long");
    return write_all(STDOUT_FILENO, text->data, text->size, error);
}

void frame_say(const char *text)
{
    struct hf_buf line;

    hf_buf_init(&line, 4 * HF_ERROR_TEXT_MAX);
    hf_buf_add_str(&line, "lockfence: ");
    hf_escape_add(&line, text, strlen(text));
    hf_buf_add_str(&line, "\n");
    if (!line.failed)
        write_all(STDERR_FILENO, line.data, line.size, NULL);
    hf_buf_clear(&line);
}

bool frame_parse(int argc, char **argv, struct lockfence_options *options,
                 struct hf_opts *opts, int *status)
{
    const struct hf_tool *tool = lockfence_tool();
    struct hf_error error = {HF_ERR_OK, ""};
    struct hf_buf text;
    enum hf_err err;

    err = hf_opts_parse(tool, argc, argv, options, opts, &error);
    if (!err && opts->action == HF_OPTS_RUN)
        return true;
    if (!err) {
        hf_buf_init(&text, HELP_BYTES_MAX);
        err = hf_opts_answer(tool, opts, &text);
        if (err)
            hf_error_set(&error, err, "cannot make the text");
        else
            err = frame_print(&text, &error);
        hf_buf_clear(&text);
    }
    *status = frame_end(err, &error);
    return false;
}

int frame_helper(int argc, char **argv,
                 enum hf_err (*run_command)(enum lockfence_command command,
                                            const struct lockfence_run *run))
{
    struct lockfence_options options = {0};
    struct hf_error error = {HF_ERR_OK, ""};
    struct hf_sys sys;
    struct hf_opts opts;
    int answer = -1;
    struct lockfence_run run = {
        .sys = &sys, .options = &options, .error = &error, .answer = &answer};
    enum hf_err err;
    int status;

    if (!frame_parse(argc, argv, &options, &opts, &status))
        return status;
    hf_sys_init_real(&sys);
    run.operands = opts.operands;
    run.operand_count = opts.operand_count;
    err = run_command((enum lockfence_command)opts.command->id, &run);
    return !err && answer >= 0 ? answer : frame_end(err, &error);
}

int frame_end(enum hf_err err, const struct hf_error *error)
{
    if (err)
        frame_say(error->text[0] ? error->text : hf_err_text(err));
    return hf_err_status(err);
}

enum hf_err frame_claim(const struct lockfence_options *options,
                        struct hf_fence_claim *claim, struct hf_error *error)
{
    const struct hf_fence_words words = {
        .token = options->token,
        .grant = options->grant,
        .key = options->key,
        .env_token = getenv("LOCK_TOKEN"),
        .env_session = getenv("LOCK_SESSION"),
        .env_key = getenv("LOCK_KEY"),
    };

    *claim = (struct hf_fence_claim){
        .strict = options->strict,
        .rekey = options->rekey,
    };
    return hf_fence_claim_make(&words, claim, error);
}
