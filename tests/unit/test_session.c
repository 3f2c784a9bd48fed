/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The session against a transport whose every answer is scripted here: what
 * it asks, when, and what it tells its owner.
 */
#include "client/session.h"

#include <string.h>

#include "tests/lib/cmocka_all.h"

enum { ASKED_MAX = 64 };

struct script {
    struct hf_transport transport; /* first */
    struct hf_request *out[8];
    size_t out_count;
    enum hf_request_kind asked[ASKED_MAX];
    size_t asked_count;
    bool local;
    /* How RENEW comes out. */
    enum hf_answer renewal;
    bool stands;
    bool silent; /* renewals are not answered at all */
    enum hf_answer acquisition;
    struct hf_time stand_until; /* of the last RENEW */
    struct hf_time now;
    struct hf_span stands_for; /* in each call that brings an answer */
    struct hf_time latest;     /* that it was told of, or told */
};

/* Time does not go back, whoever stood meanwhile. */
static void pass(struct script *script, struct hf_time now)
{
    assert_true(hf_time_reached(script->latest, now));
    script->latest = now;
}

static void script_submit(struct hf_transport *transport,
                          struct hf_request *request, struct hf_time now,
                          struct hf_wall wall)
{
    struct script *script = (struct script *)transport;

    (void)wall;
    pass(script, now);
    request->sent_at = now;
    if (request->kind == HF_REQUEST_RENEW)
        script->stand_until = request->stand_until;
    script->asked[script->asked_count++ % ASKED_MAX] = request->kind;
    script->out[script->out_count++] = request;
}

static void script_cancel(struct hf_transport *transport,
                          struct hf_request *request, struct hf_time now,
                          struct hf_wall wall)
{
    struct script *script = (struct script *)transport;
    size_t i;

    (void)now;
    (void)wall;
    for (i = 0; i < script->out_count; i++) {
        if (script->out[i] == request)
            script->out[i] = script->out[--script->out_count];
    }
}

static bool answers(const struct script *script,
                    const struct hf_request *request)
{
    return !(request->kind == HF_REQUEST_RENEW && script->silent);
}

static void answer(const struct script *script, struct hf_request *request)
{
    request->answer = HF_ANSWER_DONE;
    switch (request->kind) {
    case HF_REQUEST_DESCRIBE:
        request->rules = hf_class_batch;
        request->local = script->local;
        break;
    case HF_REQUEST_SESSION_OPEN:
        memcpy(request->session.id, "s", 2);
        request->session.lease = 5;
        request->local = script->local;
        request->state_fd = -1;
        break;
    case HF_REQUEST_ACQUIRE:
        request->answer = script->acquisition;
        request->token = 1234;
        request->session.revision = 9;
        break;
    case HF_REQUEST_RENEW:
        request->answer = script->renewal;
        request->ttl_ms = 6000;
        if (request->hold_count)
            request->holds[0].stands = script->stands;
        if (script->renewal == HF_ANSWER_FAILED)
            (void)hf_error_set(&request->error, HF_ERR_UNAVAILABLE, "away");
        break;
    default:
        break;
    }
}

static struct hf_request *script_next(struct hf_transport *transport,
                                      struct hf_time now, struct hf_wall wall)
{
    struct script *script = (struct script *)transport;
    size_t i;

    (void)wall;
    pass(script, now);
    for (i = 0; i < script->out_count; i++) {
        struct hf_request *request = script->out[i];

        if (!answers(script, request))
            continue;
        script->out[i] = script->out[--script->out_count];
        answer(script, request);
        if (script->stands_for.ns) {
            pass(script, hf_time_add(now, script->stands_for));
            request->answered_at = script->latest;
        }
        return request;
    }
    return NULL;
}

static int script_fd(struct hf_transport *transport)
{
    (void)transport;
    return -1;
}

static struct hf_time script_wake_at(struct hf_transport *transport)
{
    (void)transport;
    return HF_TIME_NEVER;
}

static void script_close(struct hf_transport *transport)
{
    (void)transport;
}

static const struct hf_transport_ops script_ops = {
    .submit = script_submit,
    .cancel = script_cancel,
    .next = script_next,
    .fd = script_fd,
    .wake_at = script_wake_at,
    .close = script_close,
};

static const struct hf_wall wall = {0};

static void script_init(struct script *script, bool local)
{
    memset(script, 0, sizeof(*script));
    script->transport.ops = &script_ops;
    script->local = local;
    script->renewal = HF_ANSWER_DONE;
    script->stands = true;
    script->acquisition = HF_ANSWER_GRANTED;
}

