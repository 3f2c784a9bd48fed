/* SPDX-License-Identifier: Apache-2.0 */
/* lockfence pg status, lockfence pg bump: the marks beside the lock service. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "cmd/lockfence/ask.h"
#include "cmd/lockfence/commands.h"
#include "cmd/lockfence/pg.h"
#include "fence/pg.h"

static const char marks_sql[] =
    "SELECT key, token, grant_id, to_char(accepted_at AT TIME ZONE 'UTC', "
    "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), accepted_by FROM holdfast.mark "
    "WHERE $1::text IS NULL OR key = $1::text ORDER BY key";

enum { KEY, TOKEN, GRANT, AT, BY };

/* A token as the database has it: bigint, above 0. */
static uint64_t token_of(const struct hf_pg_rows *rows, int row)
{
    return strtoull(hf_pg_value(rows, row, TOKEN), NULL, 10);
}

static void show_text(const struct hf_pg_rows *rows, struct hf_buf *text)
{
    for (int i = 0; i < rows->count; i++) {
        uint64_t token = token_of(rows, i);
        const char *by = hf_pg_value(rows, i, BY);
        const char *grant = hf_pg_value(rows, i, GRANT);

        hf_buf_printf(text,
                      "%s\n  token    %" PRIu64 " (epoch %u, revision %" PRIu64
                      ")\n  grant    %s\n  accepted %s from ",
                      hf_pg_value(rows, i, KEY), token, hf_token_epoch(token),
                      hf_token_revision(token), grant[0] ? grant : "-",
                      hf_pg_value(rows, i, AT));
        hf_escape_add(text, by, strlen(by));
        hf_buf_add_str(text, "\n");
    }
}

static void show_json(const struct hf_pg_rows *rows, const char *warning,
                      struct hf_buf *text)
{
    struct hf_json json;

    hf_json_begin(&json, text);
    hf_json_object(&json, NULL);
    hf_json_array(&json, "marks");
    for (int i = 0; i < rows->count; i++) {
        hf_json_object(&json, NULL);
        hf_json_text(&json, "key", hf_pg_value(rows, i, KEY));
        hf_json_decimal(&json, "token", token_of(rows, i));
        hf_json_text(&json, "grant", hf_pg_value(rows, i, GRANT));
        hf_json_text(&json, "accepted_at", hf_pg_value(rows, i, AT));
        hf_json_text(&json, "accepted_by", hf_pg_value(rows, i, BY));
        hf_json_object_end(&json);
    }
    hf_json_array_end(&json);
    if (warning[0])
        hf_json_text(&json, "warning", warning);
    hf_json_object_end(&json);
    hf_json_end(&json);
    hf_buf_add_str(text, "\n");
}

/*
 * Does the mark fit what the service says? UNFENCED: no. OK with a sentence: it
 * may, or may not.
 */
static enum hf_err compare(const struct ask_answer *answer, uint64_t mark,
                           const char *key, struct hf_error *error)
{
    if (answer->issued == 0)
        return hf_error_set(error, HF_ERR_OK,
                            "this lock service has issued nothing yet, so %s "
                            "was not compared: --store names another",
                            key);
    if (mark > answer->issued)
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "the mark of %s (%" PRIu64
                            ") is above every token that this lock service "
                            "has issued (%" PRIu64
                            "): is it the right one, or was it put back? All "
                            "its holders will be refused",
                            key, mark, answer->issued);
    if (answer->is_held && mark > answer->token)
        return hf_error_set(error, HF_ERR_UNFENCED,
                            "the mark of %s (%" PRIu64
                            ") is above the present holder's token (%" PRIu64
                            "), whose writes are refused: the key must be "
                            "taken anew",
                            key, mark, answer->token);
    if (answer->is_held && mark < answer->token)
        return hf_error_set(error, HF_ERR_OK,
                            "the mark of %s (%" PRIu64
                            ") is below the present holder's token (%" PRIu64
                            "): either it has not written yet, or the "
                            "database was put back and older writers would "
                            "pass; lockfence pg bump closes that",
                            key, mark, answer->token);
    return HF_ERR_OK;
}

/* The key that the user names, in full. */
static enum hf_err named_key(const struct lockfence_run *run,
                             char key[HF_KEY_SIZE])
{
    return hf_key_complete(run->operands[0], HF_KEY_DEFAULT_HOME, key,
                           run->error);
}

