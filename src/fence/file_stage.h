/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New contents before anybody may see them: a file without a name in the same
 * folder, gone with this process whatever ends it; it is .NAME.fence.new for
 * the moment between its naming and its renaming. Where the file system has
 * none of that kind (overlay before Linux 6.6), one named .NAME.fence.new-HEX,
 * locked while its maker lives, so that the next writer knows what was left
 * over. Inside of the file fence.
 */
#ifndef HF_FENCE_FILE_STAGE_H
#define HF_FENCE_FILE_STAGE_H

#include "base/err.h"
#include "base/sys.h"
#include "fence/file_place.h"

struct hf_fence_stage {
    int fd;                  /* -1: nothing is staged */
    uint64_t size;           /* bytes */
    bool is_named;           /* from the start */
    char name[NAME_MAX + 1]; /* "": it has none now */
};

/* Errors: NOSPACE, DENIED, UNAVAILABLE, USAGE (name too long). */
enum hf_err hf_fence_stage_open(struct hf_fence_stage *stage,
                                const struct hf_fence_place *place,
                                struct hf_sys *sys, struct hf_error *error);

/* Take `input` up to its end. Errors: REJECTED (it cannot be read), NOSPACE,
 * UNAVAILABLE, NOMEM. */
enum hf_err hf_fence_stage_fill(struct hf_fence_stage *stage,
                                const struct hf_fence_place *place,
                                struct hf_sys *sys, int input,
                                struct hf_error *error);

/*
 * Put it in the file's place: one rename(2). The caller holds the mark's lock,
 * and has swept. 0 or -errno.
 */
int hf_fence_stage_show(struct hf_fence_stage *stage,
                        const struct hf_fence_place *place, struct hf_sys *sys);

/* Give up what is staged, if anything. */
void hf_fence_stage_clear(struct hf_fence_stage *stage,
                          const struct hf_fence_place *place,
                          struct hf_sys *sys);

/*
 * Remove what writers that are gone have left beside the file. The caller
 * holds the mark's lock. What cannot be removed stays: it hurts nobody.
 */
void hf_fence_stage_sweep(const struct hf_fence_stage *stage,
                          const struct hf_fence_place *place,
                          struct hf_sys *sys);

/* The mode of a file that is new. 0 or -errno. */
int hf_fence_stage_set_mode(const struct hf_fence_stage *stage,
                            struct hf_sys *sys);

#endif
