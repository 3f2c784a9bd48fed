/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockctl shell: commands from a prompt. Each runs in a process of its own,
 * which ^C ends without ending the prompt, and which leaves nothing open here.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/lockctl/history.h"
#include "cmd/lockctl/line.h"
#include "cmd/lockctl/lockctl.h"
#include "cmd/lockctl/shell_offer.h"

#define PROMPT "lockctl> "

struct shell {
    struct lockctl *ctl;
    struct history history;
    char *last; /* line, for not keeping it twice */
    int status; /* of the last command */
    bool is_over;
};

/* ^C was struck: what a handler can tell nobody in another way. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

static void set_interrupt(void (*how)(int signal))
{
    struct sigaction action = {.sa_handler = how};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
}

/* ---- completion -----------------------------------------------------------
 */

static bool offer(void *with, const char *line, size_t size, const char *text,
                  struct hf_buf *to)
{
    struct shell *shell = with;
    struct lockctl ask = {.sys = shell->ctl->sys,
                          .options = shell->ctl->options};
    struct shell_offer found;
    struct shell_words words;
    struct hf_error error;
    struct hf_buf due;
    const char *at;

    if (shell_words_split(&words, line, size, &error)) {
        shell_words_clear(&words);
        return true;
    }
    shell_offer_find(&lockctl_tool, &words, text, &found);
    hf_buf_init(&due, 1 << 20);
    lockctl_offer(&ask, found.due, found.rest, &due);
    if (found.list.size)
        (void)hf_buf_add(to, found.list.data, found.list.size);
    for (at = due.data; at && *at; at += strcspn(at, "\n") + 1)
        (void)hf_buf_printf(to, "%.*s%.*s\n", (int)found.before, text,
                            (int)strcspn(at, "\n"), at);
    hf_buf_clear(&due);
    hf_buf_clear(&found.list);
    shell_words_clear(&words);
    /* Files behind "--store=" are not the library's to find. */
    return found.due != HF_OFFER_FILE || found.before > 0;
}

/* ---- one line -------------------------------------------------------------
 */

static int wait_for(pid_t child)
{
    int how;

    while (waitpid(child, &how, 0) < 0) {
        if (errno != EINTR)
            return hf_err_status(HF_ERR_INTERNAL);
    }
    if (WIFSIGNALED(how)) {
        (void)fputs("\n", stdout);
        return 128 + WTERMSIG(how);
    }
    return WEXITSTATUS(how);
}

static int run(struct shell *shell, int argc, char **argv)
{
    struct hf_error error;
    pid_t child;

    (void)fflush(stdout);
    child = fork();
    if (child < 0) {
        (void)hf_error_set_errno(&error, HF_ERR_UNAVAILABLE, errno,
                                 "cannot start a process");
        return lockctl_fail(&error);
    }
    if (child == 0) {
        int status;

        set_interrupt(SIG_DFL);
        status = lockctl_run(argc, argv, &shell->ctl->options);
        /* Not exit(): what the prompt has registered there is the prompt's. */
        _exit(status);
    }
    return wait_for(child);
}

static void run_words(struct shell *shell, struct shell_words *words)
{
    static char name[] = "lockctl";
    static char help[] = "--help";
    char *argv[SHELL_WORDS_MAX + 3] = {name};
    const char *first = words->words[0];
    struct hf_error error;
    int argc = 1;
    size_t i;

    if (strcmp(first, "exit") == 0 || strcmp(first, "quit") == 0) {
        shell->is_over = true;
        return;
    }
    if (strcmp(first, "shell") == 0) {
        (void)hf_error_set(&error, HF_ERR_USAGE, "this is the shell");
        shell->status = lockctl_fail(&error);
        return;
    }
    for (i = strcmp(first, "help") == 0; i < words->count; i++)
        argv[argc++] = words->words[i];
    if (strcmp(first, "help") == 0)
        argv[argc++] = help;
    shell->status = run(shell, argc, argv);
}

static void keep(struct shell *shell, const char *line)
{
    if (line[0] == ' ' || (shell->last && strcmp(shell->last, line) == 0))
        return;
    free(shell->last);
    shell->last = strdup(line);
    line_remember(line);
    history_add(&shell->history, line);
}

static void take_line(struct shell *shell, const char *line, bool is_kept)
{
    struct shell_words words;
    struct hf_error error;

    if (shell_words_split(&words, line, strlen(line), &error)) {
        shell->status = lockctl_fail(&error);
    } else if (words.count > 0 && words.words[0][0] != '#') {
        if (is_kept)
            keep(shell, line);
        run_words(shell, &words);
    }
    shell_words_clear(&words);
}

/* ---- the prompt -----------------------------------------------------------
 */

static void remember(struct shell *shell)
{
    struct hf_error error;
    char *line = NULL;
    size_t size = 0;

    if (history_open(&shell->history, &error))
        lockctl_note("note: %s", error.text);
    while (history_next(&shell->history, &line, &size))
        line_remember(line);
    free(line);
}

int lockctl_shell(struct lockctl *ctl)
{
    bool is_prompt = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    struct shell shell = {.ctl = ctl};
    char *line = NULL;

    if (is_prompt) {
        set_interrupt(on_interrupt);
        if (line_begin(offer, &shell))
            remember(&shell);
    }
    while (!shell.is_over) {
        interrupted = 0;
        line = is_prompt ? line_read(PROMPT) : line_plain("");
        /* Some editors end at ^C as at ^D; the prompt goes on. */
        if (!line && interrupted) {
            (void)fputs("\n", stdout);
            continue;
        }
        if (!line)
            break;
        take_line(&shell, line, is_prompt);
        free(line);
    }
    /* ^D leaves the cursor behind the prompt. */
    if (is_prompt && !shell.is_over)
        (void)fputs("\n", stdout);
    (void)fflush(stdout);
    history_close(&shell.history);
    free(shell.last);
    return shell.status;
}
