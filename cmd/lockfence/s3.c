/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/s3.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "fence/s3_probe.h"

enum { TEXT_MAX = 16384 };

const char s3_user_agent[] = "holdfast-lockfence/" PACKAGE_VERSION;

enum hf_err s3_open(const struct lockfence_run *run, bool key_may_be_empty,
                    struct s3_session *session)
{
    const struct lockfence_options *options = run->options;
    const struct hf_s3_choices choices = {
        .profile = options->s3.profile,
        .region = options->s3.region,
        .endpoint = options->s3.endpoint,
    };
    enum hf_err failed = hf_s3_name_parse(run->operands[0], key_may_be_empty,
                                          &session->name, run->error);

    if (failed)
        return failed;
    failed = hf_s3_config_find(run->sys, &choices, environ, &session->config,
                               run->error);
    if (failed)
        return failed;
    if (options->s3.style.is_given)
        session->config.style = (enum hf_s3_style)options->s3.style.index;
    failed = hf_s3_new(run->sys, &session->config, s3_user_agent, &session->s3,
                       run->error);
    if (failed)
        hf_s3_config_clear(&session->config);
    return failed;
}

void s3_close(struct s3_session *session)
{
    hf_s3_free(session->s3);
    hf_s3_config_clear(&session->config);
}

/* ---- status
 * ------------------------------------------------------------------ */

static void print_status(const struct hf_s3_name *name,
                         const struct hf_s3_object *object, struct hf_buf *out)
{
    hf_buf_printf(out, "object    s3://%s/%s\n", name->bucket, name->key);
    if (!object->exists) {
        hf_buf_add_str(out, "state     absent\n");
        return;
    }
    hf_buf_printf(out, "state     %s\n",
                  object->is_marked ? "fenced" : "without a mark");
    if (object->is_marked) {
        hf_buf_printf(out, "token     %" PRIu64 "\n", object->mark.token);
        hf_buf_printf(out, "grant     %s\n", object->mark.grant);
        hf_buf_printf(out, "key       %s\n", object->mark.key);
    }
    hf_buf_printf(out, "size      %" PRIu64 "\n", object->size);
    hf_buf_printf(out, "etag      %s\n", object->etag);
    hf_buf_printf(out, "modified  %s\n", object->modified);
}

static void print_status_json(const struct hf_s3_name *name,
                              const struct hf_s3_object *object,
                              struct hf_buf *out)
{
    struct hf_json json;

    hf_json_begin(&json, out);
    hf_json_object(&json, NULL);
    hf_json_text(&json, "bucket", name->bucket);
    hf_json_text(&json, "object", name->key);
    hf_json_bool(&json, "exists", object->exists);
    hf_json_bool(&json, "fenced", object->is_marked);
    if (object->is_marked) {
        hf_json_decimal(&json, "token", object->mark.token);
        hf_json_text(&json, "grant", object->mark.grant);
        hf_json_text(&json, "key", object->mark.key);
    }
    if (object->exists) {
        hf_json_u64(&json, "size", object->size);
        hf_json_text(&json, "etag", object->etag);
        hf_json_text(&json, "modified", object->modified);
    }
    hf_json_object_end(&json);
    if (!hf_json_end(&json))
        hf_buf_add_str(out, "\n");
}

enum hf_err command_s3_status(const struct lockfence_run *run)
{
    struct hf_s3_object object;
    struct s3_session session;
    struct hf_buf out;
    enum hf_err failed = s3_open(run, false, &session);

    if (failed)
        return failed;
    hf_buf_init(&out, TEXT_MAX);
    failed = hf_s3_look(session.s3, &session.name, &object, run->error);
    if (!failed) {
        if (run->options->json)
            print_status_json(&session.name, &object, &out);
        else
            print_status(&session.name, &object, &out);
        failed = frame_print(&out, run->error);
    }
    hf_buf_clear(&out);
    s3_close(&session);
    return failed;
}

/* ---- probe
 * ------------------------------------------------------------------- */

static const char *const result_words[] = {
    [HF_S3_PROBE_NOT_TRIED] = "not tried",
    [HF_S3_PROBE_PASSED] = "yes",
    [HF_S3_PROBE_FAILED] = "NO",
};

static void print_probe(const struct hf_s3_probe *probe, bool is_fence,
                        struct hf_buf *out)
{
    for (int i = 0; i < HF_S3_PROBE_COUNT; i++)
        hf_buf_printf(out, "%-9s  %s\n", result_words[probe->results[i]],
                      hf_s3_probe_wanted((enum hf_s3_probe_case)i));
    if (!is_fence)
        return;
    if (probe->etag_is_of_bytes_alone)
        hf_buf_add_str(out, "note       the same bytes have the same ETag, "
                            "whoever wrote them: see --stamp and --guard of "
                            "lockfence s3 put\n");
    hf_buf_add_str(out, "This store is a fence.\n");
}

static void print_probe_json(const struct hf_s3_probe *probe, bool is_fence,
                             struct hf_buf *out)
{
    struct hf_json json;

    hf_json_begin(&json, out);
    hf_json_object(&json, NULL);
    hf_json_bool(&json, "fence", is_fence);
    hf_json_object(&json, "cases");
    for (int i = 0; i < HF_S3_PROBE_COUNT; i++) {
        const char *word = hf_s3_probe_word((enum hf_s3_probe_case)i);

        if (probe->results[i] == HF_S3_PROBE_NOT_TRIED)
            hf_json_null(&json, word);
        else
            hf_json_bool(&json, word, probe->results[i] == HF_S3_PROBE_PASSED);
    }
    hf_json_object_end(&json);
    hf_json_bool(&json, "etag_is_of_bytes_alone",
                 probe->etag_is_of_bytes_alone);
    hf_json_object_end(&json);
    if (!hf_json_end(&json))
        hf_buf_add_str(out, "\n");
}

enum hf_err command_s3_probe(const struct lockfence_run *run)
{
    struct s3_session session;
    struct hf_s3_probe probe;
    struct hf_buf out;
    enum hf_err failed = s3_open(run, true, &session);

    if (failed)
        return failed;
    hf_buf_init(&out, TEXT_MAX);
    failed = hf_s3_probe_run(session.s3, &session.config, s3_user_agent,
                             &session.name, &probe, run->error);
    if (!failed || failed == HF_ERR_UNFENCED) {
        struct hf_error unprinted;

        if (run->options->json)
            print_probe_json(&probe, !failed, &out);
        else
            print_probe(&probe, !failed, &out);
        if (frame_print(&out, &unprinted) && !failed)
            failed =
                hf_error_set(run->error, unprinted.code, "%s", unprinted.text);
    }
    hf_buf_clear(&out);
    s3_close(&session);
    return failed;
}
