/* SPDX-License-Identifier: Apache-2.0 */
/* usage: opts_print run|ctl mdoc|bash|zsh|fish: what the tools of opts_tools.c
 * would print with --dump; for tests/unit/completion.bats. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/opts_tools.h"

int main(int argc, char **argv)
{
    struct hf_opts opts;
    struct hf_error error = {.text = "usage: opts_print run|ctl FORM"};
    const struct hf_tool *tool = &run_tool;
    struct run_options options;
    char dump[] = "--dump";
    char *words[] = {argv[0], dump, argc == 3 ? argv[2] : NULL, NULL};
    struct hf_buf out;
    int status = 0;

    hf_buf_init(&out, 100000);
    if (argc == 3 && strcmp(argv[1], "ctl") == 0)
        tool = &ctl_tool;
    if (argc != 3 || hf_opts_parse(tool, 3, words, &options, &opts, &error) ||
        hf_opts_answer(tool, &opts, &out)) {
        fprintf(stderr, "opts_print: %s\n", error.text);
        status = 64;
    } else {
        fputs(out.data, stdout);
    }
    hf_buf_clear(&out);
    return status;
}
