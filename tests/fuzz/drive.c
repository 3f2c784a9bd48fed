/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives a fuzz target without a fuzzer: each file of a corpus, then changed
 * ones, all from one seed. It sees no coverage, so it finds less than a fuzzer
 * does, but the same on each machine.
 *
 * usage: fuzz_X [-n CHANGED | -t SECONDS] [-s SEED] [-o NUMBER] FILE...
 *   -n CHANGED  how many changed inputs (default 20000)
 *   -t SECONDS  as many as can be tried in that time
 *   -s SEED     default 1
 *   -o NUMBER   write that changed input to standard output, and run none
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

enum { FILES_MAX = 1024, INPUT_MAX = 8192, CHANGES_MAX = 8 };

struct input {
    uint8_t bytes[INPUT_MAX];
    size_t size;
};

/* What runs now, for the handler. */
static volatile sig_atomic_t running;

static void say_which(int number)
{
    char text[64];
    int size =
        snprintf(text, sizeof(text), "drive: died at input %d\n", (int)running);

    (void)!write(STDERR_FILENO, text, (size_t)size);
    /* The disposition was reset: this time it ends us. */
    (void)raise(number);
}

static void watch(int number)
{
    struct sigaction action = {.sa_handler = say_which,
                               .sa_flags = SA_RESETHAND};

    (void)sigaction(number, &action, NULL);
}

/* xorshift64*, by Vigna: the same numbers everywhere. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

static size_t below(uint64_t *seed, size_t limit)
{
    return limit ? (size_t)(next_random(seed) % limit) : 0;
}

static void read_file(const char *path, struct input *input)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size;

    size = fd < 0 ? -1 : read(fd, input->bytes, sizeof(input->bytes));
    if (size < 0) {
        fprintf(stderr, "drive: %s: %s\n", path, strerror(errno));
        exit(66);
    }
    (void)close(fd);
    input->size = (size_t)size;
}

static void insert(struct input *input, size_t at, const uint8_t *bytes,
                   size_t size)
{
    if (input->size + size > sizeof(input->bytes))
        return;
    memmove(input->bytes + at + size, input->bytes + at, input->size - at);
    memcpy(input->bytes + at, bytes, size);
    input->size += size;
}

static void cut(struct input *input, size_t at, size_t size)
{
    if (at + size > input->size)
        size = input->size - at;
    memmove(input->bytes + at, input->bytes + at + size,
            input->size - at - size);
    input->size -= size;
}

/* What the formats under test are made of. */
static const char *const words[] = {"\n",
                                    " ",
                                    "  ",
                                    "\t",
                                    ": ",
                                    "- ",
                                    "{",
                                    "}",
                                    "[",
                                    "]",
                                    ",",
                                    "'",
                                    "\"",
                                    "#",
                                    "&a",
                                    "*a",
                                    "!!",
                                    "|",
                                    ">",
                                    "%",
                                    "---",
                                    "...",
                                    "<<",
                                    "?",
                                    "0",
                                    "-1",
                                    "9999",
                                    "1h",
                                    "ms",
                                    "\\x00",
                                    "~",
                                    "\r",
                                    "e9",
                                    ".",
                                    "..",
                                    "/",
                                    "\xff",
                                    "\xc3\xa4",
                                    "//",
                                    "--",
                                    "=",
                                    "null",
                                    "true",
                                    "\\u0000",
                                    "\\ud800",
                                    "holdfast/",
                                    "epoch",
                                    "local/default/",
                                    "9223372036854775807"};

static void change(struct input *input, const struct input *files, size_t count,
                   uint64_t *seed)
{
    const struct input *other = &files[below(seed, count)];
    size_t at = below(seed, input->size + 1);
    const char *word = words[below(seed, sizeof(words) / sizeof(words[0]))];
    uint8_t byte = (uint8_t)next_random(seed);
    size_t from = below(seed, other->size);
    size_t size = below(seed, 64);

    switch (below(seed, 6)) {
    case 0:
        if (at < input->size)
            input->bytes[at] ^= (uint8_t)(1u << (byte & 7));
        return;
    case 1:
        insert(input, at, &byte, 1);
        return;
    case 2:
        insert(input, at, (const uint8_t *)word, strlen(word));
        return;
    case 3:
        cut(input, at, size);
        return;
    case 4:
        if (from + size > other->size)
            size = other->size - from;
        insert(input, at, other->bytes + from, size);
        return;
    default:
        if (at < input->size)
            input->bytes[at] = byte;
        return;
    }
}

static void make(struct input *input, const struct input *files, size_t count,
                 uint64_t *seed)
{
    size_t changes = 1 + below(seed, CHANGES_MAX);

    *input = files[below(seed, count)];
    while (changes-- > 0)
        change(input, files, count, seed);
}

/* On the heap and no byte larger, so that a sanitizer sees what is read. */
static void run(const struct input *input)
{
    uint8_t *bytes = malloc(input->size ? input->size : 1);

    if (!bytes)
        exit(71);
    memcpy(bytes, input->bytes, input->size);
    (void)LLVMFuzzerTestOneInput(bytes, input->size);
    free(bytes);
    running++;
}

struct options {
    unsigned long changed;
    unsigned long only;
    unsigned long seconds;
    uint64_t seed;
};

static void parse(int argc, char **argv, struct options *options)
{
    int letter;

    while ((letter = getopt(argc, argv, "n:s:o:t:")) != -1) {
        char *end = NULL;
        unsigned long number = optarg ? strtoul(optarg, &end, 10) : 0;

        if (!end || *end || end == optarg)
            exit(64);
        if (letter == 'n')
            options->changed = number;
        else if (letter == 's')
            options->seed = number;
        else if (letter == 't')
            options->seconds = number;
        else
            options->only = number;
    }
    if (optind == argc || argc - optind > FILES_MAX || options->seed == 0)
        exit(64);
}

/* Is the nth changed input still to be made? */
static bool goes_on(const struct options *options, unsigned long n, time_t end)
{
    struct timespec now;

    if (options->only)
        return n <= options->only;
    if (options->seconds == 0)
        return n <= options->changed;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec < end;
}

int main(int argc, char **argv)
{
    struct options options = {.changed = 20000, .seed = 1};
    struct input input;
    struct input *files;
    struct timespec started;
    unsigned long n;
    size_t count;
    size_t i;

    parse(argc, argv, &options);
    (void)clock_gettime(CLOCK_MONOTONIC, &started);
    count = (size_t)(argc - optind);
    files = calloc(count, sizeof(*files));
    if (!files)
        return 71;
    watch(SIGABRT);
    watch(SIGSEGV);
    for (i = 0; i < count; i++) {
        read_file(argv[optind + (int)i], &files[i]);
        if (!options.only)
            run(&files[i]);
    }
    for (n = 1; goes_on(&options, n, started.tv_sec + (time_t)options.seconds);
         n++) {
        make(&input, files, count, &options.seed);
        if (n == options.only)
            (void)!write(STDOUT_FILENO, input.bytes, input.size);
        else if (!options.only)
            run(&input);
    }
    free(files);
    if (!options.only)
        printf("%d passed, 0 failed\n", (int)running);
    return 0;
}
