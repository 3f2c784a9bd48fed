/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operation: one request under way, a small state machine. Each kind has a
 * file op_X.c with its row of functions; this header is what they share. Inside
 * the core only.
 *
 * Every handler may call hf_op_send, hf_op_cancel, hf_op_reply, hf_op_end. An
 * operation whose client has gone (request NULL) goes on until nothing that it
 * may have got is left, then ends.
 */
#ifndef HF_CORE_OP_H
#define HF_CORE_OP_H

#include "core/core.h"
#include "core/record.h"
#include "core/txn.h"

struct hf_op;

struct hf_op_kind {
    /*
     * Bytes of its member of hf_op.u, and how many of them, at its end, need
     * not be zero. An operation takes up no more memory than it must, for that
     * is a part of what a grant costs: each page of it.
     */
    size_t size;
    size_t unset;
    /* The request has come. Also called again when the epoch is known after
     * hf_seal_need had to wait for it. */
    void (*start)(struct hf_op *op);
    /* A send of ours came back; an unanswered one comes as UNKNOWN. */
    void (*answer)(struct hf_op *op, struct hf_send *send);
    /* op->wake_at was reached (it is set to never before the call). */
    void (*timer)(struct hf_op *op);
    /* The client has gone; op->request is NULL by now. */
    void (*gone)(struct hf_op *op);
};

extern const struct hf_op_kind hf_op_describe;
extern const struct hf_op_kind hf_op_session_open;
extern const struct hf_op_kind hf_op_session_close;
extern const struct hf_op_kind hf_op_job;
extern const struct hf_op_kind hf_op_acquire;
extern const struct hf_op_kind hf_op_keep;
extern const struct hf_op_kind hf_op_renew;
extern const struct hf_op_kind hf_op_release;
extern const struct hf_op_kind hf_op_list;
extern const struct hf_op_kind hf_op_show;
extern const struct hf_op_kind hf_op_watch;
extern const struct hf_op_kind hf_op_epoch_show;
extern const struct hf_op_kind hf_op_epoch_advance;
extern const struct hf_op_kind hf_op_seal; /* has no request */

enum { HF_AHEAD_MAX = 6, HF_HANDOFF_MAX = 6 };

struct hf_acquire {
    struct hf_send watch;
    struct hf_session_ref session;
    bool prepared;
    bool waits; /* it may wait, and has found the key taken */
    struct hf_holder holder;
    struct hf_value holder_value;
    struct hf_value session_value;
    uint8_t grant[HF_GRANT_ID_SIZE];
    enum hf_mode mode;
    /* Record of the epoch, and the store, that the first put was guarded by;
     * in doubt nothing is put under another. */
    uint64_t epoch_revision;
    struct hf_store_identity identity;
    uint64_t wait_revision; /* of our row in the queue; 0: none */
    uint64_t looked_at;     /* revision of the last look: watch from here */
    size_t reads_at[2];     /* place of the first read on each side */
    struct hf_time until;
    bool deep; /* more of them than `ahead` holds, or none was read */
    bool deaf; /* the last look failed: wait without a watch */
    unsigned retries;
    size_t ahead_count; /* rows that stand before ours, oldest first */
    char ahead[HF_AHEAD_MAX][HF_PATH_SIZE]; /* not set beyond these */
};

struct hf_release {
    struct hf_hold_ref hold;
    struct hf_session_ref session;
    bool last;
    bool unsure;                     /* an earlier try came back unknown */
    struct hf_store_identity expect; /* under which the token is a revision */
    unsigned retries;
    size_t heir_count;
    struct hf_heir *heirs; /* HF_HANDOFF_MAX of them, once needed */
};

/* Who gets the key next. */
struct hf_heir {
    char path[HF_PATH_SIZE]; /* of its row in the queue */
    char hold[HF_PATH_SIZE]; /* what it gets: hold or share */
    uint64_t revision;
    hf_lease_id lease;
    struct hf_value value;
};

struct hf_looking {
    size_t next; /* info whose lease is being looked at */
    bool whole;  /* SHOW, and the dry run of an advance */
};

