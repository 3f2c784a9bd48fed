/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_probe.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fence/s3_body.h"
#include "fence/s3_put.h"

/*
 * Writers at the same moment, and how often. Two would do where the store reads
 * and writes in two steps of a millisecond; more find shorter ones.
 */
enum { RACERS = 8, RACE_ROUNDS = 3 };
/* Of the write that is overtaken; it must fit into an answer. */
enum { SLOW_BYTES = 48 * 1024, HALF_LIMIT_MS = 15000 };

static const struct {
    const char *word;
    const char *wanted;
    const char *meaning;
} cases[HF_S3_PROBE_COUNT] = {
#define HF_PROBE(name, word, wanted, meaning)                                  \
    [HF_S3_PROBE_##name] = {word, wanted, meaning},
#include "fence/s3_probe.def"
#undef HF_PROBE
};

const char *hf_s3_probe_word(enum hf_s3_probe_case which)
{
    return cases[which].word;
}

const char *hf_s3_probe_wanted(enum hf_s3_probe_case which)
{
    return cases[which].wanted;
}

struct prober {
    struct hf_s3 *s3;
    const struct hf_s3_config *config;
    const char *user_agent;
    struct hf_s3_name object;
    struct hf_s3_name absent;
    char id[HF_S3_PUT_ID_SIZE];
    char etag[HF_S3_ETAG_SIZE];  /* the present one */
    char older[HF_S3_ETAG_SIZE]; /* the one before it */
    struct hf_s3_probe *probe;
};

/* ---- one conditional write
 * ---------------------------------------------------- */

enum condition { IF_ABSENT, IF_MATCH };

struct attempt {
    const struct hf_s3_name *name;
    enum condition condition;
    const char *etag;
    const char *text;
    const char *token;
    int pause_fd;
};

static enum hf_err add_headers(const struct prober *prober,
                               const struct attempt *attempt,
                               struct hf_s3_headers *headers,
                               struct hf_error *error)
{
    enum hf_err failed =
        attempt->condition == IF_ABSENT
            ? hf_s3_headers_add(headers, "if-none-match", "*", error)
            : hf_s3_headers_add(headers, "if-match", attempt->etag, error);

    if (!failed)
        failed =
            hf_s3_headers_add(headers, HF_S3_META_TOKEN, attempt->token, error);
    if (!failed)
        failed =
            hf_s3_headers_add(headers, HF_S3_META_GRANT, "lockfence", error);
    if (!failed)
        failed = hf_s3_headers_add(headers, HF_S3_META_PUT, prober->id, error);
    return failed;
}

/* OK tells *fate, and the ETag of the answer in `etag` (may be NULL). */
static enum hf_err try_write(struct prober *prober, struct hf_s3 *s3,
                             const struct attempt *attempt,
                             enum hf_s3_fate *fate, char *etag,
                             struct hf_error *error)
{
    struct hf_s3_headers headers = {.count = 0};
    struct hf_s3_bytes bytes;
    struct hf_s3_answer answer;
    const char *found;
    enum hf_err failed = hf_s3_bytes_make(hf_s3_sys(s3), &bytes, attempt->text,
                                          strlen(attempt->text), error);

    if (failed)
        return failed;
    failed = add_headers(prober, attempt, &headers, error);
    if (!failed) {
        const struct hf_s3_call call = {
            .method = "PUT",
            .name = attempt->name,
            .headers = &headers,
            .body = &bytes.body,
            .payload_hash = bytes.hash,
            .to_fd = -1,
        };

        bytes.body.pause_fd = attempt->pause_fd;
        failed = hf_s3_do(s3, &call, &answer, error);
    }
    hf_s3_headers_clear(&headers);
    hf_s3_bytes_clear(hf_s3_sys(s3), &bytes);
    if (failed)
        return failed;
    *fate = hf_s3_judge(&answer);
    found = hf_s3_headers_find(&answer.headers, "etag");
    if (*fate == HF_S3_DONE && etag)
        snprintf(etag, HF_S3_ETAG_SIZE, "%s", found ? found : "");
    if (*fate == HF_S3_LATER || *fate == HF_S3_OPEN ||
        (*fate == HF_S3_REFUSED && answer.status != 501))
        failed = hf_s3_explain(s3, attempt->name, &answer, error);
    hf_s3_answer_clear(&answer);
    return failed;
}

/* Is the object there, and are these its bytes? `text` NULL: it is absent. */
static enum hf_err has_text(struct prober *prober,
                            const struct hf_s3_name *name, const char *text,
                            bool *has, struct hf_error *error)
{
    const struct hf_s3_call call = {.method = "GET", .name = name, .to_fd = -1};
    struct hf_s3_answer answer;
    enum hf_s3_fate fate;
    enum hf_err failed = hf_s3_do(prober->s3, &call, &answer, error);

    if (failed)
        return failed;
    fate = hf_s3_judge(&answer);
    if (fate == HF_S3_DONE)
        *has = text && answer.body.size == strlen(text) &&
               (!answer.body.size ||
                !memcmp(answer.body.data, text, answer.body.size));
    else if (fate == HF_S3_ABSENT)
        *has = !text;
    else
        failed = hf_s3_explain(prober->s3, name, &answer, error);
    hf_s3_answer_clear(&answer);
    return failed;
}

static void note(struct prober *prober, enum hf_s3_probe_case which,
                 bool has_passed)
{
    prober->probe->results[which] =
        has_passed ? HF_S3_PROBE_PASSED : HF_S3_PROBE_FAILED;
}

/* Write on a condition, and see that it went as wanted and what stands. */
static enum hf_err expect(struct prober *prober, enum hf_s3_probe_case which,
                          const struct attempt *attempt, bool is_wanted,
                          const char *stands, struct hf_error *error)
{
    char etag[HF_S3_ETAG_SIZE] = "";
    enum hf_s3_fate fate;
    bool has = false;
    enum hf_err failed =
        try_write(prober, prober->s3, attempt, &fate, etag, error);

    if (!failed)
        failed = has_text(prober, attempt->name, stands, &has, error);
    if (failed)
        return failed;
    note(prober, which, (fate == HF_S3_DONE) == is_wanted && has);
    if (is_wanted && fate == HF_S3_DONE) {
        memcpy(prober->older, prober->etag, sizeof(prober->older));
        memcpy(prober->etag, etag, sizeof(prober->etag));
    }
    return HF_ERR_OK;
}

/* ---- writers at the same moment
 * ----------------------------------------------- */

/* The status by which a child tells what became of its write. */
enum { CHILD_DONE = 0, CHILD_REFUSED = 1, CHILD_FAILED = 2 };

static void wait_for_end(int fd)
{
    char byte;

    while (read(fd, &byte, 1) < 0 && errno == EINTR)
        ;
}

/*
 * In a child: write, on a connection of its own. With a `start_fd` (else -1)
 * that is made first, then `ready_fd` closed and the end of `start_fd` waited
 * for.
 */
static int write_in_child(struct prober *prober, const struct attempt *attempt,
                          int start_fd, int ready_fd)
{
    struct hf_s3_object object;
    struct hf_error ignored;
    enum hf_s3_fate fate;
    struct hf_s3 *s3;

    if (hf_s3_new(hf_s3_sys(prober->s3), prober->config, prober->user_agent,
                  &s3, NULL))
        return CHILD_FAILED;
    if (start_fd >= 0) {
        (void)!hf_s3_look(s3, attempt->name, &object, &ignored);
        close(ready_fd);
        wait_for_end(start_fd);
    }
    if (try_write(prober, s3, attempt, &fate, NULL, NULL))
        return CHILD_FAILED;
    hf_s3_free(s3);
    return fate == HF_S3_DONE ? CHILD_DONE : CHILD_REFUSED;
}

static int wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_FAILED;
}

