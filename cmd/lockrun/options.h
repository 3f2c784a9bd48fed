/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lockrun's command line says, judged as far as it can be without a store.
 * The rows are in options.def; this is what they fill, and what follows from
 * them.
 */
#ifndef LOCKRUN_OPTIONS_H
#define LOCKRUN_OPTIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/opts.h"
#include "cmd/lockrun/leftover.h"
#include "core/request.h"

/* The members that options.def speaks of. */
struct lockrun_options {
    bool is_try;
    struct hf_opt_span wait;
    bool watches;
    int mode; /* enum hf_mode */
    struct hf_opt_number conflict;
    bool skips;
    struct hf_opt_span jitter;
    struct hf_opt_word nested;

    const char *class_name;
    const char *key;
    struct hf_opt_span ttl;
    struct hf_opt_span grace;
    struct hf_opt_span hold_min;
    struct hf_opt_span max_run;
    const char *note;
    const char *store;

    const char *line; /* -c */
    struct hf_opt_word leftover_word;
    const char *on_busy;
    const char *on_doubt;
    const char *on_lost;
    bool is_json;
    struct hf_opt_number json_fd;
    bool is_verbose;
    bool is_dry_run;
    struct hf_opt_number explained;

    /* ---- not rows ---- */
    bool joins;                  /* --nested=join */
    enum leftover leftover;      /* --leftover */
    char **command;              /* what is to run, ended by NULL */
    char *shell_command[4];      /* room for it with -c */
    const char *store_from;      /* what named the store; NULL: nothing did */
    char whole_key[HF_KEY_SIZE]; /* of `key`; "" when it is not given */
};

extern const struct hf_tool lockrun_tool;

enum options_then {
    OPTIONS_RUN,    /* or --dry-run */
    OPTIONS_ANSWER, /* --help and its like: print hf_opts_answer */
    OPTIONS_EXPLAIN,
    OPTIONS_FAILED /* exit with USAGE, the sentence is in `error` */
};

/* `options` points into argv and the environment. */
enum options_then options_read(int argc, char **argv,
                               struct lockrun_options *options,
                               struct hf_opts *opts, struct hf_error *error);

#endif
