/* SPDX-License-Identifier: Apache-2.0 */
/* lockctl class ls: the classes that may be named, a line each. */
#include <stdlib.h>
#include <string.h>

#include "cmd/lockctl/class_text.h"
#include "cmd/lockctl/table.h"

/* Fields of which the list tells the value. */
static const char *const told[] = {"ttl.default",  "ttl.max",  "mode",
                                   "wait.default", "hold_max", "key"};

static const struct table_column columns[] = {
    {.title = "CLASS"},
    {.title = "TTL", .is_right = true},
    {.title = "TTL MAX", .is_right = true, .drop = 2},
    {.title = "MODE", .drop = 3},
    {.title = "WAIT", .is_right = true, .drop = 4},
    {.title = "HOLD MAX", .is_right = true, .drop = 5},
    {.title = "KEY", .drop = 1},
    {.title = "FROM"},
    {.title = NULL}};

struct listing {
    struct lockctl *ctl;
    const char *folder;
    struct table table;
    struct hf_json json;
    struct class_files files;
    int status;
};

static void add_row(struct listing *listing,
                    const struct hf_class_review *review)
{
    size_t i;

    table_add(&listing->table, review->class.name);
    for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        const char *name;
        const char *meaning;
        struct hf_buf value;
        size_t n = 0;

        hf_buf_init(&value, 1024);
        while (hf_class_review_field(n, &name, &meaning) &&
               strcmp(name, told[i]) != 0)
            n++;
        if (hf_class_review_value(&review->class, n, &value))
            listing->table.failed = true;
        else
            table_add(&listing->table, value.data);
        hf_buf_clear(&value);
    }
    table_add(&listing->table, review->is_built_in ? "built in" : "file");
}

static void add(struct listing *listing, const char *name)
{
    struct hf_class_review review;
    struct hf_error error;

    if (hf_class_review_read(&listing->ctl->sys, listing->folder, name, &review,
                             &error)) {
        listing->status = lockctl_fail(&error);
        return;
    }
    if (review.distrust.code)
        listing->status = lockctl_fail(&review.distrust);
    if (!listing->ctl->options.is_json) {
        add_row(listing, &review);
        return;
    }
    hf_json_object(&listing->json, NULL);
    class_json(&listing->json, &review);
    hf_json_object_end(&listing->json);
}

static void add_all(struct listing *listing)
{
    bool has_batch = false;
    size_t i;

    for (i = 0; i < listing->files.count; i++) {
        char name[HF_CLASS_NAME_SIZE];
        struct hf_error error;

        if (!class_of_file(listing->files.names[i], name, &error)) {
            listing->status = lockctl_fail(&error);
            continue;
        }
        if (!has_batch && strcmp(name, hf_class_batch.name) > 0) {
            add(listing, hf_class_batch.name);
            has_batch = true;
        }
        if (strcmp(name, hf_class_batch.name) == 0)
            has_batch = true;
        add(listing, name);
    }
    if (!has_batch)
        add(listing, hf_class_batch.name);
}

int lockctl_class_ls(struct lockctl *ctl)
{
    struct listing *listing = calloc(1, sizeof(*listing));
    struct hf_error error;
    int status;

    if (!listing) {
        (void)hf_error_set(&error, HF_ERR_NOMEM, "no memory for a list");
        return lockctl_fail(&error);
    }
    listing->ctl = ctl;
    listing->folder = class_folder(ctl);
    if (class_files_read(listing->folder, &listing->files, &error)) {
        free(listing);
        return lockctl_fail(&error);
    }
    table_init(&listing->table, columns);
    if (ctl->options.is_json) {
        hf_json_begin(&listing->json, &ctl->out);
        hf_json_object(&listing->json, NULL);
        hf_json_text(&listing->json, "folder", listing->folder);
        hf_json_array(&listing->json, "classes");
    }
    add_all(listing);
    if (ctl->options.is_json) {
        hf_json_array_end(&listing->json);
        hf_json_object_end(&listing->json);
        (void)hf_json_end(&listing->json);
        (void)hf_buf_add(&ctl->out, "\n", 1);
    } else if (table_print(&listing->table, terminal_width(),
                           terminal_is_styled(), &ctl->out)) {
        ctl->out.failed = HF_ERR_NOMEM;
    }
    table_clear(&listing->table);
    status = listing->status;
    free(listing);
    return status;
}
