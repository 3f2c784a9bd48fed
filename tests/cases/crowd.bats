#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Many at once: all are served, in turn, and none is told a lie.
load ../cli/lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

@test "C26: 1,000 different keys in one second: all run" {
    ulimit -n 1024
    children=()
    for n in {1..1000}; do
        lockrun --key "t/n/k$n" -- sh -c 'echo $LOCK_TOKEN' >"out.$n" 2>"err.$n" 3>&- &
        children+=("$!")
    done
    for n in {1..1000}; do
        wait "${children[n - 1]}" || { cat "err.$n"; false; }
    done
    # A token for each, none twice.
    [ "$(cat out.* | sort -u | wc -l)" = 1000 ]
    [ -z "$(cat err.*)" ]
}

@test "C26: 1,000 on one key with a wait: all run, one at a time" {
    ulimit -n 1024
    children=()
    for n in {1..1000}; do
        lockrun --key t/n/k -w 600 -- sh -c 'mkdir inside && rmdir inside && echo $LOCK_TOKEN >>tokens' \
            2>"err.$n" 3>&- &
        children+=("$!")
    done
    for n in {1..1000}; do
        wait "${children[n - 1]}" || { cat "err.$n"; false; }
    done
    [ "$(wc -l <tokens)" = 1000 ]
    # In the order in which they ran, the tokens rise.
    sort -n -c tokens
    [ "$(sort -u tokens | wc -l)" = 1000 ]
    [ -z "$(cat err.*)" ]
}

@test "32 waiters are served in the order in which they came" {
    holds a t/n/k
    holder=$started
    children=()
    for n in {1..32}; do
        lockrun --key t/n/k -w 120 -- sh -c "echo $n >>order" 2>"err.$n" 3>&- &
        children+=("$!")
        within 20 says "\"waiting\":$n," lockctl show t/n/k --json
    done
    ends a "$holder"
    for n in {1..32}; do
        wait "${children[n - 1]}" || { cat "err.$n"; false; }
    done
    [ "$(cat order)" = "$(seq 32)" ]
}

@test "F31: a try never passes those who wait" {
    holds a t/n/k
    holder=$started
    children=()
    for n in 1 2 3 4 5; do
        lockrun --key t/n/k -w 60 -- sh -c "echo w$n >>order; sleep 0.2" 2>"err.$n" 3>&- &
        children+=("$!")
        within 20 says "\"waiting\":$n," lockctl show t/n/k --json
    done
    (
        while [ ! -e stop ]; do
            lockrun --key t/n/k -n --skip -- sh -c 'echo n >>order'
        done
    ) 3>&- &
    storm=$!
    pids+=("$storm")
    ends a "$holder"
    for n in 1 2 3 4 5; do wait "${children[n - 1]}"; done
    within 20 grep -qx n order
    touch stop
    wait "$storm"
    [ "$(head -n 5 order | tr '\n' ' ')" = 'w1 w2 w3 w4 w5 ' ]
}

@test "F26: killed while its child is being made, in 150 rounds: nothing lives on" {
    for n in {1..150}; do
        lockrun --key t/n/k --ttl 5s -- sleep "7${n}77" 2>/dev/null 3>&- &
        child=$!
        # Anywhere between the start and the job's first steps.
        sleep "0.00$((RANDOM % 10))"
        kill -9 "$child" 2>/dev/null || :
        wait "$child" 2>/dev/null || :
    done
    none_left() {
        local n
        for n in 1 40 75 110 150; do none_runs "sleep 7${n}77" || return 1; done
        ! grep -lazE '^7[0-9]{1,3}77$' /proc/[0-9]*/cmdline 2>/dev/null | grep -q .
    }
    within 15 none_left
    runs "${L[@]}" -w 20 -- true
    [ "$status" = 0 ]
}
