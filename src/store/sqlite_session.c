/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/sqlite_cgroup.h"
#include "store/sqlite_place.h"

#define HEAD_MAGIC UINT64_C(0x4846534553530001)

/* Where what begins; the first bytes are the client's. */
enum {
    HEAD_AT = HF_STORE_STATE_BYTES,
    TERM_AT = HEAD_AT + 192,
    CGROUP_AT = HEAD_AT + 256,
    NOTE_AT = CGROUP_AT + HF_SQLITE_CGROUP_MAX
};

_Static_assert(sizeof(struct hf_sqlite_session_head) <= TERM_AT - HEAD_AT,
               "the head reaches into the term");
_Static_assert(sizeof(struct hf_sqlite_session_term) <= CGROUP_AT - TERM_AT,
               "the term reaches into the path");

void hf_sqlite_session_name(hf_lease_id lease,
                            char name[HF_SQLITE_SESSION_NAME])
{
    snprintf(name, HF_SQLITE_SESSION_NAME, "s-%016llx",
             (unsigned long long)lease);
}

/* ---- form ------------------------------------------------------------------
 */

static uint64_t head_sum(const struct hf_sqlite_session_head *head,
                         const char *cgroup)
{
    uint64_t sum = hf_sqlite_sum(
        head, offsetof(struct hf_sqlite_session_head, sum), HEAD_MAGIC);

    return hf_sqlite_sum(cgroup, head->cgroup_size, sum);
}

static uint64_t term_sum(const struct hf_sqlite_session_term *term)
{
    return hf_sqlite_sum(term, offsetof(struct hf_sqlite_session_term, sum),
                         HEAD_MAGIC);
}

/* What is between the client's bytes and the note, as one piece. */
struct page {
    uint8_t bytes[NOTE_AT - HEAD_AT];
};

static bool read_page(struct hf_sys *sys, int fd, struct page *page)
{
    ssize_t got;

    memset(page, 0, sizeof(*page));
    got = sys->pread(sys, fd, page->bytes, sizeof(page->bytes), HEAD_AT);
    return got >=
           TERM_AT - HEAD_AT + (ssize_t)sizeof(struct hf_sqlite_session_term);
}

static const char *page_cgroup(const struct page *page)
{
    return (const char *)page->bytes + CGROUP_AT - HEAD_AT;
}

static void parse_page(const struct page *page,
                       struct hf_sqlite_session *session)
{
    struct hf_sqlite_session_head *head = &session->head;
    struct hf_sqlite_session_term *term = &session->term;

    memcpy(head, page->bytes, sizeof(*head));
    memcpy(term, page->bytes + TERM_AT - HEAD_AT, sizeof(*term));
    session->is_whole =
        head->magic == HEAD_MAGIC && head->cgroup_size < HF_SQLITE_CGROUP_MAX &&
        head->sum == head_sum(head, page_cgroup(page)) &&
        term->sum == term_sum(term) && term->note_at >= NOTE_AT &&
        head->lease != 0 && head->phase <= HF_PHASE_GONE;
}

bool hf_sqlite_session_origin(struct hf_sqlite *sq, int fd, uint8_t id[16],
                              uint8_t boot[HF_BOOT_ID_SIZE])
{
    struct hf_sqlite_session session = {.is_there = true};
    struct page page;

    if (read_page(sq->sys, fd, &page))
        parse_page(&page, &session);
    if (!session.is_whole)
        return false;
    memcpy(id, session.head.id, sizeof(session.head.id));
    memcpy(boot, session.head.boot, sizeof(session.head.boot));
    return true;
}

/* Of this store too. */
static void parse_ours(const struct hf_sqlite *sq, const struct page *page,
                       struct hf_sqlite_session *session)
{
    parse_page(page, session);
    session->is_whole =
        session->is_whole &&
        !memcmp(session->head.id, sq->mark.id, sizeof(session->head.id));
}

void hf_sqlite_session_read(struct hf_sqlite *sq, int fd,
                            struct hf_sqlite_session *session)
{
    struct page page;

    *session = (struct hf_sqlite_session){.is_there = true};
    if (read_page(sq->sys, fd, &page))
        parse_ours(sq, &page, session);
}

/* ---- proof -------------------------------------------------------------- */