struct hf_op {
    const struct hf_op_kind *kind;
    struct hf_core *core;
    struct hf_request *request; /* NULL once the client has gone */
    struct hf_op *next;
    struct hf_op *prev;
    int state; /* each file has its own enum */
    bool waits_for_epoch;
    bool ended;
    struct hf_time wake_at;
    struct hf_txn txn;
    struct hf_paths paths; /* hf_op_paths */
    union {
        struct hf_acquire acquire;
        struct hf_release release;
        struct hf_looking looking;
        struct {
            struct hf_value value;
            hf_lease_id lease;
            unsigned retries;
        } keep;
        struct {
            struct hf_value value;
            unsigned retries;
            struct hf_store_identity identity;
        } seal;
        struct {
            struct hf_value value;
            struct hf_epoch_record record;
            struct hf_store_identity identity;
            uint64_t revision;
            int64_t longest_ms;
            size_t next;
            size_t count;
            hf_lease_id *leases;
            unsigned retries;
            bool is_ours; /* the seal that is read is the one we put */
        } epoch;
        struct {
            struct hf_time sent_at;
            unsigned retries;
            char paths[HF_RENEW_HOLDS_MAX][HF_PATH_SIZE];
        } renew;
    } u;
};

/* What the core knows of the epoch. */
struct hf_seal {
    bool known;
    bool sealed;
    struct hf_error why; /* sealed, or failed */
    uint32_t epoch;
    uint64_t revision; /* of the record */
    struct hf_store_identity identity;
    struct hf_op *reading;
    bool failed; /* it could not be learned: `why` */
};

struct hf_core {
    struct hf_core_options options;
    const struct hf_core_classes *classes;
    struct hf_op *ops;
    size_t op_count;
    struct hf_op *graveyard; /* ended in this step; freed at the next */
    struct hf_seal seal;
    struct hf_time now;
    struct hf_wall wall;
    /* Output of this step. */
    size_t capacity;
    struct hf_store_request **cancels;
    size_t cancel_count;
    struct hf_store_request **sends;
    size_t send_count;
    struct hf_request **replies;
    size_t reply_count;
};

/* A new operation, first in the list; NULL: no memory. */
struct hf_op *hf_op_new(struct hf_core *core, const struct hf_op_kind *kind,
                        struct hf_request *request);
/* Name the store keys that it is about. They stand while it does. */
void hf_op_paths(struct hf_op *op, const char *key, const char *session,
                 const uint8_t grant[HF_GRANT_ID_SIZE]);
/* Or what those of all keys with a prefix begin with. */
void hf_op_prefixes(struct hf_op *op, const char *prefix);
/* Send what was built; a deadline for the answer is set. */
void hf_op_send(struct hf_op *op, struct hf_send *send);
/* The same for one that may stay out for ever (a watch). */
void hf_op_send_watch(struct hf_op *op, struct hf_send *send);
void hf_op_cancel(struct hf_op *op, struct hf_send *send);
/* Answer the client, if it is still there. */
void hf_op_reply(struct hf_op *op, enum hf_answer answer);
void hf_op_fail(struct hf_op *op, enum hf_err code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void hf_op_fail_with(struct hf_op *op, const struct hf_error *error);
/* Over: what is still out is cancelled, memory goes after this step. */
void hf_op_end(struct hf_op *op);

/* ---- seal.c ---- */

/*
 * Is the epoch known and not sealed? Otherwise false: either the operation was
 * failed and ended (sealed), or it will be started again when it is known.
 */
bool hf_seal_need(struct hf_op *op);
/* The same for who only reads: a sealed store will do. */
bool hf_seal_known(struct hf_op *op);
/* What we knew is out of date; the next need reads it again. */
void hf_seal_forget(struct hf_core *core);
/* Does this record, read beside something else, agree with what we know? */
bool hf_seal_agrees(const struct hf_core *core, const struct hf_record *record);

/* ---- policy.c ---- */

/* The class by name, or NULL with the operation failed and ended. */
const struct hf_class *hf_policy_class(struct hf_op *op);
/* May this request be asked at all? False: failed and ended. */
bool hf_policy_allows(struct hf_op *op, const struct hf_class *class);

/* ---- queue.c ---- */

/*
 * May the owner of `mine` (a row's path) go now, as far as the queue tells?
 * Fills the rows ahead that must be gone first: for an exclusive waiter all of
 * them, for a shared one the exclusive ones. `rows` is the queue's head, oldest
 * first.
 */
void hf_queue_ahead(struct hf_acquire *acquire, const char *mine,
                    enum hf_mode mode, const struct hf_action_result *rows);
/* Who gets the key next: the head, and if it is shared, those shared ones that
 * follow it without a gap, at most HF_HANDOFF_MAX. Encodes their holds. None
 * at all when memory ran out: they poll. */
void hf_queue_heirs(struct hf_op *op, const struct hf_action_result *rows);

#endif
