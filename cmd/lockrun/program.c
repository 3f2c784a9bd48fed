/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

/* More than the kernel hands over: three quarters of 8 MiB, as of Linux 4.13.
 */
enum { ARGUMENT_BYTES_MAX = 8 << 20 };

/* Where execvp(3) looks when there is no PATH. */
#define FOLDERS_WITHOUT_PATH "/bin:/usr/bin"

static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", NULL};
static const char *const interpreters[] = {"sh",   "bash",   "dash",    "zsh",
                                           "ksh",  "python", "python3", "perl",
                                           "ruby", "node",   "php",     NULL};
static const char *const front_ends[] = {
    "docker", "podman", "nerdctl", "kubectl", "systemd-run", "ssh",
    "at",     "batch",  "tmux",    "screen",  NULL};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_among(const char *path, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(last_part(path), *names) == 0)
            return true;
    }
    return false;
}

const char *program_next(const char *folders, const char *name,
                         char path[PATH_MAX])
{
    size_t name_size = strlen(name) + 1;

    while (folders) {
        const char *end = strchrnul(folders, ':');
        size_t size = (size_t)(end - folders);
        const char *this = folders;

        folders = *end ? end + 1 : NULL;
        /* Longer than any path can be: it leads nowhere. */
        if (size + 1 + name_size > PATH_MAX)
            continue;
        /* An empty folder is the working one. */
        memcpy(path, this, size);
        if (size > 0)
            path[size++] = '/';
        memcpy(path + size, name, name_size);
        return this;
    }
    return NULL;
}

/* What follows the folder that `folders` begins with, NULL if none does. */
static const char *behind(const char *folders)
{
    const char *end = strchrnul(folders, ':');

    return *end ? end + 1 : NULL;
}

/* ---- the path from the root -----------------------------------------------
 */

/*
 * Take away "." and doubled slashes. ".." stays to whoever calls: what it means
 * depends on links.
 */
static void clean(char *path)
{
    char *to = path;
    const char *from = path;

    while (*from) {
        while (*from == '/')
            from++;
        if (from[0] == '.' && (from[1] == '/' || !from[1])) {
            from++;
            continue;
        }
        if (!*from)
            break;
        *to++ = '/';
        while (*from && *from != '/')
            *to++ = *from++;
    }
    if (to == path)
        *to++ = '/';
    *to = '\0';
}

static bool has_parent_step(const char *path)
{
    for (const char *at = path; (at = strstr(at, "..")); at += 2) {
        if ((at == path || at[-1] == '/') && (at[2] == '/' || !at[2]))
            return true;
    }
    return false;
}

/* Replace the folder of `path`, in which there are "..", by the real one. */
static void resolve_folder(char path[PATH_MAX])
{
    char real[PATH_MAX];
    char *name = strrchr(path, '/');
    size_t size;

    *name++ = '\0';
    if (realpath(path, real)) {
        size = strlen(real);
        if (size + 1 + strlen(name) < PATH_MAX) {
            memmove(path + size + 1, name, strlen(name) + 1);
            memcpy(path, real, size);
            path[size] = '/';
            return;
        }
    }
    name[-1] = '/';
}

