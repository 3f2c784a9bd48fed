/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to PostgreSQL as the fence needs it: opened within a limit,
 * asked and answered one statement at a time, errors turned into ours by their
 * SQLSTATE. Not a database library: no pool, no pipeline, texts alone. Only
 * src/fence/pg*.c know libpq. Blocks; one thread.
 */
#ifndef HF_FENCE_PG_H
#define HF_FENCE_PG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct hf_pg;

/* Rows of an answer; the texts in it live until it is cleared. */
struct hf_pg_rows {
    int count;
    void *result; /* libpq's */
};

/*
 * Connect as `dsn` says ("host=... dbname=..." or a postgresql:// address; NULL
 * or "": what the PG* environment says), within ten seconds. Errors:
 * UNAVAILABLE, DENIED (the server answered and refused), NOMEM.
 */
enum hf_err hf_pg_open(struct hf_pg **pg, const char *dsn,
                       struct hf_error *error);
void hf_pg_close(struct hf_pg *pg);

/* Has the connection broken, so that nothing more can be asked? */
bool hf_pg_is_broken(const struct hf_pg *pg);

/*
 * Run statements that answer nothing of interest. Errors, here and below:
 * STALE, OTHER_GRANT, REPEATED, NO_TOKEN, OTHER_KEY, UNFENCED and DENIED as the
 * guard says them; UNFENCED when there is no guard; BUSY for 40001 and 40P01
 * (run the transaction again); DENIED (rights); NOSPACE; UNAVAILABLE (the
 * connection or the server went); REJECTED for whatever else the server says;
 * NOMEM.
 */
enum hf_err hf_pg_run(struct hf_pg *pg, const char *sql,
                      struct hf_error *error);

/*
 * Ask one statement; $1 and so on are `parameters` (NULL is NULL). Clear the
 * rows, after an error too.
 */
enum hf_err hf_pg_ask(struct hf_pg *pg, const char *sql, int count,
                      const char *const *parameters, struct hf_pg_rows *rows,
                      struct hf_error *error);
/* A value; "" for NULL. */
const char *hf_pg_value(const struct hf_pg_rows *rows, int row, int column);
void hf_pg_rows_clear(struct hf_pg_rows *rows);

/* `text` as a literal ('it''s'), to be freed; NULL: no memory, or no text. */
char *hf_pg_literal(struct hf_pg *pg, const char *text, size_t size);

/*
 * Send what `input` has up to its end as the data of a COPY that `sql` begins.
 * Errors: those above, and REJECTED when the input cannot be read; the
 * transaction has failed then.
 */
enum hf_err hf_pg_copy(struct hf_pg *pg, const char *sql, int input,
                       struct hf_error *error);

#endif