static enum hf_err no_child(int errnum, struct hf_error *error)
{
    return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errnum,
                              "cannot start a second writer");
}

/* The present ETag, whoever wrote it. */
static enum hf_err learn_etag(struct prober *prober, struct hf_error *error)
{
    struct hf_s3_object object;
    enum hf_err failed =
        hf_s3_look(prober->s3, &prober->object, &object, error);

    if (!failed)
        memcpy(prober->etag, object.etag, sizeof(prober->etag));
    return failed;
}

/* One round: so many texts on one ETag. *taken: how many were. */
static enum hf_err race_once(struct prober *prober, int round, bool *is_right,
                             struct hf_error *error)
{
    char texts[RACERS][32];
    pid_t children[RACERS];
    int started = 0;
    int taken = -1;
    int count = 0;
    int ends[2];
    int ready[2];
    bool has = false;
    enum hf_err failed = HF_ERR_OK;

    if (pipe(ends) < 0)
        return no_child(errno, error);
    if (pipe(ready) < 0) {
        int errnum = errno;

        close(ends[0]);
        close(ends[1]);
        return no_child(errnum, error);
    }
    for (; started < RACERS && !failed; started += !failed) {
        struct attempt attempt = {&prober->object, IF_MATCH, prober->etag,
                                  texts[started],  "7",      -1};

        snprintf(texts[started], sizeof(texts[started]), "racer %d of round %d",
                 started, round);
        children[started] = fork();
        if (children[started] == 0) {
            close(ends[1]);
            close(ready[0]);
            _exit(write_in_child(prober, &attempt, ends[0], ready[1]));
        }
        if (children[started] < 0)
            failed = no_child(errno, error);
    }
    /* All of them are connected: now they do meet. */
    close(ready[1]);
    wait_for_end(ready[0]);
    close(ready[0]);
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < started; i++)
        if (wait_for(children[i]) == CHILD_DONE) {
            taken = i;
            count++;
        }
    /* None: all were refused, or answers were lost. Then nothing is shown. */
    if (!failed && count == 1)
        failed = has_text(prober, &prober->object, texts[taken], &has, error);
    *is_right = count == 0 || (count == 1 && has);
    return failed ? failed : learn_etag(prober, error);
}

