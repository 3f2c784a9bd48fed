#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence filter and lockfence check: fences for what has none of its own.

load lib

setup() {
    T=$(mktemp -d)
    cd "$T"
}
teardown() {
    cd /
    rm -rf "$T"
}

# lines LINE...: through the filter; what passed is in `out`.
lines() { printf '%b\n' "$@" | lockfence filter --mark m >out; }

@test "lines with a current token pass, without it; stale ones are stopped" {
    expect 80 lines '5\ta' '5\tb' '7\tc' '6\td' '7\te\tf'
    [ "$(cat out)" = $'a\nb\nc\ne\tf' ]
    contains 'line 4: '
    contains 'token 6 is stale'
    expect 80 lines '6\ta'
    [ ! -s out ]
    expect 0 lines '7\ta' '9\tb'
    [ "$(cat out)" = $'a\nb' ]
    expect 0 lockfence file status m
    contains 'token   9 '
}

token_row() {
    rm -f .m.fence
    if [ "$1" = accept ]; then
        expect 0 lines "$2\\trest"
        [ "$(cat out)" = rest ]
    else
        expect 64 lines "$2\\trest"
        [ ! -s out ]
    fi
}

@test "tokens at the edges are accepted or refused as in every fence" {
    each_row tokens.tsv token_row
}

@test "what is no line of the form is stopped, and the others go on" {
    expect 64 lines 'no token' '5' '\t5' '5\tok' ''
    [ "$(cat out)" = ok ]
    contains 'line 1: does not begin with a token and a tab'
    contains 'line 5: '
    # The last line needs no end, an empty input is none.
    expect 0 bash -c 'printf "5\tlast" | lockfence filter --mark m'
    [ "$output" = last ]
    expect 0 lockfence filter --mark m </dev/null
    [ "$output" = '' ]
    expect 64 lockfence filter </dev/null
    contains '--mark FILE is missing'
    expect 65 lockfence filter --mark m <.
}

@test "large input, long lines and bytes of any kind pass unchanged" {
    seq 1 50000 | sed 's/^/9\tx/' >in
    expect 0 bash -c 'lockfence filter --mark m <in >out'
    cut -f 2 in | cmp - out
    head -c 500000 /dev/zero | tr '\0' y >long
    { printf '9\t'; cat long; echo; printf '9\t\0\377\n'; } >in
    expect 0 bash -c 'lockfence filter --mark m <in >out'
    { cat long; printf '\n\0\377\n'; } | cmp - out
    expect 64 bash -c 'head -c 3000000 /dev/zero | tr "\0" z | lockfence filter --mark m'
    contains 'longer than'
}

@test "a line passes as soon as it has come, and only after the mark is up" {
    mkfifo in
    lockfence filter --mark m <in >out 3>&- &
    filter=$!
    exec 9>in
    printf '5\tfirst\n' >&9
    wait_for grep -q first out
    expect 0 lockfence file status m
    contains 'token   5 '
    printf '6\tsecond\n' >&9
    wait_for grep -q second out
    exec 9>&-
    wait $filter
}

@test "two filters of one mark: what both let pass never goes down" {
    one() {
        local i
        for i in $(seq 200); do printf '%d\t%d\n' $((i + RANDOM % 20)) $((i + RANDOM % 20)); done |
            sed -E 's/^([0-9]+)\t.*/\1\t\1/' | lockfence filter --mark m 2>/dev/null
    }
    { one & one & wait; } 3>&- >>out || :
    [ "$(wc -l <out)" -gt 20 ]
    sort -nc out
}

# ---- check -------------------------------------------------------------------------

@test "check: the present holder's token, and none else" {
    export HOLDFAST_STORE=sqlite:$T/db
    held() { lockrun --key=t/n/k -- "$@"; }
    expect 0 held sh -c 'lockfence check t/n/k "$LOCK_TOKEN"'
    [ "$output" = '' ]
    expect 80 held sh -c 'lockfence check t/n/k $((LOCK_TOKEN - 1))'
    contains 'is not current: t/n/k is held with token'
    expect 64 lockfence check t/n/k x
    contains 'lockfence: TOKEN: "x" is not a token'
    expect 80 held sh -c 'lockfence check t/n/k $((LOCK_TOKEN + 1))'
    token=$(lockrun --key=t/n/k -- sh -c 'echo $LOCK_TOKEN')
    expect 80 lockfence check t/n/k "$token"
    contains 'nobody holds t/n/k'
    expect 0 held sh -c 'lockfence check t/n/k "$LOCK_TOKEN" --json'
    contains '"is_current":true'
    expect 64 lockfence check t/n/k 0x5
    expect 64 lockfence check t//k 5
    expect 64 lockfence check t/n/k
    # A store that is not there holds nothing; one that is no store is told.
    HOLDFAST_STORE=sqlite:$T/none expect 80 lockfence check t/n/k 5
    [ ! -e none ]
    echo 'no database' >file
    HOLDFAST_STORE=sqlite:$T/file expect 69 lockfence check t/n/k 5
}
