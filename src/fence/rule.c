/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/rule.h"

#include <inttypes.h>
#include <string.h>

const char *hf_fence_verdict_name(enum hf_fence_verdict verdict)
{
    static const char *const names[HF_FENCE_COUNT] = {
#define HF_FENCE(name, word, error) [HF_FENCE_##name] = word,
#include "fence/rule.def"
#undef HF_FENCE
    };

    hf_assert(verdict < HF_FENCE_COUNT);
    return names[verdict];
}

enum hf_err hf_fence_verdict_error(enum hf_fence_verdict verdict)
{
    static const enum hf_err errors[HF_FENCE_COUNT] = {
#define HF_FENCE(name, word, error) [HF_FENCE_##name] = HF_ERR_##error,
#include "fence/rule.def"
#undef HF_FENCE
    };

    hf_assert(verdict < HF_FENCE_COUNT);
    return errors[verdict];
}

enum hf_fence_verdict hf_fence_judge(const struct hf_fence_mark *mark,
                                     const struct hf_fence_claim *claim)
{
    if (mark->token == 0)
        return HF_FENCE_FIRST;
    if (!claim->rekey && mark->key[0] && claim->key[0] &&
        strcmp(mark->key, claim->key) != 0)
        return HF_FENCE_OTHER_KEY;
    if (claim->token < mark->token)
        return HF_FENCE_STALE;
    if (claim->token > mark->token)
        return HF_FENCE_RAISED;
    if (strcmp(mark->grant, claim->grant) != 0)
        return HF_FENCE_OTHER_GRANT;
    return claim->strict ? HF_FENCE_REPEATED : HF_FENCE_SAME;
}

void hf_fence_raise(struct hf_fence_mark *mark,
                    const struct hf_fence_claim *claim)
{
    mark->token = claim->token;
    memcpy(mark->grant, claim->grant, sizeof(mark->grant));
    if (claim->key[0])
        memcpy(mark->key, claim->key, sizeof(mark->key));
}

/* An id as a sentence shows it. */
static const char *shown(const char *grant)
{
    return grant[0] ? grant : "none";
}

enum hf_err hf_fence_check(const struct hf_fence_mark *mark,
                           const struct hf_fence_claim *claim, const char *what,
                           struct hf_error *error)
{
    enum hf_fence_verdict verdict = hf_fence_judge(mark, claim);
    enum hf_err err = hf_fence_verdict_error(verdict);

    switch (verdict) {
    case HF_FENCE_FIRST:
    case HF_FENCE_RAISED:
    case HF_FENCE_SAME:
        return HF_ERR_OK;
    case HF_FENCE_STALE:
        return hf_error_set(error, err,
                            "%s: token %" PRIu64
                            " is stale: a newer holder has written with token "
                            "%" PRIu64 "; nothing was changed, and this job "
                            "should end",
                            what, claim->token, mark->token);
    case HF_FENCE_OTHER_GRANT:
        return hf_error_set(error, err,
                            "%s: token %" PRIu64
                            " was accepted from grant %s and now comes from "
                            "grant %s; nothing was changed (LOCK_SESSION "
                            "must reach the writer along with LOCK_TOKEN)",
                            what, claim->token, shown(mark->grant),
                            shown(claim->grant));
    case HF_FENCE_REPEATED:
        return hf_error_set(error, err,
                            "%s: token %" PRIu64
                            " has had its one write (--strict); nothing was "
                            "changed",
                            what, claim->token);
    case HF_FENCE_OTHER_KEY:
        return hf_error_set(error, err,
                            "%s is guarded under key %s, and this writer "
                            "holds %s; nothing was changed (to move it to "
                            "the new key on purpose: --rekey)",
                            what, mark->key, claim->key);
    case HF_FENCE_COUNT:
        break;
    }
    hf_assert(false);
    return HF_ERR_INTERNAL;
}

bool hf_fence_grant_is_valid(const char *grant)
{
    size_t size = strlen(grant);

    return size <= HF_FENCE_GRANT_MAX &&
           size == strspn(grant, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz"
                                 "0123456789._@:+=%-");
}

/* A variable that is set to nothing counts as not set. */
static const char *given(const char *word)
{
    return word && word[0] ? word : NULL;
}

static enum hf_err make_token(const struct hf_fence_words *words,
                              struct hf_fence_claim *claim,
                              struct hf_error *error)
{
    bool is_option = words->token != NULL;
    const char *text = is_option ? words->token : given(words->env_token);

    if (!text)
        return hf_fence_no_token("LOCK_TOKEN", error);
    if (!hf_token_parse(text, strlen(text), &claim->token))
        return hf_error_set(error, HF_ERR_USAGE,
                            "%s: \"%.40s\" is not a token: a whole number from "
                            "1 to 9223372036854775807, in decimal digits "
                            "alone, without leading zeros",
                            !is_option          ? "LOCK_TOKEN"
                            : words->token_name ? words->token_name
                                                : "--token",
                            text);
    return HF_ERR_OK;
}

static enum hf_err make_grant(const struct hf_fence_words *words,
                              struct hf_fence_claim *claim,
                              struct hf_error *error)
{
    const char *session = given(words->env_session);
    bool is_option = words->grant != NULL;
    const char *grant = "";

    if (is_option)
        grant = words->grant;
    else if (session &&
             (!words->token || (given(words->env_token) &&
                                strcmp(words->token, words->env_token) == 0)))
        grant = session;
    if (!hf_fence_grant_is_valid(grant))
        return hf_error_set(error, HF_ERR_USAGE,
                            "%s: \"%.40s\" is not the id of a grant: 128 "
                            "characters of A-Z a-z 0-9 . _ @ : + = %% - at "
                            "most",
                            is_option ? "--grant" : "LOCK_SESSION", grant);
    memcpy(claim->grant, grant, strlen(grant) + 1);
    return HF_ERR_OK;
}

static enum hf_err make_key(const struct hf_fence_words *words,
                            struct hf_fence_claim *claim,
                            struct hf_error *error)
{
    const char *env = given(words->env_key);

    claim->key[0] = '\0';
    if (words->key) {
        if (hf_key_complete(words->key, HF_KEY_DEFAULT_HOME, claim->key, error))
            return hf_error_wrap(error, "--key");
    } else if (env) {
        if (hf_key_check(env, error))
            return hf_error_wrap(error, "LOCK_KEY");
        memcpy(claim->key, env, strlen(env) + 1);
    }
    return HF_ERR_OK;
}

enum hf_err hf_fence_claim_make(const struct hf_fence_words *words,
                                struct hf_fence_claim *claim,
                                struct hf_error *error)
{
    struct hf_error unasked;
    enum hf_err err;

    if (!error)
        error = &unasked;
    err = make_token(words, claim, error);
    if (!err)
        err = make_grant(words, claim, error);
    if (!err)
        err = make_key(words, claim, error);
    return err;
}

enum hf_err hf_fence_no_token(const char *variable, struct hf_error *error)
{
    return hf_error_set(
        error, HF_ERR_NO_TOKEN,
        "no fencing token: %s is not set. Either this does not run under "
        "lockrun, or something between dropped the environment (sudo: "
        "--preserve-env=LOCK_TOKEN,LOCK_KEY,LOCK_SESSION,LOCK_STATE; ssh: "
        "SendEnv and AcceptEnv LOCK_*; docker exec: -e LOCK_TOKEN -e "
        "LOCK_KEY -e LOCK_SESSION); nothing was changed",
        variable);
}
