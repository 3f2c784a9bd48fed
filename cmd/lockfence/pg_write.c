/* SPDX-License-Identifier: Apache-2.0 */
/* lockfence pg write: SQL or data in one guarded transaction. */
#include "fence/pg_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cmd/lockfence/commands.h"
#include "cmd/lockfence/pg.h"

enum { SCRIPT_BYTES_MAX = 64 << 20, DEFAULT_TRIES = 10 };

/* All that `fd` has. */
static enum hf_err read_all(int fd, const char *name, struct hf_buf *text,
                            struct hf_error *error)
{
    char chunk[65536];

    for (;;) {
        ssize_t got = read(fd, chunk, sizeof(chunk));
        int code = errno;

        if (got < 0 && code == EINTR)
            continue;
        if (got < 0)
            return hf_error_set_errno(error, HF_ERR_REJECTED, code,
                                      "cannot read %s", name);
        if (hf_buf_add(text, chunk, (size_t)got))
            return hf_error_set(error, text->failed,
                                "%s has more than %d MiB of SQL", name,
                                SCRIPT_BYTES_MAX >> 20);
        if (got == 0)
            break;
    }
    if (text->size > 0 && memchr(text->data, '\0', text->size))
        return hf_error_set(error, HF_ERR_USAGE, "%s is no text", name);
    return HF_ERR_OK;
}

static enum hf_err read_script(const struct lockfence_run *run,
                               struct hf_buf *text)
{
    const char *name = run->options->pg.file;
    struct hf_sys *sys = run->sys;
    enum hf_err err;
    int fd;

    if (run->options->pg.command)
        return hf_buf_add_str(text, run->options->pg.command);
    if (!name || strcmp(name, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", text, run->error);
    fd = sys->open(sys, AT_FDCWD, name, O_RDONLY, 0);
    if (fd < 0)
        return hf_error_set_errno(run->error, HF_ERR_USAGE, -fd,
                                  "cannot open %s", name);
    err = read_all(fd, name, text, run->error);
    sys->close(sys, fd);
    return err;
}

static enum hf_err write_to(const struct lockfence_run *run,
                            struct hf_buf *script)
{
    const struct lockfence_options *options = run->options;
    struct hf_pg_write write = {
        .dsn = options->pg.dsn,
        .isolation = options->pg.isolation.is_given
                         ? (enum hf_pg_isolation)options->pg.isolation.index
                         : HF_PG_READ_COMMITTED,
        .copy = options->pg.copy,
        .copy_options =
            options->pg.copy_options ? options->pg.copy_options : "",
        .input = STDIN_FILENO,
        .tries = options->pg.tries.is_given ? options->pg.tries.number
                                            : DEFAULT_TRIES,
    };
    struct hf_fence_claim claim;
    enum hf_err err = frame_claim(options, &claim, run->error);

    if (!err && !claim.key[0])
        err = hf_error_set(run->error, HF_ERR_USAGE,
                           "which key was the token granted for? LOCK_KEY is "
                           "not set, and --key KEY is missing");
    if (!err && !write.copy)
        err = read_script(run, script);
    if (err)
        return err;
    write.sql = script->data;
    write.sql_size = script->size;
    return hf_pg_write(run->sys, &write, &claim, run->error);
}

enum hf_err command_pg_write(const struct lockfence_run *run)
{
    struct hf_buf script;
    enum hf_err err;

    hf_buf_init(&script, SCRIPT_BYTES_MAX);
    err = write_to(run, &script);
    hf_buf_clear(&script);
    return err;
}
