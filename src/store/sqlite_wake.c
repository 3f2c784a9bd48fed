/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_wake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "store/sqlite_gate.h"

/* 'w' and the size of the prefix stand before it. */
enum { PREFIX_AT = 3 };

/* ---- waking ---- */

/* Is there already one that will be woken? */
static bool is_found(const struct hf_sqlite_edit *edit, const char *fifo)
{
    for (const struct hf_sqlite_wake *wake = edit->wakes; wake;
         wake = wake->next) {
        if (!strcmp(wake->fifo, fifo))
            return true;
    }
    return false;
}

struct dead {
    struct dead *next;
    struct hf_sqlite_key key;
};

/*
 * Open the FIFO of one registration. -ENXIO and -ENOENT say that nobody reads
 * it: its process is gone. Written through a second open that reads as well, so
 * that no SIGPIPE comes if the reader leaves meanwhile.
 */
static int open_fifo(struct hf_sqlite *sq, const char *fifo)
{
    struct hf_sys *sys = sq->sys;
    int flags = O_NONBLOCK | O_NOFOLLOW;
    struct stat about;
    int reader;
    int fd;

    if (sq->run_fd < 0)
        return -ENOENT;
    reader = sys->open(sys, sq->run_fd, fifo, O_WRONLY | flags, 0);
    if (reader < 0)
        return reader;
    fd = sys->open(sys, sq->run_fd, fifo, O_RDWR | flags, 0);
    sys->close(sys, reader);
    if (fd < 0)
        return fd;
    if (!sys->fstat(sys, fd, &about) && S_ISFIFO(about.st_mode))
        return fd;
    sys->close(sys, fd);
    return -ENOENT;
}

static enum hf_err look_at(struct hf_sqlite_edit *edit,
                           const struct hf_sqlite_cell *cell, size_t fifo_at,
                           struct dead **dead, struct hf_error *error)
{
    struct hf_sqlite_wake *wake = hf_store_alloc(edit->arena, sizeof(*wake));
    size_t size = cell->key_size - fifo_at;

    if (!wake)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory to wake others");
    if (size == 0 || size >= sizeof(wake->fifo))
        return HF_ERR_OK;
    memcpy(wake->fifo, cell->key + fifo_at, size);
    if (strncmp(wake->fifo, "w-", 2) != 0 || strchr(wake->fifo, '/') ||
        is_found(edit, wake->fifo))
        return HF_ERR_OK;
    wake->fd = open_fifo(edit->sq, wake->fifo);
    if (wake->fd >= 0) {
        wake->next = edit->wakes;
        edit->wakes = wake;
    } else if (wake->fd == -ENXIO || wake->fd == -ENOENT) {
        struct dead *one = hf_store_alloc(edit->arena, sizeof(*one));

        if (!one)
            return hf_error_set(error, HF_ERR_NOMEM,
                                "no memory to wake others");
        one->key.size = cell->key_size;
        memcpy(one->key.bytes, cell->key, cell->key_size);
        one->next = *dead;
        *dead = one;
        if (wake->fd == -ENXIO)
            (void)edit->sq->sys->unlink(edit->sq->sys, edit->sq->run_fd,
                                        wake->fifo);
    }
    return HF_ERR_OK;
}

/* All registrations of one prefix. */
static enum hf_err find_prefix(struct hf_sqlite_edit *edit,
                               struct hf_bytes prefix, struct dead **dead,
                               struct hf_error *error)
{
    struct hf_sqlite_cell cell;
    struct hf_sqlite_key key;
    enum hf_err err;
    bool found = true;

    hf_sqlite_key_watch(&key, prefix, "");
    err = hf_sqlite_walk(edit->sq, &key, error);
    while (!err) {
        err = hf_sqlite_walk_next(edit->sq, &found, &cell, error);
        if (err || !found)
            break;
        err = look_at(edit, &cell, key.size, dead, error);
    }
    hf_sqlite_walk_end(edit->sq);
    return err;
}

/*
 * Which prefixes of one key are watched? Registrations are ordered by the size
 * of their prefix, so that two looks for each size that occurs find them.
 */
static enum hf_err find_key(struct hf_sqlite_edit *edit, struct hf_bytes name,
                            struct dead **dead, struct hf_error *error)
{
    size_t size = 0;

