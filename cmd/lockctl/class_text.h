/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A class's rules and cost as text and as JSON, and the files of a folder of
 * classes. For lockctl's class commands.
 */
#ifndef LOCKCTL_CLASS_TEXT_H
#define LOCKCTL_CLASS_TEXT_H

#include "base/json.h"
#include "client/class_review.h"
#include "cmd/lockctl/lockctl.h"

/* The folder that --classes or HOLDFAST_CLASSES names, or the compiled-in
 * one. */
const char *class_folder(const struct lockctl *ctl);

/* What a class costs, each line begun with `indent`. */
void class_cost_text(struct hf_buf *to, const struct hf_class_cost *cost,
                     const char *indent);
/* Members of the open object: where it is from, rules, cost. */
void class_json(struct hf_json *json, const struct hf_class_review *review);

enum { CLASS_FILES_MAX = 1024, CLASS_FILE_NAME_SIZE = 256 };

/* Names in a folder that end in .yaml or .yml, in order of their bytes. */
struct class_files {
    size_t count;
    bool is_missing; /* there is no such folder */
    char names[CLASS_FILES_MAX][CLASS_FILE_NAME_SIZE];
};

/* Errors: CONFIG. */
enum hf_err class_files_read(const char *folder, struct class_files *files,
                             struct hf_error *error);
/* The class that a file of that name holds, without its ending; false: the
 * loader would never look at such a file, and the reason. */
bool class_of_file(const char *file, char name[HF_CLASS_NAME_SIZE],
                   struct hf_error *error);

#endif
