/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a file is beside its bytes: owner, mode, extended attributes (ACLs and
 * labels are among them), put on the one that takes its place. Inside of the
 * file fence.
 */
#ifndef HF_FENCE_FILE_ATTR_H
#define HF_FENCE_FILE_ATTR_H

#include "base/err.h"
#include "base/sys.h"
#include "fence/file_place.h"

/*
 * Make `to` like the file at `place`. Errors: DENIED, UNAVAILABLE, NOSPACE with
 * a sentence that names what could not be kept; NOMEM.
 */
enum hf_err hf_fence_attr_copy(const struct hf_fence_place *place,
                               struct hf_sys *sys, int to,
                               struct hf_error *error);

#endif
