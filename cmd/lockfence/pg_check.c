/* SPDX-License-Identifier: Apache-2.0 */
/* lockfence pg check: what is guarded, what is not, what is wrong. */
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "cmd/lockfence/commands.h"
#include "cmd/lockfence/pg.h"
#include "fence/pg.h"

static const char guarded_sql[] =
    "SELECT tab::text, key, strict FROM holdfast.guarded "
    "WHERE trigger = '_holdfast_guard' ORDER BY 1";

static const char problem_sql[] =
    "SELECT tab::text, problem FROM holdfast.problem ORDER BY 1, 2";

/* Tables of people; parts of a partitioned table come with it. */
static const char open_sql[] =
    "SELECT c.oid::regclass::text FROM pg_class c "
    "JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition "
    "AND c.relpersistence <> 't' AND n.nspname <> 'information_schema' "
    "AND n.nspname <> 'holdfast' AND n.nspname NOT LIKE 'pg\\_%' "
    "AND NOT EXISTS (SELECT FROM holdfast.guarded g WHERE g.tab = c.oid) "
    "ORDER BY 1";

/* A named table that has no guard; an unknown one is an error. */
static const char named_sql[] =
    "SELECT $1::regclass::text WHERE NOT EXISTS (SELECT FROM holdfast.guarded "
    "g WHERE g.tab = $1::regclass AND g.trigger = '_holdfast_guard')";

/* What was found, each as rows of the database. */
struct found {
    struct hf_pg_rows guarded;
    struct hf_pg_rows problems;
    struct hf_pg_rows open;
};

static void show_text(const struct found *found, struct hf_buf *text)
{
    for (int i = 0; i < found->guarded.count; i++) {
        const char *strict = hf_pg_value(&found->guarded, i, 2);
        const char *table = hf_pg_value(&found->guarded, i, 0);

        hf_buf_add_str(text, "guarded    ");
        hf_escape_add(text, table, strlen(table));
        hf_buf_printf(text, " (key %s%s)\n", hf_pg_value(&found->guarded, i, 1),
                      strict[0] == 't' ? ", strict" : "");
    }
    for (int i = 0; i < found->open.count; i++) {
        const char *table = hf_pg_value(&found->open, i, 0);

        hf_buf_add_str(text, "unguarded  ");
        hf_escape_add(text, table, strlen(table));
        hf_buf_add_str(text, "\n");
    }
    for (int i = 0; i < found->problems.count; i++) {
        const char *table = hf_pg_value(&found->problems, i, 0);
        const char *problem = hf_pg_value(&found->problems, i, 1);

        hf_buf_add_str(text, "problem    ");
        hf_escape_add(text, table, strlen(table));
        hf_buf_add_str(text, ": ");
        hf_escape_add(text, problem, strlen(problem));
        hf_buf_add_str(text, "\n");
    }
}

static void show_json(const struct found *found, struct hf_buf *text)
{
    struct hf_json json;

    hf_json_begin(&json, text);
    hf_json_object(&json, NULL);
    hf_json_array(&json, "guarded");
    for (int i = 0; i < found->guarded.count; i++) {
        hf_json_object(&json, NULL);
        hf_json_text(&json, "table", hf_pg_value(&found->guarded, i, 0));
        hf_json_text(&json, "key", hf_pg_value(&found->guarded, i, 1));
        hf_json_bool(&json, "strict",
                     hf_pg_value(&found->guarded, i, 2)[0] == 't');
        hf_json_object_end(&json);
    }
    hf_json_array_end(&json);
    hf_json_array(&json, "unguarded");
    for (int i = 0; i < found->open.count; i++)
        hf_json_text(&json, NULL, hf_pg_value(&found->open, i, 0));
    hf_json_array_end(&json);
    hf_json_array(&json, "problems");
    for (int i = 0; i < found->problems.count; i++) {
        hf_json_object(&json, NULL);
        hf_json_text(&json, "table", hf_pg_value(&found->problems, i, 0));
        hf_json_text(&json, "problem", hf_pg_value(&found->problems, i, 1));
        hf_json_object_end(&json);
    }
    hf_json_array_end(&json);
    hf_json_object_end(&json);
    hf_json_end(&json);
    hf_buf_add_str(text, "\n");
}

/* UNFENCED when one of the tables named has no guard. */
static enum hf_err check_named(struct hf_pg *pg,
                               const struct lockfence_run *run)
{
    enum hf_err err = HF_ERR_OK;

    for (int i = 0; !err && i < run->operand_count; i++) {
        const char *const parameters[] = {run->operands[i]};
        struct hf_pg_rows rows;

        err = hf_pg_ask(pg, named_sql, 1, parameters, &rows, run->error);
        if (!err && rows.count > 0)
            err = hf_error_set(run->error, HF_ERR_UNFENCED,
                               "table %s is not guarded",
                               hf_pg_value(&rows, 0, 0));
        hf_pg_rows_clear(&rows);
    }
    return err;
}

static enum hf_err look(struct hf_pg *pg, const struct lockfence_run *run,
                        struct found *found)
{
    struct hf_buf text;
    enum hf_err err =
        hf_pg_ask(pg, guarded_sql, 0, NULL, &found->guarded, run->error);

    if (!err)
        err = hf_pg_ask(pg, problem_sql, 0, NULL, &found->problems, run->error);
    if (!err)
        err = hf_pg_ask(pg, open_sql, 0, NULL, &found->open, run->error);
    if (err)
        return err;
    hf_buf_init(&text, PG_SQL_BYTES_MAX);
    if (run->options->json)
        show_json(found, &text);
    else
        show_text(found, &text);
    err = frame_print(&text, run->error);
    hf_buf_clear(&text);
    if (!err)
        err = check_named(pg, run);
    if (!err && found->problems.count > 0)
        err = hf_error_set(
            run->error, HF_ERR_UNFENCED, "the guard has %d hole%s: %s: %s",
            found->problems.count, found->problems.count > 1 ? "s" : "",
            hf_pg_value(&found->problems, 0, 0),
            hf_pg_value(&found->problems, 0, 1));
    return err;
}

enum hf_err command_pg_check(const struct lockfence_run *run)
{
    struct found found = {{0}, {0}, {0}};
    struct hf_pg *pg = NULL;
    enum hf_err err = hf_pg_open(&pg, run->options->pg.dsn, run->error);

    if (err)
        return err;
    err = look(pg, run, &found);
    hf_pg_rows_clear(&found.guarded);
    hf_pg_rows_clear(&found.problems);
    hf_pg_rows_clear(&found.open);
    hf_pg_close(pg);
    return err;
}
