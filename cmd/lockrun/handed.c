/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/handed.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const names[HANDED_MAX] = {"LISTEN_PID=", "WATCHDOG_PID="};

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void drop(char **environment, const char *name)
{
    char **to = environment;

    for (char **from = environment; *from; from++) {
        if (!begins_with(*from, name))
            *to++ = *from;
    }
    *to = NULL;
}

void handed_find(struct handed *handed, char **environment, pid_t lockrun)
{
    bool has_sockets = false;

    handed->count = 0;
    for (int i = 0; i < HANDED_MAX; i++) {
        char *text = handed->list[handed->count].text;
        char **entry = environment;

        snprintf(text, HANDED_BYTES, "%s%d", names[i], (int)lockrun);
        while (*entry && strcmp(*entry, text) != 0)
            entry++;
        if (!*entry)
            continue;
        *entry = text;
        handed->list[handed->count].number = text + strlen(names[i]);
        handed->count++;
        has_sockets = has_sockets || i == 0;
    }
    if (has_sockets)
        drop(environment, "LISTEN_PIDFDID=");
}

void handed_readdress(struct handed *handed, pid_t pid)
{
    char digits[16];
    int size = 0;

    for (; pid > 0; pid /= 10)
        digits[size++] = (char)('0' + pid % 10);
    for (int i = 0; i < handed->count; i++) {
        char *to = handed->list[i].number;

        for (int place = size; place > 0; place--)
            *to++ = digits[place - 1];
        *to = '\0';
    }
}
