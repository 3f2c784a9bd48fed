/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

size_t hf_utf8_read(const char *text, size_t size, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t)text[0];
    uint32_t value;
    size_t length;

    if (first < 0x80) {
        *code = first;
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF) {
        length = 2;
        value = first & 0x1FU;
    } else if ((first & 0xF0) == 0xE0) {
        length = 3;
        value = first & 0x0FU;
    } else if (first >= 0xF0 && first <= 0xF4) {
        length = 4;
        value = first & 0x07U;
    } else {
        return 0;
    }
    if (size < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        uint8_t next = (uint8_t)text[i];

        if ((next & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (next & 0x3FU);
    }
    if (value < least[length] || value > 0x10FFFF)
        return 0;
    if (value >= 0xD800 && value <= 0xDFFF)
        return 0;
    *code = value;
    return length;
}

bool hf_utf8_is_unsafe(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7F && code <= 0x9F))
        return true;
    if (code == 0x061C || code == 0x200E || code == 0x200F)
        return true;
    return (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}
