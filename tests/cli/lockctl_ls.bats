#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockctl ls, and what all commands share.
load lockctl

setup() { lockctl_setup; }
teardown() { lockctl_teardown; }

@test "without a hold the list is empty" {
    a_store
    run lockctl ls
    [ "$status" = 0 ]
    [ "$output" = "" ]
    run lockctl ls --json
    [ "$status" = 0 ]
    [ "$output" = "{\"store\":\"$D/store/db\",\"holds\":[],\"more\":false}" ]
}

@test "a read makes nothing" {
    lockctl ls
    lockctl show k
    lockctl epoch show
    run lockctl release k --token 5 --dry-run
    [ "$status" = 1 ]
    run lockctl epoch advance --dry-run
    [ "$status" = 1 ]
    [ -z "$(ls -A "$D/store")" ]
}

@test "a read changes nothing" {
    holds a t/n/k
    before=$(sha256sum "$D/store/db"; ls -lR --full-time "$D/store" | grep -v '^total')
    lockctl ls
    lockctl show t/n/k
    lockctl epoch show
    run lockctl epoch advance --dry-run
    [ "$status" = 0 ]
    run lockctl release t/n/k --token 5 --dry-run
    [ "$status" = 1 ]
    after=$(sha256sum "$D/store/db"; ls -lR --full-time "$D/store" | grep -v '^total')
    [ "$before" = "$after" ]
}

@test "a hold has a line with who, since when and under which token" {
    holds a t/n/k --note 'nightly work'
    run lockctl ls
    [ "$status" = 0 ]
    [ "${#lines[@]}" = 2 ]
    [[ ${lines[0]} =~ ^KEY\ +STATE\ +MODE\ +HOST\ +PID\ +USER\ +PROGRAM\ +CLASS\ +SINCE\ +AGE\ +LEASE\ +WAITING\ +TOKEN\ +NOTE$ ]]
    [[ ${lines[1]} =~ ^t/n/k\ +live\ +exclusive\ +$(hostname)\ +$started\ +$(id -u)\ +[^\ ]*/[^\ ]*sh\ +batch\ +20[0-9-]+T[0-9:]+Z\ +[0-9]+s\ +[0-9ms]+\ +0\ +[0-9]+\ +nightly\ work$ ]]
}

@test "a prefix chooses" {
    holds a t/n/k
    holds b t/other/k
    run lockctl ls t/other/
    [ "${#lines[@]}" = 2 ]
    [[ ${lines[1]} == t/other/k\ * ]]
    run lockctl ls t/n
    [ "${#lines[@]}" = 2 ]
    run lockctl ls t/n/k/
    [ "$output" = "" ]
    run lockctl ls
    [ "${#lines[@]}" = 3 ]
}

@test "what no key begins with is told, not answered with an empty list" {
    for prefix in 't//' 't/n k' $'t/\e[2J' '../' 't/n/k//x'; do
        run lockctl ls -- "$prefix"
        [ "$status" = 64 ]
        [[ $output == "lockctl: key: "* ]]
        [[ $output != *$'\e'* ]]
    done
}

@test "waiters are counted, and a key that is only waited for is listed" {
    holds a t/n/k
    waits b t/n/k
    waits c t/n/k
    run lockctl ls --json
    [[ $output == *'"key":"t/n/k","state":"live",'*'"waiting":2}],"more":false}' ]]
}

@test "a shared hold each has a line" {
    holds a t/n/k -s
    holds b t/n/k -s
    run lockctl ls
    [ "${#lines[@]}" = 3 ]
    [[ ${lines[1]} == *' shared '* && ${lines[2]} == *' shared '* ]]
}

@test "a narrow terminal loses columns, never the key or the token" {
    holds a t/n/k
    token=$(token_of t/n/k)
    COLUMNS=40 run lockctl ls
    [ "${#lines[0]}" -le 40 ]
    [[ ${lines[1]} =~ ^t/n/k\ +live\ .*$token$ ]]
    COLUMNS=5 run lockctl ls
    [[ ${lines[1]} =~ ^t/n/k\ +live\ +$token$ ]]
}

