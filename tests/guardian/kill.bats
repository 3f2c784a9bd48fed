#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockrun is killed, at any moment: nothing of its job is left, there never are
# two, and the next one need not wait for the lease to run out.
# HF_TRIES: how often the loops try; `make long` takes 200.
load guardian

setup() { guardian_setup; }
teardown() {
    cd /
    guardian_teardown
}

tries=${HF_TRIES:-20}

# One try of many at once. A TTL that no wait below reaches: who gets the key
# got it because the tree is gone.
killed_once() {
    local n=$1 mark=$D/mark.$1 w=$D/w.$1 limit=20
    launch "s$n" --ttl 60s --grace 200ms -- bash "$D/hiding" "$w" "$mark"
    pause $(((RANDOM * 32768 + RANDOM) % 120000))
    kill -9 "$started"
    wait "$started" 2>/dev/null || :
    within "$limit" no_shell_runs "$mark" || { echo "try $n: some of the job lives"; return 1; }
    within "$limit" all_gone "$w" || { echo "try $n: the witness is taken"; return 1; }
    next "s$n" -w "$limit" -- true
    [ "$status" = 0 ] || { echo "try $n: the next one: $status $output"; return 1; }
    [ ! -e "$w.two" ] || { echo "try $n: two at once"; return 1; }
}

