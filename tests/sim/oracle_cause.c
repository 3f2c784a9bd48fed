/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/sim/audit.h"
#include "tests/sim/oracle_state.h"

/* Is there, among the changes of this revision, ... */
struct wanted {
    bool is_delete;
    bool of_grants; /* a hold or share; otherwise a place in the queue */
    const struct row *like;
    bool same_grant; /* of its very grant; otherwise of its key */
};

static bool is_grant_of(const struct state *state, const struct change *change,
                        const uint8_t grant[HF_GRANT_ID_SIZE])
{
    uint8_t id[HF_GRANT_ID_SIZE];

    memcpy(id, change->row.grant, sizeof(id));
    /* The stream tells a deleted hold by its key alone. */
    if (change->is_delete && sim_row_is_single(&change->row)) {
        for (size_t i = 0; i < state->row_count; i++) {
            const struct row *row = &state->rows[i];

            if (row->kind == change->row.kind && row->key == change->row.key)
                memcpy(id, row->grant, sizeof(id));
        }
    }
    return memcmp(id, grant, sizeof(id)) == 0;
}

static bool has(const struct sim_oracle *oracle, const struct wanted *wanted)
{
    for (size_t i = 0; i < oracle->batch_count; i++) {
        const struct change *change = &oracle->batch[i];

        if (change->kind != CHANGE_ROW ||
            change->is_delete != wanted->is_delete ||
            change->row.kind == ROW_FLOOR ||
            sim_row_is_grant(&change->row) != wanted->of_grants ||
            change->row.key != wanted->like->key)
            continue;
        if (!wanted->same_grant ||
            is_grant_of(&oracle->state, change, wanted->like->grant))
            return true;
    }
    return false;
}

static bool has_epoch(const struct sim_oracle *oracle)
{
    for (size_t i = 0; i < oracle->batch_count; i++) {
        if (oracle->batch[i].kind == CHANGE_EPOCH)
            return true;
    }
    return false;
}

static void expect(struct sim_run *run, enum hf_notice_kind kind,
                   const struct row *row)
{
    sim_audit_expect(run, run->oracle->revision, kind, row->key, row->grant);
}

static void row_ends(struct sim_run *run, const struct change *change,
                     const struct row *row)
{
    struct sim_oracle *oracle = run->oracle;
    const struct wanted granted = {
        .of_grants = true, .like = row, .same_grant = true};
    bool waits = row->kind == ROW_WAIT;

    if (row->kind == ROW_FLOOR)
        expect(run, HF_NOTICE_FREED, row);
    else if (waits && has(oracle, &granted))
        return; /* it got what it waited for */
    else if (change->by_lease)
        expect(run, waits ? HF_NOTICE_WAIT_ENDED : HF_NOTICE_ENDED, row);
    else if (has_epoch(oracle))
        expect(run, HF_NOTICE_OUTDATED, row);
    else
        expect(run, waits ? HF_NOTICE_LEFT : HF_NOTICE_RELEASED, row);
}

static void row_begins(struct sim_run *run, const struct row *row,
                       const struct row *old)
{
    struct sim_oracle *oracle = run->oracle;
    const struct wanted place = {
        .is_delete = true, .like = row, .same_grant = true};
    const struct wanted giver = {
        .is_delete = true, .of_grants = true, .like = row};

    switch (row->kind) {
    case ROW_HOLD:
    case ROW_SHARE:
        expect(run,
               has(oracle, &place) &&
                       ((old && row->kind == ROW_HOLD) || has(oracle, &giver))
                   ? HF_NOTICE_HANDED_OVER
                   : HF_NOTICE_GRANTED,
               row);
        break;
    case ROW_WAIT:
        if (row->created == row->changed)
            expect(run, HF_NOTICE_QUEUED, row);
        break;
    case ROW_FLOOR:
        expect(run, HF_NOTICE_KEPT, row);
        break;
    }
}

void sim_oracle_causes(struct sim_run *run)
{
    struct sim_oracle *oracle = run->oracle;

    if (!run->audit)
        return;
    for (size_t i = 0; i < oracle->batch_count; i++) {
        const struct change *change = &oracle->batch[i];
        const struct row *old;

        if (change->kind != CHANGE_ROW)
            continue;
        old = sim_row_find(&oracle->state, change->row.kind, change->row.key,
                           sim_row_is_single(&change->row) ? NULL
                                                           : change->row.grant);
        if (!change->is_delete)
            row_begins(run, &change->row, old);
        else if (old)
            row_ends(run, change, old);
    }
}
