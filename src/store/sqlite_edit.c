/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_edit.h"

#include <string.h>

#include "store/sqlite_gate.h"
#include "store/sqlite_lease.h"
#include "store/sqlite_wake.h"

static enum hf_err no_memory(struct hf_error *error)
{
    return hf_error_set(error, HF_ERR_NOMEM, "no memory for a transaction");
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void hf_sqlite_edit_begin(struct hf_sqlite_edit *edit, struct hf_sqlite *sq,
                          struct hf_store_request *arena)
{
    *edit = (struct hf_sqlite_edit){
        .sq = sq,
        .arena = arena,
        .now = sq->sys->steady(sq->sys),
        .last = max_u64(max_u64(sq->meta.revision, sq->meta.floor),
                        max_u64(sq->head.highest, sq->seen)),
    };
}

/* ---- revisions ---- */

/*
 * The clock keeps revisions rising across all that may be lost; the bound keeps
 * them rising across a wrong clock.
 */
enum hf_err hf_sqlite_edit_revision(struct hf_sqlite_edit *edit,
                                    struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    uint64_t least = edit->last + 1;
    uint64_t next = max_u64(least, hf_sqlite_clock(sq));

    if (edit->is_new)
        return HF_ERR_OK;
    if (next >= HF_SQLITE_REVISION_END)
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "%s has used up its revisions, or the clock is "
                            "centuries ahead",
                            sq->place.path);
    if (next > sq->mark.bound || edit->arena->epoch > sq->mark.epoch_min) {
        struct hf_sqlite_mark mark = sq->mark;
        bool raises = edit->arena->epoch > mark.epoch_min;
        enum hf_err err;

        if (raises)
            mark.epoch_min = edit->arena->epoch;
        if (next > mark.bound)
            mark.bound = hf_sqlite_bound(sq, next);
        err = hf_sqlite_mark_write(sq, &mark, error);
        /* No room to write it: below the old bound there may be some left. */
        if (err && (raises || least > sq->mark.bound))
            return err;
        if (err)
            next = least;
        sq->meta.epoch_min = (uint32_t)sq->mark.epoch_min;
        sq->head.epoch_min = sq->mark.epoch_min;
    }
    edit->revision = edit->last = next;
    edit->sequence = 0;
    edit->is_new = true;
    return HF_ERR_OK;
}

bool hf_sqlite_edit_has_changes(const struct hf_sqlite_edit *edit)
{
    return edit->written != 0;
}

/*
 * An epoch comes into use: durable before the transaction that brings it, so
 * that it is known whatever may be lost later.
 */
enum hf_err hf_sqlite_edit_epoch(struct hf_sqlite_edit *edit, uint32_t epoch,
                                 struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    struct hf_sqlite_mark mark = sq->mark;
    enum hf_err err;

    if (epoch <= mark.epoch_min)
        return HF_ERR_OK;
    mark.epoch_min = epoch;
    err = hf_sqlite_mark_write(sq, &mark, error);
    if (err)
        return err;
    sq->head.epoch_min = epoch;
    sq->meta.epoch_min = epoch;
    return HF_ERR_OK;
}

/* ---- leases that the edit touches ---- */

static enum hf_err touch(struct hf_sqlite_edit *edit, hf_lease_id lease,
                         struct hf_sqlite_touched **touched,
                         struct hf_error *error)
{
    struct hf_sqlite_touched *one = edit->touched;
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key key;
    enum hf_err err;

    while (one && one->id != lease)
        one = one->next;
    *touched = one;
    if (one)
        return HF_ERR_OK;
    one = hf_store_alloc(edit->arena, sizeof(*one));
    if (!one)
        return no_memory(error);
    one->id = lease;
    one->fd = -1;
    one->undo = -1;
    one->own = hf_sqlite_lease_find(edit->sq, lease);
    hf_sqlite_key_lease(&key, lease);
    err = hf_sqlite_get(edit->sq, &key, &one->has_row, &cell, error);
    if (err)
        return err;
    one->next = edit->touched;
    edit->touched = one;
    *touched = one;
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_edit_lease_row(struct hf_sqlite *sq, hf_lease_id lease,
                                     int64_t ttl_ms, struct hf_time expires,
                                     struct hf_error *error)
{
    struct hf_sqlite_cell cell = {.created = (uint64_t)ttl_ms,
                                  .changed = (uint64_t)expires.ns,
                                  .lease = lease};
    struct hf_sqlite_key key;

