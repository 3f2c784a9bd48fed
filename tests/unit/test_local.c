/* SPDX-License-Identifier: Apache-2.0 */
#include "client/local_over.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sim.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/folder.h"
#include "tests/lib/nth_malloc.h"
#include "tests/lib/sys_fake.h"

#define KEY "t/n/k"

struct bed {
    struct sys_fake fake;
    char *folder;
    struct hf_sim_world *world;
    struct hf_transport *transport;
};

static struct hf_transport *open_over(struct bed *bed, bool read_only)
{
    struct hf_store *store = hf_sim_open(bed->world);
    struct hf_transport *transport;

    assert_non_null(store);
    transport = hf_local_over(&bed->fake.sys, store, bed->folder,
                              "/somewhere/lock.db", read_only);
    assert_non_null(transport);
    return transport;
}

static int set_up(void **state)
{
    struct hf_sim_options options = {
        .seed = 1,
        .traits = {.shared_queue = true, .cheap_conflict = true, .local = true},
    };
    struct bed *bed = calloc(1, sizeof(*bed));

    assert_non_null(bed);
    sys_fake_init(&bed->fake);
    bed->folder = folder_new();
    assert_int_equal(chmod(bed->folder, 0755), 0);
    bed->world = hf_sim_world_new(&options);
    assert_non_null(bed->world);
    bed->transport = open_over(bed, false);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;

    bed->transport->ops->close(bed->transport);
    hf_sim_world_free(bed->world);
    folder_free(bed->folder);
    free(bed);
    return 0;
}

static void submit(struct bed *bed, struct hf_transport *transport,
                   struct hf_request *request)
{
    transport->ops->submit(transport, request, bed->fake.steady,
                           bed->fake.wall);
}

static struct hf_request *next(struct bed *bed, struct hf_transport *transport)
{
    hf_sim_world_advance(bed->world, bed->fake.steady);
    return transport->ops->next(transport, bed->fake.steady, bed->fake.wall);
}

/* Asked and answered within the call: the simulated store has no delays. */
static void ask(struct bed *bed, struct hf_transport *transport,
                struct hf_request *request)
{
    submit(bed, transport, request);
    assert_ptr_equal(next(bed, transport), request);
}

static void put_class(const struct bed *bed, const char *name, const char *text)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.yaml", bed->folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0644), 0);
}

static struct hf_request *describe(const char *class_name)
{
    struct hf_request *request = calloc(1, sizeof(*request));

    assert_non_null(request);
    request->kind = HF_REQUEST_DESCRIBE;
    snprintf(request->class_name, sizeof(request->class_name), "%s",
             class_name);
    return request;
}

static void get_key(struct bed *bed, struct hf_request *open,
                    struct hf_request *acquire)
{
    ask(bed, bed->transport, open);
    assert_int_equal(open->answer, HF_ANSWER_DONE);
    acquire->session = open->session;
    ask(bed, bed->transport, acquire);
    assert_int_equal(acquire->answer, HF_ANSWER_GRANTED);
}

static void a_key_is_acquired_and_the_edge_says_who(void **state)
{
    struct bed *bed = *state;
    struct hf_request open = {.kind = HF_REQUEST_SESSION_OPEN,
                              .class_name = "batch"};
    struct hf_request acquire = {.kind = HF_REQUEST_ACQUIRE,
                                 .class_name = "batch",
                                 .key = KEY,
                                 .uid = 4711,
                                 .grant = {1},
                                 .holder = {.uid = 4711, .pid = 5}};
    struct hf_request show = {.kind = HF_REQUEST_SHOW, .key = KEY};

    get_key(bed, &open, &acquire);
    ask(bed, bed->transport, &show);
    assert_int_equal(show.answer, HF_ANSWER_DONE);
    assert_int_equal(show.info_count, 1);
    assert_int_equal(show.infos[0].who.pid, 5);
    assert_int_equal(show.infos[0].who.uid, geteuid());
    assert_int_equal(show.infos[0].token, acquire.token);
    hf_request_clear(&show);
    hf_request_clear(&acquire);
    hf_request_clear(&open);
}

static void a_class_is_learned_when_a_request_names_it(void **state)
{
    struct bed *bed = *state;
    struct hf_request *request = describe("nightly");

    put_class(bed, "nightly", "ttl: {default: 33s}\n");
    assert_int_equal(bed->fake.count[FAKE_OPEN], 0);
    ask(bed, bed->transport, request);
    assert_int_equal(request->answer, HF_ANSWER_DONE);
    assert_int_equal(request->rules.ttl_default_ms, 33000);
    hf_request_clear(request);
    free(request);
}

