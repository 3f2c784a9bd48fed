/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/sqlite_table.h"

/* The file as a URI that SQLite takes for one that nobody writes. */
static char *uri_of(const char *path)
{
    struct hf_buf uri;

    hf_buf_init(&uri, 3 * strlen(path) + 64);
    (void)hf_buf_add_str(&uri, "file:");
    for (; *path; path++) {
        bool plain = (*path >= 'a' && *path <= 'z') ||
                     (*path >= 'A' && *path <= 'Z') ||
                     (*path >= '0' && *path <= '9') || strchr("/-_.", *path);

        if (plain)
            (void)hf_buf_add(&uri, path, 1);
        else
            (void)hf_buf_printf(&uri, "%%%02X", (unsigned char)*path);
    }
    (void)hf_buf_add_str(&uri, "?mode=ro&immutable=1");
    return hf_buf_take(&uri);
}

static struct hf_bytes column_bytes(sqlite3_stmt *statement, int place)
{
    return (struct hf_bytes){
        .data = sqlite3_column_blob(statement, place),
        .size = (size_t)sqlite3_column_bytes(statement, place),
    };
}

/* One row of history; what is not whole is left out. */
static enum hf_err take_change(struct hf_sqlite *sq, sqlite3_stmt *statement,
                               uint64_t *rows, uint64_t *newest,
                               struct hf_error *error)
{
    struct hf_bytes row = column_bytes(statement, 1);
    struct hf_sqlite_change change;
    enum hf_err err;

    if (!hf_sqlite_change_parse(&change,
                                (uint64_t)sqlite3_column_int64(statement, 0),
                                row.data, row.size) ||
        change.revision >= HF_SQLITE_REVISION_END)
        return HF_ERR_OK;
    err = hf_sqlite_history_add(sq, &change, error);
    if (err)
        return err;
    (*rows)++;
    if (change.revision > *newest)
        *newest = change.revision;
    return HF_ERR_OK;
}

/* From the newest on, until nothing more can be read or time is up. */
static enum hf_err take_history(struct hf_sqlite *sq, sqlite3 *from,
                                struct hf_time until, uint64_t *rows,
                                uint64_t *newest, struct hf_error *error)
{
    sqlite3_stmt *statement = NULL;
    enum hf_err err = HF_ERR_OK;

    if (sqlite3_prepare_v2(from, "SELECT r,v FROM history ORDER BY r DESC", -1,
                           &statement, NULL))
        return HF_ERR_OK;
    while (!err && *rows < HF_SQLITE_HISTORY_KEPT &&
           !hf_time_reached(until, sq->sys->steady(sq->sys)) &&
           sqlite3_step(statement) == SQLITE_ROW)
        err = take_change(sq, statement, rows, newest, error);
    sqlite3_finalize(statement);
    /* Rows that a damaged page tells twice. */
    return err == HF_ERR_DAMAGED ? HF_ERR_OK : err;
}

/* Records that hang on no lease; those that do come from the session files. */
static enum hf_err take_records(struct hf_sqlite *sq, sqlite3 *from,
                                struct hf_error *error)
{
    sqlite3_stmt *statement = NULL;
    enum hf_err err = HF_ERR_OK;

    if (sqlite3_prepare_v2(from,
                           "SELECT k,v FROM cell WHERE k>=x'6b' AND k<x'6c'",
                           -1, &statement, NULL))
        return HF_ERR_OK;
    while (!err && sqlite3_step(statement) == SQLITE_ROW) {
        struct hf_bytes key = column_bytes(statement, 0);
        struct hf_bytes row = column_bytes(statement, 1);
        struct hf_sqlite_cell cell = {.key = (const uint8_t *)key.data,
                                      .key_size = key.size};
        struct hf_sqlite_key copy;

        if (!key.data || key.size > 1 + HF_STORE_KEY_BYTES_MAX ||
            !hf_sqlite_cell_parse(&cell, row.data, row.size) || cell.lease ||
            cell.value_size > HF_STORE_VALUE_BYTES_MAX)
            continue;
        copy.size = key.size;
        memcpy(copy.bytes, key.data, key.size);
        err = hf_sqlite_put(sq, &copy, &cell, error);
    }
    sqlite3_finalize(statement);
    return err;
}

enum hf_err hf_sqlite_salvage(struct hf_sqlite *sq, const char *path,
                              struct hf_span limit, uint64_t *rows,
                              uint64_t *newest, struct hf_error *error)
{
    struct hf_time until = hf_time_add(sq->sys->steady(sq->sys), limit);
    sqlite3 *from = NULL;
    char *uri = uri_of(path);
    enum hf_err err = HF_ERR_OK;

    *rows = 0;
    *newest = 0;
    if (!uri)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a salvage");
    if (!sqlite3_open_v2(uri, &from,
                         SQLITE_OPEN_READONLY | SQLITE_OPEN_URI |
                             SQLITE_OPEN_NOMUTEX,
                         NULL)) {
        /* What is read there may be anything. */
        sqlite3_db_config(from, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(from, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        err = take_records(sq, from, error);
        if (!err)
            err = take_history(sq, from, until, rows, newest, error);
    }
    sqlite3_close(from);
    free(uri);
    return err;
}
