/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockrun beside its peers on one machine: the same jobs under each tool, in
 * interleaved rounds, so that a slow second hits all alike. Prints Markdown:
 * for every scene the median of each tool, and of each round's ratio to
 * flock(1) with a bootstrap interval of 95 %. Times are never judged here.
 *
 * usage: bench -d FOLDER [-r ROUNDS] [-p FILE] TOOL... [-- SCENE...]
 *   TOOL is name=path of: bare, flock, s6-setlock, lockrun (in the store of
 *   this user), lockrun--store (in one below FOLDER)
 *   -p writes name, scene and ratio to FILE, for a plot
 */
#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TOOLS_MAX = 5, ROUNDS_MAX = 101, JOBS_MAX = 1000, WORDS_MAX = 12 };
enum kind { BARE, FLOCK, SETLOCK, LOCKRUN, LOCKRUN_STORE };

struct tool {
    enum kind kind;
    const char *name;
    const char *path;
};

struct scene {
    const char *name;
    const char *text;
    int jobs;
    bool at_once;
    bool one_key;
    int rounds_share; /* a round of it takes so many of the asked rounds */
};

static const struct scene scenes[] = {
    {"one", "one job after another (100 a round)", 100, false, false, 1},
    {"64", "64 jobs at once, a key each", 64, true, false, 1},
    {"1000", "1,000 jobs at once, a key each", 1000, true, false, 3},
    {"contend", "32 at once for one key", 32, true, true, 1},
    {"queue", "a queue of 1,000 for one key", 1000, true, true, 5},
};

struct sample {
    double wall;
    double cpu;
    long rss_kib;
    int failures;
};

struct bench {
    const char *folder;
    int rounds;
    struct tool tools[TOOLS_MAX];
    size_t tool_count;
    FILE *plot;
};

static struct sample samples[TOOLS_MAX][ROUNDS_MAX];

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_of(const struct rusage *usage)
{
    return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
           ((double)usage->ru_utime.tv_usec + (double)usage->ru_stime.tv_usec) /
               1e6;
}

/* The command line of job `n`; `text` holds what has to be made for it. */
static void command(const struct bench *bench, const struct tool *tool,
                    const struct scene *scene, int n, char text[3][512],
                    const char *words[WORDS_MAX])
{
    size_t at = 0;
    int key = scene->one_key ? 0 : n;

    snprintf(text[0], 512, "%s/lock.%d", bench->folder, key);
    snprintf(text[1], 512, "--key=bench/jobs/k%d", key);
    snprintf(text[2], 512, "--store=sqlite:%s/db", bench->folder);
    if (tool->kind != BARE)
        words[at++] = tool->path;
    if (tool->kind == FLOCK || tool->kind == SETLOCK)
        words[at++] = text[0];
    if (tool->kind == LOCKRUN || tool->kind == LOCKRUN_STORE) {
        words[at++] = text[1];
        if (tool->kind == LOCKRUN_STORE)
            words[at++] = text[2];
        if (scene->one_key)
            words[at++] = "-w600";
        words[at++] = "--";
    }
    words[at++] = "/bin/true";
    words[at] = NULL;
}

static pid_t start(const struct bench *bench, const struct tool *tool,
                   const struct scene *scene, int n)
{
    char text[3][512];
    const char *words[WORDS_MAX];
    pid_t pid;
    int failed;

    command(bench, tool, scene, n, text, words);
    failed = posix_spawn(&pid, words[0], NULL, NULL,
                         (char *const *)(uintptr_t)words, environ);
    if (failed) {
        fprintf(stderr, "bench: %s: %s\n", words[0], strerror(failed));
        exit(2);
    }
    return pid;
}

static void finish_one(struct sample *sample)
{
    struct rusage usage;
    int status;

    if (wait4(-1, &status, 0, &usage) < 0) {
        perror("bench: wait4");
        exit(2);
    }
    sample->cpu += cpu_of(&usage);
    if (usage.ru_maxrss > sample->rss_kib)
        sample->rss_kib = usage.ru_maxrss;
    sample->failures += status != 0;
}

static struct sample run_round(const struct bench *bench,
                               const struct tool *tool,
                               const struct scene *scene)
{
    struct sample sample = {0};
    double from = seconds();
    int n;

    for (n = 0; n < scene->jobs; n++) {
        start(bench, tool, scene, n);
        if (!scene->at_once)
            finish_one(&sample);
    }
    for (n = 0; scene->at_once && n < scene->jobs; n++)
        finish_one(&sample);
    sample.wall = seconds() - from;
    return sample;
}

