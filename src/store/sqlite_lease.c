/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_lease.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_edit.h"
#include "store/sqlite_gate.h"
#include "store/sqlite_rebuild.h"

/* How a request ends: what else is to be told is in the request by then. */
struct end {
    enum hf_outcome outcome;
    enum hf_refusal refusal;
};

static const struct end done = {HF_OUTCOME_COMMITTED, HF_REFUSED_NOT};
static const struct end failed = {HF_OUTCOME_FAILED, HF_REFUSED_NOT};
static const struct end unknown = {HF_OUTCOME_UNKNOWN, HF_REFUSED_NOT};
static const struct end no_lease = {HF_OUTCOME_REFUSED, HF_REFUSED_LEASE};
static const struct end no_store = {HF_OUTCOME_REFUSED, HF_REFUSED_IDENTITY};

/* ---- own leases ---- */

struct hf_sqlite_lease *hf_sqlite_lease_find(const struct hf_sqlite *sq,
                                             hf_lease_id lease)
{
    struct hf_sqlite_lease *one = sq->leases;

    while (one && one->id != lease)
        one = one->next;
    return one;
}

static void lease_free(struct hf_sqlite *sq, struct hf_sqlite_lease *lease)
{
    if (lease->fd >= 0)
        sq->sys->close(sq->sys, lease->fd);
    free(lease->cgroup);
    free(lease->path);
    free(lease);
}

static void forget(struct hf_sqlite *sq, struct hf_sqlite_lease *lease)
{
    struct hf_sqlite_lease **place = &sq->leases;

    while (*place != lease)
        place = &(*place)->next;
    *place = lease->next;
    lease_free(sq, lease);
}

void hf_sqlite_lease_forget_all(struct hf_sqlite *sq)
{
    while (sq->leases) {
        struct hf_sqlite_lease *lease = sq->leases;

        sq->leases = lease->next;
        lease_free(sq, lease);
    }
}

/* ---- GRANT ---- */

static struct hf_sqlite_lease *lease_new(struct hf_sqlite *sq, hf_lease_id id,
                                         int64_t ttl_ms)
{
    struct hf_sqlite_lease *lease = calloc(1, sizeof(*lease));

    if (!lease)
        return NULL;
    lease->id = id;
    lease->ttl_ms = ttl_ms;
    lease->expires = hf_time_add(sq->sys->steady(sq->sys), hf_span_ms(ttl_ms));
    lease->fd = -1;
    if (asprintf(&lease->path, "%s/s-%016llx", sq->place.run,
                 (unsigned long long)id) < 0) {
        free(lease);
        return NULL;
    }
    return lease;
}

/* The longest TTL is known to the mark, in few steps: each costs a sync. */
static int64_t ttl_step(int64_t ttl_ms)
{
    static const int64_t steps_ms[] = {60000, 600000, 3600000};

    for (size_t i = 0; i < sizeof(steps_ms) / sizeof(steps_ms[0]); i++) {
        if (ttl_ms <= steps_ms[i])
            return steps_ms[i];
    }
    return INT64_C(86400000);
}

/* Be inside the gate once: that mends what is to be mended. */
static enum hf_err visit(struct hf_sqlite *sq, int64_t ttl_ms,
                         struct hf_error *error)
{
    bool is_missing;
    enum hf_err err = hf_sqlite_enter(sq, false, &is_missing, error);

    if (err)
        return err;
    if (ttl_ms > sq->mark.ttl_max_ms) {
        struct hf_sqlite_mark mark = sq->mark;

        mark.ttl_max_ms = ttl_step(ttl_ms);
        err = hf_sqlite_mark_write(sq, &mark, error);
        sq->head.mark_sequence = sq->mark.sequence;
        if (!err)
            err = hf_sqlite_head_write(sq, error);
    }
    hf_sqlite_leave(sq);
    return err;
}

