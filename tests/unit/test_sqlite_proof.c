/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel proves about a lease's processes, and what a boot ends. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000 };

/* What a holder does before it is killed. */
struct script {
    enum hf_lease_phase phase;
    const char *cgroup;
    bool leaves_job; /* a child lives on that has the session file open */
    pid_t job;
};

/* The holder's own job: it inherits the descriptor, as a real one does. */
static pid_t start_job(int fd)
{
    pid_t pid = fork();

    must(pid >= 0);
    if (pid == 0) {
        fcntl(fd, F_SETFD, 0);
        for (;;)
            pause();
    }
    return pid;
}

static void hold(struct lab *lab, void *argument)
{
    const struct script *script = argument;
    struct hf_store *store = lab_open(lab);
    int fd;
    hf_lease_id lease = lab_grant_fd(lab, store, TTL_MS, &fd);

    must(lab_take(lab, store, "held", lease));
    if (script->phase != HF_PHASE_NOTHING_STARTED)
        must(lab_phase(lab, store, lease, HF_PHASE_STARTED, script->cgroup) ==
             HF_OUTCOME_COMMITTED);
    if (script->leaves_job) {
        pid_t job = start_job(fd);
        FILE *file = fopen(lab_file(lab, "-job"), "we");

        must(file != NULL);
        fprintf(file, "%d", (int)job);
        fclose(file);
    }
    if (script->phase == HF_PHASE_GONE)
        must(lab_phase(lab, store, lease, HF_PHASE_GONE, NULL) ==
             HF_OUTCOME_COMMITTED);
}

static hf_lease_id lease_of(struct lab *lab, struct hf_store *store)
{
    struct hf_action read = {.kind = HF_DO_GET, .key = {"held", 4}};
    struct hf_branch branch = {.then = &read, .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};
    hf_lease_id lease;

    assert_int_equal(lab_run(lab, store, &request), HF_OUTCOME_COMMITTED);
    assert_int_equal(branch.results[0].record_count, 1);
    lease = branch.results[0].records[0].lease;
    hf_store_request_clear(&request);
    return lease;
}

static void pass_ttl(struct lab *lab)
{
    sys_fake_pass(&lab->fake, hf_span_ms(TTL_MS + 1));
}

/* ---- processes ---- */

static void killed_before_its_job_the_key_is_free_at_once(void **state)
{
    struct lab *lab = *state;
    struct script script = {.phase = HF_PHASE_NOTHING_STARTED};
    struct hf_store *store = lab_open(lab);

    lab_die(lab, hold, &script);
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_DEAD);
    assert_true(lab_take(lab, store, "held", 0));
    lab_close(store);
}

static void killed_with_its_job_gone_the_key_is_free_at_once(void **state)
{
    struct lab *lab = *state;
    struct script script = {.phase = HF_PHASE_GONE};
    struct hf_store *store = lab_open(lab);

    lab_die(lab, hold, &script);
    assert_true(lab_take(lab, store, "held", 0));
    lab_close(store);
}

static void killed_with_a_job_started_the_clock_alone_frees(void **state)
{
    struct lab *lab = *state;
    struct script script = {.phase = HF_PHASE_STARTED};
    struct hf_store *store = lab_open(lab);

    lab_die(lab, hold, &script);
    /* The lock is free, which proves nothing: jobs close what they inherit. */
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_NONE);
    assert_false(lab_take(lab, store, "held", 0));
    pass_ttl(lab);
    assert_true(lab_take(lab, store, "held", 0));
    lab_close(store);
}

static void a_job_that_lives_on_is_seen(void **state)
{
    struct lab *lab = *state;
    struct script script = {.phase = HF_PHASE_STARTED, .leaves_job = true};
    struct hf_store *store = lab_open(lab);
    FILE *file;
    char text[32];
    int job;

    lab_die(lab, hold, &script);
    file = fopen(lab_file(lab, "-job"), "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    job = (int)strtol(text, NULL, 10);
    assert_true(job > 0);
    fclose(file);
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_LIVES);
    assert_false(lab_take(lab, store, "held", 0));
    kill(job, SIGKILL);
    /* Its end is not ours to wait for: until the kernel has closed its files.
     */
    for (int i = 0; i < 500 && lab_proof(lab, store, lease_of(lab, store)) ==
                                   HF_PROOF_LIVES;
         i++)
        (void)poll(NULL, 0, 10);
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_NONE);
    lab_close(store);
}

