/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_recover.h"

#include <string.h>

#include "store/sqlite_edit.h"
#include "store/sqlite_gate.h"
#include "store/sqlite_rebuild.h"
#include "store/sqlite_scan.h"
#include "store/sqlite_table.h"

enum {
    EPOCH_MAX = 32767, /* the token has 15 bits for it */
    /* When nothing tells how long a job may hold on without renewing. */
    TTL_UNKNOWN_MS = 600000,
    TTL_FIRST_MS = 60000
};

static const struct hf_span salvage_limit = {INT64_C(1000000000)};

/* What the witnesses say, and what is made of it. */
struct plan {
    bool mark_ok;
    bool head_ok; /* whole, of whatever boot */
    bool
        head_now; /* and of this boot and store: it tells all that was issued */
    bool db_ok;
    bool is_current;   /* the database has all that was committed */
    bool is_this_boot; /* something was issued under this kernel */
    bool is_first;     /* nothing at all was here before */
    bool jumps;        /* revisions begin above the bound */
    bool raises;       /* the epoch is raised: */
    bool is_before;    /* for the database is from before a raise */
    uint8_t id[16];
    uint8_t census[16];
    uint64_t known; /* no revision above is known of */
    uint64_t floor; /* revisions go on above */
    uint64_t epoch_min;
    int64_t ttl_max_ms;
    struct hf_sqlite_rebuilt rebuilt;
    struct hf_sqlite_scan scan;
    uint64_t salvaged;
    uint64_t ended;
};

#define FIRST_AHEAD (UINT64_C(2 * 3600) << 14)

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool is_same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, 16) == 0;
}

/* ---- a commit that was cut short ---- */

/* All agree, but for a commit that somebody was killed in. */
static bool only_cut_short(const struct hf_sqlite *sq)
{
    const struct hf_sqlite_meta *meta = &sq->meta;
    const struct hf_sqlite_head *head = &sq->head;

    return sq->meta_is_there && hf_sqlite_witnesses_agree(sq) &&
           head->committing && is_same(meta->id, sq->mark.id) &&
           is_same(meta->boot, sq->boot) &&
           meta->epoch_min == sq->mark.epoch_min &&
           (meta->revision == head->revision ||
            meta->revision == head->highest) &&
           sq->seen <= head->highest;
}

static enum hf_err finish_cut_short(struct hf_sqlite *sq,
                                    struct hf_error *error)
{
    enum hf_err err = HF_ERR_OK;

    if (sq->meta.revision != sq->head.highest)
        err = hf_sqlite_rebuild_undo(sq, sq->head.highest, error);
    if (err)
        return err;
    sq->head.revision = sq->meta.revision;
    sq->head.leases = sq->meta.leases;
    sq->head.committing = 0;
    return hf_sqlite_head_write(sq, error);
}

/* ---- what is known ---- */

/* Whose store is it? With two against one, the one was replaced. */
static void find_id(struct hf_sqlite *sq, struct plan *plan)
{
    const uint8_t *mark = sq->mark.id;
    const uint8_t *head = sq->head.id;

    if (plan->mark_ok && plan->head_now && !is_same(mark, head)) {
        if (plan->db_ok && is_same(head, sq->meta.id))
            plan->mark_ok = false;
        else
            plan->head_now = false;
    }
    if (plan->mark_ok)
        memcpy(plan->id, mark, sizeof(plan->id));
    else if (plan->head_now)
        memcpy(plan->id, head, sizeof(plan->id));
    else if (plan->db_ok)
        memcpy(plan->id, sq->meta.id, sizeof(plan->id));
    else if (plan->head_ok)
        memcpy(plan->id, head, sizeof(plan->id));
}

static void find_known(struct hf_sqlite *sq, struct plan *plan)
{
    plan->known = sq->seen;
    plan->epoch_min = 1;
    plan->ttl_max_ms = TTL_UNKNOWN_MS;
    if (plan->db_ok) {
        plan->known = max_u64(plan->known, sq->meta.revision);
        plan->epoch_min = max_u64(plan->epoch_min, sq->meta.epoch_min);
    }
    if (plan->head_ok) {
        plan->known = max_u64(plan->known, sq->head.highest);
        plan->epoch_min = max_u64(plan->epoch_min, sq->head.epoch_min);
    }
    if (plan->mark_ok) {
        plan->epoch_min = max_u64(plan->epoch_min, sq->mark.epoch_min);
        plan->ttl_max_ms = sq->mark.ttl_max_ms;
    }
}

