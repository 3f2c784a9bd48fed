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
    NOTE_AT = HF_SQLITE_NOTE_AT
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

/* ---- form ---- */

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
    if (session->term.sum != term_sum(&session->term))
        session->term.note_at = NOTE_AT;
}

static int write_term(struct hf_sqlite *sq, int fd,
                      struct hf_sqlite_session_term *term)
{
    ssize_t put;

    term->sum = term_sum(term);
    put = sq->sys->pwrite(sq->sys, fd, term, sizeof(*term), TERM_AT);
    return put < 0 ? (int)put : 0;
}

int hf_sqlite_session_move_note(struct hf_sqlite *sq, int fd,
                                struct hf_sqlite_session *session, uint64_t at)
{
    session->term.note_at = at;
    return write_term(sq, fd, &session->term);
}

/* ---- proof ---- */

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
    case HF_PHASE_LEFT:
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

/* ---- making and writing ---- */

/* Fill head and path of `page`; the size that is worth writing. */
static size_t fill_head(struct hf_sqlite *sq,
                        const struct hf_sqlite_lease *lease, struct page *page)
{
    struct hf_sqlite_session_head head = {
        .magic = HEAD_MAGIC,
        .lease = lease->id,
        .pid = sq->pid,
        .phase = lease->phase,
        .left_wall_ms = lease->left.wall_ms,
        .left_status = lease->left.status,
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

    hf_sqlite_session_read(sq, fd, &session);
    session.term.ttl_ms = ttl_ms;
    session.term.expires = expires.ns;
    return write_term(sq, fd, &session.term);
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
        lease->note_at = lease->note_end = NOTE_AT;
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
    if (session.is_whole &&
        (session.head.phase == HF_PHASE_STARTED ||
         session.head.phase == HF_PHASE_LEFT) &&
        !memcmp(session.head.boot, sq->boot, sizeof(session.head.boot)) &&
        !sq->sys->fstat(sq->sys, fd, &about) &&
        !hf_sqlite_cgroup_kill(sq, page_cgroup(&page), &session.head,
                               about.st_uid))
        hf_sqlite_note(sq,
                       "the job of the last holder, whose lease is over, could "
                       "not be ended: processes of it work on, see "
                       "%s/cgroup.procs",
                       page_cgroup(&page));
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
    (void)write_term(sq, fd, &session.term);
    (void)sq->sys->unlink(sq->sys, sq->run_fd, name);
    sq->sys->close(sq->sys, fd);
}

/* ---- without a store ---- */

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

int hf_sqlite_job_phase(struct hf_sys *sys, int state_fd,
                        enum hf_lease_phase phase)
{
    struct hf_sqlite_session session;
    struct hf_sqlite_session_head *head = &session.head;
    struct page page;
    ssize_t put;

    if (!read_any(sys, state_fd, &page, &session))
        return -EBADMSG;
    head->phase = phase;
    head->left_wall_ms = head->left_status = 0;
    head->sum = head_sum(head, page_cgroup(&page));
    put = sys->pwrite(sys, state_fd, head, sizeof(*head), HEAD_AT);
    return put < 0 ? (int)put : 0;
}
