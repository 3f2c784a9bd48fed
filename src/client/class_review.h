/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Class files as their reviewer sees them: what a file says, whether it would
 * be trusted, and what the class costs. Grants nothing, keeps nothing. For
 * lockctl's class commands.
 */
#ifndef HF_CLIENT_CLASS_REVIEW_H
#define HF_CLIENT_CLASS_REVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/sys.h"
#include "core/request.h"

/* What a class costs on the embedded store. */
struct hf_class_cost {
    /* Commits of one job that finds the key free, but for renewals: its grant
     * and its release. One that waits: its place in the queue, and its release;
     * the grant is in the release of the one before. */
    unsigned int commits_per_job;
    unsigned int commits_per_wait;
    unsigned int commits_per_losing_try;
    /* Of one running job, each a commit: at the default TTL, and at the
     * shortest that may be asked for. */
    struct hf_span renewal_every;
    struct hf_span renewal_every_least;
    /* How long the key of a dead holder stays taken: at once where the kernel
     * proves its death, else until the lease ends. */
    struct hf_span dead_free;
    struct hf_span dead_free_most;
};

struct hf_class_review {
    struct hf_class class;
    bool is_built_in;
    struct hf_error distrust; /* code OK: the file would be trusted */
    struct hf_class_cost cost;
};

/* The compiled-in folder of class files. */
extern const char hf_class_folder[];

/*
 * Read the class `name` of `folder`, also from a file that would not be
 * trusted. Errors: USAGE (the name), CONFIG, NOMEM.
 */
enum hf_err hf_class_review_read(struct hf_sys *sys, const char *folder,
                                 const char *name,
                                 struct hf_class_review *review,
                                 struct hf_error *error);

struct hf_class_cost hf_class_cost_of(const struct hf_class *class);

/* The fields that a class has, one after the other: name and meaning of the
 * nth; false behind the last. */
bool hf_class_review_field(size_t n, const char **name, const char **meaning);
/* Append the nth field's value. Errors: of the buffer. */
enum hf_err hf_class_review_value(const struct hf_class *class, size_t n,
                                  struct hf_buf *to);

#endif
