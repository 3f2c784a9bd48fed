/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fencing token: epoch << 48 | revision, a positive signed 64-bit integer.
 * Pure arithmetic; part of the core's vocabulary, so clients may use it.
 */
#ifndef HF_CORE_TOKEN_H
#define HF_CORE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HF_EPOCH_MAX UINT32_C(32767)
#define HF_REVISION_MAX ((UINT64_C(1) << 48) - 1)
/* Nothing is granted from here on: close to the end is a fault, not a use. */
#define HF_REVISION_GRANT_MAX (HF_REVISION_MAX - (UINT64_C(1) << 40))
/* Longest decimal form, NUL included. */
enum { HF_TOKEN_TEXT_SIZE = 20 };

/* False when either part is out of range (epoch 1 to HF_EPOCH_MAX, revision 1
 * to HF_REVISION_GRANT_MAX); *token is then untouched. */
bool hf_token_make(uint32_t epoch, uint64_t revision, uint64_t *token);
uint32_t hf_token_epoch(uint64_t token);
uint64_t hf_token_revision(uint64_t token);
/*
 * Strict decimal: digits only, no sign, blank or leading zero, 1 to INT64_MAX.
 * False otherwise, *token untouched.
 */
bool hf_token_parse(const char *text, size_t size, uint64_t *token);

#endif
