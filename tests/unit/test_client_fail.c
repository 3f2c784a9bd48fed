/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's whole way, from the opening of the embedded store to the release,
 * with each call to the kernel failed in turn, each the last that its process
 * makes, and each allocation failed in turn. Whatever it was told is true while
 * it is told: who holds has no rival, who does not has a reason; and once the
 * fault is over the key can be had.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/local.h"
#include "client/session.h"
#include "client/state_file.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/folder.h"
#include "tests/lib/nth_malloc.h"
#include "tests/lib/sys_fake.h"

#define KEY "t/n/k"

enum { TTL_MS = 15000, ROUNDS_MAX = 200, CALLS_MIN = 40 };

struct bed {
    struct sys_fake fake;  /* of the client that suffers */
    struct sys_fake sound; /* of everybody else; its clocks follow */
    char *folder;
    char path[256];
};

/* One client. */
struct client {
    struct bed *bed;
    struct sys_fake *fake;
    struct hf_transport *transport;
    struct hf_session *session;
    bool is_granted;
    uint64_t token;
    bool may_run; /* the store knows that a job may run */
    bool is_lost;
    bool is_over;
    struct hf_error error;
};

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));

    assert_non_null(bed);
    sys_fake_init(&bed->fake);
    sys_fake_init(&bed->sound);
    bed->sound.seed = 99;
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;

    if (bed->folder)
        folder_free(bed->folder);
    free(bed);
    return 0;
}

static void make_folder(struct bed *bed)
{
    if (bed->folder)
        folder_free(bed->folder);
    bed->folder = folder_new();
    snprintf(bed->path, sizeof(bed->path), "%s/db", bed->folder);
}

/* ---- a client, step by step ---------------------------------------------- */

static enum hf_news next(struct client *client)
{
    return hf_session_next(client->session, client->fake->steady,
                           client->fake->wall);
}

static void is_told(const struct client *client)
{
    const struct hf_error *error = &client->error;

    assert_true(error->text[0] != '\0');
    assert_null(strchr(error->text, '\n'));
    /* What the kernel does is neither the user's fault nor ours; a class file
     * that is there and cannot be read is one that cannot be obeyed. */
    if (error->code == HF_ERR_CONFIG) {
        assert_int_equal(strncmp(error->text, "cannot read ", 12), 0);
        return;
    }
    assert_true(error->code == HF_ERR_UNAVAILABLE ||
                error->code == HF_ERR_NOMEM || error->code == HF_ERR_NOSPACE ||
                error->code == HF_ERR_DENIED || error->code == HF_ERR_DAMAGED ||
                error->code == HF_ERR_LOST);
}

static bool open_client(struct client *client)
{
    const struct hf_local_options place = {.store = client->bed->path,
                                           .classes = client->bed->folder};
    struct hf_session_options with = {.class_name = "batch",
                                      .ttl_ms = TTL_MS,
                                      .grace = {-1},
                                      .holder = {.host = "h", .pid = 7}};
    int failed;

    if (hf_local_open(&client->fake->sys, &place, &client->transport,
                      &client->error)) {
        is_told(client);
        return false;
    }
    failed = client->fake->sys.random(&client->fake->sys, with.random,
                                      sizeof(with.random));
    client->session = failed ? NULL : hf_session_new(client->transport, &with);
    return client->session != NULL;
}

/* True: it moved on; false: there is nothing to hear before time passes. */
static bool hear(struct client *client)
{
    const struct hf_session_want want = {.key = KEY};

    switch (next(client)) {
    case HF_NEWS_NONE:
        return false;
    case HF_NEWS_READY:
        hf_session_acquire(client->session, &want, client->fake->steady,
                           client->fake->wall);
        return true;
    case HF_NEWS_GRANTED:
        client->is_granted = true;
        client->token = hf_session_token(client->session);
        return true;
    case HF_NEWS_TERM:
    case HF_NEWS_KILL:
        client->is_lost = true;
        client->error = *hf_session_error(client->session);
        return true;
    case HF_NEWS_FAILED:
        client->error = *hf_session_error(client->session);
        is_told(client);
        client->is_over = true;
        return true;
    case HF_NEWS_BUSY:
    case HF_NEWS_RELEASED:
    case HF_NEWS_ENDED:
        client->error = *hf_session_error(client->session);
        client->is_over = true;
        return true;
    case HF_NEWS_PLACE_LOST:
    case HF_NEWS_DOUBT:
    case HF_NEWS_RENEWED:
        return true;
    }
    return false;
}

