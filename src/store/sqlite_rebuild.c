/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_rebuild.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_gate.h"

/* ---- walking ---- */

/* An open folder of its own: the seam's descriptor is not moved. */
static DIR *list(struct hf_sqlite *sq)
{
    int fd = sq->sys->open(sq->sys, sq->run_fd, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);

    if (!folder && fd >= 0)
        sq->sys->close(sq->sys, fd);
    return folder;
}

/* The lease that a file's name tells; 0: it is no session file. */
static hf_lease_id lease_of(const char *name)
{
    char again[HF_SQLITE_SESSION_NAME];
    hf_lease_id lease;

    if (strncmp(name, "s-", 2) != 0)
        return 0;
    lease = strtoull(name + 2, NULL, 16);
    hf_sqlite_session_name(lease, again);
    return strcmp(name, again) == 0 ? lease : 0;
}

/* The next session file; 0: that was the last one. */
static hf_lease_id next_session(DIR *folder)
{
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        hf_lease_id lease = lease_of(entry->d_name);

        if (lease)
            return lease;
    }
    return 0;
}

enum hf_err hf_sqlite_rebuild_undo(struct hf_sqlite *sq, uint64_t revision,
                                   struct hf_error *error)
{
    DIR *folder = list(sq);
    hf_lease_id lease;

    if (!folder)
        return hf_sqlite_place_error(error, errno, "list", sq->place.run, "");
    while ((lease = next_session(folder))) {
        struct hf_error ignored;
        int fd;

        if (hf_sqlite_session_open(sq, lease, &fd, &ignored) || fd < 0)
            continue;
        hf_sqlite_note_undo(sq, fd, revision);
        sq->sys->close(sq->sys, fd);
    }
    closedir(folder);
    return HF_ERR_OK;
}

bool hf_sqlite_rebuild_any_lives(struct hf_sqlite *sq)
{
    DIR *folder = list(sq);
    hf_lease_id lease;
    bool lives = false;

    while (!lives && (lease = next_session(folder))) {
        struct hf_sqlite_session session;

        hf_sqlite_session_prove(sq, lease, &session);
        lives = session.proof == HF_PROOF_LIVES && session.is_whole;
    }
    if (folder)
        closedir(folder);
    return lives;
}

static bool is_of_this_boot(struct hf_sqlite *sq, int fd, uint8_t id[16])
{
    uint8_t boot[HF_BOOT_ID_SIZE];

    return hf_sqlite_session_origin(sq, fd, id, boot) &&
           !memcmp(boot, sq->boot, sizeof(boot));
}

bool hf_sqlite_rebuild_find_id(struct hf_sqlite *sq,
                               const struct hf_sqlite_scan *scan,
                               uint8_t id[16])
{
    DIR *folder = list(sq);
    hf_lease_id lease;
    bool found = false;

    while (!found && (lease = next_session(folder))) {
        struct hf_error ignored;
        int fd;

        if (hf_sqlite_session_open(sq, lease, &fd, &ignored) || fd < 0)
            continue;
        found = is_of_this_boot(sq, fd, id);
        sq->sys->close(sq->sys, fd);
    }
    if (folder)
        closedir(folder);
    for (size_t i = 0; !found && i < scan->count; i++)
        found = is_of_this_boot(sq, scan->fds[i], id);
    return found;
}

void hf_sqlite_rebuild_tidy(struct hf_sqlite *sq)
{
    DIR *folder = list(sq);
    hf_lease_id lease;

    while ((lease = next_session(folder))) {
        char name[HF_SQLITE_SESSION_NAME];
        struct hf_sqlite_session session;

        hf_sqlite_session_prove(sq, lease, &session);
        if (!session.is_there || session.proof == HF_PROOF_LIVES ||
            !memcmp(session.head.boot, sq->boot, sizeof(sq->boot)))
            continue;
        hf_sqlite_session_name(lease, name);
        (void)sq->sys->unlink(sq->sys, sq->run_fd, name);
    }
    if (folder)
        closedir(folder);
}

/* ---- rows ---- */

struct leases {
    struct leases *next;
    hf_lease_id id;
};

static enum hf_err collect(struct hf_sqlite_edit *edit, struct leases **leases,
                           struct hf_error *error)
{
    struct hf_sqlite_key from = {.size = 1, .bytes = {HF_SQLITE_LEASE}};
    struct hf_sqlite_cell cell;
    enum hf_err err = hf_sqlite_walk_from(edit->sq, &from, error);
    bool found = true;

    *leases = NULL;
    while (!err) {
        struct leases *one;

        err = hf_sqlite_walk_next(edit->sq, &found, &cell, error);
        if (err || !found)
            break;
        one = hf_store_alloc(edit->arena, sizeof(*one));
        if (!one)
            return hf_error_set(error, HF_ERR_NOMEM, "no memory for leases");
        one->id = cell.lease;
        one->next = *leases;
        *leases = one;
    }
    hf_sqlite_walk_end(edit->sq);
    return err;
}

static enum hf_err end_all(struct hf_sqlite_edit *edit, bool by_entries,
                           struct hf_error *error)
{
    struct leases *leases;
    enum hf_err err = collect(edit, &leases, error);

