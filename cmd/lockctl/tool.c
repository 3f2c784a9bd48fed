/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/lockctl.h"

#include <stddef.h>

#include "cmd/lockctl/list.h"

#define OPT(member, kind, ...)                                                 \
    HF_OPT(struct lockctl_options, member, kind, __VA_ARGS__)

const char *const list_order_names[] = {
    [LIST_BY_KEY] = "key",
    [LIST_BY_AGE] = "age",
    [LIST_BY_WAITING] = "waiting",
    [LIST_BY_LEASE] = "lease",
    NULL,
};

static const struct hf_opt common_options[] = {
#include "cmd/lockctl/options.def"
    HF_OPT_END,
};

/* clang-format off */
static const struct hf_opt release_options[] = {
    OPT(token, TEXT, .names = "token", .argument = "TOKEN",
        .help = "The grant to end, as show tells it; needed.")
    OPT(is_dry_run, FLAG, .names = "dry-run", .letters = "n",
        .help = "Say what would happen, and change nothing.")
    HF_OPT_END,
};

static const struct hf_opt classes_options[] = {
    OPT(classes, TEXT, .names = "classes", .argument = "FOLDER",
        .offer = HF_OFFER_FILE,
        .help = "The folder of class files, for files under review. Without "
                "it HOLDFAST_CLASSES says which, and without that it is "
                "/etc/holdfast/classes.d.")
    HF_OPT_END,
};

static const struct hf_opt advance_options[] = {
    OPT(why, TEXT, .names = "why", .argument = "TEXT", .least = 1, .most = 200,
        .help = "The reason, kept in the epoch record; needed.")
    OPT(is_dry_run, FLAG, .names = "dry-run", .letters = "n",
        .help = "Say what would be ended and how long it waits, and change "
                "nothing.")
    OPT(is_yes, FLAG, .names = "yes", .letters = "y",
        .help = "Do not ask on the terminal.")
    OPT(is_now, FLAG, .names = "now",
        .help = "Do not wait until the former holders have ended: they may "
                "still write while new ones run. Only a fence refuses them.")
    HF_OPT_END,
};

static const struct hf_opt watch_options[] = {
    OPT(count, NUMBER, .names = "count", .letters = "c", .argument = "N",
        .least = 1, .most = INT64_MAX, .help = "End after N changes.")
    HF_OPT_END,
};

static const struct hf_opt top_options[] = {
    OPT(is_once, FLAG, .names = "once", .letters = "1",
        .help = "Print the list once, as plain text.")
    OPT(is_batch, FLAG, .names = "batch", .letters = "b",
        .help = "Print the list again and again, as plain text.")
    OPT(count, NUMBER, .names = "count", .letters = "c", .argument = "N",
        .least = 1, .most = INT64_MAX, .help = "End after N lists.")
    OPT(every, SPAN, .names = "every", .letters = "d", .argument = "TIME",
        .least = 100000000, .most = INT64_C(3600000000000),
        .help = "Look again after TIME, 100ms to 1h; 1s by default.")
    OPT(sort, WORD, .names = "sort", .letters = "s", .argument = "ORDER",
        .words = list_order_names,
        .help = "What stands first: key (by name, the default), age (the "
                "oldest), waiting (the longest queue) or lease (what ends "
                "next).")
    HF_OPT_END,
};
/* clang-format on */

static const struct hf_command commands[] = {
#define LOCKCTL_COMMAND(id_, function, name_, operands_, least, most,          \
                        options_, offer_, summary_, details_)                  \
    {.name = name_,                                                            \
     .id = LOCKCTL_##id_,                                                      \
     .operands = operands_,                                                    \
     .summary = summary_,                                                      \
     .details = details_,                                                      \
     .options = options_,                                                      \
     .operands_least = least,                                                  \
     .operands_most = most,                                                    \
     .offer = HF_OFFER_##offer_,                                               \
     .is_hidden = LOCKCTL_##id_ == LOCKCTL_COMPLETE},
#include "cmd/lockctl/commands.def"
#undef LOCKCTL_COMMAND
    {.name = NULL},
};

static const char *const usages[] = {"[OPTION]... COMMAND [OPERAND]...", NULL};

static const enum hf_err errors[] = {
    HF_ERR_USAGE,   HF_ERR_UNAVAILABLE, HF_ERR_SEALED,   HF_ERR_NOSPACE,
    HF_ERR_DAMAGED, HF_ERR_NOMEM,       HF_ERR_INTERNAL, HF_ERR_DENIED,
    HF_ERR_CONFIG,  HF_ERR_OK};

static const struct hf_exit exits[] = {
    {0, "It is done, or was shown."},
    {1, "The token is not that of a present grant, or the epoch was changed by "
        "somebody else meanwhile; nothing was changed."},
    {75, "release: the kernel says that the job lives; nothing was changed."},
    {0, NULL},
};

const struct hf_tool lockctl_tool = {
    .name = "lockctl",
    .version = PACKAGE_VERSION,
    .summary = "Look at locks, and mend them.",
    .usages = usages,
    .options = common_options,
    .commands = commands,
    .completer = "lockctl complete",
    .errors = errors,
    .exits = exits,
};
