/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/explain.h"

#include "cmd/lockrun/options.h"
#include "cmd/lockrun/signals.h"

/* Of each reason what to do about it. */
static const char *const remedies[HF_ERR_COUNT] = {
    [HF_ERR_USAGE] = "Nothing was run. lockrun --help lists what there is.",
    [HF_ERR_UNAVAILABLE] = "Nothing was run. The message names the path or the "
                           "place; --store names another.",
    [HF_ERR_SEALED] = "Nothing was run. lockctl epoch show tells why.",
    [HF_ERR_BUSY] = "Nothing was run. lockctl show KEY tells who holds it; -w "
                    "waits, -E and --skip change this status, --on-busy runs a "
                    "line.",
    [HF_ERR_DENIED] = "Nothing was run. The message names the path and its "
                      "owner, or the rule.",
    [HF_ERR_CONFIG] = "Nothing was run. lockctl class lint tells more.",
    [HF_ERR_LOST] = "Where the machine was suspended, or lockrun stood still, "
                    "the next holder may have begun before that. A longer "
                    "--ttl rides out longer troubles; --on-doubt and --on-lost "
                    "run a line.",
};

static const char or_the_command[] =
    "Or the command itself ended with this status; then lockrun said "
    "nothing.\n";

static enum hf_err explain_exit(const struct hf_exit *exits, int code,
                                struct hf_buf *out)
{
    /* 128 itself stands for signals in the table, and is none. */
    for (; exits->text; exits++) {
        if (exits->status == code && code != 128)
            return hf_buf_printf(out, "%d: %s.\n%s", code, exits->text,
                                 code > 0 ? or_the_command : "");
    }
    return hf_buf_printf(
        out, "%d is no status of lockrun's own: it is the command's.\n", code);
}

enum hf_err explain(int code, struct hf_buf *out)
{
    bool is_found = false;
    char name[16];

    for (const enum hf_err *err = lockrun_tool.errors; *err; err++) {
        if (hf_err_status(*err) != code)
            continue;
        is_found = true;
        (void)hf_buf_printf(out, "%d, %s: %s.%s%s\n", code, hf_err_name(*err),
                            hf_err_text(*err), remedies[*err] ? " " : "",
                            remedies[*err] ? remedies[*err] : "");
    }
    if (is_found)
        return hf_buf_add_str(out, or_the_command);
    if (code > 128 && code - 128 <= SIGRTMAX)
        return hf_buf_printf(out,
                             "%d: ended by the signal %s (%d): the job, or "
                             "lockrun itself while it waited.\n",
                             code, signal_name(code - 128, name), code - 128);
    return explain_exit(lockrun_tool.exits, code, out);
}
