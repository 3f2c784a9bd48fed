/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_txn.h"

#include <stdlib.h>
#include <string.h>

#include "store/check.h"
#include "store/sqlite_edit.h"
#include "store/sqlite_gate.h"
#include "store/sqlite_lease.h"

static enum hf_err no_memory(struct hf_error *error)
{
    return hf_error_set(error, HF_ERR_NOMEM, "no memory for an answer");
}

/* ---- leases that are over ---- */

/* What was found out of a lease in this transaction: asked once. */
struct judged {
    struct judged *next;
    hf_lease_id id;
};

static bool is_judged(const struct judged *judged, hf_lease_id id)
{
    for (; judged; judged = judged->next) {
        if (judged->id == id)
            return true;
    }
    return false;
}

static enum hf_err judge(struct hf_sqlite_edit *edit, struct judged **judged,
                         hf_lease_id id, struct hf_error *error)
{
    struct judged *one;
    enum hf_err err;
    bool is_over;

    if (!id || hf_sqlite_lease_find(edit->sq, id) || is_judged(*judged, id))
        return HF_ERR_OK;
    one = hf_store_alloc(edit->arena, sizeof(*one));
    if (!one)
        return no_memory(error);
    one->id = id;
    one->next = *judged;
    *judged = one;
    err = hf_sqlite_lease_is_over(edit->sq, id, edit->now, &is_over, error);
    if (err || !is_over)
        return err;
    /* Its job is gone by now, unless all that was to see to that was killed or
     * stands still. */
    hf_sqlite_session_stop(edit->sq, id);
    err = hf_sqlite_edit_revision(edit, error);
    return err ? err : hf_sqlite_edit_remove_lease(edit, id, error);
}

/* The lease of the first key in a prefix; 0: there is no key, or nobody can
 * take it away from there. */
static enum hf_err first_in_prefix(struct hf_sqlite_edit *edit,
                                   struct hf_bytes prefix, hf_lease_id *lease,
                                   struct hf_error *error)
{
    struct hf_sqlite_cell cell = {.lease = 0};
    struct hf_sqlite_key key;
    enum hf_err err;
    bool found = false;

    *lease = 0;
    hf_sqlite_key_record(&key, prefix);
    err = hf_sqlite_walk(edit->sq, &key, error);
    if (!err)
        err = hf_sqlite_walk_next(edit->sq, &found, &cell, error);
    if (!err && found)
        *lease = cell.lease;
    hf_sqlite_walk_end(edit->sq);
    return err;
}

/* One key that stays answers for its whole prefix: nobody is asked who stands
 * behind it. With a thousand waiters that is one proof instead of a thousand.
 */
static enum hf_err judge_prefix(struct hf_sqlite_edit *edit,
                                struct judged **judged, struct hf_bytes prefix,
                                struct hf_error *error)
{
    hf_lease_id former = 0;
    hf_lease_id lease;
    enum hf_err err = first_in_prefix(edit, prefix, &lease, error);

    while (!err && lease && lease != former) {
        err = judge(edit, judged, lease, error);
        former = lease;
        if (!err)
            err = first_in_prefix(edit, prefix, &lease, error);
    }
    return err;
}

static enum hf_err judge_condition(struct hf_sqlite_edit *edit,
                                   struct judged **judged,
                                   const struct hf_condition *condition,
                                   struct hf_error *error)
{
    struct hf_sqlite_cell cell = {.lease = 0};
    struct hf_sqlite_key key;
    enum hf_err err;
    bool found;

    if (condition->kind == HF_IF_PREFIX_ABSENT)
        return judge_prefix(edit, judged, condition->key, error);
    hf_sqlite_key_record(&key, condition->key);
    err = hf_sqlite_get(edit->sq, &key, &found, &cell, error);
    return err || !found ? err : judge(edit, judged, cell.lease, error);
}

/* A lease that is over stands in nobody's way: it is removed first, at a
 * revision of its own. */
static enum hf_err remove_over(struct hf_sqlite_edit *edit,
                               const struct hf_store_request *request,
                               struct hf_error *error)
{
    struct judged *judged = NULL;