static void a_living_holder_is_never_dead(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    struct hf_store *other = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, holder, TTL_MS);

    assert_true(lab_take(lab, holder, "held", lease));
    assert_int_equal(lab_proof(lab, other, lease), HF_PROOF_LIVES);
    assert_int_equal(lab_proof(lab, holder, lease), HF_PROOF_LIVES);
    assert_false(lab_take(lab, other, "held", 0));
    /* Closed, nothing of it lives. */
    lab_close(holder);
    assert_true(lab_take(lab, other, "held", 0));
    lab_close(other);
}

/* ---- cgroups ---- */

static bool find_cgroups(char *to, size_t size)
{
    FILE *mounts = fopen("/proc/self/mounts", "re");
    char line[1024];
    char path[512];
    char type[64];
    bool found = false;

    assert_non_null(mounts);
    while (!found && fgets(line, sizeof(line), mounts))
        found = sscanf(line, "%*s %511s %63s", path, type) == 2 &&
                !strcmp(type, "cgroup2");
    fclose(mounts);
    if (found)
        snprintf(to, size, "%s/hf-test-%d", path, (int)getpid());
    return found && mkdir(to, 0755) == 0;
}

static void move_to_cgroup(const char *cgroup, pid_t pid)
{
    char path[700];
    FILE *file;

    snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
    file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "%d", (int)pid);
    assert_int_equal(fclose(file), 0);
}

static pid_t start_sleeper(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    while (pid == 0)
        pause();
    return pid;
}

static void end_sleeper(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void remove_cgroup(const char *cgroup)
{
    for (int i = 0; i < 500 && rmdir(cgroup) && errno == EBUSY; i++)
        (void)poll(NULL, 0, 10);
}

static void an_empty_cgroup_proves_death(void **state)
{
    struct lab *lab = *state;
    char cgroup[600];
    struct script script = {.phase = HF_PHASE_STARTED, .cgroup = cgroup};
    struct hf_store *store;
    pid_t job;

    if (!find_cgroups(cgroup, sizeof(cgroup)))
        skip();
    store = lab_open(lab);
    job = start_sleeper();
    move_to_cgroup(cgroup, job);
    lab_die(lab, hold, &script);
    /* The lock is free, and yet something of the job lives. */
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_NONE);
    assert_false(lab_take(lab, store, "held", 0));
    end_sleeper(job);
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_DEAD);
    remove_cgroup(cgroup);
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_DEAD);
    assert_true(lab_take(lab, store, "held", 0));
    lab_close(store);
}

/* The same path, another folder: in a container, or on another machine. */
static void a_cgroup_of_the_same_path_proves_nothing(void **state)
{
    struct lab *lab = *state;
    char cgroup[600];
    char below[650];
    struct script script = {.phase = HF_PHASE_STARTED, .cgroup = below};
    struct hf_store *store;

    if (!find_cgroups(cgroup, sizeof(cgroup)))
        skip();
    snprintf(below, sizeof(below), "%s/job", cgroup);
    assert_int_equal(mkdir(below, 0755), 0);
    store = lab_open(lab);
    lab_die(lab, hold, &script);
    remove_cgroup(below);
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_DEAD);
    remove_cgroup(cgroup);
    assert_int_equal(mkdir(cgroup, 0755), 0);
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_NONE);
    remove_cgroup(cgroup);
    assert_int_equal(lab_proof(lab, store, lease_of(lab, store)),
                     HF_PROOF_NONE);
    assert_false(lab_take(lab, store, "held", 0));
    lab_close(store);
}

