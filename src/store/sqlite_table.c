/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_gate.h"
#include "store/sqlite_vfs.h"

static const char *const texts[] = {
    [HF_SQLITE_BEGIN] = "BEGIN IMMEDIATE",
    [HF_SQLITE_BEGIN_READ] = "BEGIN",
    [HF_SQLITE_COMMIT] = "COMMIT",
    [HF_SQLITE_ROLLBACK] = "ROLLBACK",
    [HF_SQLITE_CELL_GET] = "SELECT v FROM cell WHERE k=?1",
    [HF_SQLITE_CELL_PUT] = "REPLACE INTO cell VALUES(?1,?2)",
    [HF_SQLITE_CELL_DELETE] = "DELETE FROM cell WHERE k=?1",
    [HF_SQLITE_CELL_RANGE] =
        "SELECT v,k FROM cell WHERE k>=?1 AND k<?2 ORDER BY k",
    [HF_SQLITE_HISTORY_ADD] = "INSERT INTO history VALUES(?1,?2)",
    [HF_SQLITE_HISTORY_AFTER] =
        "SELECT r,v FROM history WHERE r>=?1 ORDER BY r",
    [HF_SQLITE_HISTORY_OLDEST] =
        "SELECT r FROM history ORDER BY r LIMIT 1 OFFSET ?1",
    [HF_SQLITE_HISTORY_COUNT] = "SELECT count(*) FROM history",
    [HF_SQLITE_HISTORY_PRUNE] = "DELETE FROM history WHERE r<?1",
};

/*
 * Few tables, few columns, short texts: each process parses them when it opens.
 * What SQLite need not know of a row is packed into its value. No setting is
 * made on a connection: sqlite_vfs.h says what it does not do.
 */
static const char schema[] =
    "CREATE TABLE cell(k BLOB PRIMARY KEY,v)WITHOUT ROWID;"
    "CREATE TABLE history(r INTEGER PRIMARY KEY,v);"
    "PRAGMA user_version=1;"
    "PRAGMA application_id=0x48464c44;";

enum { SEQUENCE_BITS = 15 };

/* Other programs that read the file may hold SQLite's own locks for a while. */
enum { BUSY_MS = 2000 };

/* ---- errors ---- */

static enum hf_err fail_space(struct hf_sqlite *sq, struct hf_error *error)
{
    return hf_error_set(error, HF_ERR_NOSPACE, "no space is left for %s",
                        sq->place.path);
}

static enum hf_err fail(struct hf_sqlite *sq, int rc, struct hf_error *error)
{
    int errnum = sq->io_errno;
    const char *path = sq->place.path;

    switch (rc & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
        sq->is_damaged = true;
        return hf_error_set(error, HF_ERR_DAMAGED, "%s is damaged (%s)", path,
                            sqlite3_errstr(rc));
    case SQLITE_FULL:
        return fail_space(sq, error);
    case SQLITE_NOMEM:
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for %s", path);
    case SQLITE_READONLY:
        if (sq->read_only && sq->journal_is_there)
            return hf_error_set(error, HF_ERR_UNAVAILABLE,
                                "%s: a transaction was cut short; somebody who "
                                "may write it must open it first",
                                path);
        return hf_error_set(error, HF_ERR_DENIED, "%s cannot be written (%s)",
                            path, sqlite3_errstr(rc));
    case SQLITE_PERM:
        return hf_error_set(error, HF_ERR_DENIED, "%s cannot be written (%s)",
                            path, sqlite3_errstr(rc));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "%s is locked by a program that is not Holdfast",
                            path);
    default:
        if (errnum == ENOSPC || errnum == EDQUOT)
            return fail_space(sq, error);
        if (errnum)
            return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errnum,
                                      "use %s (%s)", path, sqlite3_errstr(rc));
        return hf_error_set(error, HF_ERR_UNAVAILABLE, "use %s: %s", path,
                            sqlite3_errstr(rc));
    }
}

/* ---- connection ---- */

static int busy_ms(const struct hf_sqlite *sq)
{
    int64_t limit_ms = hf_span_to_ms_up(hf_sqlite_stand_limit(sq));

    return limit_ms < BUSY_MS ? (int)limit_ms : BUSY_MS;
}

