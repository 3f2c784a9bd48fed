/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's half of a session file: what the lease is, and the note of its
 * keys. Four ways: the file is the input; it is written as the store writes it
 * and read back; then it is damaged somewhere, and what is read is a beginning
 * of what was written; or its entries are anybody's, with right sums.
 */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_note.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory.h"

enum { STEPS_MAX = 24, NAMES = 4, LEASE = 77, PID = 4242 };

struct bed {
    struct fuzz_memory memory;
    struct hf_sqlite *sq;
    struct hf_sqlite_lease lease;
};

static void bed_init(struct bed *bed, const void *bytes, size_t size)
{
    *bed = (struct bed){.lease = {.id = LEASE,
                                  .ttl_ms = 15000,
                                  .fd = FUZZ_MEMORY_FD,
                                  .phase = HF_PHASE_STARTED}};
    fuzz_memory_init(&bed->memory, bytes, size);
    bed->sq = calloc(1, sizeof(*bed->sq));
    must(bed->sq != NULL);
    bed->sq->sys = &bed->memory.sys;
    bed->sq->pid = PID;
    memset(bed->sq->mark.id, 0x5a, sizeof(bed->sq->mark.id));
    memset(bed->sq->boot, 0x3c, sizeof(bed->sq->boot));
}

static void bed_clear(struct bed *bed)
{
    fuzz_memory_clear(&bed->memory);
    free(bed->sq);
}

/* As the store makes the file of a lease. */
static void make(struct bed *bed)
{
    struct hf_sqlite_session session;
    struct hf_error error;

    must(!hf_sqlite_session_phase(bed->sq, &bed->lease, &error));
    must(!hf_sqlite_session_renew(bed->sq, FUZZ_MEMORY_FD, 15000,
                                  (struct hf_time){99}));
    hf_sqlite_session_read(bed->sq, FUZZ_MEMORY_FD, &session);
    must(session.is_whole && session.head.lease == LEASE);
    must(session.head.pid == PID && session.head.phase == HF_PHASE_STARTED);
    must(session.term.ttl_ms == 15000 && session.term.expires == 99);
    must(session.term.ended == 0);
}

/* ---- a model of a note ----------------------------------------------------
 */

struct state {
    bool has[NAMES];
    uint8_t fill[NAMES];
    uint16_t size[NAMES];
    uint64_t changed[NAMES];
};

struct history {
    struct state states[STEPS_MAX + 1];
    size_t count;
    bool was_rewritten;
};

static const char *const names[NAMES] = {
    "holdfast/hold/t/n/k", "holdfast/session/0123",
    "holdfast/wait/t/n/k//00112233445566778899aabbccddeeff", "x"};

static bool matches(const struct state *state,
                    const struct hf_sqlite_noted *keys, size_t count)
{
    size_t wanted = 0;

    for (size_t i = 0; i < NAMES; i++) {
        size_t k = 0;

        wanted += state->has[i];
        while (k < count &&
               (keys[k].key.size != strlen(names[i]) ||
                memcmp(keys[k].key.data, names[i], keys[k].key.size) != 0))
            k++;
        if ((k < count) != state->has[i])
            return false;
        if (k == count)
            continue;
        if (keys[k].changed != state->changed[i] ||
            keys[k].value.size != state->size[i])
            return false;
        for (size_t b = 0; b < keys[k].value.size; b++) {
            if ((uint8_t)keys[k].value.data[b] != state->fill[i])
                return false;
        }
    }
    return wanted == count;
}

/* The state that the file tells of, counted from the newest; STEPS_MAX + 1 when
 * it tells of none that ever was. */
static size_t read_state(struct bed *bed, const struct history *history)
{
    struct hf_store_request arena = {.kind = HF_STORE_TXN};
    struct hf_sqlite_noted *keys;
    size_t found = STEPS_MAX + 1;
    size_t count;

    must(!hf_sqlite_note_read(bed->sq, FUZZ_MEMORY_FD, &arena, &keys, &count,
                              NULL));
    for (size_t i = history->count; i-- > 0;) {
        if (matches(&history->states[i], keys, count)) {
            found = history->count - 1 - i;
            break;
        }
    }
    hf_store_request_clear(&arena);
    return found;
}

