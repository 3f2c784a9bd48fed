/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store contract: four operations (transaction, lease, revision, watch)
 * behind six functions. All that the lock service asks of a store, complete
 * enough to write one from this file alone; tests/store is the conformance
 * suite that every store passes. A store knows keys, bytes, leases and
 * revisions; it knows nothing of locks. Used by src/service (which holds one)
 * and, for its types, by src/core (which says what to send).
 *
 * Shape. The caller fills a `struct hf_store_request`, submits it, and fetches
 * it back, answered, with `next`. No call blocks longer than one transaction of
 * a local disk takes, none calls back, all are called by one thread. A
 * request may be answered already when `submit` returns; it is still fetched
 * by `next`. Requests of one handle that are out at the same time may be
 * carried out, and answered, in any order; a request that is submitted after
 * `next` returned another one sees all that the other did. What was carried
 * out is seen at once by every handle.
 *
 * Memory. The request, and all that its input points to, belong to the caller
 * and must stay untouched from `submit` until `next` returned that request
 * or `cancel` did. What the answer points to belongs to the request: it is
 * valid until `hf_store_request_clear` or the next `submit` of the same one.
 */
#ifndef HF_STORE_STORE_H
#define HF_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

/*
 * Limits. Every store takes what keeps them and answers FAILED to what does
 * not. Keys are 1 to KEY_BYTES_MAX bytes, of any value, compared as unsigned
 * bytes; a prefix may be empty, which is every key.
 */
enum {
    HF_STORE_KEY_BYTES_MAX = 1024,
    HF_STORE_VALUE_BYTES_MAX = 16384,
    HF_STORE_CONDITIONS_MAX = 16, /* per branch */
    HF_STORE_ACTIONS_MAX = 16,    /* per branch and side */
    HF_STORE_BRANCHES_MAX = 64,
    HF_STORE_LIST_MAX = 1024 /* records that one LIST may ask for */
};

/* Borrowed bytes; keys and values may hold any byte. */
struct hf_bytes {
    const char *data;
    size_t size;
};

/* A lease's number within one store; 0 is "no lease". */
typedef uint64_t hf_lease_id;

enum hf_store_kind {
    HF_STORE_TXN,
    HF_STORE_LEASE_GRANT,
    HF_STORE_LEASE_RENEW,
    HF_STORE_LEASE_REVOKE,
    HF_STORE_LEASE_SHOW,
    HF_STORE_LEASE_PHASE,
    HF_STORE_WATCH
};

/*
 * How a request ended.
 * COMMITTED  done. For a transaction: its branches were decided, and what they
 *            wrote, if anything, stands at `revision`.
 * REFUSED    understood, and the store's answer is no; nothing that was asked
 *            for was changed: a lease that is not there (named by a LEASE_*
 *            request, or by a put that would have been carried out: the whole
 *            transaction is refused), a watch whose start was compacted away,
 *            an identity that is not the expected one.
 * UNKNOWN    it may have been done, may be done later, or never. Time-outs,
 *            "leader changed", a failed commit. Cannot be settled by a read.
 *            Never the end of LEASE_SHOW, LEASE_PHASE and WATCH.
 * FAILED     it was certainly not done and will not be; `error` says why. Bad
 *            input (limits, a kind out of range, no key, no lease) is FAILED
 *            with the code USAGE.
 */
enum hf_outcome {
    HF_OUTCOME_COMMITTED,
    HF_OUTCOME_REFUSED,
    HF_OUTCOME_UNKNOWN,
    HF_OUTCOME_FAILED
};

/* Why REFUSED. */
enum hf_refusal {
    HF_REFUSED_NOT,
    HF_REFUSED_LEASE,     /* no such lease, or it is gone */
    HF_REFUSED_COMPACTED, /* changes up to `compacted` are not told any more */
    HF_REFUSED_IDENTITY   /* the store is not the one that `expect` names */
};

/* ---- transaction ---------------------------------------------------- */

/*
 * Conditions look at the state before the transaction; a branch whose
 * conditions all hold (or that has none) carries out `then`, any other
 * `otherwise`. A transaction is a writing one if any side of any branch has a
 * put or a delete, carried out or not. One without branches changes nothing
 * and asks for revision and identity.
 */