static enum hf_lease_proof prove(struct hf_sqlite *sq, int fd,
                                 struct hf_sqlite_session *session)
{
    int locked = sq->sys->try_lock(sq->sys, fd, HF_LOCK_SHARED);
    const struct hf_sqlite_session_head *head = &session->head;
    struct page page;

    /* Read behind the lock: whoever had it writes nothing any more. */
    if (read_page(sq->sys, fd, &page))
        parse_ours(sq, &page, session);
    if (locked == -EWOULDBLOCK)
        return HF_PROOF_LIVES;
    if (locked || !session->is_whole)
        return HF_PROOF_NONE;
    if (memcmp(head->boot, sq->boot, sizeof(head->boot)) != 0)
        return HF_PROOF_DEAD;
    switch ((enum hf_lease_phase)head->phase) {
    case HF_PHASE_NOTHING_STARTED:
    case HF_PHASE_GONE:
        return HF_PROOF_DEAD;
    case HF_PHASE_STARTED:
        break;
    }
    return hf_sqlite_cgroup_is_empty(sq, page_cgroup(&page), head)
               ? HF_PROOF_DEAD
               : HF_PROOF_NONE;
}

enum hf_err hf_sqlite_session_open(struct hf_sqlite *sq, hf_lease_id lease,
                                   int *fd, struct hf_error *error)
{
    char name[HF_SQLITE_SESSION_NAME];

    hf_sqlite_session_name(lease, name);
    *fd = -1;
    if (sq->run_fd < 0)
        return HF_ERR_OK;
    return hf_sqlite_place_open(sq, sq->run_fd, sq->place.run, name,
                                HF_SQLITE_OPEN_IF_THERE, fd, NULL, error);
}

void hf_sqlite_session_prove(struct hf_sqlite *sq, hf_lease_id lease,
                             struct hf_sqlite_session *session)
{
    struct hf_error ignored;
    int fd;

    *session = (struct hf_sqlite_session){.proof = HF_PROOF_NONE};
    /* One that may not be trusted proves nothing. */
    if (hf_sqlite_session_open(sq, lease, &fd, &ignored) || fd < 0)
        return;
    hf_sqlite_session_prove_open(sq, fd, session);
    sq->sys->close(sq->sys, fd);
}

void hf_sqlite_session_prove_open(struct hf_sqlite *sq, int fd,
                                  struct hf_sqlite_session *session)
{
    *session = (struct hf_sqlite_session){.is_there = true};
    session->proof = prove(sq, fd, session);
}

/* ---- making and writing ------------------------------------------------- */

/* Fill head and path of `page`; the size that is worth writing. */
static size_t fill_head(struct hf_sqlite *sq,
                        const struct hf_sqlite_lease *lease, struct page *page)
{
    struct hf_sqlite_session_head head = {
        .magic = HEAD_MAGIC,
        .lease = lease->id,
        .pid = sq->pid,
        .phase = lease->phase,
    };
    size_t size = lease->cgroup ? strlen(lease->cgroup) : 0;

    memcpy(head.id, sq->mark.id, sizeof(head.id));
    memcpy(head.boot, sq->boot, sizeof(head.boot));
    /* Too long a path is like none: no proof then. */
    if (size && size < HF_SQLITE_CGROUP_MAX) {
        head.cgroup_size = (uint32_t)size;
        hf_sqlite_cgroup_identify(sq, lease->cgroup, &head);
        memcpy(page->bytes + CGROUP_AT - HEAD_AT, lease->cgroup, size);
    }
    head.sum = head_sum(&head, page_cgroup(page));
    memcpy(page->bytes, &head, sizeof(head));
    return CGROUP_AT - HEAD_AT + (size_t)head.cgroup_size;
}

enum hf_err hf_sqlite_session_phase(struct hf_sqlite *sq,
                                    const struct hf_sqlite_lease *lease,
                                    struct hf_error *error)
{
    struct page page = {{0}};
    size_t size = fill_head(sq, lease, &page);
    ssize_t put = 0;

    /* The path first: alone it means nothing. The term is not ours to write
     * here, for others may be writing it. */
    if (size > CGROUP_AT - HEAD_AT)
        put = sq->sys->pwrite(sq->sys, lease->fd,
                              page.bytes + CGROUP_AT - HEAD_AT,
                              size - (CGROUP_AT - HEAD_AT), CGROUP_AT);
    if (put >= 0)
        put = sq->sys->pwrite(sq->sys, lease->fd, page.bytes,
                              sizeof(struct hf_sqlite_session_head), HEAD_AT);
    if (put < 0)
        return hf_sqlite_place_error(error, (int)-put, "write", lease->path,
                                     "");
    return HF_ERR_OK;
}

