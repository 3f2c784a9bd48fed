#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence without the helpers that it becomes.

load lib

setup() { T=$(mktemp -d); }
teardown() { rm -rf "$T"; }

@test "a helper that is not here is named, with the option that leaves it out" {
    cp "$(command -v lockfence)" "$T/lockfence"
    # Unless one is installed where this build would look next.
    [ ! -e /usr/local/libexec/holdfast/lockfence-pg ] || skip 'a lockfence is installed here'
    expect 69 "$T/lockfence" pg status
    contains 'the PostgreSQL fence is not here'
    contains 'configured --without-postgresql'
    expect 69 "$T/lockfence" s3 status s3://b/k
    contains 'configured --without-curl'
    expect 69 "$T/lockfence" check t/n/k 5
    contains 'lockfence-ask is missing'
    # Help, errors of the line and the other commands need none.
    expect 0 "$T/lockfence" pg write --help
    contains 'Run SQL in one guarded transaction'
    expect 64 "$T/lockfence" pg wirte
    expect 0 bash -c "echo x | $T/lockfence file write $T/f -t 5"
}

@test "a helper has the words as they came, in their order" {
    printf '#!/bin/sh\nprintf "%%s\\n" "$0" "$@"\n' >"$T/lockfence-pg"
    chmod +x "$T/lockfence-pg"
    cp "$(command -v lockfence)" "$T/lockfence"
    run "$T/lockfence" pg run -d x -t 7 -- psql -f 'a b' ''
    [ "$output" = "$(printf '%s\n' "$T/lockfence-pg" pg run -d x -t 7 -- psql -f 'a b' '')" ] ||
        { echo "$output"; false; }
    printf 'no program' >"$T/lockfence-pg"
    expect 69 "$T/lockfence" pg status
    contains 'cannot start'
}