static enum hf_err race(struct prober *prober, struct hf_error *error)
{
    bool is_right = true;

    for (int round = 0; round < RACE_ROUNDS && is_right; round++) {
        enum hf_err failed = race_once(prober, round, &is_right, error);

        if (failed)
            return failed;
    }
    note(prober, HF_S3_PROBE_RACE, is_right);
    return HF_ERR_OK;
}

/* Has the slow writer sent half of its bytes? */
static bool is_half_way(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLIN};
    char byte;

    return poll(&end, 1, HALF_LIMIT_MS) == 1 && read(fd, &byte, 1) == 1;
}

/* A write that begins, stands still half way, and goes on after another. */
static enum hf_err overtake(struct prober *prober, const char *slow,
                            struct hf_error *error)
{
    struct attempt attempt = {&prober->object,         IF_MATCH, prober->etag,
                              "the one that overtook", "6",      -1};
    enum hf_s3_fate fate = HF_S3_OPEN;
    bool has = false;
    int slow_status;
    int ends[2];
    pid_t child;
    enum hf_err failed = HF_ERR_OK;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return no_child(errno, error);
    child = fork();
    if (child == 0) {
        attempt.text = slow;
        attempt.token = "5";
        attempt.pause_fd = ends[1];
        close(ends[0]);
        _exit(write_in_child(prober, &attempt, -1, -1));
    }
    if (child < 0)
        failed = no_child(errno, error);
    close(ends[1]);
    if (!failed && is_half_way(ends[0]))
        failed = try_write(prober, prober->s3, &attempt, &fate, NULL, error);
    send(ends[0], "", 1, MSG_NOSIGNAL);
    close(ends[0]);
    slow_status = child > 0 ? wait_for(child) : CHILD_FAILED;
    if (failed)
        return failed;
    /* A store may also hold the second writer off: one of them wins. */
    failed =
        has_text(prober, &prober->object,
                 slow_status == CHILD_DONE ? slow : attempt.text, &has, error);
    note(prober, HF_S3_PROBE_OVERTAKEN,
         (fate == HF_S3_DONE) != (slow_status == CHILD_DONE) && has);
    return failed ? failed : learn_etag(prober, error);
}

/* ---- all of it
 * ------------------------------------------------------------------ */

static enum hf_err check_mark(struct prober *prober, struct hf_error *error)
{
    struct hf_s3_object object;
    enum hf_err failed =
        hf_s3_look(prober->s3, &prober->object, &object, error);

    if (failed)
        return failed;
    note(prober, HF_S3_PROBE_MARK,
         object.exists && object.mark.token == INT64_MAX &&
             !strcmp(object.mark.grant, "lockfence") &&
             !strcmp(object.put, prober->id) &&
             !strcmp(object.etag, prober->etag));
    return HF_ERR_OK;
}

static enum hf_err check_same_bytes(struct prober *prober,
                                    struct hf_error *error)
{
    struct attempt attempt = {&prober->object, IF_MATCH, prober->etag,
                              "same",          "8",      -1};
    char first[HF_S3_ETAG_SIZE] = "";
    char second[HF_S3_ETAG_SIZE] = "";
    enum hf_s3_fate fate;
    enum hf_err failed =
        try_write(prober, prober->s3, &attempt, &fate, first, error);

    attempt.etag = first;
    attempt.token = "9";
    if (!failed)
        failed = try_write(prober, prober->s3, &attempt, &fate, second, error);
    prober->probe->etag_is_of_bytes_alone = !strcmp(first, second);
    return failed;
}

