/* SPDX-License-Identifier: Apache-2.0 */
#include "service/classes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/cmocka_all.h"
#include "tests/lib/folder.h"
#include "tests/lib/nth_malloc.h"
#include "tests/lib/sys_fake.h"

struct bed {
    struct sys_fake fake;
    char *folder;
    struct hf_classes classes;
    struct hf_error error;
};

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));

    assert_non_null(bed);
    sys_fake_init(&bed->fake);
    bed->folder = folder_new();
    assert_int_equal(chmod(bed->folder, 0755), 0);
    hf_classes_init(&bed->classes, &bed->fake.sys, bed->folder);
    *state = bed;
    return 0;
}

static int tear_down(void **state)
{
    struct bed *bed = *state;

    hf_classes_clear(&bed->classes);
    folder_free(bed->folder);
    free(bed);
    return 0;
}

static void path_of(const struct bed *bed, const char *name, char to[4096])
{
    snprintf(to, 4096, "%s/%s", bed->folder, name);
}

static void put(const struct bed *bed, const char *name, const char *text)
{
    char path[4096];
    FILE *file;

    path_of(bed, name, path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0644), 0);
}

static void mode_of(const struct bed *bed, const char *name, mode_t mode)
{
    char path[4096];

    path_of(bed, name, path);
    assert_int_equal(chmod(path, mode), 0);
}