@test "a stranger's note cannot move the cursor" {
    holds a t/n/k --note $'x\e[2Jy\nz\u202e'
    for command in 'ls' 'show t/n/k' 'ls --json' 'show t/n/k --json'; do
        run lockctl $command
        [ "$status" = 0 ]
        [[ $output != *$'\e'* && $output != *$'\u202e'* ]]
    done
    run lockctl ls
    [[ $output == *'x\x1b[2Jy\nz\u202e' ]]
}

@test "on a terminal the titles are bold, and plain where NO_COLOR says so" {
    holds a t/n/k
    run env TERM=xterm script -qec 'lockctl ls' /dev/null
    [[ $output == *$'\e[1mKEY'* ]]
    run env TERM=xterm NO_COLOR=1 script -qec 'lockctl ls' /dev/null
    [[ $output != *$'\e'* ]]
    run env TERM=dumb script -qec 'lockctl ls' /dev/null
    [[ $output != *$'\e'* ]]
}

@test "output that cannot be written is an error" {
    holds a t/n/k
    run sh -c 'lockctl ls >/dev/full'
    [ "$status" = 69 ]
    [ "$output" = "lockctl: cannot write to standard output: No space left on device" ]
}

@test "--store comes before HOLDFAST_STORE" {
    holds a t/n/k
    run lockctl ls --store "sqlite:$D/elsewhere"
    [ "$output" = "lockctl: there is no store at $D/elsewhere: nothing was ever locked there" ]
    run lockctl ls --store "$D/store/db"
    [ "${#lines[@]}" = 2 ]
    cd "$D/store"
    run lockctl ls --store db
    [ "${#lines[@]}" = 2 ]
}

@test "a store of another kind is refused, and no file of its name is made" {
    cd "$D"
    run lockctl ls --store etcd:localhost
    [ "$status" = 64 ]
    [ "$output" = 'lockctl: store "etcd:localhost": this version knows stores of the kind sqlite:PATH alone (a file whose name has a colon: ./NAME)' ]
    run lockctl ls --store sqlite:
    [ "$status" = 64 ]
    [ ! -e "$D/etcd:localhost" ]
}

@test "an unknown command is an error with a suggestion" {
    run lockctl lss
    [ "$status" = 64 ]
    [[ $output == "lockctl: "*ls* ]]
    run lockctl
    [ "$status" = 64 ]
    run lockctl class
    [ "$status" = 64 ]
}

@test "every command has its help" {
    for command in ls show queue watch top shell release 'class ls' 'class lint' 'class show' \
        'epoch show' 'epoch advance'; do
        run lockctl $command --help
        [ "$status" = 0 ]
        [[ ${lines[0]} == "Usage: lockctl $command"* ]]
        [[ $output == *--json* ]]
    done
    run lockctl --help
    [ "$status" = 0 ]
    [[ $output == *'Exit status:'* ]]
    run lockctl --version
    [[ $output =~ ^lockctl.*[0-9] ]]
}

@test "a store that is not there is said to be none" {
    for words in ls 'show k' 'queue k' 'ls --json' 'top -1'; do
        # shellcheck disable=SC2086
        HOLDFAST_STORE=$D/typo run lockctl $words
        [ "$status" = 0 ]
        [[ $output == *"lockctl: there is no store at $D/typo: nothing was ever locked there"* ]] ||
            { echo "$words: $output"; false; }
        [ ! -e "$D/typo" ]
    done
    HOLDFAST_STORE=$D/typo run lockctl class ls
    [[ $output != *'no store'* ]]
    lockrun --key t/n/k -- true
    run lockctl ls
    [[ $output != *'no store'* ]]
}