    hf_sqlite_key_lease(&key, lease);
    return hf_sqlite_put(sq, &key, &cell, error);
}

/* A key comes to a lease: the lease must be there, and gets its row. */
static enum hf_err attach(struct hf_sqlite_edit *edit,
                          struct hf_sqlite_touched *lease,
                          const struct hf_sqlite_noted *noted, bool *is_refused,
                          struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    struct hf_sqlite_cell cell = {.lease = lease->id};
    struct hf_sqlite_key key;
    enum hf_err err = HF_ERR_OK;

    if (!lease->has_row) {
        if (!lease->own || lease->removed)
            *is_refused = true;
        else if (lease->own->has_row)
            err = hf_sqlite_lease_was_ended(sq, lease->own, is_refused, error);
        if (err || *is_refused)
            return err;
        err = hf_sqlite_edit_lease_row(sq, lease->id, lease->own->ttl_ms,
                                       lease->own->expires, error);
        if (err)
            return err;
        lease->has_row = true;
        sq->meta.leases++;
    }
    if (!hf_sqlite_note_add(edit->arena, &lease->puts, false, noted))
        return no_memory(error);
    hf_sqlite_key_attached(&key, lease->id, noted->key);
    return hf_sqlite_put(sq, &key, &cell, error);
}

static enum hf_err detach(struct hf_sqlite_edit *edit, hf_lease_id id,
                          struct hf_bytes name, struct hf_error *error)
{
    struct hf_sqlite_noted noted = {.key = name};
    struct hf_sqlite_touched *lease;
    struct hf_sqlite_key key;
    enum hf_err err = touch(edit, id, &lease, error);

    if (err)
        return err;
    lease->lost_key = true;
    if (!hf_sqlite_note_add(edit->arena, &lease->deletes, true, &noted))
        return no_memory(error);
    hf_sqlite_key_attached(&key, id, name);
    return hf_sqlite_delete(edit->sq, &key, error);
}

/* ---- keys ---- */

static enum hf_err tell(struct hf_sqlite_edit *edit,
                        struct hf_sqlite_change *change, struct hf_error *error)
{
    struct hf_sqlite_changed *changed =
        hf_store_alloc(edit->arena, sizeof(*changed));

    if (!changed)
        return no_memory(error);
    changed->key = change->key;
    changed->next = edit->changed;
    edit->changed = changed;
    edit->is_new = false;
    edit->written = edit->revision;
    change->sequence = edit->sequence++;
    if (edit->is_lean)
        return HF_ERR_OK;
    return hf_sqlite_history_add(edit->sq, change, error);
}

/* A cell's bytes are SQLite's and go with the next look: keep those of a key
 * that is about to change. */
static enum hf_err keep(struct hf_sqlite_edit *edit,
                        struct hf_sqlite_cell *cell, struct hf_error *error)
{
    cell->value = hf_store_copy(edit->arena, cell->value, cell->value_size);
    return cell->value ? HF_ERR_OK : no_memory(error);
}

static enum hf_err check_quarantine(struct hf_sqlite_edit *edit,
                                    struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    int64_t left = sq->head.quarantine_until - edit->now.ns;

    if (left <= 0)
        return HF_ERR_OK;
    return hf_error_set(error, HF_ERR_UNAVAILABLE,
                        "%s and its session files were lost: jobs that started "
                        "before may still run; it grants again in %lld s",
                        sq->place.path,
                        (long long)((left + 999999999) / 1000000000));
}

enum hf_err hf_sqlite_edit_put(struct hf_sqlite_edit *edit,
                               struct hf_bytes name, struct hf_bytes value,
                               hf_lease_id lease, bool *is_refused,
                               struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    struct hf_sqlite_noted noted = {name, value, edit->revision,
                                    edit->revision};
    struct hf_sqlite_change change = {.revision = edit->revision,
                                      .key = name,
                                      .value = value,
                                      .changed = edit->revision,
                                      .lease = lease};
    struct hf_sqlite_touched *touched;
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key key;
    hf_lease_id former = 0;
    enum hf_err err;
    bool found;

    hf_sqlite_key_record(&key, name);
    err = hf_sqlite_get(sq, &key, &found, &cell, error);
    if (!err && !found)
        err = check_quarantine(edit, error);
    if (err)
        return err;
    if (found) {
        noted.created = cell.created;
        former = cell.lease;
    }
    if (lease) {
        err = touch(edit, lease, &touched, error);
        if (!err)
            err = attach(edit, touched, &noted, is_refused, error);
        if (err || *is_refused)
            return err;
    }
    if (former && former != lease) {
        err = detach(edit, former, name, error);
        if (err)
            return err;
    }
    change.created = noted.created;
    cell = (struct hf_sqlite_cell){.value = value.data,
                                   .value_size = value.size,
                                   .created = noted.created,
                                   .changed = edit->revision,
                                   .lease = lease};
    err = hf_sqlite_put(sq, &key, &cell, error);
    return err ? err : tell(edit, &change, error);
}

static enum hf_err delete_cell(struct hf_sqlite_edit *edit,
                               struct hf_bytes name, bool by_lease,
                               struct hf_error *error)
{
    struct hf_sqlite_change change = {.revision = edit->revision,
                                      .is_delete = true,
                                      .by_lease = by_lease,
                                      .key = name};
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key key;
    enum hf_err err;
    bool found;

