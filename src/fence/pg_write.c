/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/pg_write.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fence/pg.h"

enum { SETTLE_LIMIT_MS = 10000, SETTLE_STEP_MS = 200 };
enum { XID_SIZE = 24, LIFE_SIZE = 48 };
/* A script is quoted twice; the server takes a gigabyte. */
enum { TEXT_BYTES_MAX = 512 << 20 };

/* ---- the transaction -------------------------------------------------------
 */

static const char *begin_of(enum hf_pg_isolation isolation)
{
    switch (isolation) {
    case HF_PG_READ_COMMITTED:
        return "BEGIN ISOLATION LEVEL READ COMMITTED";
    case HF_PG_REPEATABLE_READ:
        return "BEGIN ISOLATION LEVEL REPEATABLE READ";
    case HF_PG_SERIALIZABLE:
        return "BEGIN ISOLATION LEVEL SERIALIZABLE";
    }
    hf_assert(false);
    return NULL;
}

/*
 * What settles a COMMIT without an answer: the transaction, and the life of the
 * server. A crash may lose the last transaction numbers, which are then given
 * out again; it resets the statistics too, and that is how it shows.
 */
struct trace {
    char xid[XID_SIZE];
    char life[LIFE_SIZE];
};

/* The guard, first of all. */
static enum hf_err guard(struct hf_pg *pg, const struct hf_fence_claim *claim,
                         struct trace *trace, struct hf_error *error)
{
    char token[HF_TOKEN_TEXT_SIZE];
    const char *const parameters[] = {claim->key, token, claim->grant,
                                      claim->strict ? "true" : "false"};
    struct hf_pg_rows rows;
    enum hf_err err;

    snprintf(token, sizeof(token), "%" PRIu64, claim->token);
    err = hf_pg_ask(pg,
                    "SELECT pg_current_xact_id(), "
                    "(SELECT stats_reset FROM pg_stat_bgwriter), "
                    "holdfast.guard($1::text, $2::bigint, $3::text, "
                    "$4::boolean)",
                    4, parameters, &rows, error);
    if (!err) {
        snprintf(trace->xid, XID_SIZE, "%s", hf_pg_value(&rows, 0, 0));
        snprintf(trace->life, LIFE_SIZE, "%s", hf_pg_value(&rows, 0, 1));
    }
    hf_pg_rows_clear(&rows);
    return err;
}

/*
 * DO $$ BEGIN EXECUTE script; END $$, with literals for dollars: in there
 * COMMIT and its like are errors, so that a script cannot leave the
 * transaction.
 */
static enum hf_err run_script(struct hf_pg *pg, const char *sql, size_t size,
                              struct hf_error *error)
{
    char *script = hf_pg_literal(pg, sql, size);
    char *body = NULL;
    struct hf_buf text;
    enum hf_err err;

    hf_buf_init(&text, TEXT_BYTES_MAX);
    hf_buf_printf(&text, "BEGIN EXECUTE %s; END", script ? script : "");
    if (script && !text.failed)
        body = hf_pg_literal(pg, text.data, text.size);
    hf_buf_reset(&text);
    hf_buf_printf(&text, "DO %s", body ? body : "");
    if (body && !text.failed)
        err = hf_pg_run(pg, text.data, error);
    else
        err = hf_error_set(error, HF_ERR_USAGE,
                           "the SQL is too large, or not in the client's "
                           "encoding");
    hf_buf_clear(&text);
    free(body);
    free(script);
    return err;
}

static enum hf_err run_copy(struct hf_pg *pg, const struct hf_pg_write *write,
                            struct hf_error *error)
{
    struct hf_buf text;
    enum hf_err err;

    hf_buf_init(&text, 65536);
    hf_buf_printf(&text, "COPY %s FROM STDIN %s", write->copy,
                  write->copy_options);
    if (text.failed)
        err = hf_error_set(error, text.failed, "the name is too long");
    else
        err = hf_pg_copy(pg, text.data, write->input, error);
    hf_buf_clear(&text);
    return err;
}

/* ---- a COMMIT without an answer
 * ---------------------------------------------- */

enum outcome { COMMITTED, ROLLED_BACK, UNDER_WAY, UNKNOWN };

