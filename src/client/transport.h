/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How requests reach a lock service: in this process (client/local.c) or, one
 * day, elsewhere. Same six functions as a store; see core/request.h for
 * ownership. Used by client/session.c and by tools that ask without a session.
 */
#ifndef HF_CLIENT_TRANSPORT_H
#define HF_CLIENT_TRANSPORT_H

#include "base/time.h"
#include "core/request.h"

struct hf_transport;

struct hf_transport_ops {
    void (*submit)(struct hf_transport *transport, struct hf_request *request,
                   struct hf_time now, struct hf_wall wall);
    /* The request is touched no more; what it may have got is given back. */
    void (*cancel)(struct hf_transport *transport, struct hf_request *request,
                   struct hf_time now, struct hf_wall wall);
    struct hf_request *(*next)(struct hf_transport *transport,
                               struct hf_time now, struct hf_wall wall);
    int (*fd)(struct hf_transport *transport);
    struct hf_time (*wake_at)(struct hf_transport *transport);
    void (*close)(struct hf_transport *transport);
    /* As close, by a process that ends next: what others see of it is given
     * back. Memory and descriptors are left to the kernel, which is quicker.
     * Only a test's transport, with which no process ends, may lack it. */
    void (*end)(struct hf_transport *transport);
};

/* First member of every transport. */
struct hf_transport {
    const struct hf_transport_ops *ops;
};

#endif
