/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/class_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"

const char *class_folder(const struct lockctl *ctl)
{
    const char *named = getenv("HOLDFAST_CLASSES");

    if (ctl->options.classes)
        return ctl->options.classes;
    return named && *named ? named : hf_class_folder;
}

/* Renewals per second, as "0.05". */
static void rate_text(struct hf_buf *to, struct hf_span every)
{
    int64_t milli = every.ns > 0 ? INT64_C(1000000000000) / every.ns : 0;

    (void)hf_buf_printf(to, "%lld.%03lld", (long long)(milli / 1000),
                        (long long)(milli % 1000));
}

void class_cost_text(struct hf_buf *to, const struct hf_class_cost *cost,
                     const char *indent)
{
    (void)hf_buf_printf(to,
                        "%scommits      %u for a job (grant, release), %u for "
                        "one that waits, %u for a losing try\n",
                        indent, cost->commits_per_job, cost->commits_per_wait,
                        cost->commits_per_losing_try);
    (void)hf_buf_printf(to, "%srenewals     ", indent);
    rate_text(to, cost->renewal_every);
    (void)hf_buf_printf(to, "/s for a running job (each %s), ",
                        hf_duration_print(cost->renewal_every).text);
    rate_text(to, cost->renewal_every_least);
    (void)hf_buf_printf(to,
                        "/s at the shortest TTL\n%s             each one "
                        "is a commit\n",
                        indent);
    (void)hf_buf_printf(
        to,
        "%sdead holder  its key is free at once where the kernel proves it,\n"
        "%s             else after the TTL: %s, %s at most\n",
        indent, indent, hf_duration_print(cost->dead_free).text,
        hf_duration_print(cost->dead_free_most).text);
    (void)hf_buf_printf(
        to,
        "%sa long TTL   means fewer renewals, and jobs that outlive longer "
        "stops;\n"
        "%s             but a death that is not proved keeps the key so long\n",
        indent, indent);
}

static void span_json(struct hf_json *json, const char *name,
                      struct hf_span span)
{
    hf_json_i64(json, name, hf_span_to_ms_up(span));
}

void class_json(struct hf_json *json, const struct hf_class_review *review)
{
    const struct hf_class_cost *cost = &review->cost;
    const char *name;
    const char *meaning;
    size_t n;

    hf_json_text(json, "class", review->class.name);
    hf_json_bool(json, "built_in", review->is_built_in);
    hf_json_object(json, "fields");
    for (n = 0; hf_class_review_field(n, &name, &meaning); n++) {
        struct hf_buf value;

        hf_buf_init(&value, 1024);
        if (hf_class_review_value(&review->class, n, &value))
            json->to->failed = HF_ERR_NOMEM;
        else
            hf_json_text(json, name, value.data);
        hf_buf_clear(&value);
    }
    hf_json_object_end(json);
    hf_json_object(json, "cost");
    hf_json_u64(json, "commits_per_job", cost->commits_per_job);
    hf_json_u64(json, "commits_per_wait", cost->commits_per_wait);
    hf_json_u64(json, "commits_per_losing_try", cost->commits_per_losing_try);
    span_json(json, "renewal_every_ms", cost->renewal_every);
    span_json(json, "renewal_every_least_ms", cost->renewal_every_least);
    hf_json_i64(json, "dead_free_proved_ms", 0);
    span_json(json, "dead_free_ms", cost->dead_free);
    span_json(json, "dead_free_most_ms", cost->dead_free_most);
    hf_json_object_end(json);
}

static const char *ending_of(const char *file)
{
    const char *dot = strrchr(file, '.');

    return dot ? dot : "";
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

enum hf_err class_files_read(const char *folder, struct class_files *files,
                             struct hf_error *error)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;
    int errnum = errno;

    files->count = 0;
    files->is_missing = !open && errnum == ENOENT;
    if (files->is_missing)
        return HF_ERR_OK;
    if (!open)
        return hf_error_set_errno(error, HF_ERR_CONFIG, errnum,
                                  "cannot read %s", folder);
    while ((entry = readdir(open))) {
        const char *ending = ending_of(entry->d_name);

        if (strcmp(ending, ".yaml") != 0 && strcmp(ending, ".yml") != 0)
            continue;
        if (files->count == CLASS_FILES_MAX) {
            (void)closedir(open);
            return hf_error_set(error, HF_ERR_CONFIG,
                                "%s has more than %d class files", folder,
                                CLASS_FILES_MAX);
        }
        memcpy(files->names[files->count++], entry->d_name,
               strlen(entry->d_name) + 1);
    }
    (void)closedir(open);
    qsort(files->names, files->count, sizeof(files->names[0]), compare);
    return HF_ERR_OK;
}

bool class_of_file(const char *file, char name[HF_CLASS_NAME_SIZE],
                   struct hf_error *error)
{
    const char *ending = ending_of(file);
    size_t size = (size_t)(ending - file);

    if (strcmp(ending, ".yaml") != 0) {
        (void)hf_error_set(error, HF_ERR_CONFIG,
                           "%s: only files that end in .yaml are read", file);
        return false;
    }
    if (size >= HF_CLASS_NAME_SIZE)
        size = 0;
    memcpy(name, file, size);
    name[size] = '\0';
    if (!hf_class_check_name(name, error))
        return true;
    (void)hf_error_wrap(error, "%s", file);
    return false;
}
