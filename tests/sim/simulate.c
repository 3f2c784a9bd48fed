/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator: many seeded runs of the real service, session and deadline
 * over a simulated store, each judged by the oracle.
 *
 *   simulate --seeds A-B [--jobs N]   silent but for the seeds that break
 *   simulate --seed N                 one, with its whole history
 *   --faults LIST   only these may happen: all, none, or words of fault.def
 *   --kind KIND     embedded, shared or server; otherwise drawn from the seed
 *   --verbose       with --seed: what the stores are asked and answer, too
 *   --first         stop at the first seed that breaks
 *   --counts        how often what came about, in the end
 *
 * Status 0: nothing broke; 1: an invariant broke; 64: usage.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/run.h"

/* A run takes milliseconds: one that takes HANG_S seconds never ends. */
enum { JOBS_MAX = 64, TOLD_MAX = 5, HANG_S = 60 };

struct wishes {
    struct sim_wish wish;
    uint64_t first;
    uint64_t last;
    int jobs;
    bool stop_at_first;
    bool counts;
    bool verbose;
};

struct result {
    uint64_t runs;
    uint64_t broken;
    uint64_t first_broken;
    struct sim_counts counts;
};

static int usage(const char *what)
{
    fprintf(stderr,
            "simulate: %s\n"
            "usage: simulate --seed N | --seeds A-B [--jobs N] [--faults LIST] "
            "[--kind KIND] [--verbose] [--first] [--counts]\n",
            what);
    return 64;
}

static bool parse_number(const char *text, uint64_t *number, const char **end)
{
    char *behind;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &behind, 10);
    *end = behind;
    return errno == 0;
}

static bool parse_seeds(const char *text, struct wishes *wishes)
{
    const char *end;

    if (!parse_number(text, &wishes->first, &end))
        return false;
    wishes->last = wishes->first;
    if (*end == '\0')
        return true;
    return *end == '-' && parse_number(end + 1, &wishes->last, &end) &&
           *end == '\0' && wishes->first <= wishes->last;
}

static bool parse_kind(const char *text, int *kind)
{
    for (*kind = 0; sim_kind_names[*kind]; ++*kind) {
        if (strcmp(sim_kind_names[*kind], text) == 0)
            return true;
    }
    return false;
}

/* NULL, or what is wrong. */
static const char *parse(int argc, char **argv, struct wishes *wishes)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        const char *end;
        uint64_t number;

        if (strcmp(argv[i], "--first") == 0) {
            wishes->stop_at_first = true;
            continue;
        }
        if (strcmp(argv[i], "--verbose") == 0) {
            wishes->verbose = true;
            continue;
        }
        if (strcmp(argv[i], "--counts") == 0) {
            wishes->counts = true;
            continue;
        }
        i++;
        if (strcmp(argv[i - 1], "--seed") == 0 ||
            strcmp(argv[i - 1], "--seeds") == 0) {
            if (!parse_seeds(value, wishes))
                return "seeds are N or A-B";
        } else if (strcmp(argv[i - 1], "--jobs") == 0) {
            if (!parse_number(value, &number, &end) || *end || number < 1 ||
                number > JOBS_MAX)
                return "jobs are 1 to 64";
            wishes->jobs = (int)number;
        } else if (strcmp(argv[i - 1], "--faults") == 0) {
            if (!sim_faults_parse(value, &wishes->wish.faults))
                return "a fault is not known (fault.def has them)";
        } else if (strcmp(argv[i - 1], "--kind") == 0) {
            if (!parse_kind(value, &wishes->wish.kind))
                return "kinds are embedded, shared, server";
        } else {
            return "an option is not known";
        }
    }
    return wishes->last ? NULL : "no seed is named";
}

static void add_counts(struct sim_counts *to, const struct sim_counts *from)
{
    const uint64_t *add = (const uint64_t *)from;
    uint64_t *sum = (uint64_t *)to;

    for (size_t i = 0; i < sizeof(*to) / sizeof(*sum); i++)
        sum[i] += add[i];
}

static void print_counts(const struct sim_counts *counts)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"steps", counts->steps},
        {"commits", counts->commits},
        {"processes", counts->processes},
        {"grants", counts->grants},
        {"  after a wait", counts->grants_after_wait},
        {"  handed on", counts->hand_offs},
        {"busy", counts->busy},
        {"failed", counts->failed},
        {"renewals", counts->renewals},
        {"doubts", counts->doubts},
        {"kills", counts->kills},
        {"places lost", counts->places_lost},
        {"lapses of holds", counts->lapses},
        {"crashes", counts->crashes},
        {"pauses", counts->pauses},
        {"cancelled waits", counts->cancels},
        {"restores", counts->restores},
        {"epoch advances", counts->advances},
        {"audited changes", counts->audits},
        {"  missed, and said", counts->audits_missed},
        {"writes", counts->writes},
        {"  refused", counts->writes_refused},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        printf("%-20s %12" PRIu64 "\n", rows[i].name, rows[i].count);
}

