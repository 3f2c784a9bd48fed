/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One of the chain at `memory`; the newest, which has room, comes first. */
struct block {
    struct block *next;
    size_t used;
    size_t size;
    alignas(max_align_t) char bytes[];
};

/* Holds the answer of any usual transaction: one malloc per request. */
enum { BLOCK_BYTES = 1024 - sizeof(struct block) };

void hf_store_request_clear(struct hf_store_request *request)
{
    struct block *block = request->memory;

    while (block) {
        struct block *next = block->next;

        free(block);
        block = next;
    }
    request->memory = NULL;
    request->link = NULL;
    request->tag = 0;
}

static struct block *block_new(size_t size)
{
    size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct block *block;

    if (room > SIZE_MAX - sizeof(*block))
        return NULL;
    block = malloc(sizeof(*block) + room);
    if (!block)
        return NULL;
    *block = (struct block){.size = room};
    return block;
}

void *hf_store_alloc(struct hf_store_request *request, size_t size)
{
    struct block *first = request->memory;
    size_t align = alignof(max_align_t);
    void *place;

    if (size > SIZE_MAX - align)
        return NULL;
    size = (size + align - 1) / align * align;
    if (!first || first->size - first->used < size) {
        struct block *block = block_new(size);

        if (!block)
            return NULL;
        block->next = first;
        request->memory = block;
        first = block;
    }
    place = first->bytes + first->used;
    first->used += size;
    return memset(place, 0, size);
}

char *hf_store_copy(struct hf_store_request *request, const void *bytes,
                    size_t size)
{
    char *copy = size < SIZE_MAX ? hf_store_alloc(request, size + 1) : NULL;

    if (copy && size)
        memcpy(copy, bytes, size);
    return copy;
}
