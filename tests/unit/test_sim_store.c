/* SPDX-License-Identifier: Apache-2.0 */
/* The faults and the time of the simulated store; what every store must do is
 * asked by the conformance suite. */
#include "store/sim.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/cmocka_all.h"

enum { ALWAYS = 65536, MANY = 300 };

struct scene {
    struct hf_sim_world *world;
    struct hf_store *a;
    struct hf_store *b;
    struct hf_time now;
};

static void begin(struct scene *scene, const struct hf_sim_options *options)
{
    *scene = (struct scene){.world = hf_sim_world_new(options)};
    assert_non_null(scene->world);
    scene->a = hf_sim_open(scene->world);
    scene->b = hf_sim_open(scene->world);
    assert_non_null(scene->a);
    assert_non_null(scene->b);
}

static void end(struct scene *scene)
{
    scene->a->ops->close(scene->a);
    scene->b->ops->close(scene->b);
    hf_sim_world_free(scene->world);
}

static void pass_ms(struct scene *scene, int64_t ms)
{
    scene->now = hf_time_add(scene->now, hf_span_ms(ms));
    hf_sim_world_advance(scene->world, scene->now);
}

static void switch_faults(struct scene *scene,
                          const struct hf_sim_faults *faults)
{
    hf_sim_world_faults(scene->world, faults);
}

static void calm(struct scene *scene)
{
    const struct hf_sim_faults none = {.failed = 0};

    switch_faults(scene, &none);
}

/* ---- one key, put and looked at ---- */

struct put {
    struct hf_action action;
    struct hf_branch branch;
    struct hf_store_request request;
};

static void put_begin(struct put *put, const char *key, hf_lease_id lease)
{
    *put = (struct put){.action = {.kind = HF_DO_PUT,
                                   .key = {key, strlen(key)},
                                   .value = {"v", 1},
                                   .lease = lease}};
    put->branch.then = &put->action;
    put->branch.then_count = 1;
    put->request = (struct hf_store_request){
        .kind = HF_STORE_TXN, .branches = &put->branch, .branch_count = 1};
}

static enum hf_outcome run(struct scene *scene, struct hf_store *store,
                           struct hf_store_request *request)
{
    hf_store_submit(store, request, scene->now);
    assert_ptr_equal(hf_store_next(store, scene->now), request);
    return request->outcome;
}

static enum hf_outcome put_key(struct scene *scene, const char *key,
                               hf_lease_id lease)
{
    struct put put;

    put_begin(&put, key, lease);
    run(scene, scene->a, &put.request);
    hf_store_request_clear(&put.request);
    return put.request.outcome;
}

/* Judged by the committed stream, which no fault can touch. */
static size_t committed(struct scene *scene)
{
    size_t count = 0;

    while (hf_sim_world_committed(scene->world))
        count++;
    return count;
}

static hf_lease_id grant(struct scene *scene, int64_t ttl_ms)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_GRANT,
                                       .ttl_ms = ttl_ms};

    assert_int_equal(run(scene, scene->a, &request), HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&request);
    return request.lease;
}

static enum hf_outcome renew(struct scene *scene, hf_lease_id lease)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_RENEW,
                                       .lease = lease};

    run(scene, scene->a, &request);
    hf_store_request_clear(&request);
    return request.outcome;
}

/* ---- unknown outcomes ---- */

static void unknown_done_is_done_and_unknown_not_is_not(void **state)
{
    const struct hf_sim_faults done = {.unknown_done = ALWAYS};
    const struct hf_sim_faults not_done = {.unknown_not = ALWAYS};
    struct hf_sim_options options = {.seed = 1, .faults = done};
    struct scene scene;

    (void)state;
    begin(&scene, &options);
    assert_int_equal(put_key(&scene, "k", 0), HF_OUTCOME_UNKNOWN);
    assert_int_equal(committed(&scene), 1);
    switch_faults(&scene, &not_done);
    assert_int_equal(put_key(&scene, "k", 0), HF_OUTCOME_UNKNOWN);
    assert_int_equal(committed(&scene), 0);
    end(&scene);
}

