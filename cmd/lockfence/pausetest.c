/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockfence pausetest: does a resource refuse a writer that lost its lease?
 * Real locks, by a real lockrun; only the order in which the stopped processes
 * are woken is chosen: the writer first, lockrun and its guardian after it
 * wrote, which is what a loaded machine may do by itself. docs/pausetest.md
 * says what each trial stands for.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/duration.h"
#include "cmd/lockfence/pause_kit.h"

enum { REPORT_MAX = 1 << 20, POINTS_DEFAULT = 32 };
/* Beyond the lease's own time: an arbiter's store may take so much longer. */
enum { GRANT_EXTRA_MS = 15000, TTL_DEFAULT_MS = 5000, STOP_LIMIT_MS = 3000 };

/* ---- the trials, in their order
 * -------------------------------------------------- */

static void end_here(struct pause_kit *kit, const char *what,
                     const struct hf_error *error)
{
    snprintf(kit->report->broken, sizeof(kit->report->broken), "%s: %.500s",
             what, error->text);
}

static bool was_taken(const struct pause_kit *kit, enum pause_trial trial)
{
    return kit->report->found[trial].fate == PAUSE_TAKEN;
}

/* Holder one writes twice, and is stopped with all that belongs to it. */
static enum hf_err begin_one(struct pause_kit *kit, struct pause_holder *one,
                             struct pause_holder *part,
                             pid_t pids[PAUSE_PIDS_MAX], int *count)
{
    enum hf_err failed = pause_kit_try_holder(kit, PAUSE_FIRST, one, NULL);

    if (!failed && was_taken(kit, PAUSE_FIRST))
        failed = pause_kit_try_holder(kit, PAUSE_AGAIN, one, NULL);
    if (!failed && was_taken(kit, PAUSE_FIRST))
        failed = pause_part_start(&kit->setting, one, part, kit->run->error);
    if (failed || !was_taken(kit, PAUSE_FIRST))
        return failed;
    failed = pause_stop_all(pids, count, kit->run->error);
    if (!failed)
        pause_kit_say(kit,
                      "holder one stands still, with its lockrun: %d "
                      "processes; its lease has %s to run out",
                      *count, kit->setting.ttl);
    return failed;
}

/* Does the job still stand there, to be let go on before its lockrun is? */
static enum hf_err resume_job(struct pause_kit *kit, struct pause_holder *one,
                              const struct pause_grant *control)
{
    struct pause_found *found = &kit->report->found[PAUSE_RESUMED];

    if (!pause_is_alive(one->agent)) {
        snprintf(found->why, sizeof(found->why),
                 "who took the key ended what was left of the job");
        pause_kit_say(kit, "holder one's job is gone: %s", found->why);
        return HF_ERR_OK;
    }
    pause_continue(&one->agent, 1);
    return pause_kit_try_holder(kit, PAUSE_RESUMED, one, control);
}

/* All of holder one goes on: those that write, and then its lockrun. */
static enum hf_err resume_one(struct pause_kit *kit, struct pause_holder *one,
                              struct pause_holder *part, const pid_t *pids,
                              int count, const struct pause_grant *control)
{
    enum hf_err failed = resume_job(kit, one, control);
    int status;

    pause_continue(&part->agent, 1);
    if (!failed)
        failed = pause_kit_try_holder(kit, PAUSE_LEAKED, part, control);
    pause_continue(pids, count);
    if (failed)
        return failed;
    pause_holder_finish(&kit->setting, part);
    status = pause_holder_await(&kit->setting, one, hf_span_ms(STOP_LIMIT_MS));
    if (status < 0) {
        pause_kit_say(kit, "holder one's lockrun does not notice its loss");
        pause_holder_finish(&kit->setting, one);
    } else {
        pause_kit_say(kit, "holder one's lockrun ended with %d%s", status,
                      status == 79 ? " (lease lost)" : "");
    }
    return HF_ERR_OK;
}

/* While holder two holds the key: all kinds of wrong tokens, by processes that
 * no lockrun watches over. */
