/* SPDX-License-Identifier: Apache-2.0 */
/* lockfence file write, lockfence file status. */
#include "fence/file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/utc.h"
#include "cmd/lockfence/commands.h"

enum { TEXT_BYTES_MAX = 65536 };

static enum hf_err write_file(struct hf_fence_file *file,
                              const struct lockfence_run *run,
                              const struct hf_fence_claim *claim)
{
    const struct lockfence_options *options = run->options;
    int64_t size = options->file.size.is_given ? options->file.size.number : -1;
    enum hf_err err;

    err = hf_fence_file_open(file, run->sys, run->operands[0],
                             options->file.force, run->error);
    /* A stale writer learns it before its input is made. */
    if (!err)
        err = hf_fence_file_ask(file, claim, run->error);
    if (!err)
        err = hf_fence_file_stage(file, STDIN_FILENO, size, run->error);
    if (err)
        return err;
    return options->file.append
               ? hf_fence_file_append(file, claim, run->error)
               : hf_fence_file_replace(file, claim, run->error);
}

enum hf_err command_file_write(const struct lockfence_run *run)
{
    struct hf_fence_claim claim;
    struct hf_fence_file file;
    enum hf_err err = frame_claim(run->options, &claim, run->error);

    if (err)
        return err;
    err = write_file(&file, run, &claim);
    hf_fence_file_clear(&file);
    return err;
}

static void show_status(const struct hf_fence_file_status *status,
                        struct hf_buf *text)
{
    const struct hf_fence_mark *mark = &status->mark.mark;
    struct hf_utc_text when =
        hf_utc_print((struct hf_wall){status->mark.wall_ms * 1000000}, 0);

    hf_buf_add_str(text, "file    ");
    hf_escape_add(text, status->path, strlen(status->path));
    hf_buf_printf(text,
                  "\ntoken   %" PRIu64 " (epoch %u, revision %" PRIu64 ")",
                  mark->token, hf_token_epoch(mark->token),
                  hf_token_revision(mark->token));
    hf_buf_printf(text, "\ngrant   %s\nkey     %s\nwritten %s\n",
                  mark->grant[0] ? mark->grant : "-",
                  mark->key[0] ? mark->key : "-", when.text);
    if (status->is_other)
        hf_buf_add_str(text, status->exists
                                 ? "warning: the file is not the one that the "
                                   "fence put there (an editor, a restore, or "
                                   "a writer that was killed)\n"
                                 : "warning: the file is gone\n");
    if (status->is_cut)
        hf_buf_printf(text,
                      "warning: an append at byte %" PRIu64
                      " was cut short; the next write takes it back\n",
                      status->mark.append_from);
}

static void show_json(const struct hf_fence_file_status *status,
                      struct hf_buf *text)
{
    const struct hf_fence_mark *mark = &status->mark.mark;
    struct hf_json json;

    hf_json_begin(&json, text);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "file", status->path);
    hf_json_bool(&json, "exists", status->exists);
    hf_json_decimal(&json, "token", mark->token);
    hf_json_text(&json, "grant", mark->grant);
    hf_json_text(&json, "key", mark->key);
    hf_json_i64(&json, "wall_ms", status->mark.wall_ms);
    hf_json_bool(&json, "is_other", status->is_other);
    hf_json_bool(&json, "is_cut", status->is_cut);
    hf_json_object_end(&json);
    hf_json_end(&json);
    hf_buf_add_str(text, "\n");
}

enum hf_err command_file_status(const struct lockfence_run *run)
{
    struct hf_fence_file_status status;
    struct hf_buf text;
    enum hf_err err =
        hf_fence_file_look(run->sys, run->operands[0], &status, run->error);

    if (err)
        return err;
    if (!status.has_mark)
        return hf_error_set(run->error, HF_ERR_UNFENCED,
                            "%s has no mark: nothing was written to it "
                            "through the fence",
                            status.path);
    hf_buf_init(&text, TEXT_BYTES_MAX);
    if (run->options->json)
        show_json(&status, &text);
    else
        show_status(&status, &text);
    err = frame_print(&text, run->error);
    hf_buf_clear(&text);
    return err;
}