static void pass(struct bed *bed, struct hf_span span)
{
    sys_fake_pass(&bed->fake, span);
    bed->sound.steady = bed->fake.steady;
    bed->sound.wall = bed->fake.wall;
}

/* Until it has the key or is over. */
static void get_key(struct client *client)
{
    int rounds = 0;

    while (!client->is_granted && !client->is_over) {
        assert_true(++rounds < ROUNDS_MAX);
        if (!hear(client))
            pass(client->bed, hf_span_ms(200));
    }
}

static void close_client(struct client *client)
{
    if (client->session)
        hf_session_free(client->session, client->fake->steady,
                        client->fake->wall);
    if (client->transport)
        client->transport->ops->close(client->transport);
    client->session = NULL;
    client->transport = NULL;
}

static void release(struct client *client)
{
    int rounds = 0;

    client->is_over = false;
    hf_session_release(client->session, client->fake->steady,
                       client->fake->wall);
    while (!client->is_over) {
        assert_true(++rounds < ROUNDS_MAX);
        if (!hear(client))
            pass(client->bed, hf_span_ms(200));
    }
}

/* ---- the others ------------------------------------------------------------
 */

/* Somebody whose calls all work asks for the key and gives it back. Did he get
 * it? */
static bool rival_gets_it(struct bed *bed, uint64_t *token)
{
    struct client rival = {.bed = bed, .fake = &bed->sound};
    bool got;

    nth_malloc_pause(true);
    if (!open_client(&rival))
        fail_msg("a rival cannot open the store: %s", rival.error.text);
    get_key(&rival);
    if (rival.is_over && !rival.is_granted && rival.error.code)
        fail_msg("a rival cannot ask: %s", rival.error.text);
    got = rival.is_granted;
    *token = rival.token;
    if (got) {
        release(&rival);
        assert_int_equal(rival.error.code, HF_ERR_OK);
    }
    close_client(&rival);
    nth_malloc_pause(false);
    return got;
}

static void has_no_rival(const struct client *client)
{
    uint64_t token;

    bool is_dead = client->fake->is_death && client->fake->has_failed;

    if (client->is_granted && !client->is_lost && !is_dead)
        assert_false(rival_gets_it(client->bed, &token));
}

/* ---- one life ---------------------------------------------------------------
 */

static void tell_state(struct client *client)
{
    struct hf_state_file state = {.state = HF_STATE_HELD,
                                  .token = client->token};
    struct hf_state_file told;
    int fd = hf_session_state_fd(client->session);

    state.deadline = hf_deadline_kill_at(hf_session_deadline(client->session));
    assert_true(fd >= 0);
    if (hf_state_file_write(&client->fake->sys, fd, &state, &client->error)) {
        is_told(client);
        return;
    }
    assert_int_equal(
        hf_state_file_read(&client->bed->sound.sys, fd, &told, NULL),
        HF_ERR_OK);
    assert_true(told.token == client->token);
}

/* Two renewals' time passes, and the answers are heard. */
static void renew(struct client *client)
{
    for (int i = 0; i < 20 && !client->is_lost; i++) {
        pass(client->bed, hf_span_ms(TTL_MS / 30));
        while (hear(client))
            continue;
    }
}

static void live(struct client *client)
{
    if (!open_client(client)) {
        close_client(client);
        return;
    }
    get_key(client);
    if (client->is_granted) {
        has_no_rival(client);
        tell_state(client);
        client->may_run =
            !hf_session_job(client->session, HF_PHASE_STARTED, NULL,
                            client->fake->steady, client->fake->wall);
        has_no_rival(client);
        renew(client);
        has_no_rival(client);
        (void)!hf_session_job(client->session, HF_PHASE_GONE, NULL,
                              client->fake->steady, client->fake->wall);
        release(client);
    }
    close_client(client);
}

