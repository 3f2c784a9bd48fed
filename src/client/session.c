/* SPDX-License-Identifier: Apache-2.0 */
#include "client/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/duration.h"

enum state {
    NEW,        /* nothing asked yet */
    DESCRIBING, /* the rules of the class */
    CHOOSING,   /* the owner picks a key */
    OPENING,    /* a lease */
    ACQUIRING,  /* perhaps waiting; the lease is renewed meanwhile */
    VERIFYING,  /* granted after a wait: does the lease still stand? */
    KEEPING,    /* granted: the floor under it is put */
    HELD,
    RELEASING,
    CLOSING, /* the last request; `ending` is told when it is answered */
    OVER
};

enum { NEWS_MAX = 8 };

/* So long after a deadline we have stood still. */
#define LATE hf_span_ms(20)
/* To find out what is true: less than the guardian lets us be late. */
#define STAND_LEAST hf_span_ms(50)
/* For so long signals may have to wait. */
#define STAND_MOST hf_span_ms(1000)

struct hf_session {
    struct hf_transport *transport;
    struct hf_session_options options;
    enum state state;
    struct hf_class rules;
    bool local;

    struct hf_session_want want;
    struct hf_time wait_until;
    unsigned openings; /* sessions opened so far */

    struct hf_session_ref ref;
    struct hf_hold_ref hold;
    struct hf_deadline deadline;
    struct hf_time renew_next;
    struct hf_time renew_due; /* of the one that was asked for last */
    struct hf_span stood;
    struct hf_time kill_due; /* fixed when TERM was told */
    bool doubt;
    bool term_told;
    bool kill_told;
    bool hold_gone;
    bool kept; /* the floor under the hold is put */

    /* One request for each line of work; out while the transport has it. */
    struct hf_request main;
    struct hf_request renew;
    struct hf_request job;
    struct hf_request close;
    bool main_out;
    bool renew_out;
    bool job_out;
    bool close_out;
    char *state_path;
    int state_fd;

    struct hf_error error;
    enum hf_news ending;
    enum hf_news news[NEWS_MAX];
    size_t news_count;
};

struct hf_session *hf_session_new(struct hf_transport *transport,
                                  const struct hf_session_options *options)
{
    struct hf_session *session = calloc(1, sizeof(*session));

    if (!session)
        return NULL;
    session->transport = transport;
    session->options = *options;
    session->renew_next = HF_TIME_NEVER;
    session->kill_due = HF_TIME_NEVER;
    session->state_fd = -1;
    return session;
}

static void tell(struct hf_session *session, enum hf_news news)
{
    hf_assert(session->news_count < NEWS_MAX);
    session->news[session->news_count++] = news;
}

/* ---- sending --------------------------------------------------------------
 */

static void begin(struct hf_session *session, struct hf_request *request,
                  enum hf_request_kind kind)
{
    hf_request_clear(request);
    memset(request, 0, sizeof(*request));
    request->state_fd = -1;
    request->kind = kind;
    request->uid = session->options.uid;
    request->session = session->ref;
    memcpy(request->class_name, session->options.class_name,
           sizeof(request->class_name));
}

static void submit(struct hf_session *session, struct hf_request *request,
                   bool *out, struct hf_time now, struct hf_wall wall)
{
    *out = true;
    session->transport->ops->submit(session->transport, request, now, wall);
}

static void withdraw(struct hf_session *session, struct hf_request *request,
                     bool *out, struct hf_time now, struct hf_wall wall)
{
    if (!*out)
        return;
    *out = false;
    session->transport->ops->cancel(session->transport, request, now, wall);
}

/* Fresh bits for the nth session: the owner's, each opening its own. */
static void pick_random(const struct hf_session *session, size_t from,
                        uint8_t *to, size_t size)
{
    const uint8_t *random = session->options.random;
    size_t i;

    for (i = 0; i < size; i++) {
        size_t at = (from + session->openings * 24 + i) %
                    sizeof(session->options.random);

        to[i] = random[at];
    }
    /* Past the first round of the bits, differ all the same. */
    to[0] ^= (uint8_t)session->openings;
    to[1] ^= (uint8_t)(session->openings >> 8);
}