static bool has_failed(const struct hf_s3_probe *probe)
{
    for (int i = 0; i < HF_S3_PROBE_COUNT; i++)
        if (probe->results[i] == HF_S3_PROBE_FAILED)
            return true;
    return false;
}

/* One after the other while they pass: each needs what those before it did. */
static enum hf_err run_cases(struct prober *prober, char *slow,
                             struct hf_error *error)
{
    const struct hf_s3_name *name = &prober->object;
    const char *most = "9223372036854775807";
    const struct attempt create = {name, IF_ABSENT, NULL, "first", most, -1};
    const struct attempt again = {name, IF_ABSENT, NULL, "again", "1", -1};
    const struct attempt match = {name,     IF_MATCH, prober->etag,
                                  "second", "2",      -1};
    const struct attempt mismatch = {name,    IF_MATCH, prober->older,
                                     "third", "3",      -1};
    const struct attempt missing = {&prober->absent, IF_MATCH, prober->etag,
                                    "fourth",        "4",      -1};
    enum hf_err failed =
        expect(prober, HF_S3_PROBE_CREATE, &create, true, "first", error);

    if (!failed && !has_failed(prober->probe))
        failed = check_mark(prober, error);
    if (!failed && !has_failed(prober->probe))
        failed = expect(prober, HF_S3_PROBE_CREATE_AGAIN, &again, false,
                        "first", error);
    if (!failed && !has_failed(prober->probe))
        failed =
            expect(prober, HF_S3_PROBE_MATCH, &match, true, "second", error);
    if (!failed && !has_failed(prober->probe) &&
        !strcmp(prober->etag, prober->older))
        note(prober, HF_S3_PROBE_MATCH, false);
    if (!failed && !has_failed(prober->probe))
        failed = expect(prober, HF_S3_PROBE_MISMATCH, &mismatch, false,
                        "second", error);
    if (!failed && !has_failed(prober->probe))
        failed =
            expect(prober, HF_S3_PROBE_MISSING, &missing, false, NULL, error);
    if (!failed && !has_failed(prober->probe))
        failed = overtake(prober, slow, error);
    if (!failed && !has_failed(prober->probe))
        failed = race(prober, error);
    if (!failed && !has_failed(prober->probe))
        failed = check_same_bytes(prober, error);
    return failed;
}

static void delete_object(struct prober *prober, const struct hf_s3_name *name)
{
    const struct hf_s3_call call = {
        .method = "DELETE", .name = name, .to_fd = -1};
    struct hf_s3_answer answer;

    if (!hf_s3_do(prober->s3, &call, &answer, NULL))
        hf_s3_answer_clear(&answer);
}

static bool name_object(struct prober *prober, const struct hf_s3_name *folder,
                        const char *end, struct hf_s3_name *name)
{
    int size;

    memcpy(name->bucket, folder->bucket, sizeof(name->bucket));
    size = snprintf(name->key, sizeof(name->key), "%s.lockfence-probe-%s-%s",
                    folder->key, prober->id, end);
    return size < (int)sizeof(name->key);
}

enum hf_err hf_s3_probe_run(struct hf_s3 *s3, const struct hf_s3_config *config,
                            const char *user_agent,
                            const struct hf_s3_name *folder,
                            struct hf_s3_probe *probe, struct hf_error *error)
{
    struct prober prober = {
        .s3 = s3, .config = config, .user_agent = user_agent, .probe = probe};
    enum hf_err failed = hf_s3_put_id(hf_s3_sys(s3), prober.id, error);
    char *slow;

    *probe = (struct hf_s3_probe){.etag_is_of_bytes_alone = false};
    if (failed)
        return failed;
    if (!name_object(&prober, folder, "a", &prober.object) ||
        !name_object(&prober, folder, "b", &prober.absent))
        return hf_error_set(error, HF_ERR_USAGE,
                            "the name of the folder is too long");
    slow = malloc(SLOW_BYTES + 1);
    if (!slow)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for the probe");
    memset(slow, 's', SLOW_BYTES);
    slow[SLOW_BYTES] = '\0';
    failed = run_cases(&prober, slow, error);
    free(slow);
    delete_object(&prober, &prober.object);
    delete_object(&prober, &prober.absent);
    for (int i = 0; i < HF_S3_PROBE_COUNT && !failed; i++)
        if (probe->results[i] == HF_S3_PROBE_FAILED)
            failed =
                hf_error_set(error, HF_ERR_UNFENCED, "s3://%s is no fence: %s",
                             folder->bucket, cases[i].meaning);
    return failed;
}