/* One look from a new connection. */
static enum outcome look_up(const char *dsn, const struct trace *trace)
{
    const char *const parameters[] = {trace->xid};
    struct hf_pg *pg = NULL;
    struct hf_pg_rows rows = {0};
    struct hf_error error = {HF_ERR_OK, ""};
    enum outcome outcome = UNDER_WAY;
    enum hf_err err;

    if (hf_pg_open(&pg, dsn, NULL))
        return UNDER_WAY;
    err = hf_pg_ask(pg,
                    "SELECT pg_xact_status($1::text::xid8), stats_reset "
                    "FROM pg_stat_bgwriter",
                    1, parameters, &rows, &error);
    if (!err) {
        const char *status = hf_pg_value(&rows, 0, 0);
        bool is_same_life = strcmp(hf_pg_value(&rows, 0, 1), trace->life) == 0;

        if (strcmp(status, "committed") == 0)
            outcome = is_same_life ? COMMITTED : UNKNOWN;
        else if (strcmp(status, "aborted") == 0)
            outcome = ROLLED_BACK;
        else if (!is_same_life)
            outcome = UNKNOWN;
    } else if (strstr(error.text, "22023")) {
        /* A number that is still to be given out: a crash has lost it. */
        outcome = ROLLED_BACK;
    }
    hf_pg_rows_clear(&rows);
    hf_pg_close(pg);
    return outcome;
}

static enum hf_err settle(struct hf_sys *sys, const char *dsn,
                          const struct trace *trace, struct hf_error *error)
{
    struct hf_time until =
        hf_time_add(sys->steady(sys), hf_span_ms(SETTLE_LIMIT_MS));
    enum outcome outcome = look_up(dsn, trace);

    while (outcome == UNDER_WAY && !hf_time_reached(until, sys->steady(sys))) {
        poll(NULL, 0, SETTLE_STEP_MS);
        outcome = look_up(dsn, trace);
    }
    switch (outcome) {
    case COMMITTED:
        return HF_ERR_OK;
    case ROLLED_BACK:
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "the connection broke at COMMIT, and the "
                            "transaction was rolled back");
    case UNDER_WAY:
    case UNKNOWN:
        break;
    }
    return hf_error_set(error, HF_ERR_UNSETTLED,
                        "the connection broke at COMMIT (transaction %s), and "
                        "the server %s: look whether the writes are there",
                        trace->xid,
                        outcome == UNKNOWN ? "has crashed since"
                                           : "did not tell what came of it");
}

/* ---- tries -----------------------------------------------------------------
 */

static enum hf_err try_once(struct hf_sys *sys, struct hf_pg *pg,
                            const struct hf_pg_write *write,
                            const struct hf_fence_claim *claim,
                            struct hf_error *error)
{
    struct trace trace = {"", ""};
    enum hf_err err = hf_pg_run(pg, begin_of(write->isolation), error);

    if (!err)
        err = guard(pg, claim, &trace, error);
    if (!err)
        err = write->copy ? run_copy(pg, write, error)
                          : run_script(pg, write->sql, write->sql_size, error);
    if (!err) {
        err = hf_pg_run(pg, "COMMIT", error);
        if (err && hf_pg_is_broken(pg))
            return settle(sys, write->dsn, &trace, error);
    }
    if (err && !hf_pg_is_broken(pg))
        hf_pg_run(pg, "ROLLBACK", NULL);
    return err;
}

/* Longer with each try, and different for each writer. */
static void back_off(struct hf_sys *sys, int64_t try)
{
    uint8_t random = 0;
    int most = try < 6 ? 8 <<
    try:
        512;

    sys->random(sys, &random, sizeof(random));
    poll(NULL, 0, most / 2 + most * random / 512);
}

enum hf_err hf_pg_write(struct hf_sys *sys, const struct hf_pg_write *write,
                        const struct hf_fence_claim *claim,
                        struct hf_error *error)
{
    int64_t tries = write->copy ? 1 : write->tries;
    struct hf_pg *pg = NULL;
    enum hf_err err = hf_pg_open(&pg, write->dsn, error);

    if (err)
        return err;
    for (int64_t try = 1;; try++) {
        err = try_once(sys, pg, write, claim, error);
        if (err != HF_ERR_BUSY || try >= tries)
            break;
        back_off(sys, try);
    }
    hf_pg_close(pg);
    if (err == HF_ERR_BUSY) {
        error->code = HF_ERR_REJECTED;
        err = hf_error_wrap(error, "given up after %" PRId64 " tries", tries);
    }
    return err;
}