int hf_sqlite_session_renew(struct hf_sqlite *sq, int fd, int64_t ttl_ms,
                            struct hf_time expires)
{
    struct hf_sqlite_session session;
    ssize_t put;

    hf_sqlite_session_read(sq, fd, &session);
    session.term.ttl_ms = ttl_ms;
    session.term.expires = expires.ns;
    if (!session.is_whole)
        session.term.note_at = NOTE_AT;
    session.term.sum = term_sum(&session.term);
    put = sq->sys->pwrite(sq->sys, fd, &session.term, sizeof(session.term),
                          TERM_AT);
    return put < 0 ? (int)put : 0;
}

/* All of a new file in one write. */
static int write_new(struct hf_sqlite *sq, int fd,
                     const struct hf_sqlite_lease *lease, int old_fd)
{
    struct {
        uint8_t client[HF_STORE_STATE_BYTES];
        struct page page;
    } all = {{0}, {{0}}};
    struct hf_sqlite_session_term term = {
        .ttl_ms = lease->ttl_ms,
        .expires = lease->expires.ns,
        .note_at = NOTE_AT,
    };
    size_t size = fill_head(sq, lease, &all.page);
    ssize_t put;

    if (old_fd >= 0)
        (void)sq->sys->pread(sq->sys, old_fd, all.client, sizeof(all.client),
                             0);
    term.sum = term_sum(&term);
    memcpy(all.page.bytes + TERM_AT - HEAD_AT, &term, sizeof(term));
    put = sq->sys->pwrite(sq->sys, fd, &all, sizeof(all.client) + size, 0);
    return put < 0 ? (int)put : 0;
}

/* The descriptor's number stays, for the client has it. */
static int take_place_of(struct hf_sqlite *sq, int fd, int old_fd)
{
    int got = TEMP_FAILURE_RETRY(dup3(fd, old_fd, O_CLOEXEC));
    int errnum = errno;

    sq->sys->close(sq->sys, fd);
    return got < 0 ? -errnum : 0;
}

enum hf_err hf_sqlite_session_make(struct hf_sqlite *sq,
                                   struct hf_sqlite_lease *lease,
                                   struct hf_error *error)
{
    struct hf_sys *sys = sq->sys;
    char name[HF_SQLITE_SESSION_NAME];
    enum hf_err err;
    int got;
    int fd;

    hf_sqlite_session_name(lease->id, name);
    err = hf_sqlite_place_open(sq, sq->run_fd, sq->place.run, name,
                               HF_SQLITE_OPEN_NEW, &fd, NULL, error);
    if (err)
        return err;
    if (fd < 0)
        return hf_sqlite_place_error(error, EEXIST, "make", sq->place.run,
                                     name);
    got = sys->try_lock(sys, fd, HF_LOCK_EXCLUSIVE);
    if (!got)
        got = write_new(sq, fd, lease, lease->fd);
    if (!got && lease->fd >= 0) {
        got = take_place_of(sq, fd, lease->fd);
        fd = lease->fd;
    }
    if (!got) {
        lease->fd = fd;
        return HF_ERR_OK;
    }
    (void)sys->unlink(sys, sq->run_fd, name);
    if (fd != lease->fd)
        sys->close(sys, fd);
    return hf_sqlite_place_error(error, -got, "make", sq->place.run, name);
}

bool hf_sqlite_session_is_lost(struct hf_sqlite *sq,
                               const struct hf_sqlite_lease *lease)
{
    char name[HF_SQLITE_SESSION_NAME];
    struct stat named;
    struct stat ours;

    hf_sqlite_session_name(lease->id, name);
    return sq->run_fd >= 0 && !sq->sys->fstat(sq->sys, lease->fd, &ours) &&
           (sq->sys->lstat(sq->sys, sq->run_fd, name, &named) ||
            named.st_ino != ours.st_ino);
}

