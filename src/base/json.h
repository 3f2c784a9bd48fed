/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a JSON document into a buffer, piece by piece: what `--json` prints,
 * lists above all. Reads nothing; one record is written and read by
 * base/field.h, which stands on the two functions at the end. Everybody may
 * use it.
 *
 * A value in an object has a name, one in an array (and the document itself)
 * has NULL. Failures of the buffer are kept there: ask hf_json_end once. Wrong
 * nesting is the caller's fault and asserted. Whole documents of any reader:
 * no number here is larger than its C type, those that may pass 2^53 (tokens,
 * revisions) are written as strings by hf_json_decimal.
 */
#ifndef HF_BASE_JSON_H
#define HF_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { HF_JSON_DEPTH_MAX = 16 };

struct hf_json {
    struct hf_buf *to; /* borrowed */
    unsigned int depth;
    bool is_array[HF_JSON_DEPTH_MAX + 1];
    bool has_value[HF_JSON_DEPTH_MAX + 1];
};

void hf_json_begin(struct hf_json *json, struct hf_buf *to);
/* The document is whole: OK, or the buffer's failure (NOMEM, USAGE). */
enum hf_err hf_json_end(struct hf_json *json);

void hf_json_object(struct hf_json *json, const char *name);
void hf_json_object_end(struct hf_json *json);
void hf_json_array(struct hf_json *json, const char *name);
void hf_json_array_end(struct hf_json *json);

void hf_json_text(struct hf_json *json, const char *name, const char *text);
void hf_json_i64(struct hf_json *json, const char *name, int64_t number);
void hf_json_u64(struct hf_json *json, const char *name, uint64_t number);
void hf_json_decimal(struct hf_json *json, const char *name, uint64_t number);
void hf_json_bool(struct hf_json *json, const char *name, bool value);
void hf_json_null(struct hf_json *json, const char *name);
/*
 * The place of a value that the caller appends itself, as one whole JSON value
 * (hf_field_encode): writes what stands before it and returns the buffer.
 */
struct hf_buf *hf_json_value(struct hf_json *json, const char *name);

/* ---- pieces, without a document ---------------------------------------- */

/*
 * Append `text` as a JSON string. Control characters and marks that change the
 * direction of writing are escaped; a byte that is no UTF-8 becomes \u00XX.
 */
enum hf_err hf_json_add_string(struct hf_buf *to, const char *text,
                               size_t size);
/* Append a number in decimal digits. */
enum hf_err hf_json_add_u64(struct hf_buf *to, uint64_t number);
enum hf_err hf_json_add_i64(struct hf_buf *to, int64_t number);

#endif
