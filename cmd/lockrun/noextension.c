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

/* 0 is SQLITE_OK. */
#define LEAVE_OUT(init)                                                        \
    int __wrap_##init(struct sqlite3 *db);                                     \
    int __wrap_##init(struct sqlite3 *db)                                      \
    {                                                                          \
        (void)db;                                                              \
        return 0;                                                              \
    }

LEAVE_OUT(sqlite3Fts3Init)
LEAVE_OUT(sqlite3Fts5Init)
LEAVE_OUT(sqlite3RtreeInit)
LEAVE_OUT(sqlite3DbstatRegister)
LEAVE_OUT(sqlite3StmtVtabInit)
LEAVE_OUT(sqlite3JsonTableFunctions)

void __wrap_sqlite3RegisterJsonFunctions(void);

void __wrap_sqlite3RegisterJsonFunctions(void)
{
}