static enum hf_err try_tokens(struct pause_kit *kit,
                              const struct pause_grant *one,
                              const struct pause_grant *two)
{
    char token_one[HF_TOKEN_TEXT_SIZE + 1];
    char near[HF_TOKEN_TEXT_SIZE + 1];
    const struct pause_change disguised[] = {{"LOCK_TOKEN", token_one},
                                             {"LOCK_SESSION", one->session},
                                             {NULL, NULL}};
    const struct pause_change nine[] = {{"LOCK_TOKEN", "9"},
                                        {"LOCK_EPOCH", "0"},
                                        {"LOCK_REVISION", "9"},
                                        {"LOCK_SESSION", one->session},
                                        {NULL, NULL}};
    const struct pause_change below[] = {
        {"LOCK_TOKEN", near}, {"LOCK_SESSION", one->session}, {NULL, NULL}};
    const struct pause_change other[] = {{"LOCK_SESSION", one->session},
                                         {NULL, NULL}};
    enum hf_err failed;

    snprintf(token_one, sizeof(token_one), "%" PRIu64, one->token);
    snprintf(near, sizeof(near), "%" PRIu64, two->token - 1);
    failed = pause_kit_try(kit, PAUSE_DISGUISED, two, disguised, two);
    if (!failed)
        failed = pause_kit_try(kit, PAUSE_TEXT, two, nine, two);
    if (!failed && two->token - 1 != one->token)
        failed = pause_kit_try(kit, PAUSE_NEAR, two, below, two);
    if (!failed)
        failed = pause_kit_try(kit, PAUSE_OTHER_GRANT, two, other, NULL);
    if (!failed)
        failed = pause_kit_try(kit, PAUSE_NO_TOKEN, NULL, NULL, NULL);
    return failed;
}

/* What is left when holder two has let go. */
static enum hf_err try_third(struct pause_kit *kit,
                             const struct pause_grant *two)
{
    struct pause_holder three;
    enum hf_err failed =
        pause_holder_start(&kit->setting, "three", &three, kit->run->error);

    if (failed)
        return failed;
    failed = pause_kit_try_holder(kit, PAUSE_THIRD, &three, NULL);
    if (!failed)
        failed = pause_kit_try(kit, PAUSE_REPLAY, two, NULL, &three.grant);
    pause_holder_finish(&kit->setting, &three);
    pause_grant_clear(&three.grant);
    return failed;
}

static enum hf_err with_two(struct pause_kit *kit, struct pause_holder *one,
                            struct pause_holder *part, struct pause_holder *two,
                            const pid_t *pids, int count)
{
    enum hf_err failed;

    pause_kit_say(kit,
                  "holder two has the key: token %" PRIu64 ", after %" PRIu64,
                  two->grant.token, one->grant.token);
    failed = pause_kit_try_holder(kit, PAUSE_TAKEOVER, two, NULL);
    if (failed || !was_taken(kit, PAUSE_TAKEOVER))
        return failed;
    failed = resume_one(kit, one, part, pids, count, &two->grant);
    if (!failed)
        failed = try_tokens(kit, &one->grant, &two->grant);
    if (!failed)
        failed = pause_kit_try_holder(kit, PAUSE_AFTER, two, NULL);
    return failed;
}

static enum hf_err run_trials(struct pause_kit *kit)
{
    static pid_t pids[PAUSE_PIDS_MAX];
    const struct hf_opt_number *points = &kit->run->options->pause.points;
    struct pause_holder one;
    struct pause_holder part;
    struct pause_holder two;
    int count = 0;
    enum hf_err failed =
        pause_holder_start(&kit->setting, "one", &one, kit->run->error);

