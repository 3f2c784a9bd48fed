/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "Did you mean ...?": the word of a list that is nearest to a misspelt one.
 * Everybody may use it.
 *
 *     hf_spelling_begin(&spelling, "tttl");
 *     for (each known word)
 *         hf_spelling_offer(&spelling, word);
 *     if (spelling.best)
 *         ... "did you mean spelling.best?"
 */
#ifndef HF_BASE_SPELLING_H
#define HF_BASE_SPELLING_H

#include <stddef.h>

/*
 * How many letters must be put in, left out, replaced or swapped with their
 * neighbour to turn `a` into `b`; `limit` + 1 when there are more. Words of
 * more than 63 bytes are never near.
 */
unsigned int hf_spelling_distance(const char *a, const char *b,
                                  unsigned int limit);

struct hf_spelling {
    const char *word;
    const char *best; /* of those offered, the first of equals; or NULL */
    size_t best_size;
    unsigned int distance; /* its distance is below this */
};

/* Near is: a third of the word's letters, at least one, at most three. */
void hf_spelling_begin(struct hf_spelling *spelling, const char *word);
void hf_spelling_offer(struct hf_spelling *spelling, const char *known);
/* The same for a word that ends after `size` bytes: so does `best` then. */
void hf_spelling_offer_bytes(struct hf_spelling *spelling, const char *known,
                             size_t size);

#endif
