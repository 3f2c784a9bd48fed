/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines: one table of rows for each tool (cmd/TOOL/options.def) is its
 * parser, its --help, the option list of its manual and its completions. Not a
 * reader of configuration files. Used by mains alone.
 *
 * What a tool writes:
 *
 *     struct lockrun_options {
 *         bool is_verbose;
 *         const char *key;
 *         struct hf_opt_span wait;
 *     };
 *     #define OPT(member, kind, ...) \
 *         HF_OPT(struct lockrun_options, member, kind, __VA_ARGS__)
 *     static const struct hf_opt rows[] = {
 *     #include "cmd/lockrun/options.def"
 *         HF_OPT_END,
 *     };
 *
 * and in options.def, laid out by hand:
 *
 *     HF_OPT_HEADING("Waiting")
 *     OPT(wait, SPAN, .letters = "w", .names = "wait timeout",
 *         .argument = "TIME", .help = "Wait at most TIME for the key.")
 *     HF_OPT_COMMON
 *
 * Rules of the command line: long options may be shortened to any unambiguous
 * beginning, take values as --name=VALUE or --name VALUE; letters may be joined
 * (-sn) and take values as -wVALUE or -w VALUE; "--" ends the options, "-" is
 * an operand. A tool that runs another program says `ends_at_operand`: what
 * stands behind the first operand is then not looked at. Others take options
 * anywhere. The last one given wins, unless rows exclude each other. Nothing
 * here allocates while it parses, and nothing is printed.
 */
#ifndef HF_BASE_OPTS_H
#define HF_BASE_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"

/* ---- rows -------------------------------------------------------------- */

enum hf_opt_kind {
    HF_OPT_KIND_END,
    HF_OPT_KIND_HEADING, /* `names` is the heading of the rows below */
    HF_OPT_KIND_FLAG,    /* bool: becomes true */
    HF_OPT_KIND_CHOICE,  /* int: becomes `value`; rows may share a member */
    HF_OPT_KIND_TEXT,    /* const char *: points into argv */
    HF_OPT_KIND_SPAN,    /* struct hf_opt_span: least to most, in ns */
    HF_OPT_KIND_NUMBER,  /* struct hf_opt_number: least to most */
    HF_OPT_KIND_WORD,    /* struct hf_opt_word: one of `words` */
    HF_OPT_KIND_PAIR,    /* struct hf_opt_pairs: NAME=VALUE, may be repeated */
    HF_OPT_KIND_REFUSED, /* no member: an error whose sentence is `help` */
    HF_OPT_KIND_HELP,
    HF_OPT_KIND_VERSION,
    HF_OPT_KIND_DUMP
};

struct hf_opt_span {
    bool is_given;
    struct hf_span span; /* FOREVER for the word "forever" */
};

struct hf_opt_number {
    bool is_given;
    int64_t number;
};

struct hf_opt_word {
    bool is_given;
    int index; /* in `words` */
};

enum {
    HF_OPT_PAIRS_MAX = 32,
    HF_OPT_ROWS_MAX = 128 /* of one table, headings too */
};

struct hf_opt_pairs {
    size_t count;
    const char *pairs[HF_OPT_PAIRS_MAX]; /* "NAME=VALUE", NAME is not empty */
};

/* What a shell may offer for a value or an operand. The last two are asked of
 * the tool's `completer`. */
enum hf_opt_offer {
    HF_OFFER_NOTHING,
    HF_OFFER_FILE,
    HF_OFFER_COMMAND,
    HF_OFFER_KEY,
    HF_OFFER_CLASS
};

struct hf_opt {
    enum hf_opt_kind kind;
    const char *names;    /* long ones, without dashes, a blank between */
    const char *letters;  /* short ones, "n" or "xe"; or NULL */
    const char *argument; /* what help calls the value, "TIME" */
    const char *help;     /* sentences, plain ASCII */
    size_t offset;
    enum hf_opt_kind member_kind; /* what the member can take, by its type */

    int64_t least;            /* SPAN, NUMBER; of a TEXT's bytes as well */
    int64_t most;             /* SPAN, TEXT: 0 is no limit */
    bool takes_forever;       /* SPAN: the word "forever" too */
    const char *const *words; /* WORD: ended by NULL */
    int value;                /* CHOICE */
    const char *excludes;     /* rows with the same text exclude each other */
    const char *hint;         /* a sentence behind an error in its value */
    enum hf_opt_offer offer;  /* TEXT: what a shell may offer */
    bool is_hidden;           /* not in help, manual and completions */
};

/* Which kinds a member of that type can take: checked by hf_opts_check. */
#define HF_OPT_MEMBER_KIND(type, member)                                       \
    _Generic((((type *)0)->member), bool                                       \
             : HF_OPT_KIND_FLAG, int                                           \
             : HF_OPT_KIND_CHOICE, const char *                                \
             : HF_OPT_KIND_TEXT, struct hf_opt_span                            \
             : HF_OPT_KIND_SPAN, struct hf_opt_number                          \
             : HF_OPT_KIND_NUMBER, struct hf_opt_word                          \
             : HF_OPT_KIND_WORD, struct hf_opt_pairs                           \
             : HF_OPT_KIND_PAIR)

#define HF_OPT(type, member, kind_, ...)                                       \
    {.kind = HF_OPT_KIND_##kind_,                                              \
     .offset = offsetof(type, member),                                         \
     .member_kind = HF_OPT_MEMBER_KIND(type, member),                          \
     __VA_ARGS__},