static struct end grant(struct hf_sqlite *sq, struct hf_store_request *request)
{
    struct hf_error *error = &request->error;
    struct hf_sqlite_lease *lease;
    hf_lease_id id = 0;
    enum hf_err err = HF_ERR_OK;
    int got = 0;

    if (!sq->is_attached || request->ttl_ms > sq->mark.ttl_max_ms)
        err = visit(sq, request->ttl_ms, error);
    if (err)
        return failed;
    while (!got && !id) {
        got = sq->sys->random(sq->sys, &id, sizeof(id));
        id &= INT64_MAX;
    }
    if (got) {
        hf_error_set_errno(error, HF_ERR_UNAVAILABLE, -got,
                           "get random bytes from the kernel");
        return failed;
    }
    lease = lease_new(sq, id, request->ttl_ms);
    if (!lease) {
        hf_error_set(error, HF_ERR_NOMEM, "no memory for a lease");
        return failed;
    }
    err = hf_sqlite_session_make(sq, lease, error);
    /* The session folder was removed: make it again, and all that follows. */
    if (err && !visit(sq, 0, error))
        err = hf_sqlite_session_make(sq, lease, error);
    if (err) {
        lease_free(sq, lease);
        return failed;
    }
    /* The first one: none has to be looked after here. */
    if (!sq->leases)
        sq->returned = sq->generation;
    lease->next = sq->leases;
    sq->leases = lease;
    request->lease = id;
    request->state_path = lease->path;
    request->state_fd = lease->fd;
    return done;
}

/* ---- rows ---- */

struct row {
    bool is_there;
    int64_t ttl_ms;
    struct hf_time expires;
};

static enum hf_err read_row(struct hf_sqlite *sq, hf_lease_id lease,
                            struct row *row, struct hf_error *error)
{
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key key;
    enum hf_err err;

    hf_sqlite_key_lease(&key, lease);
    err = hf_sqlite_get(sq, &key, &row->is_there, &cell, error);
    if (!err && row->is_there) {
        row->ttl_ms = (int64_t)cell.created;
        row->expires.ns = (int64_t)cell.changed;
    }
    return err;
}

/* The later one of what the row and the session file say: an older copy of the
 * database knows of no renewal since. */
static void latest(struct row *row, const struct hf_sqlite_session *session)
{
    if (session->is_whole && !session->term.ended &&
        session->term.expires > row->expires.ns)
        row->expires.ns = session->term.expires;
}

/* Whose session file went with the former boot is dead: who comes first to use
 * the store under this one ends them all, and a handle that only reads cannot.
 */
static void prove(struct hf_sqlite *sq, hf_lease_id lease,
                  struct hf_sqlite_session *session)
{
    hf_sqlite_session_prove(sq, lease, session);
    if (!session->is_there && sq->read_only && sq->meta_is_there &&
        memcmp(sq->meta.boot, sq->boot, sizeof(sq->boot)) != 0 &&
        !hf_sqlite_rebuild_any_lives(sq))
        session->proof = HF_PROOF_DEAD;
}

enum hf_err hf_sqlite_lease_is_over(struct hf_sqlite *sq, hf_lease_id lease,
                                    struct hf_time now, bool *is_over,
                                    struct hf_error *error)
{
    struct hf_sqlite_session session;
    struct row row;
    enum hf_err err = read_row(sq, lease, &row, error);

    *is_over = !row.is_there;
    if (err || *is_over)
        return err;
    prove(sq, lease, &session);
    latest(&row, &session);
    *is_over =
        hf_time_reached(row.expires, now) || session.proof == HF_PROOF_DEAD;
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_lease_was_ended(struct hf_sqlite *sq,
                                      const struct hf_sqlite_lease *lease,
                                      bool *was_ended, struct hf_error *error)
{
    struct hf_sqlite_session session;

    hf_sqlite_session_read(sq, lease->fd, &session);
    *was_ended = session.is_whole && session.term.ended;
    if (*was_ended)
        return HF_ERR_OK;
    /* The file may have been removed before: then history tells. */
    return hf_sqlite_history_ended(sq, lease->id, was_ended, error);
}

/* ---- a lease whose session file is gone ---- */

/* The note of a new file: what the database says of the lease. */
static enum hf_err note_from_rows(struct hf_sqlite *sq,
                                  struct hf_sqlite_lease *lease,
                                  struct hf_error *error)
{
    struct hf_store_request arena = {.kind = HF_STORE_TXN};
    struct hf_sqlite_note note = {.size = 0};
    struct hf_bytes none = {NULL, 0};
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key key;
    enum hf_err err;
    bool found = true;
    off_t undo;

