/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A struct hf_sys with one file, which lies in memory: what a fuzz target hands
 * to a reader of files. Whatever name is opened is that file; its clock stands
 * still, nothing in it fails. All other calls are the kernel's.
 */
#ifndef HF_TESTS_FUZZ_MEMORY_H
#define HF_TESTS_FUZZ_MEMORY_H

#include "base/sys.h"

enum { FUZZ_MEMORY_MAX = 2 * 1024 * 1024, FUZZ_MEMORY_FD = 1000 };

struct fuzz_memory {
    struct hf_sys sys; /* first */
    uint8_t *bytes;
    size_t size;
    size_t capacity;
    bool exists;
};

/* With a file of these bytes, or none (NULL). */
void fuzz_memory_init(struct fuzz_memory *memory, const void *bytes,
                      size_t size);
void fuzz_memory_clear(struct fuzz_memory *memory);

#endif
