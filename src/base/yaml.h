/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict subset of YAML read into a small tree that remembers the line and
 * column of everything, so that each complaint can say where. Not a YAML
 * library: no anchors, aliases, tags, merge keys, directives, doubled or
 * compound keys, second documents, nor characters that would show a reviewer
 * something else than what stands there; bounded in size, depth and number of
 * nodes. Scalars stay text: what they mean is their reader's to judge. Linked
 * only by who reads class files and settings (it pulls in libyaml).
 */
#ifndef HF_BASE_YAML_H
#define HF_BASE_YAML_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum {
    HF_YAML_BYTES_MAX = 65536, /* a class file of 200 lines has 8 KB */
    HF_YAML_DEPTH_MAX = 16,
    HF_YAML_NODES_MAX = 4096
};

enum hf_yaml_kind { HF_YAML_SCALAR, HF_YAML_MAP, HF_YAML_LIST };

/* Lines and columns count from 1; columns count characters. */
struct hf_yaml_mark {
    unsigned int line;
    unsigned int column;
};

struct hf_yaml_node {
    enum hf_yaml_kind kind;
    struct hf_yaml_mark mark;
    /* SCALAR: without quotes and escapes, no NUL within; "" when nothing stands
     * there. `is_plain`: it had no quotes and was no block. */
    const char *text;
    size_t size;
    bool is_plain;
    /* Of a member of a MAP: its key. */
    const char *name;
    struct hf_yaml_mark name_mark;
    /* MAP, LIST: the members in their order. */
    const struct hf_yaml_node *first;
    size_t count;
    /* The next member of what this one is in, or NULL. */
    const struct hf_yaml_node *next;
};

struct hf_yaml {
    const char *file; /* as handed in, borrowed: for messages */
    const struct hf_yaml_node *root;
    struct hf_yaml_node *nodes; /* all of them, and their texts: its own */
    char *text;
};

/*
 * Read `size` bytes that came from `file` into *yaml, which the caller clears
 * after success (after failure it is empty). The bytes need not outlive the
 * call. Errors: CONFIG with "FILE:LINE:COLUMN: sentence"; NOMEM. A file
 * without a document (empty, or comments alone) is an error.
 */
enum hf_err hf_yaml_parse(struct hf_yaml *yaml, const char *file,
                          const char *bytes, size_t size,
                          struct hf_error *error);
void hf_yaml_clear(struct hf_yaml *yaml);

/* The member of a MAP with that key, or NULL. */
const struct hf_yaml_node *hf_yaml_find(const struct hf_yaml_node *map,
                                        const char *name);

/* For its reader's complaints: "FILE:LINE:COLUMN: sentence", code CONFIG. */
enum hf_err hf_yaml_error(const struct hf_yaml *yaml, struct hf_yaml_mark mark,
                          struct hf_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