/* ---- figures --------------------------------------------------------------
 */

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static double median(const double *values, int count)
{
    double sorted[ROUNDS_MAX];

    memcpy(sorted, values, (size_t)count * sizeof(*values));
    qsort(sorted, (size_t)count, sizeof(*sorted), compare_doubles);
    return count % 2 ? sorted[count / 2]
                     : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Percentile bootstrap of the median (Efron 1979), seeded: same input, same
 * interval. xorshift64* (Vigna 2014). */
static void interval(const double *values, int count, double *low, double *high)
{
    enum { DRAWS = 2000 };
    static double medians[DRAWS];
    double drawn[ROUNDS_MAX] = {0};
    uint64_t state = UINT64_C(88172645463325252);
    int draw;
    int i;

    for (draw = 0; draw < DRAWS; draw++) {
        for (i = 0; i < count; i++) {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            drawn[i] = values[(state * UINT64_C(2685821657736338717) >> 33) %
                              (uint64_t)count];
        }
        medians[draw] = median(drawn, count);
    }
    qsort(medians, DRAWS, sizeof(*medians), compare_doubles);
    *low = medians[DRAWS / 40];
    *high = medians[DRAWS - 1 - DRAWS / 40];
}

static int tool_of_kind(const struct bench *bench, enum kind kind)
{
    size_t i;

    for (i = 0; i < bench->tool_count; i++) {
        if (bench->tools[i].kind == kind)
            return (int)i;
    }
    return -1;
}

static void print_tool(const struct bench *bench, const struct scene *scene,
                       size_t t, int rounds)
{
    int base = tool_of_kind(bench, FLOCK);
    double wall[ROUNDS_MAX] = {0};
    double cpu[ROUNDS_MAX] = {0};
    double ratio[ROUNDS_MAX] = {0};
    double ratio_cpu[ROUNDS_MAX] = {0};
    double low = 0;
    double high = 0;
    long rss = 0;
    int failures = 0;
    int r;

    for (r = 0; r < rounds; r++) {
        const struct sample *sample = &samples[t][r];

        wall[r] = sample->wall;
        cpu[r] = sample->cpu;
        failures += sample->failures;
        rss = sample->rss_kib > rss ? sample->rss_kib : rss;
        if (base >= 0) {
            ratio[r] = sample->wall / samples[base][r].wall;
            ratio_cpu[r] = sample->cpu / samples[base][r].cpu;
        }
    }
    printf("| %s | %s | %.3f | %.0f | %.3f | %ld | %d |", scene->name,
           bench->tools[t].name, 1000 * median(wall, rounds) / scene->jobs,
           scene->jobs / median(wall, rounds),
           1000 * median(cpu, rounds) / scene->jobs, rss, failures);
    if (base >= 0) {
        interval(ratio, rounds, &low, &high);
        printf(" %.2f [%.2f, %.2f] | %.2f |\n", median(ratio, rounds), low,
               high, median(ratio_cpu, rounds));
        if (bench->plot)
            fprintf(bench->plot, "%s %s %.4f %.4f %.4f\n", bench->tools[t].name,
                    scene->name, median(ratio, rounds), low, high);
    } else {
        printf(" | |\n");
    }
    fflush(stdout);
}

static void play(const struct bench *bench, const struct scene *scene)
{
    int rounds = bench->rounds / scene->rounds_share;
    size_t t;
    int r;

    if (rounds < 3)
        rounds = 3;
    for (t = 0; t < bench->tool_count; t++)
        (void)run_round(bench, &bench->tools[t], scene); /* warm-up */
    for (r = 0; r < rounds; r++) {
        for (t = 0; t < bench->tool_count; t++) {
            size_t turn = (t + (size_t)r) % bench->tool_count;

            samples[turn][r] = run_round(bench, &bench->tools[turn], scene);
        }
    }
    for (t = 0; t < bench->tool_count; t++)
        print_tool(bench, scene, t, rounds);
}

static void add_tool(struct bench *bench, const char *word)
{
    static const char *const names[] = {
        [BARE] = "bare",
        [FLOCK] = "flock",
        [SETLOCK] = "s6-setlock",
        [LOCKRUN] = "lockrun",
        [LOCKRUN_STORE] = "lockrun--store",
    };
    const char *equals = strchr(word, '=');
    size_t i;

    for (i = 0; equals && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t size = strlen(names[i]);

        if ((size_t)(equals - word) == size &&
            strncmp(word, names[i], size) == 0 &&
            bench->tool_count < TOOLS_MAX) {
            bench->tools[bench->tool_count++] = (struct tool){
                .kind = (enum kind)i, .name = names[i], .path = equals + 1};
            return;
        }
    }
    fprintf(stderr, "bench: %s is no tool=path\n", word);
    exit(64);
}

static bool is_wanted(const struct scene *scene, char **wanted, int count)
{
    int i;

    for (i = 0; i < count; i++) {
        if (strcmp(wanted[i], scene->name) == 0)
            return true;
    }
    return count == 0;
}

int main(int argc, char **argv)
{
    struct bench bench = {.rounds = 15};
    const char *plot = NULL;
    size_t s;
    int option;

    while ((option = getopt(argc, argv, "+d:r:p:")) != -1) {
        if (option == 'd')
            bench.folder = optarg;
        else if (option == 'r')
            bench.rounds = (int)strtol(optarg, NULL, 10);
        else if (option == 'p')
            plot = optarg;
        else
            return 64;
    }
    if (!bench.folder || bench.rounds < 3 || bench.rounds > ROUNDS_MAX)
        return 64;
    if (plot)
        bench.plot = fopen(plot, "w");
    while (optind < argc && strcmp(argv[optind], "--") != 0)
        add_tool(&bench, argv[optind++]);
    if (optind < argc)
        optind++;
    for (s = 0; s < sizeof(scenes) / sizeof(scenes[0]); s++) {
        if (is_wanted(&scenes[s], argv + optind, argc - optind))
            printf("- **%s**: %s\n", scenes[s].name, scenes[s].text);
    }
    printf("\n| scene | tool | ms a job | jobs/s | CPU ms a job | "
           "peak KiB | failures | wall / flock [95 %%] | CPU / flock |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (s = 0; s < sizeof(scenes) / sizeof(scenes[0]); s++) {
        if (is_wanted(&scenes[s], argv + optind, argc - optind))
            play(&bench, &scenes[s]);
    }
    if (bench.plot)
        fclose(bench.plot);
    return 0;
}
