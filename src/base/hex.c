/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"

void hf_hex(const uint8_t *bytes, size_t size, char *to)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;

    for (i = 0; i < size; i++) {
        to[2 * i] = digits[bytes[i] >> 4];
        to[2 * i + 1] = digits[bytes[i] & 15];
    }
    to[2 * size] = '\0';
}
