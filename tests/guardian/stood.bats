#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A run stands still beyond its lease, from the nth call on that lockrun or its
# guardian makes: wherever that is, never two at once, no status without its
# reason, and what nobody took meanwhile goes on.
# HF_EVERY: only each so manieth call is tried; `make long` tries every one.
load guardian

every=${HF_EVERY:-3}
stand=$HF_BUILD/tests/guardian/stand
at_once=40

setup() {
    guardian_setup
    "$stand" lockrun 1 one 1 "$D/probe" true 2>/dev/null || [ $? != 201 ] ||
        skip 'no process may be traced here'
}
teardown() {
    cd /
    guardian_teardown
}

# What is there after a try in folder $at; 0 if all is as it should be.
judge() { # STATUS WITH TAKEN
    local said order
    said=$(grep -v 'the job was stopped$' "$at/err")
    order=$(paste -s -d ' ' "$at/turns")
    case $1 in
    0) [[ $order == *'first end'* ]] || { echo 'it did not run'; return 1; } ;;
    79) [ -n "$said" ] || { echo 'nobody says why'; return 1; } ;;
    *) echo 'no such status is documented'; return 1 ;;
    esac
    if [ -n "$3" ]; then
        [[ $order == *'second begin'*'second end'* ]] || { echo 'no second'; return 1; }
        # The moment in which all go on is the fence's (stop.bats tells how long).
        [ "$2" = all ] || [[ $order != *'second begin'*'first '*'second end'* ]] ||
            { echo 'two at once'; return 1; }
    elif [ "$2" = all ] && [ -s "$at/had_begun" ] && [ "$1" != 0 ]; then
        echo 'nobody took it, and it does not go on'
        return 1
    fi
}

stood_once() { # WHOSE NTH WITH TAKEN
    local at=$D/$1.$2.$3.$4 tries=0 turn lock
    mkdir "$at"
    : >"$at/turns"
    [ -z "${AS-}" ] || chown -R 65534:65534 "$at"
    lock=(lockrun --store="$at/db" --key t/n/k --ttl 5s --grace 500ms -w 60)
    ${AS-} "${lock[@]}" -- true
    turn='echo "$1 begin" >>"$2/turns"; sleep 2.2; echo "$1 end" >>"$2/turns"'
    ${AS-} "$stand" "$1" "$2" "$3" 6500 "$at/stood" "${lock[@]}" \
        -- sh -c "$turn" x first "$at" 2>"$at/err" 3>&- &
    started=$!
    until [ -e "$at/stood" ] || ! kill -0 "$started" 2>/dev/null || [ $((++tries)) -gt 300 ]; do
        pause 100000
    done
    grep begin "$at/turns" >"$at/had_begun" || :
    if [ -n "$4" ] && [ -e "$at/stood" ]; then
        runs ${AS-} "${lock[@]}" -- sh -c \
            'echo second begin >>"$1/turns"; until [ -e "$1/stood.on" ]; do sleep 0.1; done; sleep 0.4; echo second end >>"$1/turns"' x "$at"
        [ "$status" = 0 ] || echo "$*: the second one: $status $output"
    fi
    ended "$started"
    echo "$* ${AS:+user}: status $status, $(paste -s -d ' ' "$at/turns")"
    [ "$status" != 200 ] || { : >"$D/last.$1"; return 0; }
    judge "$status" "$3" "$4" || { cat "$at/err"; return 1; }
}

# stood WHOSE WITH [TAKEN]
stood() {
    local nth n=0
    for ((nth = 1; nth < 600; nth += every)); do
        [ ! -e "$D/last.$1" ] || break
        ((++n <= at_once)) || wait -n || :
        { stood_once "$1" "$nth" "$2" "${3-}" || : >"$D/failed"; } >"$D/$1.$nth.said" 2>&1 &
    done
    wait
    cat "$D/$1".*.said
    [ "$nth" -gt 20 ]
    [ ! -e "$D/failed" ]
}

@test "all stand from any call of lockrun on, and another takes the key" {
    each_way stood lockrun all taken
}
@test "all stand from any call of lockrun on, and nobody takes the key" {
    each_way stood lockrun all
}
@test "lockrun and its group stand from any of its calls on" {
    each_way stood lockrun group taken
}
@test "lockrun alone stands from any of its calls on" {
    each_way stood lockrun one taken
}
@test "all stand from any call of the guardian on, and another takes the key" {
    each_way stood guardian all taken
}
@test "all stand from any call of the guardian on, and nobody takes the key" {
    each_way stood guardian all
}
@test "the guardian alone stands from any of its calls on" {
    each_way stood guardian one
}
