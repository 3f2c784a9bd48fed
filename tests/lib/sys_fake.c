/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/sys_fake.h"

#include <errno.h>
#include <string.h>

/* `sys` is the first member of its struct sys_fake. */
static struct sys_fake *fake_of(struct hf_sys *sys)
{
    return (struct sys_fake *)(void *)sys;
}

/* Count a call; 0, or the -errno with which it must fail. */
static int enter(struct sys_fake *fake, enum fake_call call)
{
    bool is_meant = fake->fails == FAKE_ANY || fake->fails == call;

    fake->count[call]++;
    fake->count[FAKE_ANY]++;
    if (fake->is_death && fake->has_failed)
        return -fake->errnum;
    if (fake->fails_at == 0 || !is_meant ||
        fake->count[fake->fails] != fake->fails_at)
        return 0;
    fake->has_failed = true;
    return -fake->errnum;
}

/* ---- what is commanded ------------------------------------------------- */

static struct hf_time fake_steady(struct hf_sys *sys)
{
    struct sys_fake *fake = fake_of(sys);

    sys_fake_pass(fake, fake->tick);
    return fake->steady;
}

static struct hf_wall fake_wall(struct hf_sys *sys)
{
    struct sys_fake *fake = fake_of(sys);

    sys_fake_pass(fake, fake->tick);
    return fake->wall;
}

static bool fake_wall_is_trusted(struct hf_sys *sys)
{
    return fake_of(sys)->wall_is_trusted;
}

static int fake_boot_id(struct hf_sys *sys, uint8_t id[HF_BOOT_ID_SIZE])
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_BOOT_ID);

    if (!err)
        memcpy(id, fake->boot_id, HF_BOOT_ID_SIZE);
    return err;
}

static int fake_random(struct hf_sys *sys, void *to, size_t bytes)
{
    struct sys_fake *fake = fake_of(sys);
    uint8_t *next = to;
    int err = enter(fake, FAKE_RANDOM);

    if (err)
        return err;
    for (size_t i = 0; i < bytes; i++) {
        /* splitmix64; one byte of each number is enough for tests. */
        uint64_t mixed = fake->seed += UINT64_C(0x9e3779b97f4a7c15);

        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
        next[i] = (uint8_t)(mixed ^ mixed >> 31);
    }
    return 0;
}

static int fake_fs_type(struct hf_sys *sys, int fd, uint64_t *type)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_FS_TYPE);

    if (err)
        return err;
    if (!fake->fs_type)
        return fake->real.fs_type(&fake->real, fd, type);
    *type = fake->fs_type;
    return 0;
}

/* ---- what goes through ------------------------------------------------- */

static int fake_open(struct hf_sys *sys, int dir, const char *path, int flags,
                     mode_t mode)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_OPEN);

    return err ? err : fake->real.open(&fake->real, dir, path, flags, mode);
}

static int fake_close(struct hf_sys *sys, int fd)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_CLOSE);
    int result = fake->real.close(&fake->real, fd);

    return err ? err : result;
}

static ssize_t fake_pread(struct hf_sys *sys, int fd, void *to, size_t bytes,
                          off_t offset)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_PREAD);

    return err ? err : fake->real.pread(&fake->real, fd, to, bytes, offset);
}

static ssize_t fake_pwrite(struct hf_sys *sys, int fd, const void *from,
                           size_t bytes, off_t offset)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_PWRITE);
    size_t fits = bytes;
    ssize_t put;

    if (err)
        return err;
    if (fake->space >= 0 && bytes > (uint64_t)fake->space)
        fits = (size_t)fake->space;
    put = fake->real.pwrite(&fake->real, fd, from, fits, offset);
    if (put > 0 && fake->space >= 0)
        fake->space -= put;
    if (put >= 0 && fits < bytes)
        return -ENOSPC;
    return put;
}

static int fake_truncate(struct hf_sys *sys, int fd, off_t size)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_TRUNCATE);

    return err ? err : fake->real.truncate(&fake->real, fd, size);
}

static int fake_fsync(struct hf_sys *sys, int fd)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_FSYNC);

    return err ? err : fake->real.fsync(&fake->real, fd);
}

static int fake_rename(struct hf_sys *sys, int from_dir, const char *from,
                       int to_dir, const char *to)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_RENAME);

    return err ? err
               : fake->real.rename(&fake->real, from_dir, from, to_dir, to);
}