    if (failed)
        return failed;
    pause_kit_say(kit, "holder one has the key: token %" PRIu64,
                  one.grant.token);
    failed = begin_one(kit, &one, &part, pids, &count);
    if (!failed && count) {
        failed =
            pause_holder_start(&kit->setting, "two", &two, kit->run->error);
        if (!failed) {
            failed = with_two(kit, &one, &part, &two, pids, count);
            pause_holder_finish(&kit->setting, &two);
            if (!failed && was_taken(kit, PAUSE_TAKEOVER))
                failed = try_third(kit, &two.grant);
            pause_grant_clear(&two.grant);
        }
        if (!failed && was_taken(kit, PAUSE_THIRD))
            failed = pause_points(kit, points->is_given
                                           ? (unsigned int)points->number
                                           : POINTS_DEFAULT);
    }
    pause_grant_clear(&one.grant);
    return failed;
}

/* ---- around them
 * ----------------------------------------------------------------- */

static void do_nothing(int signal)
{
    (void)signal;
}

static void end_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGHUP);
    sigaddset(signals, SIGCHLD);
}

/*
 * Stand by while the worker tests: whatever ends it or us, nothing stopped may
 * be left behind. The signals are blocked. The worker's status, or 128 and a
 * signal's number.
 */
static int stand_by(pid_t worker)
{
    sigset_t signals;
    int wait_status = 0;

    end_signals(&signals);
    for (;;) {
        int signal = sigwaitinfo(&signals, NULL);

        if (signal < 0 && errno == EINTR)
            continue;
        if (signal != SIGCHLD) {
            pause_kill_all();
            return 128 + signal;
        }
        if (waitpid(worker, &wait_status, WNOHANG) == worker) {
            pause_kill_all();
            return pause_status_of(wait_status);
        }
    }
}

static int remove_one(const char *path, const struct stat *about, int kind,
                      struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

/* lockrun: beside this program, or wherever PATH has it. */
static enum hf_err find_lockrun(char path[PATH_MAX], struct hf_error *error)
{
    const char *folders = getenv("PATH");
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 16);
    char *slash;

    if (size > 0) {
        path[size] = '\0';
        slash = strrchr(path, '/');
        if (slash)
            snprintf(slash + 1, 16, "lockrun");
        if (slash && !access(path, X_OK))
            return HF_ERR_OK;
    }
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");

        snprintf(path, PATH_MAX, "%.*s/lockrun", (int)length, folders);
        if (length && !access(path, X_OK))
            return HF_ERR_OK;
        folders += length + (folders[length] == ':');
    }
    return hf_error_set(error, HF_ERR_UNAVAILABLE,
                        "lockrun is neither beside lockfence nor in PATH");
}

static enum hf_err make_folder(struct pause_kit *kit)
{
    const char *temporary = getenv("TMPDIR");

    snprintf(kit->folder, sizeof(kit->folder),
             "%.200s/lockfence-pausetest-XXXXXX",
             temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(kit->folder))
        return hf_error_set_errno(kit->run->error, HF_ERR_UNAVAILABLE, errno,
                                  "%s", kit->folder);
    return HF_ERR_OK;
}

static enum hf_err write_junit(const struct pause_report *report,
                               const char *path, struct hf_error *error)
{
    struct hf_buf text;
    enum hf_err failed = HF_ERR_OK;
    int code = 0;
    int fd;

    hf_buf_init(&text, REPORT_MAX);
    pause_report_junit(report, &text);
    fd = text.failed
             ? -1
             : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, text.data, text.size) != (ssize_t)text.size)
        code = errno;
    if (fd >= 0 && close(fd) < 0 && !code)
        code = errno;
    if (text.failed)
        failed = hf_error_set(error, text.failed, "no memory for a report");
    else if (code)
        failed =
            hf_error_set_errno(error, HF_ERR_UNAVAILABLE, code, "%.300s", path);
    hf_buf_clear(&text);
    return failed;
}

static enum hf_err show(const struct pause_kit *kit)
{
    const struct lockfence_run *run = kit->run;
    struct hf_buf out;
    enum hf_err failed;

