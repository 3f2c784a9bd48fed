/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lockctl complete keys|classes [PREFIX]: what shells offer for a key or a
 * class. Called between two strokes of a key: quick, and silent.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/lockctl/class_text.h"
#include "cmd/lockctl/list.h"
#include "cmd/lockctl/lockctl.h"

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The key as people type it: a name of the default home without that. */
static const char *short_of(const char *key, const char *prefix)
{
    static const char home[] = HF_KEY_DEFAULT_HOME "/";
    const char *name = key + sizeof(home) - 1;

    if (strchr(prefix, '/') || !begins_with(key, home) || strchr(name, '/'))
        return key;
    return name;
}

static void offer_keys(struct lockctl *ctl, const char *prefix,
                       struct hf_buf *to)
{
    struct hf_error error;
    struct list list;
    size_t i;

    if (lockctl_open(ctl, true, &error) ||
        list_read(ctl,
                  strchr(prefix, '/') && strlen(prefix) < HF_KEY_SIZE ? prefix
                                                                      : "",
                  &list, &error))
        return;
    for (i = 0; i < list.count; i++) {
        const char *key = list.lines[i].info->key;
        const char *shown = short_of(key, prefix);

        /* Shared holds have a line each. */
        if (i > 0 && strcmp(key, list.lines[i - 1].info->key) == 0)
            continue;
        if (begins_with(shown, prefix))
            (void)hf_buf_printf(to, "%s\n", shown);
    }
    list_clear(&list);
}

static void offer_classes(struct lockctl *ctl, const char *prefix,
                          struct hf_buf *to)
{
    struct class_files *files = calloc(1, sizeof(*files));
    struct hf_error error;
    bool has_batch = false;
    size_t i;

    if (!files)
        return;
    if (class_files_read(class_folder(ctl), files, &error))
        files->count = 0;
    for (i = 0; i < files->count; i++) {
        char name[HF_CLASS_NAME_SIZE];

        if (!class_of_file(files->names[i], name, &error))
            continue;
        has_batch = has_batch || strcmp(name, hf_class_batch.name) == 0;
        if (begins_with(name, prefix))
            (void)hf_buf_printf(to, "%s\n", name);
    }
    if (!has_batch && begins_with(hf_class_batch.name, prefix))
        (void)hf_buf_printf(to, "%s\n", hf_class_batch.name);
    free(files);
}

void lockctl_offer(struct lockctl *ctl, enum hf_opt_offer offer,
                   const char *prefix, struct hf_buf *to)
{
    ctl->is_quiet = true;
    switch (offer) {
    case HF_OFFER_KEY:
        offer_keys(ctl, prefix, to);
        break;
    case HF_OFFER_CLASS:
        offer_classes(ctl, prefix, to);
        break;
    case HF_OFFER_NOTHING:
    case HF_OFFER_FILE:
    case HF_OFFER_COMMAND:
        break;
    }
    lockctl_close(ctl);
}

int lockctl_complete(struct lockctl *ctl)
{
    const char *what = ctl->opts.operands[0];
    const char *prefix =
        ctl->opts.operand_count > 1 ? ctl->opts.operands[1] : "";

    if (strcmp(what, "keys") == 0)
        lockctl_offer(ctl, HF_OFFER_KEY, prefix, &ctl->out);
    else if (strcmp(what, "classes") == 0)
        lockctl_offer(ctl, HF_OFFER_CLASS, prefix, &ctl->out);
    else
        return hf_err_status(HF_ERR_USAGE);
    return 0;
}
