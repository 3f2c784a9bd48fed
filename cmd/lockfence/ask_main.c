/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockfence-ask: the commands of lockfence that ask the lock service, which is
 * in this very process. Started by lockfence, with its words; reads the same
 * line by the same tables.
 */
#include "cmd/lockfence/commands.h"

#define OTHER                                                                  \
    hf_error_set(run->error, HF_ERR_USAGE, "this is a command of lockfence")
#define RUN_MAIN(function) OTHER
#define RUN_PG(function) OTHER
#define RUN_S3(function) OTHER
#define RUN_ASK(function) command_##function(run)

static enum hf_err run_command(enum lockfence_command command,
                               const struct lockfence_run *run)
{
    switch (command) {
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
    return frame_helper(argc, argv, run_command);
}
