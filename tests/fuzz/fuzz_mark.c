/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark of a fenced file, any bytes. Taken: the next write is read back, and
 * one that is cut short at any byte leaves the mark before it. A mark is never
 * read lower than a whole one in the file. Each input is read as it is, and
 * once more with the check sums that its lines ask for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/file_mark.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory.h"

enum { PLACE_SIZE = 1024, SUM_SIZE = 16 };

static const struct hf_fence_place place = {
    .path = "/folder/file", .folder = 3, .name = "file"};

static bool same(const struct hf_fence_file_mark *a,
                 const struct hf_fence_file_mark *b)
{
    return a->version == b->version && a->mark.token == b->mark.token &&
           !strcmp(a->mark.grant, b->mark.grant) &&
           !strcmp(a->mark.key, b->mark.key) && a->inode == b->inode &&
           a->is_appending == b->is_appending &&
           a->append_from == b->append_from && a->append_to == b->append_to;
}

static void is_sound(const struct hf_fence_file_mark *mark)
{
    must(mark->version == 1);
    must(memchr(mark->mark.grant, '\0', sizeof(mark->mark.grant)) != NULL);
    must(memchr(mark->mark.key, '\0', sizeof(mark->mark.key)) != NULL);
    must(mark->mark.token <= INT64_MAX);
    must(hf_fence_grant_is_valid(mark->mark.grant));
    must(!mark->mark.key[0] || !hf_key_check(mark->mark.key, NULL));
}

/* The power goes in the middle of a write of `next`. */
static void tear(struct fuzz_memory *memory,
                 const struct hf_fence_file_mark *mark,
                 const struct hf_fence_file_mark *next, size_t at)
{
    static uint8_t after[2 * PLACE_SIZE];
    static uint8_t before[2 * PLACE_SIZE];
    struct hf_fence_file_mark now = *mark;
    struct hf_fence_file_mark found;
    size_t from = next->turn % 2 * PLACE_SIZE;

    memset(before, 0, sizeof(before));
    if (memory->size > 0)
        memcpy(before, memory->bytes,
               memory->size < sizeof(before) ? memory->size : sizeof(before));
    must(
        !hf_fence_mark_write(&place, &memory->sys, FUZZ_MEMORY_FD, &now, NULL));
    memset(after, 0, sizeof(after));
    memcpy(after, memory->bytes,
           memory->size < sizeof(after) ? memory->size : sizeof(after));
    must(!hf_fence_mark_peek(&place, &memory->sys, &found, NULL));
    must(found.turn == mark->turn + 1 && same(&found, mark));
    memcpy(before + from, after + from, at % PLACE_SIZE);
    (void)memory->sys.pwrite(&memory->sys, FUZZ_MEMORY_FD, before,
                             sizeof(before), 0);
    must(!hf_fence_mark_peek(&place, &memory->sys, &found, NULL) ||
         mark->turn == 0);
    must(mark->turn == 0 || same(&found, mark));
}

static void read_one(const void *bytes, size_t size, size_t at)
{
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_fence_file_mark mark;
    struct fuzz_memory memory;
    enum hf_err err;

    fuzz_memory_init(&memory, bytes, size);
    err = hf_fence_mark_peek(&place, &memory.sys, &mark, &error);
    if (err) {
        must(err == HF_ERR_DAMAGED && fuzz_is_told(&error, err));
        must(mark.turn == 0);
    } else if (mark.turn < INT64_MAX) {
        struct hf_fence_file_mark next = mark;

        is_sound(&mark);
        next.turn++;
        tear(&memory, &mark, &next, at);
    }
    fuzz_memory_clear(&memory);
}

/* A place whose sum is right for what stands behind it. */
static void mend(uint8_t place_bytes[PLACE_SIZE])
{
    size_t size = PLACE_SIZE;
    char sum[SUM_SIZE + 1];

    place_bytes[SUM_SIZE] = ' ';
    while (size > SUM_SIZE + 1 &&
           (place_bytes[size - 1] == ' ' || place_bytes[size - 1] == '\n'))
        size--;
    hf_key_hash(place_bytes + SUM_SIZE + 1, size - SUM_SIZE - 1, sum);
    memcpy(place_bytes, sum, SUM_SIZE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    uint8_t bytes[2 * PLACE_SIZE];
    size_t at = size;

    for (size_t i = 0; i < size; i++)
        at = at * 31 + data[i];
    read_one(size ? (const void *)data : "", size, at);
    /* Each half of the input is an object in a place of its own. */
    memset(bytes, ' ', sizeof(bytes));
    for (size_t i = 0; i < 2; i++) {
        uint8_t *to = bytes + i * PLACE_SIZE;
        const uint8_t *end =
            input.size ? memchr(input.data, '\n', input.size) : NULL;
        size_t line = end ? (size_t)(end - input.data) : input.size;
        size_t taken = line < PLACE_SIZE - SUM_SIZE - 2
                           ? line
                           : (size_t)(PLACE_SIZE - SUM_SIZE - 2);

        fuzz_fill(&input, to + SUM_SIZE + 1, taken);
        (void)fuzz_byte(&input);
        mend(to);
        read_one(bytes, (i + 1) * PLACE_SIZE, at);
    }
    return 0;
}
