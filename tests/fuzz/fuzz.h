/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fuzz target is: one function that judges one input and aborts when a
 * promise is broken. drive.c runs it over a corpus and over what it makes of
 * that by small changes; a coverage-guided fuzzer is linked in its place
 * (tests/fuzz/guided).
 */
#ifndef HF_TESTS_FUZZ_H
#define HF_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The name that such fuzzers look for. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise; broken, it says which on standard error and aborts. */
#define must(condition)                                                        \
    ((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition))
void fuzz_broken(const char *file, int line, const char *condition)
    __attribute__((noreturn));

/* Is it an error with that code, and with one clean line to show? */
bool fuzz_is_told(const struct hf_error *error, enum hf_err code);

/* What of an input is not used yet, taken from its front. */
struct fuzz_input {
    const uint8_t *data;
    size_t size;
};

/* The next byte; 0 behind the end. */
uint8_t fuzz_byte(struct fuzz_input *input);
/* Fill `to` from the input, with zeros behind its end. */
void fuzz_fill(struct fuzz_input *input, void *to, size_t size);
/* The next `size` bytes, or what there is, as text of the heap: it ends at the
 * first NUL, and a sanitizer sees what is read behind it. */
char *fuzz_text(struct fuzz_input *input, size_t size);

#endif
