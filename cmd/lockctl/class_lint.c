/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockctl class lint [CLASS|FILE]...: judges class files before anybody obeys
 * them. Findings go to standard output, one a line, as compilers write them.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/lockctl/class_text.h"

struct lint {
    struct lockctl *ctl;
    struct hf_json json;
    size_t errors;
    struct class_files files;
};

static void finding(struct lint *lint, const struct hf_error *error)
{
    lint->errors++;
    if (!lint->ctl->options.is_json)
        (void)hf_buf_printf(&lint->ctl->out, "%s\n", error->text);
}

/* One class; `where` is its file, or what was asked for. */
static void judge(struct lint *lint, const char *folder, const char *name,
                  const char *where)
{
    struct hf_buf *out = &lint->ctl->out;
    struct hf_class_review review;
    struct hf_error error = {.code = HF_ERR_OK};
    bool is_read =
        !hf_class_review_read(&lint->ctl->sys, folder, name, &review, &error);

    if (is_read)
        error = review.distrust;
    if (lint->ctl->options.is_json) {
        hf_json_object(&lint->json, NULL);
        hf_json_text(&lint->json, "file", where);
        hf_json_bool(&lint->json, "ok", !error.code);
        if (error.code)
            hf_json_text(&lint->json, "error", error.text);
        if (is_read)
            class_json(&lint->json, &review);
        hf_json_object_end(&lint->json);
    }
    if (error.code)
        finding(lint, &error);
    if (!is_read || lint->ctl->options.is_json)
        return;
    if (!error.code)
        (void)hf_buf_printf(out, "%s: ok\n", where);
    class_cost_text(out, &review.cost, "  ");
}

static void misnamed(struct lint *lint, const char *file,
                     const struct hf_error *error)
{
    if (lint->ctl->options.is_json) {
        hf_json_object(&lint->json, NULL);
        hf_json_text(&lint->json, "file", file);
        hf_json_bool(&lint->json, "ok", false);
        hf_json_text(&lint->json, "error", error->text);
        hf_json_object_end(&lint->json);
    }
    finding(lint, error);
}

/* A file by its path, "FOLDER/NAME.yaml" or "NAME.yaml" here. */
static void judge_file(struct lint *lint, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    char name[HF_CLASS_NAME_SIZE];
    struct hf_error error;
    char *folder;

    if (!class_of_file(file, name, &error)) {
        misnamed(lint, path, &error);
        return;
    }
    folder = slash ? strndup(path, (size_t)(slash - path) + (slash == path))
                   : strdup(".");
    if (!folder) {
        lint->ctl->out.failed = HF_ERR_NOMEM;
        return;
    }
    judge(lint, folder, name, path);
    free(folder);
}

static void judge_operand(struct lint *lint, const char *operand)
{
    size_t size = strlen(operand);

    if (strchr(operand, '/') ||
        (size > 5 && strcmp(operand + size - 5, ".yaml") == 0))
        judge_file(lint, operand);
    else
        judge(lint, class_folder(lint->ctl), operand, operand);
}

static enum hf_err judge_folder(struct lint *lint, struct hf_error *error)
{
    const char *folder = class_folder(lint->ctl);
    enum hf_err err = class_files_read(folder, &lint->files, error);
    size_t i;

    if (err)
        return err;
    if (lint->files.is_missing && lint->ctl->options.classes)
        return hf_error_set(error, HF_ERR_CONFIG, "there is no folder %s",
                            folder);
    for (i = 0; i < lint->files.count; i++) {
        struct hf_buf path;

        hf_buf_init(&path, 8192);
        if (hf_buf_printf(&path, "%s/%s", folder, lint->files.names[i])) {
            hf_buf_clear(&path);
            return hf_error_set(error, HF_ERR_CONFIG,
                                "the name of the folder is too long");
        }
        judge_file(lint, path.data);
        hf_buf_clear(&path);
    }
    if (lint->files.count == 0)
        lockctl_note("there are no class files in %s: batch is built in",
                     folder);
    return HF_ERR_OK;
}

int lockctl_class_lint(struct lockctl *ctl)
{
    struct lint *lint = calloc(1, sizeof(*lint));
    struct hf_error error = {.code = HF_ERR_OK};
    size_t errors;
    int i;

    if (!lint) {
        (void)hf_error_set(&error, HF_ERR_NOMEM, "no memory for a list");
        return lockctl_fail(&error);
    }
    lint->ctl = ctl;
    if (ctl->options.is_json) {
        hf_json_begin(&lint->json, &ctl->out);
        hf_json_object(&lint->json, NULL);
        hf_json_array(&lint->json, "files");
    }
    for (i = 0; i < ctl->opts.operand_count; i++)
        judge_operand(lint, ctl->opts.operands[i]);
    if (ctl->opts.operand_count == 0)
        (void)judge_folder(lint, &error);
    if (ctl->options.is_json) {
        hf_json_array_end(&lint->json);
        hf_json_u64(&lint->json, "errors", lint->errors);
        hf_json_object_end(&lint->json);
        (void)hf_json_end(&lint->json);
        (void)hf_buf_add(&ctl->out, "\n", 1);
    }
    errors = lint->errors;
    free(lint);
    if (error.code)
        return lockctl_fail(&error);
    return errors ? hf_err_status(HF_ERR_CONFIG) : 0;
}