static void open_session(struct hf_session *session, struct hf_time now,
                         struct hf_wall wall)
{
    memset(&session->ref, 0, sizeof(session->ref));
    begin(session, &session->main, HF_REQUEST_SESSION_OPEN);
    session->main.ttl_ms = session->options.ttl_ms;
    pick_random(session, 0, session->main.random, sizeof(session->main.random));
    session->state = OPENING;
    submit(session, &session->main, &session->main_out, now, wall);
}

static void acquire(struct hf_session *session, struct hf_time now,
                    struct hf_wall wall)
{
    struct hf_request *request = &session->main;
    struct hf_span left = hf_time_since(session->wait_until, now);

    begin(session, request, HF_REQUEST_ACQUIRE);
    memcpy(request->key, session->want.key, sizeof(request->key));
    request->mode = session->want.mode;
    request->wait_ms = left.ns > 0 ? hf_span_to_ms_up(left) : 0;
    if (request->wait_ms > session->rules.wait_max_ms)
        request->wait_ms = session->rules.wait_max_ms;
    request->holder = session->options.holder;
    pick_random(session, 8, request->grant, sizeof(request->grant));
    session->state = ACQUIRING;
    submit(session, request, &session->main_out, now, wall);
}

/* When the job is to be asked to end, or killed. */
static struct hf_time next_deadline(const struct hf_session *session)
{
    struct hf_time kill_at = hf_deadline_kill_at(&session->deadline);

    if (session->state != HELD || session->kill_told)
        return HF_TIME_NEVER;
    return session->term_told ? hf_time_min(session->kill_due, kill_at)
                              : hf_deadline_term_at(&session->deadline);
}

/*
 * A renewal may have to stand where others are at work, and meanwhile nobody
 * looks after the job: so not for long, and not past a deadline. Whoever wakes
 * long after one asks whether all the same nobody took the key.
 */
static struct hf_time renewal_stands_until(const struct hf_session *session,
                                           struct hf_time now)
{
    struct hf_time least = hf_time_add(now, STAND_LEAST);
    struct hf_time next = next_deadline(session);
    struct hf_time until = hf_time_add(now, STAND_MOST);

    if (hf_time_reached(hf_time_add(next, LATE), now)) {
        until = hf_deadline_retry_at(&session->deadline, now);
        next = hf_deadline_kill_at(&session->deadline);
        if (hf_time_reached(next, now))
            return until;
    }
    return hf_time_min(until, next.ns > least.ns ? next : least);
}

static void renew(struct hf_session *session, struct hf_time now,
                  struct hf_wall wall)
{
    begin(session, &session->renew, HF_REQUEST_RENEW);
    /* Before there is a job there is nothing else to do. */
    if (session->state != VERIFYING)
        session->renew.stand_until = renewal_stands_until(session, now);
    if (session->state != ACQUIRING) {
        session->renew.holds = &session->hold;
        session->renew.hold_count = 1;
    }
    session->renew_due = session->renew_next;
    session->renew_next = HF_TIME_NEVER;
    submit(session, &session->renew, &session->renew_out, now, wall);
}

static void close_session(struct hf_session *session, enum hf_news ending,
                          struct hf_time now, struct hf_wall wall)
{
    withdraw(session, &session->renew, &session->renew_out, now, wall);
    session->renew_next = HF_TIME_NEVER;
    session->ending = ending;
    session->state = CLOSING;
    if (session->ref.lease == 0) {
        session->state = OVER;
        tell(session, ending);
        return;
    }
    withdraw(session, &session->close, &session->close_out, now, wall);
    begin(session, &session->close, HF_REQUEST_SESSION_CLOSE);
    submit(session, &session->close, &session->close_out, now, wall);
}

/* ---- answers ----------------------------------------------------------------
 */

static void fail(struct hf_session *session, const struct hf_request *request,
                 struct hf_time now, struct hf_wall wall)
{
    session->error = request->error;
    close_session(session, HF_NEWS_FAILED, now, wall);
}

/* The session is gone though we still want the key: from the end of the
 * queue, with what is left of the wait. */