enum hf_err hf_sqlite_connect(struct hf_sqlite *sq, struct hf_error *error)
{
    int flags = sq->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int rc;

    if (sq->db)
        return HF_ERR_OK;
    rc = hf_sqlite_vfs_open(
        sq, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, &sq->db);
    if (rc) {
        enum hf_err err = fail(sq, rc, error);

        hf_sqlite_disconnect(sq);
        return err;
    }
    sqlite3_db_config(sq->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sq->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return HF_ERR_OK;
}

void hf_sqlite_disconnect(struct hf_sqlite *sq)
{
    for (size_t i = 0; i < HF_SQLITE_STATEMENTS; i++) {
        sqlite3_finalize(sq->statements[i]);
        sq->statements[i] = NULL;
    }
    sqlite3_close(sq->db);
    sq->db = NULL;
    sq->in_txn = false;
    sq->meta_is_there = false;
    sq->is_damaged = false;
}

/* ---- statements ---- */

static int prepare(struct hf_sqlite *sq, enum hf_sqlite_statement which,
                   sqlite3_stmt **statement)
{
    int rc = SQLITE_OK;

    if (!sq->statements[which])
        rc = sqlite3_prepare_v3(sq->db, texts[which], -1,
                                SQLITE_PREPARE_PERSISTENT,
                                &sq->statements[which], NULL);
    *statement = sq->statements[which];
    /* A table is missing or has another form. */
    return rc == SQLITE_ERROR ? SQLITE_CORRUPT : rc;
}

/* Run one that gives no rows. */
static int run(struct hf_sqlite *sq, enum hf_sqlite_statement which)
{
    sqlite3_stmt *statement;
    int rc = prepare(sq, which, &statement);

    if (rc)
        return rc;
    rc = sqlite3_step(statement);
    if (rc == SQLITE_DONE || rc == SQLITE_ROW)
        rc = SQLITE_OK;
    sqlite3_reset(statement);
    return rc;
}

static int bind_bytes(sqlite3_stmt *statement, int place, const void *bytes,
                      size_t size)
{
    return sqlite3_bind_blob(statement, place, bytes, (int)size, SQLITE_STATIC);
}

static uint64_t column_u64(sqlite3_stmt *statement, int place)
{
    return (uint64_t)sqlite3_column_int64(statement, place);
}

/* ---- cells ---- */

static void key_begin(struct hf_sqlite_key *key, enum hf_sqlite_kind kind)
{
    key->size = 1;
    key->bytes[0] = (uint8_t)kind;
}

static void key_add(struct hf_sqlite_key *key, const void *bytes, size_t size)
{
    hf_assert(size <= sizeof(key->bytes) - key->size);
    if (size)
        memcpy(key->bytes + key->size, bytes, size);
    key->size += size;
}

static void key_add_lease(struct hf_sqlite_key *key, hf_lease_id lease)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(lease >> (56 - 8 * i));
    key_add(key, bytes, sizeof(bytes));
}

void hf_sqlite_key_record(struct hf_sqlite_key *key, struct hf_bytes name)
{
    key_begin(key, HF_SQLITE_RECORD);
    key_add(key, name.data, name.size);
}

void hf_sqlite_key_lease(struct hf_sqlite_key *key, hf_lease_id lease)
{
    key_begin(key, HF_SQLITE_LEASE);
    key_add_lease(key, lease);
}

void hf_sqlite_key_attached(struct hf_sqlite_key *key, hf_lease_id lease,
                            struct hf_bytes name)
{
    key_begin(key, HF_SQLITE_ATTACHED);
    key_add_lease(key, lease);
    key_add(key, name.data, name.size);
}

void hf_sqlite_key_watch(struct hf_sqlite_key *key, struct hf_bytes prefix,
                         const char *fifo)
{
    uint8_t size[2] = {(uint8_t)(prefix.size >> 8), (uint8_t)prefix.size};

    key_begin(key, HF_SQLITE_WATCH);
    key_add(key, size, sizeof(size));
    key_add(key, prefix.data, prefix.size);
    key_add(key, fifo, strlen(fifo));
}

