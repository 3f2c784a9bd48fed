/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/dry_run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/escape.h"
#include "client/deadline.h"
#include "client/local.h"
#include "cmd/lockrun/ask.h"
#include "cmd/lockrun/busy.h"
#include "cmd/lockrun/event.h"
#include "cmd/lockrun/limits.h"
#include "cmd/lockrun/naming.h"
#include "cmd/lockrun/nested.h"

static void add_escaped(struct hf_buf *out, const char *text)
{
    (void)hf_escape_add(out, text, strlen(text));
}

static void add_line(const char *name, const char *line, struct hf_buf *out)
{
    if (!line)
        return;
    (void)hf_buf_printf(out, "%s ", name);
    add_escaped(out, line);
    (void)hf_buf_add_str(out, "\n");
}

static void add_command(const struct lockrun_options *options,
                        const struct program *program, struct hf_buf *out)
{
    (void)hf_buf_add_str(out, "command  ");
    add_escaped(out, program->absolute);
    for (size_t i = 1; options->command[i]; i++) {
        (void)hf_buf_add_str(out, " '");
        add_escaped(out, options->command[i]);
        (void)hf_buf_add_str(out, "'");
    }
    (void)hf_buf_add_str(out, "\n");
    add_line("note    ", options->note, out);
    add_line("on-busy ", options->on_busy, out);
    add_line("on-doubt", options->on_doubt, out);
    add_line("on-lost ", options->on_lost, out);
    if (options->leftover_word.is_given)
        (void)hf_buf_printf(out, "leftover %s\n",
                            leftover_names[options->leftover]);
}

static void add_class(const struct lockrun_options *options,
                      const struct hf_class *class, struct hf_buf *out)
{
    struct hf_span ttl = limits_ttl(options, class);
    struct hf_span grace = options->grace.is_given
                               ? options->grace.span
                               : hf_deadline_default_grace(ttl);

    (void)hf_buf_printf(out, "class    %s\n", class->name);
    (void)hf_buf_printf(out, "ttl      %s, renewed every %s, grace %s\n",
                        hf_duration_print(ttl).text,
                        hf_duration_print((struct hf_span){ttl.ns / 3}).text,
                        hf_duration_print(grace).text);
}

static void add_span(const char *name, struct hf_span span, const char *more,
                     struct hf_buf *out)
{
    (void)hf_buf_printf(out, "%s %s%s\n", name, hf_duration_print(span).text,
                        more);
}

/* What it would hold, and end with when that is not to be had. */
static void add_mode(const struct lockrun_options *options, struct hf_buf *out)
{
    if (options->mode == HF_SHARED)
        (void)hf_buf_add_str(out, "mode     shared\n");
    if (options->skips)
        (void)hf_buf_add_str(out, "if busy  end with 0, and say nothing\n");
    else if (options->conflict.is_given)
        (void)hf_buf_printf(out, "if busy  end with %d\n",
                            (int)options->conflict.number);
}

/* How long it would wait, run and keep the key. */
static void add_times(const struct lockrun_options *options,
                      const struct hf_class *class, struct hf_buf *out)
{
    bool is_bounded =
        options->wait.is_given && options->wait.span.ns != INT64_MAX;
    bool is_long = options->wait.is_given || options->watches;
    struct hf_span wait =
        is_bounded
            ? options->wait.span
            : hf_span_ms(is_long ? class->wait_max_ms : class->wait_default_ms);

    if (options->is_try || wait.ns == 0)
        (void)hf_buf_add_str(out, "wait     no\n");
    else
        add_span("wait    ", wait,
                 is_bounded ? ""
                 : is_long  ? ", the longest that the class allows"
                            : ", as the class says",
                 out);
    if (options->max_run.is_given)
        add_span("max-run ", options->max_run.span, "", out);
    else if (class->hold_max_ms > 0)
        add_span("max-run ", hf_span_ms(class->hold_max_ms),
                 ", as the class says", out);
    if (options->hold_min.is_given)
        add_span("hold-min", options->hold_min.span, "", out);
}

/* Is one of these in our way, and runs us? */
static enum hf_err judge_nesting(const struct lockrun_options *options,
                                 const char *key, const struct hf_request *show,
                                 struct hf_buf *out, struct hf_error *error)
{
    const struct hf_hold_info *outer = nested_among(show);

    if (!outer || (outer->kind == HF_SHARE && options->mode == HF_SHARED))
        return HF_ERR_OK;
    if (nested_judge(options, key, outer, error))
        return error->code;
    (void)hf_buf_printf(out, "nested   under the hold of pid %u\n",
                        (unsigned int)outer->who.pid);
    return HF_ERR_OK;
}

