/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark of a file: .NAME.fence in the same folder, which is also what
 * writers lock. Two places of 1024 bytes, written by turns, each one line: a
 * checksum and a JSON object; the place with the higher turn counts. So a write
 * that the power cut tears leaves the mark before it. Inside of the file fence;
 * format in docs/internals/file-fence.md.
 */
#ifndef HF_FENCE_FILE_MARK_H
#define HF_FENCE_FILE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sys.h"
#include "fence/file_place.h"
#include "fence/rule.h"

enum { HF_FENCE_MARK_NAME_MAX = 255 };

/* What the mark of a file holds. */
struct hf_fence_file_mark {
    uint32_t version; /* 1 */
    uint64_t turn;    /* 0: nothing was ever written */
    struct hf_fence_mark mark;
    uint64_t inode; /* of the file that was put there */
    /* An append is under way: the file's sizes before and after. */
    bool is_appending;
    uint64_t append_from;
    uint64_t append_to;
    int64_t wall_ms; /* of the last write, for people */
};

/* ".NAME.fence", and what follows it for other names beside the file ("" for
 * the mark). USAGE: the name is too long for that, or is a mark's own. */
enum hf_err hf_fence_mark_name(const struct hf_fence_place *place,
                               const char *suffix,
                               char name[HF_FENCE_MARK_NAME_MAX + 1],
                               struct hf_error *error);

/*
 * Read the mark without a lock; turn is 0 when there is none. Errors: DAMAGED,
 * UNFENCED (something else bears its name), DENIED, UNAVAILABLE.
 */
enum hf_err hf_fence_mark_peek(const struct hf_fence_place *place,
                               struct hf_sys *sys,
                               struct hf_fence_file_mark *mark,
                               struct hf_error *error);

/*
 * Lock the mark for writing, made if it is not there, and read it. *fd is the
 * caller's, its lock goes with it. Waits at most a minute. Errors: the same,
 * and NOSPACE.
 */
enum hf_err hf_fence_mark_lock(const struct hf_fence_place *place,
                               struct hf_sys *sys, int *fd,
                               struct hf_fence_file_mark *mark,
                               struct hf_error *error);

/*
 * Write the mark with the next turn, and make it durable. Errors: NOSPACE,
 * UNAVAILABLE.
 */
enum hf_err hf_fence_mark_write(const struct hf_fence_place *place,
                                struct hf_sys *sys, int fd,
                                struct hf_fence_file_mark *mark,
                                struct hf_error *error);

#endif