    for (size_t i = 0; i < request->branch_count; i++) {
        const struct hf_branch *branch = &request->branches[i];

        for (size_t j = 0; j < branch->condition_count; j++) {
            enum hf_err err =
                judge_condition(edit, &judged, &branch->conditions[j], error);

            if (err)
                return err;
        }
    }
    return HF_ERR_OK;
}

/* ---- conditions ---- */

static enum hf_err holds(struct hf_sqlite *sq,
                         const struct hf_condition *condition, bool *is_true,
                         struct hf_error *error)
{
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key key;
    enum hf_err err;
    bool found = false;

    hf_sqlite_key_record(&key, condition->key);
    if (condition->kind == HF_IF_PREFIX_ABSENT) {
        err = hf_sqlite_walk(sq, &key, error);
        if (!err)
            err = hf_sqlite_walk_next(sq, &found, &cell, error);
        hf_sqlite_walk_end(sq);
        *is_true = !err && !found;
        return err;
    }
    err = hf_sqlite_get(sq, &key, &found, &cell, error);
    if (condition->kind == HF_IF_ABSENT)
        *is_true = !err && !found;
    else
        *is_true = !err && found && cell.changed == condition->revision;
    return err;
}

static enum hf_err decide(struct hf_sqlite *sq, struct hf_branch *branch,
                          struct hf_error *error)
{
    branch->held = true;
    for (size_t i = 0; branch->held && i < branch->condition_count; i++) {
        enum hf_err err =
            holds(sq, &branch->conditions[i], &branch->held, error);

        if (err)
            return err;
    }
    return HF_ERR_OK;
}

/* ---- reads ---- */

static enum hf_err copy_record(struct hf_store_request *request,
                               const struct hf_sqlite_cell *cell,
                               struct hf_record *record, struct hf_error *error)
{
    /* Behind the byte that tells the kind. */
    record->key.size = cell->key_size - 1;
    record->key.data = hf_store_copy(request, cell->key + 1, record->key.size);
    record->value.size = cell->value_size;
    record->value.data = hf_store_copy(request, cell->value, cell->value_size);
    record->created = cell->created;
    record->changed = cell->changed;
    record->lease = cell->lease;
    return record->key.data && record->value.data ? HF_ERR_OK
                                                  : no_memory(error);
}

static enum hf_err read_one(struct hf_sqlite *sq,
                            struct hf_store_request *request,
                            struct hf_bytes name,
                            struct hf_action_result *result,
                            struct hf_error *error)
{
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key key;
    struct hf_record *record;
    enum hf_err err;
    bool found;

    hf_sqlite_key_record(&key, name);
    err = hf_sqlite_get(sq, &key, &found, &cell, error);
    if (err || !found)
        return err;
    record = hf_store_alloc(request, sizeof(*record));
    if (!record)
        return no_memory(error);
    result->records = record;
    result->record_count = 1;
    result->count = 1;
    return copy_record(request, &cell, record, error);
}

/* The oldest first; keys that one transaction made, by their bytes. */
static bool is_before(const struct hf_sqlite_cell *a, const struct hf_record *b)
{
    size_t size = a->key_size - 1;
    size_t common = size < b->key.size ? size : b->key.size;
    int order;

    if (a->created != b->created)
        return a->created < b->created;
    order = memcmp(a->key + 1, b->key.data, common);
    return order ? order < 0 : size < b->key.size;
}

/* Place of a cell among the sorted records, from the end: keys come in order,
 * so that it is near there. */
