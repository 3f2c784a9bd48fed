/* SPDX-License-Identifier: Apache-2.0 */
/* lockctl top [PREFIX]: what is held, always up to date; or, for programs and
 * logs, the same as plain text now and again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/utc.h"
#include "cmd/lockctl/hold.h"
#include "cmd/lockctl/list.h"
#include "cmd/lockctl/screen.h"
#include "cmd/lockctl/table.h"

/* Rows above the lines of the list: two of ours, an empty one, the titles. */
enum { HEAD_ROWS = 4 };
enum { EVERY_MS = 1000 };

struct top {
    struct lockctl *ctl;
    const char *prefix;
    enum list_order order;
    size_t first; /* line shown on top */
    struct screen screen;
};

static int64_t every_ms(const struct top *top)
{
    const struct hf_opt_span *every = &top->ctl->options.every;

    return every->is_given ? hf_span_to_ms_up(every->span) : EVERY_MS;
}

static const char *no_color_bold(bool is_on)
{
    return terminal_is_styled() ? (is_on ? "\033[1m" : "\033[0m") : "";
}

/* The two lines on top. */
static void add_head(const struct top *top, const struct list *list,
                     struct hf_buf *to)
{
    struct lockctl *ctl = top->ctl;
    const char *place = lockctl_place(ctl);
    size_t held = 0;
    size_t i;

    for (i = 0; i < list->count; i++)
        held += hold_is_hold(list->lines[i].info);
    (void)hf_buf_printf(to, "%s  %s%zu held, %" PRIu64 " waiting%s  ",
                        hf_utc_print(ctl->sys.wall(&ctl->sys), 0).text,
                        no_color_bold(true), held, list->request.waiting,
                        no_color_bold(false));
    (void)hf_escape_add(to, place, strlen(place));
    (void)hf_buf_printf(to, "\nq quit  s sort (%s first)  arrows scroll",
                        list_order_names[top->order]);
    if (list->request.more)
        (void)hf_buf_printf(to, "  (more than %d: name a longer PREFIX)",
                            HF_STORE_LIST_MAX);
    (void)hf_buf_add_str(to, "\n\n");
}

/* Leave out the lines of the list that were scrolled away. */
static void add_rows(const struct top *top, const struct hf_buf *table,
                     struct hf_buf *to)
{
    const char *end = table->data + table->size;
    const char *titles = memchr(table->data, '\n', table->size);
    const char *at = titles ? titles + 1 : end;
    size_t i;

    (void)hf_buf_add(to, table->data, (size_t)(at - table->data));
    for (i = 0; i < top->first && at < end; i++)
        at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    (void)hf_buf_add(to, at, (size_t)(end - at));
}

static void make_picture(struct top *top, struct list *list, struct hf_buf *to)
{
    struct lockctl *ctl = top->ctl;
    size_t room =
        top->screen.rows > HEAD_ROWS ? top->screen.rows - HEAD_ROWS : 1;

    if (list->count <= room)
        top->first = 0;
    else if (top->first > list->count - room)
        top->first = list->count - room;
    add_head(top, list, to);
    if (list->count == 0) {
        (void)hf_buf_add_str(to, "Nothing is held.\n");
        return;
    }
    list_text(ctl, list, top->screen.columns);
    if (ctl->out.data && !ctl->out.failed)
        add_rows(top, &ctl->out, to);
}

/* Look, and draw what is there; a store that cannot be read for now is told in
 * its place. */
static void draw(struct top *top)
{
    struct hf_error error;
    struct hf_buf picture;
    struct list list;

    hf_buf_init(&picture, 16 << 20);
    hf_buf_reset(&top->ctl->out);
    if (list_read(top->ctl, top->prefix, &list, &error)) {
        (void)hf_buf_printf(&picture, "%s\n", error.text);
    } else {
        list_sort(&list, top->order);
        make_picture(top, &list, &picture);
        list_clear(&list);
    }
    if (!picture.failed)
        screen_draw(&top->screen, &picture);
    hf_buf_reset(&top->ctl->out);
    hf_buf_clear(&picture);
}

static enum list_order next_order(enum list_order order)
{
    return list_order_names[order + 1] ? order + 1 : LIST_BY_KEY;
}

static int show(struct top *top)
{
    enum screen_event event = SCREEN_NOTHING;
    struct hf_error error;
    int signal = 0;

    if (screen_init(&top->screen, &error))
        return lockctl_fail(&error);
    /* A note of the store's would spoil the picture. */
    top->ctl->is_quiet = true;
    while (event != SCREEN_QUIT && event != SCREEN_SIGNAL) {
        draw(top);
        event = screen_wait(&top->screen, (int)every_ms(top), &signal);
        if (event == SCREEN_SORT)
            top->order = next_order(top->order);
        else if (event == SCREEN_DOWN)
            top->first++;
        else if (event == SCREEN_UP && top->first > 0)
            top->first--;
    }
    screen_clear(&top->screen);
    if (event == SCREEN_SIGNAL)
        screen_die(signal);
    return 0;
}

/* One list as plain text, or as a line of JSON. */
static int print_once(struct top *top, bool is_first)
{
    struct lockctl *ctl = top->ctl;
    struct hf_error error;
    struct list list;

    if (list_read(ctl, top->prefix, &list, &error))
        return lockctl_fail(&error);
    list_sort(&list, top->order);
    if (ctl->options.is_json) {
        list_json(ctl, &list);
    } else {
        (void)hf_buf_printf(
            &ctl->out, "%s%s  %zu line%s, %" PRIu64 " waiting\n",
            is_first ? "" : "\n",
            hf_utc_print(ctl->sys.wall(&ctl->sys), 0).text, list.count,
            list.count == 1 ? "" : "s", list.request.waiting);
        list_text(ctl, &list, terminal_width());
    }
    list_clear(&list);
    return lockctl_flush(ctl) ? 0 : hf_err_status(HF_ERR_UNAVAILABLE);
}

static int print(struct top *top)
{
    const struct lockctl_options *options = &top->ctl->options;
    struct lockctl *ctl = top->ctl;
    struct hf_request never = {.kind = HF_REQUEST_LIST};
    uint64_t count = UINT64_MAX;
    uint64_t done = 0;
    int status;

    if (options->is_once)
        count = 1;
    else if (options->count.is_given)
        count = (uint64_t)options->count.number;
    do {
        status = print_once(top, done == 0);
        if (status || ++done == count)
            break;
        /* Nothing was asked, so nothing answers before the time is over. */
        (void)lockctl_wait(
            ctl, &never,
            hf_time_add(ctl->sys.steady(&ctl->sys), hf_span_ms(every_ms(top))));
    } while (true);
    return status;
}

int lockctl_top(struct lockctl *ctl)
{
    const struct lockctl_options *options = &ctl->options;
    struct top top = {.ctl = ctl,
                      .prefix =
                          ctl->opts.operand_count ? ctl->opts.operands[0] : ""};
    bool is_plain = options->is_once || options->is_batch;
    struct hf_error error;

    if (options->sort.is_given)
        top.order = (enum list_order)options->sort.index;
    if ((options->is_json || options->count.is_given) && !is_plain) {
        (void)hf_error_set(&error, HF_ERR_USAGE,
                           "--json and --count go with --once or --batch");
        return lockctl_fail(&error);
    }
    if (list_check_prefix(top.prefix, &error) ||
        lockctl_open(ctl, true, &error))
        return lockctl_fail(&error);
    return is_plain ? print(&top) : show(&top);
}
