/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as lower-case hexadecimal: ids in records, files and JSON. */
#ifndef HF_BASE_HEX_H
#define HF_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* `to` has room for 2 * size digits and a NUL. */
void hf_hex(const uint8_t *bytes, size_t size, char *to);

#endif
