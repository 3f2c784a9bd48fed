/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/check.h"
#include "store/sqlite_gate.h"
#include "store/sqlite_lease.h"
#include "store/sqlite_store.h"
#include "store/sqlite_txn.h"
#include "store/sqlite_wake.h"
#include "store/sqlite_watch.h"

static struct hf_sqlite *sqlite_of(struct hf_store *store)
{
    return (struct hf_sqlite *)store;
}

/* ---- answers ---- */

bool hf_sqlite_is_expected(const struct hf_sqlite *sq,
                           const struct hf_store_request *request)
{
    const struct hf_store_identity *expect = &request->expect;

    return expect->epoch_min == 0 ||
           (expect->epoch_min == sq->mark.epoch_min &&
            !memcmp(expect->id, sq->mark.id, sizeof(expect->id)));
}

void hf_sqlite_answer_state(struct hf_sqlite *sq,
                            struct hf_store_request *request)
{
    uint64_t revision = sq->is_locked ? sq->meta.revision : 0;

    if (!sq->is_locked && sq->head_found == HF_SQLITE_FOUND)
        revision = sq->head.revision;
    if (revision > sq->seen)
        sq->seen = revision;
    request->revision = sq->read_only ? revision : sq->seen;
    memcpy(request->identity.id, sq->mark.id, sizeof(request->identity.id));
    request->identity.epoch_min = (uint32_t)sq->mark.epoch_min;
}

void hf_sqlite_answer(struct hf_sqlite *sq, struct hf_store_request *request,
                      enum hf_outcome outcome)
{
    request->outcome = outcome;
    if (outcome == HF_OUTCOME_COMMITTED || outcome == HF_OUTCOME_REFUSED)
        hf_sqlite_answer_state(sq, request);
    request->link = NULL;
    *sq->ready_end = request;
    sq->ready_end = &request->link;
}

void hf_sqlite_note(struct hf_sqlite *sq, const char *format, ...)
{
    size_t used = strlen(sq->notice);
    va_list args;

    if (used && used < sizeof(sq->notice) - 3)
        used += (size_t)snprintf(sq->notice + used, sizeof(sq->notice) - used,
                                 "; ");
    va_start(args, format);
    vsnprintf(sq->notice + used, sizeof(sq->notice) - used, format, args);
    va_end(args);
}

const char *hf_sqlite_notice(struct hf_store *store)
{
    struct hf_sqlite *sq = sqlite_of(store);

    if (!sq->notice[0])
        return NULL;
    memcpy(sq->told, sq->notice, sizeof(sq->told));
    sq->notice[0] = '\0';
    return sq->told;
}

/* ---- the six functions ---- */

/* An answer as it is before anything is known; the input stays. */
static void reset_answer(struct hf_store_request *request)
{
    hf_store_request_clear(request);
    request->refusal = HF_REFUSED_NOT;
    request->error.code = HF_ERR_OK;
    request->error.text[0] = '\0';
    request->revision = 0;
    request->identity = (struct hf_store_identity){.epoch_min = 0};
    request->remaining_ms = 0;
    request->proof = HF_PROOF_NONE;
    request->state_path = NULL;
    request->state_fd = -1;
    request->changes = NULL;
    request->change_count = 0;
    request->compacted = 0;
    if (request->kind != HF_STORE_TXN)
        return;
    for (size_t i = 0; request->branches && i < request->branch_count; i++) {
        request->branches[i].held = false;
        request->branches[i].results = NULL;
    }
}

static void submit(struct hf_sqlite *sq, struct hf_store_request *request,
                   struct hf_time now)
{
    if (getpid() != sq->pid) {
        hf_error_set(&request->error, HF_ERR_INTERNAL,
                     "a store is used by a process that did not open it");
        hf_sqlite_answer(sq, request, HF_OUTCOME_FAILED);
        return;
    }
    if (hf_store_request_check(request, &request->error)) {
        hf_sqlite_answer(sq, request, HF_OUTCOME_FAILED);
        return;
    }
    switch (request->kind) {
    case HF_STORE_TXN:
        hf_sqlite_txn_submit(sq, request);
        break;
    case HF_STORE_LEASE_GRANT:
    case HF_STORE_LEASE_RENEW:
    case HF_STORE_LEASE_REVOKE:
    case HF_STORE_LEASE_SHOW:
    case HF_STORE_LEASE_PHASE:
        hf_sqlite_lease_submit(sq, request);
        break;
    case HF_STORE_WATCH:
        hf_sqlite_watch_submit(sq, request, now);
        break;
    }
}

static void sqlite_submit(struct hf_store *store,
                          struct hf_store_request *request, struct hf_time now)
{
    struct hf_sqlite *sq = sqlite_of(store);

    reset_answer(request);
    sq->stand_until = request->stand_until;
    submit(sq, request, now);
    sq->stand_until = (struct hf_time){0};
}

static void sqlite_cancel(struct hf_store *store,
                          struct hf_store_request *request)
{
    struct hf_sqlite *sq = sqlite_of(store);

    if (hf_sqlite_watch_cancel(sq, request))
        return;
    for (struct hf_store_request **place = &sq->ready; *place;
         place = &(*place)->link) {
        if (*place != request)
            continue;
        *place = request->link;
        if (!*place)
            sq->ready_end = place;
        request->link = NULL;
        return;
    }
}

