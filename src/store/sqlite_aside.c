/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/sqlite_gate.h"
#include "store/sqlite_place.h"
#include "store/sqlite_recover.h"
#include "store/sqlite_table.h"

enum { NAMES_MAX = 100, CHUNK = 65536 };

/* NAME.WHY-20261201T101500Z, with a number behind it when that is taken. */
static void make_name(struct hf_sqlite *sq, const char *why, int number,
                      char *to, size_t size)
{
    time_t seconds = (time_t)(sq->sys->wall(sq->sys).ns / 1000000000);
    char tail[16] = "";
    struct tm utc;

    gmtime_r(&seconds, &utc);
    if (number)
        snprintf(tail, sizeof(tail), "-%d", number);
    snprintf(to, size, "%s.%s-%04d%02d%02dT%02d%02d%02dZ%s", sq->place.name,
             why, utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
             utc.tm_min, utc.tm_sec, tail);
}

static int copy_bytes(struct hf_sqlite *sq, int to)
{
    struct hf_sys *sys = sq->sys;
    uint8_t *bytes = malloc(CHUNK);
    ssize_t got = bytes ? 1 : -ENOMEM;

    for (off_t at = 0; got > 0; at += got) {
        got = sys->pread(sys, sq->gate_fd, bytes, CHUNK, at);
        if (got > 0) {
            ssize_t put = sys->pwrite(sys, to, bytes, (size_t)got, at);

            got = put < 0 ? put : got;
        }
    }
    free(bytes);
    return (int)got;
}

/*
 * Copied and emptied in place rather than renamed: so the gate stays where it
 * is, and it works in a sticky folder on another member's file.
 */
static int copy_aside(struct hf_sqlite *sq, const char *name)
{
    struct hf_sys *sys = sq->sys;
    struct hf_error ignored;
    int fd;
    int got;

    if (hf_sqlite_place_open(sq, sq->folder_fd, sq->place.folder, name,
                             HF_SQLITE_OPEN_NEW, &fd, NULL, &ignored))
        return -EIO;
    if (fd < 0)
        return -EEXIST;
    got = copy_bytes(sq, fd);
    sys->close(sys, fd);
    if (!got)
        got = sys->truncate(sys, sq->gate_fd, 0);
    if (got)
        (void)sys->unlink(sys, sq->folder_fd, name);
    return got;
}

/* No room for a copy: under a new name it needs none. */
static int rename_aside(struct hf_sqlite *sq, const char *name)
{
    struct hf_sys *sys = sq->sys;
    struct stat about;

    if (!sys->lstat(sys, sq->folder_fd, name, &about))
        return -EEXIST;
    return sys->rename(sys, sq->folder_fd, sq->place.name, sq->folder_fd, name);
}

enum hf_err hf_sqlite_set_aside(struct hf_sqlite *sq, const char *why,
                                struct hf_error *error)
{
    static const uint8_t void_header[28];
    char name[256];
    int got = -EEXIST;
    bool renamed = false;

    hf_sqlite_disconnect(sq);
    for (int number = 0; got == -EEXIST && number < NAMES_MAX; number++) {
        make_name(sq, why, number, name, sizeof(name));
        got = copy_aside(sq, name);
        if (got && got != -EEXIST) {
            got = rename_aside(sq, name);
            renamed = !got;
        }
    }
    if (got)
        return hf_error_set_errno(
            error, HF_ERR_DAMAGED, -got,
            "%s is %s and cannot be kept aside: move it away, "
            "or name another path with --store",
            sq->place.path, why);
    free(sq->kept);
    if (asprintf(&sq->kept, "%s/%s", sq->place.folder, name) < 0)
        sq->kept = NULL;
    sq->kept_why = why;
    if (sq->journal_fd >= 0)
        (void)sq->sys->pwrite(sq->sys, sq->journal_fd, void_header,
                              sizeof(void_header), 0);
    /* The name is another file's now, and the gate with it. */
    if (renamed)
        hf_sqlite_detach(sq);
    return HF_ERR_OK;
}
