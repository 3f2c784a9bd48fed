/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the database with right sums and anything else wrong: whoever may
 * write the file (another member of a group's store) may write those. Nothing
 * ends a process, what a living one holds is not got by another, and revisions
 * rise.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite_table.h"
#include "tests/unit/sqlite_lab.h"

enum { TTL_MS = 60000, ROUNDS = 120, ROWS_MAX = 6, BYTES_MAX = 6000 };

struct maker {
    uint64_t seed;
    sqlite3 *db;
    hf_lease_id lease;
};

/* xorshift64*, by Vigna. */
static uint64_t below(struct maker *maker, uint64_t limit)
{
    maker->seed ^= maker->seed >> 12;
    maker->seed ^= maker->seed << 25;
    maker->seed ^= maker->seed >> 27;
    return (maker->seed * UINT64_C(2685821657736338717) >> 16) % limit;
}

static void scribble(struct maker *maker, uint8_t *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)below(maker, 256);
}

static void insert(struct maker *maker, const char *table, const void *key,
                   size_t key_size, int64_t number, const void *value,
                   size_t value_size)
{
    sqlite3_stmt *statement;
    char sql[80];

    snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO %s VALUES(?1,?2)",
             table);
    must(!sqlite3_prepare_v2(maker->db, sql, -1, &statement, NULL));
    if (key)
        must(!sqlite3_bind_blob(statement, 1, key, (int)key_size, NULL));
    else
        must(!sqlite3_bind_int64(statement, 1, number));
    must(!sqlite3_bind_blob(statement, 2, value, (int)value_size, NULL));
    must(sqlite3_step(statement) == SQLITE_DONE);
    must(!sqlite3_finalize(statement));
}

/* A number that may be small, near what is right, or anything. */
static uint64_t number(struct maker *maker)
{
    uint64_t any = below(maker, UINT64_MAX);

    return any >> below(maker, 64);
}

static void add_cell(struct maker *maker)
{
    static const char kinds[] = "kalwmx";
    static const size_t sizes[] = {1,    2,    3,    9,    10,   40,  600,
                                   1025, 1033, 1065, 1066, 2000, 5000};
    struct {
        uint64_t created, changed, lease, sum;
        uint8_t value[BYTES_MAX];
    } row;
    uint8_t key[BYTES_MAX];
    size_t key_size = sizes[below(maker, sizeof(sizes) / sizeof(sizes[0]))];
    size_t value_size =
        below(maker, 4) ? below(maker, 200) : below(maker, BYTES_MAX);
    uint64_t sum;

    scribble(maker, key, key_size);
    key[0] = (uint8_t)kinds[below(maker, sizeof(kinds) - 1)];
    /* The row about the database itself tells its form: one of a newer program
     * is left alone, and test_sqlite_place shows that. */
    if (key[0] == 'm' && key_size == 1)
        key[0] = 'k';
    if (key[0] == 'w' && key_size > 3 && below(maker, 2)) {
        /* One that is looked at by whoever changes "one". */
        memcpy(key + 1, "\0\3one", 5);
        key_size = key_size < 6 ? 6 : key_size;
    }
    if (key[0] == 'a' && key_size > 9 && below(maker, 2)) {
        for (int i = 0; i < 8; i++)
            key[1 + i] = (uint8_t)(maker->lease >> (56 - 8 * i));
    }
    row.created = number(maker);
    row.changed = number(maker);
    row.lease = below(maker, 2) ? maker->lease : number(maker);
    scribble(maker, row.value, value_size);
    sum = hf_sqlite_sum(key, key_size, 1);
    sum = hf_sqlite_sum(row.value, value_size, sum);
    row.sum = hf_sqlite_sum(&row, 3 * sizeof(uint64_t), sum);
    insert(maker, "cell", key, key_size, 0, &row,
           4 * sizeof(uint64_t) + value_size);
}

