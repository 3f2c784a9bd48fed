/* SPDX-License-Identifier: Apache-2.0 */
#include "client/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/sys_fake.h"

enum { BYTES = 512 };

static const struct hf_state_file held = {
    .state = HF_STATE_HELD,
    .token = UINT64_C(281474976710657),
    .deadline = {INT64_C(1234567890123456789)},
    .boot_id = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xab},
};

struct bed {
    struct sys_fake fake;
    int fd;
};

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));

    assert_non_null(bed);
    sys_fake_init(&bed->fake);
    bed->fd = memfd_create("state", MFD_CLOEXEC);
    assert_true(bed->fd >= 0);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;

    close(bed->fd);
    free(bed);
    return 0;
}

static void write_held(struct bed *bed)
{
    assert_int_equal(hf_state_file_write(&bed->fake.sys, bed->fd, &held, NULL),
                     HF_ERR_OK);
}

static enum hf_err read_back(struct bed *bed, struct hf_state_file *found)
{
    struct hf_error error = {.text = ""};

    return hf_state_file_read(&bed->fake.sys, bed->fd, found, &error);
}

/* What is in the file now must be refused, and nothing told. */
static void is_damaged(struct bed *bed)
{
    struct hf_state_file found = {.token = 4711};

    assert_int_equal(read_back(bed, &found), HF_ERR_DAMAGED);
    assert_int_equal(found.token, 4711);
}

static void what_is_written_is_read_back(void **state)
{
    struct bed *bed = *state;

    for (int word = HF_STATE_HELD; word <= HF_STATE_OVER; word++) {
        struct hf_state_file told = held;
        struct hf_state_file found = {.token = 0};

        told.state = (enum hf_state)word;
        told.deadline.ns += word;
        assert_int_equal(
            hf_state_file_write(&bed->fake.sys, bed->fd, &told, NULL),
            HF_ERR_OK);
        assert_int_equal(read_back(bed, &found), HF_ERR_OK);
        assert_int_equal(found.state, told.state);
        assert_int_equal(found.token, told.token);
        assert_int_equal(found.deadline.ns, told.deadline.ns);
        assert_memory_equal(found.boot_id, told.boot_id, sizeof(found.boot_id));
    }
}

static void the_bytes_are_those_that_the_page_documents(void **state)
{
    static const char wanted[] = "holdfast 1\n"
                                 "state held\n"
                                 "token 281474976710657\n"
                                 "deadline 1234567890123456789\n"
                                 "boot 00017f80ffab00000000000000000000\n"
                                 "check 3c577533355320e3\n";
    struct bed *bed = *state;
    char bytes[BYTES + 1];

    write_held(bed);
    assert_int_equal(pread(bed->fd, bytes, sizeof(bytes), 0), BYTES);
    assert_memory_equal(bytes, wanted, sizeof(wanted) - 1);
    for (size_t i = sizeof(wanted) - 1; i < BYTES; i++)
        assert_int_equal(bytes[i], '\n');
}

static void one_write_and_one_read_are_enough(void **state)
{
    struct bed *bed = *state;
    struct hf_state_file found;

    sys_fake_fail(&bed->fake, FAKE_ANY, 0, 0);
    write_held(bed);
    assert_int_equal(bed->fake.count[FAKE_ANY], 1);
    assert_int_equal(bed->fake.count[FAKE_PWRITE], 1);
    assert_int_equal(read_back(bed, &found), HF_ERR_OK);
    assert_int_equal(bed->fake.count[FAKE_PREAD], 1);
    assert_int_equal(bed->fake.count[FAKE_ANY], 2);
}

static void the_store_s_part_behind_it_is_left_alone(void **state)
{
    struct bed *bed = *state;
    struct hf_state_file found;
    char behind[4];

    assert_int_equal(pwrite(bed->fd, "mine", 4, BYTES), 4);
    write_held(bed);
    assert_int_equal(pread(bed->fd, behind, 4, BYTES), 4);
    assert_memory_equal(behind, "mine", 4);
    assert_int_equal(read_back(bed, &found), HF_ERR_OK);
}

static void the_greatest_numbers_fit(void **state)
{
    struct bed *bed = *state;
    struct hf_state_file told = held;
    struct hf_state_file found;

    told.token = INT64_MAX;
    told.deadline = HF_TIME_NEVER;
    assert_int_equal(hf_state_file_write(&bed->fake.sys, bed->fd, &told, NULL),
                     HF_ERR_OK);
    assert_int_equal(read_back(bed, &found), HF_ERR_OK);
    assert_int_equal(found.token, INT64_MAX);
    assert_int_equal(found.deadline.ns, INT64_MAX);
}

static void a_deadline_before_the_clock_began_reads_as_past(void **state)
{
    struct bed *bed = *state;
    struct hf_state_file told = held;
    struct hf_state_file found;

    told.deadline.ns = -5;
    assert_int_equal(hf_state_file_write(&bed->fake.sys, bed->fd, &told, NULL),
                     HF_ERR_OK);
    assert_int_equal(read_back(bed, &found), HF_ERR_OK);
    assert_int_equal(found.deadline.ns, 0);
}