    for (;;) {
        struct hf_sqlite_key from = {.size = PREFIX_AT};
        struct hf_sqlite_cell cell = {0};
        enum hf_err err;
        bool found = false;

        from.bytes[0] = HF_SQLITE_WATCH;
        from.bytes[1] = (uint8_t)(size >> 8);
        from.bytes[2] = (uint8_t)size;
        err = hf_sqlite_walk_from(edit->sq, &from, error);
        if (!err)
            err = hf_sqlite_walk_next(edit->sq, &found, &cell, error);
        if (!err && found)
            size = cell.key_size < PREFIX_AT
                       ? SIZE_MAX
                       : (size_t)(cell.key[1] << 8 | cell.key[2]);
        hf_sqlite_walk_end(edit->sq);
        if (err || !found || size > name.size)
            return err;
        err =
            find_prefix(edit, (struct hf_bytes){name.data, size}, dead, error);
        if (err)
            return err;
        size++;
    }
}

static enum hf_err delete_dead(struct hf_sqlite *sq, struct dead *dead,
                               struct hf_error *error)
{
    for (; dead; dead = dead->next) {
        enum hf_err err = hf_sqlite_delete(sq, &dead->key, error);

        if (err)
            return err;
        if (sq->meta.watches)
            sq->meta.watches--;
    }
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_wake_find(struct hf_sqlite_edit *edit,
                                struct hf_error *error)
{
    struct dead *dead = NULL;

    for (const struct hf_sqlite_changed *changed = edit->changed; changed;
         changed = changed->next) {
        enum hf_err err = find_key(edit, changed->key, &dead, error);

        if (err)
            return err;
    }
    return delete_dead(edit->sq, dead, error);
}

void hf_sqlite_wake_all(struct hf_sqlite_edit *edit)
{
    for (struct hf_sqlite_wake *wake = edit->wakes; wake; wake = wake->next) {
        ssize_t put = TEMP_FAILURE_RETRY(write(wake->fd, "", 1));

        /* A full FIFO wakes as well; all else is made good by the watcher's
         * own looking. */
        (void)put;
    }
    hf_sqlite_wake_drop(edit);
}

void hf_sqlite_wake_drop(struct hf_sqlite_edit *edit)
{
    for (struct hf_sqlite_wake *wake = edit->wakes; wake; wake = wake->next)
        edit->sq->sys->close(edit->sq->sys, wake->fd);
    edit->wakes = NULL;
}

/* ---- being woken ---- */

void hf_sqlite_wake_listen(struct hf_sqlite *sq)
{
    struct epoll_event event = {.events = EPOLLIN};

    /* Without it the net is left: a look now and then. */
    if (sq->epoll_fd >= 0 && sq->fifo_fd >= 0)
        (void)epoll_ctl(sq->epoll_fd, EPOLL_CTL_ADD, sq->fifo_fd, &event);
}

/* Whoever writes must be able to open it: mode and group like all files. */
static int open_own_fifo(struct hf_sqlite *sq)
{
    struct hf_sys *sys = sq->sys;
    struct stat about;
    /* For writing too, so that it never ends when a writer closes it. */
    int fd = sys->open(sys, sq->run_fd, sq->fifo_name,
                       O_RDWR | O_NONBLOCK | O_NOFOLLOW, 0);
    int got;

    if (fd < 0)
        return fd;
    got = sys->fstat(sys, fd, &about);
    if (!got && !S_ISFIFO(about.st_mode))
        got = -EEXIST;
    if (!got && sq->group && about.st_gid != sq->gid)
        got = sys->fchown(sys, fd, (uid_t)-1, sq->gid);
    if (!got && (about.st_mode & 07777) != (sq->group ? 0660 : 0600))
        got = sys->fchmod(sys, fd, sq->group ? 0660 : 0600);
    if (!got)
        return fd;
    sys->close(sys, fd);
    return got;
}

static enum hf_err make_fifo(struct hf_sqlite *sq, struct hf_error *error)
{
    struct hf_sys *sys = sq->sys;
    uint64_t number;
    int got;

    if (sq->fifo_fd >= 0)
        return HF_ERR_OK;
    got = sys->random(sys, &number, sizeof(number));
    if (!got) {
        snprintf(sq->fifo_name, sizeof(sq->fifo_name), "w-%016llx",
                 (unsigned long long)number);
        got = sys->mkfifo(sys, sq->run_fd, sq->fifo_name,
                          sq->group ? 0660 : 0600);
    }
    if (!got) {
        got = open_own_fifo(sq);
        if (got >= 0) {
            sq->fifo_fd = got;
            hf_sqlite_wake_listen(sq);
            return HF_ERR_OK;
        }
        (void)sys->unlink(sys, sq->run_fd, sq->fifo_name);
    }
    return hf_sqlite_place_error(error, -got, "make", sq->place.run,
                                 sq->fifo_name);
}

/*
 * Registrations of processes that died stand until a key of their prefix
 * changes, which may be never: look through all of them when there are twice
 * as many as there were live ones when we last did.
 */
static enum hf_err sweep(struct hf_sqlite *sq, struct hf_store_request *arena,
                         struct hf_error *error)
{
    struct hf_sqlite_edit edit = {.sq = sq, .arena = arena};
    struct hf_sqlite_key from = {.size = 1, .bytes = {HF_SQLITE_WATCH}};
    struct dead *dead = NULL;
    struct hf_sqlite_cell cell;
    enum hf_err err = hf_sqlite_walk_from(sq, &from, error);
    bool found = true;

