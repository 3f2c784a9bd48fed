/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every command of lockfence as a function, command_NAME: one file or a few of
 * them each, linked into the program that commands.def names. They print what
 * they show; a refusal is returned. For the mains.
 */
#ifndef LOCKFENCE_COMMANDS_H
#define LOCKFENCE_COMMANDS_H

#include "cmd/lockfence/frame.h"

#define LOCKFENCE_COMMAND(id, program, function, ...)                          \
    enum hf_err command_##function(const struct lockfence_run *run);
#include "cmd/lockfence/commands.def"
#undef LOCKFENCE_COMMAND

#endif
