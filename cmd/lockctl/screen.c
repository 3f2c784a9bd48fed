/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A screen of its own, no cursor, lines cut instead of broken; and back. */
static const char take_over[] = "\033[?1049h\033[?25l\033[?7l\033[H\033[J";
static const char give_back[] = "\033[?7h\033[?25h\033[?1049l";

/* What ends a program that does not care, and can be waited for. */
static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGTERM, SIGPIPE,
                             SIGALRM, SIGUSR1, SIGUSR2,   SIGXCPU, SIGPROF,
                             SIGIO,   SIGPWR,  SIGVTALRM, SIGXFSZ};

static void put(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t wrote = write(STDOUT_FILENO, text, size);

        if (wrote < 0 && errno == EINTR)
            continue;
        /* The terminal is gone: its hang-up is told by the next wait. */
        if (wrote < 0)
            return;
        text += wrote;
        size -= (size_t)wrote;
    }
}

static void measure(struct screen *screen)
{
    struct winsize size;

    screen->rows = 24;
    screen->columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
        size.ws_col > 0) {
        screen->rows = size.ws_row;
        screen->columns = size.ws_col;
    }
}

static void take(struct screen *screen)
{
    struct termios raw = screen->former;

    /* Signals of keys stay: ^C and ^Z come as such. */
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    put(take_over, sizeof(take_over) - 1);
    screen->is_taken = true;
    measure(screen);
}

static void leave(struct screen *screen)
{
    if (!screen->is_taken)
        return;
    put(give_back, sizeof(give_back) - 1);
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->former);
    screen->is_taken = false;
}

enum hf_err screen_init(struct screen *screen, struct hf_error *error)
{
    const char *kind = getenv("TERM");
    sigset_t signals;
    size_t i;

    memset(screen, 0, sizeof(*screen));
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return hf_error_set(error, HF_ERR_USAGE,
                            "no terminal here: --once or --batch print plain "
                            "text");
    if (!kind || !*kind || strcmp(kind, "dumb") == 0)
        return hf_error_set(error, HF_ERR_USAGE,
                            "TERM says that this terminal can show no picture: "
                            "--once or --batch print plain text");
    if (tcgetattr(STDIN_FILENO, &screen->former))
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                  "cannot read the terminal's settings");
    (void)sigemptyset(&signals);
    for (i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        (void)sigaddset(&signals, ending[i]);
    (void)sigaddset(&signals, SIGTSTP);
    (void)sigaddset(&signals, SIGWINCH);
    screen->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (screen->signal_fd < 0)
        return hf_error_set_errno(error, HF_ERR_UNAVAILABLE, errno,
                                  "cannot wait for signals");
    (void)sigprocmask(SIG_BLOCK, &signals, &screen->former_signals);
    take(screen);
    return HF_ERR_OK;
}

void screen_clear(struct screen *screen)
{
    leave(screen);
    (void)sigprocmask(SIG_SETMASK, &screen->former_signals, NULL);
    (void)close(screen->signal_fd);
    screen->signal_fd = -1;
}

void screen_die(int signal)
{
    sigset_t signals;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, signal);
    (void)sigprocmask(SIG_UNBLOCK, &signals, NULL);
    (void)raise(signal);
}

/* ^Z: stop like everybody, with the terminal as it was. */
static void stop(struct screen *screen)
{
    sigset_t signals;

    leave(screen);
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTSTP);
    (void)sigprocmask(SIG_UNBLOCK, &signals, NULL);
    (void)raise(SIGTSTP);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    (void)tcgetattr(STDIN_FILENO, &screen->former);
    take(screen);
}

void screen_draw(struct screen *screen, const struct hf_buf *picture)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    struct hf_buf frame;
    const char *at = picture->data;
    const char *end = at + picture->size;
    size_t row;

    if (poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT))
        return;
    hf_buf_init(&frame, 1 << 20);
    (void)hf_buf_add_str(&frame, "\033[H");
    for (row = 0; row < screen->rows && at < end; row++) {
        const char *stop_at = memchr(at, '\n', (size_t)(end - at));

        if (!stop_at)
            stop_at = end;
        (void)hf_buf_printf(&frame, "%s", row ? "\r\n" : "");
        (void)hf_buf_add(&frame, at, (size_t)(stop_at - at));
        (void)hf_buf_add_str(&frame, "\033[K");
        at = stop_at < end ? stop_at + 1 : end;
    }
    (void)hf_buf_add_str(&frame, "\033[J");
    if (!frame.failed)
        put(frame.data, frame.size);
    hf_buf_clear(&frame);
}

/* One key: a byte, or what an arrow sends. Keys that were struck meanwhile stay
 * for the next time. */
static enum screen_event read_key(void)
{
    char keys[4] = "";
    ssize_t size = read(STDIN_FILENO, keys, 1);

    if (size <= 0)
        return size < 0 && errno == EINTR ? SCREEN_NOTHING : SCREEN_QUIT;
    if (keys[0] == '\033' && read(STDIN_FILENO, keys + 1, 2) != 2)
        return SCREEN_NOTHING;
    if (strcmp(keys, "\033[A") == 0 || strcmp(keys, "\033OA") == 0)
        return SCREEN_UP;
    if (strcmp(keys, "\033[B") == 0 || strcmp(keys, "\033OB") == 0)
        return SCREEN_DOWN;
    switch (keys[0]) {
    case 'q':
    case 'Q':
    case 4: /* ^D */
        return SCREEN_QUIT;
    case 's':
        return SCREEN_SORT;
    case 'k':
        return SCREEN_UP;
    case 'j':
        return SCREEN_DOWN;
    default:
        return SCREEN_NOTHING;
    }
}

static enum screen_event read_signal(struct screen *screen, int *signal)
{
    struct signalfd_siginfo info;

    if (read(screen->signal_fd, &info, sizeof(info)) != sizeof(info))
        return SCREEN_NOTHING;
    if (info.ssi_signo == SIGTSTP) {
        stop(screen);
        return SCREEN_NOTHING;
    }
    if (info.ssi_signo == SIGWINCH) {
        measure(screen);
        return SCREEN_NOTHING;
    }
    *signal = (int)info.ssi_signo;
    return SCREEN_SIGNAL;
}

enum screen_event screen_wait(struct screen *screen, int limit_ms, int *signal)
{
    struct pollfd watched[] = {{.fd = screen->signal_fd, .events = POLLIN},
                               {.fd = STDIN_FILENO, .events = POLLIN}};

    if (poll(watched, 2, limit_ms) <= 0)
        return SCREEN_NOTHING;
    if (watched[0].revents)
        return read_signal(screen, signal);
    return read_key();
}
