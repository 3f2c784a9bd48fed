/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What SQLite brings beside SQL, and a static lockrun does without: full text,
 * R-trees, JSON, tables that tell of the database. Each new connection sets
 * these up, of which a store uses none, and a file that somebody has made up
 * could reach them. Where the library is built with them, the linker turns its
 * calls (--wrap) to the functions below, and the extensions are not linked in
 * at all. Called by SQLite alone.
 */
struct sqlite3; /* a connection */

/* Each returns 0, which is SQLITE_OK. */
int __wrap_sqlite3Fts3Init(struct sqlite3 *db);
int __wrap_sqlite3Fts5Init(struct sqlite3 *db);
int __wrap_sqlite3RtreeInit(struct sqlite3 *db);
int __wrap_sqlite3DbstatRegister(struct sqlite3 *db);
int __wrap_sqlite3StmtVtabInit(struct sqlite3 *db);
int __wrap_sqlite3JsonTableFunctions(struct sqlite3 *db);
void __wrap_sqlite3RegisterJsonFunctions(void);

int __wrap_sqlite3Fts3Init(struct sqlite3 *db)
{
    (void)db;
    return 0;
}

int __wrap_sqlite3Fts5Init(struct sqlite3 *db)
{
    (void)db;
    return 0;
}

int __wrap_sqlite3RtreeInit(struct sqlite3 *db)
{
    (void)db;
    return 0;
}

int __wrap_sqlite3DbstatRegister(struct sqlite3 *db)
{
    (void)db;
    return 0;
}

int __wrap_sqlite3StmtVtabInit(struct sqlite3 *db)
{
    (void)db;
    return 0;
}

int __wrap_sqlite3JsonTableFunctions(struct sqlite3 *db)
{
    (void)db;
    return 0;
}

void __wrap_sqlite3RegisterJsonFunctions(void)
{
}