/* ---- writing ---------------------------------------------------------------
 */

static void step(struct bed *bed, struct fuzz_input *input,
                 struct history *history)
{
    static char value[HF_STORE_VALUE_BYTES_MAX];
    struct hf_store_request arena = {.kind = HF_STORE_TXN};
    struct state next = history->states[history->count - 1];
    uint8_t what = fuzz_byte(input);
    size_t name = what % NAMES;
    bool is_delete = what & 0x10;
    struct hf_sqlite_noted key = {.key = {names[name], strlen(names[name])}};
    struct hf_sqlite_note note = {.size = 0};
    struct hf_error error;
    off_t undo;

    next.fill[name] = fuzz_byte(input);
    next.size[name] = (uint16_t)(fuzz_byte(input) * 64);
    next.changed[name] = 100 + history->count;
    next.has[name] = !is_delete;
    memset(value, next.fill[name], next.size[name]);
    key.value = (struct hf_bytes){value, next.size[name]};
    key.created = key.changed = next.changed[name];
    must(hf_sqlite_note_add(&arena, &note, is_delete, &key));
    must(!hf_sqlite_note_append(bed->sq, FUZZ_MEMORY_FD,
                                what & 0x20 ? &bed->lease : NULL, &note, &undo,
                                &error));
    hf_store_request_clear(&arena);
    if (what & 0x40) {
        /* It never came to be: two ways to say so. */
        if (what & 0x80 || is_delete)
            hf_sqlite_note_cut(bed->sq, FUZZ_MEMORY_FD, &bed->lease, undo);
        else
            hf_sqlite_note_undo(bed->sq, FUZZ_MEMORY_FD, key.changed);
        bed->lease.note_at = 0;
    } else {
        history->states[history->count++] = next;
    }
    must(read_state(bed, history) == 0);
}

static void write_and_damage(struct fuzz_input *input)
{
    struct history history = {.count = 1};
    struct hf_sqlite_session before;
    size_t steps = fuzz_byte(input) % STEPS_MAX;
    struct bed bed;
    uint16_t at;
    size_t found;

    bed_init(&bed, "", 0);
    make(&bed);
    must(read_state(&bed, &history) == 0);
    while (steps-- > 0 && input->size > 0)
        step(&bed, input, &history);
    hf_sqlite_session_read(bed.sq, FUZZ_MEMORY_FD, &before);
    must(before.is_whole);
    fuzz_fill(input, &at, sizeof(at));
    if (fuzz_byte(input) & 1)
        bed.memory.size = at % (bed.memory.size + 1);
    else
        bed.memory.bytes[at % bed.memory.size] ^=
            (uint8_t)(fuzz_byte(input) | 1);
    found = read_state(&bed, &history);
    /* One that was written afresh has forgotten the steps between. */
    must(found <= STEPS_MAX || before.term.note_at != HF_SQLITE_NOTE_AT ||
         history.count > 8);
    bed_clear(&bed);
}

/* ---- reading anything ------------------------------------------------------
 */

static void is_sound(const struct hf_sqlite_noted *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        must(keys[i].key.size <= HF_STORE_KEY_BYTES_MAX);
        must(keys[i].value.size <= HF_STORE_VALUE_BYTES_MAX);
        for (size_t k = 0; k < i; k++)
            must(keys[i].key.size != keys[k].key.size ||
                 memcmp(keys[i].key.data, keys[k].key.data, keys[i].key.size) !=
                     0);
    }
}