/* What stands before the value in a cell. */
struct cell_head {
    uint64_t created;
    uint64_t changed;
    uint64_t lease;
    uint64_t sum; /* of key, value, and these */
};

static uint64_t cell_sum(const struct hf_sqlite_cell *cell)
{
    uint64_t numbers[] = {cell->created, cell->changed, cell->lease};
    uint64_t sum = hf_sqlite_sum(cell->key, cell->key_size, 1);

    sum = hf_sqlite_sum(cell->value, cell->value_size, sum);
    return hf_sqlite_sum(numbers, sizeof(numbers), sum);
}

bool hf_sqlite_cell_parse(struct hf_sqlite_cell *cell, const void *bytes,
                          size_t size)
{
    struct cell_head head;

    if (!bytes || size < sizeof(head))
        return false;
    memcpy(&head, bytes, sizeof(head));
    cell->value = (const char *)bytes + sizeof(head);
    cell->value_size = size - sizeof(head);
    cell->created = head.created;
    cell->changed = head.changed;
    cell->lease = head.lease;
    return head.sum == cell_sum(cell);
}

/* Column 0 of CELL_GET and CELL_RANGE; the key is filled in. */
static enum hf_err read_cell(struct hf_sqlite *sq, sqlite3_stmt *statement,
                             struct hf_sqlite_cell *cell,
                             struct hf_error *error)
{
    const void *bytes = sqlite3_column_blob(statement, 0);
    size_t size = (size_t)sqlite3_column_bytes(statement, 0);

    if (size && !bytes)
        return fail(sq, SQLITE_NOMEM, error);
    if (!hf_sqlite_cell_parse(cell, bytes, size))
        return fail(sq, SQLITE_CORRUPT, error);
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_get(struct hf_sqlite *sq, const struct hf_sqlite_key *key,
                          bool *found, struct hf_sqlite_cell *cell,
                          struct hf_error *error)
{
    sqlite3_stmt *statement;
    int rc = prepare(sq, HF_SQLITE_CELL_GET, &statement);

    *found = false;
    if (rc)
        return fail(sq, rc, error);
    sqlite3_reset(statement);
    rc = bind_bytes(statement, 1, key->bytes, key->size);
    if (!rc)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_DONE) {
        sqlite3_reset(statement);
        return HF_ERR_OK;
    }
    if (rc != SQLITE_ROW)
        return fail(sq, rc, error);
    *found = true;
    cell->key = key->bytes;
    cell->key_size = key->size;
    return read_cell(sq, statement, cell, error);
}

/* Room to put the pieces of a row together; NULL: no memory. */
static uint8_t *scratch(struct hf_sqlite *sq, size_t size)
{
    if (size > sq->scratch_size) {
        uint8_t *bytes = realloc(sq->scratch, size + 1024);

        if (!bytes)
            return NULL;
        sq->scratch = bytes;
        sq->scratch_size = size + 1024;
    }
    return sq->scratch;
}

static void copy(uint8_t **to, const void *bytes, size_t size)
{
    if (size)
        memcpy(*to, bytes, size);
    *to += size;
}

enum hf_err hf_sqlite_put(struct hf_sqlite *sq, const struct hf_sqlite_key *key,
                          const struct hf_sqlite_cell *cell,
                          struct hf_error *error)
{
    struct cell_head head = {.created = cell->created,
                             .changed = cell->changed,
                             .lease = cell->lease};
    size_t size = sizeof(head) + cell->value_size;
    struct hf_sqlite_cell whole = *cell;
    uint8_t *bytes = scratch(sq, size);
    sqlite3_stmt *statement;
    uint8_t *to = bytes;
    int rc = bytes ? prepare(sq, HF_SQLITE_CELL_PUT, &statement) : SQLITE_NOMEM;

