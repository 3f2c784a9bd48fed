/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockfence: the side of the guarded resource. Files and pipelines are fenced
 * in this program; what needs a large library is a helper that it becomes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "cmd/lockfence/commands.h"
#include "cmd/lockfence/helper.h"

/* The parser moves words about; a helper must see them as they came. */
static char **copy_words(int argc, char **argv)
{
    char **words = calloc((size_t)argc + 1, sizeof(*words));

    if (words)
        memcpy(words, argv, (size_t)argc * sizeof(*words));
    return words;
}

static enum hf_err run_command(enum lockfence_command command,
                               const struct lockfence_run *run, char **words)
{
    switch (command) {
#define RUN_MAIN(function) command_##function(run)
#define RUN_PG(function) helper_become(LOCKFENCE_PG, words, run->error)
#define RUN_S3(function) helper_become(LOCKFENCE_S3, words, run->error)
#define RUN_ASK(function) helper_become(LOCKFENCE_ASK, words, run->error)
#define LOCKFENCE_COMMAND(id, program, function, ...)                          \
    case LOCKFENCE_##id:                                                       \
        return RUN_##program(function);
#include "cmd/lockfence/commands.def"
#undef LOCKFENCE_COMMAND
    case LOCKFENCE_COMMAND_COUNT:
        break;
    }
    hf_assert(false);
    return HF_ERR_INTERNAL;
}

int main(int argc, char **argv)
{
    struct lockfence_options options = {0};
    struct hf_error error = {HF_ERR_OK, ""};
    struct hf_sys sys;
    struct hf_opts opts;
    enum hf_err err;
    int status;
    int answer = -1;
    char **words = copy_words(argc, argv);

    if (!words)
        return frame_end(HF_ERR_NOMEM, &error);
    if (frame_parse(argc, argv, &options, &opts, &status)) {
        struct lockfence_run run = {
            .sys = &sys,
            .options = &options,
            .operands = opts.operands,
            .operand_count = opts.operand_count,
            .error = &error,
            .answer = &answer,
        };

        hf_sys_init_real(&sys);
        err =
            run_command((enum lockfence_command)opts.command->id, &run, words);
        status = !err && answer >= 0 ? answer : frame_end(err, &error);
    }
    free(words);
    return status;
}
