/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock class: reviewed configuration for a kind of lock, as the core obeys
 * it. Read from YAML by service/classes; the built-in `batch` is here. Pure;
 * the summary is part of the core's vocabulary.
 */
#ifndef HF_CORE_CLASS_H
#define HF_CORE_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/key.h"

enum { HF_CLASS_NAME_SIZE = 65, HF_CLASS_TEMPLATE_SIZE = 257 };

/* Bounds of what any class may ask, in milliseconds. */
#define HF_TTL_LEAST_MS INT64_C(1000)
#define HF_TTL_MOST_MS INT64_C(86400000)
#define HF_WAIT_MOST_MS INT64_C(31536000000)

struct hf_class {
    char name[HF_CLASS_NAME_SIZE];
    int64_t ttl_min_ms;
    int64_t ttl_default_ms;
    int64_t ttl_max_ms;
    int64_t wait_default_ms;
    int64_t wait_max_ms;
    int64_t hold_max_ms; /* 0: no bound */
    bool shared;         /* shared holds allowed beside exclusive ones */
    char key[HF_CLASS_TEMPLATE_SIZE];
};

/* The built-in class `batch` as it is on the embedded store. */
extern const struct hf_class hf_class_batch;

/* 1 to 64 of [a-z0-9-], beginning with a letter: also a file name. */
enum hf_err hf_class_check_name(const char *name, struct hf_error *error);

#endif
