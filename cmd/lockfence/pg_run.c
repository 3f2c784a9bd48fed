/* SPDX-License-Identifier: Apache-2.0 */
/* lockfence pg run: a command whose connections carry the token. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/lockfence/commands.h"
#include "cmd/lockfence/pg.h"
#include "fence/pg.h"

enum { CANNOT_EXECUTE = 126, NOT_FOUND = 127, SIGNALLED = 128 };

/* ---- the token on its way
 * ---------------------------------------------------- */

/*
 * Behind what PGOPTIONS has already, for the last word counts. None of the
 * values has a blank, a backslash or a quote in it.
 */
static enum hf_err set_options(const struct hf_fence_claim *claim,
                               struct hf_error *error)
{
    const char *former = getenv("PGOPTIONS");
    struct hf_buf text;
    enum hf_err err = HF_ERR_OK;

    hf_buf_init(&text, 65536);
    hf_buf_printf(&text, "%s%s-c holdfast.token=%" PRIu64, former ? former : "",
                  former ? " " : "", claim->token);
    hf_buf_printf(&text, " -c holdfast.grant_id=%s -c holdfast.key=%s",
                  claim->grant, claim->key);
    if (text.failed || setenv("PGOPTIONS", text.data, 1))
        err = hf_error_set(error, HF_ERR_NOMEM, "cannot set PGOPTIONS");
    hf_buf_clear(&text);
    return err;
}

/* The keys of the tables that are guarded, if none of them is $1. The catalogs
 * are everybody's to read, which holdfast.guarded is not. */
static const char other_keys_sql[] =
    "SELECT string_agg(g.key, ', ' ORDER BY g.key) "
    "FROM (SELECT DISTINCT split_part(encode(t.tgargs, 'escape'), '\\000', 1) "
    "AS key FROM pg_catalog.pg_trigger t "
    "JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid "
    "WHERE p.pronamespace = 'holdfast'::regnamespace "
    "AND p.proname = 'guard_table') g HAVING NOT bool_or(g.key = $1::text)";

/*
 * Are there guarded tables, and all of them under other keys? Then the token is
 * refused wherever it is looked at: better told here than by the statements,
 * which psql goes on after, and ends with 0. (A database without any guarded
 * table may be one whose functions call holdfast.guard.)
 */
static enum hf_err look_at_keys(const struct lockfence_run *run,
                                struct hf_pg *pg,
                                const struct hf_fence_claim *claim)
{
    const char *const parameters[] = {claim->key};
    struct hf_pg_rows rows = {0};
    enum hf_err err =
        hf_pg_ask(pg, other_keys_sql, 1, parameters, &rows, run->error);

    if (!err && claim->key[0] && rows.count > 0)
        err = hf_error_set(run->error, HF_ERR_OTHER_KEY,
                           "no table of this database is guarded under %s; "
                           "there are tables guarded under %.300s: give "
                           "lockrun that --key, or guard a table by lockfence "
                           "pg init (--no-check leaves this out)",
                           claim->key, hf_pg_value(&rows, 0, 0));
    hf_pg_rows_clear(&rows);
    return err;
}

/* Does a pooler let the token through, is it current, and, before the command
 * starts, does its key fit? */
static enum hf_err look(const struct lockfence_run *run,
                        const struct hf_fence_claim *claim, bool is_before)
{
    char token[HF_TOKEN_TEXT_SIZE];
    const char *const parameters[] = {claim->key, token, claim->grant};
    struct hf_pg *pg = NULL;
    struct hf_pg_rows rows = {0};
    enum hf_err err = hf_pg_open(&pg, run->options->pg.dsn, run->error);

    if (err && strstr(run->error->text, "startup parameter"))
        return hf_error_set(run->error, HF_ERR_UNFENCED,
                            "a pooler refuses the options in which the token "
                            "travels: connect to the server itself, or use "
                            "lockfence pg write (or holdfast.guard first in "
                            "the transaction), which work through it");
    if (err)
        return hf_error_wrap(run->error,
                             "before and after the command the token is "
                             "looked at (--dsn names the database, --no-check "
                             "leaves it out)");
    snprintf(token, sizeof(token), "%" PRIu64, claim->token);
    err = hf_pg_ask(pg,
                    "SELECT coalesce(current_setting('holdfast.token', true), "
                    "''), holdfast.look($1::text, $2::bigint, $3::text)",
                    3, parameters, &rows, run->error);
    if (!err && strcmp(hf_pg_value(&rows, 0, 0), token) != 0)
        err = hf_error_set(run->error, HF_ERR_UNFENCED,
                           "the token does not reach the server: a pooler "
                           "drops the options of connections. Connect to the "
                           "server itself, or use lockfence pg write (or "
                           "holdfast.guard first in the transaction), which "
                           "work through it");
    hf_pg_rows_clear(&rows);
    if (!err && is_before)
        err = look_at_keys(run, pg, claim);
    hf_pg_close(pg);
    return err;
}

