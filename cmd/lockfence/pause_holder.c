/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockfence/pause_holder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

enum { ENVIRON_MAX = 1 << 18, AGENT_TO = 8, AGENT_FROM = 9 };

/*
 * The job. It tells its pid, then writes for each id that it reads, and tells
 * how that ended. What it starts does not inherit the two pipes.
 */
static const char agent[] =
    "echo \"pid $$\" >&9\n"
    "while read -r id <&8; do\n"
    "  PAUSETEST_WRITE=$id /bin/sh -c \"$PAUSETEST_LINE\" </dev/null \\\n"
    "    >\"$PAUSETEST_FOLDER/$id.out\" 2>&1 8<&- 9>&-\n"
    "  echo \"$id $?\" >&9\n"
    "done\n";

/* ---- grants
 * ------------------------------------------------------------------ */

void pause_grant_clear(struct pause_grant *grant)
{
    for (size_t i = 0; i < grant->count; i++)
        free(grant->words[i]);
    grant->count = 0;
}

/* The value when `word` is "NAME=value". */
static const char *value_of(const char *word, const char *name)
{
    size_t size = strlen(name);

    return !strncmp(word, name, size) && word[size] == '=' ? word + size + 1
                                                           : NULL;
}

static enum hf_err keep_word(struct pause_grant *grant, const char *word,
                             struct hf_error *error)
{
    const char *token = value_of(word, "LOCK_TOKEN");
    const char *session = value_of(word, "LOCK_SESSION");

    if (strncmp(word, "LOCK_", 5) != 0 || grant->count == PAUSE_WORDS_MAX)
        return HF_ERR_OK;
    if (token)
        hf_token_parse(token, strlen(token), &grant->token);
    if (session && hf_fence_grant_is_valid(session))
        memcpy(grant->session, session, strlen(session) + 1);
    grant->words[grant->count] = strdup(word);
    if (!grant->words[grant->count])
        return hf_error_set(error, HF_ERR_NOMEM, "no memory");
    grant->count++;
    return HF_ERR_OK;
}

/* The LOCK_* with which a process was started. */
static enum hf_err read_grant(pid_t pid, struct pause_grant *grant,
                              struct hf_error *error)
{
    char *text = malloc(ENVIRON_MAX + 1);
    enum hf_err failed = HF_ERR_OK;
    size_t size = 0;
    ssize_t got = -1;
    char path[40];
    int fd;

    *grant = (struct pause_grant){.count = 0};
    snprintf(path, sizeof(path), "/proc/%d/environ", pid);
    fd = text ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    while (fd >= 0 && size < ENVIRON_MAX) {
        got = read(fd, text + size, ENVIRON_MAX - size);
        if (got <= 0)
            break;
        size += (size_t)got;
    }
    if (fd >= 0)
        close(fd);
    if (got < 0 || !text) {
        free(text);
        return hf_error_set(error, HF_ERR_UNAVAILABLE, "%s cannot be read",
                            path);
    }
    text[size] = '\0';
    for (size_t at = 0; at < size && !failed; at += strlen(text + at) + 1)
        failed = keep_word(grant, text + at, error);
    free(text);
    if (!failed && !grant->token)
        failed = hf_error_set(error, HF_ERR_UNAVAILABLE,
                              "lockrun's job has no LOCK_TOKEN");
    if (failed)
        pause_grant_clear(grant);
    return failed;
}

static const struct pause_change *find_change(const struct pause_change *list,
                                              const char *word)
{
    for (; list && list->name; list++)
        if (value_of(word, list->name))
            return list;
    return NULL;
}

char **pause_environment(const struct pause_grant *grant,
                         const struct pause_change *changes, const char *id)
{
    size_t count = 0;
    size_t made = 0;
    size_t room = 0;
    char **list;
    char *text;

    while (environ[count])
        count++;
    for (const struct pause_change *c = changes; c && c->name; c++)
        room += strlen(c->name) + (c->value ? strlen(c->value) : 0) + 2;
    room += strlen(id) + sizeof("PAUSETEST_WRITE=");
    count += PAUSE_WORDS_MAX * 2 + 2;
    list = malloc(count * sizeof(*list) + room);
    if (!list)
        return NULL;
    text = (char *)(list + count);
    for (size_t i = 0; environ[i]; i++)
        if (strncmp(environ[i], "LOCK_", 5) != 0 &&
            strncmp(environ[i], "PAUSETEST_", 10) != 0)
            list[made++] = environ[i];
    for (size_t i = 0; grant && i < grant->count; i++)
        if (!find_change(changes, grant->words[i]))
            list[made++] = grant->words[i];
    for (const struct pause_change *c = changes; c && c->name; c++) {
        if (!c->value)
            continue;
        list[made++] = text;
        text += snprintf(text, strlen(c->name) + strlen(c->value) + 2, "%s=%s",
                         c->name, c->value) +
                1;
    }
    list[made++] = text;
    snprintf(text, strlen(id) + sizeof("PAUSETEST_WRITE="),
             "PAUSETEST_WRITE=%s", id);
    list[made] = NULL;
    return list;
}

