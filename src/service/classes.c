/* SPDX-License-Identifier: Apache-2.0 */
#include "service/classes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/yaml.h"
#include "service/class_file.h"

enum { PATH_SIZE = 4096 };

/* Could anybody but root and us have written it? Fills `error` if so. */
static enum hf_err distrust(const struct stat *about, const char *path,
                            struct hf_error *error)
{
    uid_t us = geteuid();

    if (about->st_uid != 0 && about->st_uid != us)
        return hf_error_set(
            error, HF_ERR_CONFIG,
            "%s belongs to user %u: class files and their folder must belong "
            "to root or to the user who runs this (%u)",
            path, (unsigned)about->st_uid, (unsigned)us);
    if (about->st_mode & (S_IWGRP | S_IWOTH))
        return hf_error_set(error, HF_ERR_CONFIG,
                            "%s can be written by %s (mode %03o): chmod go-w, "
                            "for who writes it decides on locks",
                            path,
                            about->st_mode & S_IWOTH ? "everybody" : "a group",
                            (unsigned)about->st_mode & 0777);
    return HF_ERR_OK;
}

static enum hf_err cannot_read(struct hf_error *error, int result,
                               const char *path)
{
    if (result == -ELOOP)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "%s is a symbolic link: put the file itself there",
                            path);
    return hf_error_set_errno(error, HF_ERR_CONFIG, -result, "cannot read %s",
                              path);
}

/* One byte more than a class file may have, so that its reader sees it. */
static enum hf_err slurp(struct hf_sys *sys, int fd, const char *path,
                         const char *name, struct hf_class *class,
                         struct hf_error *error)
{
    size_t room = HF_YAML_BYTES_MAX + 1;
    char *bytes = malloc(room);
    enum hf_err err;
    ssize_t size;

    if (!bytes)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory to read %s", path);
    size = sys->pread(sys, fd, bytes, room, 0);
    if (size < 0)
        err = cannot_read(error, (int)size, path);
    else
        err = hf_class_parse(name, path, bytes, (size_t)size, class, error);
    free(bytes);
    return err;
}

/* `fd` is open on the file at `path`: judge it and its folder, then read. */
static enum hf_err read_file(struct hf_sys *sys, const char *folder,
                             const char *path, const char *name, int fd,
                             bool even_so, struct hf_class_reading *reading,
                             struct hf_error *error)
{
    struct stat about;
    struct stat above;
    int at = sys->open(sys, AT_FDCWD, folder, O_PATH | O_DIRECTORY, 0);
    int result;

    if (at < 0)
        return cannot_read(error, at, folder);
    result = sys->fstat(sys, at, &above);
    (void)sys->close(sys, at);
    if (result < 0)
        return cannot_read(error, result, folder);
    result = sys->fstat(sys, fd, &about);
    if (result < 0)
        return cannot_read(error, result, path);
    if (!S_ISREG(about.st_mode))
        return hf_error_set(error, HF_ERR_CONFIG, "%s is not a file", path);
    if (!distrust(&above, folder, &reading->distrust))
        (void)distrust(&about, path, &reading->distrust);
    if (reading->distrust.code && !even_so) {
        if (error)
            *error = reading->distrust;
        return reading->distrust.code;
    }
    return slurp(sys, fd, path, name, &reading->class, error);
}

enum hf_err hf_class_read(struct hf_sys *sys, const char *folder,
                          const char *name, bool even_so,
                          struct hf_class_reading *reading,
                          struct hf_error *error)
{
    char path[PATH_SIZE];
    enum hf_err err = hf_class_check_name(name, error);
    int fd;

    if (err)
        return err;
    memset(reading, 0, sizeof(*reading));
    if (snprintf(path, sizeof(path), "%s/%s.yaml", folder, name) >= PATH_SIZE)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "the folder of class files has too long a name");
    /* NONBLOCK: a FIFO in its place must not hang us. */
    fd = sys->open(sys, AT_FDCWD, path,
                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (fd == -ENOENT && strcmp(name, hf_class_batch.name) == 0) {
        reading->class = hf_class_batch;
        reading->is_built_in = true;
        return HF_ERR_OK;
    }
    if (fd == -ENOENT)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "class \"%s\" is not known: there is no %s", name,
                            path);
    if (fd < 0)
        return cannot_read(error, fd, path);
    err = read_file(sys, folder, path, name, fd, even_so, reading, error);
    (void)sys->close(sys, fd);
    return err;
}

void hf_classes_init(struct hf_classes *classes, struct hf_sys *sys,
                     const char *folder)
{
    memset(classes, 0, sizeof(*classes));
    classes->sys = sys;
    classes->folder = folder ? folder : HF_CLASSES_FOLDER;
    classes->known.list = classes->list;
}

void hf_classes_clear(struct hf_classes *classes)
{
    size_t i;

    for (i = 0; i < classes->known.count; i++) {
        if (classes->list[i] != &hf_class_batch)
            free((void *)(uintptr_t)classes->list[i]);
    }
    classes->known.count = 0;
}

/* The built-in class as it stands, any other as a copy of our own. */
static const struct hf_class *keep(const struct hf_class_reading *reading)
{
    struct hf_class *copy;

    if (reading->is_built_in)
        return &hf_class_batch;
    copy = malloc(sizeof(*copy));
    if (copy)
        *copy = reading->class;
    return copy;
}

enum hf_err hf_classes_need(struct hf_classes *classes, const char *name,
                            struct hf_error *error)
{
    struct hf_class_reading reading;
    const struct hf_class *class;
    enum hf_err err;
    size_t i;

    for (i = 0; i < classes->known.count; i++) {
        if (strcmp(classes->list[i]->name, name) == 0)
            return HF_ERR_OK;
    }
    if (classes->known.count == HF_CLASSES_MAX)
        return hf_error_set(error, HF_ERR_CONFIG,
                            "more than %d classes in one process",
                            HF_CLASSES_MAX);
    err = hf_class_read(classes->sys, classes->folder, name, false, &reading,
                        error);
    if (err)
        return err;
    class = keep(&reading);
    if (!class)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory for a class");
    classes->list[classes->known.count++] = class;
    return HF_ERR_OK;
}
