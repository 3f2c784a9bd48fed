/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static struct fuzz_memory *memory_of(struct hf_sys *sys)
{
    return (struct fuzz_memory *)sys;
}

static struct hf_time steady(struct hf_sys *sys)
{
    (void)sys;
    return (struct hf_time){INT64_C(1000000000000)};
}

static struct hf_wall wall(struct hf_sys *sys)
{
    (void)sys;
    return (struct hf_wall){INT64_C(1780315200000000000)};
}

static int open_file(struct hf_sys *sys, int dir, const char *path, int flags,
                     mode_t mode)
{
    struct fuzz_memory *memory = memory_of(sys);

    (void)dir;
    (void)path;
    (void)mode;
    if (!memory->exists && !(flags & O_CREAT))
        return -ENOENT;
    if (memory->exists && (flags & O_EXCL))
        return -EEXIST;
    memory->exists = true;
    return FUZZ_MEMORY_FD;
}

static int nothing(struct hf_sys *sys, int fd)
{
    (void)sys;
    (void)fd;
    return 0;
}

static ssize_t pread_file(struct hf_sys *sys, int fd, void *to, size_t bytes,
                          off_t offset)
{
    struct fuzz_memory *memory = memory_of(sys);
    size_t at = (size_t)offset;
    size_t there;

    must(fd == FUZZ_MEMORY_FD);
    if (offset < 0)
        return -EINVAL;
    there = at < memory->size ? memory->size - at : 0;
    if (there > bytes)
        there = bytes;
    if (there > 0)
        memcpy(to, memory->bytes + at, there);
    return (ssize_t)there;
}

/* Room for `size` bytes; those behind the end of the file are zero. */
static void grow(struct fuzz_memory *memory, size_t size)
{
    size_t capacity = 2 * size + 64;

    if (size <= memory->capacity)
        return;
    memory->bytes = realloc(memory->bytes, capacity);
    if (!memory->bytes)
        exit(71);
    memory->capacity = capacity;
}

static void extend(struct fuzz_memory *memory, size_t size)
{
    if (size <= memory->size)
        return;
    grow(memory, size);
    memset(memory->bytes + memory->size, 0, size - memory->size);
    memory->size = size;
}

static ssize_t pwrite_file(struct hf_sys *sys, int fd, const void *from,
                           size_t bytes, off_t offset)
{
    struct fuzz_memory *memory = memory_of(sys);

    must(fd == FUZZ_MEMORY_FD);
    if (offset < 0)
        return -EINVAL;
    if (offset > FUZZ_MEMORY_MAX || bytes > FUZZ_MEMORY_MAX - (size_t)offset)
        return -ENOSPC;
    if (bytes == 0)
        return 0;
    extend(memory, (size_t)offset + bytes);
    memcpy(memory->bytes + offset, from, bytes);
    return (ssize_t)bytes;
}

static int truncate_file(struct hf_sys *sys, int fd, off_t size)
{
    struct fuzz_memory *memory = memory_of(sys);

    must(fd == FUZZ_MEMORY_FD);
    if (size < 0)
        return -EINVAL;
    if (size > FUZZ_MEMORY_MAX)
        return -ENOSPC;
    extend(memory, (size_t)size);
    memory->size = (size_t)size;
    return 0;
}

static int fstat_file(struct hf_sys *sys, int fd, struct stat *to)
{
    must(fd == FUZZ_MEMORY_FD);
    *to = (struct stat){.st_mode = S_IFREG | 0600,
                        .st_nlink = 1,
                        .st_ino = 1,
                        .st_size = (off_t)memory_of(sys)->size};
    return 0;
}

static int lstat_file(struct hf_sys *sys, int dir, const char *path,
                      struct stat *to)
{
    (void)dir;
    (void)path;
    return memory_of(sys)->exists ? fstat_file(sys, FUZZ_MEMORY_FD, to)
                                  : -ENOENT;
}

static int try_lock(struct hf_sys *sys, int fd, enum hf_lock_mode mode)
{
    (void)mode;
    return nothing(sys, fd);
}

static int lock(struct hf_sys *sys, int fd, enum hf_lock_mode mode,
                struct hf_span limit)
{
    (void)mode;
    (void)limit;
    return nothing(sys, fd);
}

void fuzz_memory_init(struct fuzz_memory *memory, const void *bytes,
                      size_t size)
{
    *memory = (struct fuzz_memory){.exists = bytes != NULL};
    hf_sys_init_real(&memory->sys);
    memory->sys.steady = steady;
    memory->sys.wall = wall;
    memory->sys.open = open_file;
    memory->sys.close = nothing;
    memory->sys.pread = pread_file;
    memory->sys.pwrite = pwrite_file;
    memory->sys.truncate = truncate_file;
    memory->sys.fsync = nothing;
    memory->sys.fstat = fstat_file;
    memory->sys.lstat = lstat_file;
    memory->sys.try_lock = try_lock;
    memory->sys.lock = lock;
    memory->sys.unlock = nothing;
    must(size <= FUZZ_MEMORY_MAX);
    if (!bytes || size == 0)
        return;
    extend(memory, size);
    memcpy(memory->bytes, bytes, size);
}

void fuzz_memory_clear(struct fuzz_memory *memory)
{
    free(memory->bytes);
    memory->bytes = NULL;
}
