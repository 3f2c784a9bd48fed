/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/sqlite_lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void must_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
    abort();
}

int lab_setup(void **state)
{
    struct lab *lab = calloc(1, sizeof(*lab));

    must(lab != NULL);
    sys_fake_init(&lab->fake);
    lab->folder = folder_new();
    snprintf(lab->path, sizeof(lab->path), "%s/db", lab->folder);
    *state = lab;
    return 0;
}

int lab_teardown(void **state)
{
    struct lab *lab = *state;

    folder_free(lab->folder);
    free(lab);
    return 0;
}

/* ---- handles ---- */

static struct hf_store *open_as(struct lab *lab, bool read_only)
{
    struct hf_sqlite_options options = {.path = lab->path,
                                        .gate_limit = hf_span_ms(20000),
                                        .read_only = read_only};
    struct hf_store *store = NULL;

    if (hf_sqlite_open(&lab->fake.sys, &options, &store, &lab->error))
        return NULL;
    return store;
}

struct hf_store *lab_try_open(struct lab *lab)
{
    return open_as(lab, false);
}

static struct hf_store *opened(struct lab *lab, bool read_only)
{
    struct hf_store *store = open_as(lab, read_only);

    if (!store)
        fprintf(stderr, "%s\n", lab->error.text);
    must(store != NULL);
    return store;
}

struct hf_store *lab_open(struct lab *lab)
{
    return opened(lab, false);
}

struct hf_store *lab_look(struct lab *lab)
{
    return opened(lab, true);
}

void lab_close(struct hf_store *store)
{
    store->ops->close(store);
}

/* ---- asking ---- */

enum hf_outcome lab_run(struct lab *lab, struct hf_store *store,
                        struct hf_store_request *request)
{
    hf_store_submit(store, request, lab->fake.steady);
    must(hf_store_next(store, lab->fake.steady) == request);
    if (request->outcome == HF_OUTCOME_FAILED ||
        request->outcome == HF_OUTCOME_UNKNOWN)
        lab->error = request->error;
    return request->outcome;
}

static void run_well(struct lab *lab, struct hf_store *store,
                     struct hf_store_request *request)
{
    enum hf_outcome outcome = lab_run(lab, store, request);

    if (outcome != HF_OUTCOME_COMMITTED)
        fprintf(stderr, "outcome %d: %s\n", outcome, request->error.text);
    must(outcome == HF_OUTCOME_COMMITTED);
}

hf_lease_id lab_grant_fd(struct lab *lab, struct hf_store *store,
                         int64_t ttl_ms, int *fd)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_GRANT,
                                       .ttl_ms = ttl_ms};

    run_well(lab, store, &request);
    if (fd)
        *fd = request.state_fd;
    hf_store_request_clear(&request);
    return request.lease;
}

hf_lease_id lab_grant(struct lab *lab, struct hf_store *store, int64_t ttl_ms)
{
    return lab_grant_fd(lab, store, ttl_ms, NULL);
}

static enum hf_outcome ask_lease(struct lab *lab, struct hf_store *store,
                                 enum hf_store_kind kind, hf_lease_id lease)
{
    struct hf_store_request request = {.kind = kind, .lease = lease};
    enum hf_outcome outcome = lab_run(lab, store, &request);

    hf_store_request_clear(&request);
    return outcome;
}

enum hf_outcome lab_renew(struct lab *lab, struct hf_store *store,
                          hf_lease_id lease)
{
    return ask_lease(lab, store, HF_STORE_LEASE_RENEW, lease);
}

enum hf_outcome lab_revoke(struct lab *lab, struct hf_store *store,
                           hf_lease_id lease)
{
    return ask_lease(lab, store, HF_STORE_LEASE_REVOKE, lease);
}

enum hf_outcome lab_phase(struct lab *lab, struct hf_store *store,
                          hf_lease_id lease, enum hf_lease_phase phase,
                          const char *cgroup)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_PHASE,
                                       .lease = lease,
                                       .phase = phase,
                                       .cgroup = cgroup};
    enum hf_outcome outcome = lab_run(lab, store, &request);

    hf_store_request_clear(&request);
    return outcome;
}

enum hf_lease_proof lab_proof(struct lab *lab, struct hf_store *store,
                              hf_lease_id lease)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_SHOW,
                                       .lease = lease};

    run_well(lab, store, &request);
    hf_store_request_clear(&request);
    return request.proof;
}

static struct hf_bytes bytes(const char *text)
{
    return (struct hf_bytes){text, strlen(text)};
}

enum hf_outcome lab_try_take(struct lab *lab, struct hf_store *store,
                             const char *key, hf_lease_id lease, bool *held,
                             uint64_t *revision)
{
    struct hf_condition absent = {HF_IF_ABSENT, bytes(key), 0};
    struct hf_action put = {HF_DO_PUT, bytes(key), bytes("value"), lease, 0};
    struct hf_branch branch = {.conditions = &absent,
                               .condition_count = 1,
                               .then = &put,
                               .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};
    enum hf_outcome outcome = lab_run(lab, store, &request);

    if (held)
        *held = branch.held;
    if (revision)
        *revision = request.revision;
    hf_store_request_clear(&request);
    return outcome;
}

