/* SPDX-License-Identifier: Apache-2.0 */
/* lockfence pg plan, lockfence pg init. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cmd/lockfence/commands.h"
#include "cmd/lockfence/pg.h"
#include "fence/pg.h"
#include "fence/pg_sql.h"

enum hf_err pg_key(const struct lockfence_run *run, char key[HF_KEY_SIZE])
{
    const struct hf_fence_words words = {
        .token = "1", /* it is the key alone that is asked for */
        .key = run->options->key,
        .env_key = getenv("LOCK_KEY"),
    };
    struct hf_fence_claim claim = {.token = 0};
    enum hf_err err = hf_fence_claim_make(&words, &claim, run->error);

    memcpy(key, claim.key, sizeof(claim.key));
    return err;
}

/* As a literal of standard SQL, whatever the connection's settings. */
static void add_literal(struct hf_buf *sql, const char *text)
{
    bool has_backslash = strchr(text, '\\') != NULL;

    hf_buf_add_str(sql, has_backslash ? "E'" : "'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            hf_buf_add(sql, text, 1);
        hf_buf_add(sql, text, 1);
    }
    hf_buf_add_str(sql, "'");
}

static void add_attach(struct hf_buf *sql, const char *table, const char *key,
                       bool is_strict)
{
    hf_buf_add_str(sql, "SELECT holdfast.attach(");
    add_literal(sql, table);
    hf_buf_add_str(sql, ", ");
    add_literal(sql, key);
    hf_buf_add_str(sql, is_strict ? ", strict => true);\n" : ");\n");
}

enum hf_err pg_make_plan(const struct lockfence_run *run, struct hf_buf *sql)
{
    const struct lockfence_options *options = run->options;
    char key[HF_KEY_SIZE];
    enum hf_err err = pg_key(run, key);

    if (err)
        return err;
    if (run->operand_count > 0 && !key[0])
        return hf_error_set(run->error, HF_ERR_USAGE,
                            "which key are the tables guarded under? --key KEY "
                            "is missing");
    hf_buf_add_str(sql, "BEGIN;\nSET LOCAL client_min_messages = warning;\n\n");
    hf_buf_add_str(sql, hf_pg_guard_sql);
    if (run->operand_count > 0 || options->pg.writer)
        hf_buf_add_str(sql, "\n-- ---- what was asked for ----\n\n");
    for (int i = 0; i < run->operand_count; i++)
        add_attach(sql, run->operands[i], key, options->strict);
    if (options->pg.writer) {
        hf_buf_add_str(sql, "SELECT holdfast.allow(");
        add_literal(sql, options->pg.writer);
        hf_buf_add_str(sql, ");\n");
    }
    hf_buf_add_str(sql, "\nCOMMIT;\n");
    if (sql->failed)
        return hf_error_set(run->error, sql->failed, "memory ran out");
    return HF_ERR_OK;
}

enum hf_err command_pg_plan(const struct lockfence_run *run)
{
    struct hf_buf sql;
    enum hf_err err;

    hf_buf_init(&sql, PG_SQL_BYTES_MAX);
    err = pg_make_plan(run, &sql);
    if (!err)
        err = frame_print(&sql, run->error);
    hf_buf_clear(&sql);
    return err;
}

/* What is there now; the names are the caller's own words. */
static enum hf_err tell_init(const struct lockfence_run *run)
{
    char key[HF_KEY_SIZE];
    struct hf_buf text;
    enum hf_err err = pg_key(run, key);

    if (err)
        return err;
    hf_buf_init(&text, PG_SQL_BYTES_MAX);
    hf_buf_add_str(&text, "the guard is installed\n");
    for (int i = 0; i < run->operand_count; i++) {
        hf_buf_printf(&text, "guarded under %s: ", key);
        hf_escape_add(&text, run->operands[i], strlen(run->operands[i]));
        hf_buf_add_str(&text, "\n");
    }
    if (run->options->pg.writer) {
        const char *writer = run->options->pg.writer;

        hf_buf_add_str(&text, "may call holdfast.guard: ");
        hf_escape_add(&text, writer, strlen(writer));
        hf_buf_add_str(&text, "\n");
    }
    err = frame_print(&text, run->error);
    hf_buf_clear(&text);
    return err;
}

enum hf_err command_pg_init(const struct lockfence_run *run)
{
    struct hf_pg *pg = NULL;
    struct hf_buf sql;
    enum hf_err err;

    hf_buf_init(&sql, PG_SQL_BYTES_MAX);
    err = pg_make_plan(run, &sql);
    if (!err)
        err = hf_pg_open(&pg, run->options->pg.dsn, run->error);
    if (!err)
        err = hf_pg_run(pg, sql.data, run->error);
    if (!err)
        err = tell_init(run);
    hf_pg_close(pg);
    hf_buf_clear(&sql);
    return err;
}
