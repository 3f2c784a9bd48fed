/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `lockrun --watch`: while it waits, tells who holds the key: at the start,
 * when that changes, and every minute. Looks with a handle of its own,
 * read-only, once a second, because a person is looking too.
 */
#ifndef LOCKRUN_WATCH_H
#define LOCKRUN_WATCH_H

#include "base/sys.h"
#include "client/local.h"
#include "cmd/lockrun/say.h"
#include "core/request.h"

struct watch {
    struct hf_transport *transport; /* NULL: there is nothing to watch */
    struct hf_time next_at;
    struct hf_time tell_at;
    uint8_t grant[HF_GRANT_ID_SIZE]; /* of whom it told last */
};

/* Errors: those of hf_local_open. */
enum hf_err watch_start(struct watch *watch, struct hf_sys *sys,
                        const struct hf_local_options *store,
                        struct hf_error *error);
/* NEVER once it is over, or never began. */
struct hf_time watch_wake_at(const struct watch *watch);
/* Look and tell, if that is due. */
void watch_tick(struct watch *watch, const char *key, struct hf_sys *sys,
                const struct say *say);
void watch_stop(struct watch *watch);

#endif
