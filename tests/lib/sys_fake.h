/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A struct hf_sys for tests: its clocks, boot id and random bytes are
 * commanded, each call is counted by kind, a chosen call fails with a chosen
 * errno, writes run out of space after so many bytes; all else goes through
 * to the real file system. Not a simulation of one: what is written is written.
 * Hand `&fake.sys` to what is tested; set the plain members at any time.
 *
 * To walk every failure of an operation:
 *
 *     for (unsigned int n = 1;; n++) {
 *         sys_fake_fail(&fake, FAKE_ANY, n, EIO);
 *         err = what_is_tested(&fake.sys);
 *         if (!sys_fake_end(&fake))
 *             break; // it makes fewer than n calls: all were walked
 *         ... judge err and what is left on disk ...
 *     }
 *
 * The same with sys_fake_die is a process that dies right before its nth call.
 */
#ifndef HF_TESTS_SYS_FAKE_H
#define HF_TESTS_SYS_FAKE_H

#include "base/sys.h"

/* The calls that can fail; the clocks cannot. */
enum fake_call {
    FAKE_ANY, /* of sys_fake_fail and _die: whichever call comes nth */
    FAKE_BOOT_ID,
    FAKE_RANDOM,
    FAKE_OPEN,
    FAKE_CLOSE,
    FAKE_PREAD,
    FAKE_PWRITE,
    FAKE_TRUNCATE,
    FAKE_FSYNC,
    FAKE_RENAME,
    FAKE_UNLINK,
    FAKE_MKDIR,
    FAKE_MKFIFO,
    FAKE_FSTAT,
    FAKE_LSTAT,
    FAKE_FCHMOD,
    FAKE_FCHOWN,
    FAKE_FS_TYPE,
    FAKE_TRY_LOCK,
    FAKE_LOCK,
    FAKE_UNLOCK,
    FAKE_CALLS
};

struct sys_fake {
    struct hf_sys sys;
    struct hf_sys real;

    /* Commanded; at first 1000 s after boot, on 2026-06-01, trusted. */
    struct hf_time steady;
    struct hf_wall wall;
    struct hf_span tick; /* how far each reading of either moves both on */
    bool wall_is_trusted;
    uint8_t boot_id[HF_BOOT_ID_SIZE];
    uint64_t seed; /* of the random bytes; moves on with use */
    /* fs_type answers this instead of the truth, unless 0. */
    uint64_t fs_type;
    /* Bytes that can still be written; below 0: any number. A write that
     * meets the end leaves what fitted, and fails with ENOSPC. Growing a
     * file by truncate costs nothing, as on disk. */
    int64_t space;

    /* Calls since init or sys_fake_fail, _die; [FAKE_ANY] is their sum. */
    unsigned int count[FAKE_CALLS];

    /* ---- its own ---- */
    enum fake_call fails;
    unsigned int fails_at; /* 0: none */
    bool is_death;
    bool has_failed;
    int errnum;
};

void sys_fake_init(struct sys_fake *fake);

/* Both clocks on by `span`. */
void sys_fake_pass(struct sys_fake *fake, struct hf_span span);

/*
 * Count from 0; the nth call of this kind from now fails with `errnum` and does
 * nothing, those before and behind it work. (A close that fails did close.)
 */
void sys_fake_fail(struct sys_fake *fake, enum fake_call call, unsigned int nth,
                   int errnum);
/*
 * The same, but from the nth call of this kind on nothing of any kind works: no
 * call has an effect any more, but close, which frees the descriptor.
 */
void sys_fake_die(struct sys_fake *fake, enum fake_call call, unsigned int nth);
/* Back to normal, counts kept. True when a call was made to fail. */
bool sys_fake_end(struct sys_fake *fake);

#endif
