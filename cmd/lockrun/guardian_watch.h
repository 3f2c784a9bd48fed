/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guardian does, in its own process (see guardian.h): makes the
 * command, leaves everything that is the caller's, and watches.
 */
#ifndef LOCKRUN_GUARDIAN_WATCH_H
#define LOCKRUN_GUARDIAN_WATCH_H

#include "cmd/lockrun/guardian.h"
#include "cmd/lockrun/guardian_page.h"

/* In a child of lockrun, which `lockrun` is; ends that child. */
void guardian_watch(struct guardian_page *page,
                    const struct guardian_orders *orders,
                    const struct spawn *spawn, struct tree *tree, pid_t lockrun)
    __attribute__((noreturn));

#endif
