/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockfence held: one file, one read, one clock. No store, no configuration;
 * what it may cost is in docs/benchmarks.md, so nothing is added lightly.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "client/state_file.h"
#include "cmd/lockfence/commands.h"
#include "core/token.h"

enum { HELD = 0, NOT_HELD = 1, CANNOT_TELL = 2 };

static int cannot_tell(const struct lockfence_run *run, const char *why)
{
    if (!run->options->quiet)
        frame_say(why);
    return CANNOT_TELL;
}

/* The lease in the file is of another grant than the one that was handed to
 * this process: what it says is of no use here. */
static bool is_of_other_grant(const struct hf_state_file *state)
{
    const char *text = getenv("LOCK_TOKEN");
    uint64_t token;

    return text && hf_token_parse(text, strlen(text), &token) &&
           token != state->token;
}

static int judge(const struct lockfence_run *run,
                 const struct hf_state_file *state)
{
    struct hf_sys *sys = run->sys;
    struct hf_time now = sys->steady(sys);
    uint8_t boot[HF_BOOT_ID_SIZE];

    switch (state->state) {
    case HF_STATE_HELD:
    case HF_STATE_DOUBT:
        break;
    case HF_STATE_LOST:
    case HF_STATE_OVER:
        return NOT_HELD;
    }
    if (sys->boot_id(sys, boot) < 0)
        return cannot_tell(run, "this boot's id cannot be read "
                                "(/proc/sys/kernel/random/boot_id)");
    if (memcmp(boot, state->boot_id, sizeof(boot)) != 0 ||
        is_of_other_grant(state))
        return NOT_HELD;
    return hf_time_reached(state->deadline,
                           hf_time_add(now, run->options->held.margin.span))
               ? NOT_HELD
               : HELD;
}

enum hf_err command_held(const struct lockfence_run *run)
{
    const char *path = getenv("LOCK_STATE");
    struct hf_sys *sys = run->sys;
    struct hf_error error;
    struct hf_state_file state;
    enum hf_err failed;
    int fd;

    if (!path || !path[0]) {
        *run->answer = cannot_tell(
            run, "cannot tell: LOCK_STATE is not set. Either this does not run "
                 "under lockrun, or something between dropped the environment "
                 "(sudo: --preserve-env=LOCK_TOKEN,LOCK_KEY,LOCK_SESSION,"
                 "LOCK_STATE; ssh: on another host nothing tells; docker exec: "
                 "-e LOCK_STATE, and the file's folder as a volume)");
        return HF_ERR_OK;
    }
    /* The file goes when the lease does; a pipe must not make us wait. */
    fd = sys->open(sys, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd == -ENOENT) {
        *run->answer = NOT_HELD;
        return HF_ERR_OK;
    }
    if (fd < 0) {
        hf_error_set_errno(&error, HF_ERR_UNAVAILABLE, -fd,
                           "LOCK_STATE: %.300s", path);
        *run->answer = cannot_tell(run, error.text);
        return HF_ERR_OK;
    }
    failed = hf_state_file_read(sys, fd, &state, &error);
    *run->answer = failed ? cannot_tell(run, error.text) : judge(run, &state);
    sys->close(sys, fd);
    return HF_ERR_OK;
}