enum hf_condition_kind {
    HF_IF_ABSENT,       /* `key` does not exist */
    HF_IF_UNCHANGED,    /* `key` exists, last changed at `revision` */
    HF_IF_PREFIX_ABSENT /* no key begins with `key` */
};

struct hf_condition {
    enum hf_condition_kind kind;
    struct hf_bytes key;
    uint64_t revision; /* UNCHANGED */
};

enum hf_action_kind {
    HF_DO_PUT,           /* create or overwrite `key`; attach to `lease` */
    HF_DO_DELETE,        /* a missing key is no error */
    HF_DO_DELETE_PREFIX, /* every key that begins with `key` */
    HF_DO_GET,           /* read `key` */
    HF_DO_LIST /* read keys beginning with `key`, oldest creation first (of
                  one revision: in the order of their bytes), at most `limit`
                  of them; `count` tells how many there are */
};

struct hf_action {
    enum hf_action_kind kind;
    struct hf_bytes key;
    struct hf_bytes value; /* PUT; may be empty */
    hf_lease_id lease;     /* PUT: 0 for none; replaces a former attachment.
                              Any handle's lease that the store knows */
    uint32_t limit;        /* LIST: 1 to HF_STORE_LIST_MAX */
};

/* A key as stored. */
struct hf_record {
    struct hf_bytes key;
    struct hf_bytes value;
    uint64_t created;  /* revision that created it (it kept existing since) */
    uint64_t changed;  /* revision of its last put */
    hf_lease_id lease; /* 0 for none */
};

/* What a GET or LIST found; empty for other actions. */
struct hf_action_result {
    const struct hf_record *records;
    size_t record_count;
    uint64_t count; /* LIST: keys with the prefix, whatever the limit */
};

/*
 * One independent branch. Reads see the state before the transaction too.
 * A transaction may name a key in one put or delete at most, over both sides
 * of all its branches (FAILED otherwise); a DELETE_PREFIX names every key,
 * existing or not, that begins with it.
 */
struct hf_branch {
    const struct hf_condition *conditions;
    size_t condition_count;
    const struct hf_action *then;
    size_t then_count;
    const struct hf_action *otherwise;
    size_t otherwise_count;

    /* Answer. */
    bool held; /* all conditions held: `then` was carried out */
    /* One for each action of the side carried out, in its order. */
    const struct hf_action_result *results; /* NULL when there is none */
};

/* ---- watch ------------------------------------------------------------ */

/* Each put that was carried out, and each key that a delete removed. */
struct hf_change {
    bool is_delete;
    bool by_lease; /* a delete because its lease lapsed or was revoked */
    uint64_t revision;
    struct hf_record record; /* of a delete: as it was before, `changed` too */
};

/* ---- request ----------------------------------------------------------- */

/*
 * What the kernel may prove about the processes of a lease, told step by
 * step by the handle that granted it (LEASE_PHASE); untold, the clock alone
 * frees the lease; told by another handle, REFUSED. A store whose clients are
 * on other kernels answers COMMITTED and takes note of nothing.
 */
enum hf_lease_phase {
    HF_PHASE_NOTHING_STARTED, /* at first: if this process dies, all is dead */
    HF_PHASE_STARTED, /* a job may run; `cgroup` is the absolute folder of
                         its own cgroup, NULL if it has none */
    HF_PHASE_LEFT,    /* the command has ended, what it started may run on;
                         `cgroup` stays what it was */
    HF_PHASE_GONE     /* the kernel told that the last of the job is gone */
};

/* Of the phase LEFT: how the command ended, as an exit status (128+n for a
 * signal), and when. All zero in the other phases. */
struct hf_lease_left {
    int64_t wall_ms;
    int32_t status;
};

/*
 * Which store answered. `id` names one life of one store, random, for ever.
 * `epoch_min` is the least epoch under which this store's revisions are known
 * not to repeat: 1 for a store that remembers all it issued; a store that
 * cannot be sure raises it, durably, before the answer that carries it. It
 * cannot be sure either when an older state from before a raise is put back:
 * with one id and one epoch_min, one revision names one change.
 */
struct hf_store_identity {
    uint8_t id[16];
    uint32_t epoch_min;
};