/* ---- holders
 * ----------------------------------------------------------------- */

/* One line that the job wrote, by one write(2), so that one which has begun is
 * read to its end; false: none came in time, or it is gone. */
static bool read_reply(const struct pause_setting *setting,
                       const struct pause_holder *holder, struct hf_span limit,
                       char *line, size_t room, bool *is_gone)
{
    struct hf_sys *sys = setting->sys;
    struct hf_time end = hf_time_add(sys->steady(sys), limit);
    size_t size = 0;

    *is_gone = false;
    while (size + 1 < room) {
        struct pollfd about = {.fd = holder->from, .events = POLLIN};
        struct hf_span left = hf_time_since(end, sys->steady(sys));
        ssize_t got;

        if (size == 0 && left.ns <= 0)
            return false;
        if (size == 0 && poll(&about, 1, (int)hf_span_to_ms_up(left)) <= 0)
            continue;
        got = read(holder->from, line + size, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            *is_gone = true;
            return false;
        }
        if (line[size] == '\n')
            break;
        size++;
    }
    line[size] = '\0';
    return true;
}

/* In the child: never returns. */
static void become_lockrun(const struct pause_setting *setting,
                           const struct pause_holder *holder, int to, int from)
{
    char wait[32];
    const char *words[24];
    size_t count = 0;
    int nothing = open("/dev/null", O_RDONLY);
    int said = open(holder->said_path, O_WRONLY | O_CREAT | O_APPEND, 0600);

    snprintf(wait, sizeof(wait), "%lldms",
             (long long)hf_span_to_ms_up(setting->grant_limit));
    words[count++] = "lockrun";
    if (setting->store) {
        words[count++] = "--store";
        words[count++] = setting->store;
    }
    if (setting->class_name) {
        words[count++] = "--class";
        words[count++] = setting->class_name;
    }
    words[count++] = "--key";
    words[count++] = setting->key;
    words[count++] = "--ttl";
    words[count++] = setting->ttl;
    words[count++] = "--wait";
    words[count++] = wait;
    words[count++] = "--";
    words[count++] = "/bin/sh";
    words[count++] = "-c";
    words[count++] = agent;
    words[count] = NULL;
    /* The pipes' ends are above 9 or in place: dup2 clears close-on-exec. */
    if (nothing < 0 || said < 0 || dup2(to, AGENT_TO) < 0 ||
        dup2(from, AGENT_FROM) < 0 || dup2(nothing, 0) < 0 ||
        dup2(said, 1) < 0 || dup2(said, 2) < 0)
        _exit(127);
    setenv("PAUSETEST_LINE", setting->line, 1);
    setenv("PAUSETEST_FOLDER", setting->folder, 1);
    execv(setting->lockrun, (char *const *)words);
    _exit(127);
}

/* A pipe whose ends are close-on-exec and out of the way of 8 and 9. */
static bool make_pipe(int ends[2])
{
    int low[2];

    if (pipe2(low, O_CLOEXEC) < 0)
        return false;
    ends[0] = fcntl(low[0], F_DUPFD_CLOEXEC, 20);
    ends[1] = fcntl(low[1], F_DUPFD_CLOEXEC, 20);
    close(low[0]);
    close(low[1]);
    return ends[0] >= 0 && ends[1] >= 0;
}

static enum hf_err learn_agent(const struct pause_setting *setting,
                               struct pause_holder *holder,
                               struct hf_error *error)
{
    char said[PAUSE_SAID_SIZE];
    char line[64];
    bool is_gone;

    if (read_reply(setting, holder, setting->grant_limit, line, sizeof(line),
                   &is_gone) &&
        !strncmp(line, "pid ", 4)) {
        holder->agent = (pid_t)strtol(line + 4, NULL, 10);
        return read_grant(holder->agent, &holder->grant, error);
    }
    pause_last_line(holder->said_path, said);
    return hf_error_set(error, HF_ERR_UNAVAILABLE, "lockrun gave no key%s%s",
                        said[0] ? ": " : " in time", said);
}

enum hf_err pause_holder_start(const struct pause_setting *setting,
                               const char *name, struct pause_holder *holder,
                               struct hf_error *error)
{
    int to[2];
    int from[2];
    enum hf_err failed;

    *holder = (struct pause_holder){.lockrun = -1};
    snprintf(holder->said_path, sizeof(holder->said_path), "%s/%s.lockrun",
             setting->folder, name);
    if (!make_pipe(to) || !make_pipe(from))
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno, "no pipe");
    holder->lockrun = fork();
    if (holder->lockrun == 0)
        become_lockrun(setting, holder, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    holder->to = to[1];
    holder->from = from[0];
    failed = holder->lockrun < 0
                 ? hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                      "cannot start lockrun")
                 : learn_agent(setting, holder, error);
    if (failed) {
        close(holder->to);
        close(holder->from);
        if (holder->lockrun > 0)
            kill(holder->lockrun, SIGKILL);
    }
    return failed;
}

