/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/options.h"

#define OPT(member, kind, ...)                                                 \
    HF_OPT(struct lockfence_options, member, kind, __VA_ARGS__)

static const struct hf_opt common_rows[] = {HF_OPT_COMMON HF_OPT_END};

static const struct hf_opt file_write_rows[] = {
#include "cmd/lockfence/claim.def"

#include "cmd/lockfence/strict.def"

#include "cmd/lockfence/file_write.def"
    HF_OPT_END,
};

static const struct hf_opt file_status_rows[] = {
    HF_OPT_HEADING("Output")
#include "cmd/lockfence/json.def"
        HF_OPT_END,
};

static const struct hf_opt held_rows[] = {
#include "cmd/lockfence/held.def"
    HF_OPT_END,
};

static const struct hf_opt pausetest_rows[] = {
#include "cmd/lockfence/pausetest.def"
    HF_OPT_END,
};

/* In the order of enum hf_s3_style. */
static const char *const s3_styles[] = {"auto", "path", "virtual", NULL};
static const char *const s3_stamps[] = {"gzip", "zstd", NULL};

static const struct hf_opt s3_put_rows[] = {
#include "cmd/lockfence/claim.def"

#include "cmd/lockfence/strict.def"

#include "cmd/lockfence/s3_put.def"

#include "cmd/lockfence/s3_body.def"
#include "cmd/lockfence/s3_store.def"
    HF_OPT_HEADING("Output")
#include "cmd/lockfence/json.def"
#include "cmd/lockfence/quiet.def"
        HF_OPT_END,
};

static const struct hf_opt s3_guard_rows[] = {
#include "cmd/lockfence/claim.def"

#include "cmd/lockfence/strict.def"

#include "cmd/lockfence/s3_put.def"
#include "cmd/lockfence/s3_store.def"
    HF_OPT_HEADING("Output")
#include "cmd/lockfence/json.def"
        HF_OPT_END,
};

static const struct hf_opt s3_get_rows[] = {
#include "cmd/lockfence/claim.def"
#include "cmd/lockfence/s3_store.def"
    HF_OPT_END,
};

static const struct hf_opt s3_show_rows[] = {
#include "cmd/lockfence/s3_store.def"
    HF_OPT_HEADING("Output")
#include "cmd/lockfence/json.def"
        HF_OPT_END,
};

/* In the order of enum hf_pg_isolation. */
static const char *const pg_isolations[] = {"read-committed", "repeatable-read",
                                            "serializable", NULL};

static const struct hf_opt pg_plan_rows[] = {
#include "cmd/lockfence/pg_guard.def"
    HF_OPT_END,
};

static const struct hf_opt pg_init_rows[] = {
#include "cmd/lockfence/pg_guard.def"
#include "cmd/lockfence/pg_place.def"
    HF_OPT_END,
};

static const struct hf_opt pg_check_rows[] = {
#include "cmd/lockfence/pg_place.def"
    HF_OPT_HEADING("Output")
#include "cmd/lockfence/json.def"
        HF_OPT_END,
};

static const struct hf_opt pg_status_rows[] = {
#include "cmd/lockfence/pg_place.def"
#include "cmd/lockfence/service.def"
    HF_OPT_HEADING("Output")
#include "cmd/lockfence/json.def"
        HF_OPT_END,
};

static const struct hf_opt pg_write_rows[] = {
#include "cmd/lockfence/claim.def"

#include "cmd/lockfence/strict.def"

#include "cmd/lockfence/pg_write.def"

#include "cmd/lockfence/pg_place.def"
    HF_OPT_END,
};

static const struct hf_opt pg_run_rows[] = {
#include "cmd/lockfence/claim.def"
#include "cmd/lockfence/pg_place.def"
#include "cmd/lockfence/pg_run.def"
    HF_OPT_END,
};

static const struct hf_opt pg_bump_rows[] = {
#include "cmd/lockfence/pg_bump.def"
#include "cmd/lockfence/pg_place.def"
#include "cmd/lockfence/service.def"
    HF_OPT_END,
};

static const struct hf_opt check_rows[] = {
#include "cmd/lockfence/service.def"
    HF_OPT_HEADING("Output")
#include "cmd/lockfence/json.def"
        HF_OPT_END,
};

static const struct hf_opt filter_rows[] = {
#include "cmd/lockfence/filter.def"
    HF_OPT_END,
};

static const struct hf_command commands[] = {
#define LOCKFENCE_COMMAND(id_, program, function, ...)                         \
    {.id = LOCKFENCE_##id_, __VA_ARGS__},
#include "cmd/lockfence/commands.def"
#undef LOCKFENCE_COMMAND
    {.name = NULL},
};

static const char *const usages[] = {"COMMAND [OPTION]... [OPERAND]...", NULL};

/* UNAVAILABLE and NOSPACE mean another place here than in lockrun. */
static const enum hf_err errors[] = {
    HF_ERR_USAGE,    HF_ERR_REJECTED, HF_ERR_INTERNAL,    HF_ERR_DENIED,
    HF_ERR_CONFIG,   HF_ERR_STALE,    HF_ERR_OTHER_GRANT, HF_ERR_REPEATED,
    HF_ERR_NO_TOKEN, HF_ERR_UNFENCED, HF_ERR_OTHER_KEY,   HF_ERR_UNSETTLED,
    HF_ERR_OK,
};

static const struct hf_exit exits[] = {
    {0, "accepted, or shown; held, check: yes; pausetest: FENCED"},
    {1, "held: no, or not for so long; pausetest: NOT FENCED"},
    {2, "held: cannot tell, which means no; pausetest: INCONCLUSIVE"},
    {69, "the resource cannot be reached, or has no space left"},
    {80, "check: the token is not the present holder's"},
    {0, NULL},
};

static const struct hf_tool tool = {
    .name = "lockfence",
    .version = PACKAGE_VERSION,
    .summary = "Makes a resource refuse writers that no longer hold its lock.",
    .usages = usages,
    .options = common_rows,
    .commands = commands,
    .exit_intro =
        "Of file write, pg init, pg write, pg bump, s3 put and s3 guard: what "
        "is not 0 has changed nothing, but for 86. pg run ends with COMMAND's "
        "status or with 80, and what COMMAND has committed stays; filter has "
        "passed on what it passed.",
    .errors = errors,
    .exits = exits,
};

const struct hf_tool *lockfence_tool(void)
{
    return &tool;
}
