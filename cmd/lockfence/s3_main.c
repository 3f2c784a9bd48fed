/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockfence-s3: the commands of lockfence that need libcurl. Started by
 * lockfence, with its words; reads the same line by the same tables.
 */
#include <signal.h>

#include "base/sys.h"
#include "cmd/lockfence/commands.h"

static enum hf_err run_command(enum lockfence_command command,
                               const struct lockfence_run *run)
{
    switch (command) {
#define RUN_MAIN(function)                                                     \
    hf_error_set(run->error, HF_ERR_USAGE, "this is a command of lockfence")
#define RUN_PG(function) RUN_MAIN(function)
#define RUN_S3(function) command_##function(run)
#define LOCKFENCE_COMMAND(id, program, function, ...)                          \
    case LOCKFENCE_##id:                                                       \
        return RUN_##program(function);
#include "cmd/lockfence/commands.def"
#undef LOCKFENCE_COMMAND
    case LOCKFENCE_COMMAND_COUNT:
        break;
    }
    hf_assert(false);
}

int main(int argc, char **argv)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct lockfence_options options = {0};
    struct hf_error error = {HF_ERR_OK, ""};
    struct hf_sys sys;
    struct hf_opts opts;
    enum hf_err err;
    int status;
    int answer = -1;
    struct lockfence_run run = {
        .sys = &sys, .options = &options, .error = &error, .answer = &answer};

    if (!frame_parse(argc, argv, &options, &opts, &status))
        return status;
    /* A store that hangs up while it is written to is an answer like others. */
    sigaction(SIGPIPE, &ignore, NULL);
    hf_sys_init_real(&sys);
    run.operands = opts.operands;
    run.operand_count = opts.operand_count;
    err = run_command((enum lockfence_command)opts.command->id, &run);
    return !err && answer >= 0 ? answer : frame_end(err, &error);
}
