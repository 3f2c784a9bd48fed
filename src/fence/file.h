/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fence of a file: it is replaced in one step, or appended to, under a mark
 * kept beside it, and only by a token that is not below the mark. Not for files
 * that somebody writes in place without asking. Called by lockfence file.
 *
 * The order of things, under an exclusive flock(2) of the mark: judge, make the
 * new contents durable, raise the mark and make that durable, rename, make the
 * folder durable. So whatever moment a process or the power ends, the file is
 * the old or the new one, and the mark is never behind it. What the next writer
 * finds half done (an append that was cut short, a name left over) it puts
 * right first. docs/internals/file-fence.md has the format and the reasons.
 */
#ifndef HF_FENCE_FILE_H
#define HF_FENCE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sys.h"
#include "fence/file_mark.h"
#include "fence/file_place.h"
#include "fence/file_stage.h"
#include "fence/rule.h"

/*
 * A file to be written: where it is, and what is to go there. All members are
 * file.c's own. The caller's memory, some 10 KiB.
 */
struct hf_fence_file {
    struct hf_sys *sys;
    struct hf_fence_place place;
    struct hf_fence_stage stage;
};

/*
 * Find the file behind `path` and what speaks against fencing it: a kind of
 * file, a second name, a file system, missing rights. `force` accepts any file
 * system. Errors: USAGE, UNFENCED, DENIED, UNAVAILABLE, NOMEM. Clear it in any
 * case.
 */
enum hf_err hf_fence_file_open(struct hf_fence_file *file, struct hf_sys *sys,
                               const char *path, bool force,
                               struct hf_error *error);
void hf_fence_file_clear(struct hf_fence_file *file);

/*
 * Would the claim be taken now? Writes nothing, waits for nobody. Errors: those
 * of hf_fence_check, DAMAGED, DENIED, UNAVAILABLE.
 */
enum hf_err hf_fence_file_ask(struct hf_fence_file *file,
                              const struct hf_fence_claim *claim,
                              struct hf_error *error);

/*
 * Take the new contents from `input` up to its end; nobody sees them yet.
 * `size` is how many bytes there must be, below 0: any number. Blocks as the
 * input does. Errors: REJECTED (input fails or has another size), NOSPACE,
 * DENIED, UNAVAILABLE, NOMEM.
 */
enum hf_err hf_fence_file_stage(struct hf_fence_file *file, int input,
                                int64_t size, struct hf_error *error);

/*
 * Judge the claim for good, and put what was staged in the file's place, or
 * behind its end. Waits at most a minute for another writer. Errors: those of
 * hf_fence_check, DAMAGED, NOSPACE, DENIED, UNFENCED, UNAVAILABLE, NOMEM:
 * nothing was changed but, perhaps, the mark raised; UNSETTLED: it is done, but
 * whether it outlives a power cut is not known.
 */
enum hf_err hf_fence_file_replace(struct hf_fence_file *file,
                                  const struct hf_fence_claim *claim,
                                  struct hf_error *error);
enum hf_err hf_fence_file_append(struct hf_fence_file *file,
                                 const struct hf_fence_claim *claim,
                                 struct hf_error *error);

/* What `lockfence file status` shows. */
struct hf_fence_file_status {
    char path[PATH_MAX]; /* the file itself, links followed */
    bool exists;
    bool has_mark;
    struct hf_fence_file_mark mark;
    bool is_other; /* the file is not the one that the fence put there */
    bool is_cut;   /* an append was cut short; the next write repairs it */
};

/* Errors: as hf_fence_file_ask, and USAGE, UNFENCED as hf_fence_file_open. */
enum hf_err hf_fence_file_look(struct hf_sys *sys, const char *path,
                               struct hf_fence_file_status *status,
                               struct hf_error *error);

#endif
