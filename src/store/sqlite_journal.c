/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_place.h"
#include "store/sqlite_recover.h"

/*
 * SQLite's rollback journal, as its documented file format says: a header,
 * padded to a sector, then for each page its number, its former bytes, and a
 * sum. Numbers have their high byte first.
 */
enum {
    HEADER_BYTES = 28,
    PAGE_MAX = 65536,
    JOURNAL_ROOM = 65536, /* for a dozen pages */
    COUNTER_AT = 24       /* in the first page: raised by each commit */
};

static const uint8_t magic[8] = {0xd9, 0xd5, 0x05, 0xf9,
                                 0x20, 0xa1, 0x63, 0xd7};

struct header {
    uint32_t nonce;
    uint32_t pages; /* of the database before the transaction */
    uint32_t sector;
    uint32_t page_size;
};

static uint32_t number(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool parse_header(const uint8_t bytes[HEADER_BYTES],
                         struct header *header)
{
    header->nonce = number(bytes + 12);
    header->pages = number(bytes + 16);
    header->sector = number(bytes + 20);
    header->page_size = number(bytes + 24);
    return !memcmp(bytes, magic, sizeof(magic)) && header->sector >= 32 &&
           header->sector <= PAGE_MAX && header->page_size >= 512 &&
           header->page_size <= PAGE_MAX;
}

static uint32_t page_sum(const struct header *header, const uint8_t *page)
{
    uint32_t sum = header->nonce;

    for (int64_t i = (int64_t)header->page_size - 200; i > 0; i -= 200)
        sum += page[i];
    return sum;
}

/*
 * The change counter that the database had before, out of its first page; false
 * when the journal has not got that page, and so nothing of the transaction
 * can have reached the database.
 */
static bool find_counter(struct hf_sqlite *sq, int fd,
                         const struct header *header, uint32_t *counter)
{
    size_t size = header->page_size + 8;
    uint8_t *record = malloc(size);
    off_t at = header->sector;
    bool found = false;

    while (record && !found) {
        ssize_t got = sq->sys->pread(sq->sys, fd, record, size, at);

        if (got < (ssize_t)size ||
            number(record + size - 4) != page_sum(header, record + 4))
            break;
        found = number(record) == 1;
        at += (off_t)size;
    }
    if (found)
        *counter = number(record + 4 + COUNTER_AT);
    free(record);
    return found;
}

/* Is it of the transaction that the database file was in when it stopped? */
static bool belongs(struct hf_sqlite *sq, int fd, const struct header *header)
{
    uint8_t bytes[4];
    uint32_t before = 0;
    uint32_t present;

    /* Of a file that was being made: it becomes empty again. */
    if (header->pages == 0)
        return true;
    if (!find_counter(sq, fd, header, &before) ||
        sq->sys->pread(sq->sys, sq->gate_fd, bytes, sizeof(bytes),
                       COUNTER_AT) != (ssize_t)sizeof(bytes))
        return false;
    present = number(bytes);
    return present == before || present == before + 1;
}

/* So that a release finds room in it when the disk is full. If it cannot be had
 * now, the journal grows when it must. */
static void make_room(struct hf_sqlite *sq)
{
    static const uint8_t zeros[JOURNAL_ROOM];

    (void)sq->sys->pwrite(sq->sys, sq->journal_fd, zeros, sizeof(zeros), 0);
}

enum hf_err hf_sqlite_journal_judge(struct hf_sqlite *sq,
                                    struct hf_error *error)
{
    static const uint8_t zeros[HEADER_BYTES];
    uint8_t bytes[HEADER_BYTES] = {0};
    struct header header;
    ssize_t got;
    enum hf_err err;

    if (sq->journal_fd < 0) {
        struct stat about = {.st_size = JOURNAL_ROOM};
        char name[256];

        /* Made here, not by SQLite: mode and group are the store's. */
        snprintf(name, sizeof(name), "%s-journal", sq->place.name);
        err = hf_sqlite_place_open(sq, sq->folder_fd, sq->place.folder, name,
                                   sq->read_only ? HF_SQLITE_OPEN_IF_THERE
                                                 : HF_SQLITE_OPEN_OR_MAKE,
                                   &sq->journal_fd, &about, error);
        if (err || sq->journal_fd < 0)
            return err;
        if (about.st_size == 0 && !sq->read_only)
            make_room(sq);
    }
    got = sq->sys->pread(sq->sys, sq->journal_fd, bytes, sizeof(bytes), 0);
    sq->journal_is_there = got > 0 && bytes[0] != 0;
    if (got >= 0 && !sq->journal_is_there)
        return HF_ERR_OK;
    if (got >= 0 && got == (ssize_t)sizeof(bytes) &&
        parse_header(bytes, &header) && belongs(sq, sq->journal_fd, &header))
        return HF_ERR_OK;
    sq->journal_is_there = false;
    if (sq->read_only)
        return HF_ERR_OK;
    if (got >= 0)
        got = sq->sys->pwrite(sq->sys, sq->journal_fd, zeros, sizeof(zeros), 0);
    if (got < 0)
        return hf_sqlite_place_error(error, (int)-got, "use the journal of",
                                     sq->place.path, "");
    return HF_ERR_OK;
}
