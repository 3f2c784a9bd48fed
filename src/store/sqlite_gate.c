/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_gate.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "store/sqlite_lease.h"
#include "store/sqlite_recover.h"
#include "store/sqlite_table.h"
#include "store/sqlite_wake.h"
#include "store/sqlite_watch.h"

/* How often the store may change under us before we give up. */
enum { TRIES_MAX = 12 };

/* ---- locks ---- */

/* The nth word of a line, from 0, where it begins; "" when there is none. */
static const char *word_at(const char *line, int place)
{
    for (; place > 0; place--) {
        line += strcspn(line, " \n");
        line += strspn(line, " ");
    }
    return line;
}

/* The process that has a flock on that file, as /proc/locks tells; 0: unknown.
 */
static long find_holder(ino_t ino)
{
    char line[256];
    FILE *locks = fopen("/proc/locks", "re");
    long holder = 0;

    if (!locks)
        return 0;
    while (!holder && fgets(line, sizeof(line), locks)) {
        /* "N: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE START END" */
        const char *pid = word_at(line, 4);
        const char *inode = strrchr(word_at(line, 5), ':');

        if (!strncmp(word_at(line, 1), "FLOCK ", 6) && inode &&
            strtoull(inode + 1, NULL, 10) == ino)
            holder = strtol(pid, NULL, 10);
    }
    fclose(locks);
    /* Who took it may have ended, and left it to a child. */
    if (holder <= 0 || (kill((pid_t)holder, 0) && errno == ESRCH))
        return 0;
    return holder;
}

struct hf_span hf_sqlite_stand_limit(const struct hf_sqlite *sq)
{
    struct hf_span limit = sq->gate_limit;
    struct hf_span left;

    if (!sq->stand_until.ns)
        return limit;
    left = hf_time_since(sq->stand_until, sq->sys->steady(sq->sys));
    if (left.ns >= limit.ns)
        return limit;
    return left.ns > 0 ? left : hf_span_ms(0);
}

/*
 * To learn who has it the kernel lists all locks, and keeps everybody from
 * taking any meanwhile: not for a wait that was short by its own wish.
 */
static enum hf_err not_had(const struct hf_sqlite *sq, ino_t ino,
                           struct hf_span limit, struct hf_error *error)
{
    struct hf_duration_text time =
        hf_duration_print(hf_span_ms(hf_span_to_ms_up(limit)));
    long holder = sq->stand_until.ns ? 0 : find_holder(ino);
    char who[48] = "another process";

    if (holder)
        snprintf(who, sizeof(who), "process %ld", holder);
    return hf_error_set(error, HF_ERR_UNAVAILABLE,
                        "%s: its lock could not be had within %s; %s has it "
                        "now: if that one is stopped, continue or end it",
                        sq->place.path, time.text, who);
}

static enum hf_err lock_file(struct hf_sqlite *sq, int fd, ino_t ino,
                             struct hf_error *error)
{
    struct hf_span limit = hf_sqlite_stand_limit(sq);
    int got = sq->sys->lock(
        sq->sys, fd, sq->read_only ? HF_LOCK_SHARED : HF_LOCK_EXCLUSIVE, limit);

    if (got == -ETIMEDOUT)
        return not_had(sq, ino, limit, error);
    if (got)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, -got,
                                  "lock %s: this file system's locks do not "
                                  "work; name another path with --store",
                                  sq->place.path);
    return HF_ERR_OK;
}

static enum hf_err lock_gate(struct hf_sqlite *sq, struct hf_error *error)
{
    enum hf_err err = lock_file(sq, sq->gate_fd, sq->gate_ino, error);

    sq->is_locked = !err;
    return err;
}

/*
 * The second half of the gate. Somebody may put another file into the
 * database's place while one of us writes the old one: both would be inside, by
 * two locks, and the slower one would write over what the other one wrote into
 * the head. Always taken after the database's own lock.
 */
static enum hf_err lock_head(struct hf_sqlite *sq, struct hf_error *error)
{
    enum hf_err err = lock_file(sq, sq->head_fd, sq->head_ino, error);

    sq->head_is_locked = !err;
    return err;
}

