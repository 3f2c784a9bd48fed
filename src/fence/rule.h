/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of every fence, once: what a guarded resource remembers (a mark),
 * what a writer shows (a claim), and whether the write is taken. Pure: no file,
 * no server, no environment; file, PostgreSQL and S3 fences and the filter all
 * ask here. PostgreSQL repeats it in SQL (pg_guard.sql), and one table of cases
 * in tests/fence holds for both.
 *
 * A token is an integer from 1 to 2^63-1 in strict decimal: no sign, blank or
 * leading zero. Epoch 0 (tokens below 2^48) is accepted: the service never
 * issues it, but a fence judges order alone, and may serve other issuers.
 *
 * Beside the token goes the id of the grant's holder. An equal token with
 * another id is refused: the last net, should a store ever issue one twice. "No
 * id" is an id like any other. lockrun's LOCK_SESSION serves as id: a session
 * that takes a key twice gets two tokens, and two lives of a store have no
 * session in common, so token and session name one grant.
 */
#ifndef HF_FENCE_RULE_H
#define HF_FENCE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/key.h"
#include "core/token.h"

/* An id is 1 to 128 of [A-Za-z0-9._@:+=%-]; the array holds its NUL too. */
enum { HF_FENCE_GRANT_MAX = 128, HF_FENCE_GRANT_SIZE = HF_FENCE_GRANT_MAX + 1 };

/* What the resource remembers: the highest token that it has accepted. */
struct hf_fence_mark {
    uint64_t token;                  /* 0: none was ever accepted */
    char grant[HF_FENCE_GRANT_SIZE]; /* "": no id was given */
    char key[HF_KEY_SIZE];           /* "": not known */
};

/* What a writer shows. */
struct hf_fence_claim {
    uint64_t token;
    char grant[HF_FENCE_GRANT_SIZE];
    char key[HF_KEY_SIZE];
    bool strict; /* one write per grant: an equal token is refused as well */
    bool rekey;  /* the resource moves to this key: its old one is no matter */
};

enum hf_fence_verdict {
#define HF_FENCE(name, word, error) HF_FENCE_##name,
#include "fence/rule.def"
#undef HF_FENCE
    HF_FENCE_COUNT
};

/* The word of rule.def; static storage. */
const char *hf_fence_verdict_name(enum hf_fence_verdict verdict);
/* OK when the write is taken, else the error that it ends with. */
enum hf_err hf_fence_verdict_error(enum hf_fence_verdict verdict);

/*
 * Judge a claim. Keys are compared first, where both are known: tokens of two
 * keys are of no common order.
 */
enum hf_fence_verdict hf_fence_judge(const struct hf_fence_mark *mark,
                                     const struct hf_fence_claim *claim);

/* The mark after an accepted claim; a key that is not told is kept. */
void hf_fence_raise(struct hf_fence_mark *mark,
                    const struct hf_fence_claim *claim);

/*
 * Judge, and say a refusal in a sentence about `what` (the resource as the user
 * knows it). Errors: STALE, OTHER_GRANT, REPEATED, OTHER_KEY.
 */
enum hf_err hf_fence_check(const struct hf_fence_mark *mark,
                           const struct hf_fence_claim *claim, const char *what,
                           struct hf_error *error);

/* ---- where a claim comes from ------------------------------------------- */

/* Command line and environment, as they are; NULL: not given. */
struct hf_fence_words {
    const char *token;      /* --token, or what token_name says */
    const char *token_name; /* NULL: --token */
    const char *grant;      /* --grant */
    const char *key;        /* --key: a whole key, or a name without slash */
    const char *env_token;
    const char *env_session;
    const char *env_key;
};

/*
 * Make a claim of them; options go before the environment. LOCK_SESSION counts
 * only for the token that came with it: with another --token there is no id
 * unless --grant gives one. `strict` and `rekey` are left alone. Errors:
 * NO_TOKEN (neither place has one), USAGE (not of the form).
 */
enum hf_err hf_fence_claim_make(const struct hf_fence_words *words,
                                struct hf_fence_claim *claim,
                                struct hf_error *error);

/* NO_TOKEN for a variable of lockrun's that is missing, and why it may be. */
enum hf_err hf_fence_no_token(const char *variable, struct hf_error *error);

/* Is it an id of a grant? "" is none and fits too. */
bool hf_fence_grant_is_valid(const char *grant);

#endif