static void rejoin(struct hf_session *session, struct hf_time now,
                   struct hf_wall wall)
{
    withdraw(session, &session->main, &session->main_out, now, wall);
    withdraw(session, &session->renew, &session->renew_out, now, wall);
    withdraw(session, &session->close, &session->close_out, now, wall);
    session->renew_next = HF_TIME_NEVER;
    session->doubt = false;
    /* What is left of the former session is given up; no answer is awaited. */
    begin(session, &session->close, HF_REQUEST_SESSION_CLOSE);
    submit(session, &session->close, &session->close_out, now, wall);
    if (session->news_count == 0 ||
        session->news[session->news_count - 1] != HF_NEWS_PLACE_LOST)
        tell(session, HF_NEWS_PLACE_LOST);
    open_session(session, now, wall);
}

static void opened(struct hf_session *session, struct hf_time now,
                   struct hf_wall wall)
{
    struct hf_request *request = &session->main;
    struct hf_span ttl = hf_span_ms(request->ttl_ms);
    struct hf_span grace = session->options.grace;

    session->openings++;
    session->ref = request->session;
    session->local = request->local;
    free(session->state_path);
    session->state_path = (char *)(uintptr_t)request->state_path;
    request->state_path = NULL;
    session->state_fd = request->state_fd;
    session->deadline = (struct hf_deadline){
        .sent_at = request->sent_at,
        .ttl = ttl,
        .grace = grace.ns < 0 ? hf_deadline_default_grace(ttl) : grace,
    };
    session->renew_next = hf_deadline_renew_at(&session->deadline);
    acquire(session, now, wall);
}

/* It is ours: put the floor under it, if there is to be one, then tell. */
static void hold(struct hf_session *session, struct hf_time now,
                 struct hf_wall wall)
{
    if (session->kept || session->options.hold_min.ns <= 0) {
        session->state = HELD;
        tell(session, HF_NEWS_GRANTED);
        return;
    }
    begin(session, &session->main, HF_REQUEST_KEEP);
    session->main.holds = &session->hold;
    session->main.hold_count = 1;
    session->main.holder = session->options.holder;
    session->main.keep_ms = hf_span_to_ms_up(session->options.hold_min);
    session->state = KEEPING;
    submit(session, &session->main, &session->main_out, now, wall);
}

/* If the lease is old it may have lapsed while we slept: ask before use. */
static void verify_and_hold(struct hf_session *session, struct hf_time now,
                            struct hf_wall wall)
{
    if (!hf_time_reached(hf_deadline_renew_at(&session->deadline), now)) {
        hold(session, now, wall);
        return;
    }
    session->state = VERIFYING;
    renew(session, now, wall);
}

static void granted(struct hf_session *session, struct hf_time now,
                    struct hf_wall wall)
{
    struct hf_request *request = &session->main;

    session->ref = request->session;
    session->hold = (struct hf_hold_ref){
        .mode = request->mode,
        .token = request->token,
    };
    memcpy(session->hold.key, request->key, sizeof(session->hold.key));
    memcpy(session->hold.grant, request->grant, sizeof(session->hold.grant));
    withdraw(session, &session->renew, &session->renew_out, now, wall);
    if (session->renew_next.ns == INT64_MAX)
        session->renew_next = hf_deadline_renew_at(&session->deadline);
    session->kept = false;
    verify_and_hold(session, now, wall);
}

static void acquired(struct hf_session *session, struct hf_time now,
                     struct hf_wall wall)
{
    struct hf_request *request = &session->main;

    switch (request->answer) {
    case HF_ANSWER_GRANTED:
        granted(session, now, wall);
        return;
    case HF_ANSWER_BUSY:
        close_session(session, HF_NEWS_BUSY, now, wall);
        return;
    case HF_ANSWER_LOST:
        rejoin(session, now, wall);
        return;
    case HF_ANSWER_FAILED:
    case HF_ANSWER_DONE:
    case HF_ANSWER_NOT_HELD:
        fail(session, request, now, wall);
        return;
    }
}

static void main_answered(struct hf_session *session, struct hf_time now,
                          struct hf_wall wall)
{
    struct hf_request *request = &session->main;

    if (session->state == ACQUIRING) {
        acquired(session, now, wall);
        return;
    }
    if (session->state == RELEASING) {
        if (request->answer == HF_ANSWER_FAILED)
            session->error = request->error;
        close_session(session, HF_NEWS_RELEASED, now, wall);
        return;
    }
    if (request->answer != HF_ANSWER_DONE) {
        fail(session, request, now, wall);
        return;
    }
    if (session->state == KEEPING) {
        session->kept = true;
        verify_and_hold(session, now, wall);
    } else if (session->state == DESCRIBING) {
        session->rules = request->rules;
        session->local = request->local;
        session->state = CHOOSING;
        tell(session, HF_NEWS_READY);
    } else {
        hf_assert(session->state == OPENING);
        opened(session, now, wall);
    }
}

