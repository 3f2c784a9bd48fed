/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/s3_body.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A stamp has a key of 512 bytes in it at most. */
enum { CHUNK = 1 << 16, TAIL_MAX = 4096 };

static enum hf_err too_large(struct hf_error *error)
{
    return hf_error_set(error, HF_ERR_USAGE,
                        "more than 5 GiB: one conditional write takes no more, "
                        "and parts that are joined later are no fence");
}

/* Begin again over the file, then the tail. */
static enum hf_err hash_all(struct hf_sys *sys, struct hf_s3_bytes *bytes,
                            struct hf_error *error)
{
    uint8_t digest[HF_SHA256_SIZE];
    struct hf_sha256 hash;
    uint64_t done = 0;
    char *chunk = malloc(CHUNK);

    if (!chunk)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory to read a file");
    hf_sha256_begin(&hash);
    while (done < bytes->body.size) {
        ssize_t got =
            sys->pread(sys, bytes->body.fd, chunk, CHUNK, (off_t)done);

        if (got <= 0) {
            free(chunk);
            if (got < 0)
                return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, (int)-got,
                                          "cannot read the bytes to send");
            return hf_error_set(error, HF_ERR_UNAVAILABLE,
                                "the file became shorter while it was read");
        }
        if ((uint64_t)got > bytes->body.size - done)
            got = (ssize_t)(bytes->body.size - done);
        hf_sha256_add(&hash, chunk, (size_t)got);
        done += (uint64_t)got;
    }
    free(chunk);
    if (bytes->tail.size)
        hf_sha256_add(&hash, bytes->tail.data, bytes->tail.size);
    bytes->body.tail = bytes->tail.data;
    bytes->body.tail_size = bytes->tail.size;
    hf_sha256_end(&hash, digest);
    hf_sha256_text(digest, bytes->hash);
    return HF_ERR_OK;
}

/* ---- a stream
 * ---------------------------------------------------------------- */

/* A file without a name, in `folder`. */
static enum hf_err open_temporary(struct hf_sys *sys, const char *folder,
                                  int *fd, struct hf_error *error)
{
    char path[4096];
    int made = sys->open(sys, AT_FDCWD, folder, O_TMPFILE | O_RDWR, 0600);

    if (made == -EOPNOTSUPP || made == -EISDIR || made == -EINVAL) {
        /* A file system that knows none: take its name away at once. */
        uint64_t chance = 0;

        sys->random(sys, &chance, sizeof(chance));
        snprintf(path, sizeof(path), "%s/lockfence-%016" PRIx64, folder,
                 chance);
        made = sys->open(sys, AT_FDCWD, path, O_CREAT | O_EXCL | O_RDWR, 0600);
        if (made >= 0)
            sys->unlink(sys, AT_FDCWD, path);
    }
    if (made < 0)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, -made,
                                  "no temporary file in %.200s (TMPDIR)",
                                  folder);
    *fd = made;
    return HF_ERR_OK;
}

/* Copy all of `from` to `to`, so many bytes. */
static enum hf_err keep_stream(struct hf_sys *sys, int from, int to,
                               const char *folder, uint64_t *size,
                               struct hf_error *error)
{
    char *chunk = malloc(CHUNK);
    enum hf_err failed = HF_ERR_OK;

    *size = 0;
    if (!chunk)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory to read a stream");
    while (!failed) {
        ssize_t got = read(from, chunk, CHUNK);
        ssize_t put;

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            failed = hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                        "cannot read standard input");
        if (got <= 0)
            break;
        put = sys->pwrite(sys, to, chunk, (size_t)got, (off_t)*size);
        if (put == -ENOSPC || put == -EDQUOT)
            failed = hf_error_set(error, HF_ERR_NOSPACE,
                                  "%.200s is full (the bytes to send are kept "
                                  "there first; TMPDIR names another folder)",
                                  folder);
        else if (put < 0)
            failed = hf_error_set_errno(error, HF_ERR_UNAVAILABLE, (int)-put,
                                        "writing a temporary file in %.200s",
                                        folder);
        *size += (uint64_t)got;
        if (!failed && *size > HF_S3_BODY_MAX)
            failed = too_large(error);
    }
    free(chunk);
    return failed;
}

static enum hf_err take_stream(struct hf_sys *sys, int from,
                               const char *temporary, struct hf_s3_body *body,
                               struct hf_error *error)
{
    const char *folder = temporary ? temporary : "/tmp";
    enum hf_err failed = open_temporary(sys, folder, &body->fd, error);

    if (failed)
        return failed;
    failed = keep_stream(sys, from, body->fd, folder, &body->size, error);
    if (failed)
        sys->close(sys, body->fd);
    return failed;
}

/* ---- a file
 * ------------------------------------------------------------------ */

static enum hf_err take_file(struct hf_sys *sys, const char *path,
                             const char *temporary, struct hf_s3_body *body,
                             struct hf_error *error)
{
    int fd = sys->open(sys, AT_FDCWD, path, O_RDONLY, 0);
    enum hf_err failed = HF_ERR_OK;
    struct stat found;
    int got;

    if (fd < 0)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, -fd, "%.300s",
                                  path);
    got = sys->fstat(sys, fd, &found);
    if (got < 0)
        failed =
            hf_error_set_errno(error, HF_ERR_UNAVAILABLE, -got, "%.300s", path);
    else if (S_ISDIR(found.st_mode))
        failed = hf_error_set(error, HF_ERR_USAGE, "%.300s is a folder", path);
    else if (S_ISREG(found.st_mode) && (uint64_t)found.st_size > HF_S3_BODY_MAX)
        failed = too_large(error);
    if (!failed && !S_ISREG(found.st_mode)) {
        failed = take_stream(sys, fd, temporary, body, error);
        sys->close(sys, fd);
        return failed;
    }
    if (failed) {
        sys->close(sys, fd);
        return failed;
    }
    body->fd = fd;
    body->size = (uint64_t)found.st_size;
    return HF_ERR_OK;
}