static void a_class_that_cannot_be_read_fails_the_request_alone(void **state)
{
    struct bed *bed = *state;
    struct hf_request *bad = describe("nightly");
    struct hf_request *good = describe("batch");

    put_class(bed, "nightly", "mode: never\n");
    submit(bed, bed->transport, bad);
    submit(bed, bed->transport, good);
    assert_true(hf_time_reached(bed->transport->ops->wake_at(bed->transport),
                                bed->fake.steady));
    assert_ptr_equal(next(bed, bed->transport), bad);
    assert_int_equal(bad->answer, HF_ANSWER_FAILED);
    assert_int_equal(bad->error.code, HF_ERR_CONFIG);
    assert_non_null(strstr(bad->error.text, "nightly.yaml:1:7: mode: "));
    assert_ptr_equal(next(bed, bed->transport), good);
    assert_int_equal(good->answer, HF_ANSWER_DONE);
    assert_null(next(bed, bed->transport));
    assert_int_equal(hf_sim_world_commits(bed->world), 0);
    hf_request_clear(bad);
    hf_request_clear(good);
    free(bad);
    free(good);
}

static void what_is_cancelled_does_not_come_back(void **state)
{
    struct bed *bed = *state;
    struct hf_request *asked[3];
    size_t i;

    for (i = 0; i < 3; i++) {
        asked[i] = describe("nothing");
        submit(bed, bed->transport, asked[i]);
    }
    for (i = 1; i < 3; i++)
        bed->transport->ops->cancel(bed->transport, asked[i], bed->fake.steady,
                                    bed->fake.wall);
    assert_ptr_equal(next(bed, bed->transport), asked[0]);
    assert_null(next(bed, bed->transport));
    /* The list is sound: it takes more. */
    submit(bed, bed->transport, asked[2]);
    assert_ptr_equal(next(bed, bed->transport), asked[2]);
    assert_null(next(bed, bed->transport));
    for (i = 0; i < 3; i++)
        free(asked[i]);
}

static void who_only_reads_makes_nothing(void **state)
{
    struct bed *bed = *state;
    struct hf_transport *reader = open_over(bed, true);
    struct hf_request list = {.kind = HF_REQUEST_LIST, .limit = 10};
    struct hf_request show = {.kind = HF_REQUEST_SHOW, .key = KEY};
    struct hf_request epoch = {.kind = HF_REQUEST_EPOCH_SHOW};

    ask(bed, reader, &list);
    assert_int_equal(list.answer, HF_ANSWER_DONE);
    assert_int_equal(list.info_count, 0);
    ask(bed, reader, &show);
    assert_int_equal(show.answer, HF_ANSWER_DONE);
    ask(bed, reader, &epoch);
    assert_int_equal(epoch.answer, HF_ANSWER_DONE);
    assert_false(epoch.epoch.exists);
    assert_int_equal(hf_sim_world_commits(bed->world), 0);
    reader->ops->close(reader);
    /* The other one makes the record. */
    ask(bed, bed->transport, &list);
    assert_int_equal(hf_sim_world_commits(bed->world), 1);
    hf_request_clear(&list);
    hf_request_clear(&show);
    hf_request_clear(&epoch);
}

static void an_advance_keeps_who_asked_and_why(void **state)
{
    struct bed *bed = *state;
    struct hf_request list = {.kind = HF_REQUEST_LIST, .limit = 1};
    struct hf_request before = {.kind = HF_REQUEST_EPOCH_SHOW};
    struct hf_request after = {.kind = HF_REQUEST_EPOCH_SHOW};
    struct hf_request advance = {
        .kind = HF_REQUEST_EPOCH_ADVANCE,
        .now = true,
        .epoch = {.by = "an operator", .why = "a drill"}};

    ask(bed, bed->transport, &list);
    ask(bed, bed->transport, &before);
    assert_string_equal(before.epoch.by, "store");
    advance.epoch.revision = before.epoch.revision;
    ask(bed, bed->transport, &advance);
    assert_int_equal(advance.answer, HF_ANSWER_DONE);
    ask(bed, bed->transport, &after);
    assert_int_equal(after.epoch.epoch, before.epoch.epoch + 1);
    assert_string_equal(after.epoch.by, "an operator");
    assert_string_equal(after.epoch.why, "a drill");
    assert_string_equal(advance.epoch.why, "a drill");
    assert_int_equal(advance.epoch.at_wall_ms, after.epoch.at_wall_ms);
    hf_request_clear(&list);
    hf_request_clear(&before);
    hf_request_clear(&advance);
    hf_request_clear(&after);
}