static void unknown_late_lands_within_its_time(void **state)
{
    const struct hf_sim_faults late = {.unknown_late = ALWAYS,
                                       .late_max = {5000000000}};
    struct hf_sim_options options = {.seed = 1, .faults = late};
    struct scene scene;
    size_t at_once = 0;

    (void)state;
    begin(&scene, &options);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(put_key(&scene, "k", 0), HF_OUTCOME_UNKNOWN);
        at_once += committed(&scene);
        pass_ms(&scene, 5001);
        assert_int_equal(at_once + committed(&scene), 1);
        at_once = 0;
    }
    end(&scene);
}

static void a_lost_answer_never_comes_and_can_be_cancelled(void **state)
{
    const struct hf_sim_faults lost = {.answer_lost = ALWAYS};
    struct hf_sim_options options = {.seed = 1, .faults = lost};
    struct scene scene;
    struct put put;
    size_t done = 0;

    (void)state;
    begin(&scene, &options);
    for (int i = 0; i < MANY; i++) {
        put_begin(&put, "k", 0);
        hf_store_submit(scene.a, &put.request, scene.now);
        pass_ms(&scene, 100000);
        assert_null(hf_store_next(scene.a, scene.now));
        scene.a->ops->cancel(scene.a, &put.request);
        hf_store_request_clear(&put.request);
        done += committed(&scene);
    }
    assert_in_range(done, MANY / 4, MANY * 3 / 4); /* done or not */
    end(&scene);
}

static void failed_is_not_done(void **state)
{
    const struct hf_sim_faults failed = {.failed = ALWAYS};
    struct hf_sim_options options = {.seed = 1, .faults = failed};
    struct scene scene;

    (void)state;
    begin(&scene, &options);
    assert_int_equal(put_key(&scene, "k", 0), HF_OUTCOME_FAILED);
    assert_int_equal(committed(&scene), 0);
    end(&scene);
}

static void a_full_store_still_deletes(void **state)
{
    const struct hf_sim_faults full = {.no_space = true};
    struct hf_sim_options options = {.seed = 1};
    struct scene scene;
    struct put delete_k;

    (void)state;
    begin(&scene, &options);
    assert_int_equal(put_key(&scene, "k", 0), HF_OUTCOME_COMMITTED);
    switch_faults(&scene, &full);
    assert_int_equal(put_key(&scene, "l", 0), HF_OUTCOME_FAILED);
    put_begin(&delete_k, "k", 0);
    delete_k.action.kind = HF_DO_DELETE;
    assert_int_equal(run(&scene, scene.a, &delete_k.request),
                     HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&delete_k.request);
    assert_int_equal(committed(&scene), 2);
    end(&scene);
}

static void a_delay_is_never_longer_than_it_may_be(void **state)
{
    struct hf_sim_options options = {.seed = 1,
                                     .faults = {.delay_max = {2000000000}}};
    struct scene scene;
    struct put put;
    size_t late = 0;

    (void)state;
    begin(&scene, &options);
    for (int i = 0; i < MANY; i++) {
        put_begin(&put, "k", 0);
        hf_store_submit(scene.a, &put.request, scene.now);
        pass_ms(&scene, 1000);
        if (!hf_store_next(scene.a, scene.now)) {
            late++;
            pass_ms(&scene, 1000);
            assert_ptr_equal(hf_store_next(scene.a, scene.now), &put.request);
        }
        assert_int_equal(put.request.outcome, HF_OUTCOME_COMMITTED);
        assert_int_equal(committed(&scene), 1);
        hf_store_request_clear(&put.request);
    }
    assert_in_range(late, MANY / 4, MANY * 3 / 4);
    end(&scene);
}

/* What a dead process had asked for may still be carried out, once. */
static void the_dead_are_heard_once_or_never(void **state)
{
    struct hf_sim_options options = {.seed = 1,
                                     .faults = {.delay_max = {2000000000}}};
    size_t done = 0;

    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        struct scene scene;
        struct put put;
        size_t count;

        options.seed = i + 1;
        begin(&scene, &options);
        put_begin(&put, "k", 0);
        hf_store_submit(scene.a, &put.request, scene.now);
        hf_sim_kill(scene.a, true);
        hf_store_request_clear(&put.request);
        memset(&put, 0x5a, sizeof(put)); /* its memory is gone */
        pass_ms(&scene, 5000);
        count = committed(&scene);
        assert_true(count <= 1);
        done += count;
        end(&scene);
    }
    assert_in_range(done, MANY / 4, MANY * 3 / 4);
}