    hf_sqlite_key_record(&key, name);
    err = hf_sqlite_get(edit->sq, &key, &found, &cell, error);
    if (err || !found)
        return err;
    err = keep(edit, &cell, error);
    if (!err && cell.lease)
        err = detach(edit, cell.lease, name, error);
    if (!err)
        err = hf_sqlite_delete(edit->sq, &key, error);
    if (err)
        return err;
    change.value = (struct hf_bytes){cell.value, cell.value_size};
    change.created = cell.created;
    change.changed = cell.changed;
    change.lease = cell.lease;
    return tell(edit, &change, error);
}

enum hf_err hf_sqlite_edit_delete(struct hf_sqlite_edit *edit,
                                  struct hf_bytes name, struct hf_error *error)
{
    return delete_cell(edit, name, false, error);
}

struct names {
    struct names *next;
    struct hf_bytes name;
};

/* Names behind the first `skip` bytes of all cells that begin with `prefix`. */
static enum hf_err collect(struct hf_sqlite_edit *edit,
                           const struct hf_sqlite_key *prefix, size_t skip,
                           struct names **names, struct hf_error *error)
{
    struct names **end = names;
    struct hf_sqlite_cell cell;
    enum hf_err err = hf_sqlite_walk(edit->sq, prefix, error);
    bool found = !err;

    *names = NULL;
    while (found) {
        struct names *one;

        err = hf_sqlite_walk_next(edit->sq, &found, &cell, error);
        if (err || !found)
            break;
        one = hf_store_alloc(edit->arena, sizeof(*one));
        if (one)
            one->name.data = hf_store_copy(edit->arena, cell.key + skip,
                                           cell.key_size - skip);
        if (!one || !one->name.data) {
            err = no_memory(error);
            break;
        }
        one->name.size = cell.key_size - skip;
        *end = one;
        end = &one->next;
    }
    hf_sqlite_walk_end(edit->sq);
    return err;
}

enum hf_err hf_sqlite_edit_delete_prefix(struct hf_sqlite_edit *edit,
                                         struct hf_bytes prefix,
                                         struct hf_error *error)
{
    struct hf_sqlite_key key;
    struct names *names;
    enum hf_err err;

    hf_sqlite_key_record(&key, prefix);
    err = collect(edit, &key, 1, &names, error);
    for (; !err && names; names = names->next)
        err = delete_cell(edit, names->name, false, error);
    return err;
}

static enum hf_err delete_lease_row(struct hf_sqlite *sq, hf_lease_id lease,
                                    struct hf_error *error)
{
    struct hf_sqlite_key key;

