/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one vocabulary of the lock service: what a client submits, what the
 * service takes, what a transport carries. Pure data. The request belongs to
 * its submitter, input and answer, and stays where it is from submit until it
 * comes back by `next` or cancel returned; hf_request_clear frees what the
 * answer holds. Texts in it are NUL-terminated.
 */
#ifndef HF_CORE_REQUEST_H
#define HF_CORE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/class.h"
#include "core/key.h"
#include "core/token.h"
#include "store/store.h"

enum hf_request_kind {
#define HF_REQUEST(name, text) HF_REQUEST_##name,
#include "core/request.def"
#undef HF_REQUEST
    HF_REQUEST_COUNT
};

enum hf_mode { HF_EXCLUSIVE, HF_SHARED };
extern const char *const hf_mode_names[]; /* "exclusive", "shared", NULL */

enum {
    HF_GRANT_ID_SIZE = 16,
    HF_SESSION_ID_SIZE = 33, /* 16 hex of the lease, 16 random hex, NUL */
    HF_HOST_SIZE = 65,
    HF_PROGRAM_SIZE = 129,
    HF_NOTE_SIZE = 201,
    HF_RENEW_HOLDS_MAX = 12
};

/*
 * A session as its client knows it. `revision` is the last-change revision of
 * its record, 0 while there is none; answers bring it up to date.
 */
struct hf_session_ref {
    char id[HF_SESSION_ID_SIZE];
    hf_lease_id lease;
    uint64_t revision;
    /* Of one of its requests it was once unknown whether it was carried out:
     * the record must outlast its holds, for a late one fails on it. */
    bool was_unsure;
};

/* Who holds or waits: the record of a hold, a share or a waiter. */
struct hf_holder {
    uint32_t version; /* 1 */
    uint8_t grant[HF_GRANT_ID_SIZE];
    uint32_t epoch; /* under which it was granted; of a waiter: when it came */
    char session[HF_SESSION_ID_SIZE];
    int mode; /* enum hf_mode */
    char class_name[HF_CLASS_NAME_SIZE];
    char host[HF_HOST_SIZE];
    uint32_t pid;
    uint64_t pid_namespace; /* inode of /proc/self/ns/pid; 0: not known */
    uint32_t uid;
    char program[HF_PROGRAM_SIZE]; /* without its arguments */
    char note[HF_NOTE_SIZE];
    int64_t since_wall_ms;   /* of the grant, or of the place in the queue */
    int64_t since_steady_ms; /* the same on the steady clock */
};

/* HF_FLOOR: nobody holds it any more, but it is kept until its lease ends. */
enum hf_hold_kind { HF_HOLD, HF_SHARE, HF_WAITER, HF_FLOOR };

/* A record as LIST, SHOW and a busy answer tell it. */
struct hf_hold_info {
    enum hf_hold_kind kind;
    char key[HF_KEY_SIZE];
    struct hf_holder who;
    uint64_t token;   /* holds and shares; 0 for the others */
    uint64_t created; /* order of waiters */
    hf_lease_id lease;
    bool lease_known; /* the five below were asked for and told */
    int64_t lease_ttl_ms;
    int64_t lease_remaining_ms;
    enum hf_lease_proof proof;
    enum hf_lease_phase phase;
    struct hf_lease_left left;
};

/* A hold as its holder names it: for RENEW and RELEASE. */
struct hf_hold_ref {
    char key[HF_KEY_SIZE];
    enum hf_mode mode;
    uint8_t grant[HF_GRANT_ID_SIZE];
    uint64_t token;
    bool stands; /* answer of RENEW */
};

/* What became of a key, or of who waits for it. */
enum hf_notice_kind {
    HF_NOTICE_QUEUED,      /* it waits */
    HF_NOTICE_LEFT,        /* it waits no more, of its own will */
    HF_NOTICE_WAIT_ENDED,  /* the waiter's lease ended, or the waiter died */
    HF_NOTICE_GRANTED,     /* at once, or from the queue of a free key */
    HF_NOTICE_HANDED_OVER, /* by the former holder's release, from the queue */
    HF_NOTICE_RELEASED, /* let go; no news of its own where it was handed over
                         from an exclusive holder */
    HF_NOTICE_ENDED,    /* the holder's lease ended, or the holder died */
    HF_NOTICE_OUTDATED, /* hold or wait ended by an advance of the epoch */
    HF_NOTICE_KEPT,     /* nobody gets it for a while */
    HF_NOTICE_FREED     /* it is kept no more */
};
extern const char *const hf_notice_names[]; /* "queued", ..., NULL */

struct hf_notice {
    enum hf_notice_kind kind;
    uint64_t revision;
    struct hf_hold_info info; /* of an ended one: as it was; no lease known */
};

