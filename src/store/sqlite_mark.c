/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_mark.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/sqlite_place.h"
#include "store/sqlite_store.h"

/* "HFMARK" and "HFHEAD" with the version of their form behind them. */
#define MARK_MAGIC UINT64_C(0x48464d41524b0001)
#define HEAD_MAGIC UINT64_C(0x4846484541440001)

/* Each slot in a page of its own: a torn write spares the other one. */
enum { SLOTS = 2, SLOT_BYTES = 4096 };

/* 2026-01-01T00:00:00Z, and ticks of 2^-14 s. */
#define CLOCK_ORIGIN_S INT64_C(1767225600)
#define NS_PER_S INT64_C(1000000000)

uint64_t hf_sqlite_sum(const void *bytes, size_t size, uint64_t seed)
{
    const uint8_t *next = bytes;
    uint64_t sum = seed ^ (size * UINT64_C(0x9e3779b97f4a7c15));

    while (size) {
        size_t step = size < sizeof(uint64_t) ? size : sizeof(uint64_t);
        uint64_t word = 0;

        memcpy(&word, next, step);
        sum = (sum ^ word) * UINT64_C(0xff51afd7ed558ccd);
        sum ^= sum >> 32;
        next += step;
        size -= step;
    }
    return sum;
}

uint64_t hf_sqlite_clock(struct hf_sqlite *sq)
{
    struct hf_wall wall = sq->sys->wall(sq->sys);
    int64_t seconds = wall.ns / NS_PER_S - CLOCK_ORIGIN_S;

    if (seconds < 0)
        return 0;
    return (uint64_t)seconds << 14 |
           (uint64_t)((wall.ns % NS_PER_S << 14) / NS_PER_S);
}

uint64_t hf_sqlite_bound(struct hf_sqlite *sq, uint64_t next)
{
    uint64_t hour = hf_sqlite_clock(sq) + (UINT64_C(3600) << 14);
    uint64_t minute = next + (UINT64_C(60) << 14);

    return hour > minute ? hour : minute;
}

/* ---- mark ---- */

static uint64_t mark_sum(const struct hf_sqlite_mark *mark)
{
    return hf_sqlite_sum(mark, offsetof(struct hf_sqlite_mark, sum),
                         MARK_MAGIC);
}

static enum hf_err mark_open(struct hf_sqlite *sq, enum hf_sqlite_open_how how,
                             int *fd, struct stat *about,
                             struct hf_error *error)
{
    char name[256];

    snprintf(name, sizeof(name), "%s.mark", sq->place.name);
    return hf_sqlite_place_open(sq, sq->folder_fd, sq->place.folder, name, how,
                                fd, about, error);
}

/* Both slots in one read; the file between them is a hole or zero. */
static ssize_t read_slots(struct hf_sqlite *sq, int fd,
                          struct hf_sqlite_mark slots[SLOTS], bool *is_whole)
{
    uint8_t bytes[(SLOTS - 1) * SLOT_BYTES + sizeof(struct hf_sqlite_mark)] = {
        0};
    ssize_t got = sq->sys->pread(sq->sys, fd, bytes, sizeof(bytes), 0);

    for (size_t i = 0; i < SLOTS; i++) {
        size_t end = i * SLOT_BYTES + sizeof(slots[0]);

        memcpy(&slots[i], bytes + i * SLOT_BYTES, sizeof(slots[0]));
        is_whole[i] = got >= (ssize_t)end && slots[i].magic == MARK_MAGIC &&
                      slots[i].sum == mark_sum(&slots[i]);
    }
    return got;
}

/* What a power cut leaves of a new one is zero, or begins as it was written. */
static bool may_be_ours(const struct hf_sqlite_mark *slot)
{
    return slot->magic == MARK_MAGIC || slot->magic == 0;
}

enum hf_err hf_sqlite_mark_read(struct hf_sqlite *sq, struct hf_error *error)
{
    struct hf_sqlite_mark slots[SLOTS];
    bool is_whole[SLOTS];
    ssize_t got;
    int fd;
    enum hf_err err = mark_open(sq, HF_SQLITE_OPEN_IF_THERE, &fd, NULL, error);

    sq->mark_found = HF_SQLITE_MISSING;
    if (err || fd < 0)
        return err;
    got = read_slots(sq, fd, slots, is_whole);
    sq->sys->close(sq->sys, fd);
    if (got < 0)
        return hf_sqlite_place_error(error, (int)-got, "read the mark of",
                                     sq->place.path, "");
    /* An empty one was never written. */
    if (got > 0)
        sq->mark_found =
            may_be_ours(&slots[0]) ? HF_SQLITE_DAMAGED : HF_SQLITE_STRANGE;
    for (size_t i = 0; i < SLOTS; i++) {
        if (!is_whole[i] || (sq->mark_found == HF_SQLITE_FOUND &&
                             slots[i].sequence <= sq->mark.sequence))
            continue;
        sq->mark = slots[i];
        sq->mark_found = HF_SQLITE_FOUND;
    }
    return HF_ERR_OK;
}

