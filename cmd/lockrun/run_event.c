/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/run_event.h"

#include "client/hold_json.h"

/* Who stands for what is the name of the object. */
static const char *const relations[] = {
    [HF_HOLD] = "holder",
    [HF_SHARE] = "holder",
    [HF_WAITER] = "waiter",
    [HF_FLOOR] = "kept",
};

void run_event(const struct run *run, enum event_kind kind)
{
    struct event event;

    if (event_begin(&event, run->say.events, kind))
        event_end(&event);
}

static void add_holder(struct hf_json *json, const struct hf_hold_info *info)
{
    hf_json_object(json, relations[info->kind]);
    hf_json_text(json, "mode", hf_mode_names[info->who.mode]);
    if (info->kind == HF_HOLD || info->kind == HF_SHARE)
        hf_hold_json_token(json, info->token);
    hf_hold_json_who(json, info);
    hf_hold_json_ids(json, info);
    hf_json_object_end(json);
}

void run_event_busy(const struct run *run, enum event_kind kind,
                    const struct hf_hold_info *holder)
{
    const struct hf_request *busy = hf_session_busy(run->session);
    struct event event;

    if (!event_begin(&event, run->say.events, kind))
        return;
    hf_json_text(&event.json, "mode", hf_mode_names[run->options->mode]);
    hf_json_text(&event.json, "class", hf_session_rules(run->session)->name);
    if (busy->waiting > 0) {
        hf_json_u64(&event.json, "place", busy->place);
        hf_json_u64(&event.json, "waiting", busy->waiting);
    }
    if (holder)
        add_holder(&event.json, holder);
    event_end(&event);
}

void run_event_granted(const struct run *run)
{
    struct event event;

    if (!event_begin(&event, run->say.events, EVENT_GRANTED))
        return;
    hf_json_text(&event.json, "mode", hf_mode_names[run->options->mode]);
    hf_json_text(&event.json, "class", hf_session_rules(run->session)->name);
    hf_hold_json_token(&event.json, hf_session_token(run->session));
    hf_json_text(&event.json, "session", hf_session_id(run->session));
    hf_json_i64(&event.json, "lease_ttl_ms",
                hf_span_to_ms_up(hf_session_deadline(run->session)->ttl));
    event_end(&event);
}

void run_event_started(const struct run *run)
{
    struct event event;

    if (!event_begin(&event, run->say.events, EVENT_STARTED))
        return;
    hf_json_i64(&event.json, "pid", run->job.pid);
    hf_json_text(&event.json, "program", run->program.absolute);
    event_end(&event);
}

void run_event_reason(const struct run *run, enum event_kind kind,
                      const char *reason)
{
    struct event event;

    if (!event_begin(&event, run->say.events, kind))
        return;
    hf_json_text(&event.json, "reason", reason);
    event_end(&event);
}

void run_event_stopping(const struct run *run, const char *reason,
                        struct hf_span left)
{
    struct event event;

    if (!event_begin(&event, run->say.events, EVENT_STOPPING))
        return;
    hf_json_text(&event.json, "reason", reason);
    hf_json_i64(&event.json, "kill_in_ms", hf_span_to_ms_up(left));
    event_end(&event);
}

void run_event_ended(const struct run *run, int status)
{
    struct event event;

    if (!event_begin(&event, run->say.events, EVENT_ENDED))
        return;
    hf_json_i64(&event.json, "status", status);
    hf_json_text(&event.json, "cause", run->cause ? run->cause : "command");
    if (run->job.has_ended)
        hf_json_i64(&event.json, "job_status", run->job.status);
    else
        hf_json_null(&event.json, "job_status");
    if (memory_ran_out(&run->memory))
        hf_json_bool(&event.json, "out_of_memory", true);
    event_end(&event);
}