/* In the child: never returns. */
static void become_part(char *const *environment, int to, int from)
{
    const char *words[] = {"sh", "-c", agent, NULL};
    int nothing = open("/dev/null", O_RDWR);

    setsid();
    if (nothing >= 0 && dup2(to, AGENT_TO) >= 0 &&
        dup2(from, AGENT_FROM) >= 0 && dup2(nothing, 0) >= 0 &&
        dup2(nothing, 1) >= 0 && dup2(nothing, 2) >= 0)
        execve("/bin/sh", (char *const *)words, environment);
    _exit(127);
}

enum hf_err pause_part_start(const struct pause_setting *setting,
                             const struct pause_holder *holder,
                             struct pause_holder *part, struct hf_error *error)
{
    const struct pause_change changes[] = {
        {"PAUSETEST_LINE", setting->line},
        {"PAUSETEST_FOLDER", setting->folder},
        {NULL, NULL}};
    char **environment = pause_environment(&holder->grant, changes, "-");
    enum hf_err failed = HF_ERR_OK;
    char line[64];
    bool is_gone;
    int to[2];
    int from[2];

    *part = (struct pause_holder){.lockrun = -1};
    if (!environment)
        return hf_error_set(error, HF_ERR_NOMEM, "no memory");
    if (!make_pipe(to) || !make_pipe(from)) {
        free(environment);
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno, "no pipe");
    }
    part->lockrun = fork();
    if (part->lockrun == 0)
        become_part(environment, to[0], from[1]);
    free(environment);
    close(to[0]);
    close(from[1]);
    part->to = to[1];
    part->from = from[0];
    part->agent = part->lockrun;
    if (part->lockrun < 0 || !read_reply(setting, part, setting->write_limit,
                                         line, sizeof(line), &is_gone)) {
        close(part->to);
        close(part->from);
        failed = hf_error_set(error, HF_ERR_UNAVAILABLE,
                              "cannot start a part of the job");
    }
    return failed;
}

enum hf_err pause_holder_answer(const struct pause_setting *setting,
                                struct pause_holder *holder, const char *id,
                                struct hf_span limit,
                                struct pause_result *result,
                                struct hf_error *error)
{
    struct hf_sys *sys = setting->sys;
    struct hf_time begun = sys->steady(sys);
    size_t size = strlen(id);
    char path[1024];
    char line[64];
    bool is_gone;

    *result = (struct pause_result){.status = -1};
    snprintf(path, sizeof(path), "%s/%s.out", setting->folder, id);
    if (!read_reply(setting, holder, limit, line, sizeof(line), &is_gone)) {
        result->is_over_time = !is_gone;
        if (!is_gone)
            return HF_ERR_OK;
        return hf_error_set(error, HF_ERR_UNAVAILABLE,
                            "lockrun's job ended before its write did");
    }
    if (strncmp(line, id, size) != 0 || line[size] != ' ')
        return hf_error_set(error, HF_ERR_INTERNAL, "\"%s\" answers %s", line,
                            id);
    result->status = (int)strtol(line + size + 1, NULL, 10);
    result->took = hf_time_since(sys->steady(sys), begun);
    pause_last_line(path, result->said);
    return HF_ERR_OK;
}

enum hf_err pause_holder_write(const struct pause_setting *setting,
                               struct pause_holder *holder, const char *id,
                               struct hf_span limit,
                               struct pause_result *result,
                               struct hf_error *error)
{
    char line[PAUSE_ID_SIZE + 2];
    int size = snprintf(line, sizeof(line), "%s\n", id);

    if (write(holder->to, line, (size_t)size) != size)
        return hf_error_set(error, HF_ERR_UNAVAILABLE, "lockrun's job is gone");
    return pause_holder_answer(setting, holder, id, limit, result, error);
}

int pause_holder_await(const struct pause_setting *setting,
                       struct pause_holder *holder, struct hf_span limit)
{
    int status = -1;

    if (!pause_wait(setting->sys, holder->lockrun, limit, &status))
        return -1;
    close(holder->to);
    close(holder->from);
    holder->lockrun = -1;
    return status;
}

int pause_holder_finish(const struct pause_setting *setting,
                        struct pause_holder *holder)
{
    int status = -1;

    if (holder->lockrun <= 0)
        return -1;
    close(holder->to);
    if (!pause_wait(setting->sys, holder->lockrun, setting->write_limit,
                    &status)) {
        kill(holder->lockrun, SIGKILL);
        pause_wait(setting->sys, holder->lockrun, hf_span_ms(2000), &status);
        status = -1;
    }
    close(holder->from);
    holder->lockrun = -1;
    return status;
}
