#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Who wakes up after its lease has run out: a waiter that was granted nothing any
# more, a holder that lets go of what is another's.
load ../cli/lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

@test "F09: a waiter that slept beyond its lease does not run beside the next one" {
    holds a t/n/k
    holder=$started
    begins --ttl 5s -w 60 -- sh -c 'mkdir inside && echo "w $LOCK_TOKEN" >>order && rmdir inside'
    waiter=$started
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    kill -STOP "$waiter"
    # The key is handed over to one who does not wake in time.
    ends a "$holder"
    holds n t/n/k -w 30
    second=$started
    echo "n $(token_of t/n/k)" >>order
    mkdir inside
    kill -CONT "$waiter"
    # Back in the queue, or ended with 69: not at work.
    is_out() { gone "$waiter" || says '"waiting":1,' lockctl show t/n/k --json; }
    within 15 is_out
    rmdir inside
    ends n "$second"
    ended "$waiter"
    case $status in
    0)
        [ "$(cut -d ' ' -f 1 order | tr '\n' ' ')" = 'n w ' ]
        grep -q 'the lease with which t/n/k was asked for is over' err
        ;;
    69) [ "$(wc -l <order)" = 1 ] ;;
    *) echo "status $status"; cat err order; false ;;
    esac
    # In the order of the lines the tokens rise.
    cut -d ' ' -f 2 order | sort -n -c
    is_free
}

@test "F17: a holder that was overtaken frees nothing that is the next one's" {
    setsid lockrun --key t/n/k --ttl 5s -- sh -c 'touch up; while [ ! -e go ]; do sleep 0.05; done' 2>err 3>&- &
    first=$!
    pids+=("$first")
    appears up
    kill -STOP -- "-$first"
    holds b t/n/k -w 30
    second=$started
    token=$(token_of t/n/k)
    touch go
    kill -CONT -- "-$first"
    ended "$first"
    [ "$status" = 79 ] || { echo "$status"; cat err; false; }
    # The key is the second one's still, under the same grant.
    runs "${L[@]}" -n -- touch third
    [ "$status" = 75 ]
    [ ! -e third ]
    [ "$(token_of t/n/k)" = "$token" ]
    ends b "$second"
    is_free
}