    hf_sqlite_key_attached(&key, lease->id, none);
    err = hf_sqlite_walk(sq, &key, error);
    while (!err) {
        struct hf_bytes name;
        struct hf_sqlite_noted noted;
        struct hf_sqlite_key record;

        err = hf_sqlite_walk_next(sq, &found, &cell, error);
        if (err || !found)
            break;
        name = (struct hf_bytes){(const char *)cell.key + key.size,
                                 cell.key_size - key.size};
        noted = (struct hf_sqlite_noted){.key = name};
        hf_sqlite_key_record(&record, name);
        err = hf_sqlite_get(sq, &record, &found, &cell, error);
        if (err || !found)
            continue;
        noted.value = (struct hf_bytes){cell.value, cell.value_size};
        noted.created = cell.created;
        noted.changed = cell.changed;
        if (!hf_sqlite_note_add(&arena, &note, false, &noted))
            err = hf_error_set(error, HF_ERR_NOMEM, "no memory for a note");
    }
    hf_sqlite_walk_end(sq);
    if (!err && note.size)
        err = hf_sqlite_note_append(sq, lease->fd, lease, &note, &undo, error);
    hf_store_request_clear(&arena);
    return err;
}

static enum hf_err find_again(struct hf_sqlite *sq,
                              struct hf_sqlite_lease *lease,
                              struct hf_error *error)
{
    enum hf_err err;

    if (!hf_sqlite_session_is_lost(sq, lease))
        return HF_ERR_OK;
    err = hf_sqlite_session_make(sq, lease, error);
    return err ? err : note_from_rows(sq, lease, error);
}

/* ---- RENEW ---- */

static enum hf_err write_term(struct hf_sqlite *sq, hf_lease_id id,
                              const struct hf_sqlite_lease *own,
                              const struct row *row, struct hf_error *error)
{
    enum hf_err err = HF_ERR_OK;
    int fd = own ? own->fd : -1;
    int got = 0;

    if (!own)
        err = hf_sqlite_session_open(sq, id, &fd, error);
    if (err || fd < 0)
        return err;
    got = hf_sqlite_session_renew(sq, fd, row->ttl_ms, row->expires);
    if (!own)
        sq->sys->close(sq->sys, fd);
    if (got)
        return hf_sqlite_place_error(error, -got, "write a session file in",
                                     sq->place.run, "");
    return HF_ERR_OK;
}

/* Nobody but us knows of it: no gate is needed. False: do it the long way. */
static bool renew_quietly(struct hf_sqlite *sq, struct hf_sqlite_lease *own)
{
    struct hf_time expires =
        hf_time_add(sq->sys->steady(sq->sys), hf_span_ms(own->ttl_ms));

    if (!sq->is_attached || hf_sqlite_session_is_lost(sq, own) ||
        hf_sqlite_session_renew(sq, own->fd, own->ttl_ms, expires))
        return false;
    own->expires = expires;
    return true;
}

/* The row first in its file, then in the database: should only one of them be
 * written, the later expiry counts. */
static struct end renew_row(struct hf_sqlite *sq,
                            struct hf_store_request *request,
                            struct hf_sqlite_lease *own, struct row *row)
{
    struct hf_error *error = &request->error;
    enum hf_err err;