void hf_sqlite_session_stop(struct hf_sqlite *sq, hf_lease_id lease)
{
    struct hf_sqlite_session session = {.is_whole = false};
    struct hf_error ignored;
    struct stat about;
    struct page page;
    int fd;

    if (hf_sqlite_session_open(sq, lease, &fd, &ignored) || fd < 0)
        return;
    if (read_page(sq->sys, fd, &page))
        parse_ours(sq, &page, &session);
    if (session.is_whole && session.head.phase == HF_PHASE_STARTED &&
        !memcmp(session.head.boot, sq->boot, sizeof(session.head.boot)) &&
        !sq->sys->fstat(sq->sys, fd, &about))
        hf_sqlite_cgroup_kill(sq, page_cgroup(&page), &session.head,
                              about.st_uid);
    sq->sys->close(sq->sys, fd);
}

void hf_sqlite_session_end(struct hf_sqlite *sq, hf_lease_id lease)
{
    char name[HF_SQLITE_SESSION_NAME];
    struct hf_sqlite_session session;
    struct hf_error ignored;
    int fd;

    hf_sqlite_session_name(lease, name);
    if (hf_sqlite_session_open(sq, lease, &fd, &ignored) || fd < 0)
        return;
    hf_sqlite_session_read(sq, fd, &session);
    session.term.ended = 1;
    session.term.sum = term_sum(&session.term);
    (void)sq->sys->pwrite(sq->sys, fd, &session.term, sizeof(session.term),
                          TERM_AT);
    (void)sq->sys->unlink(sq->sys, sq->run_fd, name);
    sq->sys->close(sq->sys, fd);
}

/* ---- without a store ----------------------------------------------------- */

/* Of whatever store. */
static bool read_any(struct hf_sys *sys, int fd, struct page *page,
                     struct hf_sqlite_session *session)
{
    *session = (struct hf_sqlite_session){.is_there = true};
    if (read_page(sys, fd, page))
        parse_page(page, session);
    return session->is_whole;
}

int hf_sqlite_lease_has_ended(struct hf_sys *sys, int state_fd, bool *has_ended)
{
    struct hf_sqlite_session session;
    struct stat about;
    struct page page;
    int got;

    if (!read_any(sys, state_fd, &page, &session))
        return -EBADMSG;
    *has_ended = session.term.ended != 0;
    if (*has_ended)
        return 0;
    got = sys->fstat(sys, state_fd, &about);
    if (got)
        return got;
    return about.st_nlink == 0 ? -ESTALE : 0;
}

int hf_sqlite_job_gone(struct hf_sys *sys, int state_fd)
{
    struct hf_sqlite_session session;
    struct hf_sqlite_session_head *head = &session.head;
    struct page page;
    ssize_t put;

    if (!read_any(sys, state_fd, &page, &session))
        return -EBADMSG;
    head->phase = HF_PHASE_GONE;
    head->sum = head_sum(head, page_cgroup(&page));
    put = sys->pwrite(sys, state_fd, head, sizeof(*head), HEAD_AT);
    return put < 0 ? (int)put : 0;
}

/* ---- notes -------------------------------------------------------------- */

/* An entry; key and value follow, and zeros up to a multiple of 8. */
struct entry {
    uint32_t size; /* with all that follows; 0: the note ends here */
    uint32_t is_delete;
    uint64_t created;
    uint64_t changed;
    uint32_t key_size;
    uint32_t value_size;
    uint64_t sum; /* of all that follows, and of what stands before it */
};

/* What a note may grow to before it is written afresh, and at all. */
enum { NOTE_LONG = 256 * 1024, NOTE_MAX = 64 * 1024 * 1024 };

static uint64_t entry_sum(const struct entry *entry, const uint8_t *behind)
{
    uint64_t sum =
        hf_sqlite_sum(entry, offsetof(struct entry, sum), HEAD_MAGIC);

    return hf_sqlite_sum(behind, entry->size - sizeof(*entry), sum);
}

