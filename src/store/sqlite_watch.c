/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_watch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "store/sqlite_gate.h"
#include "store/sqlite_table.h"
#include "store/sqlite_wake.h"

/* Changes that one answer tells, about: it ends with a whole revision. */
enum { CHANGES_MAX = 1024 };

/* The net under the wake-ups: 0.75 to 1.25 s, so that many do not meet. */
enum { LOOK_MS = 750, LOOK_JITTER_MS = 500 };

struct hf_sqlite_watch {
    struct hf_sqlite_watch *next;
    struct hf_store_request *request;
    uint64_t scanned;    /* history was looked through up to here */
    uint64_t generation; /* of the store that it is registered in */
};

/* ---- what there is to tell ---- */

struct found_changes {
    struct hf_change *list;
    size_t count;
    size_t capacity;
};

static bool begins_with(struct hf_bytes key, struct hf_bytes prefix)
{
    return key.size >= prefix.size &&
           (!prefix.size || !memcmp(key.data, prefix.data, prefix.size));
}

static bool add(struct hf_store_request *request, struct found_changes *found,
                const struct hf_sqlite_change *change)
{
    struct hf_change *to;

    if (found->count == found->capacity) {
        size_t capacity = found->capacity ? 2 * found->capacity : 4;
        struct hf_change *list =
            hf_store_alloc(request, capacity * sizeof(*list));

        if (!list)
            return false;
        if (found->count)
            memcpy(list, found->list, found->count * sizeof(*list));
        found->list = list;
        found->capacity = capacity;
    }
    to = &found->list[found->count];
    *to = (struct hf_change){
        .is_delete = change->is_delete,
        .by_lease = change->by_lease,
        .revision = change->revision,
        .record = {.key.size = change->key.size,
                   .value.size = change->value.size,
                   .created = change->created,
                   .changed = change->changed,
                   .lease = change->lease},
    };
    to->record.key.data =
        hf_store_copy(request, change->key.data, change->key.size);
    to->record.value.data =
        hf_store_copy(request, change->value.data, change->value.size);
    found->count++;
    return to->record.key.data && to->record.value.data;
}

/* Up to where it knows, since it was told or we looked in vain. */
static uint64_t told_until(const struct hf_sqlite_watch *watch)
{
    uint64_t after = watch->request->after;

    return watch->scanned > after ? watch->scanned : after;
}

/* Into the request, all that it has not been told; *until is how far that is.
 */
static enum hf_err gather(struct hf_sqlite *sq, struct hf_sqlite_watch *watch,
                          struct found_changes *found, uint64_t *until,
                          struct hf_error *error)
{
    struct hf_store_request *request = watch->request;
    struct hf_sqlite_change change;
    enum hf_err err = hf_sqlite_history_after(sq, told_until(watch), error);
    bool more = true;

    *until = sq->meta.revision;
    while (!err) {
        err = hf_sqlite_history_next(sq, &more, &change, error);
        if (err || !more)
            break;
        if (found->count >= CHANGES_MAX &&
            change.revision != found->list[found->count - 1].revision) {
            *until = change.revision - 1;
            break;
        }
        if (begins_with(change.key, request->prefix) &&
            !add(request, found, &change))
            err = hf_error_set(error, HF_ERR_NOMEM, "no memory for changes");
    }
    hf_sqlite_history_end(sq);
    return err;
}

/* ---- looking ---- */

static void refuse(struct hf_sqlite *sq, struct hf_store_request *request,
                   enum hf_refusal refusal)
{
    request->refusal = refusal;
    request->compacted = sq->meta.compacted;
    hf_sqlite_answer(sq, request, HF_OUTCOME_REFUSED);
}

/* Nothing to tell yet: be woken when there is. */
static enum hf_err stay(struct hf_sqlite *sq, struct hf_sqlite_watch *watch,
                        struct hf_error *error)
{
    enum hf_err err;
    bool added;

    watch->scanned =
        sq->meta.revision > watch->scanned ? sq->meta.revision : watch->scanned;
    if (sq->read_only || watch->generation == sq->generation)
        return HF_ERR_OK;
    err = hf_sqlite_wake_register(sq, watch->request, watch->request->prefix,
                                  &added, error);
    if (!err && added)
        err = hf_sqlite_commit(sq, error);
    /* It is not worth a failure: the net holds. */
    if (!err)
        watch->generation = sq->generation;
    return HF_ERR_OK;
}

/* Inside the gate; true: it was answered. */
static bool look_inside(struct hf_sqlite *sq, struct hf_sqlite_watch *watch)
{
    struct hf_store_request *request = watch->request;
    struct found_changes found = {.count = 0};
    uint64_t until;

    if (!hf_sqlite_is_expected(sq, request)) {
        refuse(sq, request, HF_REFUSED_IDENTITY);
        return true;
    }
    if (told_until(watch) < sq->meta.compacted) {
        refuse(sq, request, HF_REFUSED_COMPACTED);
        return true;
    }
    if (gather(sq, watch, &found, &until, &request->error) ||
        (!found.count && stay(sq, watch, &request->error))) {
        hf_sqlite_answer(sq, request, HF_OUTCOME_FAILED);
        return true;
    }
    if (!found.count)
        return false;
    request->changes = found.list;
    request->change_count = found.count;
    hf_sqlite_answer(sq, request, HF_OUTCOME_COMMITTED);
    request->revision = until;
    return true;
}

