/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question to a lock service outside of any session, and its answer.
 */
#ifndef LOCKRUN_ASK_H
#define LOCKRUN_ASK_H

#include "base/sys.h"
#include "client/local.h"
#include "client/transport.h"

/*
 * Submit and wait for the answer, which the caller clears. Blocks. Errors: that
 * of the answer (FAILED).
 */
enum hf_err ask(struct hf_transport *transport, struct hf_request *request,
                struct hf_sys *sys);

/*
 * All who hold `key` or wait for it, in request->infos: none if the store does
 * not answer. Opens it anew. The caller clears *request.
 */
void ask_who_has(const struct hf_local_options *store, const char *key,
                 struct hf_sys *sys, struct hf_request *request);

#endif