/*
 * Do the locks exclude? While we have the gate, a second open of the file must
 * not get it. Before SQLite uses the file: closing any descriptor of it drops
 * the locks that it has in this process.
 */
static enum hf_err try_locks(struct hf_sqlite *sq, struct hf_error *error)
{
    struct hf_sys *sys = sq->sys;
    int flags = (sq->read_only ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_NONBLOCK;
    int fd = sys->open(sys, sq->folder_fd, sq->place.name, flags, 0);
    int got;

    if (fd < 0)
        return hf_sqlite_place_error(error, -fd, "open", sq->place.path, "");
    got = sys->try_lock(sys, fd, HF_LOCK_EXCLUSIVE);
    sys->close(sys, fd);
    sq->are_locks_tried = got == -EWOULDBLOCK;
    if (sq->are_locks_tried)
        return HF_ERR_OK;
    if (got)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, -got,
                                  "lock %s: this file system's locks do not "
                                  "work; name another path with --store",
                                  sq->place.path);
    return hf_error_set(error, HF_ERR_UNAVAILABLE,
                        "%s: its locks do not exclude (two opens of the file "
                        "both got the lock): name a path on a local disk with "
                        "--store",
                        sq->place.path);
}

/* ---- attach ---- */

static void close_fd(struct hf_sqlite *sq, int *fd)
{
    if (*fd >= 0)
        sq->sys->close(sq->sys, *fd);
    *fd = -1;
}

void hf_sqlite_detach(struct hf_sqlite *sq)
{
    /* SQLite first: its files are these descriptors. */
    hf_sqlite_rollback(sq);
    hf_sqlite_disconnect(sq);
    hf_sqlite_wake_close(sq);
    hf_sqlite_watch_unregistered(sq);
    close_fd(sq, &sq->gate_fd);
    close_fd(sq, &sq->journal_fd);
    close_fd(sq, &sq->head_fd);
    close_fd(sq, &sq->run_fd);
    close_fd(sq, &sq->folder_fd);
    sq->is_attached = sq->are_locks_tried = false;
    sq->is_locked = sq->head_is_locked = sq->stays = false;
    /* Whatever we find next, our leases must be looked after there. */
    sq->generation = sq->returned = 0;
}

bool hf_sqlite_is_in_place(struct hf_sqlite *sq)
{
    struct stat about;

    return !sq->sys->lstat(sq->sys, AT_FDCWD, sq->place.path, &about) &&
           about.st_ino == sq->gate_ino && about.st_dev == sq->gate_dev;
}

static enum hf_err open_gate(struct hf_sqlite *sq, enum hf_sqlite_open_how how,
                             bool *is_missing, struct hf_error *error)
{
    struct stat about;
    enum hf_err err = HF_ERR_OK;

    if (!sq->place.is_default)
        err = hf_sqlite_place_way(sq, error);
    if (!err)
        err = hf_sqlite_place_folder(sq, is_missing, error);
    if (err || *is_missing)
        return err;
    err =
        hf_sqlite_place_open(sq, sq->folder_fd, sq->place.folder,
                             sq->place.name, how, &sq->gate_fd, &about, error);
    if (err)
        return err;
    *is_missing = sq->gate_fd < 0;
    if (*is_missing)
        return HF_ERR_OK;
    sq->gate_dev = about.st_dev;
    sq->gate_ino = about.st_ino;
    return hf_sqlite_place_fs(sq, sq->gate_fd, sq->place.path, error);
}

static bool head_is_in_place(struct hf_sqlite *sq)
{
    struct stat about;

    return !sq->sys->lstat(sq->sys, AT_FDCWD, sq->place.head, &about) &&
           about.st_ino == sq->head_ino;
}

/* head_fd is -1 afterwards when nobody has made one. */
static enum hf_err open_head(struct hf_sqlite *sq, enum hf_sqlite_open_how how,
                             struct hf_error *error)
{
    struct stat about;
    bool is_missing;
    enum hf_err err = hf_sqlite_place_run(sq, how != HF_SQLITE_OPEN_IF_THERE,
                                          &is_missing, error);

