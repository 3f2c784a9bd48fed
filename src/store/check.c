/* SPDX-License-Identifier: Apache-2.0 */
#include "store/check.h"

#include <string.h>

enum { TTL_MS_MIN = 1000, TTL_MS_MAX = 24 * 60 * 60 * 1000 };

static enum hf_err wrong(struct hf_error *error, const char *what)
{
    return hf_error_set(error, HF_ERR_USAGE, "store request: %s", what);
}

static bool is_write(const struct hf_action *action)
{
    switch (action->kind) {
    case HF_DO_PUT:
    case HF_DO_DELETE:
    case HF_DO_DELETE_PREFIX:
        return true;
    case HF_DO_GET:
    case HF_DO_LIST:
        return false;
    }
    return false;
}

static bool is_missing(struct hf_bytes bytes)
{
    return bytes.size && !bytes.data;
}

static enum hf_err check_condition(const struct hf_condition *condition,
                                   struct hf_error *error)
{
    if (condition->kind != HF_IF_ABSENT && condition->kind != HF_IF_UNCHANGED &&
        condition->kind != HF_IF_PREFIX_ABSENT)
        return wrong(error, "a condition of no known kind");
    if (is_missing(condition->key) ||
        (!condition->key.size && condition->kind != HF_IF_PREFIX_ABSENT))
        return wrong(error, "a condition without a key");
    if (condition->key.size > HF_STORE_KEY_BYTES_MAX)
        return wrong(error, "the key of a condition is too long");
    return HF_ERR_OK;
}

static enum hf_err check_action(const struct hf_action *action,
                                struct hf_error *error)
{
    bool prefix =
        action->kind == HF_DO_DELETE_PREFIX || action->kind == HF_DO_LIST;

    if ((unsigned int)action->kind > HF_DO_LIST)
        return wrong(error, "an action of no known kind");
    if (is_missing(action->key) || (!action->key.size && !prefix))
        return wrong(error, "an action without a key");
    if (action->key.size > HF_STORE_KEY_BYTES_MAX)
        return wrong(error, "the key of an action is too long");
    if (action->kind == HF_DO_PUT &&
        (is_missing(action->value) ||
         action->value.size > HF_STORE_VALUE_BYTES_MAX))
        return wrong(error, "a value is missing or too long");
    if (action->kind == HF_DO_LIST &&
        (action->limit < 1 || action->limit > HF_STORE_LIST_MAX))
        return wrong(error, "a list's limit is out of range");
    return HF_ERR_OK;
}

static enum hf_err check_side(const struct hf_action *actions, size_t count,
                              struct hf_error *error)
{
    if (count > HF_STORE_ACTIONS_MAX)
        return wrong(error, "too many actions on one side of a branch");
    if (count && !actions)
        return wrong(error, "the actions of a branch are missing");
    for (size_t i = 0; i < count; i++) {
        enum hf_err err = check_action(&actions[i], error);

        if (err)
            return err;
    }
    return HF_ERR_OK;
}

static enum hf_err check_branch(const struct hf_branch *branch,
                                struct hf_error *error)
{
    enum hf_err err;

    if (branch->condition_count > HF_STORE_CONDITIONS_MAX)
        return wrong(error, "too many conditions in one branch");
    if (branch->condition_count && !branch->conditions)
        return wrong(error, "the conditions of a branch are missing");
    for (size_t i = 0; i < branch->condition_count; i++) {
        err = check_condition(&branch->conditions[i], error);
        if (err)
            return err;
    }
    err = check_side(branch->then, branch->then_count, error);
    if (err)
        return err;
    return check_side(branch->otherwise, branch->otherwise_count, error);
}

/* ---- no key is written twice ----------------------------------------------
 */

/* A place among the actions of all branches, each with its two sides. */
struct place {
    const struct hf_store_request *request;
    size_t side;
    size_t action;
};