static void add_change(struct maker *maker)
{
    struct {
        uint64_t created, changed, lease;
        uint32_t kind, key_size;
        uint64_t sum;
        uint8_t behind[BYTES_MAX];
    } row;
    size_t size = below(maker, BYTES_MAX);

    row.created = number(maker);
    row.changed = number(maker);
    row.lease = number(maker);
    row.kind = (uint32_t)below(maker, 4);
    row.key_size =
        (uint32_t)(below(maker, 2) ? below(maker, size + 2) : number(maker));
    scribble(maker, row.behind, size);
    row.sum = hf_sqlite_sum(
        row.behind, size,
        hf_sqlite_sum(&row, 3 * sizeof(uint64_t) + 2 * sizeof(uint32_t), 2));
    insert(maker, "history", NULL, 0, (int64_t)number(maker), &row,
           4 * sizeof(uint64_t) + 2 * sizeof(uint32_t) + size);
}

static void plant(struct lab *lab, struct maker *maker)
{
    uint64_t rows = 1 + below(maker, ROWS_MAX);

    must(!sqlite3_open(lab->path, &maker->db));
    must(!sqlite3_exec(maker->db, "PRAGMA journal_mode=MEMORY;BEGIN", NULL,
                       NULL, NULL));
    while (rows-- > 0) {
        if (below(maker, 4))
            add_cell(maker);
        else
            add_change(maker);
    }
    must(!sqlite3_exec(maker->db, "COMMIT", NULL, NULL, NULL));
    must(!sqlite3_close(maker->db));
}

/* Everything that a client asks; any answer will do. */
static void live(struct lab *lab)
{
    struct hf_store *store = lab_try_open(lab);
    struct hf_store_request watch = {.kind = HF_STORE_WATCH};
    struct hf_store_request grant = {.kind = HF_STORE_LEASE_GRANT,
                                     .ttl_ms = TTL_MS};
    bool held = false;

    if (!store) {
        assert_true(lab->error.text[0] != '\0');
        return;
    }
    (void)lab_run(lab, store, &grant);
    (void)lab_try_take(lab, store, "held", 0, &held, NULL);
    assert_false(held);
    (void)lab_try_take(lab, store, "one", grant.lease, NULL, NULL);
    hf_store_submit(store, &watch, lab->fake.steady);
    (void)hf_store_next(store, lab->fake.steady);
    store->ops->cancel(store, &watch);
    hf_store_request_clear(&watch);
    if (grant.outcome == HF_OUTCOME_COMMITTED) {
        (void)lab_renew(lab, store, grant.lease);
        (void)lab_release(lab, store, "one");
        (void)lab_revoke(lab, store, grant.lease);
    }
    hf_store_request_clear(&grant);
    lab_close(store);
}

static void rows_of_anybodys_making_end_nothing(void **state)
{
    struct lab *lab = *state;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct maker maker = {.seed = round * UINT64_C(0x9e3779b97f4a7c15)};
        struct hf_store *holder;
        uint64_t revision;

        folder_free(lab->folder);
        lab->folder = folder_new();
        snprintf(lab->path, sizeof(lab->path), "%s/db", lab->folder);
        holder = lab_open(lab);
        maker.lease = lab_grant(lab, holder, TTL_MS);
        revision = lab_put(lab, holder, "held", maker.lease);
        plant(lab, &maker);
        live(lab);
        live(lab);
        if (lab_renew(lab, holder, maker.lease) != HF_OUTCOME_COMMITTED)
            fail_msg("round %d: %s", (int)round, lab->error.text);
        assert_true(lab_exists(lab, holder, "held"));
        if (lab_revoke(lab, holder, maker.lease) != HF_OUTCOME_COMMITTED)
            fail_msg("round %d: %s", (int)round, lab->error.text);
        assert_true(lab_put(lab, holder, "after", 0) > revision);
        assert_int_equal(lab_release(lab, holder, "after"),
                         HF_OUTCOME_COMMITTED);
        lab_close(holder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAB_TEST(rows_of_anybodys_making_end_nothing),
    };

    return cmocka_run_group_tests_name("embedded store, rows", tests, NULL,
                                       NULL);
}
