/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that a job is: found before the key is asked for, as sh and env
 * find it, so that a command that cannot be there is told without holding
 * anything. What runs in the end, execve(2) decides (spawn.c).
 */
#ifndef LOCKRUN_PROGRAM_H
#define LOCKRUN_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "core/key.h"
#include "core/request.h"

struct program {
    const char *name; /* as it was typed */
    /*
     * Where it was found by way of PATH: the folders from that one on, for
     * execve(2) to try in turn. NULL: `name` has a slash and is itself the
     * path.
     */
    const char *folders;
    /* Both are the program's own memory: program_clear. */
    char *path;     /* the first to try */
    char *absolute; /* the same from the root, without . and .. */
};

/*
 * Look `name` up along `folders` (what PATH holds; NULL where it is not set).
 * Result: 0, or the exit status with a sentence in `error`: 126, 127, or that
 * of NOMEM; there is something to clear either way.
 */
int program_find(struct program *program, const char *name, const char *folders,
                 struct hf_error *error);
void program_clear(struct program *program);
/* What no search finds out: it can be entered, not run. Then told. */
bool program_is_folder(const char *path, struct hf_error *error);

/* The next of `folders` for `name`, into `path`; NULL behind the last one.
 * Calls nothing that a vforked child must not. */
const char *program_next(const char *folders, const char *name,
                         char path[PATH_MAX]);

/* Is `absolute` a shell that runs its argument after -c as a line? */
bool program_is_shell(const char *absolute);
/* Does that shell get a line: is there a -c among its leading options? */
bool program_has_line(char *const *argv);
/* One name for all the words behind argv[0], as they stand. Errors: NOMEM. */
enum hf_err program_hash_arguments(char *const *argv, char to[17],
                                   struct hf_error *error);

/*
 * What others may see of the command: the program, and the script if it is an
 * interpreter; never its arguments, which carry passwords.
 */
void program_describe(const struct program *program, char *const *argv,
                      char to[HF_PROGRAM_SIZE]);

/* Does the program send its work elsewhere, where no signal of ours reaches
 * it (docker, ssh, at)? */
bool program_sends_work_away(const char *absolute);

#endif