bool lab_take(struct lab *lab, struct hf_store *store, const char *key,
              hf_lease_id lease)
{
    bool held = false;
    enum hf_outcome outcome = lab_try_take(lab, store, key, lease, &held, NULL);

    if (outcome != HF_OUTCOME_COMMITTED)
        fprintf(stderr, "outcome %d: %s\n", outcome, lab->error.text);
    must(outcome == HF_OUTCOME_COMMITTED);
    return held;
}

uint64_t lab_put(struct lab *lab, struct hf_store *store, const char *key,
                 hf_lease_id lease)
{
    uint64_t revision = 0;
    bool held = false;

    if (lab_try_take(lab, store, key, lease, &held, &revision))
        fprintf(stderr, "%s\n", lab->error.text);
    must(held);
    return revision;
}

enum hf_outcome lab_release(struct lab *lab, struct hf_store *store,
                            const char *key)
{
    struct hf_action release = {.kind = HF_DO_DELETE, .key = bytes(key)};
    struct hf_branch branch = {.then = &release, .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};
    enum hf_outcome outcome = lab_run(lab, store, &request);

    hf_store_request_clear(&request);
    return outcome;
}

uint64_t lab_changed(struct lab *lab, struct hf_store *store, const char *key)
{
    struct hf_action read = {.kind = HF_DO_GET, .key = bytes(key)};
    struct hf_branch branch = {.then = &read, .then_count = 1};
    struct hf_store_request request = {
        .kind = HF_STORE_TXN, .branches = &branch, .branch_count = 1};
    uint64_t changed = 0;

    run_well(lab, store, &request);
    if (branch.results[0].record_count)
        changed = branch.results[0].records[0].changed;
    hf_store_request_clear(&request);
    return changed;
}

bool lab_exists(struct lab *lab, struct hf_store *store, const char *key)
{
    return lab_changed(lab, store, key) != 0;
}

static void look(struct lab *lab, struct hf_store *store,
                 struct hf_store_request *request)
{
    *request = (struct hf_store_request){.kind = HF_STORE_TXN};
    run_well(lab, store, request);
    hf_store_request_clear(request);
}

struct hf_store_identity lab_identity(struct lab *lab, struct hf_store *store)
{
    struct hf_store_request request;

    look(lab, store, &request);
    return request.identity;
}

uint64_t lab_revision(struct lab *lab, struct hf_store *store)
{
    struct hf_store_request request;

    look(lab, store, &request);
    return request.revision;
}

/* ---- files ---- */

const char *lab_file(const struct lab *lab, const char *suffix)
{
    static char path[4][512];
    static unsigned int next;

    next = (next + 1) % 4;
    snprintf(path[next], sizeof(path[next]), "%s%s", lab->path, suffix);
    return path[next];
}

void lab_copy(const char *from, const char *to)
{
    char buffer[65536];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t got;

    must(in >= 0 && out >= 0);
    while ((got = read(in, buffer, sizeof(buffer))) > 0)
        must(write(out, buffer, (size_t)got) == got);
    must(got == 0);
    close(in);
    close(out);
}

void lab_scribble(const char *path, off_t at, const void *bytes_, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    must(fd >= 0);
    if (at < 0)
        at += lseek(fd, 0, SEEK_END);
    must(pwrite(fd, bytes_, size, at) == (ssize_t)size);
    close(fd);
}

void lab_remove_tree(const char *path)
{
    folder_free(strdup(path));
}

unsigned int lab_count_files(const struct lab *lab, const char *part)
{
    DIR *folder = opendir(lab->folder);
    const struct dirent *entry;
    unsigned int count = 0;

    must(folder != NULL);
    while ((entry = readdir(folder)))
        count += strstr(entry->d_name, part) != NULL;
    closedir(folder);
    return count;
}

/* ---- processes ---- */

static int ready_pipe = -1;

static pid_t start(struct lab *lab, lab_script *script, void *argument,
                   int pipe_fd)
{
    pid_t pid = fork();

    must(pid >= 0);
    if (pid == 0) {
        /* Not to outlive a test that fails. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ready_pipe = pipe_fd;
        /* The parent will draw the numbers that this one would draw. */
        lab->fake.seed ^= (uint64_t)getpid() << 20;
        script(lab, argument);
        kill(getpid(), SIGKILL);
    }
    return pid;
}

static void reap(pid_t pid)
{
    int status = 0;

    must(waitpid(pid, &status, 0) == pid);
    must(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

void lab_die(struct lab *lab, lab_script *script, void *argument)
{
    reap(start(lab, script, argument, -1));
}

pid_t lab_start(struct lab *lab, lab_script *script, void *argument)
{
    int ends[2];
    char byte;
    pid_t pid;

    must(pipe2(ends, O_CLOEXEC) == 0);
    pid = start(lab, script, argument, ends[1]);
    close(ends[1]);
    must(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    return pid;
}

void lab_ready(struct lab *lab)
{
    (void)lab;
    must(write(ready_pipe, "", 1) == 1);
    for (;;)
        pause();
}

void lab_end(pid_t pid)
{
    kill(pid, SIGKILL);
    reap(pid);
}