static void is_refused(struct bed *bed, const char *name, const char *part)
{
    assert_int_equal(hf_classes_need(&bed->classes, name, &bed->error),
                     HF_ERR_CONFIG);
    if (!strstr(bed->error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", bed->error.text, part);
    assert_int_equal(bed->classes.known.count, 0);
}

static void the_built_in_class_costs_one_open_that_fails(void **state)
{
    struct bed *bed = *state;

    assert_int_equal(hf_classes_need(&bed->classes, "batch", &bed->error),
                     HF_ERR_OK);
    assert_int_equal(bed->fake.count[FAKE_ANY], 1);
    assert_int_equal(bed->fake.count[FAKE_OPEN], 1);
    assert_int_equal(bed->classes.known.count, 1);
    assert_ptr_equal(bed->classes.known.list[0], &hf_class_batch);
    /* And nothing more from then on. */
    assert_int_equal(hf_classes_need(&bed->classes, "batch", &bed->error),
                     HF_ERR_OK);
    assert_int_equal(bed->fake.count[FAKE_ANY], 1);
    assert_int_equal(bed->classes.known.count, 1);
}

static void a_file_is_read_once_and_kept(void **state)
{
    struct bed *bed = *state;
    unsigned int calls;

    put(bed, "nightly.yaml", "ttl: {default: 30s}\n");
    assert_int_equal(hf_classes_need(&bed->classes, "nightly", &bed->error),
                     HF_ERR_OK);
    calls = bed->fake.count[FAKE_ANY];
    put(bed, "nightly.yaml", "ttl: {default: 20s}\n");
    assert_int_equal(hf_classes_need(&bed->classes, "nightly", &bed->error),
                     HF_ERR_OK);
    assert_int_equal(bed->fake.count[FAKE_ANY], calls);
    assert_int_equal(bed->classes.known.count, 1);
    assert_string_equal(bed->classes.known.list[0]->name, "nightly");
    assert_int_equal(bed->classes.known.list[0]->ttl_default_ms, 30000);
    assert_int_equal(hf_classes_need(&bed->classes, "batch", &bed->error),
                     HF_ERR_OK);
    assert_int_equal(bed->classes.known.count, 2);
}

static void a_file_takes_the_place_of_the_built_in_class(void **state)
{
    struct bed *bed = *state;

    put(bed, "batch.yaml", "ttl: {default: 7s}\n");
    assert_int_equal(hf_classes_need(&bed->classes, "batch", &bed->error),
                     HF_ERR_OK);
    assert_int_equal(bed->classes.known.list[0]->ttl_default_ms, 7000);
}

static void a_bad_file_never_means_the_built_in_class(void **state)
{
    struct bed *bed = *state;
    char where[4200];

    put(bed, "batch.yaml", "ttl: {defualt: 7s}\n");
    snprintf(where, sizeof(where), "%s/batch.yaml:1:7: ", bed->folder);
    is_refused(bed, "batch", where);
    sys_fake_fail(&bed->fake, FAKE_OPEN, 1, EACCES);
    is_refused(bed, "batch", "Permission denied");
    assert_true(sys_fake_end(&bed->fake));
}

static void a_class_without_a_file_is_named_with_its_place(void **state)
{
    struct bed *bed = *state;

    is_refused(bed, "nightly", "class \"nightly\" is not known: there is no ");
    is_refused(bed, "nightly", "/nightly.yaml");
}

static void a_folder_that_is_missing_leaves_the_built_in_class(void **state)
{
    struct bed *bed = *state;
    struct hf_classes classes;

    hf_classes_init(&classes, &bed->fake.sys, "/nonexistent/classes.d");
    assert_int_equal(hf_classes_need(&classes, "batch", &bed->error),
                     HF_ERR_OK);
    assert_int_equal(hf_classes_need(&classes, "nightly", &bed->error),
                     HF_ERR_CONFIG);
    hf_classes_clear(&classes);
}

static void what_others_could_have_written_is_refused(void **state)
{
    struct bed *bed = *state;

    put(bed, "nightly.yaml", "{}");
    mode_of(bed, "nightly.yaml", 0664);
    is_refused(bed, "nightly", "can be written by a group (mode 664)");
    mode_of(bed, "nightly.yaml", 0646);
    is_refused(bed, "nightly", "can be written by everybody (mode 646)");
    mode_of(bed, "nightly.yaml", 0644);
    mode_of(bed, ".", 0775);
    is_refused(bed, "nightly", "can be written by a group (mode 775)");
    mode_of(bed, ".", 0755);
    assert_int_equal(hf_classes_need(&bed->classes, "nightly", &bed->error),
                     HF_ERR_OK);
}

/* What is told of files or of folders is that they are user 4711's. */
static int foreign_stat(struct hf_sys *sys, int fd, struct stat *to,
                        mode_t kind)
{
    struct sys_fake *fake = (struct sys_fake *)sys;
    int result = fake->real.fstat(&fake->real, fd, to);

    if (!result && (to->st_mode & S_IFMT) == kind)
        to->st_uid = 4711;
    return result;
}

static int foreign_file(struct hf_sys *sys, int fd, struct stat *to)
{
    return foreign_stat(sys, fd, to, S_IFREG);
}

static int foreign_folder(struct hf_sys *sys, int fd, struct stat *to)
{
    return foreign_stat(sys, fd, to, S_IFDIR);
}

static void what_belongs_to_another_user_is_refused(void **state)
{
    struct bed *bed = *state;

    put(bed, "nightly.yaml", "{}");
    bed->fake.sys.fstat = foreign_file;
    is_refused(bed, "nightly", "/nightly.yaml belongs to user 4711");
    bed->fake.sys.fstat = foreign_folder;
    is_refused(bed, "nightly", " belongs to user 4711");
}

static void a_link_is_refused(void **state)
{
    struct bed *bed = *state;
    char path[4096];

    put(bed, "nightly.yaml", "{}");
    path_of(bed, "other.yaml", path);
    assert_int_equal(symlink("nightly.yaml", path), 0);
    is_refused(bed, "other", "is a symbolic link");
}

static void what_is_no_file_is_refused_and_never_hangs(void **state)
{
    struct bed *bed = *state;
    char path[4096];

    path_of(bed, "fifo.yaml", path);
    assert_int_equal(mkfifo(path, 0644), 0);
    is_refused(bed, "fifo", "is not a file");
    path_of(bed, "folder.yaml", path);
    assert_int_equal(mkdir(path, 0755), 0);
    is_refused(bed, "folder", "is not a file");
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    struct bed *bed = *state;
    char *text = malloc(100000);

    assert_non_null(text);
    memset(text, '#', 99999);
    text[99999] = '\0';
    put(bed, "nightly.yaml", text);
    free(text);
    is_refused(bed, "nightly", "/nightly.yaml");
}

static void every_call_that_fails_is_told(void **state)
{
    struct bed *bed = *state;
    unsigned int n;

    put(bed, "nightly.yaml", "mode: exclusive\n");
    for (n = 1;; n++) {
        enum hf_err err;

        bed->error.code = HF_ERR_OK;
        sys_fake_fail(&bed->fake, FAKE_ANY, n, EIO);
        err = hf_classes_need(&bed->classes, "nightly", &bed->error);
        if (!sys_fake_end(&bed->fake))
            break;
        /* Closing may fail: what was read is whole all the same. */
        if (err) {
            assert_int_equal(err, HF_ERR_CONFIG);
            assert_int_equal(bed->error.code, HF_ERR_CONFIG);
            assert_int_equal(bed->classes.known.count, 0);
        } else {
            assert_false(bed->classes.known.list[0]->shared);
            hf_classes_clear(&bed->classes);
        }
    }
    assert_true(n > 5);
}

static void every_allocation_that_fails_is_told(void **state)
{
    struct bed *bed = *state;
    unsigned int n;

    put(bed, "nightly.yaml", "ttl: {default: 30s}\nmode: exclusive\n");
    for (n = 1;; n++) {
        enum hf_err err;

        nth_malloc_fail(n);
        err = hf_classes_need(&bed->classes, "nightly", &bed->error);
        if (!nth_malloc_end())
            break;
        assert_int_equal(err, HF_ERR_NOMEM);
        assert_int_equal(bed->classes.known.count, 0);
    }
    assert_true(n > 3);
    assert_int_equal(bed->classes.known.count, 1);
}

static void a_judge_may_read_what_is_not_trusted(void **state)
{
    struct bed *bed = *state;
    struct hf_class_reading reading;

    put(bed, "nightly.yaml", "mode: exclusive\n");
    mode_of(bed, "nightly.yaml", 0666);
    assert_int_equal(hf_class_read(&bed->fake.sys, bed->folder, "nightly",
                                   false, &reading, &bed->error),
                     HF_ERR_CONFIG);
    assert_int_equal(hf_class_read(&bed->fake.sys, bed->folder, "nightly", true,
                                   &reading, &bed->error),
                     HF_ERR_OK);
    assert_int_equal(reading.distrust.code, HF_ERR_CONFIG);
    assert_false(reading.class.shared);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(the_built_in_class_costs_one_open_that_fails),
        T(a_file_is_read_once_and_kept),
        T(a_file_takes_the_place_of_the_built_in_class),
        T(a_bad_file_never_means_the_built_in_class),
        T(a_class_without_a_file_is_named_with_its_place),
        T(a_folder_that_is_missing_leaves_the_built_in_class),
        T(what_others_could_have_written_is_refused),
        T(what_belongs_to_another_user_is_refused),
        T(a_link_is_refused),
        T(what_is_no_file_is_refused_and_never_hangs),
        T(a_file_that_is_too_large_is_refused),
        T(every_call_that_fails_is_told),
        T(every_allocation_that_fails_is_told),
        T(a_judge_may_read_what_is_not_trusted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
