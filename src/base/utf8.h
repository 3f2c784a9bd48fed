/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8, one character at a time, and which characters may stand before a
 * person's eyes as they are. Not a text library: no widths, no case, no
 * normal forms. Everybody may use it.
 */
#ifndef HF_BASE_UTF8_H
#define HF_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Read the character at the start of `text` (`size` bytes, at least 1): its
 * length in bytes, 1 to 4, and the character in *code. 0 when the bytes there
 * are no UTF-8 (overlong forms, surrogates, beyond U+10FFFF, cut short).
 */
size_t hf_utf8_read(const char *text, size_t size, uint32_t *code);

/*
 * Must `code` be escaped before it reaches a terminal or a log? True for C0,
 * DEL and C1 controls, the line and paragraph separators, and the marks that
 * change the direction of writing.
 */
bool hf_utf8_is_unsafe(uint32_t code);

#endif
