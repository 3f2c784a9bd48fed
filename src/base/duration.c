/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

struct unit {
    const char *name;
    int64_t ns;
};

/* From the larger to the smaller, the order in which they may be written. */
static const struct unit units[] = {
    {"d", 86400 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {"m", 60 * NS_PER_S},
    {"s", NS_PER_S},         {"ms", 1000000},
};

enum { UNITS = sizeof(units) / sizeof(units[0]), SECONDS = 3 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A decimal number: its whole part, and where the fraction's digits are. */
struct number {
    int64_t whole;
    const char *fraction;
    size_t fraction_digits;
};

/* Read a number at *at and go past it; false when there is none, or too large.
 */
static bool read_number(const char **at, struct number *number)
{
    const char *c = *at;
    size_t digits;

    number->whole = 0;
    number->fraction = c;
    for (; is_digit(*c); c++) {
        if (__builtin_mul_overflow(number->whole, 10, &number->whole) ||
            __builtin_add_overflow(number->whole, *c - '0', &number->whole))
            return false;
    }
    digits = (size_t)(c - *at);
    number->fraction_digits = 0;
    if (*c == '.') {
        number->fraction = ++c;
        while (is_digit(*c))
            c++;
        number->fraction_digits = (size_t)(c - number->fraction);
    }
    *at = c;
    return digits + number->fraction_digits > 0;
}

/*
 * The fraction of a unit, rounded up. From the last digit to the first, each
 * step divides by ten: a floor of floors is the floor of the whole, and any
 * remainder on the way means that it is not exact.
 */
static int64_t fraction_ns(const struct number *number, int64_t unit_ns)
{
    int64_t ns = 0;
    bool has_more = false;

    for (size_t i = number->fraction_digits; i > 0; i--) {
        ns += (number->fraction[i - 1] - '0') * unit_ns;
        has_more |= ns % 10 != 0;
        ns /= 10;
    }
    return ns + has_more;
}

/* The unit at *at, of those from `first` on; UNITS when there is none. */
static size_t read_unit(const char **at, size_t first)
{
    size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyz");

    for (size_t i = first; i < UNITS; i++) {
        if (strlen(units[i].name) == length &&
            strncmp(units[i].name, *at, length) == 0) {
            *at += length;
            return i;
        }
    }
    return UNITS;
}

enum verdict { RIGHT, MALFORMED, TOO_LONG };

/* Read one number and its unit at *at, and add them to *sum. */
static enum verdict read_part(const char **at, bool is_first, size_t *next_unit,
                              int64_t *sum)
{
    struct number number;
    size_t unit = SECONDS;
    int64_t ns;

    if (!is_digit(**at) && **at != '.')
        return MALFORMED;
    if (!read_number(at, &number))
        return is_digit(**at) ? TOO_LONG : MALFORMED;
    /* A number without a unit is seconds, but only by itself. */
    if (**at || !is_first)
        unit = read_unit(at, *next_unit);
    if (unit == UNITS)
        return MALFORMED;
    *next_unit = unit + 1;
    if (__builtin_mul_overflow(number.whole, units[unit].ns, &ns) ||
        __builtin_add_overflow(ns, fraction_ns(&number, units[unit].ns), &ns) ||
        __builtin_add_overflow(*sum, ns, sum) || *sum == INT64_MAX)
        return TOO_LONG;
    return RIGHT;
}

enum hf_err hf_duration_parse(const char *text, struct hf_span *span,
                              struct hf_error *error)
{
    const char *at = text;
    size_t next_unit = 0;
    int64_t sum = 0;
    enum verdict verdict;

    do {
        verdict = read_part(&at, at == text, &next_unit, &sum);
    } while (verdict == RIGHT && *at);
    if (verdict == TOO_LONG)
        return hf_error_set(error, HF_ERR_USAGE,
                            "\"%.64s\" is too long a time: 292 years are the "
                            "most",
                            text);
    if (verdict == MALFORMED)
        return hf_error_set(error, HF_ERR_USAGE,
                            "\"%.64s\" is no length of time: write it as 90, "
                            "1.5s, 500ms, 1h30m, 2h or 1d",
                            text);
    span->ns = sum;
    return HF_ERR_OK;
}

struct hf_duration_text hf_duration_print(struct hf_span span)
{
    struct hf_duration_text out = {"forever"};
    uint64_t rest = span.ns < 0 ? -(uint64_t)span.ns : (uint64_t)span.ns;
    size_t used = 0;
    uint64_t fraction;

    if (span.ns == INT64_MAX)
        return out;
    if (span.ns < 0)
        out.text[used++] = '-';
    out.text[used] = '\0';
    if (rest > 0 && rest < (uint64_t)NS_PER_S && rest % 1000000 == 0) {
        snprintf(out.text + used, sizeof(out.text) - used, "%" PRIu64 "ms",
                 rest / 1000000);
        return out;
    }
    for (size_t i = 0; i < SECONDS; i++) {
        uint64_t whole = rest / (uint64_t)units[i].ns;

        rest %= (uint64_t)units[i].ns;
        if (whole > 0)
            used += (size_t)snprintf(out.text + used, sizeof(out.text) - used,
                                     "%" PRIu64 "%s", whole, units[i].name);
    }
    if (rest == 0 && used > (span.ns < 0 ? 1 : 0))
        return out;
    used += (size_t)snprintf(out.text + used, sizeof(out.text) - used,
                             "%" PRIu64, rest / (uint64_t)NS_PER_S);
    fraction = rest % (uint64_t)NS_PER_S;
    if (fraction > 0) {
        used += (size_t)snprintf(out.text + used, sizeof(out.text) - used,
                                 ".%09" PRIu64, fraction);
        while (out.text[used - 1] == '0')
            used--;
    }
    snprintf(out.text + used, sizeof(out.text) - used, "s");
    return out;
}
