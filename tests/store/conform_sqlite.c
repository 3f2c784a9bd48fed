/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded store before the conformance suite: real files, commanded time.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/sqlite.h"
#include "tests/lib/folder.h"
#include "tests/lib/sys_fake.h"
#include "tests/store/kit.h"

struct bench {
    struct sys_fake fake;
    char *folder;
    char path[256];
};

static uint64_t benches; /* each has random bytes of its own */

static struct bench *make(void)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    assert_non_null(bench);
    sys_fake_init(&bench->fake);
    bench->fake.seed += ++benches;
    bench->folder = folder_new();
    snprintf(bench->path, sizeof(bench->path), "%s/lock.db", bench->folder);
    return bench;
}

static void drop(struct bench *bench)
{
    folder_free(bench->folder);
    free(bench);
}

static struct hf_store *open_handle(struct bench *bench)
{
    const struct hf_sqlite_options options = {.path = bench->path,
                                              .gate_limit = hf_span_ms(10000)};
    struct hf_store *store = NULL;
    struct hf_error error;

    if (hf_sqlite_open(&bench->fake.sys, &options, &store, &error))
        fprintf(stderr, "%s\n", error.text);
    return store;
}

static struct hf_time now(struct bench *bench)
{
    return bench->fake.steady;
}

static void pass(struct bench *bench, struct hf_span span)
{
    sys_fake_pass(&bench->fake, span);
}

static void die(struct bench *bench, victim_fn *script, void *shared,
                size_t bytes);

static const struct adapter sqlite = {.name = "sqlite",
                                      .takers_remove = true,
                                      .compacts = true,
                                      .make = make,
                                      .drop = drop,
                                      .open = open_handle,
                                      .now = now,
                                      .pass = pass,
                                      .die = die};

static void die(struct bench *bench, victim_fn *script, void *shared,
                size_t bytes)
{
    void *both = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    pid_t pid;

    assert_true(both != MAP_FAILED);
    memcpy(both, shared, bytes);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct hf_store *store;

        bench->fake.seed ^= UINT64_C(0x9e3779b97f4a7c15);
        store = open_handle(bench);
        if (!store)
            _exit(1);
        script(&sqlite, bench, store, both);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    memcpy(shared, both, bytes);
    munmap(both, bytes);
}

int main(void)
{
    return kit_main(&sqlite);
}
