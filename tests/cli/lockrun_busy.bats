#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A key that is taken: the wait, the status, and the one line about the holder.
load lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

@test "C34: one line: program, pid, user, host, since when, note, and what shows more" {
    holds a t/n/k --note 'nightly work'
    runs "${L[@]}" -n -- touch ran
    [ "$status" = 75 ]
    [ ! -e ran ]
    [ "${#lines[@]}" = 1 ]
    [[ $output =~ ^lockrun:\ t/n/k\ is\ held\ by\ /[^\ ]*sh\ \(pid\ $started,\ uid\ $(id -u),\ host\ $(uname -n)\) ]]
    [[ $output =~ since\ 20[0-9][0-9]-[0-9-]{5}T[0-9:]{8}Z\ \([0-9]+s\ ago\) ]]
    [[ $output == *', note "nightly work"'* ]]
    [[ $output == *"lockctl --store=$HOLDFAST_STORE show t/n/k tells more" ]] ||
        [[ $output == *"lockctl show t/n/k tells more" ]]
    ends a "$started"
}

@test "one grant has one time, whichever part of a second it is asked in" {
    holds a t/n/k
    since=$(lockctl show --json t/n/k | sed -n 's/.*"since":"\([^"]*\)".*/\1/p' | head -n 1)
    [ -n "$since" ]
    for i in {1..10}; do
        runs "${L[@]}" -n --on-busy 'echo $LOCK_HOLDER_SINCE "$LOCK_REASON" >told' -- true
        [[ $output == *" since $since ("* ]] || { echo "$since: $output"; false; }
        within 10 grep -q "^$since t/n/k is held by .* since $since (" told
        rm told
        sleep 0.1
    done
    ends a "$started"
}

