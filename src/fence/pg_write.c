/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/pg_write.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fence/pg.h"

enum { SETTLE_LIMIT_MS = 10000, SETTLE_STEP_MS = 200, XID_SIZE = 24 };
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
}

/* The guard, first of all; `xid` names the transaction, to settle a COMMIT. */
static enum hf_err guard(struct hf_pg *pg, const struct hf_fence_claim *claim,
                         char xid[XID_SIZE], struct hf_error *error)
{
    char token[HF_TOKEN_TEXT_SIZE];
    const char *const parameters[] = {claim->key, token, claim->grant,
                                      claim->strict ? "true" : "false"};
    struct hf_pg_rows rows;
    enum hf_err err;

    snprintf(token, sizeof(token), "%" PRIu64, claim->token);
    err = hf_pg_ask(pg,
                    "SELECT pg_current_xact_id(), "
                    "holdfast.guard($1::text, $2::bigint, $3::text, "
                    "$4::boolean)",
                    4, parameters, &rows, error);
    if (!err)
        snprintf(xid, XID_SIZE, "%s", hf_pg_value(&rows, 0, 0));
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

/* One look from a new connection: 1 committed, 0 not, below 0 not known yet. */
static int look_up(const char *dsn, const char *xid)
{
    const char *const parameters[] = {xid};
    struct hf_pg *pg = NULL;
    struct hf_pg_rows rows = {0};
    int known = -1;

    if (hf_pg_open(&pg, dsn, NULL))
        return -1;
    if (!hf_pg_ask(pg, "SELECT pg_xact_status($1::text::xid8)", 1, parameters,
                   &rows, NULL)) {
        if (strcmp(hf_pg_value(&rows, 0, 0), "committed") == 0)
            known = 1;
        else if (strcmp(hf_pg_value(&rows, 0, 0), "aborted") == 0)
            known = 0;
    }
    hf_pg_rows_clear(&rows);
    hf_pg_close(pg);
    return known;
}

static enum hf_err settle(struct hf_sys *sys, const char *dsn, const char *xid,
                          struct hf_error *error)
{
    struct hf_time until =
        hf_time_add(sys->steady(sys), hf_span_ms(SETTLE_LIMIT_MS));
    int known = look_up(dsn, xid);

    while (known < 0 && !hf_time_reached(until, sys->steady(sys))) {
        poll(NULL, 0, SETTLE_STEP_MS);
        known = look_up(dsn, xid);
    }
    if (known > 0)
        return HF_ERR_OK;
    if (known == 0)
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "the connection broke at COMMIT, and the "
                            "transaction was rolled back");
    return hf_error_set(error, HF_ERR_UNSETTLED,
                        "the connection broke at COMMIT; ask SELECT "
                        "pg_xact_status('%s') whether the transaction was "
                        "committed",
                        xid);
}

/* ---- tries -----------------------------------------------------------------
 */

static enum hf_err try_once(struct hf_sys *sys, struct hf_pg *pg,
                            const struct hf_pg_write *write,
                            const struct hf_fence_claim *claim,
                            struct hf_error *error)
{
    char xid[XID_SIZE] = "";
    enum hf_err err = hf_pg_run(pg, begin_of(write->isolation), error);

    if (!err)
        err = guard(pg, claim, xid, error);
    if (!err)
        err = write->copy ? run_copy(pg, write, error)
                          : run_script(pg, write->sql, write->sql_size, error);
    if (!err) {
        err = hf_pg_run(pg, "COMMIT", error);
        if (err && hf_pg_is_broken(pg))
            return settle(sys, write->dsn, xid, error);
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