    hf_sqlite_key_lease(&key, lease);
    if (sq->meta.leases)
        sq->meta.leases--;
    return hf_sqlite_delete(sq, &key, error);
}

enum hf_err hf_sqlite_edit_remove_lease(struct hf_sqlite_edit *edit,
                                        hf_lease_id lease,
                                        struct hf_error *error)
{
    struct hf_sqlite_touched *touched;
    struct hf_bytes none = {NULL, 0};
    struct hf_sqlite_key key;
    struct names *names = NULL;
    enum hf_err err = touch(edit, lease, &touched, error);

    hf_sqlite_key_attached(&key, lease, none);
    if (!err)
        err = collect(edit, &key, key.size, &names, error);
    for (; !err && names; names = names->next)
        err = delete_cell(edit, names->name, true, error);
    if (!err && touched->has_row)
        err = delete_lease_row(edit->sq, lease, error);
    if (err)
        return err;
    touched->has_row = false;
    touched->removed = true;
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_edit_restore(struct hf_sqlite_edit *edit,
                                   hf_lease_id lease,
                                   const struct hf_sqlite_noted *key,
                                   struct hf_error *error)
{
    struct hf_sqlite_cell cell = {.value = key->value.data,
                                  .value_size = key->value.size,
                                  .created = key->created,
                                  .changed = key->changed,
                                  .lease = lease};
    struct hf_sqlite_cell attached = {.lease = lease};
    struct hf_sqlite_key name;
    enum hf_err err;

