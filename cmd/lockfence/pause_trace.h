/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shell line that is stopped right before the nth thing that it does to the
 * world (a connect, a write, a rename, the start of a program ...), wherever
 * below the shell that is. Uses ptrace(2), from a process of its own. For
 * pausetest alone.
 */
#ifndef LOCKFENCE_PAUSE_TRACE_H
#define LOCKFENCE_PAUSE_TRACE_H

#include "cmd/lockfence/pause_proc.h"

struct pause_trace {
    pid_t tracer;
    int fd; /* what it says: a socket, and one byte lets the line go on */
};

enum pause_trace_news {
    PAUSE_TRACE_STOPPED,  /* it stands before act number `act` */
    PAUSE_TRACE_ENDED,    /* `act` is how many there were */
    PAUSE_TRACE_FAILED,   /* it may not be traced here */
    PAUSE_TRACE_OVER_TIME /* nothing happened within the limit */
};

struct pause_trace_event {
    unsigned int act;
    int status;    /* ENDED: of the line */
    char call[32]; /* STOPPED: the system call's name */
};

/*
 * Start it; `stop_at` counts from 1, 0 is never. Error: UNAVAILABLE. To be
 * ended with pause_trace_end.
 */
enum hf_err pause_trace_start(const char *line, char *const *environment,
                              const char *output_path, unsigned int stop_at,
                              struct pause_trace *trace,
                              struct hf_error *error);
enum pause_trace_news pause_trace_next(struct hf_sys *sys,
                                       struct pause_trace *trace,
                                       struct hf_span limit,
                                       struct pause_trace_event *event);
/* Let a line go on that is STOPPED. */
void pause_trace_go(struct pause_trace *trace);
/* Whatever is left of it is killed. */
void pause_trace_end(struct hf_sys *sys, struct pause_trace *trace);

#endif
