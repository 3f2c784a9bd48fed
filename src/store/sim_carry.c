/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sim_world.h"

#include <string.h>

void sim_sign(const struct sim_state *state, struct hf_store_request *request)
{
    request->revision = state->revision;
    request->identity = state->identity;
}

bool sim_is_expected(const struct sim_state *state,
                     const struct hf_store_request *request)
{
    const struct hf_store_identity *expect = &request->expect;

    return !expect->epoch_min ||
           (expect->epoch_min == state->identity.epoch_min &&
            memcmp(expect->id, state->identity.id, sizeof(expect->id)) == 0);
}

static bool side_puts(const struct hf_action *actions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (actions[i].kind == HF_DO_PUT)
            return true;
    }
    return false;
}

static bool needs_space(const struct hf_store_request *request)
{
    if (request->kind == HF_STORE_LEASE_GRANT)
        return true;
    for (size_t i = 0;
         request->kind == HF_STORE_TXN && i < request->branch_count; i++) {
        const struct hf_branch *branch = &request->branches[i];

        if (side_puts(branch->then, branch->then_count) ||
            side_puts(branch->otherwise, branch->otherwise_count))
            return true;
    }
    return false;
}

void sim_fail(struct hf_store_request *request, enum hf_err code,
              const char *why)
{
    request->outcome = HF_OUTCOME_FAILED;
    hf_error_set(&request->error, code, "simulated store: %s", why);
}

static void refuse_lease(struct hf_store_request *request)
{
    request->outcome = HF_OUTCOME_REFUSED;
    request->refusal = HF_REFUSED_LEASE;
}

static void do_grant(struct sim_state *state, uint32_t process,
                     struct hf_store_request *request)
{
    const struct sim_lease *lease =
        sim_lease_new(state, process, request->ttl_ms);

    request->lease = lease->id;
    request->ttl_ms = lease->ttl_ms;
    request->state_path = NULL;
    request->state_fd = -1;
}

static void do_renew(struct sim_state *state, struct hf_store_request *request)
{
    struct sim_lease *lease = sim_lease_find(state, request->lease);

    if (lease) {
        sim_lease_renew(state, lease);
        request->ttl_ms = lease->ttl_ms;
    } else if (!hf_sim_random_hits(&state->random,
                                   state->options.faults.keepalive_lies)) {
        refuse_lease(request);
    } else if (request->ttl_ms <= 0) {
        request->ttl_ms = 1000;
    }
}

static void do_show(struct sim_state *state, struct hf_store_request *request)
{
    const struct sim_lease *lease = sim_lease_find(state, request->lease);

    if (!lease) {
        refuse_lease(request);
        return;
    }
    request->ttl_ms = lease->ttl_ms;
    request->remaining_ms = sim_lease_remaining_ms(state, lease);
    request->proof = sim_lease_proof(state, lease);
    request->phase = lease->phase;
    request->left = lease->left;
}

static void do_phase(struct sim_state *state, uint32_t process,
                     struct hf_store_request *request)
{
    struct sim_lease *lease = sim_lease_find(state, request->lease);

    if (!state->options.traits.local)
        return;
    if (!lease || lease->process != process) {
        refuse_lease(request);
        return;
    }
    lease->phase = request->phase;
    lease->left = request->left;
    if (request->phase != HF_PHASE_LEFT)
        lease->has_cgroup = request->cgroup != NULL;
}

static void do_revoke(struct sim_state *state, struct hf_store_request *request)
{
    struct sim_lease *lease = sim_lease_find(state, request->lease);

    if (lease)
        sim_lease_end(state, lease);
    else
        refuse_lease(request);
}

void sim_carry_out(struct hf_sim_world *world, uint32_t process,
                   struct hf_store_request *request)
{
    struct sim_state *state = &world->state;

    request->outcome = HF_OUTCOME_COMMITTED;
    if (!sim_is_expected(state, request)) {
        request->outcome = HF_OUTCOME_REFUSED;
        request->refusal = HF_REFUSED_IDENTITY;
    } else if (state->options.faults.no_space && needs_space(request)) {
        sim_fail(request, HF_ERR_NOSPACE, "no space is left");
    } else {
        switch (request->kind) {
        case HF_STORE_TXN:
            sim_txn(state, process, request);
            break;
        case HF_STORE_LEASE_GRANT:
            do_grant(state, process, request);
            break;
        case HF_STORE_LEASE_RENEW:
            do_renew(state, request);
            break;
        case HF_STORE_LEASE_REVOKE:
            do_revoke(state, request);
            break;
        case HF_STORE_LEASE_SHOW:
            do_show(state, request);
            break;
        case HF_STORE_LEASE_PHASE:
            do_phase(state, process, request);
            break;
        case HF_STORE_WATCH:
            break;
        }
    }
    if (request->outcome != HF_OUTCOME_FAILED)
        sim_sign(state, request);
    sim_watches_wake(world);
}