    row->expires =
        hf_time_add(sq->sys->steady(sq->sys), hf_span_ms(row->ttl_ms));
    err = own ? find_again(sq, own, error) : HF_ERR_OK;
    if (!err)
        err = write_term(sq, request->lease, own, row, error);
    if (!err)
        err = hf_sqlite_edit_lease_row(sq, request->lease, row->ttl_ms,
                                       row->expires, error);
    if (err)
        return failed;
    if (hf_sqlite_commit(sq, error) || !hf_sqlite_is_in_place(sq))
        return unknown;
    if (own)
        own->expires = row->expires;
    /* All files of a store in use stay young. */
    (void)hf_sqlite_head_write(sq, error);
    hf_sqlite_mark_touch(sq);
    return done;
}

static struct end renew(struct hf_sqlite *sq, struct hf_store_request *request,
                        struct hf_sqlite_lease *own)
{
    struct hf_error *error = &request->error;
    bool was_ended = !own;
    struct row row;

    if (read_row(sq, request->lease, &row, error))
        return failed;
    if (row.is_there) {
        request->ttl_ms = row.ttl_ms;
        return renew_row(sq, request, own, &row);
    }
    if (own && own->has_row &&
        hf_sqlite_lease_was_ended(sq, own, &was_ended, error))
        return failed;
    if (was_ended)
        return no_lease;
    own->has_row = false;
    if (find_again(sq, own, error))
        return failed;
    row = (struct row){true, own->ttl_ms, own->expires};
    row.expires =
        hf_time_add(sq->sys->steady(sq->sys), hf_span_ms(own->ttl_ms));
    if (write_term(sq, own->id, own, &row, error))
        return failed;
    own->expires = row.expires;
    request->ttl_ms = own->ttl_ms;
    return done;
}

/* ---- REVOKE, SHOW, PHASE ---- */

static enum hf_err remove_row(struct hf_sqlite *sq,
                              struct hf_store_request *request, bool is_lean,
                              bool *is_unknown)
{
    struct hf_sqlite_edit edit;
    enum hf_err err;

    hf_sqlite_edit_begin(&edit, sq, request);
    edit.is_lean = is_lean;
    err = hf_sqlite_edit_revision(&edit, &request->error);
    if (!err)
        err =
            hf_sqlite_edit_remove_lease(&edit, request->lease, &request->error);
    if (!err)
        return hf_sqlite_edit_commit(&edit, is_unknown, &request->error);
    hf_sqlite_edit_abort(&edit);
    return err;
}

static struct end revoke(struct hf_sqlite *sq, struct hf_store_request *request,
                         struct hf_sqlite_lease *own)
{
    struct hf_error *error = &request->error;
    bool was_ended = !own;
    bool is_unknown = false;
    struct row row;
    enum hf_err err;

    if (read_row(sq, request->lease, &row, error))
        return failed;
    if (row.is_there) {
        err = remove_row(sq, request, false, &is_unknown);
        /* Without room for history it goes without. */
        if (err == HF_ERR_NOSPACE && !is_unknown &&
            !hf_sqlite_begin(sq, true, error))
            err = remove_row(sq, request, true, &is_unknown);
        if (err)
            return is_unknown ? unknown : failed;
        if (own)
            forget(sq, own);
        return done;
    }
    if (own && own->has_row &&
        hf_sqlite_lease_was_ended(sq, own, &was_ended, error))
        return failed;
    if (own) {
        hf_sqlite_session_end(sq, own->id);
        forget(sq, own);
    }
    return was_ended ? no_lease : done;
}

/* Without keys nobody else knows of it. */
static void revoke_quietly(struct hf_sqlite *sq, struct hf_sqlite_lease *own)
{
    char name[HF_SQLITE_SESSION_NAME];

    hf_sqlite_session_name(own->id, name);
    if (sq->run_fd >= 0)
        (void)sq->sys->unlink(sq->sys, sq->run_fd, name);
    forget(sq, own);
}

static struct end show(struct hf_sqlite *sq, struct hf_store_request *request,
                       struct hf_sqlite_lease *own)
{
    struct hf_sqlite_session session;
    bool was_ended = !own;
    struct row row;