enum hf_err hf_s3_bytes_take(struct hf_sys *sys, const char *path,
                             const char *temporary, struct hf_s3_bytes *bytes,
                             struct hf_error *error)
{
    struct hf_s3_bytes taken = {.body = {.fd = -1, .pause_fd = -1},
                                .owns_fd = true};
    enum hf_err failed;

    hf_buf_init(&taken.tail, TAIL_MAX);
    if (!strcmp(path, "-"))
        failed = take_stream(sys, STDIN_FILENO, temporary, &taken.body, error);
    else
        failed = take_file(sys, path, temporary, &taken.body, error);
    if (failed)
        return failed;
    failed = hash_all(sys, &taken, error);
    if (failed)
        hf_s3_bytes_clear(sys, &taken);
    else
        *bytes = taken;
    return failed;
}

enum hf_err hf_s3_bytes_make(struct hf_sys *sys, struct hf_s3_bytes *bytes,
                             const char *data, size_t size,
                             struct hf_error *error)
{
    struct hf_s3_bytes made = {.body = {.fd = -1, .pause_fd = -1}};

    hf_buf_init(&made.tail, size > TAIL_MAX ? size : TAIL_MAX);
    if (hf_buf_add(&made.tail, data, size))
        return hf_error_set(error, made.tail.failed, "no room for the bytes");
    *bytes = made;
    return hash_all(sys, bytes, error);
}

void hf_s3_bytes_clear(struct hf_sys *sys, struct hf_s3_bytes *bytes)
{
    if (bytes->owns_fd && bytes->body.fd >= 0)
        sys->close(sys, bytes->body.fd);
    bytes->body.fd = -1;
    hf_buf_clear(&bytes->tail);
}

/* ---- stamps
 * ------------------------------------------------------------------ */

static void add_words(struct hf_buf *to, const struct hf_fence_claim *claim,
                      const char *put)
{
    hf_buf_printf(to, "lock-token=%" PRIu64 " lock-grant=%s lock-put=%s",
                  claim->token, claim->grant[0] ? claim->grant : "none", put);
}

/* RFC 1952: a member with FCOMMENT and an empty, final block. */
static void add_gzip(struct hf_buf *to, const struct hf_fence_claim *claim,
                     const char *put)
{
    static const char head[10] = {0x1f, (char)0x8b, 8, 1 << 4, 0,
                                  0,    0,          0, 0,      (char)255};
    static const char end[10] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0};

    hf_buf_add(to, head, sizeof(head));
    add_words(to, claim, put);
    hf_buf_add(to, "", 1);
    hf_buf_add(to, end, sizeof(end));
}

/* RFC 8878, 3.1.2: magic number, size, and bytes that decoders skip. */
static void add_zstd(struct hf_buf *to, const struct hf_fence_claim *claim,
                     const char *put)
{
    char head[8] = {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0};
    struct hf_buf words;

    hf_buf_init(&words, TAIL_MAX);
    add_words(&words, claim, put);
    head[4] = (char)(words.size & 255);
    head[5] = (char)(words.size >> 8);
    hf_buf_add(to, head, sizeof(head));
    hf_buf_add(to, words.data ? words.data : "", words.size);
    if (words.failed)
        to->failed = words.failed;
    hf_buf_clear(&words);
}

/* Does the file begin with these bytes? */
static bool begins_with(struct hf_sys *sys, const struct hf_s3_body *body,
                        const char *bytes, size_t size)
{
    char found[4];

    return body->size >= size &&
           sys->pread(sys, body->fd, found, size, 0) == (ssize_t)size &&
           !memcmp(found, bytes, size);
}

static bool ends_a_line(struct hf_sys *sys, const struct hf_s3_body *body)
{
    char last;

    return !body->size ||
           (sys->pread(sys, body->fd, &last, 1, (off_t)(body->size - 1)) == 1 &&
            last == '\n');
}

enum hf_err hf_s3_bytes_stamp(struct hf_sys *sys, struct hf_s3_bytes *bytes,
                              enum hf_s3_stamp stamp, const char *prefix,
                              const struct hf_fence_claim *claim,
                              const char *put, struct hf_error *error)
{
    struct hf_buf *tail = &bytes->tail;

    switch (stamp) {
    case HF_S3_STAMP_NONE:
        return HF_ERR_OK;
    case HF_S3_STAMP_GZIP:
        if (!begins_with(sys, &bytes->body, "\x1f\x8b", 2))
            return hf_error_set(error, HF_ERR_USAGE,
                                "--stamp=gzip: the bytes are not gzip's");
        add_gzip(tail, claim, put);
        break;
    case HF_S3_STAMP_ZSTD:
        if (!begins_with(sys, &bytes->body, "\x28\xb5\x2f\xfd", 4))
            return hf_error_set(error, HF_ERR_USAGE,
                                "--stamp=zstd: the bytes are not zstd's");
        add_zstd(tail, claim, put);
        break;
    case HF_S3_STAMP_LINE:
        if (!ends_a_line(sys, &bytes->body))
            hf_buf_add_str(tail, "\n");
        hf_buf_add_str(tail, prefix);
        add_words(tail, claim, put);
        hf_buf_add_str(tail, "\n");
        break;
    }
    if (tail->failed)
        return hf_error_set(error, tail->failed, "no room for the stamp");
    if (bytes->body.size + tail->size > HF_S3_BODY_MAX)
        return too_large(error);
    return hash_all(sys, bytes, error);
}
