/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fuzz target is: one function that judges one input and aborts when a
 * promise is broken. drive.c runs it over a corpus and over what it makes of
 * that by small changes; a coverage-guided fuzzer links it instead:
 *
 *     clang -fsanitize=fuzzer,address,undefined ... fuzz_class.c LIBRARIES
 */
#ifndef HF_TESTS_FUZZ_H
#define HF_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The name that such fuzzers look for. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