static size_t place_of(const struct hf_sqlite_cell *cell,
                       const struct hf_record *records, size_t count)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (is_before(cell, &records[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static enum hf_err read_list(struct hf_sqlite *sq,
                             struct hf_store_request *request,
                             const struct hf_action *action,
                             struct hf_action_result *result,
                             struct hf_error *error)
{
    struct hf_record *records = NULL;
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key key;
    size_t count = 0;
    enum hf_err err;
    bool found = true;

    hf_sqlite_key_record(&key, action->key);
    err = hf_sqlite_walk(sq, &key, error);
    while (!err) {
        size_t place;

        err = hf_sqlite_walk_next(sq, &found, &cell, error);
        if (err || !found)
            break;
        result->count++;
        if (!records)
            records = hf_store_alloc(request, ((size_t)action->limit + 1) *
                                                  sizeof(*records));
        if (!records) {
            err = no_memory(error);
            break;
        }
        place = place_of(&cell, records, count);
        if (place == action->limit)
            continue;
        memmove(records + place + 1, records + place,
                (count - place) * sizeof(*records));
        err = copy_record(request, &cell, &records[place], error);
        if (count < action->limit)
            count++;
    }
    hf_sqlite_walk_end(sq);
    result->records = records;
    result->record_count = count;
    return err;
}

static const struct hf_action *side_of(const struct hf_branch *branch,
                                       size_t *count)
{
    *count = branch->held ? branch->then_count : branch->otherwise_count;
    return branch->held ? branch->then : branch->otherwise;
}

static enum hf_err read_side(struct hf_sqlite *sq,
                             struct hf_store_request *request,
                             struct hf_branch *branch, struct hf_error *error)
{
    struct hf_action_result *results;
    size_t count;
    const struct hf_action *side = side_of(branch, &count);
    enum hf_err err = HF_ERR_OK;

    branch->results = NULL;
    if (!count)
        return HF_ERR_OK;
    results = hf_store_alloc(request, count * sizeof(*results));
    if (!results)
        return no_memory(error);
    for (size_t i = 0; !err && i < count; i++) {
        if (side[i].kind == HF_DO_GET)
            err = read_one(sq, request, side[i].key, &results[i], error);
        else if (side[i].kind == HF_DO_LIST)
            err = read_list(sq, request, &side[i], &results[i], error);
    }
    branch->results = results;
    return err;
}

/* ---- writes ---- */

static enum hf_err write_one(struct hf_sqlite_edit *edit,
                             const struct hf_action *action, bool *is_refused,
                             struct hf_error *error)
{
    switch (action->kind) {
    case HF_DO_PUT:
        return hf_sqlite_edit_put(edit, action->key, action->value,
                                  action->lease, is_refused, error);
    case HF_DO_DELETE:
        return hf_sqlite_edit_delete(edit, action->key, error);
    case HF_DO_DELETE_PREFIX:
        return hf_sqlite_edit_delete_prefix(edit, action->key, error);
    case HF_DO_GET:
    case HF_DO_LIST:
        break;
    }
    return HF_ERR_OK;
}

static bool is_write(const struct hf_action *action)
{
    return action->kind != HF_DO_GET && action->kind != HF_DO_LIST;
}

static enum hf_err write_all(struct hf_sqlite_edit *edit,
                             const struct hf_store_request *request,
                             bool *is_refused, struct hf_error *error)
{
    bool has_begun = false;

    for (size_t i = 0; i < request->branch_count; i++) {
        size_t count;
        const struct hf_action *side = side_of(&request->branches[i], &count);

        for (size_t j = 0; j < count; j++) {
            enum hf_err err = HF_ERR_OK;

            /* One revision for all of them, of its own. */
            if (is_write(&side[j]) && !has_begun) {
                err = hf_sqlite_edit_revision(edit, error);
                has_begun = true;
            }
            if (!err)
                err = write_one(edit, &side[j], is_refused, error);
            if (err || *is_refused)
                return err;
        }
    }
    return HF_ERR_OK;
}

/* Nothing but deletes: what must work on a full disk too. */
static bool only_deletes(const struct hf_store_request *request)
{
    for (size_t i = 0; i < request->branch_count; i++) {
        size_t count;
        const struct hf_action *side = side_of(&request->branches[i], &count);

        for (size_t j = 0; j < count; j++) {
            if (side[j].kind == HF_DO_PUT)
                return false;
        }
    }
    return true;
}

/* ---- all of it ---- */

static void answer(struct hf_sqlite *sq, struct hf_store_request *request,
                   enum hf_outcome outcome)
{
    hf_sqlite_answer(sq, request, outcome);
}

static void refuse(struct hf_sqlite *sq, struct hf_store_request *request,
                   enum hf_refusal refusal)
{
    request->refusal = refusal;
    answer(sq, request, HF_OUTCOME_REFUSED);
}

/* Read, and write into the open transaction what is to be written. */
static enum hf_err carry_out(struct hf_sqlite_edit *edit,
                             struct hf_store_request *request, bool writing,
                             bool *is_refused, struct hf_error *error)
{
    enum hf_err err = HF_ERR_OK;

    *is_refused = false;
    if (writing)
        err = remove_over(edit, request, error);
    for (size_t i = 0; !err && i < request->branch_count; i++)
        err = decide(edit->sq, &request->branches[i], error);
    for (size_t i = 0; !err && i < request->branch_count; i++)
        err = read_side(edit->sq, request, &request->branches[i], error);
    if (!err && writing) {
        /* The removals stand at revisions of their own. */
        edit->is_new = false;
        err = write_all(edit, request, is_refused, error);
    }
    return err;
}

/* A handle that only looks, and finds no store: it is empty. */
static void answer_empty(struct hf_sqlite *sq, struct hf_store_request *request)
{
    for (size_t i = 0; i < request->branch_count; i++) {
        struct hf_branch *branch = &request->branches[i];
        size_t count;

        branch->held = true;
        for (size_t j = 0; j < branch->condition_count; j++)
            branch->held =
                branch->held && branch->conditions[j].kind != HF_IF_UNCHANGED;
        branch->results = NULL;
        (void)side_of(branch, &count);
        if (count)
            branch->results =
                hf_store_alloc(request, count * sizeof(*branch->results));
        if (count && !branch->results) {
            (void)no_memory(&request->error);
            answer(sq, request, HF_OUTCOME_FAILED);
            return;
        }
    }
    answer(sq, request, HF_OUTCOME_COMMITTED);
}

/* Inside the gate. *again: do it once more, in the way that `lean` then tells.
 */
static void run(struct hf_sqlite *sq, struct hf_store_request *request,
                bool writing, bool *lean, bool *again)
{
    struct hf_error *error = &request->error;
    struct hf_sqlite_edit edit;
    bool is_unknown = false;
    bool is_refused;
    enum hf_err err;

    if (!hf_sqlite_is_expected(sq, request)) {
        refuse(sq, request, HF_REFUSED_IDENTITY);
        return;
    }
    hf_sqlite_edit_begin(&edit, sq, request);
    edit.is_lean = *lean;
    err = carry_out(&edit, request, writing, &is_refused, error);
    if (is_refused) {
        hf_sqlite_edit_abort(&edit);
        refuse(sq, request, HF_REFUSED_LEASE);
        return;
    }
    if (!err && hf_sqlite_edit_has_changes(&edit))
        err = hf_sqlite_edit_epoch(&edit, request->epoch, error);
    if (!err && hf_sqlite_edit_has_changes(&edit))
        err = hf_sqlite_edit_commit(&edit, &is_unknown, error);
    else if (err)
        hf_sqlite_edit_abort(&edit);
    /* With nothing changed there is nothing to undo. */
    if (!err) {
        answer(sq, request, HF_OUTCOME_COMMITTED);
        return;
    }
    if (err == HF_ERR_NOSPACE && !is_unknown && !*lean &&
        only_deletes(request)) {
        *lean = *again = true;
        return;
    }
    /* Whoever enters next sets the file aside. */
    if (sq->is_damaged && !is_unknown) {
        *again = true;
        return;
    }
    answer(sq, request, is_unknown ? HF_OUTCOME_UNKNOWN : HF_OUTCOME_FAILED);
}

void hf_sqlite_txn_submit(struct hf_sqlite *sq,
                          struct hf_store_request *request)
{
    bool writing = hf_store_txn_writes(request);
    bool stays = request->more && !writing && !sq->read_only;
    bool lean = false;

    if (writing && sq->read_only) {
        hf_error_set(&request->error, HF_ERR_DENIED,
                     "%s was opened to be looked at", sq->place.path);
        answer(sq, request, HF_OUTCOME_FAILED);
        return;
    }
    for (int tries = 0; tries < 3; tries++) {
        bool again = false;
        bool is_missing;

        if (hf_sqlite_enter(sq, writing || stays, &is_missing,
                            &request->error)) {
            answer(sq, request, HF_OUTCOME_FAILED);
            return;
        }
        if (is_missing) {
            answer_empty(sq, request);
            return;
        }
        run(sq, request, writing, &lean, &again);
        if (stays && !again && request->outcome == HF_OUTCOME_COMMITTED) {
            hf_sqlite_stay(sq);
            return;
        }
        if (!again || tries == 2) {
            hf_sqlite_leave(sq);
            if (again)
                answer(sq, request, HF_OUTCOME_FAILED);
            return;
        }
    }
}