static void look(struct hf_sqlite *sq, struct plan *plan)
{
    *plan = (struct plan){
        .mark_ok = sq->mark_found == HF_SQLITE_FOUND,
        .head_ok = sq->head_found == HF_SQLITE_FOUND,
        .db_ok = sq->meta_is_there,
    };
    plan->head_now = plan->head_ok && is_same(sq->head.boot, sq->boot) &&
                     !(plan->mark_ok && is_same(sq->mark.id, sq->head.id) &&
                       is_same(sq->mark.boot, sq->boot) &&
                       !is_same(sq->mark.census, sq->head.census));
    find_id(sq, plan);
    find_known(sq, plan);
    plan->is_this_boot = plan->head_now || sq->seen ||
                         (plan->mark_ok && is_same(sq->mark.boot, sq->boot)) ||
                         (plan->db_ok && is_same(sq->meta.boot, sq->boot));
    plan->is_current =
        plan->db_ok && sq->meta.revision >= sq->seen &&
        (!plan->head_now || sq->meta.revision >= sq->head.revision);
    /* Or only what a making left that was cut short: the mark comes last. */
    plan->is_first =
        sq->mark_found == HF_SQLITE_MISSING && !plan->known && !sq->kept_why;
}

/*
 * From where do revisions go on? With the head of this boot all that was issued
 * is known, whatever became of the database. Else the bound says what cannot
 * have been. With neither, the clock must be ahead for certain, or the epoch is
 * raised. A store that remembers nothing at all may be the successor of one
 * whose every file was deleted, and whose revisions had got ahead of the clock:
 * by the bound's hour after a boot, and by a minute for each head lost since.
 * It begins two hours ahead.
 *
 * A state from before a raise raises it again: what it has at some revision may
 * not be what was issued under that number since.
 */
static enum hf_err find_floor(struct hf_sqlite *sq, struct plan *plan,
                              struct hf_error *error)
{
    uint64_t clock = hf_sqlite_clock(sq);

    plan->floor = plan->known;
    plan->jumps =
        !(plan->head_now && plan->mark_ok && is_same(sq->mark.boot, sq->boot));
    if (plan->jumps)
        plan->floor = max_u64(plan->floor, clock);
    if (plan->is_first)
        plan->floor = clock + FIRST_AHEAD;
    /* Above all that anybody was told, so that every watch is ended. */
    if (!plan->is_current && !plan->is_first)
        plan->floor = max_u64(plan->floor, plan->known + 1);
    if (plan->jumps && plan->mark_ok)
        plan->floor = max_u64(plan->floor, sq->mark.bound);
    plan->raises = !plan->mark_ok && !plan->is_first && !plan->head_now &&
                   !(sq->sys->wall_is_trusted(sq->sys) && clock > plan->known);
    plan->is_before = plan->db_ok && sq->meta.epoch_min < plan->epoch_min &&
                      !(plan->head_now && plan->is_current);
    plan->raises = plan->raises || plan->is_before;
    if (plan->raises)
        plan->epoch_min++;
    if (plan->epoch_min > EPOCH_MAX)
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "%s has used up its epochs", sq->place.path);
    return HF_ERR_OK;
}

static enum hf_err find_random(struct hf_sqlite *sq, struct plan *plan,
                               struct hf_error *error)
{
    static const uint8_t none[16];
    int got = 0;

    if (is_same(plan->id, none))
        got = sq->sys->random(sq->sys, plan->id, sizeof(plan->id));
    if (plan->head_now)
        memcpy(plan->census, sq->head.census, sizeof(plan->census));
    else if (!got)
        got = sq->sys->random(sq->sys, plan->census, sizeof(plan->census));
    if (got)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, -got,
                                  "get random bytes from the kernel");
    return HF_ERR_OK;
}

/* ---- mark ---- */

/* Durable before anything is issued under it. */
static enum hf_err renew_mark(struct hf_sqlite *sq, const struct plan *plan,
                              struct hf_error *error)
{
    struct hf_sqlite_mark mark = {.epoch_min = plan->epoch_min,
                                  .ttl_max_ms = TTL_FIRST_MS};
    const struct hf_sqlite_mark *old = &sq->mark;

    if (plan->mark_ok) {
        mark.ttl_max_ms = old->ttl_max_ms;
        mark.bound = old->bound;
    } else if (!plan->is_first) {
        mark.ttl_max_ms = TTL_UNKNOWN_MS;
    }
    if (plan->floor >= mark.bound || plan->jumps)
        mark.bound = max_u64(mark.bound, hf_sqlite_bound(sq, plan->floor + 1));
    memcpy(mark.id, plan->id, sizeof(mark.id));
    memcpy(mark.boot, sq->boot, sizeof(mark.boot));
    memcpy(mark.census, plan->census, sizeof(mark.census));
    if (sq->mark_found == HF_SQLITE_FOUND && mark.bound == old->bound &&
        mark.epoch_min == old->epoch_min &&
        mark.ttl_max_ms == old->ttl_max_ms && is_same(mark.id, old->id) &&
        is_same(mark.boot, old->boot) && is_same(mark.census, old->census))
        return HF_ERR_OK;
    return hf_sqlite_mark_write(sq, &mark, error);
}

