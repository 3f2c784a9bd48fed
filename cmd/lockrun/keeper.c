/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/keeper.h"

static enum hf_state state_of(const struct hf_session *session)
{
    if (hf_session_is_lost(session))
        return HF_STATE_LOST;
    return hf_session_in_doubt(session) ? HF_STATE_DOUBT : HF_STATE_HELD;
}

void keeper_write(struct keeper *keeper, const struct hf_session *session,
                  struct hf_sys *sys, const struct say *say_)
{
    const struct hf_deadline *deadline = hf_session_deadline(session);
    struct hf_time kill_at = hf_deadline_kill_at(deadline);
    enum hf_state state = state_of(session);
    int fd = hf_session_state_fd(session);
    struct hf_error error;
    enum hf_err err;

    if (fd < 0 || (!keeper->is_new && keeper->written.state == state &&
                   keeper->written.deadline.ns == kill_at.ns))
        return;
    /* A file without the boot's id belongs to no boot, and says no. */
    if (keeper->is_new)
        (void)sys->boot_id(sys, keeper->written.boot_id);
    keeper->is_new = false;
    keeper->written.state = state;
    keeper->written.deadline = kill_at;
    keeper->written.token = hf_session_token(session);
    err = hf_state_file_write(sys, fd, &keeper->written, &error);
    if (err && !keeper->has_failed)
        say(say_, "%s; LOCK_STATE does not tell the deadline", error.text);
    keeper->has_failed = err != HF_ERR_OK;
}

void keeper_close(struct keeper *keeper, const struct hf_session *session,
                  struct hf_sys *sys)
{
    int fd = hf_session_state_fd(session);

    if (fd < 0 || keeper->is_new)
        return;
    keeper->written.state = HF_STATE_OVER;
    (void)hf_state_file_write(sys, fd, &keeper->written, NULL);
}
