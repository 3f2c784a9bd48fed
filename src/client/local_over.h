/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local transport over any store: what hf_local_open builds once it has
 * opened the embedded one, and what tests build over a simulated one. Not for
 * tools (client/local.h).
 */
#ifndef HF_CLIENT_LOCAL_OVER_H
#define HF_CLIENT_LOCAL_OVER_H

#include "base/sys.h"
#include "client/transport.h"
#include "service/classes.h"
#include "service/service.h"
#include "store/store.h"

struct hf_local {
    struct hf_transport transport; /* first */
    struct hf_sys *sys;
    struct hf_service *service;
    struct hf_classes classes;
    /* Requests answered here, oldest first: their class could not be read. */
    struct hf_request *first;
    struct hf_request **end;
    char *folder; /* of the class files, or NULL: the compiled-in one */
    char *place;  /* of the database, or NULL */
};

/*
 * `store` passes to the transport, which closes it; texts are copied. With
 * read_only nothing is made that was not there, an epoch record neither. NULL:
 * no memory, the store is still the caller's.
 */
struct hf_transport *hf_local_over(struct hf_sys *sys, struct hf_store *store,
                                   const char *classes, const char *place,
                                   bool read_only);

#endif
