/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes of the pause test: shell lines that are run and waited for within a
 * limit, and trees that are stopped and let go on. Everything that is started
 * here stays below this process, whatever it does to get away, so that all of
 * it can be found, stopped and ended. For pausetest alone.
 */
#ifndef LOCKFENCE_PAUSE_PROC_H
#define LOCKFENCE_PAUSE_PROC_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/sys.h"

enum { PAUSE_PIDS_MAX = 1024, PAUSE_SAID_SIZE = 240 };

/* Orphans come to us from now on. Error: UNAVAILABLE. */
enum hf_err pause_adopt_orphans(struct hf_error *error);

/* All that lives below this process, at most PAUSE_PIDS_MAX; their number. */
int pause_descendants(pid_t pids[PAUSE_PIDS_MAX]);

/*
 * SIGSTOP for all that is below us, again and again until nothing of it moves.
 * The pids are given, for pause_continue. Error: UNAVAILABLE (one that does not
 * stop within two seconds).
 */
enum hf_err pause_stop_all(pid_t pids[PAUSE_PIDS_MAX], int *count,
                           struct hf_error *error);
void pause_continue(const pid_t *pids, int count);
/* Is it there, be it stopped or not? */
bool pause_is_alive(pid_t pid);
/* SIGKILL for all that is below us, until nothing is left. */
void pause_kill_all(void);

/* How a process ended, as a shell tells it: its status, or 128 and a signal. */
int pause_status_of(int wait_status);

/* Wait for a child; false: the limit came first, it lives. */
bool pause_wait(struct hf_sys *sys, pid_t child, struct hf_span limit,
                int *status);

/* One shell line, as it ended. */
struct pause_result {
    int status;
    bool is_over_time; /* was killed at the limit */
    struct hf_span took;
    char said[PAUSE_SAID_SIZE]; /* the last line of its output */
};

/*
 * Start /bin/sh -c `line` with this environment, nothing to read, and both
 * outputs into `output_path`. Error: UNAVAILABLE.
 */
enum hf_err pause_start_line(const char *line, char *const *environment,
                             const char *output_path, pid_t *child,
                             struct hf_error *error);
/* The same, and wait for its end. */
enum hf_err pause_run_line(struct hf_sys *sys, const char *line,
                           char *const *environment, const char *output_path,
                           struct hf_span limit, struct pause_result *result,
                           struct hf_error *error);

/* The last line in a file, made short; "" where there is none. */
void pause_last_line(const char *path, char said[PAUSE_SAID_SIZE]);

#endif
