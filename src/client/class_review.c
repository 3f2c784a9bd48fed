/* SPDX-License-Identifier: Apache-2.0 */
#include "client/class_review.h"

#include "service/class_file.h"
#include "service/classes.h"

/* A session is renewed each third of its TTL (client/deadline.h). */
enum { RENEWALS_PER_TTL = 3 };

const char hf_class_folder[] = HF_CLASSES_FOLDER;

enum hf_err hf_class_review_read(struct hf_sys *sys, const char *folder,
                                 const char *name,
                                 struct hf_class_review *review,
                                 struct hf_error *error)
{
    struct hf_class_reading reading;
    enum hf_err err = hf_class_read(sys, folder, name, true, &reading, error);

    if (err)
        return err;
    review->class = reading.class;
    review->is_built_in = reading.is_built_in;
    review->distrust = reading.distrust;
    review->cost = hf_class_cost_of(&reading.class);
    return HF_ERR_OK;
}

struct hf_class_cost hf_class_cost_of(const struct hf_class *class)
{
    return (struct hf_class_cost){
        .commits_per_job = 2,
        .commits_per_wait = 2,
        .commits_per_losing_try = 0,
        .renewal_every = {hf_span_ms(class->ttl_default_ms).ns /
                          RENEWALS_PER_TTL},
        .renewal_every_least = {hf_span_ms(class->ttl_min_ms).ns /
                                RENEWALS_PER_TTL},
        .dead_free = hf_span_ms(class->ttl_default_ms),
        .dead_free_most = hf_span_ms(class->ttl_max_ms),
    };
}

bool hf_class_review_field(size_t n, const char **name, const char **meaning)
{
    const struct hf_class_field *field = &hf_class_fields[n];

    /* Those that nothing obeys yet stand behind the others. */
    if (!field->path || field->kind == HF_CLASS_FIELD_LATER)
        return false;
    *name = field->path;
    *meaning = field->sentence;
    return true;
}

enum hf_err hf_class_review_value(const struct hf_class *class, size_t n,
                                  struct hf_buf *to)
{
    return hf_class_field_print(&hf_class_fields[n], class, to);
}
