/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is under way in a simulated store: requests on their way to it, answers
 * on their way back, and a heap that says whose moment is next. Private to
 * src/store/sim*.c.
 */
#ifndef HF_STORE_SIM_QUEUE_H
#define HF_STORE_SIM_QUEUE_H

#include "store/sim_state.h"

struct sim_handle;

/* What a request's fate is, drawn when it is submitted. */
enum sim_fate {
    SIM_ANSWERED,
    SIM_UNKNOWN_DONE,
    SIM_UNKNOWN_NOT,
    SIM_UNKNOWN_LATE,
    SIM_FAILED,
    SIM_LOST_DONE,
    SIM_LOST_NOT
};

enum sim_stage {
    SIM_COMING,   /* carried out at `at` */
    SIM_WATCHING, /* waits for a change; not in the heap */
    SIM_GOING,    /* answered at `at` */
    SIM_READY,    /* waits for next(); not in the heap */
    SIM_LOST      /* nothing comes any more; not in the heap */
};

struct sim_op {
    struct sim_handle *handle; /* NULL: an orphan, carried out and forgotten */
    struct hf_store_request *request;
    uint32_t process;
    enum sim_fate fate;
    enum sim_stage stage;
    struct hf_time at;
    struct hf_time answer_at;
    uint64_t number; /* of two at one moment the older one is first */
    size_t place;    /* in the heap */
    uint64_t cursor; /* WATCHING: number of the next log entry to look at */
    /* The handle's list, and the world's of those that watch. */
    struct sim_op *before, *behind;
    struct sim_op *watch_before, *watch_behind;
    struct sim_op *ready_behind;
};

struct sim_heap {
    struct sim_op **list;
    size_t count;
    size_t room;
    uint64_t numbered;
};

void sim_heap_push(struct sim_heap *heap, struct sim_op *op);
void sim_heap_remove(struct sim_heap *heap, struct sim_op *op);
/* The next one, or NULL. */
struct sim_op *sim_heap_first(const struct sim_heap *heap);

/*
 * A request of its own with a copy of all that the input of `from` points to;
 * given back with sim_request_free.
 */
struct hf_store_request *sim_request_copy(const struct hf_store_request *from);
void sim_request_free(struct hf_store_request *request);

#endif
