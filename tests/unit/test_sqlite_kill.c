/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many processes on one store, killed at any moment, while somebody deletes and
 * replaces what lies there. At no moment do two hold one key, and tokens rise.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/sqlite_lab.h"

enum { WORKERS = 4, KILLS = 150, TTL_MS = 60000 };

/* What all of them see. */
struct board {
    int holder;  /* a process, 0: nobody that lives */
    int broken;  /* two at once, or a token that fell */
    int unlucky; /* outcomes that were no answer */
    uint64_t token;
    uint64_t jobs;
};

static struct board *board_new(void)
{
    struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(board, MAP_FAILED);
    return board;
}

/* A process that was killed runs nothing, though its name may still be there
 * for a moment. */
static bool is_dead(int pid)
{
    char path[64];
    char line[256] = "";
    const char *state;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return true;
    (void)!fgets(line, sizeof(line), file);
    fclose(file);
    state = strrchr(line, ')');
    return !state || state[2] == 'Z' || state[2] == 'X';
}

static void begin_hold(struct board *board, uint64_t token)
{
    int former =
        __atomic_exchange_n(&board->holder, getpid(), __ATOMIC_SEQ_CST);

    for (int i = 0; former && i < 20000 && !is_dead(former); i++)
        usleep(1000);
    if (former && !is_dead(former))
        __atomic_store_n(&board->broken, 1, __ATOMIC_SEQ_CST);
    if (token <= __atomic_load_n(&board->token, __ATOMIC_SEQ_CST))
        __atomic_store_n(&board->broken, 2, __ATOMIC_SEQ_CST);
    __atomic_store_n(&board->token, token, __ATOMIC_SEQ_CST);
}

static void end_hold(struct board *board)
{
    int own = getpid();

    /* Whoever came meanwhile came too early. */
    if (!__atomic_compare_exchange_n(&board->holder, &own, 0, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        __atomic_store_n(&board->broken, 3, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&board->jobs, 1, __ATOMIC_SEQ_CST);
}

static hf_lease_id try_grant(struct lab *lab, struct hf_store *store)
{
    struct hf_store_request request = {.kind = HF_STORE_LEASE_GRANT,
                                       .ttl_ms = TTL_MS};
    enum hf_outcome outcome = lab_run(lab, store, &request);

    hf_store_request_clear(&request);
    return outcome == HF_OUTCOME_COMMITTED ? request.lease : 0;
}

/* One job after another, as fast as they come. */
static void work(struct lab *lab, struct board *board)
{
    struct hf_store *store = lab_try_open(lab);
    hf_lease_id lease = store ? try_grant(lab, store) : 0;
    bool held = false;
    uint64_t token = 0;

    if (!lease) {
        __atomic_fetch_add(&board->unlucky, 1, __ATOMIC_SEQ_CST);
        if (store)
            lab_close(store);
        return;
    }
    if (lab_try_take(lab, store, "held", lease, &held, &token) !=
        HF_OUTCOME_COMMITTED) {
        /* Maybe it was done: let go in any case. */
        __atomic_fetch_add(&board->unlucky, 1, __ATOMIC_SEQ_CST);
        (void)lab_revoke(lab, store, lease);
        lab_close(store);
        return;
    }
    if (held) {
        begin_hold(board, token);
        usleep((useconds_t)(rand() % 300));
        end_hold(board);
    }
    if (lab_revoke(lab, store, lease) != HF_OUTCOME_COMMITTED && held)
        __atomic_fetch_add(&board->unlucky, 1, __ATOMIC_SEQ_CST);
    lab_close(store);
}

static pid_t start_worker(struct lab *lab, struct board *board)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        /* Not to outlive a test that fails. */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        srand((unsigned int)getpid());
        lab->fake.seed ^= (uint64_t)getpid() << 20;
        for (;;)
            work(lab, board);
    }
    return pid;
}

static void kill_worker(pid_t pid)
{
    int status = 0;

    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("a worker ended with %x", (unsigned int)status);
}

typedef void trouble(struct lab *lab);

static void run(struct lab *lab, trouble *make_trouble, uint64_t jobs_min)
{
    struct board *board = board_new();
    pid_t workers[WORKERS];
    struct hf_store *store;
    uint64_t jobs;
    /* Under valgrind a worker needs longer than that to do anything. */
    int pace = getenv("HF_SANITIZED") ? 20 : 1;

    jobs_min /= (uint64_t)pace;
    lab_close(lab_open(lab));
    for (int i = 0; i < WORKERS; i++)
        workers[i] = start_worker(lab, board);
    srand(1);
    for (int i = 0;
         i < KILLS / pace || (board->jobs < jobs_min && i < 20 * KILLS / pace);
         i++) {
        int victim = rand() % WORKERS;

        usleep((useconds_t)(rand() % 15000 * pace));
        if (make_trouble && i % 3 == 0)
            make_trouble(lab);
        kill_worker(workers[victim]);
        workers[victim] = start_worker(lab, board);
    }
    for (int i = 0; i < WORKERS; i++)
        kill_worker(workers[i]);
    jobs = board->jobs;
    assert_int_equal(board->broken, 0);
    assert_true(jobs >= jobs_min);
    if (!make_trouble)
        assert_int_equal(board->unlucky, 0);
    /* Whose session file was removed can only be waited for. */
    sys_fake_pass(&lab->fake, hf_span_ms(TTL_MS + 1));
    store = lab_open(lab);
    assert_true(lab_put(lab, store, "held", 0) > board->token);
    lab_close(store);
    assert_int_equal(lab_count_files(lab, "damaged"), 0);
    munmap(board, sizeof(*board));
}

static void kill_at_any_moment_leaves_it_right(void **state)
{
    run(*state, NULL, KILLS);
}

static void delete_database(struct lab *lab)
{
    (void)unlink(lab->path);
}

static void deleted_again_and_again_it_stays_right(void **state)
{
    run(*state, delete_database, KILLS);
}

static void put_back_older(struct lab *lab)
{
    if (access(lab_file(lab, "-older"), F_OK) != 0 || rand() % 4 == 0) {
        if (access(lab->path, F_OK) == 0)
            lab_copy(lab->path, lab_file(lab, "-older"));
        return;
    }
    lab_copy(lab_file(lab, "-older"), lab_file(lab, "-moving"));
    assert_int_equal(rename(lab_file(lab, "-moving"), lab->path), 0);
}

/* A copy taken in the middle of a commit may be torn: that is then found. */
static void replaced_again_and_again_it_stays_right(void **state)
{
    struct lab *lab = *state;

    run(lab, put_back_older, KILLS);
}

static void delete_mark(struct lab *lab)
{
    (void)unlink(lab_file(lab, ".mark"));
}

static void without_a_mark_it_stays_right(void **state)
{
    run(*state, delete_mark, KILLS);
}

static void delete_sessions(struct lab *lab)
{
    char command[400];

    snprintf(command, sizeof(command), "rm -rf '%s.run' 2>/dev/null",
             lab->path);
    (void)!system(command);
}

static void without_its_session_folder_it_stays_right(void **state)
{
    run(*state, delete_sessions, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(kill_at_any_moment_leaves_it_right),
        LAB_TEST(deleted_again_and_again_it_stays_right),
        LAB_TEST(replaced_again_and_again_it_stays_right),
        LAB_TEST(without_a_mark_it_stays_right),
        LAB_TEST(without_its_session_folder_it_stays_right),
    };

    return cmocka_run_group_tests_name("embedded store, kill -9", tests, NULL,
                                       NULL);
}