/*
 * In place, into the slot that does not count, so that it needs no new space
 * and works in a sticky folder, where a member may not rename over another
 * member's file. Torn by a power cut it does not count, and nothing was issued
 * under it yet.
 */
static int write_slot(struct hf_sqlite *sq, int fd,
                      const struct hf_sqlite_mark *mark)
{
    struct hf_sys *sys = sq->sys;
    off_t place = (off_t)(mark->sequence % SLOTS) * SLOT_BYTES;
    ssize_t put = sys->pwrite(sys, fd, mark, sizeof(*mark), place);

    return put < 0 ? (int)put : sys->fsync(sys, fd);
}

enum hf_err hf_sqlite_mark_write(struct hf_sqlite *sq,
                                 const struct hf_sqlite_mark *mark,
                                 struct hf_error *error)
{
    struct hf_sys *sys = sq->sys;
    struct hf_sqlite_mark next = *mark;
    bool was_there = sq->mark_found == HF_SQLITE_FOUND;
    enum hf_err err;
    int got;
    int fd;

    next.magic = MARK_MAGIC;
    next.sequence = was_there ? sq->mark.sequence + 1 : SLOTS;
    next.sum = mark_sum(&next);
    err = mark_open(sq, HF_SQLITE_OPEN_OR_MAKE, &fd, NULL, error);
    if (err)
        return err;
    got = write_slot(sq, fd, &next);
    if (!got && !was_there) {
        /* A new or damaged file: both slots, and its name as well. */
        next.sequence++;
        next.sum = mark_sum(&next);
        got = write_slot(sq, fd, &next);
        if (!got)
            got = sys->fsync(sys, sq->folder_fd);
    }
    /* Half of a new one would look like the loss of an old one. */
    if (got && sq->mark_found == HF_SQLITE_MISSING)
        (void)sys->truncate(sys, fd, 0);
    sys->close(sys, fd);
    if (got)
        return hf_sqlite_place_error(error, -got, "write the mark of",
                                     sq->place.path, "");
    sq->mark = next;
    sq->mark_found = HF_SQLITE_FOUND;
    return HF_ERR_OK;
}

void hf_sqlite_mark_touch(struct hf_sqlite *sq)
{
    struct hf_error ignored;
    off_t place = (off_t)(sq->mark.sequence % SLOTS) * SLOT_BYTES;
    int fd;

    if (sq->mark_found != HF_SQLITE_FOUND ||
        mark_open(sq, HF_SQLITE_OPEN_IF_THERE, &fd, NULL, &ignored) || fd < 0)
        return;
    /* The same bytes again: nothing can be torn. */
    (void)sq->sys->pwrite(sq->sys, fd, &sq->mark, sizeof(sq->mark), place);
    sq->sys->close(sq->sys, fd);
}

/* ---- head ---- */

static uint64_t head_sum(const struct hf_sqlite_head *head)
{
    return hf_sqlite_sum(head, offsetof(struct hf_sqlite_head, sum),
                         HEAD_MAGIC);
}

enum hf_err hf_sqlite_head_read(struct hf_sqlite *sq, struct hf_error *error)
{
    struct hf_sqlite_head head;
    ssize_t got = sq->sys->pread(sq->sys, sq->head_fd, &head, sizeof(head), 0);

    if (got < 0)
        return hf_sqlite_place_error(error, (int)-got, "read", sq->place.head,
                                     "");
    sq->head_found = HF_SQLITE_DAMAGED;
    if (got == 0) {
        sq->head_found = HF_SQLITE_MISSING;
    } else if (got == sizeof(head) && head.magic == HEAD_MAGIC &&
               head.sum == head_sum(&head)) {
        sq->head = head;
        sq->head_found = HF_SQLITE_FOUND;
    }
    return HF_ERR_OK;
}

enum hf_err hf_sqlite_head_write(struct hf_sqlite *sq, struct hf_error *error)
{
    ssize_t put;

    sq->head.magic = HEAD_MAGIC;
    sq->head.sum = head_sum(&sq->head);
    put = sq->sys->pwrite(sq->sys, sq->head_fd, &sq->head, sizeof(sq->head), 0);
    if (put < 0)
        return hf_sqlite_place_error(error, (int)-put, "write", sq->place.head,
                                     "");
    sq->head_found = HF_SQLITE_FOUND;
    return HF_ERR_OK;
}
