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
    [HF_ERR_LOST] = "The next holder may have begun. A longer --ttl rides out "
                    "longer troubles; --on-doubt and --on-lost run a line.",
};

static enum hf_err explain_exit(const struct hf_exit *exits, int code,
                                struct hf_buf *out)
{
    int found = code > 128 ? 128 : code;

    for (; exits->text; exits++) {
        if (exits->status == found)
            return hf_buf_printf(out, "%d: %s.\n", code, exits->text);
    }
    return hf_buf_printf(
        out, "%d is no status of lockrun's own: it is the command's.\n", code);
}

enum hf_err explain(int code, struct hf_buf *out)
{
    bool is_found = false;
    char name[16];

    if (code == 0)
        return hf_buf_add_str(out, "0: the command ended with 0; or, with "
                                   "--skip, somebody else held the key.\n");
    for (const enum hf_err *err = lockrun_tool.errors; *err; err++) {
        if (hf_err_status(*err) != code)
            continue;
        is_found = true;
        (void)hf_buf_printf(out, "%d, %s: %s.%s%s\n", code, hf_err_name(*err),
                            hf_err_text(*err), remedies[*err] ? " " : "",
                            remedies[*err] ? remedies[*err] : "");
    }
    if (is_found)
        return hf_buf_add_str(out, "Or the command itself ended with this "
                                   "status; then lockrun said nothing.\n");
    if (code > 128 && code - 128 <= SIGRTMAX)
        return hf_buf_printf(out,
                             "%d: ended by the signal %s (%d): the job, or "
                             "lockrun itself while it waited.\n",
                             code, signal_name(code - 128, name), code - 128);
    return explain_exit(lockrun_tool.exits, code, out);
}