static void hold_is_gone(struct hf_session *session)
{
    session->hold_gone = true;
    session->renew_next = HF_TIME_NEVER;
    if (session->kill_told)
        return;
    session->term_told = true;
    session->kill_told = true;
    (void)hf_error_set(&session->error, HF_ERR_LOST,
                       "the hold on %s is gone: its lease had run out, or it "
                       "was ended by somebody",
                       session->hold.key);
    tell(session, HF_NEWS_KILL);
}

static void renewal_failed(struct hf_session *session, struct hf_time now)
{
    session->error = session->renew.error;
    session->renew_next = hf_deadline_retry_at(&session->deadline, now);
    if (session->doubt)
        return;
    session->doubt = true;
    if (session->state == HELD)
        tell(session, HF_NEWS_DOUBT);
}

static void renewed(struct hf_session *session, struct hf_time now,
                    struct hf_wall wall)
{
    const struct hf_request *request = &session->renew;
    bool late = hf_time_reached(hf_deadline_term_at(&session->deadline), now);
    bool told = session->doubt || late;

    session->ref = request->session;
    session->deadline.sent_at = request->sent_at;
    session->deadline.ttl = hf_span_ms(request->ttl_ms);
    session->renew_next = hf_deadline_renew_at(&session->deadline);
    session->doubt = false;
    if (session->state == ACQUIRING)
        return;
    if (!session->hold.stands) {
        if (session->state == VERIFYING)
            rejoin(session, now, wall);
        else
            hold_is_gone(session);
        return;
    }
    if (session->state == VERIFYING) {
        /* We may have slept over this answer as well. */
        if (hf_time_reached(hf_deadline_renew_at(&session->deadline), now))
            renew(session, now, wall);
        else
            hold(session, now, wall);
    } else if (told && !session->term_told) {
        session->stood = hf_time_since(now, session->renew_due);
        tell(session, HF_NEWS_RENEWED);
    }
}

static void renew_answered(struct hf_session *session, struct hf_time now,
                           struct hf_wall wall)
{
    switch (session->renew.answer) {
    case HF_ANSWER_DONE:
        renewed(session, now, wall);
        return;
    case HF_ANSWER_LOST:
        if (session->state == HELD)
            hold_is_gone(session);
        else
            rejoin(session, now, wall);
        return;
    case HF_ANSWER_FAILED:
    case HF_ANSWER_GRANTED:
    case HF_ANSWER_BUSY:
    case HF_ANSWER_NOT_HELD:
        if (session->state == VERIFYING)
            fail(session, &session->renew, now, wall);
        else
            renewal_failed(session, now);
        return;
    }
}

static void close_answered(struct hf_session *session)
{
    /* A release that failed is made good by the end of the lease. */
    if (session->ending == HF_NEWS_RELEASED &&
        session->close.answer == HF_ANSWER_DONE)
        session->error.code = HF_ERR_OK;
    else if (session->close.answer == HF_ANSWER_FAILED &&
             session->ending == HF_NEWS_RELEASED)
        session->error = session->close.error;
    session->state = OVER;
    tell(session, session->ending);
}

/*
 * Take one answer from the transport; false: there is none. It may have stood
 * in that call: whether the lease still stands is asked of the time that it is
 * then, and so is all that follows, for time does not go back.
 */
static bool take(struct hf_session *session, struct hf_time *now,
                 struct hf_wall *wall)
{
    struct hf_request *request =
        session->transport->ops->next(session->transport, *now, *wall);

    if (!request)
        return false;
    if (!hf_time_reached(request->answered_at, *now)) {
        wall->ns += hf_time_since(request->answered_at, *now).ns;
        *now = request->answered_at;
    }
    if (request == &session->main) {
        session->main_out = false;
        main_answered(session, *now, *wall);
    } else if (request == &session->renew) {
        session->renew_out = false;
        renew_answered(session, *now, *wall);
    } else if (request == &session->job) {
        session->job_out = false;
    } else {
        hf_assert(request == &session->close);
        session->close_out = false;
        if (session->state == CLOSING)
            close_answered(session);
    }
    return true;
}

