/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the simulated world: again and again it starts a process that
 * wants a key, as lockrun does: the real session and deadline, over a real
 * service on a store handle of its own. Its job is simulated.
 */
#ifndef HF_TESTS_SIM_CLIENT_H
#define HF_TESTS_SIM_CLIENT_H

#include "client/session.h"
#include "service/service.h"
#include "tests/sim/run.h"

/* Our own transport: the service in this process, as client/local.c has it. */
struct sim_transport {
    struct hf_transport transport; /* first */
    struct hf_service *service;
    bool dead; /* the process died: nothing goes out any more */
};

/* Kept to the end of the run: the oracle asks who did what. */
struct sim_process {
    struct sim_process *older;
    uint32_t serial;        /* also its pid */
    uint32_t store_process; /* what the store calls it */
    int client;
    struct hf_store *store; /* of the world; the door closes it */
    struct hf_store *door;  /* around it; the service closes it */
    struct sim_transport transport;
    struct hf_session *session; /* NULL once it has ended */
    int key;
    enum hf_mode mode;

    bool acquired; /* has asked for the key */
    bool granted;  /* was told that it holds it; the next two are good */
    uint64_t token;
    uint8_t grant[HF_GRANT_ID_SIZE];
    char session_id[HF_SESSION_ID_SIZE];
    bool releasing; /* has asked to give it back */
    bool abandoned; /* has given up waiting */
    bool rejoined;  /* lost its session as it waited, and began anew */
    bool over;      /* has ended, of its own accord */
    bool crashed;
    bool excused; /* the state under it was replaced: its lease may end */

    bool job_runs;
    bool has_cgroup;
    bool is_probe;
    struct hf_time sent_at;  /* of the last renewal; its own clock */
    struct hf_time deadline; /* the world's: when it must have stopped */
    /* In the world's time; NEVER when not planned. */
    struct hf_time job_ends;
    struct hf_time next_write;
    struct hf_time abandons;
    struct hf_time crashes;
    bool crashes_alone;    /* its job lives on */
    uint32_t asks_at_most; /* requests of the store, then it dies; see door.h */
};

struct sim_client {
    int index;
    struct sim_process *process; /* the present one, or NULL */
    struct sim_process *first;   /* newest of all that it had */
    struct hf_time starts;       /* the next process; NEVER: no more */
    int rounds_left;
    struct hf_time paused_until; /* 0: runs */
    bool job_paused;             /* the pause holds for its job too */
    struct hf_time spun_at;      /* turns at one and the same moment */
    int spins;
};

void sim_clients_init(struct sim_run *run);
void sim_clients_clear(struct sim_run *run);
/* When it wants a turn, in the world's time. */
struct hf_time sim_client_wake_at(const struct sim_run *run,
                                  const struct sim_client *client);
void sim_client_turn(struct sim_run *run, struct sim_client *client);
void sim_client_pause(struct sim_run *run, struct sim_client *client);
/* Start a process that wants this key alone, and waits as long as it takes. */
void sim_client_probe(struct sim_run *run, struct sim_client *client, int key);
/* Has it nothing more to do? */
bool sim_client_is_done(const struct sim_client *client);
struct sim_process *sim_process_find(const struct sim_run *run,
                                     uint32_t serial);
/* Is the process, or its job, stopped at present? */
bool sim_process_is_paused(const struct sim_run *run,
                           const struct sim_process *process);
/* "c2.7": client and serial; static storage of eight such names. */
const char *sim_process_name(const struct sim_process *process);

/* The writes of jobs that are on their way to a register. */
struct hf_time sim_writes_wake_at(const struct sim_run *run);
void sim_writes_arrive(struct sim_run *run);

#endif