static struct hf_store_request *sqlite_next(struct hf_store *store,
                                            struct hf_time now)
{
    struct hf_sqlite *sq = sqlite_of(store);
    struct hf_store_request *request;

    if (!sq->ready && sq->watches && getpid() == sq->pid)
        hf_sqlite_watch_poll(sq, now);
    request = sq->ready;
    if (!request) {
        if (sq->stays)
            hf_sqlite_leave(sq);
        return NULL;
    }
    sq->ready = request->link;
    if (!sq->ready)
        sq->ready_end = &sq->ready;
    request->link = NULL;
    return request;
}

static int sqlite_fd(struct hf_store *store)
{
    return hf_sqlite_watch_fd(sqlite_of(store));
}

static struct hf_time sqlite_wake_at(struct hf_store *store)
{
    struct hf_sqlite *sq = sqlite_of(store);

    /* Answered requests are there at once. */
    if (sq->ready)
        return (struct hf_time){INT64_MIN};
    return sq->watch_at;
}

static void sqlite_close(struct hf_store *store)
{
    struct hf_sqlite *sq = sqlite_of(store);

    /* A child that inherited the handle gives back memory and descriptors,
     * and touches nothing that is its parent's. */
    if (getpid() == sq->pid)
        hf_sqlite_wake_unregister(sq);
    else if (sq->fifo_fd >= 0)
        sq->sys->close(sq->sys, sq->fifo_fd);
    hf_sqlite_watch_forget_all(sq);
    hf_sqlite_lease_forget_all(sq);
    sq->fifo_fd = -1;
    hf_sqlite_detach(sq);
    if (sq->epoll_fd >= 0)
        sq->sys->close(sq->sys, sq->epoll_fd);
    free(sq->scratch);
    free(sq->journal_buffer);
    free(sq->kept);
    hf_sqlite_place_clear(&sq->place);
    free(sq);
}

static void sqlite_end(struct hf_store *store)
{
    struct hf_sqlite *sq = sqlite_of(store);

    if (getpid() != sq->pid)
        return;
    hf_sqlite_wake_unregister(sq);
    hf_sqlite_lease_forget_all(sq);
    if (sq->is_locked)
        hf_sqlite_leave(sq);
}

static const struct hf_store_ops sqlite_ops = {
    .submit = sqlite_submit,
    .cancel = sqlite_cancel,
    .next = sqlite_next,
    .fd = sqlite_fd,
    .wake_at = sqlite_wake_at,
    .close = sqlite_close,
    .end = sqlite_end,
};

/* ---- open ---- */

static struct hf_sqlite *sqlite_new(struct hf_sys *sys,
                                    const struct hf_sqlite_options *options)
{
    struct hf_sqlite *sq = calloc(1, sizeof(*sq));

    if (!sq)
        return NULL;
    sq->store.ops = &sqlite_ops;
    sq->store.traits = (struct hf_store_traits){
        .shared_queue = true, .cheap_conflict = true, .local = true};
    sq->sys = sys;
    sq->pid = getpid();
    sq->read_only = options->read_only;
    sq->trusts = options->read_only && !options->is_strict;
    sq->gate_limit = options->gate_limit;
    sq->folder_fd = sq->gate_fd = sq->run_fd = sq->head_fd = -1;
    sq->journal_fd = sq->epoll_fd = sq->fifo_fd = -1;
    sq->ready_end = &sq->ready;
    sq->watch_at = HF_TIME_NEVER;
    return sq;
}

/*
 * Places, mark and head are looked at now; locks and the database itself by the
 * first transaction, unless one of them says that there is something to mend.
 */
static enum hf_err first_look(struct hf_sqlite *sq, struct hf_error *error)
{
    bool is_missing;
    enum hf_err err;

    if (hf_sqlite_look(sq))
        return HF_ERR_OK;
    err = hf_sqlite_attach(sq, &is_missing, error);
    if (err || is_missing)
        return err;
    if (!sq->read_only &&
        (!hf_sqlite_witnesses_agree(sq) || sq->head.committing)) {
        err = hf_sqlite_enter(sq, false, &is_missing, error);
        if (err)
            return err;
    }
    hf_sqlite_leave(sq);
    return HF_ERR_OK;
}

/* Whoever cannot have this place needs to know how to name another one. */
static void point_elsewhere(struct hf_error *error)
{
    char text[HF_ERROR_TEXT_MAX];

    if (!error || strstr(error->text, "--store"))
        return;
    snprintf(text, sizeof(text), "%s", error->text);
    hf_error_set(error, error->code, "%s (--store names another place)", text);
}

enum hf_err hf_sqlite_open(struct hf_sys *sys,
                           const struct hf_sqlite_options *options,
                           struct hf_store **store, struct hf_error *error)
{
    struct hf_sqlite *sq = sqlite_new(sys, options);
    enum hf_err err;

    if (!sq)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a store");
    err = hf_sqlite_place_find(&sq->place, options->path, geteuid(), error);
    if (!err)
        err = first_look(sq, error);
    if (err) {
        point_elsewhere(error);
        sqlite_close(&sq->store);
        return err;
    }
    *store = &sq->store;
    return HF_ERR_OK;
}