    hf_sqlite_key_record(&name, key->key);
    err = hf_sqlite_put(edit->sq, &name, &cell, error);
    if (err)
        return err;
    hf_sqlite_key_attached(&name, lease, key->key);
    return hf_sqlite_put(edit->sq, &name, &attached, error);
}

/* ---- commit ---- */

/* A lease's row goes with its last key. */
static enum hf_err drop_empty_leases(struct hf_sqlite_edit *edit,
                                     struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    struct hf_bytes none = {NULL, 0};

    for (struct hf_sqlite_touched *lease = edit->touched; lease;
         lease = lease->next) {
        struct hf_sqlite_cell cell;
        struct hf_sqlite_key key;
        enum hf_err err;
        bool found;

        if (!lease->lost_key || !lease->has_row)
            continue;
        hf_sqlite_key_attached(&key, lease->id, none);
        err = hf_sqlite_walk(sq, &key, error);
        if (!err)
            err = hf_sqlite_walk_next(sq, &found, &cell, error);
        hf_sqlite_walk_end(sq);
        if (!err && !found) {
            err = delete_lease_row(sq, lease->id, error);
            lease->has_row = false;
        }
        if (err)
            return err;
    }
    return HF_ERR_OK;
}

static enum hf_err write_notes(struct hf_sqlite_edit *edit,
                               struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;

    for (struct hf_sqlite_touched *lease = edit->touched; lease;
         lease = lease->next) {
        enum hf_err err = HF_ERR_OK;

        if (!lease->puts.size || !lease->has_row)
            continue;
        if (lease->own)
            lease->fd = lease->own->fd;
        else
            err = hf_sqlite_session_open(sq, lease->id, &lease->fd, error);
        /* A file that somebody removed is made again by its owner, with a
         * note of what the database says then. */
        if (!err && lease->fd >= 0)
            err = hf_sqlite_note_append(sq, lease->fd, lease->own, &lease->puts,
                                        &lease->undo, error);
        if (err)
            return err;
    }
    return HF_ERR_OK;
}

static void close_notes(struct hf_sqlite_edit *edit)
{
    for (struct hf_sqlite_touched *lease = edit->touched; lease;
         lease = lease->next) {
        if (lease->fd >= 0 && !lease->own)
            edit->sq->sys->close(edit->sq->sys, lease->fd);
        lease->fd = -1;
    }
}

static void undo_notes(struct hf_sqlite_edit *edit)
{
    for (struct hf_sqlite_touched *lease = edit->touched; lease;
         lease = lease->next) {
        if (lease->undo >= 0 && lease->fd >= 0)
            hf_sqlite_note_cut(edit->sq, lease->fd, lease->own, lease->undo);
    }
}

/* Deletes are noted when they stand: until then the key is not free. */
static void finish_leases(struct hf_sqlite_edit *edit)
{
    struct hf_sqlite *sq = edit->sq;
    struct hf_error ignored;
    off_t undo;

    for (struct hf_sqlite_touched *lease = edit->touched; lease;
         lease = lease->next) {
        if (lease->own)
            lease->own->has_row = lease->has_row;
        if (lease->removed) {
            hf_sqlite_session_end(sq, lease->id);
            continue;
        }
        if (!lease->deletes.size)
            continue;
        if (lease->own)
            lease->fd = lease->own->fd;
        else if (lease->fd < 0 &&
                 hf_sqlite_session_open(sq, lease->id, &lease->fd, &ignored))
            continue;
        if (lease->fd < 0)
            continue;
        if (lease->has_row)
            (void)hf_sqlite_note_append(sq, lease->fd, lease->own,
                                        &lease->deletes, &undo, &ignored);
        else
            hf_sqlite_note_cut(sq, lease->fd, lease->own, -1);
    }
}

/* The commit failed, says SQLite: what does the file say? */
static enum hf_err settle(struct hf_sqlite_edit *edit, enum hf_err err,
                          bool *is_unknown, struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    struct hf_error ignored;

    hf_sqlite_rollback(sq);
    *is_unknown = hf_sqlite_begin(sq, false, &ignored) || !sq->meta_is_there;
    if (!*is_unknown && sq->meta.revision == edit->written) {
        hf_sqlite_rollback(sq);
        return HF_ERR_OK;
    }
    hf_sqlite_rollback(sq);
    if (*is_unknown) {
        hf_sqlite_disconnect(sq);
        return hf_error_wrap(error, "commit, whose end is not known");
    }
    return err;
}

/* Nothing was committed: notes and head as they were, but for the revision,
 * which is never used again. */
static void take_back(struct hf_sqlite_edit *edit)
{
    struct hf_error ignored;

    undo_notes(edit);
    close_notes(edit);
    edit->sq->head.committing = 0;
    (void)hf_sqlite_head_write(edit->sq, &ignored);
}

static enum hf_err prepare(struct hf_sqlite_edit *edit, struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    struct hf_sqlite_meta *meta = &sq->meta;
    enum hf_err err = drop_empty_leases(edit, error);

    if (!err && meta->watches)
        err = hf_sqlite_wake_find(edit, error);
    if (edit->is_lean)
        meta->compacted = edit->written;
    for (int i = 0;
         !err && i < 4 &&
         meta->history > HF_SQLITE_HISTORY_KEPT + HF_SQLITE_HISTORY_SLACK;
         i++)
        err = hf_sqlite_history_prune(sq, error);
    meta->revision = edit->written;
    return err ? err : hf_sqlite_meta_put(sq, error);
}

enum hf_err hf_sqlite_edit_commit(struct hf_sqlite_edit *edit, bool *is_unknown,
                                  struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    enum hf_err err = prepare(edit, error);

    *is_unknown = false;
    if (err) {
        hf_sqlite_edit_abort(edit);
        return err;
    }
    sq->head.highest = edit->written;
    sq->head.committing = 1;
    sq->head.mark_sequence = sq->mark.sequence;
    err = hf_sqlite_head_write(sq, error);
    if (!err)
        err = write_notes(edit, error);
    if (!err) {
        err = hf_sqlite_commit(sq, error);
        if (err)
            err = settle(edit, err, is_unknown, error);
    }
    if (err) {
        if (!*is_unknown)
            take_back(edit);
        close_notes(edit);
        hf_sqlite_edit_abort(edit);
        return err;
    }
    if (!hf_sqlite_is_in_place(sq)) {
        close_notes(edit);
        hf_sqlite_edit_abort(edit);
        *is_unknown = true;
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "%s was replaced while it was written",
                            sq->place.path);
    }
    sq->head.committing = 0;
    sq->head.revision = edit->written;
    sq->head.leases = sq->meta.leases;
    /* If it fails, whoever comes next finds the commit done. */
    (void)hf_sqlite_head_write(sq, error);
    finish_leases(edit);
    close_notes(edit);
    hf_sqlite_wake_all(edit);
    return HF_ERR_OK;
}

void hf_sqlite_edit_abort(struct hf_sqlite_edit *edit)
{
    hf_sqlite_wake_drop(edit);
    hf_sqlite_rollback(edit->sq);
}