static int run_one(const struct wishes *wishes)
{
    struct sim_wish wish = wishes->wish;
    static struct sim_run run;

    wish.seed = wishes->first;
    run.history = stdout;
    run.verbose = wishes->verbose;
    sim_run_plan(&wish, &run);
    printf("seed %" PRIu64 " (%s): %s\n", wish.seed,
           sim_kind_names[run.plan.kind],
           run.broken ? run.what : "nothing broke");
    if (wishes->counts)
        print_counts(&run.counts);
    return run.broken ? 1 : 0;
}

/* An assertion of the core, or worse: which seed was it? */
static volatile sig_atomic_t has_died;
static uint64_t present_seed;

static void tell_seed(int number)
{
    char text[64];
    int size = snprintf(text, sizeof(text), "seed %" PRIu64 " %s\n",
                        present_seed, number == SIGALRM ? "hangs" : "died");

    signal(number, SIG_DFL);
    if (!has_died && size > 0 && write(1, text, (size_t)size) == size)
        has_died = 1;
    raise(number);
}

/* Every `stride`th seed from `first` on. */
static void run_share(const struct wishes *wishes, uint64_t first,
                      uint64_t stride, struct result *result)
{
    static struct sim_run run;

    for (uint64_t seed = first; seed <= wishes->last; seed += stride) {
        struct sim_wish wish = wishes->wish;

        wish.seed = seed;
        present_seed = seed;
        alarm(HANG_S);
        result->runs++;
        if (!sim_run_plan(&wish, &run)) {
            if (!result->broken++)
                result->first_broken = seed;
            if (result->broken <= TOLD_MAX) {
                printf("seed %" PRIu64 " (%s): %s\n", seed,
                       sim_kind_names[run.plan.kind], run.what);
                fflush(stdout);
            }
        }
        add_counts(&result->counts, &run.counts);
        if (result->broken && wishes->stop_at_first)
            break;
        if (seed > UINT64_MAX - stride)
            break;
    }
}

static void start_share(const struct wishes *wishes, int job, int *from,
                        pid_t *pid)
{
    int ends[2];
    struct result result = {0};

    if (pipe(ends)) {
        perror("simulate: pipe");
        exit(1);
    }
    *pid = fork();
    if (*pid < 0) {
        perror("simulate: fork");
        exit(1);
    }
    if (*pid > 0) {
        close(ends[1]);
        *from = ends[0];
        return;
    }
    close(ends[0]);
    signal(SIGABRT, tell_seed);
    signal(SIGSEGV, tell_seed);
    signal(SIGALRM, tell_seed);
    signal(SIGALRM, tell_seed);
    run_share(wishes, wishes->first + (uint64_t)job, (uint64_t)wishes->jobs,
              &result);
    _exit(write(ends[1], &result, sizeof(result)) == sizeof(result) ? 0 : 1);
}

static int run_many(const struct wishes *wishes)
{
    struct result sum = {0};
    int from[JOBS_MAX];
    pid_t pids[JOBS_MAX];
    bool whole = true;

    fflush(stdout);
    for (int i = 0; i < wishes->jobs; i++)
        start_share(wishes, i, &from[i], &pids[i]);
    for (int i = 0; i < wishes->jobs; i++) {
        struct result part;
        int status;

        if (read(from[i], &part, sizeof(part)) == sizeof(part)) {
            sum.runs += part.runs;
            sum.broken += part.broken;
            if (part.broken &&
                (!sum.first_broken || part.first_broken < sum.first_broken))
                sum.first_broken = part.first_broken;
            add_counts(&sum.counts, &part.counts);
        } else {
            whole = false;
        }
        close(from[i]);
        whole &= waitpid(pids[i], &status, 0) == pids[i] && status == 0;
    }
    if (wishes->counts)
        print_counts(&sum.counts);
    printf("%" PRIu64 " runs, %" PRIu64 " broken", sum.runs, sum.broken);
    if (sum.broken)
        printf(", first seed %" PRIu64 " (simulate --seed %" PRIu64
               " tells its history)",
               sum.first_broken, sum.first_broken);
    printf("%s\n", whole ? "" : "; a share of them died");
    return sum.broken || !whole ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct wishes wishes = {.wish = {.kind = -1, .faults = SIM_FAULTS_ALL},
                            .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    const char *wrong = parse(argc, argv, &wishes);

    if (wrong)
        return usage(wrong);
    if (wishes.jobs < 1 || wishes.jobs > JOBS_MAX)
        wishes.jobs = 1;
    if (wishes.first == wishes.last)
        return run_one(&wishes);
    return run_many(&wishes);
}
