/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the oracle knows: the rows that stand in the store as the stream tells
 * it, and every grant there ever was. Private to tests/sim/oracle*.c.
 */
#ifndef HF_TESTS_SIM_ORACLE_STATE_H
#define HF_TESTS_SIM_ORACLE_STATE_H

#include "tests/sim/client.h"
#include "tests/sim/oracle.h"

enum { ROWS_MAX = 256, SESSIONS_MAX = 256, BATCH_MAX = 512 };

/* hold/KEY, share/KEY//GRANT, wait/KEY//GRANT, floor/KEY. */
enum row_kind { ROW_HOLD, ROW_SHARE, ROW_WAIT, ROW_FLOOR };

struct row {
    enum row_kind kind;
    int key;
    uint8_t grant[HF_GRANT_ID_SIZE];
    uint32_t serial; /* of the process that it says it is for */
    int mode;
    char session[HF_SESSION_ID_SIZE];
    hf_lease_id lease;
    uint64_t created;
    uint64_t changed;
    bool restored; /* came back with an older copy: nobody could reckon on it */
};

/* Hold or share: not a place in the queue, nor a floor. */
static inline bool sim_row_is_grant(const struct row *row)
{
    return row->kind == ROW_HOLD || row->kind == ROW_SHARE;
}

/* One for each key, whatever the grant. */
static inline bool sim_row_is_single(const struct row *row)
{
    return row->kind == ROW_HOLD || row->kind == ROW_FLOOR;
}

struct session {
    char id[HF_SESSION_ID_SIZE];
    hf_lease_id lease;
};

struct epoch {
    bool exists;
    bool sealed;
    uint32_t epoch;
    uint8_t store_id[16];
    uint64_t revision;
};

/* As of one revision; a restore puts an older one back. */
struct state {
    struct row rows[ROWS_MAX];
    size_t row_count;
    struct session sessions[SESSIONS_MAX];
    size_t session_count;
    struct epoch epoch;
};

/* A grant id and what became of it, over all lives. */
struct grant {
    uint8_t id[HF_GRANT_ID_SIZE];
    uint32_t serial;
    int key;
    int mode;
    uint64_t token; /* of the last put */
    unsigned puts;  /* that no restore has undone */
    unsigned life;  /* of the last put */
    bool stands;
    struct hf_time put_at;
    struct hf_time ended_at;
    bool acknowledged; /* its process was told */
};

enum change_kind { CHANGE_ROW, CHANGE_SESSION, CHANGE_EPOCH, CHANGE_OTHER };

/* A change, read. */
struct change {
    enum change_kind kind;
    bool is_delete;
    bool by_lease;
    struct row row;
    struct session session;
    struct epoch epoch;
};

struct sim_oracle {
    struct state state;
    struct grant *grants;
    size_t grant_count;
    size_t grant_room;
    unsigned life; /* restores so far */
    uint64_t token_top[SIM_KEYS_MAX];
    uint64_t share_top[SIM_KEYS_MAX];
    uint32_t epoch_top;
    bool sealed;
    struct hf_time sealed_since;
    /* The changes of the revision that is being read. */
    uint64_t revision;
    struct change batch[BATCH_MAX];
    size_t batch_count;
};

struct row *sim_row_find(struct state *state, enum row_kind kind, int key,
                         const uint8_t grant[HF_GRANT_ID_SIZE]);
struct grant *sim_grant_find(struct sim_oracle *oracle,
                             const uint8_t id[HF_GRANT_ID_SIZE]);
/* Is the store sealed, as it is now? Notes since when. */
void sim_oracle_seal_look(struct sim_run *run);

/* Tell the auditor's book what this revision did (oracle_cause.c); before its
 * changes are taken into the state. */
void sim_oracle_causes(struct sim_run *run);

/* The ground was taken from under all processes: their leases may end early. */
void sim_oracle_excuse(struct sim_run *run);

/* Read a change of the stream (oracle_read.c). */
void sim_change_read(const struct hf_change *from, struct change *to);

#endif