static void a_folder_that_is_no_cgroup_proves_nothing(void **state)
{
    struct lab *lab = *state;
    char folder[300];
    struct script script = {.phase = HF_PHASE_STARTED, .cgroup = folder};
    struct hf_store *store = lab_open(lab);

    snprintf(folder, sizeof(folder), "%s/job", lab->folder);
    lab_die(lab, hold, &script);
    assert_false(lab_take(lab, store, "held", 0));
    lab_close(store);
}

/* ---- boots: C13 ---- */

static void a_boot_ends_every_lease(void **state)
{
    struct lab *lab = *state;
    struct script script = {.phase = HF_PHASE_STARTED};
    struct hf_store_request watch = {.kind = HF_STORE_WATCH,
                                     .prefix = {"held", 4}};
    struct hf_store *store = lab_open(lab);

    watch.after = lab_revision(lab, store);
    lab_close(store);
    lab_die(lab, hold, &script);
    lab->fake.boot_id[5] ^= 1;
    lab->fake.steady.ns = 5;
    store = lab_open(lab);
    watch.after = lab_put(lab, store, "held", 0) - 1;
    assert_true(watch.after > 0);
    /* The end was committed, as an entry of its own. */
    watch.after = 0;
    assert_int_equal(lab_run(lab, store, &watch), HF_OUTCOME_COMMITTED);
    assert_int_equal(watch.change_count, 3);
    assert_true(watch.changes[1].is_delete && watch.changes[1].by_lease);
    assert_true(watch.changes[2].revision > watch.changes[1].revision);
    hf_store_request_clear(&watch);
    assert_int_equal(lab_count_files(lab, "damaged"), 0);
    lab_close(store);
}

static void a_boot_leaves_no_session_files(void **state)
{
    struct lab *lab = *state;
    struct script script = {.phase = HF_PHASE_STARTED};
    const struct dirent *entry;
    char folder[400];
    DIR *files;

    lab_close(lab_open(lab));
    lab_die(lab, hold, &script);
    lab->fake.boot_id[5] ^= 1;
    lab_close(lab_open(lab));
    snprintf(folder, sizeof(folder), "%s.run", lab->path);
    files = opendir(folder);
    assert_non_null(files);
    while ((entry = readdir(files)))
        assert_null(strstr(entry->d_name, "s-"));
    closedir(files);
}

/*
 * Two containers on one kernel, each with a boot id of its own, as some show
 * them: that a lock is held tells that there was no boot.
 */
static void a_boot_id_of_a_containers_own_ends_nothing_that_lives(void **state)
{
    struct lab *lab = *state;
    struct lab there = *lab;
    struct hf_store *here = lab_open(lab);
    hf_lease_id lease = lab_grant(lab, here, TTL_MS);
    struct hf_store *other;
    uint64_t last = 0;

    there.fake.seed += 77;
    there.fake.boot_id[0] ^= 0xff;
    assert_true(lab_take(lab, here, "held", lease));
    assert_int_equal(lab_phase(lab, here, lease, HF_PHASE_STARTED, NULL),
                     HF_OUTCOME_COMMITTED);
    other = lab_open(&there);
    for (int i = 0; i < 5; i++) {
        uint64_t next;

        assert_false(lab_take(&there, other, "held", 0));
        next = lab_put(&there, other, "theirs", 0);
        assert_true(next > last);
        assert_int_equal(lab_release(&there, other, "theirs"),
                         HF_OUTCOME_COMMITTED);
        assert_int_equal(lab_renew(lab, here, lease), HF_OUTCOME_COMMITTED);
        assert_true(lab_exists(lab, here, "held"));
        last = lab_put(lab, here, "ours", lease);
        assert_true(last > next);
        assert_int_equal(lab_release(lab, here, "ours"), HF_OUTCOME_COMMITTED);
    }
    assert_int_equal(lab_release(lab, here, "held"), HF_OUTCOME_COMMITTED);
    assert_true(lab_take(&there, other, "held", 0));
    lab_close(other);
    lab_close(here);
}

/* ---- prefixes ---- */

