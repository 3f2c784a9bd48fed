/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sim_queue.h"

#include <stdlib.h>
#include <string.h>

/* ---- a binary heap ---- */

static bool is_before(const struct sim_op *a, const struct sim_op *b)
{
    return a->at.ns != b->at.ns ? a->at.ns < b->at.ns : a->number < b->number;
}

static void set(struct sim_heap *heap, size_t place, struct sim_op *op)
{
    heap->list[place] = op;
    op->place = place;
}

static void rise(struct sim_heap *heap, size_t place)
{
    struct sim_op *op = heap->list[place];

    while (place > 0) {
        size_t parent = (place - 1) / 2;

        if (!is_before(op, heap->list[parent]))
            break;
        set(heap, place, heap->list[parent]);
        place = parent;
    }
    set(heap, place, op);
}

static void sink(struct sim_heap *heap, size_t place)
{
    struct sim_op *op = heap->list[place];

    for (;;) {
        size_t child = place * 2 + 1;

        if (child >= heap->count)
            break;
        if (child + 1 < heap->count &&
            is_before(heap->list[child + 1], heap->list[child]))
            child++;
        if (!is_before(heap->list[child], op))
            break;
        set(heap, place, heap->list[child]);
        place = child;
    }
    set(heap, place, op);
}

void sim_heap_push(struct sim_heap *heap, struct sim_op *op)
{
    heap->list =
        sim_grow(heap->list, heap->count, &heap->room, sizeof(struct sim_op *));
    op->number = heap->numbered++;
    heap->list[heap->count] = op;
    rise(heap, heap->count++);
}

void sim_heap_remove(struct sim_heap *heap, struct sim_op *op)
{
    size_t place = op->place;
    struct sim_op *last = heap->list[--heap->count];

    if (last == op)
        return;
    set(heap, place, last);
    rise(heap, place);
    sink(heap, last->place);
}

struct sim_op *sim_heap_first(const struct sim_heap *heap)
{
    return heap->count ? heap->list[0] : NULL;
}

/* ---- copies of requests ---- */

static void *copy_of(struct hf_store_request *owner, const void *from,
                     size_t size)
{
    if (!size)
        return NULL;
    return sim_memory(hf_store_copy(owner, from, size));
}

static struct hf_bytes copy_bytes(struct hf_store_request *owner,
                                  struct hf_bytes bytes)
{
    return (struct hf_bytes){.data = copy_of(owner, bytes.data, bytes.size),
                             .size = bytes.size};
}

static const struct hf_condition *
copy_conditions(struct hf_store_request *owner, const struct hf_condition *from,
                size_t count)
{
    struct hf_condition *to = copy_of(owner, from, count * sizeof(*from));

    for (size_t i = 0; i < count; i++)
        to[i].key = copy_bytes(owner, from[i].key);
    return to;
}

static const struct hf_action *copy_actions(struct hf_store_request *owner,
                                            const struct hf_action *from,
                                            size_t count)
{
    struct hf_action *to = copy_of(owner, from, count * sizeof(*from));

    for (size_t i = 0; i < count; i++) {
        to[i].key = copy_bytes(owner, from[i].key);
        to[i].value = copy_bytes(owner, from[i].value);
    }
    return to;
}

struct hf_store_request *sim_request_copy(const struct hf_store_request *from)
{
    struct hf_store_request *to = sim_memory(calloc(1, sizeof(*to)));

    to->kind = from->kind;
    to->expect = from->expect;
    to->epoch = from->epoch;
    to->lease = from->lease;
    to->ttl_ms = from->ttl_ms;
    to->phase = from->phase;
    to->left = from->left;
    if (from->cgroup)
        to->cgroup = copy_of(to, from->cgroup, strlen(from->cgroup));
    to->branch_count = from->branch_count;
    to->branches = copy_of(to, from->branches,
                           from->branch_count * sizeof(*from->branches));
    for (size_t i = 0; i < from->branch_count; i++) {
        struct hf_branch *branch = &to->branches[i];

        branch->conditions =
            copy_conditions(to, branch->conditions, branch->condition_count);
        branch->then = copy_actions(to, branch->then, branch->then_count);
        branch->otherwise =
            copy_actions(to, branch->otherwise, branch->otherwise_count);
    }
    return to;
}

void sim_request_free(struct hf_store_request *request)
{
    hf_store_request_clear(request);
    free(request);
}
