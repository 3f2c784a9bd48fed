#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence s3 against a real store that keeps to conditions: SeaweedFS, which
# checks each signature as well.

load lib
. "$HF_SRC/tests/fence/s3.bash"

setup_file() { weed_start; }
teardown_file() { weed_stop; }

setup() {
    need_s3
    need_peers
    D=$(mktemp -d)
    cd "$D"
    O=s3://fence/${BATS_TEST_NUMBER}
}
teardown() {
    cd /
    rm -rf "$D"
}

put() {
    local text=$1
    shift
    printf '%s\n' "$text" | lockfence s3 put "$@"
}
token_of() { lockfence s3 status "$1" | sed -n 's/^token *//p'; }

@test "it is a fence" {
    expect 0 lockfence s3 probe s3://fence/probe/
    contains 'This store is a fence.'
}

@test "the rule holds, and what was refused changed nothing" {
    expect 0 put one "$O" -t 7 --grant a --key t/n/k
    expect 0 put two "$O" -t 7 --grant a
    expect 81 put three "$O" -t 7 --grant b
    expect 82 put three "$O" -t 7 --grant a --strict
    expect 80 put three "$O" -t 6 --grant a
    expect 85 put three "$O" -t 9 --grant a --key t/n/other
    expect 0 lockfence s3 get "$O"
    [ "$output" = two ]
    # 2^53 and one more are told apart: no token goes through a double.
    expect 0 put four "$O" -t 9007199254740993
    expect 80 put five "$O" -t 9007199254740992
    expect 0 put six "$O/most" -t 9223372036854775807
    [ "$(token_of "$O/most")" = 9223372036854775807 ]
}

@test "odd names are the same names to the store" {
    local name
    for name in 'a b' 'ä ö' 'a+b=c&d;e' "q'()!~" '日本'; do
        expect 0 put "$name" "$O/$name" -t 1
        expect 0 lockfence s3 get "$O/$name"
        [ "$output" = "$name" ]
    done
}

@test "of writers with one token each, none is taken after a higher one" {
    local token pids=()
    for token in 5 3 8 1 7 2 6 4; do
        put "by $token" "$O" -t $token 2>"$token.err" &
        pids[token]=$!
    done
    for token in 1 2 3 4 5 6 7 8; do
        wait "${pids[token]}" && status=0 || status=$?
        echo "$token $status"
        case $status in
        0 | 80) ;;
        *) return 1 ;;
        esac
        [ "$token" != 8 ] || [ "$status" = 0 ]
    done
    [ "$(lockfence s3 get "$O")" = 'by 8' ]
    [ "$(token_of "$O")" = 8 ]
}

@test "writers of one grant do not lose a write to each other" {
    local i pids=()
    for i in 1 2 3 4; do
        put "$i" "$O" -t 5 --grant a &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i"; done
    [ "$(token_of "$O")" = 5 ]
}

@test "a large file and a large stream go through little memory" {
    head -c 60000000 /dev/urandom >big
    (ulimit -v 150000 && lockfence s3 put "$O" big -t 5)
    lockfence s3 get "$O" back
    cmp big back
    (ulimit -v 150000 && lockfence s3 put "$O" -t 5 --quiet) <big
    lockfence s3 get "$O" | cmp big -
}

@test "P06: a writer killed on its way leaves no part behind" {
    local writer
    put one "$O" -t 7
    head -c 60000000 /dev/urandom >big
    for delay in 0.05 0.1 0.2; do
        lockfence s3 put "$O" big -t 7 --quiet &
        writer=$!
        sleep $delay
        kill -9 $writer 2>/dev/null || :
        wait $writer || :
    done
    put two "$O" -t 8
    [ "$(lockfence s3 get "$O")" = two ]
    [ "$(token_of "$O")" = 8 ]
}
