/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/sha256.h"

#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes
 * (FIPS 180-4, 4.2.2). */
static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned int by)
{
    return word >> by | word << (32 - by);
}

static uint32_t read_word(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 |
           (uint32_t)from[2] << 8 | from[3];
}

static void write_word(uint8_t *to, uint32_t word)
{
    to[0] = (uint8_t)(word >> 24);
    to[1] = (uint8_t)(word >> 16);
    to[2] = (uint8_t)(word >> 8);
    to[3] = (uint8_t)word;
}

static void mix_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    uint32_t s[8];

    for (int i = 0; i < 16; i++)
        w[i] = read_word(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15];
        uint32_t b = w[i - 2];

        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(s, state, sizeof(s));
    for (int i = 0; i < 64; i++) {
        uint32_t sum_e = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t one = s[7] + sum_e + choice + rounds[i] + w[i];
        uint32_t sum_a = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
        uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);

        s[7] = s[6];
        s[6] = s[5];
        s[5] = s[4];
        s[4] = s[3] + one;
        s[3] = s[2];
        s[2] = s[1];
        s[1] = s[0];
        s[0] = one + sum_a + most;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

void hf_sha256_begin(struct hf_sha256 *hash)
{
    /* Of the square roots of the first eight primes (FIPS 180-4, 5.3.3). */
    static const uint32_t start[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };

    memcpy(hash->state, start, sizeof(start));
    hash->size = 0;
}

void hf_sha256_add(struct hf_sha256 *hash, const void *data, size_t size)
{
    const uint8_t *from = data;
    size_t held = hash->size % HF_SHA256_BLOCK;

    hash->size += size;
    if (held && size >= HF_SHA256_BLOCK - held) {
        size_t part = HF_SHA256_BLOCK - held;

        memcpy(hash->block + held, from, part);
        mix_block(hash->state, hash->block);
        from += part;
        size -= part;
        held = 0;
    }
    for (; !held && size >= HF_SHA256_BLOCK; size -= HF_SHA256_BLOCK) {
        mix_block(hash->state, from);
        from += HF_SHA256_BLOCK;
    }
    if (size)
        memcpy(hash->block + held, from, size);
}

void hf_sha256_end(struct hf_sha256 *hash, uint8_t to[HF_SHA256_SIZE])
{
    uint64_t bits = hash->size * 8;
    size_t held = hash->size % HF_SHA256_BLOCK;

    hash->block[held++] = 0x80;
    if (held > HF_SHA256_BLOCK - 8) {
        memset(hash->block + held, 0, HF_SHA256_BLOCK - held);
        mix_block(hash->state, hash->block);
        held = 0;
    }
    memset(hash->block + held, 0, HF_SHA256_BLOCK - 8 - held);
    write_word(hash->block + 56, (uint32_t)(bits >> 32));
    write_word(hash->block + 60, (uint32_t)bits);
    mix_block(hash->state, hash->block);
    for (int i = 0; i < 8; i++)
        write_word(to + 4 * i, hash->state[i]);
}

void hf_hmac_sha256(const void *key, size_t key_size, const void *data,
                    size_t size, uint8_t to[HF_SHA256_SIZE])
{
    uint8_t inner[HF_SHA256_BLOCK] = {0};
    uint8_t outer[HF_SHA256_BLOCK];
    struct hf_sha256 hash;

    if (key_size > HF_SHA256_BLOCK) {
        hf_sha256_begin(&hash);
        hf_sha256_add(&hash, key, key_size);
        hf_sha256_end(&hash, inner);
    } else if (key_size) {
        memcpy(inner, key, key_size);
    }
    for (int i = 0; i < HF_SHA256_BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    hf_sha256_begin(&hash);
    hf_sha256_add(&hash, inner, sizeof(inner));
    hf_sha256_add(&hash, data, size);
    hf_sha256_end(&hash, to);
    hf_sha256_begin(&hash);
    hf_sha256_add(&hash, outer, sizeof(outer));
    hf_sha256_add(&hash, to, HF_SHA256_SIZE);
    hf_sha256_end(&hash, to);
    explicit_bzero(inner, sizeof(inner));
    explicit_bzero(outer, sizeof(outer));
}

void hf_sha256_text(const uint8_t hash[HF_SHA256_SIZE],
                    char to[HF_SHA256_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < HF_SHA256_SIZE; i++) {
        to[2 * i] = digits[hash[i] >> 4];
        to[2 * i + 1] = digits[hash[i] & 15];
    }
    to[2 * HF_SHA256_SIZE] = '\0';
}