/* All faults are over: the key is free, at once or when the lease has run out,
 * and under a higher token. */
static void key_can_be_had(struct bed *bed, const struct client *before)
{
    uint64_t token;

    if (!rival_gets_it(bed, &token)) {
        pass(bed, hf_span_ms(TTL_MS + 1000));
        assert_true(rival_gets_it(bed, &token));
    }
    assert_true(token > before->token);
}

/* ---- the walks
 * --------------------------------------------------------------- */

typedef void (*begin_fn)(struct bed *bed, unsigned int n);
typedef bool (*end_fn)(struct bed *bed);

static bool end_calls(struct bed *bed)
{
    return sys_fake_end(&bed->fake);
}

static bool end_mallocs(struct bed *bed)
{
    (void)bed;
    return nth_malloc_end();
}

static void fail_eio(struct bed *bed, unsigned int n)
{
    sys_fake_fail(&bed->fake, FAKE_ANY, n, EIO);
}

static void fail_enospc(struct bed *bed, unsigned int n)
{
    sys_fake_fail(&bed->fake, FAKE_ANY, n, ENOSPC);
}

static void fail_emfile(struct bed *bed, unsigned int n)
{
    sys_fake_fail(&bed->fake, FAKE_ANY, n, EMFILE);
}

static void fail_eacces(struct bed *bed, unsigned int n)
{
    sys_fake_fail(&bed->fake, FAKE_ANY, n, EACCES);
}

static void fail_malloc(struct bed *bed, unsigned int n)
{
    (void)bed;
    nth_malloc_fail(n);
}

static void die(struct bed *bed, unsigned int n)
{
    sys_fake_die(&bed->fake, FAKE_ANY, n);
}

static void walk(struct bed *bed, begin_fn begin, end_fn end, bool is_fresh)
{
    /* Of more than a thousand allocations one in seven where each is slow. */
    unsigned int step = begin == fail_malloc && getenv("HF_SANITIZED") ? 7 : 1;
    unsigned int n;
    bool has_failed = true;

    make_folder(bed);
    if (!is_fresh) {
        uint64_t token;

        assert_true(rival_gets_it(bed, &token));
    }
    for (n = 1; has_failed; n += step) {
        struct client client = {.bed = bed, .fake = &bed->fake};
        unsigned int fds = folder_count("/proc/self/fd");

        if (is_fresh)
            make_folder(bed);
        begin(bed, n);
        live(&client);
        has_failed = end(bed);
        assert_int_equal(folder_count("/proc/self/fd"), fds);
        assert_true(has_failed || (client.is_granted && !client.is_lost &&
                                   client.error.code == HF_ERR_OK));
        key_can_be_had(bed, &client);
        assert_int_equal(folder_count("/proc/self/fd"), fds);
    }
    assert_true(n > CALLS_MIN);
}

static void any_call_may_fail(void **state)
{
    walk(*state, fail_eio, end_calls, false);
    walk(*state, fail_eacces, end_calls, false);
}

static void any_call_may_find_no_room(void **state)
{
    walk(*state, fail_enospc, end_calls, false);
    walk(*state, fail_emfile, end_calls, false);
}

static void any_call_in_a_new_place_may_fail(void **state)
{
    walk(*state, fail_eio, end_calls, true);
    walk(*state, fail_enospc, end_calls, true);
}

static void any_call_may_be_the_last(void **state)
{
    walk(*state, die, end_calls, false);
}

static void any_allocation_may_fail(void **state)
{
    walk(*state, fail_malloc, end_mallocs, false);
    walk(*state, fail_malloc, end_mallocs, true);
}

#define WALK(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WALK(any_call_may_fail),
        WALK(any_call_may_find_no_room),
        WALK(any_call_in_a_new_place_may_fail),
        WALK(any_call_may_be_the_last),
        WALK(any_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("client, failures", tests, NULL, NULL);
}