    hf_buf_init(&out, REPORT_MAX);
    if (run->options->json)
        pause_report_json(kit->report, &out);
    else
        pause_report_text(kit->report, &out);
    failed = frame_print(&out, run->error);
    hf_buf_clear(&out);
    if (!failed && run->options->pause.junit)
        failed =
            write_junit(kit->report, run->options->pause.junit, run->error);
    return failed;
}

static void settle(struct pause_kit *kit, const char *lockrun,
                   const char *store, const struct hf_duration_text *ttl)
{
    const struct lockfence_options *options = kit->run->options;
    struct hf_span limit = options->pause.limit.is_given
                               ? options->pause.limit.span
                               : hf_span_ms(30000);
    struct hf_span lease = options->pause.ttl.is_given
                               ? options->pause.ttl.span
                               : hf_span_ms(TTL_DEFAULT_MS);

    kit->setting = (struct pause_setting){
        .sys = kit->run->sys,
        .lockrun = lockrun,
        .store = store,
        .class_name = options->pause.class_name,
        .key = options->key ? options->key : "pausetest",
        .ttl = ttl->text,
        .line = options->pause.write,
        .folder = kit->folder,
        .write_limit = limit,
        .grant_limit = {hf_sum_ns(lease.ns, hf_span_ms(GRANT_EXTRA_MS).ns)},
    };
    kit->report->key = kit->setting.key;
    kit->report->write_line = options->pause.write;
    kit->report->verify_line = options->pause.verify;
    kit->report->is_strict = options->strict;
}

/* In the worker, which gets the signals as the caller had them. */
static enum hf_err run_test(struct pause_kit *kit)
{
    /* A handler does not outlive execve(2), so jobs get what we got. */
    const struct sigaction none = {.sa_handler = do_nothing};
    enum hf_err failed = pause_adopt_orphans(kit->run->error);

    if (failed)
        return failed;
    sigaction(SIGPIPE, &none, NULL);
    hf_buf_init(&kit->stands, PAUSE_VERIFY_MAX);
    kit->begun = kit->setting.sys->steady(kit->setting.sys);
    failed = run_trials(kit);
    if (failed)
        end_here(kit, "the test could not go on", kit->run->error);
    pause_kill_all();
    failed = show(kit);
    hf_buf_clear(&kit->stands);
    *kit->run->answer = (int)pause_report_verdict(kit->report);
    return failed;
}

static enum hf_err run_guarded(struct pause_kit *kit)
{
    struct hf_error *error = kit->run->error;
    sigset_t before;
    sigset_t signals;
    pid_t worker;
    enum hf_err failed = pause_adopt_orphans(error);

    if (failed)
        return failed;
    end_signals(&signals);
    sigprocmask(SIG_BLOCK, &signals, &before);
    worker = fork();
    if (worker == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        failed = run_test(kit);
        _exit(failed ? frame_end(failed, error) : *kit->run->answer);
    }
    if (worker < 0)
        failed = hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                    "cannot start a process");
    else
        *kit->run->answer = stand_by(worker);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return failed;
}

enum hf_err command_pausetest(const struct lockfence_run *run)
{
    const struct lockfence_options *options = run->options;
    static struct pause_report report;
    struct pause_kit kit = {
        .run = run, .report = &report, .verify = options->pause.verify};
    struct hf_duration_text ttl = hf_duration_print(
        options->pause.ttl.is_given ? options->pause.ttl.span
                                    : hf_span_ms(TTL_DEFAULT_MS));
    char lockrun[PATH_MAX];
    char store[300];
    enum hf_err failed;

    if (!options->pause.write)
        return hf_error_set(run->error, HF_ERR_USAGE,
                            "pausetest needs --write 'SHELL LINE'");
    failed = find_lockrun(lockrun, run->error);
    if (!failed)
        failed = make_folder(&kit);
    if (failed)
        return failed;
    snprintf(store, sizeof(store), "sqlite:%s/store", kit.folder);
    settle(&kit, lockrun, options->store ? options->store : store, &ttl);
    failed = run_guarded(&kit);
    nftw(kit.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return failed;
}