/* The next news at `ms`, or NONE. */
static enum hf_news at(struct script *script, struct hf_session *session,
                       int64_t ms)
{
    script->now = (struct hf_time){ms * 1000000};
    return hf_session_next(session, script->now, wall);
}

/* A session that holds since 0, with a TTL of 6 s and a grace of 1 s. */
static struct hf_session *holding(struct script *script)
{
    struct hf_session_options options = {
        .class_name = "batch", .ttl_ms = 6000, .grace = {1000000000}};
    struct hf_session_want want = {.key = "t/n/k"};
    struct hf_session *session = hf_session_new(&script->transport, &options);

    assert_int_equal(at(script, session, 0), HF_NEWS_READY);
    hf_session_acquire(session, &want, script->now, wall);
    assert_int_equal(at(script, session, 0), HF_NEWS_GRANTED);
    assert_int_equal(at(script, session, 0), HF_NEWS_NONE);
    assert_int_equal(hf_session_token(session), 1234);
    /* The TTL of the scripted session is the one asked for. */
    assert_true(hf_session_deadline(session)->ttl.ns == INT64_C(6000000000));
    return session;
}

static size_t asked(const struct script *script, enum hf_request_kind kind)
{
    size_t count = 0;
    size_t i;

    for (i = 0; i < script->asked_count && i < ASKED_MAX; i++)
        count += script->asked[i] == kind;
    return count;
}

static void renewal_is_asked_for_at_a_third_of_the_ttl(void **state)
{
    struct script script;
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    session = holding(&script);
    assert_true(hf_session_wake_at(session).ns == INT64_C(2000000000));
    assert_int_equal(at(&script, session, 1999), HF_NEWS_NONE);
    assert_int_equal(asked(&script, HF_REQUEST_RENEW), 0);
    assert_int_equal(at(&script, session, 2000), HF_NEWS_NONE);
    assert_int_equal(asked(&script, HF_REQUEST_RENEW), 1);
    assert_true(hf_session_wake_at(session).ns == INT64_C(4000000000));
    hf_session_free(session, script.now, wall);
}

/* It once went on with the time from before, and a try became a wait. */
static void what_stood_in_a_call_counts_in_all_that_follows(void **state)
{
    struct hf_session_options options = {
        .class_name = "batch", .ttl_ms = 6000, .grace = {1000000000}};
    struct hf_session_want want = {.key = "t/n/k"};
    struct hf_session *session;
    struct script script;

    (void)state;
    script_init(&script, true);
    script.stands_for = hf_span_ms(5);
    session = hf_session_new(&script.transport, &options);
    assert_int_equal(at(&script, session, 0), HF_NEWS_READY);
    hf_session_acquire(session, &want, script.latest, wall);
    assert_int_equal(at(&script, session, 5), HF_NEWS_GRANTED);
    assert_true(script.latest.ns == 15000000);
    assert_int_equal(
        hf_session_job(session, HF_PHASE_STARTED, "", script.latest, wall),
        HF_ERR_OK);
    assert_true(script.latest.ns == 20000000);
    /* A renewal that stood over its own deadline. */
    script.stands_for = hf_span_ms(7000);
    script.renewal = HF_ANSWER_FAILED;
    assert_int_equal(at(&script, session, 2005), HF_NEWS_DOUBT);
    assert_true(script.latest.ns == INT64_C(9005000000));
    assert_int_equal(at(&script, session, 9005), HF_NEWS_KILL);
    hf_session_free(session, script.latest, wall);
}

/* C18, F20: it is set ahead and back, by ten years. */
static void a_wall_clock_that_is_set_moves_no_moment(void **state)
{
    static const struct {
        int64_t ms;
        struct hf_wall wall;
        size_t renewals;
    } looks[] = {
        {1999, {INT64_C(315576000000000000)}, 0},
        {2000, {INT64_C(-315576000000000000)}, 1},
        {3999, {INT64_C(315576000000000000)}, 1},
        {4000, {INT64_C(-315576000000000000)}, 2},
        {5999, {INT64_C(315576000000000000)}, 2},
    };
    struct script script;
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    session = holding(&script);
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        script.now.ns = looks[i].ms * 1000000;
        assert_int_equal(hf_session_next(session, script.now, looks[i].wall),
                         HF_NEWS_NONE);
        assert_int_equal(asked(&script, HF_REQUEST_RENEW), looks[i].renewals);
        assert_false(hf_session_in_doubt(session));
        assert_false(hf_session_is_lost(session));
    }
    hf_session_free(session, script.now, wall);
}

