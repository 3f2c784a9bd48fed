/* SPDX-License-Identifier: Apache-2.0 */
#include "core/token.h"

bool hf_token_make(uint32_t epoch, uint64_t revision, uint64_t *token)
{
    if (epoch < 1 || epoch > HF_EPOCH_MAX)
        return false;
    if (revision < 1 || revision > HF_REVISION_GRANT_MAX)
        return false;
    *token = (uint64_t)epoch << 48 | revision;
    return true;
}

uint32_t hf_token_epoch(uint64_t token)
{
    return (uint32_t)(token >> 48);
}

uint64_t hf_token_revision(uint64_t token)
{
    return token & HF_REVISION_MAX;
}

bool hf_token_parse(const char *text, size_t size, uint64_t *token)
{
    uint64_t value = 0;
    size_t i;

    if (size == 0 || size > HF_TOKEN_TEXT_SIZE - 1 || text[0] == '0')
        return false;
    for (i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
        if (value > INT64_MAX)
            return false;
    }
    *token = value;
    return true;
}
