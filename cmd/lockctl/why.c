/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockctl/why.h"

#include <inttypes.h>

#include "cmd/lockctl/hold.h"

/* What the records of one key amount to. */
struct sum {
    const struct hf_hold_info *holder; /* an exclusive one */
    const struct hf_hold_info *first;  /* in the queue that can still take it */
    const struct hf_hold_info *floor;  /* it is kept */
    size_t shared;
    size_t shared_live;
    int64_t longest_ms; /* of the shared ones of which nothing is known */
};

static void add_share(const struct hf_hold_info *info, struct sum *sum)
{
    enum hold_state state = hold_state_of(info);

    sum->shared++;
    if (state == HOLD_LIVE || state == HOLD_LEFT)
        sum->shared_live++;
    else if (state == HOLD_LEASE && info->lease_remaining_ms > sum->longest_ms)
        sum->longest_ms = info->lease_remaining_ms;
}

static struct sum sum_up(const struct why *why)
{
    struct sum sum = {.holder = NULL};
    size_t i;

    for (i = 0; i < why->info_count; i++) {
        const struct hf_hold_info *info = &why->infos[i];

        switch (info->kind) {
        case HF_HOLD:
            sum.holder = info;
            break;
        case HF_SHARE:
            add_share(info, &sum);
            break;
        case HF_WAITER:
            if (!sum.first && hold_stands(hold_state_of(info)))
                sum.first = info;
            break;
        case HF_FLOOR:
            if (hold_state_of(info) == HOLD_KEPT)
                sum.floor = info;
            break;
        }
    }
    return sum;
}

static void say_waiting(const struct why *why, struct hf_buf *to)
{
    if (why->waiting == 1)
        (void)hf_buf_add_str(to, "; 1 waits");
    else if (why->waiting > 1)
        (void)hf_buf_printf(to, "; %" PRIu64 " wait", why->waiting);
}

static void say_kept(const struct why *why, const struct sum *sum,
                     struct hf_buf *to)
{
    (void)hf_buf_printf(to, "kept until %s by --hold-min, for %s more",
                        hold_kept_until(sum->floor, why->wall).text,
                        age_print(sum->floor->lease_remaining_ms).text);
    say_waiting(why, to);
}

/* Who gets it now that nobody lives who has it? */
static void say_next(const struct why *why, const struct sum *sum,
                     struct hf_buf *to)
{
    if (sum->floor)
        say_kept(why, sum, to);
    else if (why->is_sealed)
        (void)hf_buf_add_str(to, "nobody gets it while the store is sealed");
    else if (sum->first && why->waiting == 1)
        (void)hf_buf_add_str(to, "the one that waits takes it within a second");
    else if (sum->first)
        (void)hf_buf_printf(to,
                            "of %" PRIu64 " that wait the first living one "
                            "takes it within a second",
                            why->waiting);
    else
        (void)hf_buf_add_str(to, "the next one gets it at once");
}

static void say_free(const struct why *why, const struct sum *sum,
                     struct hf_buf *to)
{
    if (sum->floor) {
        (void)hf_buf_add_str(to, "its job is done, but it is ");
        say_kept(why, sum, to);
        return;
    }
    if (why->waiting == 0) {
        (void)hf_buf_add_str(to, "free: nobody holds it, and nobody waits");
        return;
    }
    if (sum->first && !why->is_sealed) {
        (void)hf_buf_printf(to,
                            why->waiting == 1
                                ? "nobody holds it, %" PRIu64
                                  " waits: it takes it within a second"
                                : "nobody holds it, %" PRIu64
                                  " wait: the first takes it within a second",
                            why->waiting);
        return;
    }
    (void)hf_buf_printf(to, "nobody holds it, and %" PRIu64 " that wait%s ",
                        why->waiting, why->waiting == 1 ? "s" : "");
    if (sum->first)
        (void)hf_buf_add_str(to, "cannot get it while the store is sealed");
    else
        (void)hf_buf_printf(to, "%s gone: the next one gets it at once",
                            why->waiting == 1 ? "is" : "are");
}

static void say_live(const struct why *why, const struct sum *sum,
                     struct hf_buf *to)
{
    struct age_text age = age_print(hold_age_ms(sum->holder, why->now));

    if (hold_state_of(sum->holder) == HOLD_LEFT)
        (void)hf_buf_printf(to,
                            "its command ended at %s with %d, but processes "
                            "that it started live on; held for %s",
                            hf_hold_left_at(sum->holder).text,
                            (int)sum->holder->left.status, age.text);
    else
        (void)hf_buf_printf(to, "held by a live job for %s", age.text);
    if (why->stopped_pid)
        (void)hf_buf_printf(to,
                            ", but pid %" PRIu32
                            ", which renews its lease, is stopped (kill -CONT "
                            "%" PRIu32 ")",
                            why->stopped_pid, why->stopped_pid);
    if (why->gone_pid)
        (void)hf_buf_printf(
            to, ", but pid %" PRIu32 ", which renewed its lease, is gone",
            why->gone_pid);
    say_waiting(why, to);
}

static void say_held(const struct why *why, const struct sum *sum,
                     struct hf_buf *to)
{
    const struct hf_hold_info *holder = sum->holder;

    switch (hold_state_of(holder)) {
    case HOLD_LIVE:
    case HOLD_LEFT:
        say_live(why, sum, to);
        return;
    case HOLD_DEAD:
        (void)hf_buf_add_str(to, "its holder is dead by the kernel's word: ");
        say_next(why, sum, to);
        return;
    case HOLD_LEASE:
        (void)hf_buf_printf(to,
                            "nothing is known of its processes: free when the "
                            "lease ends in %s, unless it is renewed",
                            age_print(holder->lease_remaining_ms).text);
        say_waiting(why, to);
        return;
    case HOLD_LAPSED:
    case HOLD_KEPT:
    case HOLD_FREE:
        break;
    }
    if (holder->lease_known)
        (void)hf_buf_printf(
            to, "its lease ended %s ago%s: ",
            age_print(-holder->lease_remaining_ms).text,
            holder->proof == HF_PROOF_LIVES
                ? ", though a process of it lives (stopped, or starved)"
                : "");
    else
        (void)hf_buf_add_str(to, "its lease is gone: ");
    say_next(why, sum, to);
}

static void say_shared(const struct why *why, const struct sum *sum,
                       struct hf_buf *to)
{
    (void)hf_buf_printf(to, "held shared by %zu", sum->shared);
    if (sum->shared_live) {
        (void)hf_buf_printf(to,
                            ", %zu of them live: an exclusive one gets it when "
                            "they are done",
                            sum->shared_live);
        say_waiting(why, to);
    } else if (sum->longest_ms) {
        (void)hf_buf_printf(to,
                            ", and nothing is known of their processes: free "
                            "when the last lease ends in %s, unless it is "
                            "renewed",
                            age_print(sum->longest_ms).text);
        say_waiting(why, to);
    } else {
        (void)hf_buf_add_str(to, ", all dead or lapsed: ");
        say_next(why, sum, to);
    }
}

enum hf_err why_print(const struct why *why, struct hf_buf *to)
{
    struct sum sum = sum_up(why);

    if (why->is_sealed)
        (void)hf_buf_add_str(to, "the store is sealed, so nothing is granted "
                                 "or renewed (lockctl epoch show); ");
    if (sum.holder)
        say_held(why, &sum, to);
    else if (sum.shared)
        say_shared(why, &sum, to);
    else
        say_free(why, &sum, to);
    return to->failed;
}