    while (!err) {
        size_t fifo_at;

        err = hf_sqlite_walk_next(sq, &found, &cell, error);
        if (err || !found)
            break;
        if (cell.key_size < PREFIX_AT)
            continue;
        fifo_at = PREFIX_AT + (size_t)(cell.key[1] << 8 | cell.key[2]);
        if (fifo_at < cell.key_size)
            err = look_at(&edit, &cell, fifo_at, &dead, error);
        hf_sqlite_wake_drop(&edit);
    }
    hf_sqlite_walk_end(sq);
    if (!err)
        err = delete_dead(sq, dead, error);
    sq->meta.sweep_at = 2 * sq->meta.watches + 64;
    return err;
}

enum hf_err hf_sqlite_wake_register(struct hf_sqlite *sq,
                                    struct hf_store_request *arena,
                                    struct hf_bytes prefix, bool *added,
                                    struct hf_error *error)
{
    struct hf_sqlite_cell cell = {.value = NULL};
    struct hf_sqlite_key key;
    enum hf_err err = make_fifo(sq, error);
    bool found = false;

    *added = false;
    if (err)
        return err;
    hf_sqlite_key_watch(&key, prefix, sq->fifo_name);
    err = hf_sqlite_get(sq, &key, &found, &cell, error);
    if (err || found)
        return err;
    if (sq->meta.watches >= sq->meta.sweep_at)
        err = sweep(sq, arena, error);
    cell = (struct hf_sqlite_cell){.value = NULL};
    if (!err)
        err = hf_sqlite_put(sq, &key, &cell, error);
    sq->meta.watches++;
    if (!err)
        err = hf_sqlite_meta_put(sq, error);
    *added = !err;
    return err;
}

/* Rows of ours that nobody else will meet soon. */
static void forget_rows(struct hf_sqlite *sq)
{
    struct hf_store_request arena = {.kind = HF_STORE_TXN};
    struct hf_sqlite_key from = {.size = 1, .bytes = {HF_SQLITE_WATCH}};
    size_t length = strlen(sq->fifo_name);
    struct dead *dead = NULL;
    struct hf_sqlite_cell cell;
    struct hf_error ignored;
    bool found = true;
    bool is_missing;

    if (hf_sqlite_enter(sq, true, &is_missing, &ignored))
        return;
    if (!hf_sqlite_walk_from(sq, &from, &ignored)) {
        while (!hf_sqlite_walk_next(sq, &found, &cell, &ignored) && found) {
            struct dead *one;

            if (cell.key_size < length ||
                memcmp(cell.key + cell.key_size - length, sq->fifo_name,
                       length) != 0)
                continue;
            one = hf_store_alloc(&arena, sizeof(*one));
            if (!one)
                break;
            one->key.size = cell.key_size;
            memcpy(one->key.bytes, cell.key, cell.key_size);
            one->next = dead;
            dead = one;
        }
        hf_sqlite_walk_end(sq);
    }
    if (dead && !delete_dead(sq, dead, &ignored) &&
        !hf_sqlite_meta_put(sq, &ignored))
        (void)hf_sqlite_commit(sq, &ignored);
    hf_sqlite_leave(sq);
    hf_store_request_clear(&arena);
}

void hf_sqlite_wake_unregister(struct hf_sqlite *sq)
{
    if (sq->fifo_fd < 0)
        return;
    forget_rows(sq);
    hf_sqlite_wake_close(sq);
}

void hf_sqlite_wake_close(struct hf_sqlite *sq)
{
    if (sq->fifo_fd < 0)
        return;
    if (sq->run_fd >= 0)
        (void)sq->sys->unlink(sq->sys, sq->run_fd, sq->fifo_name);
    sq->sys->close(sq->sys, sq->fifo_fd);
    sq->fifo_fd = -1;
}

bool hf_sqlite_wake_drain(struct hf_sqlite *sq)
{
    bool is_woken = false;
    char bytes[256];
    ssize_t got;

    do {
        got = -1;
        if (sq->fifo_fd >= 0)
            got = TEMP_FAILURE_RETRY(read(sq->fifo_fd, bytes, sizeof(bytes)));
        is_woken = is_woken || got > 0;
    } while (got == (ssize_t)sizeof(bytes));
    return is_woken;
}
