/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lockrun/naming.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cmd/lockrun/busy.h"

static void read_host(char host[HF_HOST_SIZE])
{
    struct utsname about;

    if (!uname(&about))
        snprintf(host, HF_HOST_SIZE, "%s", about.nodename);
}

enum hf_err naming_key(const struct lockrun_options *options,
                       const struct program *program,
                       const struct hf_class *class, char key[HF_KEY_SIZE],
                       struct hf_error *error)
{
    char user[16];
    char host[HF_HOST_SIZE] = "";
    char hash[17];
    struct hf_key_words words = {
        .command_path = program->absolute, .user = user, .host = host};

    if (options->key) {
        memcpy(key, options->whole_key, HF_KEY_SIZE);
        return HF_ERR_OK;
    }
    snprintf(user, sizeof(user), "%u", (unsigned int)geteuid());
    read_host(host);
    /*
     * A line is named by itself. Whatever shell runs it: SHELL is one thing in
     * a login and another in cron, and one line must not get two keys.
     */
    if (options->line)
        words.command_path = "/bin/sh";
    if (options->line || (program_is_shell(program->absolute) &&
                          program_has_line(options->command))) {
        enum hf_err err = program_hash_arguments(options->command, hash, error);

        if (err)
            return err;
        words.line_hash = hash;
    }
    return hf_key_expand(class->key, &words, key, error);
}

/*
 * A record is text in UTF-8. Bytes that are not, in the name of a program or
 * where it was cut, become '?': as escapes they might not fit when read back.
 */
static void make_utf8(char *text)
{
    size_t size = strlen(text);
    uint32_t code;

    for (size_t at = 0; at < size;) {
        size_t length = hf_utf8_read(text + at, size - at, &code);

        if (length == 0)
            text[at] = '?';
        at += length > 0 ? length : 1;
    }
}

void naming_holder(const struct lockrun_options *options,
                   const struct program *program, struct hf_holder *holder)
{
    read_host(holder->host);
    holder->pid = (uint32_t)getpid();
    holder->pid_namespace = busy_pid_namespace();
    program_describe(program, options->command, holder->program);
    if (options->note)
        snprintf(holder->note, sizeof(holder->note), "%s", options->note);
    make_utf8(holder->host);
    make_utf8(holder->program);
    make_utf8(holder->note);
}