    if (err || is_missing)
        return err;
    err = hf_sqlite_place_open(sq, sq->run_fd, sq->place.run, "head", how,
                               &sq->head_fd, &about, error);
    if (err || sq->head_fd < 0)
        return err;
    sq->head_ino = about.st_ino;
    /* Of the database's own file system we know already. */
    if (about.st_dev == sq->gate_dev)
        return HF_ERR_OK;
    return hf_sqlite_place_fs(sq, sq->run_fd, sq->place.run, error);
}

static enum hf_err read_head(struct hf_sqlite *sq, struct hf_error *error)
{
    enum hf_err err = HF_ERR_OK;

    sq->head_found = HF_SQLITE_MISSING;
    if (sq->head_fd >= 0)
        err = hf_sqlite_head_read(sq, error);
    sq->generation =
        sq->head_found == HF_SQLITE_FOUND ? sq->head.generation : 0;
    return err;
}

/* What mark and head say, and of which boot we are. */
static enum hf_err read_witnesses(struct hf_sqlite *sq, struct hf_error *error)
{
    int got = sq->sys->boot_id(sq->sys, sq->boot);
    enum hf_err err;

    if (got)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, -got,
                                  "read this kernel's boot id");
    err = hf_sqlite_mark_read(sq, error);
    return err ? err : read_head(sq, error);
}

/* What a database of ours begins with: SQLite's magic number and, at 68, the
 * application id that the schema sets (sqlite_table.c). */
enum { BEGIN_SIZE = 72, NEW_SIZE_MAX = 65536 };
static bool is_ours(const uint8_t *bytes, size_t size)
{
    static const char magic[16] = "SQLite format 3";

    /* A power cut may leave no more of one that was being made. */
    if (size < BEGIN_SIZE)
        return !memcmp(bytes, magic, size < 16 ? size : 16);
    return !memcmp(bytes, magic, 16) && !memcmp(bytes + 68, "HFLD", 4);
}

/* Or none of its pages. */
static bool is_empty_begin(struct hf_sqlite *sq, const uint8_t *bytes,
                           size_t size)
{
    struct stat about;

    for (size_t i = 0; i < size; i++) {
        if (bytes[i])
            return false;
    }
    return !sq->sys->fstat(sq->sys, sq->gate_fd, &about) &&
           about.st_size <= NEW_SIZE_MAX;
}

/*
 * A path that was mistaken for a store's must not cost what lies there: a file
 * that does not begin like a database of ours, with nothing beside it that one
 * leaves, is nothing to be set aside and made anew; nor is a mark to be written
 * over a file of that name that is none, where there is no database.
 */
static enum hf_err refuse_strange(struct hf_sqlite *sq, struct hf_error *error)
{
    uint8_t begin[BEGIN_SIZE];
    struct stat about;
    ssize_t got = sq->sys->pread(sq->sys, sq->gate_fd, begin, BEGIN_SIZE, 0);
    enum hf_err err;

    if ((got > 0 && (is_ours(begin, (size_t)got) ||
                     is_empty_begin(sq, begin, (size_t)got))) ||
        !sq->sys->lstat(sq->sys, AT_FDCWD, sq->place.run, &about))
        return HF_ERR_OK;
    /* For this alone: what it says is read once the head is locked, too. */
    err = hf_sqlite_mark_read(sq, error);
    if (err || sq->mark_found == HF_SQLITE_FOUND ||
        (got == 0 && sq->mark_found != HF_SQLITE_STRANGE))
        return err;
    return hf_error_set(
        error, HF_ERR_UNAVAILABLE,
        got ? "%s is not a store of Holdfast, and stays as it is"
            : "%s.mark is not of a store of Holdfast, and stays "
              "as it is: move it away",
        sq->place.path);
}

static enum hf_err attach_once(struct hf_sqlite *sq, bool *is_missing,
                               struct hf_error *error)
{
    enum hf_sqlite_open_how how =
        sq->read_only ? HF_SQLITE_OPEN_IF_THERE : HF_SQLITE_OPEN_OR_MAKE;
    enum hf_err err = open_gate(sq, how, is_missing, error);

