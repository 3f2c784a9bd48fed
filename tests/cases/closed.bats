#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# F01: jobs that close whatever they inherit, the session's lock with it. The key
# is free only when the processes are gone, whoever of lockrun and its guardian
# has been killed.
load ../guardian/guardian

setup() {
    command -v python3 >/dev/null || skip 'no python3 here'
    guardian_setup
}
teardown() {
    cd /
    guardian_teardown
}

# A child in a session of its own, with nothing inherited, writes lines. Its
# parent stays without descriptors, or goes.
furnish_f01() {
    cat >"$D/job.py" <<'END'
import os, subprocess, sys, time
beat = 'while [ ! -e "$0.stop" ]; do echo >>"$0"; sleep 0.05; done'
subprocess.Popen(["sh", "-c", beat, sys.argv[2]], close_fds=True,
                 start_new_session=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.01)
if sys.argv[1] == "stay":
    os.closerange(3, 4096)
    open(sys.argv[2] + ".closed", "w").close()
    time.sleep(300)
END
    cat >"$D/shell" <<'END'
for file in /proc/$$/fd/*; do
    [ "${file##*/}" -le 2 ] || eval "exec ${file##*/}>&-"
done
setsid sh -c 'while [ ! -e "$0.stop" ]; do echo >>"$0"; sleep 0.05; done' "$2" &
while [ ! -e "$2" ]; do sleep 0.01; done
touch "$2.closed"
sleep 300
END
}

# beats_of NAME KIND TTL: such a job runs on the store NAME, and beats.
beats_of() {
    local words=(python3 "$D/job.py" "$2" "$D/beat.$1")
    [ "$2" != shell ] || words=(bash "$D/shell" shell "$D/beat.$1")
    launch "$1" --ttl "$3" --grace 200ms -- "${words[@]}"
    appears "$D/beat.$1"
    [ "$2" = go ] || appears "$D/beat.$1.closed"
}

# alone NAME LOCKRUN-WORD...: nothing is written while the next one has the key,
# for as long as twenty lines would take.
alone() {
    local name=$1
    shift
    next "$name" "$@" -- sh -c \
        'wc -l <"$1" >"$1.at"; sleep 1; wc -l <"$1" >"$1.after"' x "$D/beat.$name"
    [ "$status" = 0 ] || { echo "$name: $status $output"; return 1; }
    cmp "$D/beat.$name.at" "$D/beat.$name.after"
}

killed() {
    local kind
    furnish_f01
    for kind in go stay shell; do
        beats_of "$kind" "$kind" 60s
        kill -9 "$started"
        # Long before its TTL, and not while one of its processes lives.
        alone "$kind" -w 20
    done
}
@test "F01: lockrun killed, its job without descriptors: free when its processes are gone" {
    each_way killed
}

both_killed() {
    beats_of "$1" "$1" 15s
    kills_both "$started"
    # Proved dead by nothing: the lease keeps it.
    next "$1" -n -- true
    [ "$status" = 75 ] || { echo "$1: $status $output"; return 1; }
    alone "$1" -w 40
}
@test "F01: lockrun and guardian killed: whoever takes the key has ended the job's cgroup first" {
    [ "$(id -u)" = 0 ] || skip 'only root may make a cgroup here'
    furnish_f01
    both=()
    for kind in go stay shell; do
        both_killed "$kind" &
        both+=($!)
    done
    for one in "${both[@]}"; do wait "$one"; done
}

@test "F01: sudo in between, which closes them too" {
    [ "$(id -u)" = 0 ] || skip 'only root may call sudo here'
    command -v sudo >/dev/null || skip 'no sudo here'
    launch sudo --ttl 60s --grace 200ms -- sudo -n sh -c \
        'touch "$1"; while :; do echo >>"$1"; sleep 0.05; done' x "$D/beat.sudo"
    appears "$D/beat.sudo"
    next sudo -n -- true
    [ "$status" = 75 ]
    kill -9 "$started"
    alone sudo -w 20
}
