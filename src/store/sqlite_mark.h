/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two witnesses beside the database: the mark, which outlives the machine,
 * and the head, which lives as long as the kernel does. How they are written
 * and read; what follows from them is sqlite_recover.c's to say. For
 * src/store/sqlite*.c alone.
 */
#ifndef HF_STORE_SQLITE_MARK_H
#define HF_STORE_SQLITE_MARK_H

#include "base/err.h"
#include "base/sys.h"

struct hf_sqlite;

enum hf_sqlite_found {
    HF_SQLITE_MISSING,
    HF_SQLITE_STRANGE, /* a file in which nothing is of ours; the mark alone */
    HF_SQLITE_DAMAGED,
    HF_SQLITE_FOUND
};

/*
 * PATH.mark: two slots of one form, written by turns and synced, so that one
 * of them is whole at any moment. As it stands in the file.
 */
struct hf_sqlite_mark {
    uint64_t magic;
    uint64_t sequence;             /* the higher one of two slots counts */
    uint8_t id[16];                /* of the store */
    uint8_t boot[HF_BOOT_ID_SIZE]; /* the last one that used it */
    uint8_t census[16];            /* of the session folder of that boot */
    uint64_t bound;                /* no revision above it was ever issued */
    uint64_t epoch_min;
    int64_t ttl_max_ms; /* no lease of a longer one was ever granted */
    uint64_t sum;
};

/* RUN/head: rewritten before and after each commit, never synced. */
struct hf_sqlite_head {
    uint64_t magic;
    uint8_t id[16];
    uint8_t boot[HF_BOOT_ID_SIZE];
    uint8_t census[16];     /* random; made with the folder */
    uint64_t mark_sequence; /* of the mark that goes with it */
    uint64_t epoch_min;
    uint64_t generation;      /* raised when the database was made or mended */
    uint64_t revision;        /* of the database after the last whole commit */
    uint64_t highest;         /* ever about to be issued */
    uint64_t committing;      /* 1: a commit of `highest` is under way */
    uint64_t leases;          /* rows of leases after that commit */
    int64_t quarantine_until; /* steady clock; 0: none */
    uint64_t sum;
};

/* A check sum against damage, not against malice. */
uint64_t hf_sqlite_sum(const void *bytes, size_t size, uint64_t seed);

/* Read PATH.mark into sq->mark, sq->mark_found. Errors: DENIED, UNAVAILABLE. */
enum hf_err hf_sqlite_mark_read(struct hf_sqlite *sq, struct hf_error *error);
/*
 * Write `mark` durably (its magic, sequence and sum are filled in) and keep it
 * in sq->mark. Only with the gate. Errors: DENIED, UNAVAILABLE, NOSPACE.
 */
enum hf_err hf_sqlite_mark_write(struct hf_sqlite *sq,
                                 const struct hf_sqlite_mark *mark,
                                 struct hf_error *error);
/* Keep the file young in the eyes of whoever removes old files. */
void hf_sqlite_mark_touch(struct hf_sqlite *sq);

/* Read RUN/head through head_fd into sq->head, sq->head_found. */
enum hf_err hf_sqlite_head_read(struct hf_sqlite *sq, struct hf_error *error);
/* Write sq->head (magic and sum are filled in). Only with the gate. */
enum hf_err hf_sqlite_head_write(struct hf_sqlite *sq, struct hf_error *error);

/* Wall clock as a revision: 2^-14 s since 2026, 0 before. */
uint64_t hf_sqlite_clock(struct hf_sqlite *sq);
/*
 * The bound for the time in which `next` is issued: an hour ahead of the clock,
 * so that it is written once an hour; when revisions have got ahead of the
 * clock (which each loss of the head makes them do) only a minute's worth ahead
 * of them, so that many losses do not use them up.
 */
uint64_t hf_sqlite_bound(struct hf_sqlite *sq, uint64_t next);
/* Revisions end here, a year or two before the token's 48 bits do. */
#define HF_SQLITE_REVISION_END ((UINT64_C(1) << 48) - (UINT64_C(1) << 40))

#endif
