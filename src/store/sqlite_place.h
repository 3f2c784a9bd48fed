/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an embedded store lies, and whether what lies there may be trusted:
 * paths, owners, modes, file systems. Opens and makes files and folders with
 * those checks; never removes one. For src/store/sqlite*.c alone.
 */
#ifndef HF_STORE_SQLITE_PLACE_H
#define HF_STORE_SQLITE_PLACE_H

#include "base/err.h"
#include "base/sys.h"

struct hf_sqlite;

enum { HF_SQLITE_PATH_MAX = 3584 };

struct hf_sqlite_place {
    bool is_default;  /* found from the user id; else named by the caller */
    char *folder;     /* that holds the database */
    char *path;       /* of the database */
    char *run;        /* the session folder */
    char *head;       /* RUN/head */
    const char *name; /* last part of `path` */
};

/*
 * Fill `place` for `path`, or for `uid` when that is NULL. Errors: USAGE (not
 * absolute, too long, not a file's name), NOMEM. To be cleared in any case.
 */
enum hf_err hf_sqlite_place_find(struct hf_sqlite_place *place,
                                 const char *path, uid_t uid,
                                 struct hf_error *error);

void hf_sqlite_place_clear(struct hf_sqlite_place *place);

/*
 * Judge the way to a path that somebody named, from the root on, without
 * waiting for any server: a file system on another machine is refused before it
 * is used (UNAVAILABLE), and so is a folder in which others could put another
 * one in the store's place (DENIED; not in a handle that trusts).
 */
enum hf_err hf_sqlite_place_way(const struct hf_sqlite *sq,
                                struct hf_error *error);
/* The second of its means: the name of the file system in the kernel's table of
 * mounts. UNAVAILABLE. */
enum hf_err hf_sqlite_place_mounts(const struct hf_sqlite_place *place,
                                   struct hf_error *error);
/* Refuse a file system whose locks are not known to exclude. UNAVAILABLE. */
enum hf_err hf_sqlite_place_fs(struct hf_sqlite *sq, int fd, const char *path,
                               struct hf_error *error);

/*
 * Open the folder of the database (made for a default place) into folder_fd,
 * find out whose store it is (group, gid), and judge it. With *is_missing it is
 * not there and was not made (read only).
 */
enum hf_err hf_sqlite_place_folder(struct hf_sqlite *sq, bool *is_missing,
                                   struct hf_error *error);
/* The same for the session folder, into run_fd; with `makes`, which wants the
 * gate, it is made when missing. */
enum hf_err hf_sqlite_place_run(struct hf_sqlite *sq, bool makes,
                                bool *is_missing, struct hf_error *error);

enum hf_sqlite_open_how {
    HF_SQLITE_OPEN_IF_THERE, /* *fd is -1 when it is missing */
    HF_SQLITE_OPEN_OR_MAKE,
    HF_SQLITE_OPEN_NEW /* *fd is -1 when it is there */
};

/*
 * Open `name` in `dir` (folder_fd or run_fd; `where` is that folder's path for
 * sentences) for reading and writing (reading alone in a handle that is
 * read_only), judged: a regular file of one name, of a trusted owner. A new one
 * has the store's mode and group. `about` may be NULL.
 */
enum hf_err hf_sqlite_place_open(struct hf_sqlite *sq, int dir,
                                 const char *where, const char *name,
                                 enum hf_sqlite_open_how how, int *fd,
                                 struct stat *about, struct hf_error *error);

/* May a file of this owner be trusted by itself? */
bool hf_sqlite_place_is_ours(uid_t uid);
/* DENIED: path, why, owner and mode, and what to do. */
enum hf_err hf_sqlite_place_refuse(struct hf_error *error, const char *where,
                                   const char *name, const struct stat *about,
                                   const char *why);
/* Turn a failed call into code and sentence: "WHAT PATH/NAME: reason". */
enum hf_err hf_sqlite_place_error(struct hf_error *error, int errnum,
                                  const char *what, const char *where,
                                  const char *name);

#endif