static void without_memory_the_store_stays_the_callers(void **state)
{
    struct bed *bed = *state;
    struct hf_store *store = hf_sim_open(bed->world);
    struct hf_transport *transport;
    unsigned int n;

    assert_non_null(store);
    for (n = 1;; n++) {
        nth_malloc_fail(n);
        transport = hf_local_over(&bed->fake.sys, store, bed->folder,
                                  "/somewhere/lock.db", false);
        if (!nth_malloc_end())
            break;
        assert_null(transport);
    }
    assert_true(n > 3);
    assert_non_null(transport);
    transport->ops->close(transport);
}

/* Nor is a key that is held said to be free. */
static void without_memory_no_hold_is_left_out(void **state)
{
    struct bed *bed = *state;
    struct hf_request open = {.kind = HF_REQUEST_SESSION_OPEN,
                              .class_name = "batch"};
    struct hf_request acquire = {.kind = HF_REQUEST_ACQUIRE,
                                 .class_name = "batch",
                                 .key = KEY,
                                 .grant = {1},
                                 .holder = {.pid = 5}};
    unsigned int refused = 0;
    bool has_failed = true;

    get_key(bed, &open, &acquire);
    for (unsigned int n = 1; has_failed; n++) {
        struct hf_request show = {.kind = HF_REQUEST_SHOW, .key = KEY};
        struct hf_request *answered;

        nth_malloc_fail(n);
        submit(bed, bed->transport, &show);
        answered = next(bed, bed->transport);
        has_failed = nth_malloc_end();
        assert_ptr_equal(answered, &show);
        if (show.answer == HF_ANSWER_DONE)
            assert_int_equal(show.info_count, 1);
        else
            assert_int_equal(show.error.code, HF_ERR_NOMEM);
        refused += show.answer != HF_ANSWER_DONE;
        hf_request_clear(&show);
    }
    assert_true(refused > 10);
    hf_request_clear(&acquire);
    hf_request_clear(&open);
}

/* Nor is a hold that stands said to be lost: its job would be killed. */
static void without_memory_no_hold_is_lost(void **state)
{
    struct bed *bed = *state;
    struct hf_request open = {.kind = HF_REQUEST_SESSION_OPEN,
                              .class_name = "batch"};
    struct hf_request acquire = {.kind = HF_REQUEST_ACQUIRE,
                                 .class_name = "batch",
                                 .key = KEY,
                                 .grant = {1},
                                 .holder = {.pid = 5}};
    struct hf_hold_ref hold = {.key = KEY, .grant = {1}};
    unsigned int refused = 0;
    bool has_failed = true;

    get_key(bed, &open, &acquire);
    hold.mode = acquire.mode;
    hold.token = acquire.token;
    for (unsigned int n = 1; has_failed; n++) {
        struct hf_request renew = {.kind = HF_REQUEST_RENEW,
                                   .session = acquire.session,
                                   .holds = &hold,
                                   .hold_count = 1};

        hold.stands = false;
        nth_malloc_fail(n);
        submit(bed, bed->transport, &renew);
        assert_ptr_equal(next(bed, bed->transport), &renew);
        has_failed = nth_malloc_end();
        if (renew.answer == HF_ANSWER_DONE)
            assert_true(hold.stands);
        else
            assert_int_equal(renew.error.code, HF_ERR_NOMEM);
        refused += renew.answer != HF_ANSWER_DONE;
    }
    assert_true(refused > 5);
    hf_request_clear(&acquire);
    hf_request_clear(&open);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_key_is_acquired_and_the_edge_says_who),
        T(a_class_is_learned_when_a_request_names_it),
        T(a_class_that_cannot_be_read_fails_the_request_alone),
        T(what_is_cancelled_does_not_come_back),
        T(who_only_reads_makes_nothing),
        T(an_advance_keeps_who_asked_and_why),
        T(without_memory_the_store_stays_the_callers),
        T(without_memory_no_hold_is_left_out),
        T(without_memory_no_hold_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
