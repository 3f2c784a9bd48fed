/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys: what is locked, `tenant/namespace/name...`. Checked, completed and
 * derived here and nowhere else; anything outside the grammar is refused,
 * never changed. Pure; part of the core's vocabulary.
 *
 * Grammar: three or more segments with '/' between, 512 bytes in all; a segment
 * is 1 to 128 of [A-Za-z0-9._@:+=%-], and neither "." nor "..".
 */
#ifndef HF_CORE_KEY_H
#define HF_CORE_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { HF_KEY_BYTES_MAX = 512, HF_KEY_SEGMENT_MAX = 128 };
/* An array that holds any key and its NUL. */
enum { HF_KEY_SIZE = HF_KEY_BYTES_MAX + 1 };

/* Tenant and namespace of a name that has no slash. */
#define HF_KEY_DEFAULT_HOME "local/default"

/* Is `text` a key? If not, USAGE and a sentence with the place. */
enum hf_err hf_key_check(const char *text, struct hf_error *error);

/*
 * As a user types it: a whole key, or a name without slash, which gets `home`
 * ("tenant/namespace") before it. Result in `key`. Errors: USAGE.
 */
enum hf_err hf_key_complete(const char *text, const char *home,
                            char key[HF_KEY_SIZE], struct hf_error *error);

/* What a template's {words} stand for; NULL: not known here. */
struct hf_key_words {
    const char *command_path; /* {command path}: absolute, cleaned */
    const char *line_hash;    /* of a shell line: put behind the path as one
                                 more segment "line-HASH"; NULL for none */
    const char *user;         /* {user}: the numeric user id */
    const char *host;         /* {host} */
};

/* Is `template` well-formed? Errors: USAGE, with the place. */
enum hf_err hf_key_check_template(const char *template, struct hf_error *error);

/*
 * Fill a template. What the words stand for is percent-encoded, '/' of a path
 * excepted; a path that would be too long keeps its last part and gets a hash
 * of the whole. Errors: USAGE (a word not known, result no key).
 */
enum hf_err hf_key_expand(const char *template,
                          const struct hf_key_words *words,
                          char key[HF_KEY_SIZE], struct hf_error *error);

/* 64-bit FNV-1a as 16 hex digits: short names for long things, no secret. */
void hf_key_hash(const void *bytes, size_t size, char to[17]);

#endif
