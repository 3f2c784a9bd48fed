/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one seam to the kernel: clocks, boot id, random bytes and files. A
 * `struct hf_sys *` is handed from main downward; tests hand in their own
 * (tests/lib/sys_fake.h) whose clocks, boot id and failures they command. Used
 * by store back ends, service/classes, the client's files and mains; never by
 * core.
 *
 * File calls return 0 or more on success and -errno on failure (never -1 with
 * errno), so that nothing can come between a failure and its reason. They
 * restart on EINTR unless said otherwise. None allocates.
 */
#ifndef HF_BASE_SYS_H
#define HF_BASE_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/time.h"

enum { HF_BOOT_ID_SIZE = 16 };

enum hf_lock_mode { HF_LOCK_SHARED, HF_LOCK_EXCLUSIVE };

struct hf_sys {
    /*
     * CLOCK_MONOTONIC less this time namespace's offset, so that containers
     * with time namespaces of their own read the kernel's one clock.
     */
    struct hf_time (*steady)(struct hf_sys *sys);
    struct hf_wall (*wall)(struct hf_sys *sys);
    /* True when the kernel says that the wall clock is synchronised. */
    bool (*wall_is_trusted)(struct hf_sys *sys);
    /* This boot's random id; 0 or -errno. It fails as well while that offset
     * cannot be learned: a clock that is wrong by it must not pass for ours. */
    int (*boot_id)(struct hf_sys *sys, uint8_t id[HF_BOOT_ID_SIZE]);
    /* Fill with random bytes from the kernel; 0 or -errno. */
    int (*random)(struct hf_sys *sys, void *to, size_t bytes);

    /* openat(2) relative to `dir` (or AT_FDCWD) with O_CLOEXEC added. */
    int (*open)(struct hf_sys *sys, int dir, const char *path, int flags,
                mode_t mode);
    int (*close)(struct hf_sys *sys, int fd);
    /* As many bytes as there are, up to `bytes`; short only at the end. */
    ssize_t (*pread)(struct hf_sys *sys, int fd, void *to, size_t bytes,
                     off_t offset);
    /* All bytes or an error. */
    ssize_t (*pwrite)(struct hf_sys *sys, int fd, const void *from,
                      size_t bytes, off_t offset);
    int (*truncate)(struct hf_sys *sys, int fd, off_t size);
    int (*fsync)(struct hf_sys *sys, int fd);
    int (*rename)(struct hf_sys *sys, int from_dir, const char *from,
                  int to_dir, const char *to);
    int (*unlink)(struct hf_sys *sys, int dir, const char *path);
    int (*mkdir)(struct hf_sys *sys, int dir, const char *path, mode_t mode);
    int (*mkfifo)(struct hf_sys *sys, int dir, const char *path, mode_t mode);
    int (*fstat)(struct hf_sys *sys, int fd, struct stat *to);
    /* fstatat(2) with AT_SYMLINK_NOFOLLOW. */
    int (*lstat)(struct hf_sys *sys, int dir, const char *path,
                 struct stat *to);
    int (*fchmod)(struct hf_sys *sys, int fd, mode_t mode);
    int (*fchown)(struct hf_sys *sys, int fd, uid_t uid, gid_t gid);
    /* Magic number of the file system (statfs(2) f_type); 0 or -errno. */
    int (*fs_type)(struct hf_sys *sys, int fd, uint64_t *type);
    /* flock(2) without waiting: 0, -EWOULDBLOCK, or another -errno. */
    int (*try_lock)(struct hf_sys *sys, int fd, enum hf_lock_mode mode);
    /*
     * flock(2) with a time limit: 0, -ETIMEDOUT, or another -errno. Blocks.
     * Free of contention it is one system call; otherwise it waits in the
     * kernel, interrupted by an interval timer whose former setting and
     * SIGALRM disposition it puts back (a timer of the caller's that ran out
     * meanwhile goes off right afterwards). For the main thread only.
     */
    int (*lock)(struct hf_sys *sys, int fd, enum hf_lock_mode mode,
                struct hf_span limit);
    int (*unlock)(struct hf_sys *sys, int fd);

    /*
     * The real one's own: the offset of this time namespace, read at the first
     * use of `steady`.
     */
    bool offset_is_known;
    int64_t offset_ns;
    /* And this boot's id, once it was asked for. */
    bool boot_is_known;
    uint8_t boot[HF_BOOT_ID_SIZE];
};

/* The real one. The object is the caller's; it holds nothing to release. */
void hf_sys_init_real(struct hf_sys *sys);

#endif