struct hf_store_request {
    enum hf_store_kind kind;
    /*
     * What the caller takes the store for. `expect.epoch_min` 0: anything goes;
     * otherwise id and epoch_min must be the store's own at the moment when it
     * acts, or it answers REFUSED (IDENTITY) and has done nothing. So no grant
     * can be written under an epoch that a repair has just outdated.
     */
    struct hf_store_identity expect;

    /* TXN */
    struct hf_branch *branches;
    size_t branch_count;
    /*
     * An epoch that this transaction brings into use; 0: none. If it writes,
     * the store first raises epoch_min to at least this, durably: whatever it
     * may lose later, it then knows what it must be above.
     */
    uint32_t epoch;
    /*
     * The caller means to submit another one as soon as it has this answer, and
     * calls `next` until that returns NULL, without waiting for anything in
     * between. A store may keep what it would have to take again.
     */
    bool more;

    /* On the steady clock: not to stand longer than until then where others are
     * at work on the store; 0: as long as the store does by itself. A store
     * that answers later on may ignore it. */
    struct hf_time stand_until;

    /* LEASE_* : GRANT takes ttl_ms, the others lease. */
    hf_lease_id lease;
    int64_t ttl_ms;            /* 1 s to 24 h, else FAILED */
    enum hf_lease_phase phase; /* LEASE_PHASE; an answer of LEASE_SHOW */
    struct hf_lease_left left; /* the same */
    const char *cgroup;        /* LEASE_PHASE, may be NULL */

    /* WATCH: changes of keys beginning with `prefix`, revision > `after`.
     * An `after` that is still to come is waited for. */
    struct hf_bytes prefix;
    uint64_t after;

    /* ---- answer ---- */
    enum hf_outcome outcome;
    enum hf_refusal refusal;
    struct hf_error error; /* FAILED and UNKNOWN */
    /*
     * COMMITTED and REFUSED: the store's newest revision as this answer saw it;
     * for a transaction that wrote, the revision of that write. Only what
     * changes something raises it (by 1 or more): not a transaction whose sides
     * carried out nothing or deleted what was not there, not a lease without
     * keys. Never goes down within one identity and epoch_min. Identity and
     * revision are of one moment. After UNKNOWN and FAILED both are zero.
     */
    uint64_t revision;
    struct hf_store_identity identity;

    /*
     * GRANT: lease, never 0, and ttl_ms as really granted (a store may raise
     * it). RENEW: ttl_ms. SHOW: ttl_ms, remaining_ms, proof, and `phase` and
     * `left` as told last, NOTHING_STARTED where no note is taken.
     * GRANT, where clients share this kernel (`local`): state_path, a file that
     * lives as long as the lease, whose first HF_STORE_STATE_BYTES
     * bytes belong to the client, and state_fd, open on it and locked; the
     * descriptor stays the store's. NULL and -1 where a store has no such file.
     */
    int64_t remaining_ms; /* below 0: lapsed, but not removed yet */
    enum hf_lease_proof {
        HF_PROOF_NONE,  /* nothing known but the clock */
        HF_PROOF_LIVES, /* the kernel says that a process of it lives */
        HF_PROOF_DEAD   /* the kernel says that none does */
    } proof;
    const char *state_path;
    int state_fd;

    /*
     * WATCH: one answer tells the changes in (after, revision], in order
     * (those of one revision in any), each once, at least one of them; to go
     * on, submit again with `after` = revision. A watch that has nothing to
     * tell stays out. REFUSED_COMPACTED: `compacted` is above `after`; read
     * afresh, then watch from the revision of that read. So ends also every
     * watch that is out when the store turns into another life or an older
     * state of its own; `compacted` then says nothing.
     */
    const struct hf_change *changes;
    size_t change_count;
    uint64_t compacted;

    /* ---- the store's own, zero before the first submit ---- */
    void *memory;                  /* arena of the answer */
    struct hf_store_request *link; /* the list it is on */
    uint32_t tag;
};

enum { HF_STORE_STATE_BYTES = 512 };

