/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/pg.h"

#include <ctype.h>
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONNECT_LIMIT_MS = 10000, COPY_CHUNK = 64 * 1024, STATE_SIZE = 5 };

struct hf_pg {
    PGconn *conn;
};

/* ---- errors ----------------------------------------------------------------
 */

static const struct {
    const char *state; /* SQLSTATE, or the class that it begins with */
    enum hf_err err;
} states[] = {
    {"LK001", HF_ERR_STALE},
    {"LK002", HF_ERR_OTHER_GRANT},
    {"LK003", HF_ERR_REPEATED},
    {"LK004", HF_ERR_NO_TOKEN},
    {"LK005", HF_ERR_USAGE},
    {"LK006", HF_ERR_OTHER_KEY},
    {"LK007", HF_ERR_UNFENCED},
    {"LK008", HF_ERR_DENIED},
    {"40001", HF_ERR_BUSY}, /* could not serialize: run it again */
    {"40P01", HF_ERR_BUSY}, /* deadlock: the same */
    {"53100", HF_ERR_NOSPACE},
    {"53", HF_ERR_UNAVAILABLE},
    {"08", HF_ERR_UNAVAILABLE},
    {"57P", HF_ERR_UNAVAILABLE}, /* shut down, ended by the administrator */
    {"58", HF_ERR_UNAVAILABLE},
    {"XX", HF_ERR_UNAVAILABLE},
    {"28", HF_ERR_DENIED},
    {"42501", HF_ERR_DENIED},
    {"25006", HF_ERR_DENIED}, /* read only: a standby, say */
};

static enum hf_err of_state(const char *state)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0)
            return states[i].err;
    }
    return HF_ERR_REJECTED;
}

/* The first line of a message, without the blanks at its end. */
static int first_line(const char *text)
{
    int size = (int)strcspn(text, "\n");

    while (size > 0 && isspace((unsigned char)text[size - 1]))
        size--;
    return size;
}

static enum hf_err broken(struct hf_pg *pg, struct hf_error *error)
{
    const char *text = PQerrorMessage(pg->conn);

    return hf_error_set(error, HF_ERR_UNAVAILABLE,
                        "the connection to PostgreSQL broke: %.*s",
                        first_line(text), text);
}

static const char *field(const PGresult *result, int code)
{
    const char *text = PQresultErrorField(result, code);

    return text ? text : "";
}

/* No such schema, function or table, and it is ours that is meant. */
static bool is_not_installed(const char *state, const char *text)
{
    return (strcmp(state, "3F000") == 0 || strcmp(state, "42883") == 0 ||
            strcmp(state, "42P01") == 0) &&
           strstr(text, "holdfast");
}

static enum hf_err fail(struct hf_pg *pg, const PGresult *result,
                        struct hf_error *error)
{
    const char *state = field(result, PG_DIAG_SQLSTATE);
    const char *text = field(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *hint = field(result, PG_DIAG_MESSAGE_HINT);
    const char *ours = "holdfast: ";

    if (!state[0])
        return broken(pg, error);
    if (is_not_installed(state, text))
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "database %s has no guard (lockfence pg init "
                            "makes one, lockfence pg plan shows it)",
                            PQdb(pg->conn));
    if (strncmp(state, "LK", 2) == 0) {
        if (strncmp(text, ours, strlen(ours)) == 0)
            text += strlen(ours);
        return hf_error_set(error, of_state(state), "%s%s%s%s", text,
                            hint[0] ? " (" : "", hint, hint[0] ? ")" : "");
    }
    return hf_error_set(error, of_state(state), "%s (SQLSTATE %s)", text,
                        state);
}

/* ---- connecting ------------------------------------------------------------
 */

static long ms_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - start->tv_sec) * 1000 +
           (now.tv_nsec - start->tv_nsec) / 1000000;
}

/* A message of the server in verbose form has "28P01: " in front of its text:
 * where that begins, or NULL. (FATAL: is as long, but has no digit.) */
static const char *find_state(const char *text)
{
    for (const char *at = text; *at; at++) {
        bool has_digit = false;
        size_t size = 0;

        if (at[0] != ' ')
            continue;
        while (isupper((unsigned char)at[1 + size]) ||
               isdigit((unsigned char)at[1 + size])) {
            has_digit = has_digit || isdigit((unsigned char)at[1 + size]);
            size++;
        }
        if (size == STATE_SIZE && has_digit && at[1 + size] == ':')
            return at + 1;
    }
    return NULL;
}

static enum hf_err cannot_connect(struct hf_pg *pg, struct hf_error *error)
{
    const char *text = PQerrorMessage(pg->conn);
    const char *state = find_state(text);
    enum hf_err err = HF_ERR_UNAVAILABLE;

    if (!state)
        return hf_error_set(error, err, "cannot reach PostgreSQL: %.*s",
                            first_line(text), text);
    /* No such role or database, and what 28 says: it answered, and refused. */
    if (strncmp(state, "28", 2) == 0 || strncmp(state, "3D000", 5) == 0 ||
        strncmp(state, "42501", 5) == 0)
        err = HF_ERR_DENIED;
    return hf_error_set(error, err, "PostgreSQL refuses the connection: %.*s",
                        first_line(state + STATE_SIZE + 2),
                        state + STATE_SIZE + 2);
}

/* Until connected or failed: what PQconnectdb does, within our limit. */
static enum hf_err finish_connecting(struct hf_pg *pg, struct hf_error *error)
{
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    struct timespec start;

