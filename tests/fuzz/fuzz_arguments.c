/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any words (one a line) as the command line of each tool, by the tools' own
 * tables. Refused: with one clean line. Taken: operands are words of the line,
 * values are within their bounds, and the same options written out in full read
 * as the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/opts_row.h"
#include "cmd/lockctl/lockctl.h"
#include "cmd/lockfence/options.h"
#include "cmd/lockrun/options.h"
#include "tests/fuzz/fuzz.h"

enum { WORDS_MAX = 64, TEXT_MAX = 1 << 20 };

/* What the tables of any of the tools fill. */
union filled {
    struct lockrun_options lockrun;
    struct lockctl_options lockctl;
    struct lockfence_options lockfence;
};

struct line {
    int count;
    char *words[WORDS_MAX + 1];
};

static void add_word(struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_word(struct line *line, const char *format, ...)
{
    struct hf_buf buf;
    va_list args;

    must(line->count < WORDS_MAX);
    hf_buf_init(&buf, TEXT_MAX);
    va_start(args, format);
    must(!hf_buf_vprintf(&buf, format, args));
    va_end(args);
    line->words[line->count] = strdup(buf.data ? buf.data : "");
    must(line->words[line->count] != NULL);
    line->words[++line->count] = NULL;
    hf_buf_clear(&buf);
}

static void line_clear(struct line *line)
{
    while (line->count > 0)
        free(line->words[--line->count]);
}

/* ---- rows of what was filled --------------------------------------------- */

static const void *member_of(const union filled *filled,
                             const struct hf_opt *row)
{
    return (const char *)filled + row->offset;
}

/* Was the row, or one that shares its member, given? */
static bool is_given(const union filled *filled, const struct hf_opt *row)
{
    const void *member = member_of(filled, row);

    switch (row->kind) {
    case HF_OPT_KIND_FLAG:
        return *(const bool *)member;
    case HF_OPT_KIND_CHOICE:
        return *(const int *)member == row->value;
    case HF_OPT_KIND_TEXT:
        return *(const char *const *)member != NULL;
    case HF_OPT_KIND_SPAN:
        return ((const struct hf_opt_span *)member)->is_given;
    case HF_OPT_KIND_NUMBER:
        return ((const struct hf_opt_number *)member)->is_given;
    case HF_OPT_KIND_WORD:
        return ((const struct hf_opt_word *)member)->is_given;
    case HF_OPT_KIND_PAIR:
        return ((const struct hf_opt_pairs *)member)->count > 0;
    case HF_OPT_KIND_END:
    case HF_OPT_KIND_HEADING:
    case HF_OPT_KIND_REFUSED:
    case HF_OPT_KIND_HELP:
    case HF_OPT_KIND_VERSION:
    case HF_OPT_KIND_DUMP:
        break;
    }
    return false;
}

static void is_within(const union filled *filled, const struct hf_opt *row)
{
    const void *member = member_of(filled, row);
    const struct hf_opt_span *span = member;
    const struct hf_opt_number *number = member;
    size_t words = 0;

    if (row->kind == HF_OPT_KIND_SPAN) {
        bool is_forever = span->span.ns == INT64_MAX;

        must(!is_forever || row->takes_forever);
        must(is_forever || span->span.ns >= row->least);
        must(is_forever || row->most == 0 || span->span.ns <= row->most);
    } else if (row->kind == HF_OPT_KIND_NUMBER) {
        must(number->number >= row->least && number->number <= row->most);
    } else if (row->kind == HF_OPT_KIND_WORD) {
        while (row->words[words])
            words++;
        must(((const struct hf_opt_word *)member)->index >= 0);
        must((size_t)((const struct hf_opt_word *)member)->index < words);
    } else if (row->kind == HF_OPT_KIND_PAIR) {
        must(((const struct hf_opt_pairs *)member)->count <= HF_OPT_PAIRS_MAX);
    }
}

/* Write it as --NAME=VALUE, or as -L where it has no name. */
static void add_option(struct line *line, const union filled *filled,
                       const struct hf_opt *row)
{
    const void *member = member_of(filled, row);
    const struct hf_opt_span *span = member;
    const struct hf_opt_pairs *pairs = member;
    struct hf_opt_name name = {"", 0};
    const char *rest = row->names;

    must(hf_opt_next_name(&rest, &name));
    switch (row->kind) {
    case HF_OPT_KIND_FLAG:
    case HF_OPT_KIND_CHOICE:
        add_word(line, "--%.*s", (int)name.size, name.text);
        return;
    case HF_OPT_KIND_TEXT:
        add_word(line, "--%.*s=%s", (int)name.size, name.text,
                 *(const char *const *)member);
        return;
    case HF_OPT_KIND_SPAN:
        add_word(line, "--%.*s=%s", (int)name.size, name.text,
                 hf_duration_print(span->span).text);
        return;
    case HF_OPT_KIND_NUMBER:
        add_word(line, "--%.*s=%lld", (int)name.size, name.text,
                 (long long)((const struct hf_opt_number *)member)->number);
        return;
    case HF_OPT_KIND_WORD:
        add_word(line, "--%.*s=%s", (int)name.size, name.text,
                 row->words[((const struct hf_opt_word *)member)->index]);
        return;
    case HF_OPT_KIND_PAIR:
        for (size_t i = 0; i < pairs->count; i++)
            add_word(line, "--%.*s=%s", (int)name.size, name.text,
                     pairs->pairs[i]);
        return;
    case HF_OPT_KIND_END:
    case HF_OPT_KIND_HEADING:
    case HF_OPT_KIND_REFUSED:
    case HF_OPT_KIND_HELP:
    case HF_OPT_KIND_VERSION:
    case HF_OPT_KIND_DUMP:
        break;
    }
    must(false);
}

static bool is_same(const union filled *a, const union filled *b,
                    const struct hf_opt *row)
{
    const void *one = member_of(a, row);
    const void *other = member_of(b, row);
    const struct hf_opt_pairs *pairs = one;

    if (row->kind == HF_OPT_KIND_TEXT)
        return !strcmp(*(const char *const *)one, *(const char *const *)other);
    if (row->kind == HF_OPT_KIND_SPAN)
        return ((const struct hf_opt_span *)one)->span.ns ==
               ((const struct hf_opt_span *)other)->span.ns;
    if (row->kind == HF_OPT_KIND_NUMBER)
        return ((const struct hf_opt_number *)one)->number ==
               ((const struct hf_opt_number *)other)->number;
    if (row->kind == HF_OPT_KIND_WORD)
        return ((const struct hf_opt_word *)one)->index ==
               ((const struct hf_opt_word *)other)->index;
    if (row->kind != HF_OPT_KIND_PAIR)
        return true;
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->pairs[i],
                   ((const struct hf_opt_pairs *)other)->pairs[i]) != 0)
            return false;
    }
    return pairs->count == ((const struct hf_opt_pairs *)other)->count;
}