/* ---- database ---- */

/* Rows of leases as the session files say, the rest as it was. */
static enum hf_err rebuild(struct hf_sqlite_edit *edit, struct plan *plan,
                           struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    uint64_t newest = 0;
    enum hf_err err = HF_ERR_OK;

    if (plan->db_ok)
        err = hf_sqlite_rebuild_clear(edit, error);
    else
        err = hf_sqlite_make_tables(sq, error);
    if (!err && sq->kept && !strcmp(sq->kept_why, "damaged"))
        err = hf_sqlite_salvage(sq, sq->kept, salvage_limit, &plan->salvaged,
                                &newest, error);
    if (!err)
        err = hf_sqlite_rebuild_rows(edit, &plan->scan, &plan->rebuilt, error);
    newest = max_u64(newest, plan->rebuilt.newest);
    if (!err)
        err = hf_sqlite_history_recount(sq, error);
    sq->meta.compacted = max_u64(plan->floor, newest);
    edit->last = max_u64(edit->last, newest);
    if (plan->is_first)
        sq->meta.compacted = 0;
    return err;
}

static enum hf_err mend_rows(struct hf_sqlite_edit *edit, struct plan *plan,
                             struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;

    if (!plan->is_current)
        return rebuild(edit, plan, error);
    if (is_same(sq->meta.boot, sq->boot))
        return HF_ERR_OK;
    /* Another boot id, and yet a process lives that knew the former one: a
     * container that shows an id of its own, under the same kernel. */
    if (hf_sqlite_rebuild_any_lives(sq))
        return HF_ERR_OK;
    plan->ended = sq->meta.leases;
    return hf_sqlite_rebuild_end_all(edit, error);
}

static enum hf_err mend_database(struct hf_sqlite *sq, struct plan *plan,
                                 struct hf_error *error)
{
    struct hf_store_request arena = {.kind = HF_STORE_TXN};
    struct hf_sqlite_edit edit;
    enum hf_err err = hf_sqlite_begin(sq, true, error);

    if (err)
        return err;
    if (!plan->db_ok)
        sq->meta = (struct hf_sqlite_meta){.version = 0};
    hf_sqlite_edit_begin(&edit, sq, &arena);
    edit.last = max_u64(edit.last, plan->floor);
    err = mend_rows(&edit, plan, error);
    memcpy(sq->meta.id, plan->id, sizeof(plan->id));
    memcpy(sq->meta.boot, sq->boot, sizeof(sq->boot));
    sq->meta.epoch_min = (uint32_t)plan->epoch_min;
    sq->meta.floor = max_u64(sq->meta.floor, plan->floor);
    /* 0 in a new one: nothing was issued yet. */
    if (!plan->is_first)
        sq->meta.revision =
            max_u64(max_u64(plan->floor, edit.written), sq->meta.revision);
    if (!err)
        err = hf_sqlite_meta_put(sq, error);
    if (!err)
        err = hf_sqlite_commit(sq, error);
    if (err)
        hf_sqlite_rollback(sq);
    hf_store_request_clear(&arena);
    return err;
}

/* ---- head ---- */

/*
 * Rows are lost, and so is what would tell of the sessions that had them: until
 * the longest lease has run out nothing new is granted.
 */
static int64_t quarantine(struct hf_sqlite *sq, const struct plan *plan)
{
    bool has_all = plan->head_now && plan->rebuilt.files >= sq->head.leases;
    struct hf_time now = sq->sys->steady(sq->sys);
    int64_t ttl_ms = plan->ttl_max_ms;
    int64_t until = plan->head_now ? sq->head.quarantine_until : 0;

    if (plan->is_first || plan->is_current || has_all || !plan->is_this_boot)
        return until;
    if (plan->scan.found && plan->scan.is_complete && !plan->mark_ok)
        ttl_ms = plan->rebuilt.ttl_max_ms;
    now = hf_time_add(now, hf_span_ms(ttl_ms));
    return now.ns > until ? now.ns : until;
}

static enum hf_err renew_head(struct hf_sqlite *sq, const struct plan *plan,
                              struct hf_error *error)
{
    struct hf_sqlite_head *head = &sq->head;
    int64_t until = quarantine(sq, plan);

