/* SPDX-License-Identifier: Apache-2.0 */
/* lockctl class show CLASS: its rules, each with what it means, and its cost.
 */
#include <stdio.h>

#include "cmd/lockctl/class_text.h"
#include "cmd/lockctl/table.h"

static const struct table_column columns[] = {{.title = "FIELD"},
                                              {.title = "VALUE"},
                                              {.title = "MEANING", .drop = 1},
                                              {.title = NULL}};

static void print_text(struct lockctl *ctl,
                       const struct hf_class_review *review)
{
    struct table table;
    const char *name;
    const char *meaning;
    size_t n;

    (void)hf_buf_printf(&ctl->out, "class %s, ", review->class.name);
    if (review->is_built_in)
        (void)hf_buf_add_str(&ctl->out, "built in\n\n");
    else
        (void)hf_buf_printf(&ctl->out, "from %s/%s.yaml\n\n", class_folder(ctl),
                            review->class.name);
    table_init(&table, columns);
    for (n = 0; hf_class_review_field(n, &name, &meaning); n++) {
        struct hf_buf value;

        hf_buf_init(&value, 1024);
        table_add(&table, name);
        if (hf_class_review_value(&review->class, n, &value))
            table.failed = true;
        else
            table_add(&table, value.data);
        table_add(&table, meaning);
        hf_buf_clear(&value);
    }
    if (table_print(&table, terminal_width(), terminal_is_styled(), &ctl->out))
        ctl->out.failed = HF_ERR_NOMEM;
    table_clear(&table);
    (void)hf_buf_add(&ctl->out, "\n", 1);
    class_cost_text(&ctl->out, &review->cost, "");
}

int lockctl_class_show(struct lockctl *ctl)
{
    struct hf_class_review review;
    struct hf_error error;
    struct hf_json json;

    if (hf_class_review_read(&ctl->sys, class_folder(ctl),
                             ctl->opts.operands[0], &review, &error))
        return lockctl_fail(&error);
    if (ctl->options.is_json) {
        hf_json_begin(&json, &ctl->out);
        hf_json_object(&json, NULL);
        hf_json_text(&json, "folder", class_folder(ctl));
        class_json(&json, &review);
        hf_json_object_end(&json);
        (void)hf_json_end(&json);
        (void)hf_buf_add(&ctl->out, "\n", 1);
    } else {
        print_text(ctl, &review);
    }
    return review.distrust.code ? lockctl_fail(&review.distrust) : 0;
}
