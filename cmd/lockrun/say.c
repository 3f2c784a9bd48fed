/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/say.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"

/* Below PIPE_BUF, so that a pipe takes a line whole or not at all. */
enum { LINE_MAX_BYTES = 2048 };

/*
 * O_NONBLOCK belongs to the open file, which we share with the job and with the
 * caller, so it is never set on descriptor 2: a pipe or terminal is opened once
 * more under its name in /proc. Where that is not permitted (it belongs to
 * another user) or there is no /proc, it is asked whether it has room.
 */
static ssize_t put_to_stream(const char *line, size_t size)
{
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    int fd =
        open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    ssize_t done = -1;

    if (fd >= 0) {
        done = write(fd, line, size);
        close(fd);
    } else if (poll(&room, 1, 0) == 1 && room.revents == POLLOUT) {
        done = write(STDERR_FILENO, line, size);
    }
    return done;
}

static void put(const char *line, size_t size)
{
    struct stat about;
    ssize_t done;

    if (fstat(STDERR_FILENO, &about))
        return;
    if (S_ISSOCK(about.st_mode))
        done = send(STDERR_FILENO, line, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    else if (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode))
        done = put_to_stream(line, size);
    else
        done = write(STDERR_FILENO, line, size);
    /* What could not be taken is lost: see the header. */
    (void)done;
}

/* A reader that is gone costs the line, not us: the SIGPIPE is taken back. */
static void put_in_peace(const char *line, size_t size)
{
    struct timespec at_once = {.tv_sec = 0};
    sigset_t pipe_alone;
    sigset_t former;
    sigset_t pending;

    sigemptyset(&pipe_alone);
    sigaddset(&pipe_alone, SIGPIPE);
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, &pipe_alone, &former);
    put(line, size);
    if (!sigismember(&pending, SIGPIPE))
        (void)sigtimedwait(&pipe_alone, NULL, &at_once);
    sigprocmask(SIG_SETMASK, &former, NULL);
}

static void __attribute__((format(printf, 1, 0)))
say_line(const char *format, va_list args)
{
    static const char name[] = "lockrun: ";
    char text[LINE_MAX_BYTES];
    char line[LINE_MAX_BYTES + sizeof(name)];
    int size = vsnprintf(text, sizeof(text), format, args);

    if (size < 0)
        return;
    memcpy(line, name, sizeof(name) - 1);
    hf_escape_cut(line + sizeof(name) - 1, LINE_MAX_BYTES, text, strlen(text));
    size = (int)strlen(line);
    line[size] = '\n';
    put_in_peace(line, (size_t)size + 1);
}

void say(const struct say *say, const char *format, ...)
{
    va_list args;

    (void)say;
    va_start(args, format);
    say_line(format, args);
    va_end(args);
}

void say_step(const struct say *say, const char *format, ...)
{
    va_list args;

    if (!say->verbose)
        return;
    va_start(args, format);
    say_line(format, args);
    va_end(args);
}
