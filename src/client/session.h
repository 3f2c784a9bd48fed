/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's session with one hold: opened, acquired, renewed, released, with
 * its local deadline. Pure: time is handed in, requests go through a
 * transport; lockrun and the simulator drive this same code.
 *
 * The owner calls hf_session_next until it returns HF_NEWS_NONE, each time with
 * a fresh `now`: after any command, when hf_session_fd is readable, and at
 * hf_session_wake_at. News tells it what to do with the job.
 */
#ifndef HF_CLIENT_SESSION_H
#define HF_CLIENT_SESSION_H

#include <stdbool.h>

#include "base/err.h"
#include "base/time.h"
#include "client/deadline.h"
#include "client/transport.h"
#include "core/request.h"

enum hf_news {
    HF_NEWS_NONE,
    /* The rules of the class are known: hf_session_rules. The owner now may
     * choose the key and calls hf_session_acquire. */
    HF_NEWS_READY,
    HF_NEWS_GRANTED, /* hf_session_token; start the job */
    HF_NEWS_BUSY,    /* hf_session_busy: who is in the way; over */
    /* While waiting, the session lapsed (a stop, a suspend, a restore): the
     * place in the queue is lost; it waits on at the end of it. */
    HF_NEWS_PLACE_LOST,
    HF_NEWS_DOUBT,   /* first failed keepalive; hf_session_error */
    HF_NEWS_RENEWED, /* told when doubt is over, and after a late wake-up */
    /* The deadline's grace begins: ask the job to end. Renewal goes on, so
     * that the key stays taken until the job is gone; the job ends anyway. */
    HF_NEWS_TERM,
    HF_NEWS_KILL,     /* the deadline, or the hold is gone: kill at once */
    HF_NEWS_RELEASED, /* the answer to hf_session_release; over */
    HF_NEWS_ENDED,    /* the answer to hf_session_abandon; over */
    HF_NEWS_FAILED    /* hf_session_error; over; nothing is held */
};

struct hf_session_options {
    char class_name[HF_CLASS_NAME_SIZE];
    int64_t ttl_ms;       /* 0: the class's default */
    struct hf_span grace; /* below 0: the default */
    /* Nobody else gets the key before this long after the grant, whatever
     * becomes of us: 1 s to 24 h; 0: no such floor. */
    struct hf_span hold_min;
    struct hf_holder holder; /* host, pid, program, note ... */
    uint32_t uid;
    /* Random bits: for session ids (8 each time) and the grant id (16). The
     * owner fills it; a new session after a loss takes the next of them. */
    uint8_t random[64];
};

/* How a wait is bounded; 0 is a try. Below 0: the class's default. */
struct hf_session_want {
    char key[HF_KEY_SIZE];
    enum hf_mode mode;
    int64_t wait_ms;
};

struct hf_session;

/* The transport stays the owner's and outlives the session. NULL: no memory. */
struct hf_session *hf_session_new(struct hf_transport *transport,
                                  const struct hf_session_options *options);
/* Cancels what is out. Does not release: call release or abandon first. */
void hf_session_free(struct hf_session *session, struct hf_time now,
                     struct hf_wall wall);

enum hf_news hf_session_next(struct hf_session *session, struct hf_time now,
                             struct hf_wall wall);
int hf_session_fd(const struct hf_session *session);
struct hf_time hf_session_wake_at(const struct hf_session *session);

/* After READY. */
void hf_session_acquire(struct hf_session *session,
                        const struct hf_session_want *want, struct hf_time now,
                        struct hf_wall wall);
/*
 * After GRANTED: what runs (see HF_PHASE_*); tells the store. STARTED before
 * the job is spawned, GONE when the kernel says that nothing of it is left.
 * Unless STARTED returned HF_ERR_OK no job may be started: the store would take
 * our death for the job's. On a store elsewhere it returns OK at once.
 */
enum hf_err hf_session_job(struct hf_session *session,
                           enum hf_lease_phase phase, const char *cgroup,
                           struct hf_time now, struct hf_wall wall)
    __attribute__((warn_unused_result));
/* The same when the command has ended just now, with that exit status, and
 * others of the job live on: the phase LEFT. */
enum hf_err hf_session_left(struct hf_session *session, int status,
                            struct hf_time now, struct hf_wall wall)
    __attribute__((warn_unused_result));
/* The job is gone: give the key back. Ends in RELEASED, also when the store
 * cannot be reached (hf_session_error then says so). */
void hf_session_release(struct hf_session *session, struct hf_time now,
                        struct hf_wall wall);
/* Stop waiting, leave the queue, close the session. Ends in ENDED. */
void hf_session_abandon(struct hf_session *session, struct hf_time now,
                        struct hf_wall wall);

const struct hf_class *hf_session_rules(const struct hf_session *session);
uint64_t hf_session_token(const struct hf_session *session);
const char *hf_session_id(const struct hf_session *session);
/* NULL where the store gives none; valid while the session is open. */
const char *hf_session_state_path(const struct hf_session *session);
int hf_session_state_fd(const struct hf_session *session);
/* The present deadline; sent_at moves with each renewal. */
const struct hf_deadline *hf_session_deadline(const struct hf_session *session);
/* After RENEWED: so long after that renewal was due did it succeed. Only who
 * stood still, or a store that did, makes this long: one that fails is due
 * again soon. */
struct hf_span hf_session_stood(const struct hf_session *session);
bool hf_session_in_doubt(const struct hf_session *session);
/* True from TERM or KILL on: the lease is lost or will be. */
bool hf_session_is_lost(const struct hf_session *session);
const struct hf_error *hf_session_error(const struct hf_session *session);
/* Who is in the way (infos, place, waiting): of a BUSY, and while it waits as
 * it was when the place in the queue was taken. */
const struct hf_request *hf_session_busy(const struct hf_session *session);

#endif