    if (err || *is_missing)
        return err;
    err = lock_gate(sq, error);
    if (err)
        return err;
    if (!hf_sqlite_is_in_place(sq))
        return HF_ERR_OK; /* is_attached stays false: once more */
    err = try_locks(sq, error);
    if (!err)
        err = refuse_strange(sq, error);
    if (!err)
        err = open_head(sq, how, error);
    if (!err && sq->head_fd >= 0)
        err = lock_head(sq, error);
    if (err || (sq->head_fd >= 0 && !head_is_in_place(sq)))
        return err;
    /* It may have been put there while we waited for the head. */
    if (!hf_sqlite_is_in_place(sq))
        return HF_ERR_OK;
    err = read_witnesses(sq, error);
    sq->is_attached = !err;
    return err;
}

enum hf_err hf_sqlite_attach(struct hf_sqlite *sq, bool *is_missing,
                             struct hf_error *error)
{
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        enum hf_err err;

        *is_missing = false;
        err = attach_once(sq, is_missing, error);
        if (!err && sq->is_attached)
            return HF_ERR_OK;
        hf_sqlite_detach(sq);
        if (err || *is_missing)
            return err;
    }
    return hf_error_set(error, HF_ERR_UNAVAILABLE,
                        "%s is replaced again and again", sq->place.path);
}

bool hf_sqlite_look(struct hf_sqlite *sq)
{
    struct hf_error ignored;
    bool is_missing = false;

    sq->is_attached =
        !open_gate(sq, HF_SQLITE_OPEN_IF_THERE, &is_missing, &ignored) &&
        !is_missing && !open_head(sq, HF_SQLITE_OPEN_IF_THERE, &ignored) &&
        sq->head_fd >= 0 && !read_witnesses(sq, &ignored) &&
        hf_sqlite_witnesses_agree(sq);
    if (!sq->is_attached)
        hf_sqlite_detach(sq);
    return sq->is_attached;
}

/* ---- in and out ---- */

static bool give_back(struct hf_sqlite *sq, int fd, bool *is_locked)
{
    bool is_free = !*is_locked || !sq->sys->unlock(sq->sys, fd);

    *is_locked = false;
    return is_free;
}

void hf_sqlite_stay(struct hf_sqlite *sq)
{
    hf_assert(sq->is_locked && sq->in_txn);
    sq->stays = true;
}

void hf_sqlite_leave(struct hf_sqlite *sq)
{
    bool is_head_free;

    hf_sqlite_rollback(sq);
    sq->stays = false;
    is_head_free = give_back(sq, sq->head_fd, &sq->head_is_locked);
    /* A lock that is not given back goes with its file: kept, it would shut out
     * everybody for as long as we live. */
    if (!give_back(sq, sq->gate_fd, &sq->is_locked) || !is_head_free)
        hf_sqlite_detach(sq);
}

bool hf_sqlite_witnesses_agree(const struct hf_sqlite *sq)
{
    const struct hf_sqlite_mark *mark = &sq->mark;
    const struct hf_sqlite_head *head = &sq->head;

    return sq->mark_found == HF_SQLITE_FOUND &&
           sq->head_found == HF_SQLITE_FOUND &&
           mark->sequence == head->mark_sequence &&
           mark->epoch_min == head->epoch_min &&
           !memcmp(mark->id, head->id, sizeof(mark->id)) &&
           !memcmp(mark->census, head->census, sizeof(mark->census)) &&
           !memcmp(mark->boot, sq->boot, sizeof(sq->boot)) &&
           !memcmp(head->boot, sq->boot, sizeof(sq->boot));
}

/* Mark, head and database say the same, and no commit was cut short. */
static bool is_in_order(const struct hf_sqlite *sq)
{
    const struct hf_sqlite_meta *meta = &sq->meta;

    return sq->meta_is_there && hf_sqlite_witnesses_agree(sq) &&
           !memcmp(meta->id, sq->mark.id, sizeof(meta->id)) &&
           !memcmp(meta->boot, sq->boot, sizeof(sq->boot)) &&
           meta->epoch_min == sq->mark.epoch_min &&
           meta->revision == sq->head.revision && !sq->head.committing &&
           sq->seen <= sq->head.highest;
}

