/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of lockfence: one struct that all option tables of this
 * folder write into, and one list of commands (commands.def). lockfence and its
 * helpers (lockfence-pg and others) read the same line by the same tables.
 */
#ifndef LOCKFENCE_OPTIONS_H
#define LOCKFENCE_OPTIONS_H

#include <stdbool.h>

#include "base/opts.h"

struct lockfence_options {
    /* claim.def: who writes */
    const char *token;
    const char *grant;
    const char *key;
    bool strict;
    bool rekey;

    bool json;
    bool quiet;

    struct {
        bool append;
        bool force;
        struct hf_opt_number size;
    } file;

    struct {
        const char *mark;
    } filter;

    struct {
        struct hf_opt_span margin;
    } held;

    struct {
        const char *write;
        const char *verify;
        struct hf_opt_number refused_status;
        const char *refused_text;
        struct hf_opt_span ttl;
        const char *class_name;
        struct hf_opt_span limit;
        struct hf_opt_number points;
        const char *junit;
    } pause;

    struct {
        const char *endpoint;
        const char *region;
        const char *profile;
        struct hf_opt_word style; /* as enum hf_s3_style */
        bool adopt;
        const char *guard;
        const char *type;
        struct hf_opt_pairs headers;
        struct hf_opt_word stamp; /* gzip, zstd */
        const char *stamp_line;
    } s3;

    struct {
        const char *dsn;
        const char *writer;
        struct hf_opt_word isolation; /* as enum hf_pg_isolation */
        const char *file;
        const char *command;
        const char *copy;
        const char *copy_options;
        struct hf_opt_number tries;
        bool no_check;
        const char *below;
    } pg;

    /* The lock service, where a command asks it. */
    const char *store;
};

/* Which program runs a command. */
enum lockfence_program {
    LOCKFENCE_MAIN,
    LOCKFENCE_PG,
    LOCKFENCE_S3,
    LOCKFENCE_ASK
};

enum lockfence_command {
#define LOCKFENCE_COMMAND(id, program, function, ...) LOCKFENCE_##id,
#include "cmd/lockfence/commands.def"
#undef LOCKFENCE_COMMAND
    LOCKFENCE_COMMAND_COUNT
};

/* The tool as hf_opts_* take it; static storage. */
const struct hf_tool *lockfence_tool(void);

#endif