bool hf_sqlite_note_add(struct hf_store_request *arena,
                        struct hf_sqlite_note *note, bool is_delete,
                        const struct hf_sqlite_noted *key)
{
    size_t value_size = is_delete ? 0 : key->value.size;
    size_t size =
        (sizeof(struct entry) + key->key.size + value_size + 7) / 8 * 8;
    struct entry entry = {
        .size = (uint32_t)size,
        .is_delete = is_delete,
        .created = key->created,
        .changed = key->changed,
        .key_size = (uint32_t)key->key.size,
        .value_size = (uint32_t)value_size,
    };
    uint8_t *to;

    /* Eight more: the zeros that end a note are written with it. */
    if (note->capacity - note->size < size + 8) {
        size_t capacity = 2 * note->capacity + size + 1024;
        uint8_t *bytes = hf_store_alloc(arena, capacity);

        if (!bytes)
            return false;
        if (note->size)
            memcpy(bytes, note->bytes, note->size);
        note->bytes = bytes;
        note->capacity = capacity;
    }
    to = note->bytes + note->size + sizeof(entry);
    memset(to, 0, size - sizeof(entry) + 8);
    memcpy(to, key->key.data, key->key.size);
    if (value_size)
        memcpy(to + key->key.size, key->value.data, value_size);
    entry.sum = entry_sum(&entry, to);
    memcpy(note->bytes + note->size, &entry, sizeof(entry));
    note->size += size;
    return true;
}

/* The whole entry at `at` of `size` bytes; false: the note ends here. */
static bool parse_entry(const uint8_t *bytes, size_t size, size_t at,
                        struct entry *entry)
{
    if (size - at < sizeof(*entry))
        return false;
    memcpy(entry, bytes + at, sizeof(*entry));
    return entry->size >= sizeof(*entry) && entry->size <= size - at &&
           entry->key_size <= HF_STORE_KEY_BYTES_MAX &&
           entry->value_size <= HF_STORE_VALUE_BYTES_MAX &&
           sizeof(*entry) + entry->key_size + entry->value_size <=
               entry->size &&
           entry->sum == entry_sum(entry, bytes + at + sizeof(*entry));
}

/* The note's bytes, from its beginning to the end of the file; NULL: cannot. */
static uint8_t *load(struct hf_sqlite *sq, int fd,
                     struct hf_sqlite_session *session, size_t *size)
{
    struct stat about;
    uint8_t *bytes;
    ssize_t got;

    hf_sqlite_session_read(sq, fd, session);
    if (!session->is_whole)
        session->term.note_at = NOTE_AT;
    if (sq->sys->fstat(sq->sys, fd, &about))
        return NULL;
    *size = (uint64_t)about.st_size > session->term.note_at
                ? (size_t)((uint64_t)about.st_size - session->term.note_at)
                : 0;
    if (*size > NOTE_MAX)
        return NULL;
    bytes = malloc(*size + 1);
    if (!bytes)
        return NULL;
    got =
        sq->sys->pread(sq->sys, fd, bytes, *size, (off_t)session->term.note_at);
    if (got < 0) {
        free(bytes);
        return NULL;
    }
    *size = (size_t)got;
    return bytes;
}

/* Where the note ends that is `size` bytes at most. */
static size_t end_of(const uint8_t *bytes, size_t size)
{
    struct entry entry;
    size_t at = 0;

    while (parse_entry(bytes, size, at, &entry))
        at += entry.size;
    return at;
}

static bool is_key(const uint8_t *bytes, size_t at, const struct entry *entry,
                   const struct hf_sqlite_noted *key)
{
    return key->key.size == entry->key_size &&
           !memcmp(key->key.data, bytes + at + sizeof(*entry), entry->key_size);
}

/* Play the entries: what each key came to. */
static bool play(const uint8_t *bytes, size_t size,
                 struct hf_store_request *arena, struct hf_sqlite_noted **keys,
                 size_t *count)
{
    struct entry entry;
    size_t entries = 0;

    for (size_t at = 0; parse_entry(bytes, size, at, &entry); at += entry.size)
        entries++;
    *count = 0;
    *keys = hf_store_alloc(arena, (entries + 1) * sizeof(**keys));
    if (!*keys)
        return false;
    for (size_t at = 0; parse_entry(bytes, size, at, &entry);
         at += entry.size) {
        struct hf_sqlite_noted *key = *keys;
        struct hf_sqlite_noted *end = *keys + *count;
        const uint8_t *data = bytes + at + sizeof(entry);

        while (key < end && !is_key(bytes, at, &entry, key))
            key++;
        if (entry.is_delete) {
            if (key < end) {
                *key = end[-1];
                (*count)--;
            }
            continue;
        }
        if (key == end)
            (*count)++;
        key->key.data = hf_store_copy(arena, data, entry.key_size);
        key->key.size = entry.key_size;
        key->value.data =
            hf_store_copy(arena, data + entry.key_size, entry.value_size);
        key->value.size = entry.value_size;
        key->created = entry.created;
        key->changed = entry.changed;
        if (!key->key.data || !key->value.data)
            return false;
    }
    return true;
}

