/* SPDX-License-Identifier: Apache-2.0 */
/* DESCRIBE: the rules of a class, before anything is asked of the store. */
#include "core/op.h"

static void describe_start(struct hf_op *op)
{
    const struct hf_class *class = hf_policy_class(op);

    if (!class)
        return;
    op->request->rules = *class;
    op->request->local = op->core->options.traits.local;
    hf_op_reply(op, HF_ANSWER_DONE);
    hf_op_end(op);
}

static void describe_answer(struct hf_op *op, struct hf_send *send)
{
    (void)op;
    (void)send;
}

static void describe_nothing(struct hf_op *op)
{
    (void)op;
}

const struct hf_op_kind hf_op_describe = {
    .start = describe_start,
    .answer = describe_answer,
    .timer = describe_nothing,
    .gone = describe_nothing,
};
