/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/lockfence/s3.h"
#include "fence/s3_put.h"

enum { TRIES_MAX = 5 };

/* Where the bytes go: standard output, or a file that gets its name last. */
struct target {
    const char *path; /* NULL: standard output */
    char part[4096];  /* the name until then */
    int fd;
};

static enum hf_err open_target(const struct lockfence_run *run,
                               struct target *target)
{
    const char *path = run->operand_count > 1 ? run->operands[1] : "-";
    char id[HF_S3_PUT_ID_SIZE];
    enum hf_err failed;

    *target = (struct target){.fd = STDOUT_FILENO};
    if (!strcmp(path, "-"))
        return HF_ERR_OK;
    failed = hf_s3_put_id(run->sys, id, run->error);
    if (failed)
        return failed;
    target->path = path;
    if (snprintf(target->part, sizeof(target->part), "%s.%.8s.part", path,
                 id) >= (int)sizeof(target->part))
        return hf_error_set(run->error, HF_ERR_USAGE, "%.200s: too long a path",
                            path);
    target->fd = run->sys->open(run->sys, AT_FDCWD, target->part,
                                O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (target->fd < 0)
        return hf_error_set_errno(run->error, HF_ERR_UNAVAILABLE, -target->fd,
                                  "%.300s", target->part);
    return HF_ERR_OK;
}

/* Give the file its name, or take it away when `failed` says so. */
static enum hf_err close_target(const struct lockfence_run *run,
                                struct target *target, enum hf_err failed)
{
    struct hf_sys *sys = run->sys;
    int got = 0;

    if (!target->path)
        return failed;
    if (!failed)
        got = sys->fsync(sys, target->fd);
    sys->close(sys, target->fd);
    if (!failed && got >= 0)
        got = sys->rename(sys, AT_FDCWD, target->part, AT_FDCWD, target->path);
    if (!failed && got < 0)
        failed = hf_error_set_errno(run->error, HF_ERR_UNAVAILABLE, -got,
                                    "%.300s", target->path);
    if (failed)
        sys->unlink(sys, AT_FDCWD, target->part);
    return failed;
}

/* One GET of the very object that was judged. *again: another may help. */
static enum hf_err fetch_once(const struct lockfence_run *run,
                              struct s3_session *session,
                              const struct hf_s3_object *object,
                              const struct target *target, bool *again)
{
    struct hf_s3_headers headers = {.count = 0};
    const struct hf_s3_call call = {
        .method = "GET",
        .name = &session->name,
        .headers = &headers,
        .to_fd = target->fd,
    };
    struct hf_s3_answer answer;
    enum hf_s3_fate fate;
    enum hf_err failed =
        hf_s3_headers_add(&headers, "if-match", object->etag, run->error);

    *again = false;
    if (!failed)
        failed = hf_s3_do(session->s3, &call, &answer, run->error);
    hf_s3_headers_clear(&headers);
    if (failed)
        return failed;
    fate = hf_s3_judge(&answer);
    if (answer.write_errno == ENOSPC || answer.write_errno == EDQUOT) {
        failed = hf_error_set(run->error, HF_ERR_NOSPACE,
                              "no space is left for %.300s",
                              target->path ? target->path : "standard output");
    } else if (answer.write_errno) {
        failed = hf_error_set_errno(run->error, HF_ERR_UNAVAILABLE,
                                    answer.write_errno, "writing %.300s",
                                    target->path ? target->path
                                                 : "to standard output");
    } else if (fate != HF_S3_DONE) {
        failed =
            hf_s3_explain(session->s3, &session->name, &answer, run->error);
        if (failed == HF_ERR_UNSETTLED)
            failed = HF_ERR_UNAVAILABLE;
        /* What went to standard output cannot be taken back. */
        *again =
            fate == HF_S3_LATER ||
            (target->path && (fate == HF_S3_OPEN || fate == HF_S3_CONFLICT));
    }
    hf_s3_answer_clear(&answer);
    return failed;
}

/* With a token: has a newer holder written meanwhile? */
static enum hf_err look_and_judge(const struct lockfence_run *run,
                                  struct s3_session *session,
                                  const struct hf_fence_claim *claim,
                                  struct hf_s3_object *object)
{
    char what[HF_S3_BUCKET_MAX + HF_S3_KEY_MAX + 16];
    enum hf_err failed =
        hf_s3_look(session->s3, &session->name, object, run->error);

    snprintf(what, sizeof(what), "s3://%s/%s", session->name.bucket,
             session->name.key);
    if (!failed && !object->exists)
        failed = hf_error_set(run->error, HF_ERR_REJECTED,
                              "%s: there is no such object", what);
    /* A token of another key says nothing about this object. */
    if (!failed && claim->token &&
        hf_fence_judge(&object->mark, claim) != HF_FENCE_OTHER_KEY)
        failed = hf_fence_check(&object->mark, claim, what, run->error);
    return failed;
}

enum hf_err command_s3_get(const struct lockfence_run *run)
{
    struct hf_fence_claim claim;
    struct hf_s3_object object;
    struct s3_session session;
    struct target target;
    bool again = true;
    enum hf_err failed = frame_claim(run->options, &claim, run->error);

    /* Who only reads needs no token; one that is given is judged. */
    if (failed == HF_ERR_NO_TOKEN)
        claim = (struct hf_fence_claim){.token = 0};
    else if (failed)
        return failed;
    failed = s3_open(run, false, &session);
    if (failed)
        return failed;
    failed = open_target(run, &target);
    for (unsigned int try = 1; !failed && again; try++) {
        failed = look_and_judge(run, &session, &claim, &object);
        again = false;
        if (!failed)
            failed = fetch_once(run, &session, &object, &target, &again);
        again = again && try < TRIES_MAX;
        if (again) {
            failed = HF_ERR_OK;
            hf_s3_wait(session.s3, try);
            if (target.path &&
                (run->sys->truncate(run->sys, target.fd, 0) < 0 ||
                 lseek(target.fd, 0, SEEK_SET) < 0))
                failed =
                    hf_error_set(run->error, HF_ERR_UNAVAILABLE,
                                 "%.300s cannot be written again", target.part);
        }
    }
    if (target.fd >= 0)
        failed = close_target(run, &target, failed);
    s3_close(&session);
    return failed;
}
