/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classes of a folder of class files, read through the seam as they are
 * asked for. Not their syntax (class_file.h), nor a watch on the folder: what
 * was read once is kept. For the local transport, and for tools that judge a
 * folder.
 *
 * NAME.yaml holds the class NAME; nothing in the file repeats it. A class file
 * hands out rights, so one that others than root and the user could have
 * written is refused.
 */
#ifndef HF_SERVICE_CLASSES_H
#define HF_SERVICE_CLASSES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/sys.h"
#include "core/core.h"

/* Where class files lie, whatever the prefix: all builds on one machine must
 * see the same rules. */
#define HF_CLASSES_FOLDER "/etc/holdfast/classes.d"

/* One process asks for a class or two; a folder of hundreds is no accident
 * either, but then it is time to restart. */
enum { HF_CLASSES_MAX = 256 };

struct hf_class_reading {
    struct hf_class class;
    bool is_built_in; /* there is no file; `batch` alone */
    /* Why the file is not to be trusted; code OK: it is. */
    struct hf_error distrust;
};

/*
 * Read the class `name` from `folder`. A file that is not to be trusted is read
 * only if `even_so`. Errors: USAGE (the name), CONFIG (no such file, cannot be
 * read, not to be trusted, or "FILE:LINE:COLUMN: ..."), NOMEM.
 */
enum hf_err hf_class_read(struct hf_sys *sys, const char *folder,
                          const char *name, bool even_so,
                          struct hf_class_reading *reading,
                          struct hf_error *error);

struct hf_classes {
    struct hf_sys *sys;
    const char *folder; /* borrowed */
    /* As the core wants them; grows by hf_classes_need. */
    struct hf_core_classes known;
    const struct hf_class *list[HF_CLASSES_MAX];
};

/* `folder` is borrowed until clear; NULL: HF_CLASSES_FOLDER. Reads nothing. */
void hf_classes_init(struct hf_classes *classes, struct hf_sys *sys,
                     const char *folder);
void hf_classes_clear(struct hf_classes *classes);

/*
 * Make sure that the class is among the known ones. The built-in `batch` costs
 * one open that fails, and nothing on later calls. Errors as hf_class_read;
 * what was known stays known.
 */
enum hf_err hf_classes_need(struct hf_classes *classes, const char *name,
                            struct hf_error *error);

#endif