static void failed_renewals_end_in_doubt_term_and_kill(void **state)
{
    struct script script;
    struct hf_session *session;
    int64_t ms;
    int64_t doubt = 0;
    int64_t term = 0;
    int64_t kill = 0;

    (void)state;
    script_init(&script, true);
    session = holding(&script);
    script.renewal = HF_ANSWER_FAILED;
    for (ms = 0; ms < 7000 && !kill; ms++) {
        switch (at(&script, session, ms)) {
        case HF_NEWS_DOUBT:
            assert_int_equal(doubt, 0);
            doubt = ms;
            break;
        case HF_NEWS_TERM:
            assert_int_equal(term, 0);
            term = ms;
            break;
        case HF_NEWS_KILL:
            kill = ms;
            break;
        default:
            break;
        }
    }
    assert_int_equal(doubt, 2000);
    /* 6 s less 1/128 is 5.953 s; the grace is one second before. */
    assert_int_equal(term, 4954);
    assert_int_equal(kill, 5954);
    assert_true(hf_session_is_lost(session));
    /* Retries came between, not without end. */
    assert_in_range(asked(&script, HF_REQUEST_RENEW), 5, 12);
    hf_session_free(session, script.now, wall);
}

static int64_t stands_until(struct script *script, struct hf_session *session,
                            int64_t ms)
{
    (void)at(script, session, ms);
    return script->stand_until.ns / 1000000;
}

/* A TTL of 6 s: TERM is due at 4.953 s, KILL at 5.953 s. */
static void a_renewal_does_not_stand_past_a_deadline(void **state)
{
    struct script script;
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    session = holding(&script);
    script.renewal = HF_ANSWER_FAILED;
    assert_int_equal(stands_until(&script, session, 2000), 3000);
    assert_int_equal(stands_until(&script, session, 4600), 4953);
    assert_int_equal(at(&script, session, 4954), HF_NEWS_TERM);
    assert_int_equal(stands_until(&script, session, 5200), 5953);
    assert_int_equal(stands_until(&script, session, 5800), 5953);
    hf_session_free(session, script.now, wall);
    /* Whoever wakes long after it must learn what is true. */
    script_init(&script, true);
    session = holding(&script);
    assert_int_equal(stands_until(&script, session, 20000), 20500);
    hf_session_free(session, script.now, wall);
}

static void
the_deadline_counts_from_the_sending_not_from_the_answer(void **state)
{
    struct script script;
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    session = holding(&script);
    script.silent = true;
    assert_int_equal(at(&script, session, 2000), HF_NEWS_NONE);
    script.silent = false;
    assert_int_equal(at(&script, session, 3500), HF_NEWS_NONE);
    /* Sent at 2 s, answered at 3.5 s: the TTL ends 6 s after 2 s. */
    assert_true(hf_session_deadline(session)->sent_at.ns ==
                INT64_C(2000000000));
    hf_session_free(session, script.now, wall);
}

static void doubt_is_over_when_a_renewal_succeeds(void **state)
{
    struct script script;
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    session = holding(&script);
    script.renewal = HF_ANSWER_FAILED;
    assert_int_equal(at(&script, session, 2005), HF_NEWS_DOUBT);
    assert_true(hf_session_in_doubt(session));
    script.renewal = HF_ANSWER_DONE;
    assert_int_equal(at(&script, session, 3000), HF_NEWS_RENEWED);
    /* It was awake, and tried on. */
    assert_true(hf_session_stood(session).ns < hf_span_ms(1000).ns);
    assert_false(hf_session_in_doubt(session));
    assert_int_equal(at(&script, session, 4900), HF_NEWS_NONE);
    hf_session_free(session, script.now, wall);
}

/* C19, F28: a suspend, by the clock that is handed in. */
static void who_wakes_late_on_this_kernel_asks_first(void **state)
{
    struct script script;
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    session = holding(&script);
    /* Nobody took it: renewed, and the job goes on. */
    assert_int_equal(at(&script, session, 20000), HF_NEWS_RENEWED);
    /* From when that was due, wherever it was that it stood. */
    assert_int_equal(hf_session_stood(session).ns, hf_span_ms(18000).ns);
    assert_false(hf_session_is_lost(session));
    /* Somebody took it: killed at once, without a TERM before. */
    script.stands = false;
    assert_int_equal(at(&script, session, 40000), HF_NEWS_KILL);
    assert_true(hf_session_is_lost(session));
    hf_session_free(session, script.now, wall);
}

