/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/sqlite_place.h"
#include "store/sqlite_store.h"

enum verdict { LOCAL, REMOTE };

static const struct {
    const char *name;
    uint32_t magic;
    enum verdict verdict;
} file_systems[] = {
#define HF_FS(name, magic, verdict) {name, magic, verdict},
#include "store/sqlite_fs.def"
#undef HF_FS
};

enum { FS_COUNT = sizeof(file_systems) / sizeof(file_systems[0]) };

static bool is_remote(const char *type)
{
    if (!strncmp(type, "fuse", 4))
        return true;
    for (size_t i = 0; i < FS_COUNT; i++) {
        if (!strcmp(file_systems[i].name, type))
            return file_systems[i].verdict == REMOTE;
    }
    return false;
}

static enum hf_err refuse(struct hf_error *error, const char *path,
                          const char *type)
{
    return hf_error_set(error, HF_ERR_UNAVAILABLE,
                        "%s lies on a file system of type %s, whose locks do "
                        "not exclude reliably: name a path on a local disk "
                        "with --store",
                        path, type);
}

/* ---- by name, before anything is touched ---- */

/* In place: "\040" and its like, as the kernel writes them, become the byte. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] && from[2] && from[3]) {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 +
                         (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* Is `path` at or below `mount`? */
static bool lies_below(const char *path, const char *mount)
{
    size_t length = strlen(mount);

    if (length == 1)
        return true;
    return !strncmp(path, mount, length) &&
           (path[length] == '/' || path[length] == '\0');
}

struct found_mount {
    size_t length;
    char type[64];
};

/* A line of /proc/self/mounts: what, where, type, options. Later ones lie on
 * top of earlier ones. */
static void look_at_mount(char *line, const char *path,
                          struct found_mount *found)
{
    char *save = NULL;
    char *where;
    char *type;

    if (!strtok_r(line, " ", &save))
        return;
    where = strtok_r(NULL, " ", &save);
    type = strtok_r(NULL, " ", &save);
    if (!where || !type)
        return;
    unescape(where);
    if (!lies_below(path, where) || strlen(where) < found->length)
        return;
    found->length = strlen(where);
    snprintf(found->type, sizeof(found->type), "%s", type);
}

enum hf_err hf_sqlite_place_mounts(const struct hf_sqlite_place *place,
                                   struct hf_error *error)
{
    struct found_mount found = {.length = 0};
    char buffer[8192];
    size_t held = 0;
    ssize_t got;
    int fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);

    /* Without /proc only what statfs(2) says is left. */
    if (fd < 0)
        return HF_ERR_OK;
    while ((got = read(fd, buffer + held, sizeof(buffer) - 1 - held)) > 0) {
        char *line = buffer;
        char *end;

        held += (size_t)got;
        buffer[held] = '\0';
        while ((end = strchr(line, '\n'))) {
            *end = '\0';
            look_at_mount(line, place->path, &found);
            line = end + 1;
        }
        held -= (size_t)(line - buffer);
        /* A line longer than all of this is of no file system that we know. */
        if (held == sizeof(buffer) - 1)
            held = 0;
        memmove(buffer, line, held);
    }
    close(fd);
    if (is_remote(found.type))
        return refuse(error, place->path, found.type);
    return HF_ERR_OK;
}

/* ---- by number, once it is open ---- */

enum hf_err hf_sqlite_place_fs(struct hf_sqlite *sq, int fd, const char *path,
                               struct hf_error *error)
{
    char unknown[32];
    uint64_t magic;
    int got = sq->sys->fs_type(sq->sys, fd, &magic);

    if (got)
        return hf_sqlite_place_error(error, -got, "ask for the file system of",
                                     path, "");
    for (size_t i = 0; i < FS_COUNT; i++) {
        if (file_systems[i].magic != magic || !magic)
            continue;
        if (file_systems[i].verdict == LOCAL)
            return HF_ERR_OK;
        return refuse(error, path, file_systems[i].name);
    }
    snprintf(unknown, sizeof(unknown), "0x%llx (unknown)",
             (unsigned long long)magic);
    return refuse(error, path, unknown);
}
