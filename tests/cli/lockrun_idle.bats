#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Who waits sleeps: neither lockrun nor its guardian uses the processor while
# nothing happens, whatever it is that they wait for.
load lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

# In ticks, of a hundredth of a second, so far.
ticks_of() {
    local stat
    stat=$(cat "/proc/$1/stat") || return
    set -- ${stat##*) }
    echo $((${12} + ${13}))
}

# sleeps: lockrun $started and its guardian take less than a tenth of the time.
sleeps() {
    local both=("$started") pid before=() at=0
    for pid in $(children_of "$started"); do
        [[ $(cat "/proc/$pid/comm") != holdfast-guard ]] || both+=("$pid")
    done
    for pid in "${both[@]}"; do
        before+=("$(ticks_of "$pid")")
    done
    sleep 1.5
    for pid in "${both[@]}"; do
        [ "$(($(ticks_of "$pid") - before[at++]))" -lt 15 ] ||
            { echo "$(cat "/proc/$pid/comm") is busy"; return 1; }
    done
}
told() { within 10 grep -q "$1" err; }
# works LOCKRUN-WORD...: a lockrun as root or as that user, with a file `up` once
# its job is there.
works() {
    rm -f up
    # shellcheck disable=SC2086
    ${AS-} lockrun --key t/n/k "$@" 2>err 3>&- &
    started=$!
    pids+=("$started")
    appears up
}

job_runs() {
    works -- sh -c 'echo >up; exec sleep 300'
    sleeps
    kill "$started"
    ended "$started"
}
@test "while a job runs" { with_and_without job_runs; }

leftovers_run() {
    works -- sh -c 'setsid sh -c "echo \$\$ >up; exec sleep 300" & while [ ! -s up ]; do sleep 0.01; done'
    told 'lives on'
    sleeps
    kill "$(cat up)"
    ended "$started"
}
@test "while leftovers are waited for" { with_and_without leftovers_run; }

deaf_job() {
    works -- sh -c 'trap "" TERM; echo >up; exec sleep 300'
    kill "$started"
    sleeps
    kill -9 "$started"
    ended "$started"
}
@test "while a job is deaf to TERM" { with_and_without deaf_job; }

its_guardian() {
    works --grace 10s -- sh -c 'trap "" TERM; echo $$ >up; exec sleep 300'
    guardian=$(pgrep -P "$started" -x holdfast-guard)
    kill -9 "$started"
    ended "$started"
    started=$guardian
    sleeps
    kill -9 "$(cat up)"
    within 10 gone "$guardian"
}
@test "while the guardian of a killed lockrun gives the job its grace" {
    with_and_without its_guardian
}

@test "while it stands in the queue, watching or not" {
    holds h t/n/k
    starts a --key t/n/k -w 60 -- true
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    sleeps
    kill "$started"
    begins --watch -- true
    told 'waiting: '
    sleeps
    kill "$started"
    echo >"$D/h.end"
}

stopped_job() {
    works -- sh -c 'echo >up; exec sleep 300'
    kill -TSTP "$started"
    sleep 0.3
    sleeps
    kill -CONT "$started"
    kill "$started"
    ended "$started"
}
@test "while the job is stopped" { with_and_without stopped_job; }

@test "while a line of --on-busy is waited for" {
    holds h t/n/k
    works -n --on-busy 'echo >up; sleep 20' -- true
    sleeps
    kill "$started"
    echo >"$D/h.end"
}

@test "in doubt, when the store is away" {
    works --ttl 30s -- sh -c 'echo >up; exec sleep 300'
    mv "$D/store" "$D/away"
    sleep 11
    sleeps
    mv "$D/away" "$D/store"
    kill "$started"
}

@test "in a jitter" {
    starts a --key t/n/k --jitter 24h -- true
    sleep 0.3
    sleeps
    kill "$started"
}
