/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/lockrun/program.h"

static const char *const nested_words[] = {"refuse", "join", NULL};
const char *const leftover_names[] = {
    [LEFTOVER_WAIT] = "wait",
    [LEFTOVER_KILL] = "kill",
    [LEFTOVER_LEAVE] = "leave",
    NULL,
};

#define OPT(member, kind, ...)                                                 \
    HF_OPT(struct lockrun_options, member, kind, __VA_ARGS__)
static const struct hf_opt rows[] = {
#include "cmd/lockrun/options.def"
    HF_OPT_END,
};

static const char *const usages[] = {
    "[OPTION]... [--] COMMAND [ARGUMENT]...",
    "[OPTION]... -c LINE",
    "--explain=CODE",
    NULL,
};

static const enum hf_err errors[] = {
    HF_ERR_USAGE,   HF_ERR_UNAVAILABLE, HF_ERR_SEALED,   HF_ERR_NOMEM,
    HF_ERR_NOSPACE, HF_ERR_DAMAGED,     HF_ERR_INTERNAL, HF_ERR_BUSY,
    HF_ERR_DENIED,  HF_ERR_CONFIG,      HF_ERR_LOST,     HF_ERR_OK,
};

static const struct hf_exit exits[] = {
    {0, "the command ended with 0; or, with --skip or -E 0, somebody else "
        "holds the key"},
    {124, "--max-run, or the class's hold_max, was reached, and the job was "
          "ended"},
    {126, "the command was found and cannot be executed"},
    {127, "the command was not found"},
    {128, "plus the number of a signal: ended by it; the job, or lockrun "
          "itself while it waited"},
    {.text = NULL},
};

const struct hf_tool lockrun_tool = {
    .name = "lockrun",
    .version = PACKAGE_VERSION,
    .summary = "Run a command while holding a lease on a key.",
    .usages = usages,
    .options = rows,
    .ends_at_operand = true,
    .offer = HF_OFFER_COMMAND,
    .completer = "lockctl complete",
    .exit_intro = "The exit status is the command's own, or one of these:",
    .errors = errors,
    .exits = exits,
    .closing =
        "The command finds LOCK_TOKEN, LOCK_KEY, LOCK_CLASS, LOCK_SESSION, "
        "LOCK_EPOCH, LOCK_REVISION and LOCK_STATE in its environment.",
};

static enum options_then refuse(struct hf_error *error, const char *sentence)
{
    (void)hf_error_set(error, HF_ERR_USAGE, "%s", sentence);
    return OPTIONS_FAILED;
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* With -c, or the operands; each way only one makes sense. */
static enum options_then read_command(struct lockrun_options *options,
                                      const struct hf_opts *opts,
                                      struct hf_error *error)
{
    char *shell = getenv("SHELL");

    if (options->line) {
        if (opts->operand_count > 0)
            return refuse(error, "-c takes one argument; quote the line");
        /* As flock(1) does. */
        options->shell_command[0] =
            shell && *shell ? shell : (char *)(uintptr_t) "/bin/sh";
        options->shell_command[1] = (char *)(uintptr_t) "-c";
        options->shell_command[2] = (char *)(uintptr_t)options->line;
        options->command = options->shell_command;
        return OPTIONS_RUN;
    }
    if (opts->operand_count == 0)
        return refuse(error, "no command to run: lockrun [OPTION]... [--] "
                             "COMMAND (lockrun --help tells more)");
    if (opts->operand_count == 1 && is_number(opts->operands[0]))
        return refuse(error,
                      "a descriptor cannot be locked here: say lockrun "
                      "COMMAND, or lockrun -c LINE, and --key=NAME instead of "
                      "a lock file");
    options->command = opts->operands;
    return OPTIONS_RUN;
}

enum options_then options_read(int argc, char **argv,
                               struct lockrun_options *options,
                               struct hf_opts *opts, struct hf_error *error)
{
    *options = (struct lockrun_options){
        .mode = HF_EXCLUSIVE,
        .class_name = hf_class_batch.name,
    };
    if (hf_opts_parse(&lockrun_tool, argc, argv, options, opts, error))
        return OPTIONS_FAILED;
    if (opts->action != HF_OPTS_RUN)
        return OPTIONS_ANSWER;
    if (options->explained.is_given)
        return OPTIONS_EXPLAIN;
    options->joins = options->nested.index == 1;
    options->leftover = (enum leftover)options->leftover_word.index;
    if (options->hold_min.is_given && options->mode == HF_SHARED)
        return refuse(error, "--hold-min keeps others away, and --shared "
                             "lets them in: use one of the two");
    if (strlen(options->class_name) >= HF_CLASS_NAME_SIZE)
        return refuse(error, "--class: the name is too long");
    if (options->key && hf_key_complete(options->key, HF_KEY_DEFAULT_HOME,
                                        options->whole_key, error))
        return OPTIONS_FAILED;
    if (options->store) {
        options->store_from = "--store";
    } else {
        options->store = getenv("HOLDFAST_STORE");
        if (options->store && !*options->store)
            options->store = NULL;
        options->store_from = options->store ? "HOLDFAST_STORE" : NULL;
    }
    return read_command(options, opts, error);
}
