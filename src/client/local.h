/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local transport: a lock service in this very process over the embedded
 * store, classes read from files as they are asked for. Opened by lockrun and
 * lockctl mains.
 */
#ifndef HF_CLIENT_LOCAL_H
#define HF_CLIENT_LOCAL_H

#include "base/err.h"
#include "base/sys.h"
#include "client/transport.h"

struct hf_local_options {
    /* "sqlite:PATH" or an absolute or relative path; NULL: HOLDFAST_STORE is
     * not looked at here, the user's own place is taken. */
    const char *store;
    /* Folder of class files; NULL or empty: the compiled-in one. */
    const char *classes;
    struct hf_span gate_limit; /* 0: 10 s */
    bool read_only;
    bool is_strict; /* as in hf_sqlite_options */
};

enum hf_err hf_local_open(struct hf_sys *sys,
                          const struct hf_local_options *options,
                          struct hf_transport **transport,
                          struct hf_error *error);
/* As hf_sqlite_notice: something was found and mended; told once. */
const char *hf_local_notice(struct hf_transport *transport);
/* Path of the database in use; lives with the transport. */
const char *hf_local_place(struct hf_transport *transport);

/*
 * For a process that has nothing of a session but its state file (of
 * hf_session_state_fd), and may outlive who made it. They neither block nor ask
 * the database.
 */
enum hf_local_lease {
    HF_LOCAL_STANDS, /* nobody has taken it; it may have run out */
    HF_LOCAL_ENDED,  /* taken by another, revoked, or given back */
    HF_LOCAL_UNKNOWN
};
enum hf_local_lease hf_local_lease_stands(struct hf_sys *sys, int state_fd);
/* As hf_session_job, in place of the session's owner, who does not do so
 * meanwhile; the cgroup stays as that told it. 0 or -errno. */
int hf_local_job_phase(struct hf_sys *sys, int state_fd,
                       enum hf_lease_phase phase);

#endif
