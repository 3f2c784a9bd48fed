/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may ask what: the one judge of classes, ranges and (with the identities
 * that an edge puts into a request) rights. Pure.
 */
#include <string.h>

#include "core/op.h"

const struct hf_class *hf_policy_class(struct hf_op *op)
{
    const struct hf_core_classes *classes = op->core->classes;
    const char *name = op->request->class_name;
    size_t i;

    for (i = 0; i < classes->count; i++) {
        if (strcmp(classes->list[i]->name, name) == 0)
            return classes->list[i];
    }
    hf_op_fail(op, HF_ERR_CONFIG, "class \"%.64s\" is not known", name);
    return NULL;
}

static bool allows_session(struct hf_op *op, const struct hf_class *class)
{
    int64_t ttl_ms = op->request->ttl_ms;

    if (ttl_ms == 0 ||
        (ttl_ms >= class->ttl_min_ms && ttl_ms <= class->ttl_max_ms))
        return true;
    hf_op_fail(op, HF_ERR_USAGE,
               "a TTL of %lld ms is outside of what class %s allows: %lld to "
               "%lld ms",
               (long long)ttl_ms, class->name, (long long)class->ttl_min_ms,
               (long long)class->ttl_max_ms);
    return false;
}

static bool allows_acquire(struct hf_op *op, const struct hf_class *class)
{
    const struct hf_request *request = op->request;
    struct hf_error error;

    if (hf_key_check(request->key, &error)) {
        hf_op_fail_with(op, &error);
        return false;
    }
    if (request->mode == HF_SHARED && !class->shared) {
        hf_op_fail(op, HF_ERR_DENIED,
                   "class %s has no shared holds (its mode is exclusive)",
                   class->name);
        return false;
    }
    if (request->wait_ms < 0 || request->wait_ms > class->wait_max_ms) {
        hf_op_fail(op, HF_ERR_USAGE,
                   "a wait of %lld ms is outside of what class %s allows: 0 "
                   "to %lld ms",
                   (long long)request->wait_ms, class->name,
                   (long long)class->wait_max_ms);
        return false;
    }
    return true;
}

bool hf_policy_allows(struct hf_op *op, const struct hf_class *class)
{
    switch (op->request->kind) {
    case HF_REQUEST_SESSION_OPEN:
        return allows_session(op, class);
    case HF_REQUEST_ACQUIRE:
        return allows_acquire(op, class);
    case HF_REQUEST_DESCRIBE:
    case HF_REQUEST_SESSION_CLOSE:
    case HF_REQUEST_JOB:
    case HF_REQUEST_KEEP:
    case HF_REQUEST_RENEW:
    case HF_REQUEST_RELEASE:
    case HF_REQUEST_LIST:
    case HF_REQUEST_SHOW:
    case HF_REQUEST_WATCH:
    case HF_REQUEST_EPOCH_SHOW:
    case HF_REQUEST_EPOCH_ADVANCE:
    case HF_REQUEST_COUNT:
        break;
    }
    return true;
}
