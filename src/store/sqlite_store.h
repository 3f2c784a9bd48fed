/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded store from inside: one handle, and what its files share. Not an
 * interface: sqlite.h is. For src/store/sqlite*.c alone; what each file does
 * stands in its own header, how it all fits together in
 * docs/internals/embedded-store.md.
 */
#ifndef HF_STORE_SQLITE_STORE_H
#define HF_STORE_SQLITE_STORE_H

#include <sqlite3.h>

#include "store/sqlite.h"
#include "store/sqlite_mark.h"
#include "store/sqlite_place.h"

/* Statements, each prepared when it is first used. */
enum hf_sqlite_statement {
    HF_SQLITE_BEGIN,
    HF_SQLITE_BEGIN_READ,
    HF_SQLITE_COMMIT,
    HF_SQLITE_ROLLBACK,
    HF_SQLITE_CELL_GET,
    HF_SQLITE_CELL_PUT,
    HF_SQLITE_CELL_DELETE,
    HF_SQLITE_CELL_RANGE,
    HF_SQLITE_HISTORY_ADD,
    HF_SQLITE_HISTORY_AFTER,
    HF_SQLITE_HISTORY_OLDEST,
    HF_SQLITE_HISTORY_COUNT,
    HF_SQLITE_HISTORY_PRUNE,
    HF_SQLITE_STATEMENTS
};

/*
 * The one row that describes the database itself; as its cell keeps it, in this
 * machine's byte order.
 */
struct hf_sqlite_meta {
    uint32_t version;
    uint32_t epoch_min;
    uint8_t id[16];
    uint8_t boot[HF_BOOT_ID_SIZE];
    uint64_t revision;  /* newest; 0: none was issued yet */
    uint64_t floor;     /* all that are issued are above it */
    uint64_t compacted; /* history up to here may have gaps */
    uint64_t leases;    /* how many have a row */
    uint64_t watches;   /* how many registrations there are */
    uint64_t history;   /* rows; tells when to prune */
    uint64_t sweep_at;  /* look for dead registrations at this many */
};

/* What is to be written to the journal: pieces that follow each other. */
struct hf_sqlite_buffer {
    int64_t at;
    size_t size;
    uint8_t bytes[24 * 1024];
};

/* A lease that this handle granted. */
struct hf_sqlite_lease {
    struct hf_sqlite_lease *next;
    hf_lease_id id;
    int64_t ttl_ms;
    struct hf_time expires;
    int fd; /* its session file, locked; constant, whatever happens to it */
    bool has_row;   /* it had keys when we last knew */
    off_t note_at;  /* where its note begins and ends, as we left it; 0: not */
    off_t note_end; /* known */
    enum hf_lease_phase phase;
    struct hf_lease_left left; /* of the phase */
    char *cgroup;              /* of the phase, or NULL */
    char *path;                /* of the session file */
};

struct hf_sqlite_watch;

struct hf_sqlite {
    struct hf_store store; /* first */
    struct hf_sys *sys;
    pid_t pid; /* of the process that opened it: no other may use it */
    bool read_only;
    bool trusts; /* a place that a writer would refuse is good enough to read */
    struct hf_span gate_limit;
    struct hf_time stand_until; /* of the request at hand; 0: none */
    struct hf_sqlite_place place;

    /* ---- attached: open on the files; see sqlite_gate.h ---------------------
     */
    bool is_attached;
    bool is_locked;       /* the gate is ours */
    bool head_is_locked;  /* and its second half */
    bool stays;           /* nobody is at work inside: for who comes next */
    bool are_locks_tried; /* they exclude */
    int folder_fd;
    int gate_fd; /* the database file itself; its flock is the gate */
    int run_fd;
    int head_fd;
    int journal_fd; /* -1 until it was looked at */
    dev_t gate_dev;
    ino_t gate_ino;
    ino_t head_ino;
    bool group; /* the store of a group of users, `gid` */
    gid_t gid;
    uint8_t boot[HF_BOOT_ID_SIZE];
    enum hf_sqlite_found mark_found;
    struct hf_sqlite_mark mark;
    enum hf_sqlite_found head_found;
    struct hf_sqlite_head head;

    /* ---- connected: SQLite has it open; see sqlite_table.h ------------------
     */
    sqlite3 *db;
    sqlite3_vfs vfs;
    char vfs_name[32];
    int lock_level;        /* of SQLite's own locks */
    bool journal_is_there; /* it has a header: a commit is or was under way */
    int io_errno;          /* why the last call of the seam failed for SQLite */
    sqlite3_stmt *statements[HF_SQLITE_STATEMENTS];
    bool in_txn;
    bool is_damaged;    /* something could not be read: it is to be set aside */
    bool meta_is_there; /* false: an empty database */
    struct hf_sqlite_meta meta;
    uint8_t *scratch; /* where rows are put together */
    size_t scratch_size;

    /* ---- what this handle remembers -----------------------------------------
     */
    uint64_t generation; /* of the head when we last looked */
    uint64_t returned;   /* the generation in which our leases are */
    uint64_t seen;       /* the highest revision that we ever told */
    struct hf_sqlite_lease *leases;
    const char *kept_why; /* a file was set aside, and why; else NULL */
    char *kept;
    char notice[HF_ERROR_TEXT_MAX];
    char told[HF_ERROR_TEXT_MAX]; /* the notice that was given out */

    /* ---- requests -----------------------------------------------------------
     */
    struct hf_store_request *ready; /* answered, oldest first */
    struct hf_store_request **ready_end;
    struct hf_sqlite_watch *watches;
    struct hf_time watch_at; /* when to look again; never: none is out */
    int epoll_fd;            /* -1 until fd() was asked for */
    int fifo_fd;             /* -1: nothing registered */
    char fifo_name[24];

    struct hf_sqlite_buffer *journal_buffer; /* with the connection */
};

/* Answer a request: it is on the list that `next` empties. */
void hf_sqlite_answer(struct hf_sqlite *sq, struct hf_store_request *request,
                      enum hf_outcome outcome);
/* Put revision and identity, as they are now, into an answer. */
void hf_sqlite_answer_state(struct hf_sqlite *sq,
                            struct hf_store_request *request);
/* Is the store the one that the request expects? */
bool hf_sqlite_is_expected(const struct hf_sqlite *sq,
                           const struct hf_store_request *request);
/* Keep one sentence for hf_sqlite_notice; a second one is put behind it. */
void hf_sqlite_note(struct hf_sqlite *sq, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