/* ---- watches ---- */

static void a_lost_change_is_never_told(void **state)
{
    const struct hf_sim_faults lost = {.watch_lost = ALWAYS};
    struct hf_sim_options options = {.seed = 1, .faults = lost};
    struct hf_store_request watch = {.kind = HF_STORE_WATCH};
    struct scene scene;

    (void)state;
    begin(&scene, &options);
    hf_store_submit(scene.b, &watch, scene.now);
    assert_int_equal(put_key(&scene, "k", 0), HF_OUTCOME_COMMITTED);
    assert_null(hf_store_next(scene.b, scene.now));
    calm(&scene);
    assert_int_equal(put_key(&scene, "l", 0), HF_OUTCOME_COMMITTED);
    assert_ptr_equal(hf_store_next(scene.b, scene.now), &watch);
    assert_int_equal(watch.change_count, 1);
    assert_memory_equal(watch.changes[0].record.key.data, "l", 1);
    hf_store_request_clear(&watch);
    end(&scene);
}

static void a_watch_can_begin_compacted(void **state)
{
    const struct hf_sim_faults compacted = {.compacted = ALWAYS};
    struct hf_sim_options options = {.seed = 1, .faults = compacted};
    struct hf_store_request watch = {.kind = HF_STORE_WATCH};
    struct scene scene;

    (void)state;
    begin(&scene, &options);
    assert_int_equal(put_key(&scene, "k", 0), HF_OUTCOME_COMMITTED);
    assert_int_equal(run(&scene, scene.b, &watch), HF_OUTCOME_REFUSED);
    assert_int_equal(watch.refusal, HF_REFUSED_COMPACTED);
    assert_true(watch.compacted > watch.after);
    hf_store_request_clear(&watch);
    end(&scene);
}

/* ---- leases ---- */

static void an_early_end_comes_within_the_ttl(void **state)
{
    const struct hf_sim_faults early = {.lease_early = ALWAYS};
    struct hf_sim_options options = {.seed = 1};
    struct scene scene;
    hf_lease_id lease;

    (void)state;
    begin(&scene, &options);
    lease = grant(&scene, 10000);
    put_key(&scene, "k", lease);
    committed(&scene);
    switch_faults(&scene, &early);
    assert_int_equal(renew(&scene, lease), HF_OUTCOME_COMMITTED);
    pass_ms(&scene, 9999);
    assert_int_equal(committed(&scene), 1);
    assert_int_equal(renew(&scene, lease), HF_OUTCOME_REFUSED);
    end(&scene);
}

static void a_lying_renewal_says_yes_and_keeps_nothing(void **state)
{
    const struct hf_sim_faults lies = {.keepalive_lies = ALWAYS};
    struct hf_sim_options options = {.seed = 1, .faults = lies};
    struct scene scene;

    (void)state;
    begin(&scene, &options);
    assert_int_equal(renew(&scene, 12345), HF_OUTCOME_COMMITTED);
    assert_int_equal(put_key(&scene, "k", 12345), HF_OUTCOME_REFUSED);
    end(&scene);
}

static void the_stores_clock_runs_at_its_own_rate(void **state)
{
    struct hf_sim_options options = {
        .seed = 1, .rate_ppm = 100000, .expires_by_itself = true};
    struct scene scene;

    (void)state;
    begin(&scene, &options); /* a tenth too fast: 10 s are over after 9.09 s */
    put_key(&scene, "k", grant(&scene, 10000));
    committed(&scene);
    pass_ms(&scene, 9090);
    assert_int_equal(committed(&scene), 0);
    pass_ms(&scene, 2);
    assert_int_equal(committed(&scene), 1);
    end(&scene);
}

/* ---- clocks of processes ---- */

static void a_clock_and_its_inverse_agree(void **state)
{
    const int32_t rates[] = {-400000, -7000, -1, 0, 1, 7000, 400000};

    (void)state;
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct hf_sim_clock clock = {.ahead = {123456789},
                                     .rate_ppm = rates[i]};

        for (int64_t ns = 0; ns < 5000000000; ns += 123456787) {
            struct hf_time reading = {ns + clock.ahead.ns};
            struct hf_time when = hf_sim_clock_when(clock, reading);

            assert_true(hf_sim_clock_read(clock, when).ns >= reading.ns);
            assert_true(
                when.ns == 0 ||
                hf_sim_clock_read(clock, (struct hf_time){when.ns - 1}).ns <
                    reading.ns);
        }
    }
    assert_int_equal(
        hf_sim_clock_when((struct hf_sim_clock){.rate_ppm = 5}, HF_TIME_NEVER)
            .ns,
        INT64_MAX);
}