struct hf_epoch_info {
    bool exists;
    uint32_t epoch;
    bool sealed; /* an advance is under way, or the record is not ours */
    char store_id[33];
    char by[HF_HOST_SIZE];
    char why[HF_NOTE_SIZE];
    int64_t at_wall_ms;
    uint64_t revision; /* of the record */
    uint64_t store_revision;
    int64_t longest_lease_ms; /* of all holds; dry run of an advance */
};

/* How a request came out; what went wrong is in `error`. */
enum hf_answer {
    HF_ANSWER_DONE,
    HF_ANSWER_GRANTED,  /* ACQUIRE: token */
    HF_ANSWER_BUSY,     /* ACQUIRE: held by another, also after the wait */
    HF_ANSWER_LOST,     /* the session is gone (ACQUIRE, RENEW) */
    HF_ANSWER_NOT_HELD, /* RELEASE: that grant does not stand; nothing done */
    HF_ANSWER_FAILED    /* `error`; nothing that the caller owns was changed,
                           or `unsettled` is set */
};

struct hf_request {
    enum hf_request_kind kind;

    /* Set by the edge, never by a client's word. */
    uint32_t uid;

    /* ---- input ---- */
    char class_name[HF_CLASS_NAME_SIZE]; /* DESCRIBE, SESSION_OPEN, ACQUIRE */
    struct hf_session_ref
        session;           /* all but DESCRIBE, LIST, SHOW, WATCH, EPOCH */
    int64_t ttl_ms;        /* SESSION_OPEN; 0: the class's default */
    char key[HF_KEY_SIZE]; /* ACQUIRE, SHOW; LIST, WATCH: a prefix */
    bool whole;            /* WATCH: `key` is one key, no prefix */
    uint64_t after;        /* WATCH: news later than this revision */
    enum hf_mode mode;     /* ACQUIRE */
    int64_t wait_ms;       /* ACQUIRE: 0 is a try */
    uint8_t grant[HF_GRANT_ID_SIZE]; /* ACQUIRE: 128 random bits */
    /* ACQUIRE: host, pid, pid_namespace, program, note are taken from here. */
    struct hf_holder holder;
    /* SESSION_OPEN: random bits for the id. */
    uint8_t random[8];
    /* RENEW: the holds in question; RELEASE: one. The caller's memory. */
    struct hf_hold_ref *holds;
    size_t hold_count;
    struct hf_time stand_until; /* RENEW, as that of a store's request */
    bool last;                  /* RELEASE: nothing else hangs on the session */
    int64_t keep_ms; /* KEEP: holds[0] is kept this long, 1 s to 24 h */
    enum hf_lease_phase phase; /* JOB */
    struct hf_lease_left left; /* JOB, with the phase LEFT */
    const char *cgroup;        /* JOB */
    uint32_t limit;            /* LIST: at most this many, 1 to 1024 */
    /* EPOCH_ADVANCE: the record's revision that the operator saw, who, why;
     * `now` does not wait for the deadlines of the former life. */
    struct hf_epoch_info epoch;
    bool now;

    /* ---- answer ---- */
    enum hf_answer answer;
    struct hf_error error;
    bool unsettled; /* FAILED: whether it was granted is not known; close the
                       session */
    uint64_t token;
    bool waited;           /* GRANTED after a place in the queue */
    struct hf_class rules; /* DESCRIBE */
    /* SESSION_OPEN: session and ttl_ms as granted, and of the store: */
    bool local;
    const char *state_path; /* NULL without one; lives with the request */
    int state_fd;           /* -1 without one; the store's */
    /* When the store request that this answer rests on was sent: the local
     * deadline counts from here (SESSION_OPEN, RENEW). */
    struct hf_time sent_at;
    /* When a transport that may stand had the answer: what is judged by it is
     * judged by that time, not by one that was taken before. 0: not said. */
    struct hf_time answered_at;
    /* BUSY: infos[0] is who is in the way, `place` ours in the queue (1 is
     * next), `waiting` how many wait; an ACQUIRE that waits in this process has
     * them too, as they were when its place was taken. LIST, SHOW: all. */
    struct hf_hold_info *infos;
    size_t info_count;
    uint64_t place;
    uint64_t waiting;
    bool more; /* LIST: `limit` cut it */
    /* WATCH: what happened in (after, revision], in order, at least one. To go
     * on, ask again with `after` = revision. `missed`: no news but this, that
     * the store cannot tell all that happened; look afresh, and go on from the
     * revision of an EPOCH_SHOW made before. */
    struct hf_notice *notices;
    size_t notice_count;
    uint64_t revision;
    bool missed;

    /* ---- the service's own; zero before submit ---- */
    struct hf_op *op;
    struct hf_request *link;
};

/* Free what the answer holds; input stays, answer fields are zeroed. */
void hf_request_clear(struct hf_request *request);
const char *hf_request_name(enum hf_request_kind kind);

#endif
