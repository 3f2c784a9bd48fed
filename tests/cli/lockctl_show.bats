#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockctl show: who holds a key, who waits, and why in one sentence.
load lockctl

setup() { lockctl_setup; }
teardown() { lockctl_teardown; }

why() { lockctl show "$1" | sed -n 's/^why  *//p'; }

@test "a free key is free" {
    a_store
    run lockctl show t/n/k
    [ "$status" = 0 ]
    [ "${lines[0]}" = 'key       t/n/k' ]
    [ "${lines[1]}" = 'why       free: nobody holds it, and nobody waits' ]
    [ "${#lines[@]}" = 2 ]
}

@test "a name alone is a key of the default tenant and namespace" {
    a_store
    run lockctl show backup
    [ "${lines[0]}" = 'key       local/default/backup' ]
}

@test "C23: what is no key is refused with its place, and the terminal stays clean" {
    a_store
    long=$(printf 'x%.0s' {1..200})
    for key in 'a b' $'a\nb' $'a\eb' 'а/b/c' 'a/../b' 'a//b' '/a/b' 'a/b' '' \
        "a/b/$long" "a/b/c/$long$long$long"; do
        run lockctl show -- "$key"
        [ "$status" = 64 ]
        [ "${#lines[@]}" = 1 ]
        [[ $output == 'lockctl: '*key* ]]
        [[ $output != *$'\e'* ]]
    done
    run lockctl show -- -rf
    [ "${lines[0]}" = 'key       local/default/-rf' ]
}

@test "C34: host, user, pid, program, note and since of the holder are told" {
    holds a t/n/k --note 'nightly work'
    run lockctl show t/n/k
    [ "$status" = 0 ]
    [[ ${lines[1]} =~ ^why\ +held\ by\ a\ live\ job\ for\ [0-9]+s$ ]]
    [[ $output == *"holder    $(hostname), pid $started, user $(id -u) ($(id -un)), which is you"* ]]
    [[ $output =~ program\ +/[^\ ]*sh ]]
    [[ $output == *'note      nightly work'* ]]
    [[ $output == *'class     batch, exclusive'* ]]
    [[ $output =~ since\ +20[0-9-]+T[0-9:]+Z,\ [0-9]+s\ ago ]]
    [[ $output =~ lease\ +1m,\ renewed\ [0-9]+s\ ago,\ [0-9ms]+\ left\ \(live\) ]]
    [[ $output =~ deadline\ +in\ [0-9ms]+,\ unless\ it\ is\ renewed ]]
    [[ $output =~ token\ +[0-9]+\ \(epoch\ 1,\ revision\ [0-9]+\) ]]
    [[ $output =~ processes\ $started\ lockrun,.*\ $job\ sh ]]
    run lockctl show t/n/k --json
    [[ $output == "{\"store\":\"$D/store/db\",\"sealed\":false,\"key\":\"t/n/k\",\"why\":\"held by a live job for "*'"holders":[{"state":"live","mode":"exclusive","token":"'* ]]
    [[ $output == *"\"host\":\"$(hostname)\",\"pid\":$started,\"uid\":$(id -u),\"program\":\"/"* ]]
    [[ $output == *'"note":"nightly work","since":"20'* ]]
    [[ $output == *'"waiters":[],"kept":[],"waiting":0,"more":false,"see_also":[]}' ]]
}