    if (rc)
        return fail(sq, rc, error);
    whole.key = key->bytes;
    whole.key_size = key->size;
    head.sum = cell_sum(&whole);
    copy(&to, &head, sizeof(head));
    copy(&to, cell->value, cell->value_size);
    rc = bind_bytes(statement, 1, key->bytes, key->size);
    if (!rc)
        rc = bind_bytes(statement, 2, bytes, size);
    if (!rc)
        rc = run(sq, HF_SQLITE_CELL_PUT);
    return rc ? fail(sq, rc, error) : HF_ERR_OK;
}

enum hf_err hf_sqlite_delete(struct hf_sqlite *sq,
                             const struct hf_sqlite_key *key,
                             struct hf_error *error)
{
    sqlite3_stmt *statement;
    int rc = prepare(sq, HF_SQLITE_CELL_DELETE, &statement);

    if (!rc)
        rc = bind_bytes(statement, 1, key->bytes, key->size);
    if (!rc)
        rc = run(sq, HF_SQLITE_CELL_DELETE);
    return rc ? fail(sq, rc, error) : HF_ERR_OK;
}

static enum hf_err walk(struct hf_sqlite *sq, const struct hf_sqlite_key *from,
                        const struct hf_sqlite_key *end, struct hf_error *error)
{
    sqlite3_stmt *statement;
    int rc = prepare(sq, HF_SQLITE_CELL_RANGE, &statement);

    if (rc)
        return fail(sq, rc, error);
    sqlite3_reset(statement);
    /* Copied: the walk outlives the caller's key. */
    rc = sqlite3_bind_blob(statement, 1, from->bytes, (int)from->size,
                           SQLITE_TRANSIENT);
    if (!rc)
        rc = sqlite3_bind_blob(statement, 2, end->bytes, (int)end->size,
                               SQLITE_TRANSIENT);
    return rc ? fail(sq, rc, error) : HF_ERR_OK;
}

enum hf_err hf_sqlite_walk(struct hf_sqlite *sq,
                           const struct hf_sqlite_key *prefix,
                           struct hf_error *error)
{
    struct hf_sqlite_key end = *prefix;

    /* The least key behind all that begin so; the kind's byte is below 0xff. */
    while (end.bytes[end.size - 1] == 0xff)
        end.size--;
    end.bytes[end.size - 1]++;
    return walk(sq, prefix, &end, error);
}

enum hf_err hf_sqlite_walk_from(struct hf_sqlite *sq,
                                const struct hf_sqlite_key *from,
                                struct hf_error *error)
{
    struct hf_sqlite_key end = {.size = 1};

    end.bytes[0] = (uint8_t)(from->bytes[0] + 1);
    return walk(sq, from, &end, error);
}

enum hf_err hf_sqlite_walk_next(struct hf_sqlite *sq, bool *found,
                                struct hf_sqlite_cell *cell,
                                struct hf_error *error)
{
    sqlite3_stmt *statement = sq->statements[HF_SQLITE_CELL_RANGE];
    int rc = sqlite3_step(statement);

    *found = rc == SQLITE_ROW;
    if (rc == SQLITE_DONE) {
        sqlite3_reset(statement);
        return HF_ERR_OK;
    }
    if (rc != SQLITE_ROW) {
        sqlite3_reset(statement);
        return fail(sq, rc, error);
    }
    cell->key = sqlite3_column_blob(statement, 1);
    cell->key_size = (size_t)sqlite3_column_bytes(statement, 1);
    if (!cell->key)
        return fail(sq, SQLITE_NOMEM, error);
    if (!hf_sqlite_is_key(cell->key, cell->key_size))
        return fail(sq, SQLITE_CORRUPT, error);
    return read_cell(sq, statement, cell, error);
}

void hf_sqlite_walk_end(struct hf_sqlite *sq)
{
    sqlite3_reset(sq->statements[HF_SQLITE_CELL_RANGE]);
}

/* ---- transactions ---- */

static void meta_key(struct hf_sqlite_key *key)
{
    key_begin(key, HF_SQLITE_META);
}

static enum hf_err is_newer(struct hf_sqlite *sq, int version,
                            struct hf_error *error)
{
    return hf_error_set(error, HF_ERR_UNAVAILABLE,
                        "%s was written by a newer Holdfast (form %d, this one "
                        "knows %d): install that one, or name another path "
                        "with --store",
                        sq->place.path, version, HF_SQLITE_SCHEMA);
}

