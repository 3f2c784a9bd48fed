#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockctl queue: who waits, in order.
load lockctl

setup() { lockctl_setup; }
teardown() { lockctl_teardown; }

@test "without a waiter it is empty" {
    a_store
    run lockctl queue
    [ "$status" = 0 ]
    [ "$output" = "" ]
    holds a t/n/k
    run lockctl queue t/n/k
    [ "$output" = "" ]
    run lockctl queue --json
    [ "$output" = "{\"store\":\"$D/store/db\",\"waiters\":[],\"waiting\":0,\"more\":false}" ]
}

@test "waiters stand in the order in which they came, with who and since when" {
    holds a t/n/k
    waits b t/n/k --note 'the first'
    first=$started
    waits c t/n/k
    second=$started
    run lockctl queue t/n/k
    [ "$status" = 0 ]
    [ "${#lines[@]}" = 3 ]
    [[ ${lines[0]} =~ ^PLACE\ +STATE\ +MODE\ +HOST\ +PID\ +USER\ +PROGRAM\ +SINCE\ +WAITED\ +LEASE\ +NOTE$ ]]
    [[ ${lines[1]} =~ ^\ +1\ +live\ +exclusive\ +$(hostname)\ +$first\ +$(id -u)\ +[^\ ]*/true\ +20[0-9-]+T[0-9:]+Z\ +[0-9]+s\ +[0-9ms]+\ +the\ first$ ]]
    [[ ${lines[2]} =~ ^\ +2\ +live\ +exclusive\ +$(hostname)\ +$second\  ]]
}

@test "without a key those of all keys are told, each key with its own places" {
    holds a t/n/k
    holds b t/n/other
    waits c t/n/other
    waits d t/n/k
    waits e t/n/k -s
    run lockctl queue
    [ "${#lines[@]}" = 4 ]
    [[ ${lines[0]} == KEY\ * ]]
    [[ ${lines[1]} =~ ^t/n/k\ +1\ +live\ +exclusive\  ]]
    [[ ${lines[2]} =~ ^t/n/k\ +2\ +live\ +shared\  ]]
    [[ ${lines[3]} =~ ^t/n/other\ +1\  ]]
}

@test "a name alone is a key of the default home" {
    holds a k
    waits b k
    run lockctl queue k
    [ "${#lines[@]}" = 2 ]
}

@test "JSON has the same fields" {
    holds a t/n/k
    waits b t/n/k --note n
    run lockctl queue t/n/k --json
    [ "$status" = 0 ]
    [[ $output == "{\"store\":\"$D/store/db\",\"waiters\":[{\"key\":\"t/n/k\",\"state\":\"live\",\"mode\":\"exclusive\",\"place\":1,"* ]]
    for field in host pid uid program since age_ms lease_remaining_ms note; do
        [[ $output == *"\"$field\":"* ]]
    done
    [[ $output == *'}],"waiting":1,"more":false}' ]]
    [ "$(lockctl queue --json)" != "" ]
}

@test "a narrow terminal loses columns, never place, state and pid" {
    holds a t/n/k
    waits b t/n/k
    COLUMNS=30 run lockctl queue
    [ "${#lines[0]}" -le 30 ]
    [[ ${lines[1]} =~ ^t/n/k\ +1\ +live\ +$started ]]
}

@test "what is no key is refused" {
    run lockctl queue t/n
    [ "$status" = 64 ]
    [[ $output == "lockctl: key: "* ]]
    run lockctl queue a b
    [ "$status" = 64 ]
}