    clock_gettime(CLOCK_MONOTONIC, &start);
    while (next != PGRES_POLLING_OK) {
        struct pollfd watched = {
            .fd = PQsocket(pg->conn),
            .events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT,
        };
        long left = CONNECT_LIMIT_MS - ms_since(&start);

        if (next == PGRES_POLLING_FAILED ||
            PQstatus(pg->conn) == CONNECTION_BAD)
            return cannot_connect(pg, error);
        if (left <= 0)
            return hf_error_set(error, HF_ERR_UNAVAILABLE,
                                "PostgreSQL at %s did not answer within 10 s",
                                PQhost(pg->conn) ? PQhost(pg->conn) : "?");
        if (poll(&watched, 1, (int)left) > 0)
            next = PQconnectPoll(pg->conn);
    }
    return HF_ERR_OK;
}

/* libpq would write notices to standard error. */
static void drop_notice(void *nobody, const PGresult *result)
{
    (void)nobody;
    (void)result;
}

enum hf_err hf_pg_open(struct hf_pg **pg_out, const char *dsn,
                       struct hf_error *error)
{
    const char *const names[] = {"dbname", "fallback_application_name", NULL};
    const char *const values[] = {dsn ? dsn : "", "lockfence", NULL};
    struct hf_pg *pg = malloc(sizeof(*pg));
    enum hf_err err;

    if (pg)
        pg->conn = PQconnectStartParams(names, values, 1);
    if (!pg || !pg->conn) {
        free(pg);
        return hf_error_set(error, HF_ERR_NOMEM, "memory ran out");
    }
    /* So that a refusal has its SQLSTATE, whatever the server's language. */
    PQsetErrorVerbosity(pg->conn, PQERRORS_VERBOSE);
    PQsetNoticeReceiver(pg->conn, drop_notice, NULL);
    err = finish_connecting(pg, error);
    if (err) {
        hf_pg_close(pg);
        return err;
    }
    PQsetErrorVerbosity(pg->conn, PQERRORS_DEFAULT);
    *pg_out = pg;
    return HF_ERR_OK;
}

void hf_pg_close(struct hf_pg *pg)
{
    if (!pg)
        return;
    PQfinish(pg->conn);
    free(pg);
}

bool hf_pg_is_broken(const struct hf_pg *pg)
{
    return PQstatus(pg->conn) != CONNECTION_OK;
}

/* ---- asking ----------------------------------------------------------------
 */

static bool is_done(ExecStatusType status)
{
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
           status == PGRES_EMPTY_QUERY;
}

enum hf_err hf_pg_run(struct hf_pg *pg, const char *sql, struct hf_error *error)
{
    PGresult *result = PQexec(pg->conn, sql);
    enum hf_err err = HF_ERR_OK;

    if (!is_done(PQresultStatus(result)))
        err = fail(pg, result, error);
    PQclear(result);
    return err;
}

enum hf_err hf_pg_ask(struct hf_pg *pg, const char *sql, int count,
                      const char *const *parameters, struct hf_pg_rows *rows,
                      struct hf_error *error)
{
    PGresult *result =
        PQexecParams(pg->conn, sql, count, NULL, parameters, NULL, NULL, 0);

    rows->result = result;
    rows->count = PQntuples(result);
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        return HF_ERR_OK;
    return fail(pg, result, error);
}

const char *hf_pg_value(const struct hf_pg_rows *rows, int row, int column)
{
    return PQgetvalue(rows->result, row, column);
}

void hf_pg_rows_clear(struct hf_pg_rows *rows)
{
    PQclear(rows->result);
    rows->result = NULL;
}

char *hf_pg_literal(struct hf_pg *pg, const char *text, size_t size)
{
    char *escaped = PQescapeLiteral(pg->conn, text, size);
    char *copy = escaped ? strdup(escaped) : NULL;

    PQfreemem(escaped);
    return copy;
}

/* ---- copying ---------------------------------------------------------------
 */

/* What `input` has, to the server. *why is set when the input failed. */
static enum hf_err send_input(struct hf_pg *pg, int input, int *why,
                              struct hf_error *error)
{
    char chunk[COPY_CHUNK];

    *why = 0;
    for (;;) {
        ssize_t got = read(input, chunk, sizeof(chunk));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            *why = errno;
        if (got <= 0)
            return HF_ERR_OK;
        if (PQputCopyData(pg->conn, chunk, (int)got) != 1)
            return broken(pg, error);
    }
}

enum hf_err hf_pg_copy(struct hf_pg *pg, const char *sql, int input,
                       struct hf_error *error)
{
    PGresult *result = PQexec(pg->conn, sql);
    enum hf_err err = HF_ERR_OK;
    int why = 0;

    if (PQresultStatus(result) != PGRES_COPY_IN)
        err = fail(pg, result, error);
    PQclear(result);
    if (err)
        return err;
    err = send_input(pg, input, &why, error);
    if (err)
        return err;
    /* A message here ends the COPY, and so the transaction, in an error. */
    if (PQputCopyEnd(pg->conn, why ? "the input failed" : NULL) != 1)
        return broken(pg, error);
    while ((result = PQgetResult(pg->conn))) {
        if (PQresultStatus(result) != PGRES_COMMAND_OK && !err)
            err = fail(pg, result, error);
        PQclear(result);
    }
    if (why)
        err = hf_error_set_errno(error, HF_ERR_REJECTED, why,
                                 "cannot read the input");
    return err;
}
