#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockctl watch: each change as a line, with its cause.
load lockctl

setup() { lockctl_setup; }
teardown() { lockctl_teardown; }

# watches [OPTION...] [KEY]: one in the background that has begun; its lines go
# to $D/seen, its pid is $watcher.
watches() {
    lockctl watch "$@" >"$D/seen" 2>"$D/watch.err" 3>&- &
    watcher=$!
    pids+=("$watcher")
    if [[ " $* " == *' --json '* ]]; then
        within 10 says '"change":"watching"' cat "$D/seen"
    else
        within 10 says '^C ends it' cat "$D/watch.err"
    fi
}

# The words of --json, in order: "granted released".
changes() { sed -n 's/.*"change":"\([^"]*\)".*/\1/p' "$D/seen" | tr '\n' ' '; }
changes_are() { [ "$(changes)" = "watching $* " ]; }

@test "a grant and its release are lines with time, cause, key and who" {
    watches
    lockrun --key t/n/k --note 'a note' -- true
    within 10 says released cat "$D/seen"
    run cat "$D/seen"
    [ "${#lines[@]}" = 2 ]
    [[ ${lines[0]} =~ ^20[0-9-]+T[0-9:]+Z\ \ granted\ +t/n/k\ \ pid\ [0-9]+\ \ token\ [0-9]+\ \ $(hostname)\ \ [^\ ]*/true\ \ a\ note$ ]]
    [[ ${lines[1]} =~ ^20[0-9-]+T[0-9:]+Z\ \ released\ +t/n/k\ \ pid\  ]]
}

@test "a hand-over, a wait and who gave up are told apart" {
    watches --json
    holds a t/n/k
    first=$started
    waits b t/n/k
    run lockrun --key t/n/k -w 0.2 -- true
    [ "$status" = 75 ]
    ends a "$first"
    within 15 changes_are granted queued queued left handed-over released
}

@test "who died while it held is told when somebody asks" {
    watches --json
    holds a t/n/k
    kill -9 "$started"
    within 10 gone "$started"
    kill -9 "$job" 2>/dev/null || :
    within 10 gone "$job"
    within 15 lockrun --key t/n/k -- true
    within 15 changes_are granted ended granted released
}

@test "in words, it is not said that a lease ran out where a job may have died" {
    watches
    holds a t/n/k
    kill -9 "$started"
    within 10 gone "$started"
    kill -9 "$job" 2>/dev/null || :
    within 10 gone "$job"
    within 15 lockrun --key t/n/k -- true
    within 15 says 'ended: lapsed or died  t/n/k  pid' cat "$D/seen"
}

@test "a waiter that died is told" {
    watches --json
    holds a t/n/k
    first=$started
    waits b t/n/k
    kill -9 "$started"
    within 10 gone "$started"
    ends a "$first"
    run lockrun --key t/n/k -w 10 -- true
    [ "$status" = 0 ]
    within 15 says '"change":"wait-ended"' cat "$D/seen"
}

@test "a key that is kept says so" {
    watches --json
    lockrun --key t/n/k --hold-min 2s -- true
    within 15 changes_are granted kept released
}

@test "an advance of the epoch is the cause" {
    holds a t/n/k
    watches --json
    lockctl epoch advance --yes --now --why test
    within 15 changes_are outdated
}

@test "one key, or a beginning of keys" {
    watches --json t/n/k
    lockrun --key t/n/k2 -- true
    lockrun --key t/n/k/deeper -- true
    lockrun --key t/n/k -- true
    within 15 changes_are granted released
    kill "$watcher"
    within 10 gone "$watcher"
    watches --json t/n/
    lockrun --key t/other/k -- true
    lockrun --key t/n/x -- true
    within 15 changes_are granted released
}

@test "--count ends it" {
    watches --count 3 --json
    for i in 1 2 3; do lockrun --key t/n/k -- true; done
    wait "$watcher"
    changes_are granted released granted
}

@test "^C ends it, and nothing is left behind" {
    holds a t/n/k
    before=$(ls -A "$D/store")
    set -m
    watches
    set +m
    [ "$(ls -A "$D/store")" = "$before" ]
    kill -INT "$watcher"
    within 10 gone "$watcher"
    [ "$(ls -A "$D/store")" = "$before" ]
}

@test "who reads no more is not written to for ever" {
    lockctl watch --json t/n/k 2>/dev/null 3>&- > >(head -n 1 >"$D/seen" 3>&-) &
    watcher=$!
    pids+=("$watcher")
    within 10 gone "$watcher"
    [[ $(cat "$D/seen") == *'"change":"watching"'* ]]
}

@test "a store that is not there yet is waited for, and not made" {
    watches --json
    [ -z "$(ls -A "$D/store")" ]
    lockrun --key t/n/k -- true
    within 15 changes_are granted released
}

@test "each line of --json is a document with the fields of the others" {
    watches --json
    holds a t/n/k --note n
    within 15 changes_are granted
    run tail -n 1 "$D/seen"
    [[ $output =~ ^\{\"time\":\"20[0-9-]+T[0-9:.]+Z\",\"change\":\"granted\",\"key\":\"t/n/k\",\"at_revision\":\"[0-9]+\" ]]
    [[ $output == *"\"token\":\"$(token_of t/n/k)\""* ]]
    for field in mode class host pid uid program note since session grant; do
        [[ $output == *"\"$field\":"* ]]
    done
}

@test "a narrow terminal loses what is missed least" {
    export COLUMNS=70
    watches
    lockrun --key t/n/k --note 'a long note that does not fit' -- true
    within 10 says released cat "$D/seen"
    run cat "$D/seen"
    [[ ${lines[0]} == *' t/n/k  pid '* && ${lines[0]} != *note* ]]
    [ "${#lines[0]}" -le 70 ]
}

@test "a stranger's note cannot move the cursor" {
    watches
    lockrun --key t/n/k --note $'x\e[2Jy' -- true
    within 10 says released cat "$D/seen"
    [[ $(cat "$D/seen") != *$'\e'* && $(cat "$D/seen") == *'x\x1b[2Jy'* ]]
}

@test "what no key begins with is refused" {
    for what in t//  't/n k' t/n; do
        run lockctl watch -- "$what"
        [ "$status" = 64 ]
    done
    run lockctl watch --count 0
    [ "$status" = 64 ]
}