    if (read_row(sq, request->lease, &row, &request->error))
        return failed;
    if (!row.is_there && own && own->has_row &&
        hf_sqlite_lease_was_ended(sq, own, &was_ended, &request->error))
        return failed;
    if (!row.is_there && was_ended)
        return no_lease;
    if (!row.is_there)
        row = (struct row){true, own->ttl_ms, own->expires};
    prove(sq, request->lease, &session);
    latest(&row, &session);
    request->ttl_ms = row.ttl_ms;
    request->remaining_ms =
        hf_span_to_ms_up(hf_time_since(row.expires, sq->sys->steady(sq->sys)));
    request->proof = session.proof;
    request->phase = HF_PHASE_NOTHING_STARTED;
    request->left = (struct hf_lease_left){.status = 0};
    if (session.is_whole) {
        request->phase = (enum hf_lease_phase)session.head.phase;
        request->left = (struct hf_lease_left){
            .wall_ms = session.head.left_wall_ms,
            .status = (int32_t)session.head.left_status,
        };
    }
    return done;
}

static struct end phase(struct hf_sqlite *sq, struct hf_store_request *request,
                        struct hf_sqlite_lease *own)
{
    char *cgroup = NULL;

    if (!own)
        return no_lease;
    if (request->cgroup && request->phase == HF_PHASE_STARTED) {
        cgroup = strdup(request->cgroup);
        if (!cgroup) {
            hf_error_set(&request->error, HF_ERR_NOMEM,
                         "no memory for a lease");
            return failed;
        }
    }
    if (request->phase != HF_PHASE_LEFT) {
        free(own->cgroup);
        own->cgroup = cgroup;
    }
    own->phase = request->phase;
    own->left = request->left;
    return hf_sqlite_session_phase(sq, own, &request->error) ? failed : done;
}

/* ---- the door ---- */

static struct end submit_once(struct hf_sqlite *sq,
                              struct hf_store_request *request)
{
    bool writing = request->kind == HF_STORE_LEASE_RENEW ||
                   request->kind == HF_STORE_LEASE_REVOKE;
    bool is_missing;
    struct hf_sqlite_lease *own;
    struct end end = failed;

    if (hf_sqlite_enter(sq, writing, &is_missing, &request->error))
        return failed;
    if (is_missing)
        return no_lease;
    /* Only now: what was mended may have ended it. */
    own = hf_sqlite_lease_find(sq, request->lease);
    if (!hf_sqlite_is_expected(sq, request))
        end = no_store;
    else if (request->kind == HF_STORE_LEASE_RENEW)
        end = renew(sq, request, own);
    else if (request->kind == HF_STORE_LEASE_REVOKE)
        end = revoke(sq, request, own);
    else
        end = show(sq, request, own);
    hf_sqlite_leave(sq);
    return end;
}

static struct end submit_inside(struct hf_sqlite *sq,
                                struct hf_store_request *request)
{
    struct end end = submit_once(sq, request);

    /* A damaged file is set aside by whoever enters next: that is us. */
    if (sq->is_damaged && !sq->read_only && end.outcome == HF_OUTCOME_FAILED)
        end = submit_once(sq, request);
    return end;
}

static struct end submit(struct hf_sqlite *sq, struct hf_store_request *request)
{
    struct hf_sqlite_lease *own = hf_sqlite_lease_find(sq, request->lease);
    bool is_quiet = own && !own->has_row && sq->is_attached;