/*
 * Leases. A lease that is not renewed for its TTL lapses: its keys are deleted
 * together, by one committed entry of one revision (an entry of its own: the
 * transaction that makes it needed writes at a later revision), visible to
 * watches with by_lease. That entry comes no earlier than TTL after the store
 * received the last renewal, or, where the kernel itself proves that every
 * process of the lease is dead, at once. Who makes it:
 *   - a store that no process serves leaves it to takers: it comes at the
 *     latest when somebody else's writing transaction has a condition on one of
 *     the keys, or on a prefix of one, before those conditions are looked at.
 *     There a lapsed foreign lease never makes an ABSENT fail;
 *   - a server makes it of its own accord, some time after the TTL; until then
 *     a lapsed lease's keys stand in everybody's way.
 * Until that entry a lapsed lease's keys still stand; a store of the first kind
 * renews it when asked, and takes puts on it from its own handle. Reading
 * removes nothing. A transaction never removes a lease that its own handle
 * granted. Of a REFUSED transaction such an entry may stay.
 * A revoked lease is gone at once, with its keys, in one revision.
 * Every handle may show, renew, revoke and put with a lease that has keys; one
 * that has none may be unknown to all but the handle that granted it (and goes
 * when that handle does). Lease ids are never used again.
 */

/* What the core must know of a store's cost and nature; constant. */
struct hf_store_traits {
    /* Waiters stand in the store in every mode (many processes share it and
     * no daemon holds a queue). */
    bool shared_queue;
    /* A transaction whose conditions fail costs no commit: no read first. */
    bool cheap_conflict;
    /* Clients run on this kernel: a late holder may ask before it gives up,
     * and a missing epoch record is made without an operator. */
    bool local;
};

struct hf_store;

/* The functions of a store; all required. */
struct hf_store_ops {
    /*
     * Take a request. Always takes it: what is wrong comes back as FAILED.
     * `now` is the seam's steady clock, read in this turn of the loop. A
     * request that is out must not be submitted again.
     */
    void (*submit)(struct hf_store *store, struct hf_store_request *request,
                   struct hf_time now);
    /*
     * Forget a request: `next` will not return it. What it asked may happen
     * all the same, once. Needed before its memory goes while it is out. A
     * request that is not out (never submitted, fetched, cancelled) is no
     * error. Its answer must still be cleared.
     */
    void (*cancel)(struct hf_store *store, struct hf_store_request *request);
    /* An answered request, or NULL: none is ready now. */
    struct hf_store_request *(*next)(struct hf_store *store,
                                     struct hf_time now);
    /* Readable when `next` may have something; -1 when wake_at alone tells.
     * Constant from open to close. */
    int (*fd)(struct hf_store *store);
    /* When to call `next` again though fd is silent; HF_TIME_NEVER if never. */
    struct hf_time (*wake_at)(struct hf_store *store);
    /* Gives everything back. Leases that have keys go on until they lapse.
     * Requests that are out are forgotten; the answers of those that were
     * fetched stay until they are cleared. */
    void (*close)(struct hf_store *store);
    /* As close, by a process that ends next: what others see of the handle is
     * given back. Memory and descriptors are left to the kernel, which is
     * quicker. NULL: there is only close. */
    void (*end)(struct hf_store *store);
};

/* First member of every store. */
struct hf_store {
    const struct hf_store_ops *ops;
    struct hf_store_traits traits;
};

static inline void hf_store_submit(struct hf_store *store,
                                   struct hf_store_request *request,
                                   struct hf_time now)
{
    store->ops->submit(store, request, now);
}

static inline struct hf_store_request *hf_store_next(struct hf_store *store,
                                                     struct hf_time now)
{
    return store->ops->next(store, now);
}

/*
 * Free what an answer holds and zero the store's own fields; the input stays,
 * and is not looked at. Not while the request is out.
 * Defined in store/request.c, shared by all stores: `memory` is a chain of
 * blocks made by hf_store_alloc.
 */
void hf_store_request_clear(struct hf_store_request *request);
/* For stores: `size` bytes, zeroed, that live as long as the answer; NULL: no
 * memory. */
void *hf_store_alloc(struct hf_store_request *request, size_t size);
/* For stores: a copy of `size` bytes with a NUL behind them. */
char *hf_store_copy(struct hf_store_request *request, const void *bytes,
                    size_t size);

#endif
