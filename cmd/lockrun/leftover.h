/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --leftover: what becomes of processes that outlive the command, once that has
 * ended by itself. Those of a job that is being ended are ended with it.
 */
#ifndef LOCKRUN_LEFTOVER_H
#define LOCKRUN_LEFTOVER_H

enum leftover {
    LEFTOVER_WAIT, /* the key is kept until they are gone */
    LEFTOVER_KILL, /* they are asked to end, and killed after the grace */
    LEFTOVER_LEAVE /* they are let go, and the key is given back */
};

/* "wait", ..., NULL */
extern const char *const leftover_names[];

#endif