    switch (request->kind) {
    case HF_STORE_LEASE_GRANT:
        if (sq->is_attached && !hf_sqlite_is_expected(sq, request))
            return no_store;
        return grant(sq, request);
    case HF_STORE_LEASE_PHASE:
        if (sq->is_attached && !hf_sqlite_is_expected(sq, request))
            return no_store;
        return phase(sq, request, own);
    case HF_STORE_LEASE_RENEW:
        if (is_quiet && hf_sqlite_is_expected(sq, request) &&
            renew_quietly(sq, own)) {
            request->ttl_ms = own->ttl_ms;
            return done;
        }
        break;
    case HF_STORE_LEASE_REVOKE:
        if (is_quiet && hf_sqlite_is_expected(sq, request)) {
            revoke_quietly(sq, own);
            return done;
        }
        break;
    case HF_STORE_LEASE_SHOW:
    case HF_STORE_TXN:
    case HF_STORE_WATCH:
        break;
    }
    return submit_inside(sq, request);
}

void hf_sqlite_lease_submit(struct hf_sqlite *sq,
                            struct hf_store_request *request)
{
    bool changes = request->kind != HF_STORE_LEASE_SHOW;
    struct end end = failed;

    if (sq->read_only && changes)
        hf_error_set(&request->error, HF_ERR_DENIED,
                     "%s was opened to be looked at", sq->place.path);
    else
        end = submit(sq, request);
    request->refusal = end.refusal;
    hf_sqlite_answer(sq, request, end.outcome);
}

/* ---- back after a repair ---- */

/* Put back those keys of a note that nobody has now. */
static enum hf_err restore_keys(struct hf_sqlite_edit *edit,
                                struct hf_sqlite_lease *lease,
                                const struct hf_sqlite_noted *keys,
                                size_t count, size_t *restored,
                                struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;

    *restored = 0;
    for (size_t i = 0; i < count; i++) {
        struct hf_sqlite_cell cell;
        struct hf_sqlite_key key;
        enum hf_err err;
        bool found;

        hf_sqlite_key_record(&key, keys[i].key);
        err = hf_sqlite_get(sq, &key, &found, &cell, error);
        if (!err && !found) {
            (*restored)++;
            err = hf_sqlite_edit_restore(edit, lease->id, &keys[i], error);
        }
        if (err)
            return err;
    }
    if (!*restored)
        return HF_ERR_OK;
    sq->meta.leases++;
    return hf_sqlite_edit_lease_row(sq, lease->id, lease->ttl_ms,
                                    lease->expires, error);
}

static enum hf_err return_lease(struct hf_sqlite_edit *edit,
                                struct hf_sqlite_lease *lease,
                                struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    struct hf_sqlite_noted *keys;
    bool was_ended = false;
    struct row row;
    size_t restored = 0;
    size_t count = 0;
    enum hf_err err = read_row(sq, lease->id, &row, error);

    if (!err && !row.is_there && lease->has_row)
        err = hf_sqlite_lease_was_ended(sq, lease, &was_ended, error);
    if (err || was_ended)
        return err;
    /* Read before the file is made again, for that takes its place. */
    if (!row.is_there && lease->has_row)
        err = hf_sqlite_note_read(sq, lease->fd, edit->arena, &keys, &count,
                                  error);
    if (!err && count)
        err = restore_keys(edit, lease, keys, count, &restored, error);
    if (!err && restored)
        edit->written = edit->revision;
    if (!err && !row.is_there)
        lease->has_row = restored > 0;
    return err ? err : find_again(sq, lease, error);
}

enum hf_err hf_sqlite_lease_return(struct hf_sqlite *sq, struct hf_error *error)
{
    struct hf_store_request arena = {.kind = HF_STORE_TXN};
    struct hf_sqlite_edit edit;
    bool is_unknown;
    enum hf_err err = hf_sqlite_begin(sq, true, error);

    hf_sqlite_edit_begin(&edit, sq, &arena);
    if (!err)
        err = hf_sqlite_edit_revision(&edit, error);
    for (struct hf_sqlite_lease *lease = sq->leases; !err && lease;
         lease = lease->next)
        err = return_lease(&edit, lease, error);
    if (!err && hf_sqlite_edit_has_changes(&edit)) {
        /* No history tells of it: who watches reads afresh. */
        edit.is_lean = true;
        err = hf_sqlite_edit_commit(&edit, &is_unknown, error);
    } else {
        hf_sqlite_edit_abort(&edit);
    }
    hf_store_request_clear(&arena);
    return err;
}