/* A member that is written already, by a row above. */
static bool is_repeated(const struct hf_opt *rows, const struct hf_opt *row)
{
    for (const struct hf_opt *above = rows; above < row; above++) {
        if (hf_opt_is_option(above) && above->kind == row->kind &&
            above->offset == row->offset && above->value == row->value)
            return true;
    }
    return false;
}

/* ---- one tool -------------------------------------------------------------
 */

static void reads_back(const struct hf_tool *tool, const union filled *filled,
                       const struct hf_opts *opts)
{
    const struct hf_opt *tables[] = {
        tool->options, opts->command ? opts->command->options : NULL};
    struct hf_error error = {.code = HF_ERR_OK};
    struct line line = {.count = 0};
    struct line own;
    union filled again;
    struct hf_opts others;

    add_word(&line, "%s", tool->name);
    if (opts->command) {
        const char *rest = opts->command->name;
        struct hf_opt_name word;

        while (hf_opt_next_name(&rest, &word))
            add_word(&line, "%.*s", (int)word.size, word.text);
    }
    for (size_t i = 0; i < 2; i++) {
        for (const struct hf_opt *row = tables[i];
             row && row->kind != HF_OPT_KIND_END; row++) {
            if (!is_given(filled, row) || is_repeated(tables[i], row))
                continue;
            is_within(filled, row);
            /* The default of a choice may exclude what was given. */
            if (row->kind == HF_OPT_KIND_CHOICE && row->value == 0)
                continue;
            add_option(&line, filled, row);
        }
    }
    add_word(&line, "--");
    for (int i = 0; i < opts->operand_count && line.count < WORDS_MAX; i++)
        add_word(&line, "%s", opts->operands[i]);
    own = line; /* which the parser may lay in another order */
    memset(&again, 0, sizeof(again));
    must(!hf_opts_parse(tool, own.count, own.words, &again, &others, &error));
    must(others.action == HF_OPTS_RUN && others.command == opts->command);
    for (int i = 0; i < others.operand_count; i++)
        must(strcmp(others.operands[i], opts->operands[i]) == 0);
    for (size_t i = 0; i < 2; i++) {
        for (const struct hf_opt *row = tables[i];
             row && row->kind != HF_OPT_KIND_END; row++) {
            if (is_given(filled, row))
                must(is_given(&again, row) && is_same(filled, &again, row));
        }
    }
    line_clear(&line);
}