    for (; !err && leases; leases = leases->next) {
        if (by_entries)
            err = hf_sqlite_edit_revision(edit, error);
        if (!err)
            err = hf_sqlite_edit_remove_lease(edit, leases->id, error);
    }
    return err;
}

enum hf_err hf_sqlite_rebuild_end_all(struct hf_sqlite_edit *edit,
                                      struct hf_error *error)
{
    return end_all(edit, true, error);
}

static enum hf_err clear_watches(struct hf_sqlite *sq, struct hf_error *error)
{
    struct hf_sqlite_key from = {.size = 1, .bytes = {HF_SQLITE_WATCH}};

    for (;;) {
        struct hf_sqlite_key key;
        struct hf_sqlite_cell cell = {0};
        bool found = false;
        enum hf_err err = hf_sqlite_walk_from(sq, &from, error);

        if (!err)
            err = hf_sqlite_walk_next(sq, &found, &cell, error);
        if (!err && found) {
            key.size = cell.key_size;
            memcpy(key.bytes, cell.key, cell.key_size);
        }
        hf_sqlite_walk_end(sq);
        if (err || !found)
            return err;
        err = hf_sqlite_delete(sq, &key, error);
        if (err)
            return err;
    }
}

enum hf_err hf_sqlite_rebuild_clear(struct hf_sqlite_edit *edit,
                                    struct hf_error *error)
{
    bool was_lean = edit->is_lean;
    enum hf_err err;

    edit->is_lean = true;
    err = end_all(edit, false, error);
    edit->is_lean = was_lean;
    edit->touched = NULL;
    edit->changed = NULL;
    edit->sq->meta.leases = 0;
    edit->sq->meta.watches = 0;
    edit->sq->meta.sweep_at = 0;
    return err ? err : clear_watches(edit->sq, error);
}

/* A key of a note comes back, unless a later note or a key without lease has
 * it. */
static enum hf_err put_back(struct hf_sqlite_edit *edit, hf_lease_id lease,
                            const struct hf_sqlite_noted *key, bool *is_ours,
                            struct hf_error *error)
{
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key name;
    hf_lease_id former = 0;
    enum hf_err err;
    bool found;

    hf_sqlite_key_record(&name, key->key);
    err = hf_sqlite_get(edit->sq, &name, &found, &cell, error);
    if (err)
        return err;
    *is_ours = !found || (cell.lease && cell.changed < key->changed);
    if (!*is_ours)
        return HF_ERR_OK;
    if (found)
        former = cell.lease;
    if (former) {
        hf_sqlite_key_attached(&name, former, key->key);
        err = hf_sqlite_delete(edit->sq, &name, error);
        if (err)
            return err;
    }
    return hf_sqlite_edit_restore(edit, lease, key, error);
}

static enum hf_err rebuild_one(struct hf_sqlite_edit *edit, int fd,
                               struct hf_sqlite_rebuilt *rebuilt,
                               struct hf_error *error)
{
    struct hf_sqlite *sq = edit->sq;
    struct hf_sqlite_session session;
    struct hf_sqlite_noted *keys;
    bool has_keys = false;
    size_t count = 0;
    hf_lease_id lease;
    enum hf_err err;

    hf_sqlite_session_prove_open(sq, fd, &session);
    if (!session.is_whole || session.term.ended)
        return HF_ERR_OK;
    lease = session.head.lease;
    err = hf_sqlite_note_read(sq, fd, edit->arena, &keys, &count, error);
    if (err || !count)
        return err;
    rebuilt->files++;
    if (session.proof == HF_PROOF_DEAD || session.term.expires <= edit->now.ns)
        return HF_ERR_OK;
    if (session.term.ttl_ms > rebuilt->ttl_max_ms)
        rebuilt->ttl_max_ms = session.term.ttl_ms;
    for (size_t i = 0; !err && i < count; i++) {
        bool is_ours;

        err = put_back(edit, lease, &keys[i], &is_ours, error);
        if (keys[i].changed > rebuilt->newest)
            rebuilt->newest = keys[i].changed;
        has_keys = has_keys || is_ours;
    }
    if (err || !has_keys)
        return err;
    rebuilt->sessions++;
    sq->meta.leases++;
    return hf_sqlite_edit_lease_row(sq, lease, session.term.ttl_ms,
                                    (struct hf_time){session.term.expires},
                                    error);
}

enum hf_err hf_sqlite_rebuild_rows(struct hf_sqlite_edit *edit,
                                   const struct hf_sqlite_scan *scan,
                                   struct hf_sqlite_rebuilt *rebuilt,
                                   struct hf_error *error)
{
    DIR *folder = list(edit->sq);
    enum hf_err err = HF_ERR_OK;
    hf_lease_id lease;

    *rebuilt = (struct hf_sqlite_rebuilt){.files = 0};
    if (!folder)
        return hf_sqlite_place_error(error, errno, "list", edit->sq->place.run,
                                     "");
    while (!err && (lease = next_session(folder))) {
        int fd;

        err = hf_sqlite_session_open(edit->sq, lease, &fd, error);
        if (err || fd < 0)
            continue;
        err = rebuild_one(edit, fd, rebuilt, error);
        edit->sq->sys->close(edit->sq->sys, fd);
    }
    closedir(folder);
    for (size_t i = 0; !err && i < scan->count; i++)
        err = rebuild_one(edit, scan->fds[i], rebuilt, error);
    return err;
}