static enum hf_err status(const struct lockfence_run *run, struct hf_pg *pg,
                          const char *key)
{
    const char *const parameters[] = {key};
    struct hf_error warning = {HF_ERR_OK, ""};
    struct ask_answer answer;
    struct hf_pg_rows rows;
    struct hf_buf text;
    enum hf_err err =
        hf_pg_ask(pg, marks_sql, 1, parameters, &rows, run->error);

    if (!err && key && rows.count == 0)
        err = hf_error_set(run->error, HF_ERR_UNFENCED,
                           "%s has no mark: nothing was written under it yet",
                           key);
    if (!err && key) {
        /* What either has to say is shown first. */
        if (!ask_key(run->sys, run->options->store, key, &answer, &warning))
            compare(&answer, token_of(&rows, 0), key, &warning);
    }
    if (!err) {
        hf_buf_init(&text, PG_SQL_BYTES_MAX);
        if (run->options->json)
            show_json(&rows, warning.text, &text);
        else
            show_text(&rows, &text);
        err = frame_print(&text, run->error);
        hf_buf_clear(&text);
    }
    hf_pg_rows_clear(&rows);
    if (err)
        return err;
    if (!warning.code && warning.text[0])
        frame_say(warning.text);
    *run->error = warning;
    return warning.code;
}

enum hf_err command_pg_status(const struct lockfence_run *run)
{
    char key[HF_KEY_SIZE] = "";
    struct hf_pg *pg = NULL;
    enum hf_err err = HF_ERR_OK;

    if (run->operand_count > 0)
        err = named_key(run, key);
    if (!err)
        err = hf_pg_open(&pg, run->options->pg.dsn, run->error);
    if (!err)
        err = status(run, pg, key[0] ? key : NULL);
    hf_pg_close(pg);
    return err;
}

/* Below which token all are refused. */
static enum hf_err choose_below(const struct lockfence_run *run,
                                const char *key, uint64_t *below)
{
    const char *given = run->options->pg.below;
    struct ask_answer answer;
    enum hf_err err;

    if (given) {
        const struct hf_fence_words words = {.token = given,
                                             .token_name = "--below"};
        struct hf_fence_claim claim = {.token = 0};

        err = hf_fence_claim_make(&words, &claim, run->error);
        *below = claim.token;
        return err;
    }
    err = ask_key(run->sys, run->options->store, key, &answer, run->error);
    if (err)
        return hf_error_wrap(run->error, "no --below, and the lock service");
    if (!answer.is_held && answer.issued == 0)
        return hf_error_set(run->error, HF_ERR_UNAVAILABLE,
                            "the lock service has issued nothing yet: is it "
                            "the right one? --below TOKEN tells it otherwise");
    *below = answer.is_held ? answer.token : answer.issued + 1;
    return HF_ERR_OK;
}

/* The mark before, as the statement's snapshot has it, and after. */
static const char bump_sql[] =
    "SELECT coalesce((SELECT m.token::text FROM holdfast.mark m "
    "WHERE m.key = $1::text), 'none'), "
    "holdfast.bump($1::text, $2::bigint)::text";

static enum hf_err tell_bump(const struct hf_pg_rows *rows, const char *key,
                             struct hf_error *error)
{
    const char *before = hf_pg_value(rows, 0, 0);
    const char *after = hf_pg_value(rows, 0, 1);
    struct hf_buf text;
    enum hf_err err;

    hf_buf_init(&text, PG_SQL_BYTES_MAX);
    if (strcmp(before, after) == 0)
        hf_buf_printf(&text, "mark of %s: %s, as before\n", key, after);
    else
        hf_buf_printf(&text, "mark of %s: %s -> %s\n", key, before, after);
    err = frame_print(&text, error);
    hf_buf_clear(&text);
    return err;
}

enum hf_err command_pg_bump(const struct lockfence_run *run)
{
    char token[HF_TOKEN_TEXT_SIZE];
    char key[HF_KEY_SIZE];
    const char *const parameters[] = {key, token};
    struct hf_pg *pg = NULL;
    struct hf_pg_rows rows = {0};
    uint64_t below = 0;
    enum hf_err err = named_key(run, key);

    if (!err)
        err = choose_below(run, key, &below);
    if (!err)
        err = hf_pg_open(&pg, run->options->pg.dsn, run->error);
    if (!err) {
        snprintf(token, sizeof(token), "%" PRIu64, below);
        err = hf_pg_ask(pg, bump_sql, 2, parameters, &rows, run->error);
    }
    if (!err)
        err = tell_bump(&rows, key, run->error);
    hf_pg_rows_clear(&rows);
    hf_pg_close(pg);
    return err;
}