    /* A number that no head before this one had. */
    if (!plan->head_ok)
        head->generation = plan->floor;
    memcpy(head->id, plan->id, sizeof(head->id));
    memcpy(head->boot, sq->boot, sizeof(head->boot));
    memcpy(head->census, plan->census, sizeof(head->census));
    head->mark_sequence = sq->mark.sequence;
    head->epoch_min = plan->epoch_min;
    head->generation++;
    head->revision = sq->meta.revision;
    head->highest = max_u64(sq->meta.revision, plan->known);
    head->committing = 0;
    head->leases = sq->meta.leases;
    head->quarantine_until = until;
    sq->generation = head->generation;
    return hf_sqlite_head_write(sq, error);
}

/* Of a new store. Only with it was anything issued, so that one whose making
 * was cut short is not taken for one that was lost. */
static enum hf_err make_mark(struct hf_sqlite *sq, const struct plan *plan,
                             struct hf_error *error)
{
    enum hf_err err = renew_mark(sq, plan, error);

    sq->head.mark_sequence = sq->mark.sequence;
    return err ? err : hf_sqlite_head_write(sq, error);
}

/* ---- telling ---- */

static void tell(struct hf_sqlite *sq, const struct plan *plan)
{
    unsigned long long sessions = plan->rebuilt.sessions;
    const char *path = sq->place.path;
    const char *kept = sq->kept ? sq->kept : "another file";

    if (sq->kept_why && !strcmp(sq->kept_why, "damaged"))
        hf_sqlite_note(sq,
                       "%s was damaged: it is kept as %s; a new one has %llu "
                       "entries of its history and %llu running sessions",
                       path, kept, (unsigned long long)plan->salvaged,
                       sessions);
    else if (sq->kept_why)
        hf_sqlite_note(sq,
                       "%s belonged to another store: it is kept as %s; a new "
                       "one has %llu running sessions",
                       path, kept, sessions);
    else if (plan->db_ok && !plan->is_current)
        hf_sqlite_note(sq,
                       "%s was an older copy of itself: %llu running sessions "
                       "were put back",
                       path, sessions);
    else if (!plan->db_ok && plan->is_this_boot && !plan->is_first)
        hf_sqlite_note(sq,
                       "%s had been removed: a new one has %llu running "
                       "sessions",
                       path, sessions);
    if (plan->is_before)
        hf_sqlite_note(sq,
                       "%s is from before its epoch was raised: the epoch is "
                       "%llu now",
                       path, (unsigned long long)plan->epoch_min);
    else if (plan->raises)
        hf_sqlite_note(sq,
                       "the mark beside %s was lost and the clock cannot be "
                       "trusted: the epoch is %llu now",
                       path, (unsigned long long)plan->epoch_min);
    sq->kept_why = NULL;
}

/* Neither mark nor head nor database, or only what is left of them: do session
 * files, or open ones that were removed, tell of a store? */
static void look_at_sessions(struct hf_sqlite *sq, struct plan *plan)
{
    static const uint8_t none[16];
    uint8_t id[16];
    bool found = hf_sqlite_rebuild_find_id(sq, &plan->scan, id);

    if (found && is_same(plan->id, none))
        memcpy(plan->id, id, sizeof(id));
    if (found || plan->scan.found) {
        plan->is_first = false;
        plan->is_this_boot = true;
    }
}

/* ---- all of it ---- */

static enum hf_err mend(struct hf_sqlite *sq, struct plan *plan,
                        struct hf_error *error)
{
    enum hf_err err = HF_ERR_OK;

    if (plan->head_now && sq->head.committing &&
        sq->meta.revision < sq->head.highest)
        err = hf_sqlite_rebuild_undo(sq, sq->head.highest, error);
    if (!err && !plan->head_now && !plan->is_current) {
        hf_sqlite_scan(sq, &plan->scan);
        look_at_sessions(sq, plan);
    }
    if (!err)
        err = find_floor(sq, plan, error);
    if (!err)
        err = find_random(sq, plan, error);
    if (!err && !plan->is_first)
        err = renew_mark(sq, plan, error);
    if (!err)
        err = mend_database(sq, plan, error);
    if (!err)
        err = renew_head(sq, plan, error);
    hf_sqlite_scan_clear(sq, &plan->scan);
    if (!err && plan->is_first)
        err = make_mark(sq, plan, error);
    if (err)
        return err;
    hf_sqlite_rebuild_tidy(sq);
    tell(sq, plan);
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_recover(struct hf_sqlite *sq, struct hf_error *error)
{
    struct plan plan;

    if (only_cut_short(sq))
        return finish_cut_short(sq, error);
    look(sq, &plan);
    if (plan.db_ok && !is_same(plan.id, sq->meta.id))
        return hf_sqlite_set_aside(sq, "foreign", error);
    return mend(sq, &plan, error);
}