/* ---- time -------------------------------------------------------------------
 */

static bool renews_now(const struct hf_session *session, struct hf_time now)
{
    if (session->renew_out || session->hold_gone)
        return false;
    if (session->state != HELD && session->state != ACQUIRING)
        return false;
    return hf_time_reached(session->renew_next, now);
}

/* The deadline, judged after a renewal that is due was tried (on this kernel:
 * nobody can have been granted what still stands) or before it (elsewhere, and
 * where the last one failed: we are awake, and have tried). */
static bool judge_deadline(struct hf_session *session, struct hf_time now)
{
    struct hf_time kill_at = hf_deadline_kill_at(&session->deadline);

    if (session->state != HELD || session->kill_told)
        return false;
    if (session->term_told)
        kill_at = hf_time_min(kill_at, session->kill_due);
    if (hf_time_reached(kill_at, now)) {
        session->term_told = true;
        session->kill_told = true;
        tell(session, HF_NEWS_KILL);
        return true;
    }
    if (!session->term_told &&
        hf_time_reached(hf_deadline_term_at(&session->deadline), now)) {
        session->term_told = true;
        session->kill_due = kill_at;
        tell(session, HF_NEWS_TERM);
        return true;
    }
    return false;
}

static void start(struct hf_session *session, struct hf_time now,
                  struct hf_wall wall)
{
    begin(session, &session->main, HF_REQUEST_DESCRIBE);
    session->state = DESCRIBING;
    submit(session, &session->main, &session->main_out, now, wall);
}

enum hf_news hf_session_next(struct hf_session *session, struct hf_time now,
                             struct hf_wall wall)
{
    enum hf_news first;

    if (session->state == NEW)
        start(session, now, wall);
    while (session->news_count == 0) {
        if (take(session, &now, &wall))
            continue;
        if ((!session->local || session->doubt) && judge_deadline(session, now))
            break;
        if (renews_now(session, now)) {
            renew(session, now, wall);
            continue;
        }
        if (!judge_deadline(session, now))
            return HF_NEWS_NONE;
    }
    first = session->news[0];
    session->news_count--;
    memmove(session->news, session->news + 1,
            session->news_count * sizeof(session->news[0]));
    return first;
}

int hf_session_fd(const struct hf_session *session)
{
    return session->transport->ops->fd(session->transport);
}

struct hf_time hf_session_wake_at(const struct hf_session *session)
{
    struct hf_time at = session->transport->ops->wake_at(session->transport);

    if (session->news_count > 0)
        return (struct hf_time){INT64_MIN};
    if (session->state == HELD || session->state == ACQUIRING) {
        if (!session->renew_out && !session->hold_gone)
            at = hf_time_min(at, session->renew_next);
    }
    return hf_time_min(at, next_deadline(session));
}

/* ---- commands
 * ---------------------------------------------------------------- */

void hf_session_acquire(struct hf_session *session,
                        const struct hf_session_want *want, struct hf_time now,
                        struct hf_wall wall)
{
    int64_t wait_ms = want->wait_ms;

    hf_assert(session->state == CHOOSING);
    if (wait_ms < 0)
        wait_ms = session->rules.wait_default_ms;
    if (wait_ms > session->rules.wait_max_ms) {
        (void)hf_error_set(
            &session->error, HF_ERR_USAGE,
            "a wait of %s is longer than class %s allows (%s)",
            hf_duration_print(hf_span_ms(wait_ms)).text, session->rules.name,
            hf_duration_print(hf_span_ms(session->rules.wait_max_ms)).text);
        session->state = OVER;
        tell(session, HF_NEWS_FAILED);
        return;
    }
    session->want = *want;
    session->wait_until = hf_time_add(now, hf_span_ms(wait_ms));
    open_session(session, now, wall);
}

static enum hf_err tell_job(struct hf_session *session, struct hf_time now,
                            struct hf_wall wall)
{
    submit(session, &session->job, &session->job_out, now, wall);
    while (session->job_out && take(session, &now, &wall))
        continue;
    if (!session->local)
        return HF_ERR_OK;
    if (session->job_out) {
        withdraw(session, &session->job, &session->job_out, now, wall);
        return hf_error_set(&session->error, HF_ERR_UNAVAILABLE,
                            "the store did not take note of the job");
    }
    if (session->job.answer == HF_ANSWER_DONE)
        return HF_ERR_OK;
    session->error = session->job.error;
    return session->error.code;
}

