/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/descriptors.h"

#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum { FD_USUAL_MAX = 4096 };

/* A kernel before 5.9 has no call for it; then only what has a usual number. */
static void close_from_to(unsigned int first, unsigned int last)
{
    if (first > last || !close_range(first, last, 0))
        return;
    for (unsigned int fd = first; fd <= last && fd <= FD_USUAL_MAX; fd++)
        close((int)fd);
}

static void sort(int *numbers, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t j = i; j > 0 && numbers[j - 1] > numbers[j]; j--) {
            int former = numbers[j];

            numbers[j] = numbers[j - 1];
            numbers[j - 1] = former;
        }
    }
}

void descriptors_close_all_but(const int *kept, size_t count)
{
    int sorted[DESCRIPTORS_KEPT_MAX];
    unsigned int from = 0;

    hf_assert(count <= DESCRIPTORS_KEPT_MAX);
    memcpy(sorted, kept, count * sizeof(*kept));
    sort(sorted, count);
    for (size_t i = 0; i < count; i++) {
        if (sorted[i] < 0)
            continue;
        if (sorted[i] > 0)
            close_from_to(from, (unsigned int)sorted[i] - 1);
        from = (unsigned int)sorted[i] + 1;
    }
    close_from_to(from, ~0U);
}
