/* SPDX-License-Identifier: Apache-2.0 */
/* lockfence filter: lines of TOKEN, tab, rest; the rest of those that are
 * current goes on. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/lockfence/commands.h"
#include "fence/file_mark.h"

enum { CHUNK_BYTES = 65536, LINE_BYTES_MAX = 1 << 20 };

struct filter {
    const struct lockfence_run *run;
    struct hf_fence_place place;
    char key[HF_KEY_SIZE];
    struct hf_buf in;  /* what was read and is not judged yet */
    struct hf_buf out; /* what passed and is not written yet */
    uint64_t line;
    enum hf_err refused; /* the first refusal; OK: none */
};

/* One line without its end: its rest goes to `out`, or a refusal is said. */
static void judge(struct filter *filter, struct hf_fence_file_mark *mark,
                  const char *line, size_t size)
{
    const char *tab = memchr(line, '\t', size);
    struct hf_fence_claim claim = {.token = 0};
    struct hf_error error = {HF_ERR_OK, ""};
    enum hf_err err;

    filter->line++;
    memcpy(claim.key, filter->key, sizeof(claim.key));
    if (!tab || !hf_token_parse(line, (size_t)(tab - line), &claim.token))
        err = hf_error_set(&error, HF_ERR_USAGE,
                           "does not begin with a token and a tab");
    else
        err = hf_fence_check(&mark->mark, &claim, filter->place.path, &error);
    if (!err) {
        hf_fence_raise(&mark->mark, &claim);
        hf_buf_add(&filter->out, tab + 1, size - (size_t)(tab + 1 - line));
        hf_buf_add(&filter->out, "\n", 1);
        return;
    }
    hf_error_wrap(&error, "line %" PRIu64, filter->line);
    frame_say(error.text);
    if (!filter->refused)
        filter->refused = err;
}

/* All whole lines of `in`; the last one, without its end, at the end of input.
 */
static enum hf_err judge_lines(struct filter *filter,
                               struct hf_fence_file_mark *mark, bool is_end)
{
    size_t done = 0;
    struct hf_buf rest;
    enum hf_err err;

    while (done < filter->in.size) {
        const char *line = filter->in.data + done;
        const char *end = memchr(line, '\n', filter->in.size - done);

        if (!end && !is_end)
            break;
        if (!end)
            end = filter->in.data + filter->in.size;
        judge(filter, mark, line, (size_t)(end - line));
        done += (size_t)(end - line) + 1;
    }
    if (filter->out.failed)
        return hf_error_set(filter->run->error, filter->out.failed,
                            "memory ran out");
    if (done >= filter->in.size) {
        hf_buf_reset(&filter->in);
        return HF_ERR_OK;
    }
    hf_buf_init(&rest, filter->in.limit);
    err = hf_buf_add(&rest, filter->in.data + done, filter->in.size - done);
    hf_buf_clear(&filter->in);
    filter->in = rest;
    return err;
}

/*
 * What is there, in one go: judged under the mark's lock, which is kept until
 * the lines are written, so that of two filters none overtakes the other. The
 * mark is raised, durably, before a line passes.
 */
static enum hf_err pass_on(struct filter *filter, bool is_end)
{
    const struct lockfence_run *run = filter->run;
    struct hf_fence_file_mark mark;
    uint64_t before;
    int fd = -1;
    enum hf_err err =
        hf_fence_mark_lock(&filter->place, run->sys, &fd, &mark, run->error);

    if (err)
        return err;
    before = mark.mark.token;
    err = judge_lines(filter, &mark, is_end);
    if (!err && mark.mark.token != before)
        err = hf_fence_mark_write(&filter->place, run->sys, fd, &mark,
                                  run->error);
    if (!err)
        err = frame_print(&filter->out, run->error);
    hf_buf_reset(&filter->out);
    run->sys->close(run->sys, fd);
    return err;
}

static enum hf_err read_on(struct filter *filter)
{
    char chunk[CHUNK_BYTES];
    enum hf_err err = HF_ERR_OK;

    while (!err) {
        ssize_t got = read(STDIN_FILENO, chunk, sizeof(chunk));
        int code = errno;

        if (got < 0 && code == EINTR)
            continue;
        if (got < 0)
            return hf_error_set_errno(filter->run->error, HF_ERR_REJECTED, code,
                                      "cannot read standard input");
        if (hf_buf_add(&filter->in, chunk, (size_t)got))
            return hf_error_set(filter->run->error, filter->in.failed,
                                "line %" PRIu64 " is longer than %d bytes",
                                filter->line + 1, LINE_BYTES_MAX);
        if (got == 0)
            return filter->in.size > 0 ? pass_on(filter, true) : HF_ERR_OK;
        if (memchr(chunk, '\n', (size_t)got))
            err = pass_on(filter, false);
    }
    return err;
}

static enum hf_err set_key(struct filter *filter)
{
    const struct hf_fence_words words = {
        .token = "1", /* each line has its own */
        .key = filter->run->options->key,
        .env_key = getenv("LOCK_KEY"),
    };
    struct hf_fence_claim claim = {.token = 0};
    enum hf_err err = hf_fence_claim_make(&words, &claim, filter->run->error);

    memcpy(filter->key, claim.key, sizeof(filter->key));
    return err;
}

enum hf_err command_filter(const struct lockfence_run *run)
{
    struct filter filter = {.run = run, .place = {.folder = -1}};
    enum hf_err err;

    if (!run->options->filter.mark)
        return hf_error_set(run->error, HF_ERR_USAGE,
                            "filter: --mark FILE is missing");
    err = set_key(&filter);
    if (err)
        return err;
    hf_buf_init(&filter.in, LINE_BYTES_MAX + CHUNK_BYTES);
    hf_buf_init(&filter.out, LINE_BYTES_MAX + CHUNK_BYTES);
    err = hf_fence_place_find(&filter.place, run->sys,
                              run->options->filter.mark, run->error);
    if (!err)
        err = hf_fence_place_is_local(&filter.place, run->sys, run->error);
    if (!err)
        err = read_on(&filter);
    hf_fence_place_clear(&filter.place, run->sys);
    hf_buf_clear(&filter.in);
    hf_buf_clear(&filter.out);
    if (err || !filter.refused)
        return err;
    /* Said line by line already. */
    *run->answer = hf_err_status(filter.refused);
    return HF_ERR_OK;
}