static void wake_at_is_told_by_the_processs_clock(void **state)
{
    struct hf_sim_options options = {.seed = 1,
                                     .faults = {.delay_max = {2000000000}}};
    struct hf_sim_clock clock = {.ahead = {77000000000}, .rate_ppm = -5000};
    struct scene scene;
    struct put put;

    (void)state;
    begin(&scene, &options);
    hf_sim_set_clock(scene.a, clock);
    put_begin(&put, "k", 0);
    hf_store_submit(scene.a, &put.request, scene.now);
    while (!hf_store_next(scene.a, scene.now)) {
        struct hf_time at =
            hf_sim_clock_when(clock, scene.a->ops->wake_at(scene.a));

        assert_true(at.ns > scene.now.ns);
        scene.now = at;
        hf_sim_world_advance(scene.world, at);
    }
    hf_store_request_clear(&put.request);
    end(&scene);
}

/* ---- restores ---- */

struct restored {
    enum hf_sim_restore how;
    bool revision_falls;
    bool new_id;
    uint32_t epoch_min;
};

static void each_restore_puts_back_what_it_says(void **state)
{
    const struct restored cases[] = {
        {HF_SIM_RESTORE_RISING, false, false, 1},
        {HF_SIM_RESTORE_NEW_ID, false, true, 1},
        {HF_SIM_RESTORE_EPOCH, true, false, 2},
        {HF_SIM_RESTORE_NEW_LIFE, true, true, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hf_sim_options options = {.seed = 7};
        struct hf_store_request watch = {.kind = HF_STORE_WATCH};
        struct hf_sim_snapshot *snapshot;
        struct hf_store_identity before;
        struct hf_store_identity after;
        struct scene scene;
        uint64_t top;

        begin(&scene, &options);
        put_key(&scene, "old", 0);
        snapshot = hf_sim_snapshot_take(scene.world);
        put_key(&scene, "new", 0);
        top = hf_sim_world_revision(scene.world);
        before = hf_sim_world_identity(scene.world);
        watch.after = top;
        hf_store_submit(scene.b, &watch, scene.now);
        committed(&scene);
        hf_sim_snapshot_restore(scene.world, snapshot, cases[i].how);
        hf_sim_snapshot_free(snapshot);
        after = hf_sim_world_identity(scene.world);
        assert_int_equal(hf_sim_world_revision(scene.world) < top,
                         cases[i].revision_falls);
        assert_int_equal(memcmp(before.id, after.id, sizeof(after.id)) != 0,
                         cases[i].new_id);
        assert_int_equal(after.epoch_min, cases[i].epoch_min);
        assert_ptr_equal(hf_store_next(scene.b, scene.now), &watch);
        assert_int_equal(watch.refusal, HF_REFUSED_COMPACTED);
        hf_store_request_clear(&watch);
        /* "new" is gone, so that deleting it changes nothing. */
        {
            struct put delete_new;

            put_begin(&delete_new, "new", 0);
            delete_new.action.kind = HF_DO_DELETE;
            run(&scene, scene.a, &delete_new.request);
            assert_int_equal(committed(&scene), 0);
            delete_new.action.key = (struct hf_bytes){"old", 3};
            run(&scene, scene.a, &delete_new.request);
            assert_int_equal(committed(&scene), 1);
            hf_store_request_clear(&delete_new.request);
        }
        end(&scene);
    }
}

static void a_copy_from_before_a_raise_raises_again(void **state)
{
    struct hf_sim_options options = {.seed = 7};
    struct hf_sim_snapshot *older;
    struct scene scene;

    (void)state;
    begin(&scene, &options);
    older = hf_sim_snapshot_take(scene.world);
    hf_sim_snapshot_restore(scene.world, older, HF_SIM_RESTORE_EPOCH);
    assert_int_equal(hf_sim_world_identity(scene.world).epoch_min, 2);
    hf_sim_snapshot_restore(scene.world, older, HF_SIM_RESTORE_RISING);
    assert_int_equal(hf_sim_world_identity(scene.world).epoch_min, 3);
    hf_sim_snapshot_free(older);
    end(&scene);
}

/* ---- proofs ---- */

static enum hf_lease_proof proof_of(struct scene *scene, hf_lease_id lease)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_SHOW,
                                       .lease = lease};

    assert_int_equal(run(scene, scene->b, &request), HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&request);
    return request.proof;
}

