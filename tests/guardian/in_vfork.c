/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: in_vfork UP GO COMMAND [WORD...]
 *
 * Starts COMMAND as a shell does, by vfork(2), and makes the moment in between
 * last: the child makes the file UP, and becomes COMMAND once there is a file
 * GO. Until then this process can neither stop nor end. Its status is the
 * command's; or 6, for it ends by itself when it gets TERM.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void end(int number)
{
    (void)number;
    _exit(6);
}

static void become(char **words)
{
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    int fd = open(words[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0)
        _exit(126);
    while (access(words[2], F_OK))
        nanosleep(&moment, NULL);
    execvp(words[3], words + 3);
    _exit(127);
}

int main(int count, char **words)
{
    int status = 0;
    pid_t child;

    if (count < 4) {
        fputs("usage: in_vfork UP GO COMMAND [WORD...]\n", stderr);
        return 64;
    }
    signal(SIGTERM, end);
    child = vfork();
    if (child == 0)
        become(words);
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