#define HF_OPT_HEADING(text) {.kind = HF_OPT_KIND_HEADING, .names = text},
/* Another tool's option, refused with a sentence that says what to do. */
#define HF_OPT_REFUSED(letters_, names_, sentence)                             \
    {.kind = HF_OPT_KIND_REFUSED,                                              \
     .letters = letters_,                                                      \
     .names = names_,                                                          \
     .help = sentence},
/* --help, --version and --dump, under a heading of their own. */
#define HF_OPT_COMMON                                                          \
    HF_OPT_HEADING("About")                                                    \
    HF_OPT_ABOUT(HELP, "h", "help", "Show this and exit.")                     \
    HF_OPT_ABOUT(VERSION, "V", "version", "Show the version and exit.")        \
    HF_OPT_ABOUT(                                                              \
        DUMP, NULL, "dump",                                                    \
        "Print what is generated from the table of options: mdoc "             \
        "(the manual's lists), or completions for bash, zsh or fish.")
#define HF_OPT_ABOUT(kind_, letters_, names_, help_)                           \
    {.kind = HF_OPT_KIND_##kind_,                                              \
     .letters = letters_,                                                      \
     .names = names_,                                                          \
     .argument = HF_OPT_KIND_##kind_ == HF_OPT_KIND_DUMP ? "FORM" : NULL,      \
     .help = help_,                                                            \
     .is_hidden = HF_OPT_KIND_##kind_ == HF_OPT_KIND_DUMP},
#define HF_OPT_END                                                             \
    {                                                                          \
        .kind = HF_OPT_KIND_END                                                \
    }

/* ---- tools and commands ------------------------------------------------ */

/* One of a tool's commands: "ls", or two words, "class ls". */
struct hf_command {
    const char *name;     /* NULL ends the list */
    int id;               /* the tool's own enum */
    const char *operands; /* as in a usage line: "KEY", "[KEY]...", or NULL */
    const char *summary;  /* one sentence */
    const char *details;  /* more sentences for its --help, or NULL */
    const struct hf_opt *options; /* its own rows, or NULL */
    int operands_least;
    int operands_most; /* below 0: any number */
    enum hf_opt_offer offer;
    bool is_hidden; /* not in help, manual and completions */
};

/* An exit status that help and manual explain. */
struct hf_exit {
    int status;
    const char *text; /* NULL ends the list */
};

struct hf_tool {
    const char *name;
    const char *version;
    const char *summary; /* one sentence */
    /* What stands behind the name on the usage lines; ended by NULL. */
    const char *const *usages;
    const struct hf_opt *options;
    const struct hf_command *commands; /* NULL: the tool has none */
    bool ends_at_operand;
    enum hf_opt_offer offer; /* without commands: its operands */
    /* Words of a shell that print keys or classes, a line each: called with
     * "keys" or "classes" and the beginning behind them. NULL: the tool offers
     * neither. */
    const char *completer;
    /* Sections of help and manual, each may be NULL. */
    const char *exit_intro; /* a sentence before the list of statuses */
    /* Of err.def, ended by OK: each becomes a status with its sentence. */
    const enum hf_err *errors;
    const struct hf_exit *exits; /* the tool's other statuses */
    const char *closing;         /* a last paragraph */
};

/* ---- parsing ----------------------------------------------------------- */

enum hf_opts_action {
    HF_OPTS_RUN,
    HF_OPTS_HELP,
    HF_OPTS_VERSION,
    HF_OPTS_DUMP
};
enum hf_opts_form { HF_OPTS_MDOC, HF_OPTS_BASH, HF_OPTS_ZSH, HF_OPTS_FISH };

struct hf_opts {
    enum hf_opts_action action;
    enum hf_opts_form form;           /* of DUMP */
    const struct hf_command *command; /* NULL: the tool has none, or HELP */
    char **operands;                  /* within argv, ended by NULL */
    int operand_count;
};

/*
 * Read a command line into the struct `to` that the rows speak of, on top of
 * the defaults which the caller put there, and tell in *opts what is left. argv
 * is reordered only when the tool takes options anywhere. With --help,
 * --version or --dump (the first of them wins) what follows is not judged.
 * Error: USAGE with one sentence for "NAME: " to stand in front of; `to` is
 * then half filled.
 */
enum hf_err hf_opts_parse(const struct hf_tool *tool, int argc, char **argv,
                          void *to, struct hf_opts *opts,
                          struct hf_error *error);

/*
 * The text that HELP, VERSION or DUMP asks for, for standard output. Errors:
 * NOMEM, USAGE (limit of `out`).
 */
enum hf_err hf_opts_answer(const struct hf_tool *tool,
                           const struct hf_opts *opts, struct hf_buf *out);

/* The parts of it. `command` may be NULL: the tool's own help. */
enum hf_err hf_opts_help(const struct hf_tool *tool,
                         const struct hf_command *command, struct hf_buf *out);
enum hf_err hf_opts_dump(const struct hf_tool *tool, enum hf_opts_form form,
                         struct hf_buf *out);

/*
 * Is the table right? For a unit test of each tool: doubled letters, names and
 * commands, help that is missing or no sentence, members of the wrong type,
 * ranges that hold nothing. Error: INTERNAL with a sentence that names the row.
 */
enum hf_err hf_opts_check(const struct hf_tool *tool, struct hf_error *error);

#endif