/* The gate of a handle that was attached before; false: attach anew. */
static enum hf_err take_again(struct hf_sqlite *sq, bool *is_same,
                              struct hf_error *error)
{
    struct hf_error ignored;
    enum hf_err err;

    *is_same = false;
    /* What SQLite does without looking at the file need keep nobody waiting. If
     * it fails, it does so again inside. */
    if (!sq->db)
        (void)hf_sqlite_connect(sq, &ignored);
    err = lock_gate(sq, error);
    if (err || sq->head_fd < 0)
        return err;
    err = lock_head(sq, error);
    if (err)
        return err;
    if (!hf_sqlite_is_in_place(sq) || !head_is_in_place(sq))
        return HF_ERR_OK;
    if (!sq->are_locks_tried)
        err = try_locks(sq, error);
    if (!err)
        err = hf_sqlite_head_read(sq, error);
    if (err)
        return err;
    *is_same = sq->head_found == HF_SQLITE_FOUND &&
               sq->head.generation == sq->generation;
    if (*is_same && sq->head.mark_sequence != sq->mark.sequence)
        err = hf_sqlite_mark_read(sq, error);
    return err;
}

static enum hf_err take(struct hf_sqlite *sq, bool *is_missing,
                        struct hf_error *error)
{
    bool is_same = false;
    enum hf_err err = HF_ERR_OK;

    *is_missing = false;
    if (sq->is_attached && !sq->is_locked) {
        err = take_again(sq, &is_same, error);
        if (err || !is_same)
            hf_sqlite_detach(sq);
    }
    if (!err && !sq->is_attached)
        err = hf_sqlite_attach(sq, is_missing, error);
    return err;
}

/* As it is, be it in order or not: it is only looked at. */
static enum hf_err enter_to_look(struct hf_sqlite *sq, bool *is_missing,
                                 struct hf_error *error)
{
    enum hf_err err = take(sq, is_missing, error);

    if (err || *is_missing)
        return err;
    err = hf_sqlite_journal_judge(sq, error);
    if (!err)
        err = hf_sqlite_connect(sq, error);
    if (!err)
        err = hf_sqlite_begin(sq, false, error);
    if (!err && !sq->meta_is_there)
        *is_missing = true;
    if (err || *is_missing)
        hf_sqlite_leave(sq);
    return err;
}

static enum hf_err enter_once(struct hf_sqlite *sq, bool writing, bool *is_in,
                              struct hf_error *error)
{
    bool is_missing;
    enum hf_err err = take(sq, &is_missing, error);

    *is_in = false;
    if (err)
        return err;
    if (sq->is_damaged)
        return hf_sqlite_set_aside(sq, "damaged", error);
    err = hf_sqlite_journal_judge(sq, error);
    if (!err)
        err = hf_sqlite_connect(sq, error);
    if (!err)
        err = hf_sqlite_begin(sq, writing, error);
    if (!err && is_in_order(sq)) {
        *is_in = sq->returned == sq->generation || !sq->leases;
        sq->returned = sq->generation;
        if (*is_in)
            return HF_ERR_OK;
        hf_sqlite_rollback(sq);
        return hf_sqlite_lease_return(sq, error);
    }
    hf_sqlite_rollback(sq);
    if (!err)
        err = hf_sqlite_recover(sq, error);
    /* Next time round it is set aside. */
    return sq->is_damaged ? HF_ERR_OK : err;
}

enum hf_err hf_sqlite_enter(struct hf_sqlite *sq, bool writing,
                            bool *is_missing, struct hf_error *error)
{
    *is_missing = false;
    if (sq->stays) {
        sq->stays = false;
        return HF_ERR_OK;
    }
    if (sq->read_only)
        return enter_to_look(sq, is_missing, error);
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        bool is_in;
        enum hf_err err = enter_once(sq, writing, &is_in, error);

        if (!err && is_in)
            return HF_ERR_OK;
        if (err) {
            hf_sqlite_leave(sq);
            return err;
        }
    }
    hf_sqlite_leave(sq);
    return hf_error_set(error, HF_ERR_UNAVAILABLE, "%s cannot be put in order",
                        sq->place.path);
}