/* ---- the command
 * ------------------------------------------------------------- */

/* The signals that are waited for rather than taken. */
static void fill_watched(sigset_t *watched)
{
    sigemptyset(watched);
    sigaddset(watched, SIGCHLD);
    sigaddset(watched, SIGINT);
    sigaddset(watched, SIGQUIT);
    sigaddset(watched, SIGTERM);
    sigaddset(watched, SIGHUP);
}

/* Until the command has ended: its wait status. What was sent to us alone is
 * handed on; what came from the terminal it has had itself. */
static int wait_for(pid_t child, const sigset_t *watched, int *ended_by)
{
    int status = 0;

    *ended_by = 0;
    while (waitpid(child, &status, WNOHANG) != child) {
        siginfo_t info;
        int number = sigwaitinfo(watched, &info);

        if (number <= 0 || number == SIGCHLD)
            continue;
        if (info.si_code <= 0)
            kill(child, number);
        if (number == SIGTERM || number == SIGHUP)
            *ended_by = number;
    }
    return status;
}

static enum hf_err run_it(const struct lockfence_run *run, int *status,
                          bool *is_cut)
{
    posix_spawnattr_t attributes;
    sigset_t watched;
    sigset_t former;
    pid_t child;
    int ended_by = 0;
    int code;
    int waited;

    fill_watched(&watched);
    sigprocmask(SIG_BLOCK, &watched, &former);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &former);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    code = posix_spawnp(&child, run->operands[0], NULL, &attributes,
                        run->operands, environ);
    posix_spawnattr_destroy(&attributes);
    if (code != 0) {
        *status = code == ENOENT ? NOT_FOUND : CANNOT_EXECUTE;
        hf_error_set_errno(run->error, HF_ERR_USAGE, code, "cannot run %s",
                           run->operands[0]);
        frame_say(run->error->text);
        return HF_ERR_USAGE;
    }
    waited = wait_for(child, &watched, &ended_by);
    sigprocmask(SIG_SETMASK, &former, NULL);
    *is_cut = ended_by != 0 || WIFSIGNALED(waited);
    *status = WIFSIGNALED(waited) ? SIGNALLED + WTERMSIG(waited)
                                  : WEXITSTATUS(waited);
    return HF_ERR_OK;
}

/* Has a newer holder written by now? Then what this one wrote after that was
 * refused, whatever the command says. */
static enum hf_err look_back(const struct lockfence_run *run,
                             const struct hf_fence_claim *claim, int status)
{
    enum hf_err err = look(run, claim, false);

    if (!err)
        return HF_ERR_OK;
    if (err == HF_ERR_STALE || err == HF_ERR_OTHER_GRANT)
        return hf_error_wrap(run->error,
                             "%s ended with %d, and has been overtaken: what "
                             "it wrote to guarded tables after that was "
                             "refused",
                             run->operands[0], status);
    if (status != 0)
        return HF_ERR_OK;
    run->error->code = HF_ERR_UNSETTLED;
    return hf_error_wrap(run->error,
                         "%s ended with 0, but whether all that it wrote was "
                         "accepted could not be learned",
                         run->operands[0]);
}

enum hf_err command_pg_run(const struct lockfence_run *run)
{
    struct hf_fence_claim claim;
    bool is_cut = false;
    int status = 0;
    enum hf_err err = frame_claim(run->options, &claim, run->error);

    if (!err)
        err = set_options(&claim, run->error);
    if (!err && !run->options->pg.no_check)
        err = look(run, &claim, true);
    if (err)
        return err;
    if (run_it(run, &status, &is_cut)) {
        *run->answer = status;
        return HF_ERR_OK;
    }
    /* Whoever ends us at a deadline does not wait for a server. */
    if (!run->options->pg.no_check && !is_cut)
        err = look_back(run, &claim, status);
    if (!err)
        *run->answer = status;
    return err;
}
