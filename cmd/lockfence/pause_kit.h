/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running pause test: its setting, what it has found so far, and the two
 * things that it does over and over: run a write and judge it, and read back
 * what stands. For the files of pausetest alone.
 */
#ifndef LOCKFENCE_PAUSE_KIT_H
#define LOCKFENCE_PAUSE_KIT_H

#include <signal.h>

#include "cmd/lockfence/commands.h"
#include "cmd/lockfence/pause_holder.h"
#include "cmd/lockfence/pause_report.h"

/* What a verify line may print. */
enum { PAUSE_VERIFY_MAX = 1 << 20 };

struct pause_kit {
    const struct lockfence_run *run;
    const char *verify; /* NULL: none */
    struct pause_setting setting;
    struct pause_report *report;
    struct hf_time begun;
    char folder[256];
    unsigned int writes;  /* so far: each gets a word of its own */
    struct hf_buf stands; /* what verify printed after the last taken write */
};

struct hf_span pause_kit_elapsed(const struct pause_kit *kit);
/* A line of the timeline, and of the progress on standard error. */
void pause_kit_say(struct pause_kit *kit, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The word of the next write. */
void pause_kit_next_id(struct pause_kit *kit, char id[PAUSE_ID_SIZE]);

/* How the resource stands beside what is remembered. */
enum pause_stands {
    PAUSE_STANDS_SAME,
    PAUSE_STANDS_OTHER,
    PAUSE_STANDS_UNREAD
};

/* Without a verify line nothing is read, and all is SAME. `why` (of
 * PAUSE_SAID_SIZE) tells what is wrong with an UNREAD one. */
enum pause_stands pause_kit_read_back(struct pause_kit *kit, bool remembers,
                                      char *why);

/* Did the line say that the resource refused? */
bool pause_kit_says_refused(const struct pause_kit *kit,
                            const struct pause_result *result, const char *id);

/*
 * Run the write line under `grant` (NULL: none), changed, outside any lockrun,
 * and note it as `trial`. `control` is a grant whose writes are taken, to tell
 * a refusal without a status of its own from a broken line; NULL: none.
 */
enum hf_err pause_kit_try(struct pause_kit *kit, enum pause_trial trial,
                          const struct pause_grant *grant,
                          const struct pause_change *changes,
                          const struct pause_grant *control);
/* The same by a holder's job, inside its lockrun. */
enum hf_err pause_kit_try_holder(struct pause_kit *kit, enum pause_trial trial,
                                 struct pause_holder *holder,
                                 const struct pause_grant *control);

/* pause_points.c: the trial POINTS, which takes its own holders. */
enum hf_err pause_points(struct pause_kit *kit, unsigned int points_max);

#endif