static void a_job_that_outlives_its_maker_keeps_the_lease(void **state)
{
    struct hf_sim_options options = {.seed = 1, .traits = {.local = true}};
    struct hf_store_request phase = {.kind = HF_STORE_LEASE_PHASE,
                                     .phase = HF_PHASE_STARTED,
                                     .cgroup = "/g"};
    struct scene scene;
    uint32_t process;
    hf_lease_id lease;

    (void)state;
    begin(&scene, &options);
    process = hf_sim_process(scene.a);
    lease = phase.lease = grant(&scene, 10000);
    put_key(&scene, "k", lease);
    assert_int_equal(run(&scene, scene.a, &phase), HF_OUTCOME_COMMITTED);
    hf_store_request_clear(&phase);
    assert_int_equal(proof_of(&scene, lease), HF_PROOF_LIVES);
    hf_sim_kill(scene.a, false);
    assert_int_equal(proof_of(&scene, lease), HF_PROOF_LIVES);
    hf_sim_kill_tree(scene.world, process);
    assert_int_equal(proof_of(&scene, lease), HF_PROOF_DEAD);
    end(&scene);
}

/* ---- determinism ---- */

static uint64_t story(uint64_t seed)
{
    struct hf_sim_options options = {.seed = seed,
                                     .faults = {.unknown_done = 9000,
                                                .unknown_late = 9000,
                                                .failed = 9000,
                                                .delay_max = {1000000000},
                                                .late_max = {3000000000}},
                                     .revision_step_max = 9};
    const struct hf_change *change;
    uint64_t hash = 0;
    struct scene scene;

    begin(&scene, &options);
    for (int i = 0; i < 100; i++) {
        char key[2] = {(char)('a' + i % 7), '\0'};
        struct put put;

        put_begin(&put, key, 0);
        hf_store_submit(scene.a, &put.request, scene.now);
        pass_ms(&scene, 1000);
        assert_ptr_equal(hf_store_next(scene.a, scene.now), &put.request);
        hf_store_request_clear(&put.request);
        hash = hash * 31 + (uint64_t)put.request.outcome;
    }
    pass_ms(&scene, 5000);
    while ((change = hf_sim_world_committed(scene.world)))
        hash = hash * 1000003 + change->revision;
    end(&scene);
    return hash;
}

static void one_seed_is_one_story(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        assert_int_equal(story(seed), story(seed));
        assert_int_not_equal(story(seed), story(seed + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_done_is_done_and_unknown_not_is_not),
        cmocka_unit_test(unknown_late_lands_within_its_time),
        cmocka_unit_test(a_lost_answer_never_comes_and_can_be_cancelled),
        cmocka_unit_test(failed_is_not_done),
        cmocka_unit_test(a_full_store_still_deletes),
        cmocka_unit_test(a_delay_is_never_longer_than_it_may_be),
        cmocka_unit_test(the_dead_are_heard_once_or_never),
        cmocka_unit_test(a_lost_change_is_never_told),
        cmocka_unit_test(a_watch_can_begin_compacted),
        cmocka_unit_test(an_early_end_comes_within_the_ttl),
        cmocka_unit_test(a_lying_renewal_says_yes_and_keeps_nothing),
        cmocka_unit_test(the_stores_clock_runs_at_its_own_rate),
        cmocka_unit_test(a_clock_and_its_inverse_agree),
        cmocka_unit_test(wake_at_is_told_by_the_processs_clock),
        cmocka_unit_test(each_restore_puts_back_what_it_says),
        cmocka_unit_test(a_copy_from_before_a_raise_raises_again),
        cmocka_unit_test(a_job_that_outlives_its_maker_keeps_the_lease),
        cmocka_unit_test(one_seed_is_one_story),
    };

    return cmocka_run_group_tests_name("sim store", tests, NULL, NULL);
}
