/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An embedded store in a fresh folder, on clocks and a kernel that the test
 * commands, and short ways to ask it. For the tests of the embedded store; in
 * child processes too, so that what must not be ends the process.
 */
#ifndef HF_TESTS_SQLITE_LAB_H
#define HF_TESTS_SQLITE_LAB_H

#include <sys/types.h>

#include "store/sqlite.h"
#include "tests/lib/cmocka_all.h"
#include "tests/lib/folder.h"
#include "tests/lib/sys_fake.h"

struct lab {
    struct sys_fake fake;
    char *folder;
    char path[256];        /* folder/db */
    struct hf_error error; /* of what failed last */
};

/* For cmocka: *state is a struct lab. */
int lab_setup(void **state);
int lab_teardown(void **state);
#define LAB_TEST(name)                                                         \
    cmocka_unit_test_setup_teardown(name, lab_setup, lab_teardown)

/* End the process, with file and line, unless it is true. */
#define must(condition)                                                        \
    ((condition) ? (void)0 : must_failed(__FILE__, __LINE__, #condition))
void must_failed(const char *file, int line, const char *condition)
    __attribute__((noreturn));

/* ---- handles ---- */

/* NULL when it fails, with the reason in lab->error. */
struct hf_store *lab_try_open(struct lab *lab);
struct hf_store *lab_open(struct lab *lab);
/* One that only looks. */
struct hf_store *lab_look(struct lab *lab);
void lab_close(struct hf_store *store);

/* ---- asking ---- */

/* Submit and fetch; the outcome, with the reason of a failure in lab->error. */
enum hf_outcome lab_run(struct lab *lab, struct hf_store *store,
                        struct hf_store_request *request);
hf_lease_id lab_grant(struct lab *lab, struct hf_store *store, int64_t ttl_ms);
/* The same, with the descriptor of its session file. */
hf_lease_id lab_grant_fd(struct lab *lab, struct hf_store *store,
                         int64_t ttl_ms, int *fd);
enum hf_outcome lab_renew(struct lab *lab, struct hf_store *store,
                          hf_lease_id lease);
enum hf_outcome lab_revoke(struct lab *lab, struct hf_store *store,
                           hf_lease_id lease);
enum hf_outcome lab_phase(struct lab *lab, struct hf_store *store,
                          hf_lease_id lease, enum hf_lease_phase phase,
                          const char *cgroup);
enum hf_lease_proof lab_proof(struct lab *lab, struct hf_store *store,
                              hf_lease_id lease);

/* Put `key` if it is absent. *held and *revision may be NULL. */
enum hf_outcome lab_try_take(struct lab *lab, struct hf_store *store,
                             const char *key, hf_lease_id lease, bool *held,
                             uint64_t *revision);
/* The same, where it must be carried out: was it absent? */
bool lab_take(struct lab *lab, struct hf_store *store, const char *key,
              hf_lease_id lease);
/* It must be absent; the revision of its put. */
uint64_t lab_put(struct lab *lab, struct hf_store *store, const char *key,
                 hf_lease_id lease);
enum hf_outcome lab_release(struct lab *lab, struct hf_store *store,
                            const char *key);
/* Revision of the last put of a key, 0 if it is not there. */
uint64_t lab_changed(struct lab *lab, struct hf_store *store, const char *key);
bool lab_exists(struct lab *lab, struct hf_store *store, const char *key);
struct hf_store_identity lab_identity(struct lab *lab, struct hf_store *store);
uint64_t lab_revision(struct lab *lab, struct hf_store *store);

/* ---- files ---- */

/* Path of db, or of what stands beside it: "", ".mark", ".run", "-journal",
 * ".run/head"; static. */
const char *lab_file(const struct lab *lab, const char *suffix);
void lab_copy(const char *from, const char *to);
/* Write over what is there; `at` below 0 counts from the end. */
void lab_scribble(const char *path, off_t at, const void *bytes, size_t size);
void lab_remove_tree(const char *path);
/* Number of files in the store's folder whose name has `part` in it. */
unsigned int lab_count_files(const struct lab *lab, const char *part);

/* ---- processes ---- */

/* Run in a child; it is killed when it returns. */
typedef void lab_script(struct lab *lab, void *argument);
void lab_die(struct lab *lab, lab_script *script, void *argument);
/* Run in a child that goes on until lab_end; returns when the script called
 * lab_ready. */
pid_t lab_start(struct lab *lab, lab_script *script, void *argument);
/* In the script: tell the parent, and sleep until killed. */
void lab_ready(struct lab *lab);
void lab_end(pid_t pid);

#endif