/* The write that stands there or next behind; NULL: none does. */
static const struct hf_action *write_at(struct place *place)
{
    while (place->side < 2 * place->request->branch_count) {
        const struct hf_branch *branch =
            &place->request->branches[place->side / 2];
        bool is_then = place->side % 2 == 0;
        const struct hf_action *actions =
            is_then ? branch->then : branch->otherwise;
        size_t count = is_then ? branch->then_count : branch->otherwise_count;

        for (; place->action < count; place->action++) {
            if (is_write(&actions[place->action]))
                return &actions[place->action];
        }
        place->side++;
        place->action = 0;
    }
    return NULL;
}

/* Does `action` write the key of `other`? */
static bool covers(const struct hf_action *action,
                   const struct hf_action *other)
{
    size_t size = action->key.size;

    if (other->key.size < size ||
        (size && memcmp(action->key.data, other->key.data, size) != 0))
        return false;
    return action->kind == HF_DO_DELETE_PREFIX || other->key.size == size;
}

/* Each with each: there are a handful, and no list of them has to be made. */
static enum hf_err check_once(const struct hf_store_request *request,
                              struct hf_error *error)
{
    struct place left = {.request = request};
    const struct hf_action *a;

    for (; (a = write_at(&left)); left.action++) {
        struct place right = left;
        const struct hf_action *b;

        for (right.action++; (b = write_at(&right)); right.action++) {
            if (covers(a, b) || covers(b, a))
                return wrong(error, "a transaction writes one key twice");
        }
    }
    return HF_ERR_OK;
}

static enum hf_err check_txn(const struct hf_store_request *request,
                             struct hf_error *error)
{
    if (request->branch_count > HF_STORE_BRANCHES_MAX)
        return wrong(error, "too many branches in one transaction");
    if (request->branch_count && !request->branches)
        return wrong(error, "the branches of a transaction are missing");
    for (size_t i = 0; i < request->branch_count; i++) {
        enum hf_err err = check_branch(&request->branches[i], error);

        if (err)
            return err;
    }
    return check_once(request, error);
}

static enum hf_err check_lease(const struct hf_store_request *request,
                               struct hf_error *error)
{
    return request->lease ? HF_ERR_OK : wrong(error, "no lease is named");
}

static enum hf_err check_phase(const struct hf_store_request *request,
                               struct hf_error *error)
{
    if ((unsigned int)request->phase > HF_PHASE_GONE)
        return wrong(error, "a lease phase of no known kind");
    return check_lease(request, error);
}

static enum hf_err check_watch(const struct hf_store_request *request,
                               struct hf_error *error)
{
    if (is_missing(request->prefix) ||
        request->prefix.size > HF_STORE_KEY_BYTES_MAX)
        return wrong(error, "a watch's prefix is missing or too long");
    return HF_ERR_OK;
}

enum hf_err hf_store_request_check(const struct hf_store_request *request,
                                   struct hf_error *error)
{
    switch (request->kind) {
    case HF_STORE_TXN:
        return check_txn(request, error);
    case HF_STORE_LEASE_GRANT:
        if (request->ttl_ms < TTL_MS_MIN || request->ttl_ms > TTL_MS_MAX)
            return wrong(error, "a lease's TTL is out of range");
        return HF_ERR_OK;
    case HF_STORE_LEASE_RENEW:
    case HF_STORE_LEASE_REVOKE:
    case HF_STORE_LEASE_SHOW:
        return check_lease(request, error);
    case HF_STORE_LEASE_PHASE:
        return check_phase(request, error);
    case HF_STORE_WATCH:
        return check_watch(request, error);
    }
    return wrong(error, "a request of no known kind");
}

static bool side_writes(const struct hf_action *actions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_write(&actions[i]))
            return true;
    }
    return false;
}

bool hf_store_txn_writes(const struct hf_store_request *request)
{
    for (size_t i = 0; i < request->branch_count; i++) {
        const struct hf_branch *branch = &request->branches[i];

        if (side_writes(branch->then, branch->then_count) ||
            side_writes(branch->otherwise, branch->otherwise_count))
            return true;
    }
    return false;
}
