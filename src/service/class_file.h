/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One class file: bytes in, class out. Pure; opens nothing (classes.h does). A
 * field that nothing in this version obeys is refused with a sentence that says
 * so, never read and ignored.
 */
#ifndef HF_SERVICE_CLASS_FILE_H
#define HF_SERVICE_CLASS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/class.h"

enum hf_class_field_kind {
    HF_CLASS_FIELD_SPAN,     /* int64_t of milliseconds, least to most */
    HF_CLASS_FIELD_CHOICE,   /* one of `values`; bool: which of two */
    HF_CLASS_FIELD_FIXED,    /* `values` is the one thing that can be */
    HF_CLASS_FIELD_TEMPLATE, /* of keys */
    HF_CLASS_FIELD_LATER     /* known, but nothing in this version obeys it */
};

/* A row of class_file.def. */
struct hf_class_field {
    const char *path; /* "mode", or "ttl.min": `min` within `ttl` */
    enum hf_class_field_kind kind;
    size_t offset; /* in struct hf_class: SPAN, CHOICE, TEMPLATE */
    int64_t least;
    int64_t most;
    const char *values;   /* words with a blank between */
    const char *later;    /* values that nothing obeys yet */
    const char *standard; /* without the field; NULL: see `sentence` */
    const char *sentence; /* what it means */
};

/* Ended by a row without a path. */
extern const struct hf_class_field hf_class_fields[];

/*
 * Read the class `name` out of `size` bytes that came from `file` (a name for
 * messages). Errors: USAGE (the name), CONFIG ("FILE:LINE:COLUMN: ..."), NOMEM;
 * *class is then untouched.
 */
enum hf_err hf_class_parse(const char *name, const char *file,
                           const char *bytes, size_t size,
                           struct hf_class *class, struct hf_error *error);

/* Append the field's value in `class` as a class file would say it, "none"
 * where it has none. Not for LATER. Errors: of the buffer. */
enum hf_err hf_class_field_print(const struct hf_class_field *field,
                                 const struct hf_class *class,
                                 struct hf_buf *to);

#endif
