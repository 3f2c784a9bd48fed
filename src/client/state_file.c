/* SPDX-License-Identifier: Apache-2.0 */
#include "client/state_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"

/* Room in the session file (HF_STORE_STATE_BYTES of the store's contract). */
enum { STATE_BYTES = 512, TRIES = 8, HEX_64 = 16 };

static const char *const state_words[] = {
    [HF_STATE_HELD] = "held",
    [HF_STATE_DOUBT] = "doubt",
    [HF_STATE_LOST] = "lost",
    [HF_STATE_OVER] = "over",
};
enum { STATE_COUNT = sizeof(state_words) / sizeof(state_words[0]) };

/* 64-bit FNV-1a: tells a torn read from a whole one, and is a loop of two steps
 * in any language. */
static uint64_t check_of(const char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++) {
        hash ^= (uint8_t)bytes[i];
        hash *= UINT64_C(0x100000001b3);
    }
    return hash;
}

enum hf_err hf_state_file_write(struct hf_sys *sys, int fd,
                                const struct hf_state_file *state,
                                struct hf_error *error)
{
    char text[STATE_BYTES + 1];
    char boot[2 * HF_BOOT_ID_SIZE + 1];
    ssize_t put;
    int size;

    hf_assert((unsigned int)state->state < STATE_COUNT);
    hf_hex(state->boot_id, HF_BOOT_ID_SIZE, boot);
    /* The steady clock begins at 0: what lies before it is as good as 0. */
    size = snprintf(text, sizeof(text),
                    "holdfast 1\nstate %s\ntoken %" PRIu64 "\ndeadline %" PRId64
                    "\nboot %s\n",
                    state_words[state->state], state->token,
                    state->deadline.ns < 0 ? 0 : state->deadline.ns, boot);
    size += snprintf(text + size, sizeof(text) - (size_t)size,
                     "check %016" PRIx64 "\n", check_of(text, (size_t)size));
    memset(text + size, '\n', STATE_BYTES - (size_t)size);
    put = sys->pwrite(sys, fd, text, STATE_BYTES, 0);
    if (put < 0)
        return hf_error_set_errno(
            error, put == -ENOSPC ? HF_ERR_NOSPACE : HF_ERR_UNAVAILABLE,
            (int)-put, "writing the state of the lease");
    return HF_ERR_OK;
}

/* ---- reading ------------------------------------------------------------- */

/* What is still unread. */
struct cursor {
    const char *next;
    const char *end;
};

/* Step over `word`; false when something else stands there. */
static bool take_word(struct cursor *at, const char *word)
{
    size_t size = strlen(word);

    if ((size_t)(at->end - at->next) < size || memcmp(at->next, word, size))
        return false;
    at->next += size;
    return true;
}

/* Digits up to the end of the line, no leading zero, at most `most`. */
static bool take_decimal(struct cursor *at, uint64_t most, uint64_t *number)
{
    const char *first = at->next;
    uint64_t value = 0;

    for (; at->next < at->end && *at->next >= '0' && *at->next <= '9';
         at->next++) {
        uint64_t digit = (uint64_t)(*at->next - '0');

        if (value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (at->next == first || (*first == '0' && at->next - first > 1))
        return false;
    *number = value;
    return take_word(at, "\n");
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `size` bytes as hex digits, then the end of the line. */
static bool take_hex(struct cursor *at, uint8_t *to, size_t size)
{
    for (size_t i = 0; i < 2 * size; i++, at->next++) {
        int digit = at->next < at->end ? hex_digit(*at->next) : -1;

        if (digit < 0)
            return false;
        to[i / 2] = (uint8_t)(i % 2 ? to[i / 2] | digit : digit << 4);
    }
    return take_word(at, "\n");
}

static bool take_state(struct cursor *at, enum hf_state *state)
{
    for (unsigned int i = 0; i < STATE_COUNT; i++) {
        struct cursor ahead = *at;

        if (take_word(&ahead, state_words[i]) && take_word(&ahead, "\n")) {
            *at = ahead;
            *state = (enum hf_state)i;
            return true;
        }
    }
    return false;
}

static bool parse(const char *text, struct hf_state_file *state)
{
    struct cursor at = {text, text + STATE_BYTES};
    uint64_t deadline;
    uint8_t check[HEX_64 / 2];
    uint64_t told = 0;
    size_t covered;

    if (!take_word(&at, "holdfast 1\nstate ") ||
        !take_state(&at, &state->state) || !take_word(&at, "token ") ||
        !take_decimal(&at, INT64_MAX, &state->token) ||
        !take_word(&at, "deadline ") ||
        !take_decimal(&at, INT64_MAX, &deadline) || !take_word(&at, "boot ") ||
        !take_hex(&at, state->boot_id, sizeof(state->boot_id)))
        return false;
    covered = (size_t)(at.next - text);
    if (!take_word(&at, "check ") || !take_hex(&at, check, sizeof(check)))
        return false;
    for (size_t i = 0; i < sizeof(check); i++)
        told = told << 8 | check[i];
    while (at.next < at.end && *at.next == '\n')
        at.next++;
    state->deadline.ns = (int64_t)deadline;
    return at.next == at.end && told == check_of(text, covered);
}

enum hf_err hf_state_file_read(struct hf_sys *sys, int fd,
                               struct hf_state_file *state,
                               struct hf_error *error)
{
    char text[STATE_BYTES];
    struct hf_state_file found;

    for (int i = 0; i < TRIES; i++) {
        ssize_t got = sys->pread(sys, fd, text, sizeof(text), 0);

        if (got < 0)
            return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, (int)-got,
                                      "reading the state of the lease");
        if ((size_t)got < sizeof(text))
            continue;
        if (parse(text, &found)) {
            *state = found;
            return HF_ERR_OK;
        }
    }
    return hf_error_set(error, HF_ERR_DAMAGED,
                        "the state of the lease is not of the documented form "
                        "(it begins with \"holdfast 1\", 512 bytes)");
}