static enum hf_err meta_get(struct hf_sqlite *sq, struct hf_error *error)
{
    uint32_t version = 0;
    struct hf_sqlite_key key;
    struct hf_sqlite_cell cell;
    enum hf_err err;
    bool found;

    meta_key(&key);
    err = hf_sqlite_get(sq, &key, &found, &cell, error);
    if (err)
        return err;
    if (found && cell.value_size >= sizeof(version))
        memcpy(&version, cell.value, sizeof(version));
    if (version > HF_SQLITE_SCHEMA)
        return is_newer(sq, (int)version, error);
    if (version != HF_SQLITE_SCHEMA || cell.value_size != sizeof(sq->meta))
        return fail(sq, SQLITE_CORRUPT, error);
    memcpy(&sq->meta, cell.value, sizeof(sq->meta));
    sqlite3_reset(sq->statements[HF_SQLITE_CELL_GET]);
    sq->meta_is_there = true;
    return HF_ERR_OK;
}

/* Without a table: is it a new, empty file, or one of a newer program? */
static enum hf_err look_at_schema(struct hf_sqlite *sq, struct hf_error *error)
{
    sqlite3_stmt *statement = NULL;
    int version = 0;
    int tables = 0;
    int rc = sqlite3_prepare_v2(sq->db,
                                "SELECT (SELECT user_version FROM "
                                "pragma_user_version),count(*) FROM "
                                "sqlite_schema",
                                -1, &statement, NULL);

    if (!rc)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        version = sqlite3_column_int(statement, 0);
        tables = sqlite3_column_int(statement, 1);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    if (rc)
        return fail(sq, rc, error);
    if (version > HF_SQLITE_SCHEMA)
        return is_newer(sq, version, error);
    if (version == 0 && tables == 0) {
        sq->meta_is_there = false;
        return HF_ERR_OK;
    }
    return fail(sq, SQLITE_CORRUPT, error);
}

enum hf_err hf_sqlite_begin(struct hf_sqlite *sq, bool writing,
                            struct hf_error *error)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_busy_timeout(sq->db, busy_ms(sq));

    if (!rc)
        rc = run(sq, writing ? HF_SQLITE_BEGIN : HF_SQLITE_BEGIN_READ);
    if (rc)
        return fail(sq, rc, error);
    sq->in_txn = true;
    rc = prepare(sq, HF_SQLITE_CELL_GET, &statement);
    if (rc && sqlite3_errcode(sq->db) == SQLITE_ERROR)
        return look_at_schema(sq, error);
    if (rc)
        return fail(sq, rc, error);
    return meta_get(sq, error);
}

/* One left in the middle of its rows would keep SQLite's lock. */
static void reset_all(struct hf_sqlite *sq)
{
    for (size_t i = HF_SQLITE_CELL_GET; i < HF_SQLITE_STATEMENTS; i++)
        sqlite3_reset(sq->statements[i]);
}

enum hf_err hf_sqlite_commit(struct hf_sqlite *sq, struct hf_error *error)
{
    int rc;

    reset_all(sq);
    rc = run(sq, HF_SQLITE_COMMIT);
    if (rc)
        return fail(sq, rc, error);
    sq->in_txn = false;
    return HF_ERR_OK;
}

void hf_sqlite_rollback(struct hf_sqlite *sq)
{
    if (!sq->in_txn)
        return;
    sq->in_txn = false;
    reset_all(sq);
    /* After some errors SQLite has done it by itself. */
    if (!sqlite3_get_autocommit(sq->db))
        (void)run(sq, HF_SQLITE_ROLLBACK);
}

enum hf_err hf_sqlite_make_tables(struct hf_sqlite *sq, struct hf_error *error)
{
    int rc = sqlite3_exec(sq->db, schema, NULL, NULL, NULL);

    return rc ? fail(sq, rc, error) : HF_ERR_OK;
}

