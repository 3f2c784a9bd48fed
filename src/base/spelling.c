/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spelling.h"

#include <string.h>

enum { WORD_MAX = 63 };

static unsigned int least(unsigned int a, unsigned int b)
{
    return a < b ? a : b;
}

/* The table of the textbook, three rows of it at a time. */
static unsigned int distance(const char *a, size_t a_size, const char *b,
                             size_t b_size, unsigned int limit)
{
    unsigned int rows[3][WORD_MAX + 1];
    unsigned int *before_last = rows[0];
    unsigned int *last = rows[1];
    unsigned int *row = rows[2];

    if (a_size > WORD_MAX || b_size > WORD_MAX)
        return limit + 1;
    for (size_t j = 0; j <= b_size; j++)
        last[j] = (unsigned int)j;
    for (size_t i = 1; i <= a_size; i++) {
        unsigned int *free_row = before_last;

        row[0] = (unsigned int)i;
        for (size_t j = 1; j <= b_size; j++) {
            row[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]),
                           least(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before_last[j - 2] + 1);
        }
        before_last = last;
        last = row;
        row = free_row;
    }
    return least(last[b_size], limit + 1);
}

unsigned int hf_spelling_distance(const char *a, const char *b,
                                  unsigned int limit)
{
    return distance(a, strlen(a), b, strlen(b), limit);
}

void hf_spelling_begin(struct hf_spelling *spelling, const char *word)
{
    size_t near = strlen(word) / 3;

    if (near < 1)
        near = 1;
    if (near > 3)
        near = 3;
    *spelling =
        (struct hf_spelling){.word = word, .distance = (unsigned int)near + 1};
}

void hf_spelling_offer_bytes(struct hf_spelling *spelling, const char *known,
                             size_t size)
{
    unsigned int found = distance(spelling->word, strlen(spelling->word), known,
                                  size, spelling->distance);

    if (found < spelling->distance) {
        spelling->distance = found;
        spelling->best = known;
        spelling->best_size = size;
    }
}

void hf_spelling_offer(struct hf_spelling *spelling, const char *known)
{
    hf_spelling_offer_bytes(spelling, known, strlen(known));
}
