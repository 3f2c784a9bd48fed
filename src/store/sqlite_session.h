/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session files, RUN/s-LEASE, one for each lease: the client's state, what the
 * kernel can prove about the lease's processes, and a note of its keys from
 * which a lost database is made again. For src/store/sqlite*.c alone; all but
 * making one and telling its phase only with the gate.
 */
#ifndef HF_STORE_SQLITE_SESSION_H
#define HF_STORE_SQLITE_SESSION_H

#include "store/sqlite_store.h"

enum {
    HF_SQLITE_CGROUP_MAX = 1024,
    /* Where the first note begins. */
    HF_SQLITE_NOTE_AT = HF_STORE_STATE_BYTES + 256 + HF_SQLITE_CGROUP_MAX,
    /* "s-" and 16 digits. */
    HF_SQLITE_SESSION_NAME = 20
};

/* What its maker alone writes, when a phase begins. */
struct hf_sqlite_session_head {
    uint64_t magic;
    uint8_t id[16]; /* of the store */
    uint8_t boot[HF_BOOT_ID_SIZE];
    uint64_t lease;
    int64_t pid;    /* for people; in its own namespace */
    uint32_t phase; /* enum hf_lease_phase */
    uint32_t cgroup_size;
    uint64_t cgroup_ino;        /* of the job's folder */
    uint64_t cgroup_parent_ino; /* of the one above; 0: nothing known */
    int64_t left_wall_ms;       /* struct hf_lease_left */
    int64_t left_status;
    uint64_t sum; /* of all that and the path behind it */
};

/* What anybody writes who has the gate. */
struct hf_sqlite_session_term {
    int64_t ttl_ms;
    int64_t expires;  /* steady clock */
    uint64_t ended;   /* 1: revoked or removed */
    uint64_t note_at; /* where the note begins */
    uint64_t sum;
};

/* A session file as found. */
struct hf_sqlite_session {
    bool is_there;
    bool is_whole; /* of this store, undamaged */
    enum hf_lease_proof proof;
    struct hf_sqlite_session_head head;
    struct hf_sqlite_session_term term;
};

void hf_sqlite_session_name(hf_lease_id lease,
                            char name[HF_SQLITE_SESSION_NAME]);

/*
 * Make the file of a lease (id, ttl_ms and expires are set; fd and path are
 * filled in). With lease->fd >= 0 it is made again under that number, with the
 * client's bytes and the phase of the old one.
 */
enum hf_err hf_sqlite_session_make(struct hf_sqlite *sq,
                                   struct hf_sqlite_lease *lease,
                                   struct hf_error *error);
/* Has somebody removed the file of our lease? */
bool hf_sqlite_session_is_lost(struct hf_sqlite *sq,
                               const struct hf_sqlite_lease *lease);
/* Write phase and cgroup of our lease. Without the gate. */
enum hf_err hf_sqlite_session_phase(struct hf_sqlite *sq,
                                    const struct hf_sqlite_lease *lease,
                                    struct hf_error *error);

/* Open another handle's file; *fd is -1 when there is none. */
enum hf_err hf_sqlite_session_open(struct hf_sqlite *sq, hf_lease_id lease,
                                   int *fd, struct hf_error *error);
/* Read what stands in an open file; proof is NONE, and of a damaged one
 * note_at is that of the first note. */
void hf_sqlite_session_read(struct hf_sqlite *sq, int fd,
                            struct hf_sqlite_session *session);
/* Write where the note begins; 0 or -errno. */
int hf_sqlite_session_move_note(struct hf_sqlite *sq, int fd,
                                struct hf_sqlite_session *session, uint64_t at);
/* Of whatever store it is: id and boot; false: it is not whole. */
bool hf_sqlite_session_origin(struct hf_sqlite *sq, int fd, uint8_t id[16],
                              uint8_t boot[HF_BOOT_ID_SIZE]);
/* Write a new expiry into an open file; 0 or -errno. */
int hf_sqlite_session_renew(struct hf_sqlite *sq, int fd, int64_t ttl_ms,
                            struct hf_time expires);
/* What is there of a lease, and what the kernel says of its processes. */
void hf_sqlite_session_prove(struct hf_sqlite *sq, hf_lease_id lease,
                             struct hf_sqlite_session *session);
/* The same of an open file that may have no name any more. */
void hf_sqlite_session_prove_open(struct hf_sqlite *sq, int fd,
                                  struct hf_sqlite_session *session);
/*
 * The lease has run out, and somebody is about to take what it had: kill what
 * lives in the cgroup of its job, if it has one of its own. Blocks until that
 * is empty, a second at most. What lives on is noted (hf_sqlite_notice).
 */
void hf_sqlite_session_stop(struct hf_sqlite *sq, hf_lease_id lease);
/* The lease is gone: say so in the file, for whoever has it open, and remove
 * it. */
void hf_sqlite_session_end(struct hf_sqlite *sq, hf_lease_id lease);

#endif