/* Whatever stands there, what is written behind it is read. */
static void read_any(struct bed *bed)
{
    struct hf_store_request arena = {.kind = HF_STORE_TXN};
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_sqlite_session session;
    struct hf_sqlite_noted *keys;
    uint8_t boot[HF_BOOT_ID_SIZE];
    bool has_ended;
    uint8_t id[16];
    size_t count;
    enum hf_err err;

    hf_sqlite_session_prove_open(bed->sq, FUZZ_MEMORY_FD, &session);
    must(session.is_whole || session.proof == HF_PROOF_NONE);
    must(session.proof != HF_PROOF_LIVES);
    (void)hf_sqlite_session_origin(bed->sq, FUZZ_MEMORY_FD, id, boot);
    err = hf_sqlite_note_read(bed->sq, FUZZ_MEMORY_FD, &arena, &keys, &count,
                              &error);
    if (err)
        must(fuzz_is_told(&error, err));
    else
        is_sound(keys, count);
    hf_store_request_clear(&arena);
    if (!hf_sqlite_lease_has_ended(&bed->memory.sys, FUZZ_MEMORY_FD,
                                   &has_ended))
        must(!has_ended || session.term.ended != 0);
    if (hf_sqlite_job_phase(&bed->memory.sys, FUZZ_MEMORY_FD, HF_PHASE_GONE))
        return;
    hf_sqlite_session_read(bed->sq, FUZZ_MEMORY_FD, &session);
    must(!session.is_whole || session.head.phase == HF_PHASE_GONE);
}

/* An entry as it stands in the file. */
struct entry {
    uint32_t size;
    uint32_t is_delete;
    uint64_t created;
    uint64_t changed;
    uint32_t key_size;
    uint32_t value_size;
    uint64_t sum;
};

/* Entries whose sums are right, and nothing else need be. */
static void anybodys_entries(struct fuzz_input *input)
{
    static uint8_t bytes[4096];
    off_t at = HF_SQLITE_NOTE_AT;
    struct bed bed;

    bed_init(&bed, "", 0);
    make(&bed);
    while (input->size > 0 && at < FUZZ_MEMORY_MAX / 2) {
        struct entry entry = {.size = sizeof(entry) + fuzz_byte(input) * 4u};
        size_t behind = entry.size - sizeof(entry);
        uint64_t sum;

        entry.is_delete = fuzz_byte(input) & 1;
        fuzz_fill(input, &entry.key_size, 1 + (size_t)(fuzz_byte(input) & 3));
        fuzz_fill(input, &entry.value_size, 1 + (size_t)(fuzz_byte(input) & 3));
        fuzz_fill(input, &entry.changed, sizeof(entry.changed));
        fuzz_fill(input, bytes, behind);
        sum = hf_sqlite_sum(&entry, offsetof(struct entry, sum), 3);
        entry.sum = hf_sqlite_sum(bytes, behind, sum);
        (void)bed.memory.sys.pwrite(&bed.memory.sys, FUZZ_MEMORY_FD, &entry,
                                    sizeof(entry), at);
        (void)bed.memory.sys.pwrite(&bed.memory.sys, FUZZ_MEMORY_FD, bytes,
                                    behind, at + (off_t)sizeof(entry));
        at += (off_t)entry.size;
    }
    read_any(&bed);
    bed_clear(&bed);
}

/* A term whose sum is right, and where its note begins is anywhere. */
static void anywheres_note(struct fuzz_input *input)
{
    struct hf_sqlite_session session;
    struct bed bed;
    uint64_t at;

    bed_init(&bed, "", 0);
    make(&bed);
    fuzz_fill(input, &at, sizeof(at));
    hf_sqlite_session_read(bed.sq, FUZZ_MEMORY_FD, &session);
    (void)hf_sqlite_session_move_note(bed.sq, FUZZ_MEMORY_FD, &session,
                                      at >> (fuzz_byte(input) & 63));
    read_any(&bed);
    bed_clear(&bed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct bed bed;

    bed_init(&bed, size ? (const void *)data : "", size);
    read_any(&bed);
    bed_clear(&bed);
    write_and_damage(&input);
    input = (struct fuzz_input){data, size};
    anybodys_entries(&input);
    input = (struct fuzz_input){data, size};
    anywheres_note(&input);
    return 0;
}
