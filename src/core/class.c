/* SPDX-License-Identifier: Apache-2.0 */
#include "core/class.h"

#include <string.h>

const struct hf_class hf_class_batch = {
    .name = "batch",
    .ttl_min_ms = 5000,
    .ttl_default_ms = 60000,
    .ttl_max_ms = 600000,
    .wait_default_ms = 0,
    .wait_max_ms = INT64_C(86400000),
    .hold_max_ms = 0,
    .shared = true,
    .key = "local/batch/{command path}",
};

enum hf_err hf_class_check_name(const char *name, struct hf_error *error)
{
    size_t size = strlen(name);
    size_t i;

    if (size == 0 || size >= HF_CLASS_NAME_SIZE)
        return hf_error_set(error, HF_ERR_USAGE,
                            "class: a name has 1 to %d letters",
                            HF_CLASS_NAME_SIZE - 1);
    for (i = 0; i < size; i++) {
        char c = name[i];
        bool letter = c >= 'a' && c <= 'z';
        bool inner = (c >= '0' && c <= '9') || c == '-';

        if (!letter && !(i > 0 && inner))
            return hf_error_set(error, HF_ERR_USAGE,
                                "class: byte %zu of the name is not allowed; "
                                "a name is made of a-z 0-9 - and begins with "
                                "a letter",
                                i + 1);
    }
    return HF_ERR_OK;
}
