/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/opts_tools.h"

#define HOUR INT64_C(3600000000000)

/* clang-format off */

#define OPT(member, kind, ...) \
    HF_OPT(struct run_options, member, kind, __VA_ARGS__)

static const char *const leftovers[] = {"wait", "kill", "leave", NULL};

static const struct hf_opt run_rows[] = {
    HF_OPT_HEADING("Waiting")
    OPT(is_try, FLAG, .letters = "n", .names = "nb nonblocking",
        .excludes = "waiting", .help = "Fail at once if the key is held.")
    OPT(wait, SPAN, .letters = "w", .names = "wait timeout",
        .argument = "TIME", .excludes = "waiting", .takes_forever = true,
        .hint = "an older tool took no value here",
        .help = "Wait at most TIME for the key; then end with 75, or with what "
                "-E says.")
    OPT(status, NUMBER, .letters = "E", .names = "conflict-exit-code",
        .argument = "CODE", .least = 0, .most = 255,
        .help = "The exit status when somebody else holds the key.")
    HF_OPT_HEADING("The lock")
    OPT(is_shared, CHOICE, .letters = "s", .names = "shared", .value = 1,
        .help = "Hold the key together with others that share it.")
    OPT(is_shared, CHOICE, .letters = "xe", .names = "exclusive", .value = 0,
        .help = "Hold the key alone: the default.")
    OPT(key, TEXT, .names = "key", .argument = "KEY", .least = 1, .most = 16,
        .help = "What is locked.")
    OPT(ttl, SPAN, .names = "ttl", .argument = "TIME",
        .least = HOUR / 1800, .most = 24 * HOUR,
        .help = "How long the lease lives without a renewal.")
    OPT(note, TEXT, .names = "note", .argument = "TEXT",
        .offer = HF_OFFER_FILE, .help = "A note for those who are kept out.")
    OPT(labels, PAIR, .letters = "L", .names = "label",
        .argument = "NAME=VALUE", .help = "A label; may be repeated.")
    HF_OPT_HEADING("The job")
    OPT(line, TEXT, .letters = "c", .names = "command", .argument = "LINE",
        .help = "Give LINE to the shell.")
    OPT(leftover, WORD, .names = "leftover", .argument = "WHAT",
        .words = leftovers,
        .help = "What of processes that outlive the command: wait (the "
                "default), kill or leave. Some text that is long enough to be "
                "broken into a second and a third line.")
    OPT(is_verbose, FLAG, .letters = "v", .names = "verbose",
        .help = "Say what is done.")
    HF_OPT_REFUSED("o", "close", "The descriptor is closed anyway.")
    HF_OPT_REFUSED("F", "no-fork", "A lease needs a process that renews it.")
    HF_OPT_REFUSED(NULL, "lockfile sleep",
                   "That is an older lockrun's: use --key NAME.")
    HF_OPT_COMMON
    HF_OPT_END
};

static const char *const run_usages[] = {
    "[OPTION]... [--] COMMAND [ARGUMENT]...", "[OPTION]... -c LINE", NULL,
};

static const enum hf_err run_errors[] = {
    HF_ERR_USAGE, HF_ERR_UNAVAILABLE, HF_ERR_SEALED, HF_ERR_BUSY, HF_ERR_OK,
};

static const struct hf_exit run_exits[] = {
    {127, "the command was not found"},
    {69, "a third reason"},
    {0, NULL},
};

const struct hf_tool run_tool = {
    .name = "run",
    .version = "1.2.3",
    .summary = "Run a command while a key is held.",
    .usages = run_usages,
    .options = run_rows,
    .ends_at_operand = true,
    .offer = HF_OFFER_COMMAND,
    .exit_intro = "The command's own, or:",
    .errors = run_errors,
    .exits = run_exits,
    .closing = "The manual run(1) has more.",
};

#undef OPT
#define OPT(member, kind, ...) \
    HF_OPT(struct ctl_options, member, kind, __VA_ARGS__)

static const struct hf_opt ctl_rows[] = {
    OPT(store, TEXT, .names = "store", .argument = "PATH", .least = 1,
        .offer = HF_OFFER_FILE, .help = "The store to ask.")
    HF_OPT_COMMON
    HF_OPT_END
};

static const struct hf_opt ls_rows[] = {
    OPT(is_json, FLAG, .letters = "j", .names = "json",
        .help = "Print JSON, for programs.")
    OPT(is_all, FLAG, .letters = "a", .names = "all", .help = "Show all.")
    OPT(limit, NUMBER, .names = "limit", .argument = "N", .least = 1,
        .most = INT64_MAX, .help = "Show N at most.")
    HF_OPT_END
};

static const struct hf_opt show_rows[] = {
    OPT(class_name, TEXT, .names = "class", .argument = "CLASS",
        .offer = HF_OFFER_CLASS, .help = "Take it for one of this class.")
    OPT(is_json, FLAG, .names = "json", .help = "Print JSON, for programs.")
    HF_OPT_END
};

static const struct hf_command ctl_commands[] = {
    {.name = "ls", .id = CTL_LS, .operands = "[PREFIX]",
     .summary = "List what is held.", .options = ls_rows, .operands_most = 1},
    {.name = "show", .id = CTL_SHOW, .operands = "KEY",
     .summary = "Show one key.",
     .details = "Who holds it, since when, and who waits.",
     .options = show_rows, .operands_least = 1, .operands_most = 1,
     .offer = HF_OFFER_KEY},
    {.name = "class ls", .id = CTL_CLASS_LS, .summary = "List the classes."},
    {.name = "class lint", .id = CTL_CLASS_LINT, .operands = "FILE...",
     .summary = "Check class files.", .operands_least = 1,
     .operands_most = -1, .offer = HF_OFFER_FILE},
    {.name = "offer", .id = CTL_OFFER, .operands = "WHAT BEGINNING",
     .summary = "Print what completion offers.", .operands_least = 2,
     .operands_most = 2, .is_hidden = true},
    {.name = NULL},
};

static const char *const ctl_usages[] = {"[OPTION]... COMMAND ...", NULL};

const struct hf_tool ctl_tool = {
    .name = "ctl",
    .version = "1.2.3",
    .summary = "Look at locks, and mend them.",
    .usages = ctl_usages,
    .options = ctl_rows,
    .commands = ctl_commands,
    .completer = "ctl offer",
};

/* clang-format on */
