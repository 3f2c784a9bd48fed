/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/pids.h"

#include <stdlib.h>

bool pids_has(const struct pids *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++) {
        if (pids->list[i] == pid)
            return true;
    }
    return false;
}

void pids_add(struct pids *pids, pid_t pid)
{
    if (pid <= 0 || pids_has(pids, pid))
        return;
    if (pids->count == pids->room) {
        size_t room = pids->room ? 2 * pids->room : 64;
        pid_t *list = NULL;

        if (room <= PIDS_MAX)
            list = realloc(pids->list, room * sizeof(*list));
        if (!list) {
            pids->is_cut = true;
            return;
        }
        pids->list = list;
        pids->room = room;
    }
    pids->list[pids->count++] = pid;
}

void pids_remove(struct pids *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++) {
        if (pids->list[i] == pid) {
            pids->list[i] = pids->list[--pids->count];
            return;
        }
    }
}

void pids_add_text(struct pids *pids, const char *text)
{
    while (*text) {
        char *end;
        long pid = strtol(text, &end, 10);

        if (end == text)
            return;
        pids_add(pids, (pid_t)pid);
        text = end;
    }
}

void pids_clear(struct pids *pids)
{
    free(pids->list);
    *pids = (struct pids){.list = NULL};
}
