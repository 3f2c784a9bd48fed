/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock service as one object: the core pumped over a store. lockrun embeds
 * one over the embedded store, an arbiter serves one, the simulator runs
 * many. Single-threaded; never calls back; same shape as a store.
 */
#ifndef HF_SERVICE_SERVICE_H
#define HF_SERVICE_SERVICE_H

#include "core/core.h"
#include "core/request.h"
#include "store/store.h"

struct hf_service;

/*
 * The store passes to the service, which closes it; `classes` is borrowed.
 * NULL when memory ran out (the store is then still the caller's).
 */
struct hf_service *hf_service_new(struct hf_store *store,
                                  const struct hf_core_classes *classes,
                                  const struct hf_core_options *options);
/* Always takes the request; what is wrong comes back in its answer. */
void hf_service_submit(struct hf_service *service, struct hf_request *request,
                       struct hf_time now, struct hf_wall wall);
/* The request is not touched any more; what it may have got is released. */
void hf_service_cancel(struct hf_service *service, struct hf_request *request,
                       struct hf_time now, struct hf_wall wall);
/* An answered request, or NULL. Pumps the store. */
struct hf_request *hf_service_next(struct hf_service *service,
                                   struct hf_time now, struct hf_wall wall);
int hf_service_fd(const struct hf_service *service);
struct hf_time hf_service_wake_at(const struct hf_service *service);
/* Operations under way, cancelled ones that still clean up among them. */
bool hf_service_is_busy(const struct hf_service *service);
struct hf_store *hf_service_store(struct hf_service *service);
void hf_service_close(struct hf_service *service);
/* As close, by a process that ends next; see the store's `end`. */
void hf_service_end(struct hf_service *service);

#endif
