/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a file lies, once its links are followed: the folder, its own name
 * there, and whether a mark beside it can guard it. Inside of the file fence.
 */
#ifndef HF_FENCE_FILE_PLACE_H
#define HF_FENCE_FILE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/sys.h"

struct hf_fence_place {
    char path[PATH_MAX]; /* absolute, no links: for messages */
    int folder;          /* descriptor; -1: none */
    const char *name;    /* in the folder; the end of `path` */
    bool exists;
    struct stat stat; /* when it exists, as of the last look */
};

/*
 * Find it. A last name that does not exist is a new file; a link to nowhere is
 * refused. Errors: USAGE (no path of a file), UNFENCED (link to nowhere),
 * DENIED, UNAVAILABLE, NOMEM. Clear it in any case.
 */
enum hf_err hf_fence_place_find(struct hf_fence_place *place,
                                struct hf_sys *sys, const char *path,
                                struct hf_error *error);
void hf_fence_place_clear(struct hf_fence_place *place, struct hf_sys *sys);

/*
 * Look at the file as it is now. Errors: UNFENCED (no plain file, more than one
 * name, a mount point), UNAVAILABLE.
 */
enum hf_err hf_fence_place_look(struct hf_fence_place *place,
                                struct hf_sys *sys, struct hf_error *error);

/* May this process write it? DENIED: no, or it is read-only for all. */
enum hf_err hf_fence_place_may_write(const struct hf_fence_place *place,
                                     struct hf_error *error);

/* Do locks and renames there exclude? UNFENCED: no, or not known to. */
enum hf_err hf_fence_place_is_local(const struct hf_fence_place *place,
                                    struct hf_sys *sys, struct hf_error *error);

/*
 * The error of a system call: NOSPACE, DENIED, NOMEM or UNAVAILABLE, with the
 * kernel's reason behind the sentence. `errnum` is positive.
 */
enum hf_err hf_fence_io_error(struct hf_error *error, int errnum,
                              const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
