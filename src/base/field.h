/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of fields: how a C struct is written as one JSON object and read back,
 * strictly. The one way in which Holdfast writes or reads JSON objects of its
 * own: store records, requests on the wire, events, `--json`. Not a general
 * JSON library (base/json.h has the document writer). Everybody may use it.
 */
#ifndef HF_BASE_FIELD_H
#define HF_BASE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum hf_field_kind {
    HF_FIELD_TEXT,    /* char[size], NUL-terminated; UTF-8 on the outside */
    HF_FIELD_HEX,     /* uint8_t[size], as 2*size lower-case hex digits */
    HF_FIELD_U32,     /* uint32_t, as a number */
    HF_FIELD_U64,     /* uint64_t up to INT64_MAX, as a number */
    HF_FIELD_I64,     /* int64_t, as a number */
    HF_FIELD_BOOL,    /* bool */
    HF_FIELD_ENUM,    /* int, as one of `names` (ended by NULL) */
    HF_FIELD_DECIMAL, /* uint64_t as a decimal string, safe beyond 2^53 */
};

enum hf_field_need {
    HF_FIELD_ALWAYS,   /* written always, an error when missing */
    HF_FIELD_OPTIONAL, /* left out when zero or empty, zero when missing */
};

struct hf_field {
    const char *name; /* NULL ends a table */
    enum hf_field_kind kind;
    enum hf_field_need need;
    size_t offset;
    size_t size;              /* TEXT, HEX: bytes in the struct */
    const char *const *names; /* ENUM */
};

#define HF_FIELD(type, member, kind_, need_)                                   \
    {                                                                          \
        .name = #member, .kind = HF_FIELD_##kind_, .need = HF_FIELD_##need_,   \
        .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)  \
    }
#define HF_FIELD_NAMES(type, member, need_, names_)                            \
    {                                                                          \
        .name = #member, .kind = HF_FIELD_ENUM, .need = HF_FIELD_##need_,      \
        .offset = offsetof(type, member), .size = sizeof(((type *)0)->member), \
        .names = names_                                                        \
    }
#define HF_FIELD_END                                                           \
    {                                                                          \
        .name = NULL                                                           \
    }

/*
 * Has a row the size that its kind asks for, a name that needs no escape, and
 * names where its kind wants them? The two functions below assert it.
 */
bool hf_field_is_sound(const struct hf_field *field);

/*
 * Append `record` to `to` as one JSON object, no line end. Text that is not
 * UTF-8 or has control characters is written escaped (\u00XX for a byte that
 * is no UTF-8); what would not fit when it is read back is cut off, which only
 * such bytes can make happen: whatever was written can be read. Allocates only
 * what `to` needs. Errors: NOMEM, USAGE (limit of `to`), INTERNAL (an enum out
 * of range, a text without its end, a number beyond INT64_MAX): then what was
 * appended is half an object.
 */
enum hf_err hf_field_encode(const struct hf_field *fields, const void *record,
                            struct hf_buf *to);

/*
 * Read one JSON object into `record`. The members that `fields` names are
 * zeroed first, and are zero after an error; others are left alone. Strict:
 * unknown or doubled members, wrong kinds, numbers out of range, text that does
 * not fit, NUL in text, missing members, anything behind the object, more than
 * `HF_FIELD_BYTES_MAX` bytes, depth beyond `HF_FIELD_DEPTH_MAX`: USAGE with a
 * sentence that names the member. Fields unknown to this version are an error
 * on purpose: each record carries a version, judged by its reader. NOMEM:
 * memory ran out. Lives in a file of its own (field_decode.c): who only writes
 * links no parser.
 */
enum { HF_FIELD_BYTES_MAX = 65536, HF_FIELD_DEPTH_MAX = 4 };
enum hf_err hf_field_decode(const struct hf_field *fields, const char *text,
                            size_t size, void *record, struct hf_error *error);

#endif
