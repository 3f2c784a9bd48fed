/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lockctl's commands share: the options as given, the seam, the store once
 * it is open, and the text that goes to standard output when all went well.
 * One command, one file; each returns the exit status.
 */
#ifndef LOCKCTL_LOCKCTL_H
#define LOCKCTL_LOCKCTL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/opts.h"
#include "base/sys.h"
#include "client/transport.h"

struct lockctl_options {
    const char *store;
    const char *classes;
    const char *token;
    const char *why;
    bool is_json;
    bool is_dry_run;
    bool is_yes;
    bool is_now;
    bool is_batch;
    bool is_once;
    struct hf_opt_number count;
    struct hf_opt_span every;
    struct hf_opt_word sort;
};

struct lockctl {
    struct hf_sys sys;
    struct lockctl_options options;
    struct hf_opts opts; /* command and operands */
    struct hf_transport *transport;
    struct hf_buf out;
    bool is_quiet; /* notices of the store are not told: completion */
};

enum lockctl_id {
#define LOCKCTL_COMMAND(id, function, ...) LOCKCTL_##id,
#include "cmd/lockctl/commands.def"
#undef LOCKCTL_COMMAND
    LOCKCTL_COMMANDS
};

/* Every command, by its row in commands.def. */
#define LOCKCTL_COMMAND(id, function, ...) int function(struct lockctl *ctl);
#include "cmd/lockctl/commands.def"
#undef LOCKCTL_COMMAND

/* The table of options, commands and exit statuses (tool.c). */
extern const struct hf_tool lockctl_tool;

/* ---- ask.c ----------------------------------------------------------------
 */

/* Open the store; read_only makes and changes nothing. The sentence of what
 * was found and mended, if any, goes to standard error. */
enum hf_err lockctl_open(struct lockctl *ctl, bool read_only,
                         struct hf_error *error);
/* Close it again, if it is open. */
void lockctl_close(struct lockctl *ctl);
/* Ask one thing and wait for its answer. What the request's answer says is the
 * caller's to judge; FAILED becomes the error. Clear the request afterwards. */
enum hf_err lockctl_ask(struct lockctl *ctl, struct hf_request *request,
                        struct hf_error *error);
/* The two halves of it: submit, then wait until `until` at most: is it
 * answered? */
void lockctl_submit(struct lockctl *ctl, struct hf_request *request);
bool lockctl_wait(struct lockctl *ctl, const struct hf_request *request,
                  struct hf_time until);
/* Path of the store that is open. */
const char *lockctl_place(const struct lockctl *ctl);

/* ---- complete.c -----------------------------------------------------------
 */

/* Keys in use, or classes, that begin so, a line each: what completion offers.
 * Names of the default home stand without it. Opens and closes the store;
 * nothing is said of what fails. */
void lockctl_offer(struct lockctl *ctl, enum hf_opt_offer offer,
                   const char *prefix, struct hf_buf *to);

/* ---- main.c ---------------------------------------------------------------
 */

/* One command line from end to end, its words behind argv[0]; `preset` are
 * options that it may override, or NULL. Returns the exit status. */
int lockctl_run(int argc, char **argv, const struct lockctl_options *preset);

/* Say "lockctl: SENTENCE" on standard error; returns the exit status. */
int lockctl_fail(const struct hf_error *error);
/* One more line about it, on standard error. */
void lockctl_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* Write what stands in `out`, and empty it. False: it could not be written, and
 * that was said. */
bool lockctl_flush(struct lockctl *ctl);

#endif