@test "the processes of each who shares a key are told, and the deadline to programs, too" {
    for n in a b; do
        starts "$n" -s --key t/n/k -- sh -c 'echo $$ >"$1.new"; mv "$1.new" "$1"; exec sleep 300' x "$D/pid.$n"
        within 10 test -e "$D/pid.$n"
    done
    run lockctl show t/n/k
    for n in a b; do
        [[ $output =~ processes\ [0-9]+\ lockrun,.*\ $(cat "$D/pid.$n")\ sleep ]] || { echo "$output"; false; }
    done
    run lockctl show t/n/k --json
    for n in a b; do
        [[ $output == *"{\"pid\":$(cat "$D/pid.$n"),\"state\":\"S\",\"name\":\"sleep\"}"* ]] || { echo "$output"; false; }
    done
    [[ $output =~ \"deadline_in_ms\":[0-9]+, ]]
}

@test "the token is the job's own" {
    starts a --key t/n/k -- sh -c "echo \$LOCK_TOKEN >$D/token; exec sleep 300"
    within 10 test -s "$D/token"
    [ "$(token_of t/n/k)" = "$(cat "$D/token")" ]
}

@test "F11: nobody is shown the arguments of a command" {
    mkfifo "$D/ready"
    starts a --key t/n/k -- sh -c 'echo >"$1"; exec sleep 300' x "$D/ready" \
        --password=hunter2
    read -r _ <"$D/ready"
    for command in 'show t/n/k' 'show t/n/k --json' 'ls' 'ls --json'; do
        run lockctl $command
        [[ $output == *t/n/k* && $output != *hunter2* ]]
    done
    run grep -c hunter2 "$D/store/db"
    [ "$output" = 0 ]
}

@test "waiters are listed in their order" {
    holds a t/n/k
    waits b t/n/k --note first
    waits c t/n/k --note second
    run lockctl show t/n/k
    [[ ${lines[1]} =~ ^why\ +held\ by\ a\ live\ job\ for\ [0-9]+s\;\ 2\ wait$ ]]
    [[ ${lines[-4]} == 'queue     2' ]]
    [[ ${lines[-3]} =~ ^PLACE\ +STATE\ +MODE\ +HOST\ +PID ]]
    [[ ${lines[-2]} =~ ^\ +1\ +live\ +exclusive\ .*first$ ]]
    [[ ${lines[-1]} =~ ^\ +2\ +live\ +exclusive\ .*second$ ]]
    run lockctl show t/n/k --json
    [[ $output == *'"waiters":[{"state":"live","mode":"exclusive","place":1,'*'"note":"first"'*'"place":2,'*'"note":"second"'* ]]
}

@test "a holder that was killed with its job is dead by the kernel's word" {
    holds a t/n/k
    proof='its holder is dead by the kernel'"'"'s word: the next one gets it at once'
    kill -9 "$started" "$job"
    within 10 gone "$job"
    within 10 says "$proof" why t/n/k
    run lockctl ls
    [[ ${lines[1]} =~ ^t/n/k\ +dead\ .*\ over\  ]]
}

@test "of processes that closed what they inherited the lease alone is known" {
    leaves_unproved t/n/k
    [[ $(why t/n/k) =~ ^nothing\ is\ known\ of\ its\ processes:\ free\ when\ the\ lease\ ends\ in\ [0-9]+s,\ unless\ it\ is\ renewed$ ]]
    run lockctl ls
    [[ ${lines[1]} =~ ^t/n/k\ +lease\  ]]
}

@test "a lockrun that was stopped is named, with what to do" {
    holds a t/n/k
    kill -STOP "$started"
    within 10 says "which renews its lease, is stopped" why t/n/k
    [[ $(why t/n/k) == *", but pid $started, which renews its lease, is stopped (kill -CONT $started)" ]]
    run lockctl show t/n/k
    [[ $output =~ processes\ $started\ lockrun\ \(stopped\),.*\ $job\ sh ]]
    kill -CONT "$started"
    within 10 says "held by a live job" why t/n/k
}

@test "a lockrun that is gone is said to be, and what it left is named, to be killed" {
    cat >"$D/script" <<'END'
echo $$ >"$1"
exec sleep 300
END
    mkfifo "$D/ready"
    starts a --key t/n/k -- sh -c 'setsid sh "$1" "$2" & exec sleep 300' x "$D/script" "$D/ready"
    read -r left <"$D/ready"
    token=$(token_of t/n/k)
    kills_both "$started"
    # Dead it is not waited for, and yet gone.
    within 10 says ", but pid $started, which renewed its lease, is gone" why t/n/k
    # Until it is sleep it is the shell that becomes it.
    within 10 says "processes $left sleep" lockctl show t/n/k
    run lockctl release t/n/k --token "$token"
    [ "$status" = 75 ]
    [[ $output == *"stop it, and the key is free (on $(hostname): kill $left); it is held by "* ]]
    kill "$left"
    within 10 lockrun -n --key t/n/k -- true 2>/dev/null
}

@test "a free key whose name others end with is told with them" {
    printf '#!/bin/sh\nread -r x <"$1"\n' >"$D/backup"
    chmod +x "$D/backup"
    mkfifo "$D/end"
    starts a -- "$D/backup" "$D/end"
    its=local/batch$D/backup
    within 10 says "see also  $its" lockctl show backup
    run lockctl show backup
    [ "${lines[1]}" = 'why       free: nobody holds it, and nobody waits' ]
    [ "${#lines[@]}" = 3 ]
    run lockctl show backup --json
    [[ $output == *",\"see_also\":[\"$its\"]}" ]]
    run lockctl show ackup
    [ "${#lines[@]}" = 2 ]
    run lockctl show "$its"
    [[ $output != *'see also'* ]]
    echo >"$D/end"
}

@test "a lease that is over is told, though its processes live" {
    holds a t/n/k --ttl 5s
    kill -STOP "$started"
    within 15 says 'its lease ended' why t/n/k
    [[ $(why t/n/k) =~ ^its\ lease\ ended\ [0-9]+s\ ago,\ though\ a\ process\ of\ it\ lives\ \(stopped,\ or\ starved\):\ the\ next\ one\ gets\ it\ at\ once$ ]]
    run lockctl ls
    [[ ${lines[1]} =~ ^t/n/k\ +lapsed\  ]]
}

@test "shared holders each have a paragraph" {
    holds a t/n/k -s --note one
    holds b t/n/k -s --note two
    run lockctl show t/n/k
    [[ ${lines[1]} == 'why       held shared by 2, 2 of them live: an exclusive one gets it when they are done' ]]
    [ "$(grep -c ^holder <<<"$output")" = 2 ]
    [[ $output == *'note      one'*'note      two'* ]]
}
