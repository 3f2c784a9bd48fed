/* SPDX-License-Identifier: Apache-2.0 */
/* Configured --without-readline: no editing. */
#include "cmd/lockctl/line.h"

bool line_begin(line_offer_fn *offer, void *with)
{
    (void)offer;
    (void)with;
    return false;
}

char *line_read(const char *prompt)
{
    return line_plain(prompt);
}

void line_remember(const char *line)
{
    (void)line;
}
