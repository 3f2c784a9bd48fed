#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Where flock(1) has the letter, it means here what it means there: each is
# tried on both, side by side.
load lockrun

setup() {
    lockrun_setup
    command -v flock >/dev/null || skip 'no flock(1) here'
    cat >"$D/classes/both.yaml" <<'END'
mode: shared
key: "local/both/{command path}"
wait: {default: 0s, max: 24h}
END
}
teardown() { lockrun_teardown; }

# held MODE: t/n/k and the file `lock` are both held, by jobs that wait.
held() {
    holds a t/n/k --class both "$1"
    mkfifo b.ready b.end
    flock "$1" lock sh -c 'echo >b.ready; read -r x <b.end' 3>&- &
    other=$!
    pids+=("$other")
    read -r _ <b.ready
}
let_go() {
    ends a "$started"
    echo >b.end
    within 10 gone "$other"
    rm -f {a,b}.{ready,end}
}

# both STATUS WORD... -- COMMAND...: lockrun and flock end alike. flock names
# the file where lockrun has a key; -c stands behind it there.
both() {
    local wanted=$1 mine=() theirs=() status
    shift
    while [ "$1" != -- ]; do
        mine+=("$1")
        theirs+=("$1")
        shift
    done
    shift
    status=0
    flock "${theirs[@]}" lock "$@" >out.flock 2>/dev/null || status=$?
    [ "$status" = "$wanted" ] || { echo "flock ${theirs[*]}: $status"; return 1; }
    case $1 in
    -c | --command) ;;
    *) mine+=(--) ;;
    esac
    status=0
    lockrun --key t/n/k --class both "${mine[@]}" "$@" >out.lockrun \
        2>/dev/null || status=$?
    [ "$status" = "$wanted" ] || { echo "lockrun ${mine[*]}: $status"; return 1; }
    cmp out.flock out.lockrun
}

@test "-n --nb --nonblock: do not wait, and -E is the status" {
    both 0 -n -- echo free
    held -x
    for letter in -n --nb --nonblock; do
        both 9 "$letter" -E 9 -- echo no
        both 9 "$letter" --conflict-exit-code 9 -- echo no
        both 9 "$letter" --conflict-exit-code=9 -- echo no
    done
    let_go
    both 0 -n -E 9 -- echo free
}

@test "-w --wait --timeout: wait so long, fractions too, then -E is the status" {
    held -x
    for letter in -w --wait --timeout; do
        both 9 -E 9 "$letter" 0.3 -- echo no
    done
    both 9 -E 9 -w 0 -- echo no
    let_go
    both 0 -w 5 -- echo free
}

@test "-w waits for one that lets go" {
    held -x
    lockrun --key t/n/k --class both -w 20 -- echo yes >out.lockrun 3>&- &
    a=$!
    flock -w 20 lock echo yes >out.flock 3>&- &
    b=$!
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    let_go
    wait "$a"
    wait "$b"
    cmp out.flock out.lockrun
}

@test "-n goes before -w, wherever it stands" {
    held -x
    for words in '-n -w 30' '-w 30 -n'; do
        both 9 -E 9 $words -- echo no
    done
    let_go
}

@test "-s --shared: together with shared ones, not with others" {
    held -s
    for letter in -s --shared; do
        both 0 -n "$letter" -- echo together
    done
    both 9 -n -E 9 -- echo no
    both 9 -n -E 9 -x -- echo no
    let_go
}

@test "-x -e --exclusive: alone, which is what is meant without a letter" {
    held -x
    both 9 -n -E 9 -s -- echo no
    let_go
    held -s
    for letter in -x -e --exclusive ''; do
        both 9 -n -E 9 $letter -- echo no
    done
    let_go
}

@test "the last of -s and -x counts" {
    held -s
    both 0 -n -x -s -- echo together
    both 9 -n -E 9 -s -x -- echo no
    let_go
}

@test "letters stand together, and take their value with or without a blank" {
    held -x
    both 9 -nE9 -- echo no
    both 9 -sn -E 9 -- echo no
    both 9 -w0.2 -E9 -- echo no
    let_go
}

@test "-c --command: one line, by the shell" {
    for letter in -c --command; do
        both 0 -- "$letter" 'echo $((6 * 7)) "$0" $#'
        both 5 -- "$letter" 'exit 5'
    done
    SHELL=/bin/sh both 0 -- -c 'echo "$0"'
    both 64 -- -c 'echo a' b
}

@test "--verbose tells on standard error, or standard output there, and runs" {
    both 0 -n -- sh -c 'echo same'
    run lockrun --key t/n/k --verbose -- true
    [ "$status" = 0 ]
    [ -n "$output" ]
}

@test "the status of the command is handed on, also that of a signal" {
    for number in 0 1 63 127 200 255; do
        both "$number" -- sh -c "exit $number"
    done
    both 143 -- sh -c 'kill -TERM $$'
    both 137 -- sh -c 'kill -KILL $$'
}

@test "who names a lock file is told to name a key" {
    : >used
    runs lockrun -n ./used -c 'touch ran'
    [ "$status" = 126 ]
    [ "$output" = 'lockrun: ./used: Permission denied (the first word is the command; instead of a lock file say --key=NAME)' ]
    for name in ./new.lock new.lock /run/lock/new.lck; do
        runs lockrun -n "$name" touch ran
        [ "$status" = 127 ]
        [[ $output == *'say --key=NAME)' ]]
    done
    [ ! -e ran ]
    # A script that is not executable is none.
    echo '#!/bin/sh' >script
    runs lockrun -n ./script
    [ "$status" = 126 ]
    [ "$output" = 'lockrun: ./script: Permission denied' ]
}