static int fake_unlink(struct hf_sys *sys, int dir, const char *path)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_UNLINK);

    return err ? err : fake->real.unlink(&fake->real, dir, path);
}

static int fake_mkdir(struct hf_sys *sys, int dir, const char *path,
                      mode_t mode)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_MKDIR);

    return err ? err : fake->real.mkdir(&fake->real, dir, path, mode);
}

static int fake_mkfifo(struct hf_sys *sys, int dir, const char *path,
                       mode_t mode)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_MKFIFO);

    return err ? err : fake->real.mkfifo(&fake->real, dir, path, mode);
}

static int fake_fstat(struct hf_sys *sys, int fd, struct stat *to)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_FSTAT);

    return err ? err : fake->real.fstat(&fake->real, fd, to);
}

static int fake_lstat(struct hf_sys *sys, int dir, const char *path,
                      struct stat *to)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_LSTAT);

    return err ? err : fake->real.lstat(&fake->real, dir, path, to);
}

static int fake_fchmod(struct hf_sys *sys, int fd, mode_t mode)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_FCHMOD);

    return err ? err : fake->real.fchmod(&fake->real, fd, mode);
}

static int fake_fchown(struct hf_sys *sys, int fd, uid_t uid, gid_t gid)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_FCHOWN);

    return err ? err : fake->real.fchown(&fake->real, fd, uid, gid);
}

static int fake_try_lock(struct hf_sys *sys, int fd, enum hf_lock_mode mode)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_TRY_LOCK);

    return err ? err : fake->real.try_lock(&fake->real, fd, mode);
}

static int fake_lock(struct hf_sys *sys, int fd, enum hf_lock_mode mode,
                     struct hf_span limit)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_LOCK);

    return err ? err : fake->real.lock(&fake->real, fd, mode, limit);
}

static int fake_unlock(struct hf_sys *sys, int fd)
{
    struct sys_fake *fake = fake_of(sys);
    int err = enter(fake, FAKE_UNLOCK);

    return err ? err : fake->real.unlock(&fake->real, fd);
}

/* ---- commands ---------------------------------------------------------- */

static const struct hf_sys fake_calls = {
    .steady = fake_steady,
    .wall = fake_wall,
    .wall_is_trusted = fake_wall_is_trusted,
    .boot_id = fake_boot_id,
    .random = fake_random,
    .open = fake_open,
    .close = fake_close,
    .pread = fake_pread,
    .pwrite = fake_pwrite,
    .truncate = fake_truncate,
    .fsync = fake_fsync,
    .rename = fake_rename,
    .unlink = fake_unlink,
    .mkdir = fake_mkdir,
    .mkfifo = fake_mkfifo,
    .fstat = fake_fstat,
    .lstat = fake_lstat,
    .fchmod = fake_fchmod,
    .fchown = fake_fchown,
    .fs_type = fake_fs_type,
    .try_lock = fake_try_lock,
    .lock = fake_lock,
    .unlock = fake_unlock,
};

void sys_fake_init(struct sys_fake *fake)
{
    *fake = (struct sys_fake){
        .sys = fake_calls,
        .steady = {INT64_C(1000000000000)},
        .wall = {INT64_C(1780272000000000000)},
        .wall_is_trusted = true,
        .boot_id = {0xb0, 0x07, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
        .seed = 1,
        .space = -1,
    };
    hf_sys_init_real(&fake->real);
}

void sys_fake_pass(struct sys_fake *fake, struct hf_span span)
{
    fake->steady = hf_time_add(fake->steady, span);
    fake->wall.ns = hf_sum_ns(fake->wall.ns, span.ns);
}

void sys_fake_fail(struct sys_fake *fake, enum fake_call call, unsigned int nth,
                   int errnum)
{
    memset(fake->count, 0, sizeof(fake->count));
    fake->fails = call;
    fake->fails_at = nth;
    fake->is_death = false;
    fake->has_failed = false;
    fake->errnum = errnum;
}

void sys_fake_die(struct sys_fake *fake, enum fake_call call, unsigned int nth)
{
    sys_fake_fail(fake, call, nth, EIO);
    fake->is_death = true;
}

bool sys_fake_end(struct sys_fake *fake)
{
    bool failed = fake->has_failed;

    fake->fails_at = 0;
    fake->has_failed = false;
    return failed;
}
