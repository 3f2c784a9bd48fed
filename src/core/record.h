/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in the store: under which keys, as which JSON. Used inside the
 * core only. Every path begins with HF_PATH_ROOT; KEY has no empty segment, so
 * that "KEY//" is a prefix of nothing but what belongs to KEY.
 *
 *   epoch              epoch, binding, who advanced it and why
 *   session/ID         identity, host, start                  (session's lease)
 *   hold/KEY           who holds it                           (session's lease)
 *   share/KEY//GRANT   who holds it shared                    (session's lease)
 *   wait/KEY//GRANT    who waits; order is creation revision  (waiter's lease)
 *   floor/KEY          nobody gets it before this is gone     (its own lease)
 */
#ifndef HF_CORE_RECORD_H
#define HF_CORE_RECORD_H

#include "base/buf.h"
#include "core/request.h"

#define HF_PATH_ROOT "holdfast/"
enum { HF_PATH_SIZE = 9 + 6 + HF_KEY_BYTES_MAX + 2 + 32 + 1 };
enum { HF_RECORD_VERSION = 1, HF_RECORD_SIZE = 4096 };

/* The store keys around one lock key, one session and one grant. */
struct hf_paths {
    const char *epoch;
    const char *session;
    const char *hold;
    const char *shares; /* prefix */
    const char *share;
    const char *waits; /* prefix */
    const char *wait;
    const char *floor;
};

enum { HF_PATHS_ROOM = 8 * HF_PATH_SIZE };

/* They are laid into `room`, one behind the other, and stand while it does.
 * `session` and `grant` may be NULL: their paths are then empty. */
void hf_paths_make(struct hf_paths *paths, char room[HF_PATHS_ROOM],
                   const char *key, const char *session,
                   const uint8_t grant[HF_GRANT_ID_SIZE]);
/* The same with what begins all those of the keys that begin with `prefix`;
 * `share` and `wait` are empty. */
void hf_paths_prefixes(struct hf_paths *paths, char room[HF_PATHS_ROOM],
                       const char *prefix);
/* "holdfast/hold/" + rest and its like; `noun` is "hold", "share", "wait". */
void hf_path_of(char to[HF_PATH_SIZE], const char *noun, const char *rest);

/* Where this hold stands: hold/KEY or share/KEY//GRANT. */
void hf_path_of_hold(char to[HF_PATH_SIZE], const struct hf_hold_ref *hold);

static inline struct hf_bytes hf_bytes_of(const char *text)
{
    return (struct hf_bytes){text, __builtin_strlen(text)};
}

struct hf_epoch_record {
    uint32_t version;
    uint32_t epoch;
    bool sealed;
    uint8_t store_id[16];
    char by[HF_HOST_SIZE];
    char why[HF_NOTE_SIZE];
    int64_t at_wall_ms;
};

struct hf_session_record {
    uint32_t version;
    uint32_t uid;
    char host[HF_HOST_SIZE];
    uint32_t pid;
    int64_t since_wall_ms;
};

/* An encoded record, ready for a put; {NULL} before the first. */
struct hf_value {
    char *text; /* hf_value_clear; encoding anew replaces it */
    size_t size;
};

void hf_value_clear(struct hf_value *value);
/* Errors of all three: NOMEM; USAGE when it is too long, which no record of
 * sound fields is. */
enum hf_err hf_record_encode_holder(const struct hf_holder *holder,
                                    struct hf_value *to);
enum hf_err hf_record_encode_session(const struct hf_session_record *session,
                                     struct hf_value *to);
enum hf_err hf_record_encode_epoch(const struct hf_epoch_record *epoch,
                                   struct hf_value *to);
/* Errors: DAMAGED, with a sentence: the record is not of our making; NOMEM. */
enum hf_err hf_record_decode_holder(struct hf_bytes value,
                                    struct hf_holder *holder,
                                    struct hf_error *error);
enum hf_err hf_record_decode_epoch(struct hf_bytes value,
                                   struct hf_epoch_record *epoch,
                                   struct hf_error *error);

/* A store record of kind hold, share, waiter or floor; its key is one, and it
 * stands where such a record stands. Errors: DAMAGED, NOMEM. */
enum hf_err hf_record_info(const struct hf_record *record,
                           struct hf_hold_info *info, struct hf_error *error);

#endif