static bool look(struct hf_sqlite *sq, struct hf_sqlite_watch *watch)
{
    bool writing = !sq->read_only &&
                   (!watch->generation || watch->generation != sq->generation);
    bool is_missing;
    bool is_answered;

    if (hf_sqlite_enter(sq, writing, &is_missing, &watch->request->error)) {
        hf_sqlite_answer(sq, watch->request, HF_OUTCOME_FAILED);
        return true;
    }
    if (is_missing)
        return false;
    is_answered = look_inside(sq, watch);
    hf_sqlite_leave(sq);
    return is_answered;
}

static void schedule(struct hf_sqlite *sq, struct hf_time now)
{
    uint16_t jitter = 0;

    sq->watch_at = HF_TIME_NEVER;
    if (!sq->watches)
        return;
    (void)sq->sys->random(sq->sys, &jitter, sizeof(jitter));
    sq->watch_at =
        hf_time_add(now, hf_span_ms(LOOK_MS + jitter % LOOK_JITTER_MS));
}

static void look_at_all(struct hf_sqlite *sq)
{
    struct hf_sqlite_watch **place = &sq->watches;

    while (*place) {
        struct hf_sqlite_watch *watch = *place;

        if (look(sq, watch)) {
            *place = watch->next;
            free(watch);
        } else {
            place = &watch->next;
        }
    }
}

void hf_sqlite_watch_submit(struct hf_sqlite *sq,
                            struct hf_store_request *request,
                            struct hf_time now)
{
    struct hf_sqlite_watch *watch = calloc(1, sizeof(*watch));

    if (!watch) {
        hf_error_set(&request->error, HF_ERR_NOMEM, "no memory for a watch");
        hf_sqlite_answer(sq, request, HF_OUTCOME_FAILED);
        return;
    }
    watch->request = request;
    /* One that is asked for often must not let the others fall behind. */
    look_at_all(sq);
    if (look(sq, watch)) {
        free(watch);
        return;
    }
    watch->next = sq->watches;
    sq->watches = watch;
    if (sq->watch_at.ns == INT64_MAX)
        schedule(sq, now);
}

bool hf_sqlite_watch_cancel(struct hf_sqlite *sq,
                            const struct hf_store_request *request)
{
    for (struct hf_sqlite_watch **place = &sq->watches; *place;
         place = &(*place)->next) {
        struct hf_sqlite_watch *watch = *place;

        /* cppcheck-suppress nullPointerRedundantCheck; the loop has seen it */
        if (watch->request != request)
            continue;
        *place = watch->next;
        free(watch);
        if (!sq->watches)
            sq->watch_at = HF_TIME_NEVER;
        return true;
    }
    return false;
}

/*
 * Has nothing been committed since we looked? The head, which is written before
 * each commit, tells that for one system call or two, without the gate.
 */
static bool is_quiet(struct hf_sqlite *sq)
{
    struct hf_error ignored;
    struct stat about;

    if (!sq->is_attached || sq->head_fd < 0 ||
        sq->sys->lstat(sq->sys, AT_FDCWD, sq->place.head, &about) ||
        about.st_ino != sq->head_ino || hf_sqlite_head_read(sq, &ignored) ||
        sq->head_found != HF_SQLITE_FOUND ||
        sq->head.generation != sq->generation)
        return false;
    for (struct hf_sqlite_watch *watch = sq->watches; watch;
         watch = watch->next) {
        if (watch->scanned < sq->head.highest ||
            (!sq->read_only && watch->generation != sq->generation))
            return false;
    }
    return true;
}

void hf_sqlite_watch_poll(struct hf_sqlite *sq, struct hf_time now)
{
    bool is_woken = hf_sqlite_wake_drain(sq);

    if (!is_woken && !hf_time_reached(sq->watch_at, now))
        return;
    if (!is_quiet(sq))
        look_at_all(sq);
    schedule(sq, now);
}

void hf_sqlite_watch_unregistered(struct hf_sqlite *sq)
{
    for (struct hf_sqlite_watch *watch = sq->watches; watch;
         watch = watch->next)
        watch->generation = 0;
}

void hf_sqlite_watch_forget_all(struct hf_sqlite *sq)
{
    while (sq->watches) {
        struct hf_sqlite_watch *watch = sq->watches;

        sq->watches = watch->next;
        free(watch);
    }
}

int hf_sqlite_watch_fd(struct hf_sqlite *sq)
{
    if (sq->epoll_fd == -1) {
        sq->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        /* Constant, also when it could not be made. */
        if (sq->epoll_fd < 0)
            sq->epoll_fd = -2;
        hf_sqlite_wake_listen(sq);
    }
    return sq->epoll_fd < 0 ? -1 : sq->epoll_fd;
}
