/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches: long polls of the history, woken by writers (sqlite_wake.h) and, as
 * a net, by a look about once a second. For sqlite.c alone.
 */
#ifndef HF_STORE_SQLITE_WATCH_H
#define HF_STORE_SQLITE_WATCH_H

#include "store/sqlite_store.h"

/* Answer it, or keep it until there is something to tell. */
void hf_sqlite_watch_submit(struct hf_sqlite *sq,
                            struct hf_store_request *request,
                            struct hf_time now);
/* Forget it; true if it was one that is out. */
bool hf_sqlite_watch_cancel(struct hf_sqlite *sq,
                            const struct hf_store_request *request);
/* Look after all that are out, if it is time or somebody woke us. */
void hf_sqlite_watch_poll(struct hf_sqlite *sq, struct hf_time now);
/* The FIFO is gone: whoever is out is registered anew when next looked at. */
void hf_sqlite_watch_unregistered(struct hf_sqlite *sq);
void hf_sqlite_watch_forget_all(struct hf_sqlite *sq);
/* The epoll descriptor for `fd`, made when first asked for; -1: cannot. */
int hf_sqlite_watch_fd(struct hf_sqlite *sq);

#endif
