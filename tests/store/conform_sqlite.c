/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded store before the conformance suite. */
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
    char path[512];
};

static uint64_t benches; /* each has numbers of its own */

static struct bench *make(void)
{
    struct bench *bench = calloc(1, sizeof(*bench));

    assert_non_null(bench);
    sys_fake_init(&bench->fake);
    bench->fake.seed = ++benches << 32;
    bench->folder = folder_new();
    snprintf(bench->path, sizeof(bench->path), "%s/db", bench->folder);
    return bench;
}

static void drop(struct bench *bench)
{
    folder_free(bench->folder);
    free(bench);
}

static struct hf_store *open_handle(struct bench *bench)
{
    struct hf_sqlite_options options = {.path = bench->path,
                                        .gate_limit = hf_span_ms(10000)};
    struct hf_store *store = NULL;
    struct hf_error error;

    if (hf_sqlite_open(&bench->fake.sys, &options, &store, &error))
        fail_msg("%s", error.text);
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

static const struct adapter embedded = {.name = "sqlite",
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
    void *page = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    pid_t pid;

    assert_ptr_not_equal(page, MAP_FAILED);
    memcpy(page, shared, bytes);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* The parent will draw the numbers that this one would draw. */
        bench->fake.seed ^= UINT64_C(0x5555555555555555);
        script(&embedded, bench, open_handle(bench), page);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    memcpy(shared, page, bytes);
    munmap(page, bytes ? bytes : 1);
    bench->fake.seed += 1000;
}

int main(void)
{
    return kit_main(&embedded);
}