@test "the command that the line names is one that works" {
    holds a t/n/k
    runs lockrun "--store=$HOLDFAST_STORE" -n --key t/n/k -- true
    tail=${output##*; }
    runs ${tail% tells more}
    [ "$status" = 0 ]
    [[ $output == *t/n/k* ]]
    ends a "$started"
}

@test "F11: no argument of the holder's command is told, the script of a shell is" {
    mkfifo ready end
    printf 'echo >ready\nread -r x <end\n' >work.sh
    begins -- sh work.sh --password=hunter2
    read -r _ <ready
    runs "${L[@]}" -n -- true
    [ "$status" = 75 ]
    [[ $output != *hunter2* ]]
    [[ $output == *'sh work.sh (pid '* ]]
    echo >end
    ended "$started"
}

@test "the line is escaped and bounded, whatever the holder is called" {
    name=$'job\e[31m\n\xff'
    mkdir "$(printf 'd%.0s' {1..200})"
    cd d*
    printf '#!/bin/sh\necho >"%s/ready"; read -r x <"%s/end"\n' "$D" "$D" >"$name"
    chmod +x "$name"
    mkfifo "$D/ready" "$D/end"
    begins --note $'a\rb\xe2\x80\xaec' -- "./$name"
    read -r _ <"$D/ready"
    runs "${L[@]}" -n -- true
    [ "$status" = 75 ]
    [ "${#lines[@]}" = 1 ]
    [ "${#output}" -lt 700 ]
    [[ $output != *$'\e'* && $output != *$'\r'* && $output != *$'\xe2\x80\xae'* ]]
    [[ $output == *'/job\x1b[31m\n? (pid '* ]]
    echo >"$D/end"
    ended "$started"
}

@test "F06: -n is 75, --skip 0 and silent, -E what it says; nothing is ever run" {
    holds a t/n/k
    for row in '75 1 -n' '0 0 -n --skip' '0 1 -n -E 0' '99 1 -n -E 99' \
        '0 0 -w 0.2 --skip' '75 1 -w 0.2' '99 1 -w 0.2 -E 99' '75 1'; do
        read -r wanted said words <<<"$row"
        status=0
        "${L[@]}" $words -- touch ran >out 2>err || status=$?
        [ "$status" = "$wanted" ] || { echo "$row: $status"; false; }
        [ ! -s out ]
        [ "$(wc -l <err)" = "$said" ]
    done
    [ ! -e ran ]
    ends a "$started"
    for words in -n '-n --skip' '-n -E 9' ''; do
        runs "${L[@]}" $words -- sh -c 'exit 3'
        [ "$status" = 3 ]
    done
}

@test "C07: a wait that ran out is busy, and took as long as it was to take" {
    holds a t/n/k
    before=$EPOCHREALTIME
    runs "${L[@]}" -w 1 -- touch ran
    after=$EPOCHREALTIME
    [ "$status" = 75 ]
    [ ! -e ran ]
    # Never less; how much more says only how busy this machine is.
    [ $((${after/./} - ${before/./})) -ge 1000000 ]
    ends a "$started"
}

@test "the class says how long to wait when nobody does" {
    printf 'wait: {default: 60s, max: 1h}\n' >"$D/classes/patient.yaml"
    holds a t/n/k
    holder=$started
    lockrun --class patient --key t/n/k -- touch ran 3>&- &
    started=$!
    pids+=("$started")
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    ends a "$holder"
    ended "$started"
    [ "$status" = 0 ]
    [ -e ran ]
}

@test "-w forever waits as long as the class allows, and not longer" {
    printf 'wait: {default: 0s, max: 1s}\n' >"$D/classes/hasty.yaml"
    holds a t/n/k
    runs lockrun --class hasty --key t/n/k -w forever -- touch ran
    [ "$status" = 75 ]
    runs lockrun --class hasty --key t/n/k -w 2s -- touch ran
    [ "$status" = 64 ]
    [ ! -e ran ]
    holder=$started
    lockrun --key t/n/k -w forever -- touch ran 3>&- &
    started=$!
    pids+=("$started")
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    ends a "$holder"
    ended "$started"
    [ "$status" = 0 ]
    [ -e ran ]
}

@test "--watch waits, and tells who holds the key at the start, once" {
    holds a t/n/k --note first
    first=$started
    begins --watch -- touch ran
    watcher=$started
    within 10 grep -q 'waiting: t/n/k is held by .* note "first"' err
    # It looks every second; what it sees is no news.
    sleep 2.2
    [ "$(wc -l <err)" = 1 ]
    ends a "$first"
    ended "$watcher"
    [ "$status" = 0 ]
    [ -e ran ]
}

@test "--watch tells of the next holder too" {
    holds a t/n/k --note first
    first=$started
    mkfifo next.ready next.end
    starts next --key t/n/k -w 60 --note second -- sh -c 'echo >next.ready; read -r x <next.end'
    next=$started
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    begins --watch -- touch ran
    watcher=$started
    within 10 grep -q 'note "first"' err
    ends a "$first"
    read -r _ <next.ready
    within 10 grep -q 'waiting: t/n/k is held by .* note "second"' err
    echo >next.end
    ended "$watcher"
    [ "$status" = 0 ]
    [ -e ran ]
}

@test "--skip goes before -E, and --watch with -w watches for so long" {
    holds a t/n/k
    for words in '--skip -E 3' '-E 3 --skip'; do
        runs "${L[@]}" -n $words -- touch ran
        [ "$status" = 0 ]
        [ -z "$output" ]
    done
    runs "${L[@]}" --watch -w 4 -- touch ran
    [ "$status" = 75 ]
    [[ $output == 'lockrun: waiting: t/n/k is held by '*'place 1 in the queue'* ]]
    runs "${L[@]}" --watch -n -- touch ran
    [ "$status" = 75 ]
    [[ $output != *waiting:* ]]
    [ ! -e ran ]
}

@test "a wait tells its place in the queue when it is over" {
    holds a t/n/k
    waits b t/n/k
    runs "${L[@]}" -w 0.3 -- true
    [ "$status" = 75 ]
    [[ $output == *'place 2 in the queue'* ]]
    # Who does not wait has none.
    runs "${L[@]}" -n -- true
    [ "$status" = 75 ]
    [[ $output == *'; 1 waits;'* ]]
    runs "${L[@]}" -- true
    [ "$status" = 75 ]
    [[ $output == *'; 1 waits;'* ]]
}

@test "F14: a pid of another namespace is not passed off as one of ours" {
    unshare -Urpf --mount-proc true 2>/dev/null || skip 'no user namespaces here'
    mkdir ns
    mkfifo ready end
    unshare -Urpf --mount-proc lockrun "--store=$D/ns/db" --key t/n/k -- \
        sh -c 'echo >ready; read -r x <end' 3>&- &
    outer=$!
    pids+=("$outer")
    read -r _ <ready
    runs unshare -Urpf --mount-proc lockrun "--store=$D/ns/db" -n --key t/n/k -- true
    [ "$status" = 75 ]
    [[ $output == *'(pid 1 in another pid namespace,'* ]]
    echo >end
    wait "$outer"
}

@test "shared holders keep an exclusive one away, and are told as such" {
    printf 'mode: shared\n' >"$D/classes/both.yaml"
    holds a t/n/k --class both -s
    runs lockrun --class both --key t/n/k -n -s -- true
    [ "$status" = 0 ]
    runs lockrun --class both --key t/n/k -n -- true
    [ "$status" = 75 ]
    [[ $output == *'is held, shared, by'* ]]
    ends a "$started"
    printf 'mode: exclusive\n' >"$D/classes/alone.yaml"
    runs lockrun --class alone --key t/n/k -s -- touch ran
    [ "$status" = 77 ]
    [[ $output == *'exclusive'* ]]
    [ ! -e ran ]
}

queued() { [ "$(lockctl queue --json t/n/k | grep -o '"place":' | wc -l)" = "$1" ]; }
@test "a wait that is over while a killed holder ends is over: it does not begin anew" {
    begins --grace 10s -- sh -c 'trap "" TERM; : >up; until [ -e end ]; do sleep 0.02; done'
    holder=$started
    appears up
    begins -w 1h -- sleep 300
    first=$started
    within 20 queued 1
    begins -w 12s -- touch ran
    second=$started
    within 20 queued 2
    kill -9 "$holder"
    # Its time runs out, and it waits for the holder's end, for half a second.
    within 30 queued 1
    : >end
    within 9 gone "$second"
    ended "$second"
    [ "$status" = 75 ]
    [ ! -e ran ]
    kill "$first"
    ended "$first"
}