enum hf_err hf_sqlite_meta_put(struct hf_sqlite *sq, struct hf_error *error)
{
    struct hf_sqlite_cell cell = {.value = &sq->meta,
                                  .value_size = sizeof(sq->meta)};
    struct hf_sqlite_key key;

    sq->meta.version = HF_SQLITE_SCHEMA;
    meta_key(&key);
    return hf_sqlite_put(sq, &key, &cell, error);
}

/* ---- history ---- */

enum change_kind { CHANGE_PUT, CHANGE_DELETE, CHANGE_BY_LEASE };

/* What stands before key and value in a row of history. */
struct change_head {
    uint64_t created;
    uint64_t changed;
    uint64_t lease;
    uint32_t kind;
    uint32_t key_size;
    uint64_t sum; /* of all these and what follows */
};

static uint64_t change_sum(const struct change_head *head, const void *behind,
                           size_t size)
{
    return hf_sqlite_sum(
        behind, size,
        hf_sqlite_sum(head, offsetof(struct change_head, sum), 2));
}

bool hf_sqlite_change_parse(struct hf_sqlite_change *change, uint64_t number,
                            const void *bytes, size_t size)
{
    const char *behind;
    struct change_head head;

    if (!bytes || size < sizeof(head))
        return false;
    behind = (const char *)bytes + sizeof(head);
    memcpy(&head, bytes, sizeof(head));
    size -= sizeof(head);
    if (head.kind > CHANGE_BY_LEASE || head.key_size > size ||
        head.sum != change_sum(&head, behind, size))
        return false;
    *change = (struct hf_sqlite_change){
        .revision = number >> SEQUENCE_BITS,
        .sequence = (uint32_t)number & (HF_SQLITE_CHANGES_MAX - 1),
        .is_delete = head.kind != CHANGE_PUT,
        .by_lease = head.kind == CHANGE_BY_LEASE,
        .key = {behind, head.key_size},
        .value = {behind + head.key_size, size - head.key_size},
        .created = head.created,
        .changed = head.changed,
        .lease = head.lease,
    };
    return true;
}

enum hf_err hf_sqlite_history_add(struct hf_sqlite *sq,
                                  const struct hf_sqlite_change *change,
                                  struct hf_error *error)
{
    struct change_head head = {
        .created = change->created,
        .changed = change->changed,
        .lease = change->lease,
        .kind = change->by_lease    ? CHANGE_BY_LEASE
                : change->is_delete ? CHANGE_DELETE
                                    : CHANGE_PUT,
        .key_size = (uint32_t)change->key.size,
    };
    size_t behind = change->key.size + change->value.size;
    uint8_t *bytes = scratch(sq, sizeof(head) + behind);
    uint8_t *to = bytes + sizeof(head);
    sqlite3_stmt *statement;
    int rc =
        bytes ? prepare(sq, HF_SQLITE_HISTORY_ADD, &statement) : SQLITE_NOMEM;

    if (rc)
        return fail(sq, rc, error);
    if (change->sequence >= HF_SQLITE_CHANGES_MAX)
        return hf_error_set(error, HF_ERR_USAGE,
                            "store request: it changes more than %d keys",
                            HF_SQLITE_CHANGES_MAX);
    copy(&to, change->key.data, change->key.size);
    copy(&to, change->value.data, change->value.size);
    head.sum = change_sum(&head, bytes + sizeof(head), behind);
    memcpy(bytes, &head, sizeof(head));
    rc = sqlite3_bind_int64(
        statement, 1,
        (sqlite3_int64)(change->revision << SEQUENCE_BITS | change->sequence));
    if (!rc)
        rc = bind_bytes(statement, 2, bytes, sizeof(head) + behind);
    if (!rc)
        rc = run(sq, HF_SQLITE_HISTORY_ADD);
    if (rc)
        return fail(sq, rc, error);
    sq->meta.history++;
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_history_after(struct hf_sqlite *sq, uint64_t after,
                                    struct hf_error *error)
{
    sqlite3_stmt *statement;
    int rc = prepare(sq, HF_SQLITE_HISTORY_AFTER, &statement);