static void any_byte_that_changed_is_noticed(void **state)
{
    struct bed *bed = *state;

    write_held(bed);
    for (off_t at = 0; at < BYTES; at++) {
        char byte;
        char other;

        assert_int_equal(pread(bed->fd, &byte, 1, at), 1);
        other = byte == '1' ? '2' : '1';
        assert_int_equal(pwrite(bed->fd, &other, 1, at), 1);
        is_damaged(bed);
        assert_int_equal(pwrite(bed->fd, &byte, 1, at), 1);
    }
}

static void a_file_that_is_empty_or_cut_is_damaged(void **state)
{
    struct bed *bed = *state;

    is_damaged(bed);
    write_held(bed);
    assert_int_equal(ftruncate(bed->fd, BYTES - 1), 0);
    is_damaged(bed);
}

/* A checksum that fits must not make a form good that is not documented. */
static void forms_with_a_fitting_checksum_are_judged_too(void **state)
{
    static const char *const heads[] = {
        "holdfast 2\nstate held\ntoken 1\ndeadline 1\nboot "
        "00000000000000000000000000000000\n",
        "holdfast 1\nstate hold\ntoken 1\ndeadline 1\nboot "
        "00000000000000000000000000000000\n",
        "holdfast 1\nstate held\ntoken 01\ndeadline 1\nboot "
        "00000000000000000000000000000000\n",
        "holdfast 1\nstate held\ntoken -1\ndeadline 1\nboot "
        "00000000000000000000000000000000\n",
        "holdfast 1\nstate held\ntoken \ndeadline 1\nboot "
        "00000000000000000000000000000000\n",
        "holdfast 1\nstate held\ntoken 9223372036854775808\ndeadline 1\nboot "
        "00000000000000000000000000000000\n",
        "holdfast 1\nstate held\ntoken 1\ndeadline 1 \nboot "
        "00000000000000000000000000000000\n",
        "holdfast 1\nstate held\ntoken 1\ndeadline 1\nboot "
        "0000000000000000000000000000000A\n",
        "holdfast 1\nstate held\ntoken 1\ndeadline 1\nboot 00\n",
        "holdfast 1\nstate held\ntoken 1\n",
        "",
    };
    struct bed *bed = *state;

    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        char bytes[BYTES + 1];
        uint64_t hash = UINT64_C(0xcbf29ce484222325);
        size_t size = strlen(heads[i]);

        for (size_t k = 0; k < size; k++)
            hash = (hash ^ (uint8_t)heads[i][k]) * UINT64_C(0x100000001b3);
        memset(bytes, '\n', sizeof(bytes));
        memcpy(bytes, heads[i], size);
        size += (size_t)snprintf(bytes + size, sizeof(bytes) - size,
                                 "check %016llx\n", (unsigned long long)hash);
        bytes[size] = '\n';
        assert_int_equal(pwrite(bed->fd, bytes, BYTES, 0), BYTES);
        is_damaged(bed);
    }
}

/* The writer is half way when we look, and done when we look again. */
static ssize_t (*real_pread)(struct hf_sys *, int, void *, size_t, off_t);

static ssize_t torn_once(struct hf_sys *sys, int fd, void *to, size_t bytes,
                         off_t offset)
{
    ssize_t got = real_pread(sys, fd, to, bytes, offset);

    ((char *)to)[40] = '?';
    sys->pread = real_pread;
    return got;
}

static void a_read_torn_by_a_write_is_tried_again(void **state)
{
    struct bed *bed = *state;
    struct hf_state_file found;

    write_held(bed);
    real_pread = bed->fake.sys.pread;
    bed->fake.sys.pread = torn_once;
    sys_fake_fail(&bed->fake, FAKE_ANY, 0, 0);
    assert_int_equal(read_back(bed, &found), HF_ERR_OK);
    assert_int_equal(found.token, held.token);
    assert_int_equal(bed->fake.count[FAKE_PREAD], 2);
}

static void failures_of_the_file_are_told(void **state)
{
    struct bed *bed = *state;
    struct hf_state_file found = {.token = 4711};
    struct hf_error error = {.text = ""};

    sys_fake_fail(&bed->fake, FAKE_PWRITE, 1, EIO);
    assert_int_equal(
        hf_state_file_write(&bed->fake.sys, bed->fd, &held, &error),
        HF_ERR_UNAVAILABLE);
    assert_string_equal(error.text, "writing the state of the lease: "
                                    "Input/output error");
    sys_fake_fail(&bed->fake, FAKE_PWRITE, 1, ENOSPC);
    assert_int_equal(
        hf_state_file_write(&bed->fake.sys, bed->fd, &held, &error),
        HF_ERR_NOSPACE);
    sys_fake_fail(&bed->fake, FAKE_PREAD, 1, EBADF);
    assert_int_equal(
        hf_state_file_read(&bed->fake.sys, bed->fd, &found, &error),
        HF_ERR_UNAVAILABLE);
    assert_int_equal(found.token, 4711);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_back, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            the_bytes_are_those_that_the_page_documents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_write_and_one_read_are_enough,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_store_s_part_behind_it_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_greatest_numbers_fit, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_deadline_before_the_clock_began_reads_as_past, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_byte_that_changed_is_noticed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_is_empty_or_cut_is_damaged,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            forms_with_a_fitting_checksum_are_judged_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_read_torn_by_a_write_is_tried_again,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(failures_of_the_file_are_told, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
