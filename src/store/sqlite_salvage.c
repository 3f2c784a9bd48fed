/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_table.h"

/* The file as a URI that SQLite takes for one that nobody writes. */
static char *uri_of(const char *path)
{
    char *uri = malloc(3 * strlen(path) + 64);
    char *to = uri;

    if (!uri)
        return NULL;
    to += sprintf(to, "file:");
    for (; *path; path++) {
        bool plain = (*path >= 'a' && *path <= 'z') ||
                     (*path >= 'A' && *path <= 'Z') ||
                     (*path >= '0' && *path <= '9') || strchr("/-_.", *path);

        to += sprintf(to, plain ? "%c" : "%%%02X", (unsigned char)*path);
    }
    strcpy(to, "?mode=ro&immutable=1");
    return uri;
}

static struct hf_bytes column_bytes(sqlite3_stmt *statement, int place)
{
    return (struct hf_bytes){
        .data = sqlite3_column_blob(statement, place),
        .size = (size_t)sqlite3_column_bytes(statement, place),
    };
}

/* One row of history; what is not of its form is left out. */
static enum hf_err take_change(struct hf_sqlite *sq, sqlite3_stmt *statement,
                               uint64_t *rows, uint64_t *newest,
                               struct hf_error *error)
{
    uint64_t number = (uint64_t)sqlite3_column_int64(statement, 0);
    int what = sqlite3_column_int(statement, 1);
    struct hf_sqlite_change change = {
        .revision = number >> 15,
        .is_delete = what != 0,
        .by_lease = what == 2,
        .key = column_bytes(statement, 2),
        .value = column_bytes(statement, 3),
        .created = (uint64_t)sqlite3_column_int64(statement, 4),
        .changed = (uint64_t)sqlite3_column_int64(statement, 5),
        .lease = (uint64_t)sqlite3_column_int64(statement, 6),
    };
    enum hf_err err;

    if (!change.key.data || change.key.size > HF_STORE_KEY_BYTES_MAX ||
        change.value.size > HF_STORE_VALUE_BYTES_MAX || what < 0 || what > 2 ||
        change.revision >= HF_SQLITE_REVISION_END)
        return HF_ERR_OK;
    err =
        hf_sqlite_history_add(sq, (uint32_t)(number & 0x7fff), &change, error);
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

    if (sqlite3_prepare_v2(from,
                           "SELECT r,d,k,v,c,m,l FROM history "
                           "ORDER BY r DESC",
                           -1, &statement, NULL))
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
                           "SELECT k,v,c,m,l,s FROM cell WHERE k>=x'6b' AND "
                           "k<x'6c' AND l=0",
                           -1, &statement, NULL))
        return HF_ERR_OK;
    while (!err && sqlite3_step(statement) == SQLITE_ROW) {
        struct hf_bytes key = column_bytes(statement, 0);
        struct hf_bytes value = column_bytes(statement, 1);
        struct hf_sqlite_cell cell = {
            .key = (const uint8_t *)key.data,
            .key_size = key.size,
            .value = value.data,
            .value_size = value.size,
            .created = (uint64_t)sqlite3_column_int64(statement, 2),
            .changed = (uint64_t)sqlite3_column_int64(statement, 3),
        };
        struct hf_sqlite_key copy;

        if (!key.data || key.size > 1 + HF_STORE_KEY_BYTES_MAX ||
            value.size > HF_STORE_VALUE_BYTES_MAX ||
            !hf_sqlite_cell_is_whole(&cell, sqlite3_column_int64(statement, 5)))
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
