/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether a store is a fence: tries on objects of its own what the
 * fence depends on, one case of s3_probe.def after the other. Used by
 * `lockfence s3 probe`. Starts processes (for writers at the same moment) and
 * waits for them; they use the network alone.
 */
#ifndef HF_FENCE_S3_PROBE_H
#define HF_FENCE_S3_PROBE_H

#include "fence/s3.h"

enum hf_s3_probe_case {
#define HF_PROBE(name, word, wanted, meaning) HF_S3_PROBE_##name,
#include "fence/s3_probe.def"
#undef HF_PROBE
    HF_S3_PROBE_COUNT
};

enum hf_s3_probe_result {
    HF_S3_PROBE_NOT_TRIED,
    HF_S3_PROBE_PASSED,
    HF_S3_PROBE_FAILED
};

struct hf_s3_probe {
    enum hf_s3_probe_result results[HF_S3_PROBE_COUNT];
    /* Same bytes, other mark, same ETag: as nearly everywhere. See --stamp. */
    bool etag_is_of_bytes_alone;
};

const char *hf_s3_probe_word(enum hf_s3_probe_case which);
const char *hf_s3_probe_wanted(enum hf_s3_probe_case which);

/*
 * Probe under `folder`: objects FOLDER.lockfence-probe-..., which are deleted
 * again. Errors: UNFENCED: a case failed (the first one is in the sentence, all
 * that were tried in *probe); whatever keeps the probe from being made:
 * DENIED, UNAVAILABLE, CONFIG, REJECTED, NOMEM.
 */
enum hf_err hf_s3_probe_run(struct hf_s3 *s3, const struct hf_s3_config *config,
                            const char *user_agent,
                            const struct hf_s3_name *folder,
                            struct hf_s3_probe *probe, struct hf_error *error);

#endif
