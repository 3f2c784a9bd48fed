/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One guarded transaction in PostgreSQL: the guard first, then SQL or the data
 * of a COPY, all of it or nothing. Called by lockfence pg write.
 */
#ifndef HF_FENCE_PG_WRITE_H
#define HF_FENCE_PG_WRITE_H

#include "base/err.h"
#include "base/sys.h"
#include "fence/rule.h"

enum hf_pg_isolation {
    HF_PG_READ_COMMITTED,
    HF_PG_REPEATABLE_READ,
    HF_PG_SERIALIZABLE
};

struct hf_pg_write {
    const char *dsn;
    enum hf_pg_isolation isolation;
    /* Statements, run as one; they may not end the transaction themselves. */
    const char *sql;
    size_t sql_size;
    /* Or a table, with columns in brackets if need be, and a descriptor whose
     * bytes a COPY puts there, read as `copy_options` say ("" or "(...)"). */
    const char *copy;
    const char *copy_options;
    int input;
    /* How often it is run, in all, when the server asks for that (40001 or
     * 40P01). A COPY has one try, for its input is gone then. */
    int64_t tries;
};

/*
 * Errors: those of hf_pg_run but BUSY, which ends in REJECTED when the tries
 * are used up; UNSETTLED: the connection broke at COMMIT, and what became of it
 * could not be learned within ten seconds. All others: nothing was changed.
 */
enum hf_err hf_pg_write(struct hf_sys *sys, const struct hf_pg_write *write,
                        const struct hf_fence_claim *claim,
                        struct hf_error *error);

#endif