    if (rc)
        return fail(sq, rc, error);
    sqlite3_reset(statement);
    /* Above all that were ever issued nothing can be asked for. */
    if (after >= HF_SQLITE_REVISION_END)
        after = HF_SQLITE_REVISION_END;
    rc = sqlite3_bind_int64(statement, 1,
                            (sqlite3_int64)((after + 1) << SEQUENCE_BITS));
    return rc ? fail(sq, rc, error) : HF_ERR_OK;
}

enum hf_err hf_sqlite_history_next(struct hf_sqlite *sq, bool *found,
                                   struct hf_sqlite_change *change,
                                   struct hf_error *error)
{
    sqlite3_stmt *statement = sq->statements[HF_SQLITE_HISTORY_AFTER];
    int rc = sqlite3_step(statement);

    *found = rc == SQLITE_ROW;
    if (rc == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(statement, 1);
        size_t size = (size_t)sqlite3_column_bytes(statement, 1);

        if (hf_sqlite_change_parse(change, column_u64(statement, 0), bytes,
                                   size))
            return HF_ERR_OK;
        rc = SQLITE_CORRUPT;
    }
    sqlite3_reset(statement);
    return rc == SQLITE_DONE ? HF_ERR_OK : fail(sq, rc, error);
}

void hf_sqlite_history_end(struct hf_sqlite *sq)
{
    sqlite3_reset(sq->statements[HF_SQLITE_HISTORY_AFTER]);
}

/* One number out of a statement; *value stays when there is no row. */
static int ask(struct hf_sqlite *sq, enum hf_sqlite_statement which,
               sqlite3_int64 argument, uint64_t *value)
{
    sqlite3_stmt *statement;
    int rc = prepare(sq, which, &statement);

    if (rc)
        return rc;
    if (sqlite3_bind_parameter_count(statement))
        sqlite3_bind_int64(statement, 1, argument);
    rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *value = column_u64(statement, 0);
    sqlite3_reset(statement);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

enum hf_err hf_sqlite_history_prune(struct hf_sqlite *sq,
                                    struct hf_error *error)
{
    sqlite3_stmt *statement;
    uint64_t first = 0;
    uint64_t last = 0;
    uint64_t revision;
    int rc = ask(sq, HF_SQLITE_HISTORY_OLDEST, 0, &first);

    if (!rc)
        rc = ask(sq, HF_SQLITE_HISTORY_OLDEST, HF_SQLITE_HISTORY_SLACK, &last);
    if (rc || !last)
        return rc ? fail(sq, rc, error) : HF_ERR_OK;
    /* Whole revisions, and at least one. */
    revision = last >> SEQUENCE_BITS;
    if (revision == first >> SEQUENCE_BITS)
        revision++;
    rc = prepare(sq, HF_SQLITE_HISTORY_PRUNE, &statement);
    if (!rc)
        rc = sqlite3_bind_int64(statement, 1,
                                (sqlite3_int64)(revision << SEQUENCE_BITS));
    if (!rc)
        rc = run(sq, HF_SQLITE_HISTORY_PRUNE);
    if (rc)
        return fail(sq, rc, error);
    sq->meta.history -= (uint64_t)sqlite3_changes(sq->db);
    if (revision - 1 > sq->meta.compacted)
        sq->meta.compacted = revision - 1;
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_history_ended(struct hf_sqlite *sq, hf_lease_id lease,
                                    bool *was_ended, struct hf_error *error)
{
    enum hf_err err = hf_sqlite_history_after(sq, 0, error);
    struct hf_sqlite_change change;
    bool found = true;

    *was_ended = false;
    while (!err && found && !*was_ended) {
        err = hf_sqlite_history_next(sq, &found, &change, error);
        *was_ended = !err && found && change.by_lease && change.lease == lease;
    }
    hf_sqlite_history_end(sq);
    return err;
}

enum hf_err hf_sqlite_history_recount(struct hf_sqlite *sq,
                                      struct hf_error *error)
{
    int rc = ask(sq, HF_SQLITE_HISTORY_COUNT, 0, &sq->meta.history);

    return rc ? fail(sq, rc, error) : HF_ERR_OK;
}
