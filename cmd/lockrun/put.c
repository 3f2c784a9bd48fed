/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/put.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * O_NONBLOCK belongs to the open file, which we share with the job and with the
 * caller, so it is never set on the descriptor: a pipe or terminal is opened
 * once more under its name in /proc. Where that is not permitted (it belongs to
 * another user) or there is no /proc, it is asked whether it has room.
 */
static ssize_t put_to_stream(int to, const char *line, size_t size)
{
    struct pollfd room = {.fd = to, .events = POLLOUT};
    ssize_t done = -1;
    char path[32];
    int fd;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", to);
    fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd >= 0) {
        done = write(fd, line, size);
        close(fd);
    } else if (poll(&room, 1, 0) == 1 && room.revents == POLLOUT) {
        done = write(to, line, size);
    }
    return done;
}

static ssize_t put(int to, const char *line, size_t size)
{
    struct stat about;

    if (fstat(to, &about))
        return -1;
    if (S_ISSOCK(about.st_mode))
        return send(to, line, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode))
        return put_to_stream(to, line, size);
    return write(to, line, size);
}

/* A reader that is gone costs the line, not us: the SIGPIPE is taken back. */
bool put_line(int fd, const char *line, size_t size)
{
    struct timespec at_once = {.tv_sec = 0};
    sigset_t pipe_alone;
    sigset_t former;
    sigset_t pending;
    ssize_t done;

    sigemptyset(&pipe_alone);
    sigaddset(&pipe_alone, SIGPIPE);
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, &pipe_alone, &former);
    done = put(fd, line, size);
    if (!sigismember(&pending, SIGPIPE))
        (void)sigtimedwait(&pipe_alone, NULL, &at_once);
    sigprocmask(SIG_SETMASK, &former, NULL);
    return done >= 0 && (size_t)done == size;
}
