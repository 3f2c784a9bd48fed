#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockctl epoch show, advance.
load lockctl

setup() { lockctl_setup; }
teardown() { lockctl_teardown; }

epoch() { lockctl epoch show | sed -n 's/^epoch  *//p'; }

@test "a store that was never used has no epoch" {
    run lockctl epoch show
    [ "$status" = 0 ]
    [ "${lines[0]}" = "lockctl: there is no store at $D/store/db: nothing was ever locked there" ]
    [ "${lines[2]}" = 'epoch     none: nothing was ever granted here' ]
    run lockctl epoch show --json
    [[ $output == *'"exists":false,"sealed":false,"store_revision":"'* ]]
    run lockctl epoch advance --why test --yes
    [ "$status" = 1 ]
    [ -z "$(ls -A "$D/store")" ]
}

@test "the epoch is told with who, when and why" {
    lockrun --key t/n/k -- true
    run lockctl epoch show
    [ "${lines[0]}" = "store     $D/store/db" ]
    [ "${lines[1]}" = 'epoch     1' ]
    [ "${lines[2]}" = 'by        store' ]
    [ "${lines[3]}" = 'why       first use' ]
    [[ ${lines[4]} =~ ^at\ +20[0-9-]+T[0-9:]+Z$ ]]
    [[ ${lines[5]} =~ ^revision\ +[0-9]+$ ]]
    [[ ${lines[6]} =~ ^id\ +[0-9a-f]{32}$ ]]
}

@test "an advance of an idle store is done at once, and tokens rise" {
    lockrun --key t/n/k -- sh -c 'echo $LOCK_TOKEN' >"$D/before"
    run lockctl epoch advance --dry-run
    [[ $output == *'An advance ends 0 holds and 0 places in queues.'$'\n'* ]]
    run lockctl epoch advance --why 'a drill' --yes
    [ "$status" = 0 ]
    [ "$output" = 'epoch 2: everything held before is over (0 holds)' ]
    run lockctl epoch show
    [ "${lines[1]}" = 'epoch     2' ]
    [ "${lines[3]}" = 'why       a drill' ]
    [[ ${lines[2]} == "by        $(id -u) ($(id -un))"* ]]
    lockrun --key t/n/k -- sh -c 'echo $LOCK_TOKEN' >"$D/after"
    [ "$(cat "$D/after")" -gt "$(cat "$D/before")" ]
}

@test "it needs a reason, and --yes where no terminal asks" {
    lockrun --key t/n/k -- true
    run lockctl epoch advance --yes
    [ "$status" = 64 ]
    [[ $output == *'needs --why'* ]]
    run lockctl epoch advance --why x </dev/null
    [ "$status" = 64 ]
    [[ $output == *'needs --yes'* ]]
    [ "$(epoch)" = 1 ]
}

@test "on a terminal the present epoch is typed" {
    lockrun --key t/n/k -- true
    run script -qec 'lockctl epoch advance --why x' /dev/null <<<2
    [ "$status" = 64 ]
    [ "$(epoch)" = 1 ]
    run script -qec 'lockctl epoch advance --why x' /dev/null <<<1
    [ "$status" = 0 ]
    [ "$(epoch)" = 2 ]
}

@test "a dry run tells what would be ended and how long it waits" {
    holds a t/n/k
    waits b t/n/k
    run lockctl epoch advance --dry-run
    [ "$status" = 0 ]
    [[ $output == *'An advance ends 1 hold and 1 place in queues:'* ]]
    [[ $output == *"  t/n/k, $(hostname), pid "*', live, for '* ]]
    [[ $output =~ It\ waits\ [0-9ms]+,\ until\ the\ last\ lease ]]
    run lockctl epoch advance --dry-run --json
    [[ $output == *'"outcome":"would-advance"'*'"ends":[{"key":"t/n/k",'*'"ends_waiters":1,"more":false}' ]]
    [ "$(epoch)" = 1 ]
}

@test "with --now holders are told that they lost" {
    holds a t/n/k --ttl 5s
    run lockctl epoch advance --why x --yes --now
    [ "$status" = 0 ]
    [ "$output" = 'epoch 2: everything held before is over (1 hold)' ]
    run lockrun -n --key t/n/k -- true
    [ "$status" = 0 ]
    within 15 gone "$started"
    run wait "$started"
    [ "$status" = 79 ]
    gone "$job"
}

@test "without it the advance waits until they have stopped" {
    holds a t/n/k --ttl 5s
    run lockctl epoch advance --why x --yes
    [ "$status" = 0 ]
    [[ ${lines[0]} == 'lockctl: sealing the store; then waiting '*'Interrupted, the store stays sealed: run this again' ]]
    [ "${lines[-1]}" = 'epoch 2: everything held before is over (1 hold)' ]
    gone "$job"
    within 20 gone "$started"
    run wait "$started"
    [ "$status" = 79 ]
}

@test "interrupted it leaves a sealed store, which is shown and can be opened" {
    holds a t/n/k
    lockctl epoch advance --why x --yes 2>"$D/advance.err" 3>&- &
    advance=$!
    pids+=("$advance")
    within 10 says sealed lockctl epoch show
    kill "$advance"
    within 10 gone "$advance"
    [[ $(epoch) == '1, sealed: nothing is granted or renewed; '* ]]
    run lockctl show t/n/k
    [[ ${lines[1]} == 'why       the store is sealed, so nothing is granted or renewed (lockctl epoch show); '* ]]
    run lockctl ls
    [ "${#lines[@]}" = 2 ]
    run lockrun -n --key t/n/other -- true
    [ "$status" = 69 ]
    ends a "$started"
    run lockctl epoch advance --why 'once more' --yes
    [ "$status" = 0 ]
    [ "$(epoch)" = 2 ]
    run lockrun -n --key t/n/other -- true
    [ "$status" = 0 ]
}