static void begin_job(struct hf_session *session, enum hf_lease_phase phase,
                      struct hf_time now, struct hf_wall wall)
{
    withdraw(session, &session->job, &session->job_out, now, wall);
    begin(session, &session->job, HF_REQUEST_JOB);
    session->job.phase = phase;
}

enum hf_err hf_session_job(struct hf_session *session,
                           enum hf_lease_phase phase, const char *cgroup,
                           struct hf_time now, struct hf_wall wall)
{
    begin_job(session, phase, now, wall);
    session->job.cgroup = cgroup;
    return tell_job(session, now, wall);
}

enum hf_err hf_session_left(struct hf_session *session, int status,
                            struct hf_time now, struct hf_wall wall)
{
    begin_job(session, HF_PHASE_LEFT, now, wall);
    session->job.left = (struct hf_lease_left){
        .wall_ms = wall.ns / 1000000,
        .status = status,
    };
    return tell_job(session, now, wall);
}

void hf_session_release(struct hf_session *session, struct hf_time now,
                        struct hf_wall wall)
{
    withdraw(session, &session->renew, &session->renew_out, now, wall);
    withdraw(session, &session->job, &session->job_out, now, wall);
    session->renew_next = HF_TIME_NEVER;
    session->error.code = HF_ERR_OK;
    if (session->hold_gone) {
        close_session(session, HF_NEWS_RELEASED, now, wall);
        return;
    }
    hf_assert(session->state == HELD);
    begin(session, &session->main, HF_REQUEST_RELEASE);
    session->main.holds = &session->hold;
    session->main.hold_count = 1;
    session->main.last = true;
    session->state = RELEASING;
    submit(session, &session->main, &session->main_out, now, wall);
}

void hf_session_abandon(struct hf_session *session, struct hf_time now,
                        struct hf_wall wall)
{
    if (session->state == OVER || session->state == CLOSING) {
        session->ending = HF_NEWS_ENDED;
        if (session->state == OVER)
            tell(session, HF_NEWS_ENDED);
        return;
    }
    withdraw(session, &session->main, &session->main_out, now, wall);
    withdraw(session, &session->job, &session->job_out, now, wall);
    session->news_count = 0;
    close_session(session, HF_NEWS_ENDED, now, wall);
}

void hf_session_free(struct hf_session *session, struct hf_time now,
                     struct hf_wall wall)
{
    if (!session)
        return;
    withdraw(session, &session->main, &session->main_out, now, wall);
    withdraw(session, &session->renew, &session->renew_out, now, wall);
    withdraw(session, &session->job, &session->job_out, now, wall);
    withdraw(session, &session->close, &session->close_out, now, wall);
    hf_request_clear(&session->main);
    hf_request_clear(&session->renew);
    hf_request_clear(&session->job);
    hf_request_clear(&session->close);
    free(session->state_path);
    free(session);
}

/* ---- what the owner asks
 * ------------------------------------------------------ */

const struct hf_class *hf_session_rules(const struct hf_session *session)
{
    return &session->rules;
}

uint64_t hf_session_token(const struct hf_session *session)
{
    return session->hold.token;
}

const char *hf_session_id(const struct hf_session *session)
{
    return session->ref.id;
}

const char *hf_session_state_path(const struct hf_session *session)
{
    return session->state_path;
}

int hf_session_state_fd(const struct hf_session *session)
{
    return session->state_fd;
}

const struct hf_deadline *hf_session_deadline(const struct hf_session *session)
{
    return &session->deadline;
}

struct hf_span hf_session_stood(const struct hf_session *session)
{
    return session->stood;
}

bool hf_session_in_doubt(const struct hf_session *session)
{
    return session->doubt;
}

bool hf_session_is_lost(const struct hf_session *session)
{
    return session->term_told || session->kill_told;
}

const struct hf_error *hf_session_error(const struct hf_session *session)
{
    return &session->error;
}

const struct hf_request *hf_session_busy(const struct hf_session *session)
{
    return &session->main;
}