enum hf_err hf_sqlite_note_read(struct hf_sqlite *sq, int fd,
                                struct hf_store_request *arena,
                                struct hf_sqlite_noted **keys, size_t *count,
                                struct hf_error *error)
{
    struct hf_sqlite_session session;
    size_t size;
    uint8_t *bytes = load(sq, fd, &session, &size);
    bool played;

    if (!bytes)
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "a session file in %s cannot be read",
                            sq->place.run);
    played = play(bytes, size, arena, keys, count);
    free(bytes);
    if (!played)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a session");
    return HF_ERR_OK;
}

/* A long note is written again, only what still counts of it, into a part of
 * the file that does not count yet; then the term points there. */
static int rewrite(struct hf_sqlite *sq, int fd,
                   struct hf_sqlite_session *session, const uint8_t *bytes,
                   size_t size)
{
    struct hf_store_request arena = {.kind = HF_STORE_TXN};
    struct hf_sqlite_note note = {.size = 0};
    struct hf_sqlite_noted *keys;
    uint64_t old_at = session->term.note_at;
    size_t count;
    bool done = play(bytes, size, &arena, &keys, &count);
    ssize_t put = -ENOMEM;

    for (size_t i = 0; done && i < count; i++)
        done = hf_sqlite_note_add(&arena, &note, false, &keys[i]);
    if (done && note.size) {
        session->term.note_at = old_at - NOTE_AT >= note.size + 8
                                    ? NOTE_AT
                                    : old_at + end_of(bytes, size) + 8;
        put = sq->sys->pwrite(sq->sys, fd, note.bytes, note.size + 8,
                              (off_t)session->term.note_at);
        session->term.sum = term_sum(&session->term);
        if (put >= 0)
            put = sq->sys->pwrite(sq->sys, fd, &session->term,
                                  sizeof(session->term), TERM_AT);
        if (put >= 0 && session->term.note_at == NOTE_AT)
            (void)sq->sys->truncate(sq->sys, fd,
                                    NOTE_AT + (off_t)note.size + 8);
    }
    hf_store_request_clear(&arena);
    return put < 0 ? (int)put : 0;
}

enum hf_err hf_sqlite_note_append(struct hf_sqlite *sq, int fd,
                                  const struct hf_sqlite_note *note,
                                  off_t *undo, struct hf_error *error)
{
    struct hf_sqlite_session session;
    size_t size;
    uint8_t *bytes = load(sq, fd, &session, &size);
    ssize_t put = -EIO;

    *undo = -1;
    if (bytes && size > NOTE_LONG) {
        /* If it fails the old one still counts. */
        if (!rewrite(sq, fd, &session, bytes, size)) {
            free(bytes);
            bytes = load(sq, fd, &session, &size);
        }
    }
    if (bytes) {
        *undo = (off_t)(session.term.note_at + end_of(bytes, size));
        put = sq->sys->pwrite(sq->sys, fd, note->bytes, note->size + 8, *undo);
    }
    free(bytes);
    if (put < 0)
        return hf_sqlite_place_error(
            error, (int)-put, "write a session file in", sq->place.run, "");
    return HF_ERR_OK;
}

void hf_sqlite_note_cut(struct hf_sqlite *sq, int fd, off_t at)
{
    static const uint8_t end[8];
    struct hf_sqlite_session session;

    if (at < 0) {
        hf_sqlite_session_read(sq, fd, &session);
        at = session.is_whole ? (off_t)session.term.note_at : NOTE_AT;
    }
    (void)sq->sys->pwrite(sq->sys, fd, end, sizeof(end), at);
}

void hf_sqlite_note_undo(struct hf_sqlite *sq, int fd, uint64_t revision)
{
    struct hf_sqlite_session session;
    size_t size;
    uint8_t *bytes = load(sq, fd, &session, &size);
    struct entry entry;

    for (size_t at = 0; bytes && parse_entry(bytes, size, at, &entry);
         at += entry.size) {
        if (!entry.is_delete && entry.changed == revision) {
            hf_sqlite_note_cut(sq, fd, (off_t)(session.term.note_at + at));
            break;
        }
    }
    free(bytes);
}