# many COMMAND: `tries` of it, some at a time.
many() {
    local n=0 failed=0 jobs=() job
    while ((n < tries)); do
        jobs=()
        while ((n < tries && ${#jobs[@]} < 8)); do
            "$1" "$n.${AS:+user}" &
            jobs+=($!)
            n=$((n + 1))
        done
        for job in "${jobs[@]}"; do wait "$job" || failed=$((failed + 1)); done
    done
    echo "$failed of $tries failed"
    [ "$failed" = 0 ]
}

@test "C29 F26: killed at a random moment, nothing of the job is left and the next one gets the key at once" {
    each_way many killed_once
}

dies_in_order() {
    cat >"$D/polite" <<'END'
trap 'echo first >>"$1"; sleep 0.3; echo second >>"$1"; exit 0' TERM
(setsid sh -c 'trap "echo child >>\"$1\"; exit 0" TERM; touch "$1.child"; while :; do sleep 0.05; done' x "$1" &)
while [ ! -e "$1.child" ]; do sleep 0.02; done
touch "$1.up"
while :; do sleep 0.05; done
END
    launch polite --ttl 60s --grace 20s -- sh "$D/polite" "$D/asked"
    appears "$D/asked.up"
    kill -9 "$started"
    next polite -w 20 -- true
    [ "$status" = 0 ]
    [ "$(sort "$D/asked" | tr '\n' ' ')" = 'child first second ' ]
}
@test "F05: a job whose lockrun is killed is asked first, and has its grace" {
    each_way dies_in_order
}

group_killed() {
    local w=$D/w.group
    launch group --ttl 60s --grace 200ms -- bash "$D/hiding" "$w" "$D/mark.group"
    appears "$w.up"
    # The guardian is not in lockrun's process group.
    [ "$(ps -o pgid= -p "$(guardian_of "$started")")" != "$(ps -o pgid= -p "$started")" ]
    kill -9 "$(pgrep -P "$(guardian_of "$started")" | head -n 1)" "$started"
    within 20 none_runs "$D/mark.group"
    next group -w 20 -- true
    [ "$status" = 0 ]
    [ ! -e "$w.two" ]
}
@test "C13: lockrun and the command killed together leave no child, and the key is free" {
    each_way group_killed
}

@test "kill -9 of lockrun by its name does not hit its guardian" {
    launch name --ttl 60s --grace 200ms -- bash "$D/hiding" "$D/w.name" "$D/mark.name"
    appears "$D/w.name.up"
    guardian=$(guardian_of "$started")
    ! pgrep lockrun | grep -qx "$guardian" || false
    ! pgrep -f lockrun | grep -qx "$guardian" || false
    [ "$(tr -d '\0' <"/proc/$guardian/cmdline")" = \
        "holdfast-guard of pid $(pgrep -P "$guardian" | head -n 1)" ]
}

@test "lockrun and guardian both killed: whoever takes the lapsed lease ends the job first" {
    [ "$(id -u)" = 0 ] || skip 'only root may make a cgroup here'
    launch both --ttl 15s --verbose -- bash "$D/hiding" "$D/w.both" "$D/mark.both"
    appears "$D/w.both.up"
    grep -q 'gets the cgroup' "$D/err.both" || skip 'no cgroup of version 2 here'
    kill -9 "$started" "$(guardian_of "$started")"
    # Their own death ended the command itself, and nothing else.
    ! none_runs "$D/mark.both" || false
    next both -n -- true
    [ "$status" = 75 ]
    next both -w 40 -- bash -c 'pgrep -f -- "$1" >"$1.left"; :' x "$D/mark.both"
    [ "$status" = 0 ]
    # The shell itself and lockrun have the words, nobody else.
    next both -n -- sh -c 'exec 9>>"$1"; flock -n 9' x "$D/w.both"
    [ "$status" = 0 ]
    none_runs "$D/mark.both"
}

@test "both killed, and a member of the group takes the lapsed lease: it is told what it may not end" {
    [ "$(id -u)" = 0 ] || skip 'only root may make a cgroup here'
    chgrp 60100 "$D/store"
    chmod 2770 "$D/store"
    launch members --ttl 5s --verbose -- bash "$D/hiding" "$D/w.members" "$D/mark.members"
    appears "$D/w.members.up"
    grep -q 'gets the cgroup' "$D/err.members" || skip 'no cgroup of version 2 here'
    kill -9 "$started" "$(guardian_of "$started")"
    AS='setpriv --reuid 60101 --regid 60100 --clear-groups' next members -w 20 -- true
    [ "$status" = 0 ]
    [[ $output == *'could not be ended: processes of it work on, see '*'/cgroup.procs'* ]]
    place=${output##*see }
    grep -q . "$place"
    # Its own user, root, may.
    ! none_runs "$D/mark.members" || false
    echo 1 >"${place%procs}kill"
    within 10 none_runs "$D/mark.members"
}

both_killed_alone() {
    launch pair --ttl 5s -- sleep 300
    within 10 has_guardian "$started"
    guardian=$(guardian_of "$started")
    within 10 pgrep -P "$guardian"
    job=$(pgrep -P "$guardian")
    kill -9 "$started" "$guardian"
    within 10 gone "$job"
    next pair -w 20 -- true
    [ "$status" = 0 ]
}
@test "lockrun and guardian both killed: the command itself dies with them" {
    each_way both_killed_alone
}

guardian_killed() {
    local w=$D/w.guard
    launch guard --ttl 60s --grace 200ms -- bash "$D/hiding" "$w" "$D/mark.guard"
    appears "$w.up"
    kill -9 "$(guardian_of "$started")"
    ended "$started"
    [ "$status" = 137 ]
    [ "$(cat "$D/err.guard")" = 'lockrun: the guardian of the job was killed: the job is ended too' ]
    none_runs "$D/mark.guard"
    next guard -n -- true
    [ "$status" = 0 ]
}
@test "the guardian killed: said once, and the job is ended rather than left without one" {
    each_way guardian_killed
}

deaf_guardian() {
    launch deaf --ttl 60s -- sh -c 'touch "$1"; while [ ! -e "$1.stop" ]; do sleep 0.05; done; exit 4' x "$D/up.deaf"
    appears "$D/up.deaf"
    guardian=$(guardian_of "$started")
    for name in HUP INT QUIT USR1 USR2 ALRM TERM PIPE CHLD CONT TSTP TTIN IO; do
        kill -"$name" "$guardian"
    done
    # Woken again by lockrun.
    kill -STOP "$guardian"
    within 10 is_stopped "$guardian"
    awake() { ! is_stopped "$guardian"; }
    within 10 awake
    [ "$(guardian_of "$started")" = "$guardian" ]
    touch "$D/up.deaf.stop"
    ended "$started"
    [ "$status" = 4 ]
    [ ! -s "$D/err.deaf" ]
}
@test "what can be ignored the guardian ignores, and it is woken when somebody stops it" {
    each_way deaf_guardian
}

@test "F24: INT and TERM that a job is deaf to, then KILL: free without anybody's help" {
    cat >"$D/j" <<'END'
trap '' INT TERM
echo up >"$1"
while :; do sleep 0.1; done
END
    launch ci --ttl 6s -- sh "$D/j" "$D/up.ci"
    appears "$D/up.ci"
    kill -INT "$started"
    kill -TERM "$started"
    kill -9 "$started"
    next ci -w 30 -- true
    [ "$status" = 0 ]
    none_runs "$D/up.ci"
}

fork_bomb() {
    local mark=$D/mark.bomb
    cat >"$D/bomb" <<'END'
trap '' TERM
touch "$1.up"
i=0
while [ $i -lt 20000 ]; do
    (setsid sh -c 'sleep 300 & sleep 300' "$1" &)
    sleep 0.004
    i=$((i + 1))
done
END
    launch bomb --ttl 60s --grace 100ms -- sh "$D/bomb" "$mark"
    appears "$mark.up"
    pause 500000
    kill -9 "$started"
    within 10 none_runs "$mark"
    next bomb -w 10 -- true
    [ "$status" = 0 ]
}
@test "C31: a fork bomb whose lockrun is killed is gone, all of it" {
    each_way fork_bomb
}

@test "C30: a frozen job whose lockrun is killed is gone" {
    [ "$(id -u)" = 0 ] || skip 'only root may make a cgroup here'
    launch frozen --ttl 60s --grace 200ms --verbose -- bash "$D/hiding" "$D/w.frozen" "$D/mark.frozen"
    appears "$D/w.frozen.up"
    group=$(sed -n 's/.*gets the cgroup //p' "$D/err.frozen")
    [ -n "$group" ] || skip 'no cgroup of version 2 here'
    echo 1 >"$group/cgroup.freeze"
    within 5 grep -q 'frozen 1' "$group/cgroup.events"
    kill -9 "$started"
    within 10 none_runs "$D/mark.frozen"
    next frozen -w 10 -- true
    [ "$status" = 0 ]
    [ ! -e "$group" ]
}

@test "the guardian removes the cgroup of a killed run" {
    [ "$(id -u)" = 0 ] || skip 'only root may make a cgroup here'
    launch group2 --ttl 60s --verbose -- sleep 300
    within 10 grep -q 'started' "$D/err.group2"
    group=$(sed -n 's/.*gets the cgroup //p' "$D/err.group2")
    [ -n "$group" ] || skip 'no cgroup of version 2 here'
    [ -e "$group" ]
    kill -9 "$started"
    removed() { [ ! -e "$group" ]; }
    within 10 removed
}