static bool make_absolute(struct program *program)
{
    char absolute[PATH_MAX];
    size_t size = 0;

    if (program->path[0] != '/') {
        if (!getcwd(absolute, PATH_MAX))
            return false;
        size = strlen(absolute);
        absolute[size++] = '/';
    }
    if (size + strlen(program->path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(absolute + size, program->path, strlen(program->path) + 1);
    if (has_parent_step(absolute))
        resolve_folder(absolute);
    clean(absolute);
    program->absolute = strdup(absolute);
    return program->absolute != NULL;
}

/* ---- finding --------------------------------------------------------------
 */

/* As people write who come from flock(1). */
static bool is_like_lock_file(const char *name, int errnum)
{
    const char *end = strrchr(name, '.');
    struct stat about;

    if (errnum == ENOENT)
        return end && (!strcmp(end, ".lock") || !strcmp(end, ".lck"));
    return errnum == EACCES && strchr(name, '/') && !stat(name, &about) &&
           S_ISREG(about.st_mode) && about.st_size == 0;
}

static int not_found(const char *name, int errnum, struct hf_error *error)
{
    bool is_there = errnum != ENOENT && errnum != ENOTDIR && errnum != ELOOP &&
                    errnum != ENAMETOOLONG;

    if (is_like_lock_file(name, errnum))
        (void)hf_error_set(error, HF_ERR_USAGE,
                           "%s: %s (the first word is the command; instead of "
                           "a lock file say --key=NAME)",
                           name, strerror(errnum));
    else if (errnum == ENOENT && !strchr(name, '/'))
        (void)hf_error_set(error, HF_ERR_USAGE, "%s: command not found", name);
    else
        (void)hf_error_set_errno(error, HF_ERR_USAGE, errnum, "%s", name);
    return is_there ? 126 : 127;
}

/* Into `path`, or the exit status, told. */
static int look_up(struct program *program, const char *folders,
                   char path[PATH_MAX], struct hf_error *error)
{
    const char *name = program->name;
    const char *found = NULL;
    int errnum = ENOENT;

    if (strchr(name, '/')) {
        if (strlen(name) >= PATH_MAX)
            return not_found(name, ENAMETOOLONG, error);
        memcpy(path, name, strlen(name) + 1);
        return access(name, X_OK) ? not_found(name, errno, error) : 0;
    }
    if (!folders)
        folders = FOLDERS_WITHOUT_PATH;
    while (*name && (found = program_next(folders, name, path))) {
        if (!access(path, X_OK))
            break;
        /* One that may not be run is told if no other is found. */
        if (errno == EACCES)
            errnum = EACCES;
        folders = behind(found);
    }
    if (!found || !*name)
        return not_found(name, errnum, error);
    program->folders = found;
    return 0;
}

int program_find(struct program *program, const char *name, const char *folders,
                 struct hf_error *error)
{
    char path[PATH_MAX];
    int status;

    *program = (struct program){.name = name};
    status = look_up(program, folders, path, error);
    if (status)
        return status;
    program->path = strdup(path);
    if (program->path && make_absolute(program))
        return 0;
    if (errno == ENOMEM)
        return hf_err_status(hf_error_set(error, HF_ERR_NOMEM,
                                          "no memory for the command's path"));
    if (errno == ERANGE || errno == ENAMETOOLONG)
        (void)hf_error_set(error, HF_ERR_USAGE,
                           "%s: its path from the root is longer than %d bytes",
                           name, PATH_MAX - 1);
    else
        (void)hf_error_set_errno(error, HF_ERR_USAGE, errno,
                                 "the working folder has no path");
    return 126;
}

bool program_is_folder(const char *path, struct hf_error *error)
{
    struct stat about;

    if (stat(path, &about) || !S_ISDIR(about.st_mode))
        return false;
    (void)hf_error_set(error, HF_ERR_USAGE, "%s: is a folder", path);
    return true;
}

void program_clear(struct program *program)
{
    free(program->path);
    free(program->absolute);
    *program = (struct program){.name = program->name};
}

/* ---- names for it ----------------------------------------------------------
 */

bool program_is_shell(const char *absolute)
{
    return is_among(absolute, shells);
}

bool program_sends_work_away(const char *absolute)
{
    return is_among(absolute, front_ends);
}

bool program_has_line(char *const *argv)
{
    for (size_t i = 1; argv[i]; i++) {
        const char *word = argv[i];

        if ((word[0] != '-' && word[0] != '+') || !word[1] ||
            strcmp(word, "--") == 0)
            return false;
        if (word[0] == '-' && word[1] != '-' && strchr(word, 'c'))
            return true;
        /* -o and -O take the next word for themselves. */
        if (strchr(word, 'o') && word[1] != '-' && argv[i + 1])
            i++;
    }
    return false;
}

enum hf_err program_hash_arguments(char *const *argv, char to[17],
                                   struct hf_error *error)
{
    struct hf_buf all;
    enum hf_err err = HF_ERR_OK;

    hf_buf_init(&all, ARGUMENT_BYTES_MAX);
    for (size_t i = 1; argv[0] && argv[i] && !err; i++)
        err = hf_buf_add(&all, argv[i], strlen(argv[i]) + 1);
    if (err)
        (void)hf_error_set(error, err, "naming the command");
    else
        hf_key_hash(all.size ? all.data : "", all.size, to);
    hf_buf_clear(&all);
    return err;
}

void program_describe(const struct program *program, char *const *argv,
                      char to[HF_PROGRAM_SIZE])
{
    const char *path = program->absolute;
    size_t size = strlen(path);
    const char *script = NULL;
    size_t script_size = 0;

    if (is_among(path, interpreters) && argv[1] && argv[1][0] != '-') {
        script = argv[1];
        script_size = strlen(script) + 1;
    }
    /* The end of a path tells more than its beginning. */
    if (script_size > HF_PROGRAM_SIZE / 2) {
        script += script_size - HF_PROGRAM_SIZE / 2;
        script_size = HF_PROGRAM_SIZE / 2;
    }
    if (size + script_size > HF_PROGRAM_SIZE - 1) {
        size_t kept = HF_PROGRAM_SIZE - 1 - script_size;

        path += size - kept;
        size = kept;
    }
    memcpy(to, path, size);
    if (script) {
        to[size] = ' ';
        memcpy(to + size + 1, script, script_size - 1);
    }
    to[size + script_size] = '\0';
}
