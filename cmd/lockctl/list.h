/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is held, a line for each hold, and how many wait: read, put in order, as
 * a table and as JSON. For `lockctl ls` and `lockctl top`.
 */
#ifndef LOCKCTL_LIST_H
#define LOCKCTL_LIST_H

#include "cmd/lockctl/lockctl.h"

/* A hold, or a key that is only waited for or kept. */
struct list_line {
    const struct hf_hold_info *info; /* of the hold, or of the first waiter */
    uint64_t waiting;
};

struct list {
    struct hf_request request;
    struct list_line *lines;
    size_t count;
    struct hf_time now; /* when it was read */
};

enum list_order {
    LIST_BY_KEY,
    LIST_BY_AGE,     /* the oldest first */
    LIST_BY_WAITING, /* the longest queue first */
    LIST_BY_LEASE    /* what ends next first */
};
/* "key", ..., NULL; the words of --sort (tool.c). */
extern const char *const list_order_names[];

/*
 * Can keys begin so? What no key begins with is told, for an empty list would
 * read like "nothing is held". Errors: USAGE.
 */
enum hf_err list_check_prefix(const char *prefix, struct hf_error *error);
/* Ask for it, from the open store; in the order of keys. Clear it, unless it
 * failed. */
enum hf_err list_read(struct lockctl *ctl, const char *prefix,
                      struct list *list, struct hf_error *error);
void list_clear(struct list *list);
void list_sort(struct list *list, enum list_order order);

/* Both append to ctl->out, and keep a failure there. `width` 0: no limit. */
void list_text(struct lockctl *ctl, const struct list *list, size_t width);
void list_json(struct lockctl *ctl, const struct list *list);

#endif
