/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/busy.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/duration.h"
#include "base/utc.h"
#include "client/hold_json.h"
#include "cmd/lockrun/ask.h"
#include "cmd/lockrun/proc.h"

static const char *const relations[] = {
    [HF_HOLD] = "is held by",
    [HF_SHARE] = "is held, shared, by",
    [HF_WAITER] = "is next for the waiter",
    [HF_FLOOR] = "is kept by --hold-min after",
};

#define NS_PER_S INT64_C(1000000000)
/* How far the two clocks may be apart before one counts as set. */
#define SLEW_NS NS_PER_S

uint64_t busy_pid_namespace(void)
{
    struct stat about;

    return stat("/proc/self/ns/pid", &about) ? 0 : (uint64_t)about.st_ino;
}

/*
 * The date is that of the record, as in every list, unless the clock was set
 * meanwhile: then it is counted back from now by the steady clock, so that no
 * grant is told of that is in the future. Both are cut to whole seconds.
 */
static void add_since(const struct hf_holder *who, struct hf_sys *sys,
                      struct hf_buf *to)
{
    struct hf_time since = {hf_span_ms(who->since_steady_ms).ns};
    struct hf_span ago = hf_time_since(sys->steady(sys), since);
    struct hf_wall date = {hf_span_ms(who->since_wall_ms).ns};
    struct hf_wall counted = {hf_sum_ns(sys->wall(sys).ns, -ago.ns)};

    if (who->since_steady_ms <= 0 || ago.ns < 0) {
        (void)hf_buf_printf(to, " since %s", hf_utc_print(date, 0).text);
        return;
    }
    if (counted.ns - date.ns > SLEW_NS || date.ns - counted.ns > SLEW_NS)
        date = counted;
    ago.ns -= ago.ns % NS_PER_S;
    (void)hf_buf_printf(to, " since %s (%s ago)", hf_utc_print(date, 0).text,
                        hf_duration_print(ago).text);
}

void busy_describe(const struct hf_hold_info *info, struct hf_sys *sys,
                   struct hf_buf *to)
{
    const struct hf_holder *who = &info->who;
    uint64_t own = busy_pid_namespace();

    (void)hf_buf_printf(to, "%s %s (pid %" PRIu32, relations[info->kind],
                        who->program[0] ? who->program : "a program", who->pid);
    if (who->pid_namespace && own && who->pid_namespace != own)
        (void)hf_buf_add_str(to, " in another pid namespace");
    (void)hf_buf_printf(to, ", uid %" PRIu32 ", host %s)", who->uid,
                        who->host[0] ? who->host : "unknown");
    add_since(who, sys, to);
    if (who->note[0])
        (void)hf_buf_printf(to, ", note \"%s\"", who->note);
    if (info->lease_known && info->phase == HF_PHASE_LEFT)
        (void)hf_buf_printf(to, "; its command ended at %s with %d, %s",
                            hf_hold_left_at(info).text, (int)info->left.status,
                            info->proof == HF_PROOF_LIVES
                                ? "processes that it left behind live on"
                                : "nothing is known of the processes that it "
                                  "left behind");
}

bool busy_is_dying(const struct hf_hold_info *info)
{
    struct proc_about about;
    struct utsname here;

    if ((info->kind != HF_HOLD && info->kind != HF_SHARE) || !proc_is_ours() ||
        uname(&here) || strcmp(info->who.host, here.nodename) != 0 ||
        info->who.pid_namespace != busy_pid_namespace())
        return false;
    /* /proc may hide what is another user's. */
    return proc_about((pid_t)info->who.pid, &about)
               ? about.is_ending
               : kill((pid_t)info->who.pid, 0) && errno == ESRCH;
}

void busy_look(const struct hf_local_options *store, const char *key,
               struct hf_sys *sys, struct hf_hold_info *info)
{
    struct hf_request request;

    ask_who_has(store, key, sys, &request);
    for (size_t i = 0; i < request.info_count; i++) {
        if (request.infos[i].kind == info->kind &&
            memcmp(request.infos[i].who.grant, info->who.grant,
                   sizeof(info->who.grant)) == 0)
            *info = request.infos[i];
    }
    hf_request_clear(&request);
}
