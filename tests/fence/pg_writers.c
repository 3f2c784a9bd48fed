/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many writers with mixed tokens on one key, for pg_writers.bats: each
 * transaction passes the guard, counts up a register and notes its number and
 * its token in a history. The register's row lock gives the order, whatever the
 * guard does. What the server answers is counted; the history is judged in SQL.
 *
 * usage: pg_writers SECONDS WRITERS LEVEL
 * The database is what the PG* environment says, with tables register (n,
 * token) and history (n, token). The last line is
 * "accepted N, refused N, again N, lost N, strange N".
 */
#include <libpq-fe.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Shared by all writers. */
struct shared {
    _Atomic long newest; /* the highest token that was given out */
    _Atomic long accepted;
    _Atomic long refused;
    _Atomic long again; /* 40001, 40P01 */
    _Atomic long lost;  /* the connection broke: done or not, nobody knows */
    _Atomic long strange;
};

struct writer {
    struct shared *shared;
    const char *level;
    unsigned int seed;
    PGconn *conn;
    time_t until;
};

enum answer { DONE, REFUSED, AGAIN, LOST, STRANGE };

static unsigned int next_random(struct writer *writer)
{
    writer->seed = writer->seed * 1664525u + 1013904223u;
    return writer->seed >> 16;
}

/* Now and then a new holder, mostly the newest, often an older one. */
static long choose_token(struct writer *writer)
{
    unsigned int dice = next_random(writer) % 100;
    long newest = writer->shared->newest;
    long older = newest - 1 - (long)(next_random(writer) % 6);

    if (dice < 5)
        return ++writer->shared->newest;
    if (dice < 70 || older < 1)
        return newest;
    return older;
}

static enum answer judge(struct writer *writer, PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    ExecStatusType status = PQresultStatus(result);
    enum answer answer = STRANGE;

    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        answer = DONE;
    else if (PQstatus(writer->conn) != CONNECTION_OK || !state ||
             strncmp(state, "57P", 3) == 0)
        answer = LOST;
    else if (strcmp(state, "LK001") == 0)
        answer = REFUSED;
    else if (strcmp(state, "40001") == 0 || strcmp(state, "40P01") == 0)
        answer = AGAIN;
    else
        fprintf(stderr, "%s", PQerrorMessage(writer->conn));
    PQclear(result);
    return answer;
}

static enum answer run(struct writer *writer, const char *sql)
{
    return judge(writer, PQexec(writer->conn, sql));
}

static enum answer write_once(struct writer *writer, long token)
{
    char sql[512];
    enum answer answer;

    snprintf(sql, sizeof(sql), "BEGIN ISOLATION LEVEL %s", writer->level);
    answer = run(writer, sql);
    if (answer != DONE)
        return answer;
    snprintf(sql, sizeof(sql), "SELECT holdfast.guard('t/n/k', %ld, 'g%ld')",
             token, token);
    answer = run(writer, sql);
    if (answer != DONE)
        return answer;
    snprintf(sql, sizeof(sql),
             "WITH r AS (UPDATE register SET n = n + 1, token = %ld "
             "RETURNING n) INSERT INTO history SELECT n, %ld FROM r",
             token, token);
    answer = run(writer, sql);
    if (answer != DONE)
        return answer;
    return run(writer, "COMMIT");
}

static void count(struct shared *shared, enum answer answer)
{
    switch (answer) {
    case DONE:
        shared->accepted++;
        break;
    case REFUSED:
        shared->refused++;
        break;
    case AGAIN:
        shared->again++;
        break;
    case LOST:
        shared->lost++;
        break;
    case STRANGE:
        shared->strange++;
        break;
    }
}

static void work(struct writer *writer)
{
    while (time(NULL) < writer->until) {
        enum answer answer;

        if (!writer->conn || PQstatus(writer->conn) != CONNECTION_OK) {
            const struct timespec moment = {0, 20000000};

            PQfinish(writer->conn);
            writer->conn = PQconnectdb("");
            if (PQstatus(writer->conn) != CONNECTION_OK) {
                nanosleep(&moment, NULL);
                continue;
            }
        }
        answer = write_once(writer, choose_token(writer));
        count(writer->shared, answer);
        if (answer != DONE && PQstatus(writer->conn) == CONNECTION_OK)
            PQclear(PQexec(writer->conn, "ROLLBACK"));
    }
    PQfinish(writer->conn);
}

int main(int argc, char **argv)
{
    struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long writers = argc == 4 ? strtol(argv[2], NULL, 10) : 0;
    int status = 0;

    if (shared == MAP_FAILED || writers < 1)
        return 64;
    shared->newest = 1;
    for (long i = 0; i < writers; i++) {
        pid_t child = fork();

        if (child == 0) {
            struct writer writer = {
                .shared = shared,
                .level = argv[3],
                .seed = (unsigned int)i * 7919u + 1u,
                .until = time(NULL) + strtol(argv[1], NULL, 10),
            };

            work(&writer);
            _exit(0);
        }
        if (child < 0)
            return 1;
    }
    while (wait(&status) > 0) {
        if (status != 0)
            shared->strange++;
    }
    printf("accepted %ld, refused %ld, again %ld, lost %ld, strange %ld\n",
           shared->accepted, shared->refused, shared->again, shared->lost,
           shared->strange);
    return 0;
}