/* Calls that it costs to learn that keys stand below a prefix. */
static unsigned int ask_for_none(struct lab *lab, struct hf_store *store,
                                 bool *held)
{
    struct hf_condition none = {.kind = HF_IF_PREFIX_ABSENT, .key = {"q/", 2}};
    /* Only who would write removes the dead. */
    struct hf_action write = {.kind = HF_DO_DELETE, .key = {"nothing", 7}};
    struct hf_branch branch = {.conditions = &none,
                               .condition_count = 1,
                               .then = &write,
                               .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};

    sys_fake_fail(&lab->fake, FAKE_ANY, 0, 0);
    assert_int_equal(lab_run(lab, store, &request), HF_OUTCOME_COMMITTED);
    *held = branch.held;
    hf_store_request_clear(&request);
    return lab->fake.count[FAKE_ANY];
}

/* A queue of a thousand would cost each newcomer a thousand proofs. */
static void one_key_that_stays_answers_for_its_prefix(void **state)
{
    struct lab *lab = *state;
    struct hf_store *holder = lab_open(lab);
    struct hf_store *asker = lab_open(lab);
    unsigned int with_one;
    bool held;

    lab_put(lab, holder, "q/0", lab_grant(lab, holder, TTL_MS));
    (void)ask_for_none(lab, asker, &held);
    with_one = ask_for_none(lab, asker, &held);
    assert_false(held);
    for (int i = 1; i < 50; i++) {
        char key[8];

        snprintf(key, sizeof(key), "q/%d", i);
        lab_put(lab, holder, key, lab_grant(lab, holder, TTL_MS));
    }
    /* The first one reads what has changed. */
    (void)ask_for_none(lab, asker, &held);
    assert_int_equal(ask_for_none(lab, asker, &held), with_one);
    assert_false(held);
    lab_close(asker);
    lab_close(holder);
}

static void wait_in_line(struct lab *lab, void *argument)
{
    struct hf_store *store = lab_open(lab);

    lab_put(lab, store, argument, lab_grant(lab, store, TTL_MS));
}

static void the_dead_of_a_prefix_stand_in_nobodys_way(void **state)
{
    struct lab *lab = *state;
    struct hf_store *store = lab_open(lab);
    char first[] = "q/1";
    char second[] = "q/2";
    bool held;

    lab_die(lab, wait_in_line, first);
    lab->fake.seed += 7;
    lab_die(lab, wait_in_line, second);
    lab->fake.seed += 7;
    lab_put(lab, store, "q/3", 0);
    (void)ask_for_none(lab, store, &held);
    assert_false(held);
    assert_false(lab_exists(lab, store, first));
    assert_false(lab_exists(lab, store, second));
    assert_int_equal(lab_release(lab, store, "q/3"), HF_OUTCOME_COMMITTED);
    lab_die(lab, wait_in_line, first);
    (void)ask_for_none(lab, store, &held);
    assert_true(held);
    lab_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(killed_before_its_job_the_key_is_free_at_once),
        LAB_TEST(killed_with_its_job_gone_the_key_is_free_at_once),
        LAB_TEST(killed_with_a_job_started_the_clock_alone_frees),
        LAB_TEST(a_job_that_lives_on_is_seen),
        LAB_TEST(a_living_holder_is_never_dead),
        LAB_TEST(an_empty_cgroup_proves_death),
        LAB_TEST(a_cgroup_of_the_same_path_proves_nothing),
        LAB_TEST(a_folder_that_is_no_cgroup_proves_nothing),
        LAB_TEST(a_boot_ends_every_lease),
        LAB_TEST(a_boot_leaves_no_session_files),
        LAB_TEST(a_boot_id_of_a_containers_own_ends_nothing_that_lives),
        LAB_TEST(one_key_that_stays_answers_for_its_prefix),
        LAB_TEST(the_dead_of_a_prefix_stand_in_nobodys_way),
    };

    return cmocka_run_group_tests_name("embedded store, proof", tests, NULL,
                                       NULL);
}
