/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LOCK_STATE: the first 512 bytes of a session file, where a job reads how long
 * its lease is good for. Format in docs/internals/state-file.md, made to be
 * read by any language: lines of text, each `word value`, the last one a
 * checksum. Written by lockrun, read by `lockfence held`.
 */
#ifndef HF_CLIENT_STATE_FILE_H
#define HF_CLIENT_STATE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/sys.h"
#include "base/time.h"

enum hf_state { HF_STATE_HELD, HF_STATE_DOUBT, HF_STATE_LOST, HF_STATE_OVER };

struct hf_state_file {
    enum hf_state state;
    uint64_t token;
    struct hf_time deadline; /* steady clock of this kernel */
    uint8_t boot_id[HF_BOOT_ID_SIZE];
};

/* One pwrite(2) at offset 0 of exactly 512 bytes. */
enum hf_err hf_state_file_write(struct hf_sys *sys, int fd,
                                const struct hf_state_file *state,
                                struct hf_error *error);
/* One pread(2), tried a few times when the checksum does not fit (a write
 * under way). Errors: DAMAGED, UNAVAILABLE. */
enum hf_err hf_state_file_read(struct hf_sys *sys, int fd,
                               struct hf_state_file *state,
                               struct hf_error *error);

#endif
