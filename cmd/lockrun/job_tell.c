/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/job_tell.h"

#include "base/buf.h"
#include "cmd/lockrun/event.h"
#include "cmd/lockrun/proc.h"

/* So many processes are named in one message. */
enum { NAMED_MAX = 5, NAMES_BYTES = 1024 };

static void name_process(pid_t pid, bool with_place, struct hf_buf *to)
{
    struct proc_about about;
    char place[64];

    (void)hf_buf_printf(to, "pid %d", (int)pid);
    if (!proc_about(pid, &about))
        return;
    (void)hf_buf_printf(to, " (%s", about.name);
    if (with_place) {
        proc_wait_place(pid, place);
        (void)hf_buf_printf(to, ", state %c%s%s", about.state,
                            place[0] ? ", waiting in " : "", place);
    }
    (void)hf_buf_printf(to, ")");
}

static void name_processes(const struct pids *pids, bool with_place,
                           struct hf_buf *to)
{
    for (size_t i = 0; i < pids->count && i < NAMED_MAX; i++) {
        if (i > 0)
            (void)hf_buf_add_str(to, ", ");
        name_process(pids->list[i], with_place, to);
    }
    if (pids->count > NAMED_MAX)
        (void)hf_buf_printf(to, " and %zu more", pids->count - NAMED_MAX);
    /* What memory did not suffice for is a shorter message. */
    if (!to->data)
        (void)hf_buf_add_str(to, "?");
}

void job_tell_refused(struct job *job, struct pids *refused)
{
    for (size_t i = 0; i < refused->count; i++) {
        struct hf_buf name;

        if (pids_has(&job->told, refused->list[i]))
            continue;
        pids_add(&job->told, refused->list[i]);
        hf_buf_init(&name, NAMES_BYTES);
        name_process(refused->list[i], false, &name);
        say(job->say,
            "could not stop %s: not permitted, it runs as another user",
            name.data ? name.data : "a process");
        hf_buf_clear(&name);
    }
    pids_clear(refused);
}

void job_tell_stuck(struct job *job)
{
    struct pids living = {.list = NULL};
    struct pids new = {.list = NULL};
    struct hf_buf names;

    tree_list(&job->tree, &living);
    for (size_t i = 0; i < living.count; i++) {
        if (!pids_has(&job->told, living.list[i])) {
            pids_add(&job->told, living.list[i]);
            pids_add(&new, living.list[i]);
        }
    }
    if (new.count > 0) {
        hf_buf_init(&names, NAMES_BYTES);
        name_processes(&new, true, &names);
        say(job->say, "could not stop %s: killed 5s ago and still there",
            names.data ? names.data : "a process");
        hf_buf_clear(&names);
    } else if (!tree_can_walk(&job->tree)) {
        say(job->say, "could not stop all of the job: /proc does not show its "
                      "processes");
    }
    pids_clear(&living);
    pids_clear(&new);
}

void job_event_ended(const struct job *job)
{
    struct event event;

    if (!event_begin(&event, job->say->events, EVENT_COMMAND_ENDED))
        return;
    hf_json_i64(&event.json, "status", job->status);
    event_end(&event);
}

static void event_leftovers(const struct job *job, const struct pids *living)
{
    struct proc_about about;
    struct event event;

    if (!event_begin(&event, job->say->events, EVENT_LEFTOVERS))
        return;
    hf_json_text(&event.json, "leftover", leftover_names[job->leftover]);
    hf_json_u64(&event.json, "count", living->count);
    hf_json_array(&event.json, "processes");
    for (size_t i = 0; i < living->count && i < NAMED_MAX; i++) {
        if (!proc_about(living->list[i], &about))
            continue;
        hf_json_object(&event.json, NULL);
        hf_json_i64(&event.json, "pid", living->list[i]);
        hf_json_text(&event.json, "state", (char[]){about.state, '\0'});
        hf_json_text(&event.json, "name", about.name);
        hf_json_object_end(&event.json);
    }
    hf_json_array_end(&event.json);
    event_end(&event);
}

void job_tell_leftovers(struct job *job)
{
    struct pids living = {.list = NULL};
    struct hf_buf names;

    tree_list(&job->tree, &living);
    if (living.count > 0) {
        job->has_leftovers = true;
        hf_buf_init(&names, NAMES_BYTES);
        name_processes(&living, false, &names);
        if (job->leftover == LEFTOVER_KILL)
            say_step(job->say, "the command left %s behind, asked to end",
                     names.data ? names.data : "processes");
        else
            say(job->say,
                "the command ended with %d, but %zu of its processes live%s "
                "on: %s; the key is kept until they are gone (--leftover=kill "
                "ends them, leave lets them be)",
                job->status, living.count, living.count == 1 ? "s" : "",
                names.data ? names.data : "?");
        hf_buf_clear(&names);
        event_leftovers(job, &living);
    }
    pids_clear(&living);
}
