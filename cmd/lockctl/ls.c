/* SPDX-License-Identifier: Apache-2.0 */
/* lockctl ls [PREFIX]: what is held, a line each, and how many wait for it. */
#include "cmd/lockctl/list.h"
#include "cmd/lockctl/table.h"

int lockctl_ls(struct lockctl *ctl)
{
    const char *prefix = ctl->opts.operand_count ? ctl->opts.operands[0] : "";
    struct hf_error error;
    struct list list;

    if (list_check_prefix(prefix, &error) || lockctl_open(ctl, true, &error) ||
        list_read(ctl, prefix, &list, &error))
        return lockctl_fail(&error);
    if (ctl->options.is_json)
        list_json(ctl, &list);
    else
        list_text(ctl, &list, terminal_width());
    if (list.request.more)
        lockctl_note("there is more than %d of a kind: name a longer PREFIX",
                     HF_STORE_LIST_MAX);
    list_clear(&list);
    return 0;
}