static void answers(const struct hf_tool *tool, const struct hf_opts *opts)
{
    struct hf_buf out;

    hf_buf_init(&out, TEXT_MAX);
    must(!hf_opts_answer(tool, opts, &out));
    must(out.size > 0 && out.data[out.size - 1] == '\n');
    hf_buf_clear(&out);
}

static void judge(const struct hf_tool *tool, const struct line *line,
                  int words)
{
    struct line own = {.count = words};
    struct hf_error error = {.code = HF_ERR_OK};
    union filled filled;
    struct hf_opts opts;
    enum hf_err err;

    memcpy(own.words, line->words, sizeof(own.words));
    own.words[words] = NULL;
    memset(&filled, 0, sizeof(filled));
    err = hf_opts_parse(tool, own.count, own.words, &filled, &opts, &error);
    if (err) {
        must(err == HF_ERR_USAGE && fuzz_is_told(&error, err));
        return;
    }
    if (opts.action != HF_OPTS_RUN) {
        answers(tool, &opts);
        return;
    }
    for (int i = 0; i < opts.operand_count; i++) {
        int at = 0;

        while (at < line->count && opts.operands[i] != line->words[at])
            at++;
        must(at < line->count);
    }
    reads_back(tool, &filled, &opts);
}

/* What lockrun itself makes of a line: the key is a key, and something runs. */
static void run(const struct line *line)
{
    struct lockrun_options options;
    struct hf_error error = {.code = HF_ERR_OK};
    struct hf_opts opts;
    struct line own = *line;

    switch (options_read(own.count, own.words, &options, &opts, &error)) {
    case OPTIONS_RUN:
        must(options.command && options.command[0]);
        must(!options.key || !hf_key_check(options.whole_key, NULL));
        must(strlen(options.class_name) < HF_CLASS_NAME_SIZE);
        return;
    case OPTIONS_ANSWER:
        must(opts.action != HF_OPTS_RUN);
        return;
    case OPTIONS_EXPLAIN:
        return;
    case OPTIONS_FAILED:
        must(fuzz_is_told(&error, HF_ERR_USAGE));
        return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    struct line line = {.count = 0};

    add_word(&line, "tool");
    while (input.size > 0 && line.count < WORDS_MAX / 2) {
        const uint8_t *end = memchr(input.data, '\n', input.size);
        size_t length = end ? (size_t)(end - input.data) : input.size;

        line.words[line.count] = fuzz_text(&input, length);
        line.words[++line.count] = NULL;
        (void)fuzz_byte(&input);
    }
    judge(&lockrun_tool, &line, line.count);
    judge(&lockctl_tool, &line, line.count);
    judge(lockfence_tool(), &line, line.count);
    judge(&lockrun_tool, &line, 0);
    run(&line);
    line_clear(&line);
    return 0;
}
