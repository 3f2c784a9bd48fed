/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: one enum, one table (err.def), and the sentence for people that
 * travels beside them. Outcomes (granted, busy, unknown, lost) are values in an
 * answer, not errors. Everybody may use this file.
 */
#ifndef HF_BASE_ERR_H
#define HF_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>

enum hf_err {
#define HF_ERR(name, word, status, text) HF_ERR_##name,
#include "base/err.def"
#undef HF_ERR
    HF_ERR_COUNT
};

/* Longest sentence, its end included; longer ones are cut. */
enum { HF_ERROR_TEXT_MAX = 768 };

/* A code and its sentence: what went wrong, where, and what to do next. */
struct hf_error {
    enum hf_err code;
    char text[HF_ERROR_TEXT_MAX];
};

/* Exit status of a tool that ends with this error. */
int hf_err_status(enum hf_err code);
/* Name in lower case with '-' ("not-held"); static storage. */
const char *hf_err_name(enum hf_err code);
/* The table's sentence; static storage. */
const char *hf_err_text(enum hf_err code);

/*
 * Fill `error` (which may be NULL) and return `code`, so that a failing
 * function can end with `return hf_error_set(...)`. Control characters, marks
 * that change the direction of writing and bytes that are no UTF-8 are replaced
 * by '?' in the finished text. An argument may point into `error` itself.
 */
enum hf_err hf_error_set(struct hf_error *error, enum hf_err code,
                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, with ": " and the text of `errnum` behind it. */
enum hf_err hf_error_set_errno(struct hf_error *error, enum hf_err code,
                               int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/*
 * Put "what I was doing: " before the sentence; returns the code kept in it.
 * `error` must be there: without it the code would be lost.
 */
enum hf_err hf_error_wrap(struct hf_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * For the impossible, in release builds too: prints file, line and condition
 * on standard error and aborts. Never for input.
 */
#define hf_assert(condition)                                                   \
    ((condition) ? (void)0 : hf_assert_failed(__FILE__, __LINE__, #condition))
void hf_assert_failed(const char *file, int line, const char *condition)
    __attribute__((noreturn));

#endif