static void who_wakes_late_elsewhere_kills_first(void **state)
{
    struct script script;
    struct hf_session *session;

    (void)state;
    script_init(&script, false);
    session = holding(&script);
    assert_int_equal(at(&script, session, 20000), HF_NEWS_KILL);
    assert_int_equal(asked(&script, HF_REQUEST_RENEW), 0);
    hf_session_free(session, script.now, wall);
}

static void a_lost_session_is_killed_at_once(void **state)
{
    struct script script;
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    session = holding(&script);
    script.renewal = HF_ANSWER_LOST;
    assert_int_equal(at(&script, session, 2000), HF_NEWS_KILL);
    /* And what is lost is not released, nor renewed any more. */
    hf_session_release(session, script.now, wall);
    assert_int_equal(at(&script, session, 2001), HF_NEWS_RELEASED);
    assert_int_equal(asked(&script, HF_REQUEST_RELEASE), 0);
    assert_int_equal(asked(&script, HF_REQUEST_SESSION_CLOSE), 1);
    hf_session_free(session, script.now, wall);
}

static void renewal_goes_on_after_term_but_kill_keeps_its_time(void **state)
{
    struct script script;
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    session = holding(&script);
    script.renewal = HF_ANSWER_FAILED;
    assert_int_equal(at(&script, session, 2005), HF_NEWS_DOUBT);
    while (at(&script, session, 4960) == HF_NEWS_NONE)
        continue;
    assert_true(hf_session_is_lost(session));
    script.renewal = HF_ANSWER_DONE;
    assert_int_equal(at(&script, session, 5500), HF_NEWS_NONE);
    assert_true(hf_session_deadline(session)->sent_at.ns >=
                INT64_C(4960000000));
    assert_int_equal(at(&script, session, 5954), HF_NEWS_KILL);
    hf_session_free(session, script.now, wall);
}

static void busy_closes_the_session_first(void **state)
{
    struct script script;
    struct hf_session_options options = {.class_name = "batch", .grace = {-1}};
    struct hf_session_want want = {.key = "t/n/k"};
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    script.acquisition = HF_ANSWER_BUSY;
    session = hf_session_new(&script.transport, &options);
    assert_int_equal(at(&script, session, 0), HF_NEWS_READY);
    hf_session_acquire(session, &want, script.now, wall);
    assert_int_equal(at(&script, session, 0), HF_NEWS_BUSY);
    assert_int_equal(asked(&script, HF_REQUEST_SESSION_CLOSE), 1);
    assert_int_equal(script.out_count, 0);
    hf_session_free(session, script.now, wall);
}

static void a_wait_beyond_the_class_is_refused(void **state)
{
    struct script script;
    struct hf_session_options options = {.class_name = "batch", .grace = {-1}};
    struct hf_session_want want = {.key = "t/n/k",
                                   .wait_ms = INT64_C(86400001)};
    struct hf_session *session;

    (void)state;
    script_init(&script, true);
    session = hf_session_new(&script.transport, &options);
    assert_int_equal(at(&script, session, 0), HF_NEWS_READY);
    hf_session_acquire(session, &want, script.now, wall);
    assert_int_equal(at(&script, session, 0), HF_NEWS_FAILED);
    assert_int_equal(hf_session_error(session)->code, HF_ERR_USAGE);
    hf_session_free(session, script.now, wall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renewal_is_asked_for_at_a_third_of_the_ttl),
        cmocka_unit_test(what_stood_in_a_call_counts_in_all_that_follows),
        cmocka_unit_test(a_wall_clock_that_is_set_moves_no_moment),
        cmocka_unit_test(failed_renewals_end_in_doubt_term_and_kill),
        cmocka_unit_test(
            the_deadline_counts_from_the_sending_not_from_the_answer),
        cmocka_unit_test(doubt_is_over_when_a_renewal_succeeds),
        cmocka_unit_test(who_wakes_late_on_this_kernel_asks_first),
        cmocka_unit_test(who_wakes_late_elsewhere_kills_first),
        cmocka_unit_test(a_lost_session_is_killed_at_once),
        cmocka_unit_test(renewal_goes_on_after_term_but_kill_keeps_its_time),
        cmocka_unit_test(busy_closes_the_session_first),
        cmocka_unit_test(a_renewal_does_not_stand_past_a_deadline),
        cmocka_unit_test(a_wait_beyond_the_class_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
