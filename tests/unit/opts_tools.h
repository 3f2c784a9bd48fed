/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tools for the tests of base/opts.h: one that runs another program, as
 * lockrun does, and one of commands, as lockctl is. Together they have a row of
 * each kind.
 */
#ifndef HF_TESTS_OPTS_TOOLS_H
#define HF_TESTS_OPTS_TOOLS_H

#include "base/opts.h"

struct run_options {
    bool is_try;
    bool is_verbose;
    int is_shared;
    struct hf_opt_span wait;
    struct hf_opt_span ttl;
    struct hf_opt_number status;
    const char *line;
    const char *key;
    const char *note;
    struct hf_opt_word leftover;
    struct hf_opt_pairs labels;
};

extern const struct hf_tool run_tool;

enum { CTL_LS, CTL_SHOW, CTL_CLASS_LS, CTL_CLASS_LINT, CTL_OFFER };

struct ctl_options {
    const char *store;
    const char *class_name;
    bool is_json;
    bool is_all;
    struct hf_opt_number limit;
};

extern const struct hf_tool ctl_tool;

#endif
