/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "holdfast"
#define NAME "lockctl_history"

/* Ours, and nobody else may write there? */
static bool is_ours(const struct stat *about)
{
    return about->st_uid == geteuid() &&
           !(about->st_mode & (S_IWGRP | S_IWOTH));
}

/*
 * Go on from folder *at into `name`, making it if need be; *at is closed. Below
 * a folder of somebody else's nothing is made: with sudo, HOME may be that of
 * the user, who would then find files of root there.
 */
static int enter(int *at, const char *name, bool is_last)
{
    struct stat about;
    int next = -1;
    int errnum = 0;

    if (*at < 0)
        return errno = ENOENT;
    if (fstat(*at, &about))
        errnum = errno;
    else if (is_ours(&about))
        (void)mkdirat(*at, name, 0700);
    if (!errnum) {
        next = openat(*at, name,
                      O_RDONLY | O_DIRECTORY | O_CLOEXEC |
                          (is_last ? O_NOFOLLOW : 0));
        errnum = next < 0 ? errno : 0;
    }
    (void)close(*at);
    *at = next;
    return errnum;
}

/* The folder of our state, open; -1: none (*errnum 0: no home). */
static int open_folder(struct history *history, int *errnum)
{
    static const char *const below_home[] = {".local", "state", NULL};
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    bool has_state = state && *state == '/';
    const char *const *name;
    int folder;

    *errnum = 0;
    if (!has_state && (!home || *home != '/'))
        return -1;
    snprintf(history->path, sizeof(history->path), "%s%s/" FOLDER "/" NAME,
             has_state ? state : home, has_state ? "" : "/.local/state");
    folder = open(has_state ? state : home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        *errnum = errno;
    for (name = below_home; folder >= 0 && !has_state && *name; name++)
        *errnum = enter(&folder, *name, false);
    if (folder >= 0)
        *errnum = enter(&folder, FOLDER, true);
    return folder;
}

enum hf_err history_open(struct history *history, struct hf_error *error)
{
    struct stat about;
    int errnum;
    int folder;
    int fd;

    memset(history, 0, sizeof(*history));
    folder = open_folder(history, &errnum);
    if (folder < 0 && errnum == 0)
        return HF_ERR_OK;
    if (folder < 0)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errnum,
                                  "no history is kept: %.300s", history->path);
    /* Not blocked by a FIFO of that name, and not led away by a link. */
    fd = openat(folder, NAME,
                O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK |
                    O_CLOEXEC,
                0600);
    errnum = errno;
    (void)close(folder);
    if (fd < 0)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errnum,
                                  "no history is kept: %.300s", history->path);
    if (fstat(fd, &about) || !S_ISREG(about.st_mode) || !is_ours(&about) ||
        fchmod(fd, 0600)) {
        (void)close(fd);
        return hf_error_set(error, HF_ERR_DENIED,
                            "no history is kept: %.300s is no file of yours "
                            "alone",
                            history->path);
    }
    history->file = fdopen(fd, "a+");
    if (!history->file) {
        (void)close(fd);
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for the history");
    }
    (void)fseek(history->file, 0, SEEK_SET);
    return HF_ERR_OK;
}

bool history_next(struct history *history, char **buffer, size_t *size)
{
    ssize_t got;

    if (!history->file)
        return false;
    got = getline(buffer, size, history->file);
    if (got < 0)
        return false;
    if (got > 0 && (*buffer)[got - 1] == '\n')
        (*buffer)[got - 1] = '\0';
    history->lines++;
    return true;
}

/* Forget the older half. In place: the file stays the one that other prompts
 * append to; what they add meanwhile may be forgotten too. */
static void halve(struct history *history)
{
    size_t skip = history->lines - HISTORY_LINES_MAX / 2;
    char *line = NULL;
    char *kept = NULL;
    size_t kept_size = 0;
    size_t size = 0;
    FILE *to = open_memstream(&kept, &kept_size);

    (void)fseek(history->file, 0, SEEK_SET);
    while (to && getline(&line, &size, history->file) > 0) {
        if (skip > 0)
            skip--;
        else
            (void)fputs(line, to);
    }
    free(line);
    if (to && fclose(to) == 0 && ftruncate(fileno(history->file), 0) == 0) {
        (void)fwrite(kept, 1, kept_size, history->file);
        history->lines = HISTORY_LINES_MAX / 2;
    }
    free(kept);
}

void history_add(struct history *history, const char *line)
{
    if (!history->file)
        return;
    if (fprintf(history->file, "%s\n", line) > 0)
        history->lines++;
    if (history->lines > HISTORY_LINES_MAX)
        halve(history);
    (void)fflush(history->file);
}

void history_close(struct history *history)
{
    if (history->file)
        (void)fclose(history->file);
    history->file = NULL;
}
