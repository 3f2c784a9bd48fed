/* SPDX-License-Identifier: Apache-2.0 */
#include "fence/file_attr.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The kernel's own limits of a list and of a value. */
enum { LIST_MAX = 65536, VALUE_MAX = 65536 };

/* Room for one copy; some of it for the list of the other file. */
struct room {
    char list[LIST_MAX];
    char other_list[LIST_MAX];
    char value[VALUE_MAX];
    char other_value[VALUE_MAX];
};

static enum hf_err not_kept(const struct hf_fence_place *place,
                            const char *what, int errnum,
                            struct hf_error *error)
{
    return hf_fence_io_error(error, errnum,
                             "%s of %s could not be kept, so "
                             "nothing was changed",
                             what, place->path);
}

static enum hf_err copy_owner(const struct hf_fence_place *place,
                              struct hf_sys *sys, int to,
                              struct hf_error *error)
{
    struct stat stat;
    int result = sys->fstat(sys, to, &stat);

    if (result < 0)
        return not_kept(place, "the owner", -result, error);
    if (stat.st_uid != place->stat.st_uid) {
        result = sys->fchown(sys, to, place->stat.st_uid, (gid_t)-1);
        if (result < 0)
            return not_kept(place, "the owner", -result, error);
    }
    if (stat.st_gid != place->stat.st_gid) {
        result = sys->fchown(sys, to, (uid_t)-1, place->stat.st_gid);
        if (result < 0)
            return not_kept(place, "the group", -result, error);
    }
    /* After the owner: a change of owner clears the set-id bits. */
    result = sys->fchmod(sys, to, place->stat.st_mode & 07777);
    return result < 0 ? not_kept(place, "the mode", -result, error) : HF_ERR_OK;
}

/* Hashes of the contents, which the kernel makes anew. */
static bool is_of_contents(const char *name)
{
    return strcmp(name, "security.ima") == 0 ||
           strcmp(name, "security.evm") == 0;
}

/* Labels that every file has: they are set, never taken away. */
static bool is_label(const char *name)
{
    return strncmp(name, "security.", 9) == 0;
}

static bool is_listed(const char *list, size_t size, const char *name)
{
    for (size_t at = 0; at < size; at += strlen(list + at) + 1) {
        if (strcmp(list + at, name) == 0)
            return true;
    }
    return false;
}

/* Bytes of the list; 0 where there are none or the file system has none. */
static ssize_t list_names(int fd, char list[LIST_MAX])
{
    ssize_t size = flistxattr(fd, list, LIST_MAX);

    if (size < 0)
        return errno == ENOTSUP ? 0 : -errno;
    return size;
}

static int copy_value(struct room *room, int from, int to, const char *name)
{
    ssize_t size = fgetxattr(from, name, room->value, VALUE_MAX);
    ssize_t other;

    if (size < 0)
        return errno == ENODATA ? 0 : -errno;
    /* Not every label may be set, even to what it is already. */
    other = fgetxattr(to, name, room->other_value, VALUE_MAX);
    if (other == size &&
        memcmp(room->value, room->other_value, (size_t)size) == 0)
        return 0;
    return fsetxattr(to, name, room->value, (size_t)size, 0) ? -errno : 0;
}

static enum hf_err copy_names(const struct hf_fence_place *place,
                              struct room *room, int from, int to,
                              struct hf_error *error)
{
    ssize_t size = list_names(from, room->list);
    ssize_t other = list_names(to, room->other_list);
    int result = 0;

    if (size < 0 || other < 0)
        return not_kept(place, "the extended attributes",
                        (int)-(size < 0 ? size : other), error);
    for (const char *name = room->other_list; name < room->other_list + other;
         name += strlen(name) + 1) {
        /* An ACL that came from the folder, say. */
        if (!is_label(name) && !is_listed(room->list, (size_t)size, name) &&
            fremovexattr(to, name) && errno != ENODATA)
            return not_kept(place, name, errno, error);
    }
    for (const char *name = room->list; name < room->list + size;
         name += strlen(name) + 1) {
        if (!is_of_contents(name))
            result = copy_value(room, from, to, name);
        if (result < 0)
            return not_kept(place, name, -result, error);
    }
    return HF_ERR_OK;
}

/*
 * The file to read attributes from; it need not be readable for that, but then
 * /proc is the only way, and O_PATH alone does not do.
 */
static int open_to_look(const struct hf_fence_place *place, struct hf_sys *sys)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd = sys->open(sys, place->folder, place->name, O_RDONLY | flags, 0);

    if (fd == -EACCES)
        fd = sys->open(sys, place->folder, place->name, O_WRONLY | flags, 0);
    return fd;
}

enum hf_err hf_fence_attr_copy(const struct hf_fence_place *place,
                               struct hf_sys *sys, int to,
                               struct hf_error *error)
{
    enum hf_err err = copy_owner(place, sys, to, error);
    struct room *room;
    int from;

    if (err)
        return err;
    room = malloc(sizeof(*room));
    if (!room)
        return hf_error_set(error, HF_ERR_NOMEM, "memory ran out");
    from = open_to_look(place, sys);
    if (from < 0) {
        err = not_kept(place, "the extended attributes", -from, error);
    } else {
        err = copy_names(place, room, from, to, error);
        sys->close(sys, from);
    }
    free(room);
    return err;
}
