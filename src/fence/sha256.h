/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104), for the signatures that S3
 * asks for. Not for passwords or keys at rest. Used by the S3 fence alone: a
 * library for these two would cost more at the start than they do in all.
 */
#ifndef HF_FENCE_SHA256_H
#define HF_FENCE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { HF_SHA256_SIZE = 32, HF_SHA256_BLOCK = 64, HF_SHA256_TEXT_SIZE = 65 };

struct hf_sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    uint8_t block[HF_SHA256_BLOCK];
};

void hf_sha256_begin(struct hf_sha256 *hash);
void hf_sha256_add(struct hf_sha256 *hash, const void *data, size_t size);
/* The hash object is used up. */
void hf_sha256_end(struct hf_sha256 *hash, uint8_t to[HF_SHA256_SIZE]);

void hf_hmac_sha256(const void *key, size_t key_size, const void *data,
                    size_t size, uint8_t to[HF_SHA256_SIZE]);

/* As 64 lower-case hex digits and their end. */
void hf_sha256_text(const uint8_t hash[HF_SHA256_SIZE],
                    char to[HF_SHA256_TEXT_SIZE]);

#endif
