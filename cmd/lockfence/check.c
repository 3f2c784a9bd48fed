/* SPDX-License-Identifier: Apache-2.0 */
/* lockfence check KEY TOKEN: does the service know this token as the key's? */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "cmd/lockfence/ask.h"
#include "cmd/lockfence/commands.h"

static enum hf_err show_json(const struct ask_answer *answer, const char *key,
                             uint64_t token, struct hf_error *error)
{
    struct hf_buf text;
    struct hf_json json;
    enum hf_err err;

    hf_buf_init(&text, 65536);
    hf_json_begin(&json, &text);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "key", key);
    hf_json_decimal(&json, "token", token);
    hf_json_bool(&json, "is_current",
                 answer->is_held && answer->token == token);
    hf_json_bool(&json, "is_held", answer->is_held);
    if (answer->is_held) {
        hf_json_decimal(&json, "holder_token", answer->token);
        hf_json_text(&json, "holder_host", answer->who.host);
        hf_json_u64(&json, "holder_pid", answer->who.pid);
    }
    hf_json_object_end(&json);
    hf_json_end(&json);
    hf_buf_add_str(&text, "\n");
    err = frame_print(&text, error);
    hf_buf_clear(&text);
    return err;
}

static enum hf_err judge(const struct ask_answer *answer, const char *key,
                         uint64_t token, struct hf_error *error)
{
    if (!answer->is_held)
        return hf_error_set(error, HF_ERR_STALE,
                            "token %" PRIu64 " is not current: nobody holds %s",
                            token, key);
    if (answer->token != token)
        return hf_error_set(
            error, HF_ERR_STALE,
            "token %" PRIu64 " is not current: %s is held with token %" PRIu64
            " (%s, pid %u)",
            token, key, answer->token, answer->who.host, answer->who.pid);
    return HF_ERR_OK;
}

enum hf_err command_check(const struct lockfence_run *run)
{
    const struct hf_fence_words words = {
        .token = run->operands[1],
        .token_name = "TOKEN",
        .key = run->operands[0],
    };
    struct hf_fence_claim claim = {.token = 0};
    struct ask_answer answer;
    enum hf_err err = hf_fence_claim_make(&words, &claim, run->error);

    if (!err)
        err = ask_key(run->sys, run->options->store, claim.key, &answer,
                      run->error);
    if (!err && run->options->json)
        err = show_json(&answer, claim.key, claim.token, run->error);
    if (!err)
        err = judge(&answer, claim.key, claim.token, run->error);
    return err;
}
