/* SPDX-License-Identifier: Apache-2.0 */
/* lockrun --json: lines, and what becomes of those that nobody takes. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/lockrun/event.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/nth_malloc.h"
#include "tests/lib/sys_fake.h"

#define TIME "{\"time\":\"2026-06-01T00:00:00.000Z\",\"event\":"

struct lab {
    struct sys_fake fake;
    struct events events;
    int ends[2];
    char key[8];
};

static void set_up(struct lab *lab)
{
    *lab = (struct lab){.key = ""};
    sys_fake_init(&lab->fake);
    lab->fake.wall.ns = INT64_C(1780272000000000000);
    assert_int_equal(pipe2(lab->ends, O_NONBLOCK), 0);
    assert_true(
        events_open(&lab->events, lab->ends[1], &lab->fake.sys, lab->key));
}

static void tear_down(const struct lab *lab)
{
    close(lab->ends[0]);
    close(lab->ends[1]);
}

static void tell(struct lab *lab, const char *reason)
{
    struct event event;

    assert_true(event_begin(&event, &lab->events, EVENT_DOUBT));
    hf_json_text(&event.json, "reason", reason);
    event_end(&event);
}

static void assert_next(const struct lab *lab, const char *wanted)
{
    char text[PIPE_BUF + 1];
    ssize_t size = read(lab->ends[0], text, PIPE_BUF);

    assert_true(size > 0);
    text[size] = '\0';
    assert_string_equal(text, wanted);
}

static void fill_pipe(const struct lab *lab)
{
    while (write(lab->ends[1], "x", 1) == 1)
        continue;
}

static void drain_pipe(const struct lab *lab)
{
    char text[PIPE_BUF];

    while (read(lab->ends[0], text, sizeof(text)) > 0)
        continue;
}

static void an_event_is_a_line_with_the_key_once_that_is_known(void **state)
{
    struct lab lab;

    (void)state;
    set_up(&lab);
    tell(&lab, "a");
    assert_next(&lab, TIME "\"doubt\",\"reason\":\"a\"}\n");
    snprintf(lab.key, sizeof(lab.key), "t/n/k");
    tell(&lab, "b\n\"");
    assert_next(&lab, TIME "\"doubt\",\"key\":\"t/n/k\",\"reason\":"
                           "\"b\\n\\\"\"}\n");
    tear_down(&lab);
}

static void nobody_wants_them(void **state)
{
    struct event event;

    (void)state;
    assert_false(event_begin(&event, NULL, EVENT_ENDED));
}

static void what_was_not_taken_is_counted_and_told_once(void **state)
{
    struct lab lab;

    (void)state;
    set_up(&lab);
    fill_pipe(&lab);
    tell(&lab, "lost");
    tell(&lab, "lost too");
    drain_pipe(&lab);
    tell(&lab, "a");
    assert_next(&lab, TIME "\"doubt\",\"missed\":2,\"reason\":\"a\"}\n");
    tell(&lab, "b");
    assert_next(&lab, TIME "\"doubt\",\"reason\":\"b\"}\n");
    tear_down(&lab);
}

static void a_line_longer_than_a_pipe_takes_whole_is_not_begun(void **state)
{
    char reason[PIPE_BUF];
    struct lab lab;

    (void)state;
    memset(reason, 'x', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    set_up(&lab);
    tell(&lab, reason);
    tell(&lab, "a");
    assert_next(&lab, TIME "\"doubt\",\"missed\":1,\"reason\":\"a\"}\n");
    tear_down(&lab);
}

static void a_reader_that_is_gone_ends_nobody(void **state)
{
    struct lab lab;

    (void)state;
    set_up(&lab);
    close(lab.ends[0]);
    tell(&lab, "a");
    assert_int_equal(lab.events.missed, 1);
    close(lab.ends[1]);
}

static void without_memory_it_is_missed(void **state)
{
    struct lab lab;

    (void)state;
    set_up(&lab);
    for (unsigned int n = 1;; n++) {
        lab.events.missed = 0;
        nth_malloc_fail(n);
        tell(&lab, "a reason that is longer than what a buffer begins with, "
                   "so that it grows, and may find that it cannot");
        if (!nth_malloc_end())
            break;
        assert_int_equal(lab.events.missed, 1);
    }
    assert_int_equal(lab.events.missed, 0);
    tear_down(&lab);
}

static void only_what_can_be_written_to_is_taken(void **state)
{
    struct lab lab;
    struct events events;

    (void)state;
    set_up(&lab);
    assert_false(events_open(&events, lab.ends[0], &lab.fake.sys, ""));
    assert_int_equal(fcntl(lab.ends[1], F_GETFD), FD_CLOEXEC);
    tear_down(&lab);
    assert_false(events_open(&events, lab.ends[1], &lab.fake.sys, ""));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_a_line_with_the_key_once_that_is_known),
        cmocka_unit_test(nobody_wants_them),
        cmocka_unit_test(what_was_not_taken_is_counted_and_told_once),
        cmocka_unit_test(a_line_longer_than_a_pipe_takes_whole_is_not_begun),
        cmocka_unit_test(a_reader_that_is_gone_ends_nobody),
        cmocka_unit_test(without_memory_it_is_missed),
        cmocka_unit_test(only_what_can_be_written_to_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