/* Who holds the key, or that it is free. */
static enum hf_err add_holder(struct hf_transport *transport, const char *key,
                              struct hf_sys *sys,
                              const struct lockrun_options *options,
                              struct hf_buf *out, struct hf_error *error)
{
    struct hf_request show = {.kind = HF_REQUEST_SHOW};
    struct hf_buf text;
    enum hf_err err;

    memcpy(show.key, key, sizeof(show.key));
    err = ask(transport, &show, sys);
    if (err) {
        *error = show.error;
    } else {
        hf_buf_init(&text, BUSY_BYTES_MAX);
        if (show.info_count > 0)
            busy_describe(&show.infos[0], sys, &text);
        (void)hf_buf_add_str(out, "now      ");
        if (show.info_count > 0)
            (void)hf_buf_add_str(out, "the key ");
        add_escaped(out, text.data ? text.data : "free");
        (void)hf_buf_add_str(out, "\n");
        hf_buf_clear(&text);
        err = judge_nesting(options, key, &show, out, error);
    }
    hf_request_clear(&show);
    return err;
}

static enum hf_err look(struct hf_transport *transport, struct hf_sys *sys,
                        const struct lockrun_options *options,
                        const struct program *program, struct hf_buf *out,
                        struct hf_error *error)
{
    struct hf_request describe = {.kind = HF_REQUEST_DESCRIBE};
    char key[HF_KEY_SIZE];
    enum hf_err err;

    memcpy(describe.class_name, options->class_name,
           strlen(options->class_name) + 1);
    err = ask(transport, &describe, sys);
    if (err)
        *error = describe.error;
    else
        err = limits_judge(options, &describe.rules, error);
    if (!err)
        err = naming_key(options, program, &describe.rules, key, error);
    if (!err) {
        add_class(options, &describe.rules, out);
        add_mode(options, out);
        add_times(options, &describe.rules, out);
        (void)hf_buf_printf(out, "key      %s\nstore    ", key);
        add_escaped(out, hf_local_place(transport));
        if (options->store_from)
            (void)hf_buf_printf(out, ", named by %s", options->store_from);
        (void)hf_buf_add_str(out, "\n");
        err = add_holder(transport, key, sys, options, out, error);
    }
    hf_request_clear(&describe);
    return err;
}

/* Could the store be written, or made? */
static enum hf_err try_store(const char *place, const char *folder,
                             struct hf_error *error)
{
    int errnum = 0;

    if (faccessat(AT_FDCWD, place, R_OK | W_OK, AT_EACCESS))
        errnum = errno;
    if (errnum == ENOENT)
        errnum =
            faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) ? errno : 0;
    return errnum ? hf_error_set_errno(error,
                                       errnum == EACCES ? HF_ERR_DENIED
                                                        : HF_ERR_UNAVAILABLE,
                                       errnum, "open %s", place)
                  : HF_ERR_OK;
}

/* What a run finds out only when it comes to it. */
static enum hf_err look_ahead(const struct lockrun_options *options,
                              struct hf_transport *transport,
                              struct hf_error *error)
{
    const char *place = hf_local_place(transport);
    const char *slash = strrchr(place, '/');
    char folder[PATH_MAX];
    struct stat about;

    if (options->json_fd.is_given && !events_fit((int)options->json_fd.number))
        return events_refuse(options->json_fd.number, error);
    if (!slash || slash == place || !options->store_from)
        return HF_ERR_OK;
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - place), place);
    if (stat(folder, &about))
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                  "the store's folder %s", folder);
    return try_store(place, folder, error);
}

int dry_run(struct hf_sys *sys, const struct lockrun_options *options,
            struct hf_buf *out, struct hf_error *error)
{
    struct hf_local_options store = {
        .store = options->store,
        .classes = getenv("HOLDFAST_CLASSES"),
        .read_only = true,
        .is_strict = true,
    };
    struct hf_transport *transport;
    struct program program;
    int status =
        program_find(&program, options->command[0], getenv("PATH"), error);

    if (!status && program_is_folder(program.path, error))
        status = 126;
    if (!status && !hf_local_open(sys, &store, &transport, error)) {
        if (!look_ahead(options, transport, error) &&
            !look(transport, sys, options, &program, out, error)) {
            add_command(options, &program, out);
            error->code = HF_ERR_OK;
        }
        transport->ops->close(transport);
    }
    program_clear(&program);
    return status ? status : hf_err_status(error->code);
}
