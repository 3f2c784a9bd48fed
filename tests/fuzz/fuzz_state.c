/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LOCK_STATE of any bytes. Taken: it is, to the byte, what is written of what
 * was read. Each input is read as it is, and once more with the check sum that
 * its text asks for, so that what lies behind that is reached.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/state_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory.h"

enum { STATE_BYTES = 512 };

static void read_one(const void *bytes, size_t size)
{
    static const struct hf_state_file untouched = {.token = 4711};
    struct hf_state_file state = untouched;
    struct hf_error error = {.code = HF_ERR_OK};
    struct fuzz_memory memory;
    enum hf_err err;

    fuzz_memory_init(&memory, bytes, size);
    err = hf_state_file_read(&memory.sys, FUZZ_MEMORY_FD, &state, &error);
    if (err) {
        must(err == HF_ERR_DAMAGED && fuzz_is_told(&error, err));
        must(memcmp(&state, &untouched, sizeof(state)) == 0);
    } else {
        must(size >= STATE_BYTES);
        must(state.token <= INT64_MAX && state.deadline.ns >= 0);
        memset(memory.bytes, 0, STATE_BYTES); /* and so written anew */
        must(!hf_state_file_write(&memory.sys, FUZZ_MEMORY_FD, &state, NULL));
        must(memcmp(memory.bytes, bytes, STATE_BYTES) == 0);
    }
    fuzz_memory_clear(&memory);
}

/* What is written is read as the same, whatever it is. */
static void write_one(struct fuzz_input *input)
{
    struct hf_state_file state = {.state = HF_STATE_HELD};
    struct hf_state_file again;
    struct fuzz_memory memory;

    state.state = (enum hf_state)(fuzz_byte(input) % (HF_STATE_OVER + 1));
    fuzz_fill(input, &state.token, sizeof(state.token));
    state.token &= INT64_MAX;
    fuzz_fill(input, &state.deadline.ns, sizeof(state.deadline.ns));
    fuzz_fill(input, state.boot_id, sizeof(state.boot_id));
    fuzz_memory_init(&memory, "", 0);
    must(!hf_state_file_write(&memory.sys, FUZZ_MEMORY_FD, &state, NULL));
    must(memory.size == STATE_BYTES);
    must(!hf_state_file_read(&memory.sys, FUZZ_MEMORY_FD, &again, NULL));
    must(again.state == state.state && again.token == state.token);
    must(again.deadline.ns == (state.deadline.ns < 0 ? 0 : state.deadline.ns));
    must(!memcmp(again.boot_id, state.boot_id, sizeof(state.boot_id)));
    fuzz_memory_clear(&memory);
}

/* As docs/internals/state-file.md says it: 64-bit FNV-1a of all lines before.
 */
static uint64_t check_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint8_t text[STATE_BYTES];
    const uint8_t *check;
    size_t covered;

    read_one(size ? (const void *)data : "", size);
    write_one(&input);
    memset(text, '\n', sizeof(text));
    memcpy(text, data, size < sizeof(text) ? size : sizeof(text));
    check = memmem(text, sizeof(text), "\ncheck ", 7);
    covered = check ? (size_t)(check - text) + 1 : sizeof(text);
    if (covered + 22 <= sizeof(text)) {
        char right[17];

        snprintf(right, sizeof(right), "%016" PRIx64, check_of(text, covered));
        memcpy(text + covered + 6, right, 16);
        read_one(text, sizeof(text));
    }
    return 0;
}
