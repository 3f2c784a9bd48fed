#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Exit statuses: the command's own, handed on, and those of a command that cannot
# run; the key is free at once either way.
load lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

# exits STATUS SENTENCE WORD...: so it ends, with one line, and the key is free.
exits() {
    local wanted=$1 sentence=$2
    shift 2
    runs "${L[@]}" "$@"
    [ "$status" = "$wanted" ] || { echo "$* -> $status: $output"; return 1; }
    [[ $output == "lockrun: "*"$sentence"* ]] || { echo "$output"; return 1; }
    [ "${#lines[@]}" = 1 ]
    run "${L[@]}" -n -- true
    [ "$status" = 0 ]
}

@test "C05: each status is handed on as it is" {
    for code in 0 1 2 63 64 69 75 77 79 124 126 127 128 200 255; do
        runs "${L[@]}" -- sh -c "exit $code"
        [ "$status" = "$code" ]
        [ -z "$output" ]
    done
}

@test "C05: death by a signal is 128 and its number" {
    for number in 1 2 3 6 9 10 12 13 14 15 31 34 64; do
        run "${L[@]}" -- sh -c "ulimit -c 0; kill -$number \$\$"
        [ "$status" = $((128 + number)) ] || { echo "$number: $status"; false; }
    done
}

@test "C25: a command that is not there is 127, as sh says" {
    for name in none-such-here ./none none/such "$D/none" ''; do
        exits 127 "$name" -- "$name"
        status=0
        sh -c '"$0"' "$name" 2>err || status=$?
        [ "$status" = 127 ]
    done
    exits 127 'Not a directory' -- /etc/passwd/x
}

@test "C25: a file that may not be executed and a folder are 126, as env says" {
    touch plain
    mkdir folder
    [ "$(id -u)" = 0 ] || chmod 644 plain
    exits 126 'Permission denied' -- ./plain
    exits 126 'is a folder' -- ./folder
    for name in ./plain ./folder; do
        status=0
        env "$name" 2>err || status=$?
        [ "$status" = 126 ]
    done
    L[0]=$(command -v lockrun)
    PATH=$D runs "${L[@]}" -- plain
    [ "$status" = 126 ]
    [[ $output == 'lockrun: '*'Permission denied' ]]
}

@test "C25: a file without #! is read by /bin/sh, with its words" {
    printf 'echo "$# $1 $2"; exit 3\n' >script
    chmod +x script
    run "${L[@]}" -- ./script 'a b' c
    [ "$status" = 3 ]
    [ "$output" = '2 a b c' ]
    run env ./script 'a b' c
    [ "$status" = 3 ]
    [ "$output" = '2 a b c' ]
}

@test "C25: a script whose interpreter is not there says so, a carriage return too" {
    printf '#!/none/such -x\n' >script
    printf '#!/bin/sh\r\necho hi\r\n' >crlf
    chmod +x script crlf
    exits 127 'interpreter "/none/such -x", which is not there' -- ./script
    exits 127 'carriage return' -- ./crlf
    status=0
    env ./crlf 2>err || status=$?
    [ "$status" = 127 ]
}

@test "C25: what PATH names first and cannot run gives way to the next" {
    mkdir a b
    printf '#!/bin/sh\necho b\n' >b/tool
    touch a/tool
    chmod +x b/tool
    PATH=$D/a:$D/b:$PATH run "${L[@]}" -- tool
    [ "$output" = b ]
    printf '#!/none/such\n' >a/tool
    chmod +x a/tool
    PATH=$D/a:$D/b:$PATH run "${L[@]}" -- tool
    [ "$output" = b ]
}

@test "a command that cannot be found asks for no key" {
    holds a t/n/k
    runs "${L[@]}" -n -- none-such-here
    [ "$status" = 127 ]
    ends a "$started"
}

@test "F11: words that are too many are 126, with how much was ours" {
    command -v python3 >/dev/null || skip 'no python3 here'
    # Up to the edge, where lockrun still starts and the job does not.
    cat >many.py <<'END'
import os, subprocess, sys
words = [sys.argv[1], "--key", "t/n/k", "--", "/bin/true"]
env = {"PATH": os.environ["PATH"], "HOLDFAST_STORE": sys.argv[2]}
def starts(count, rest):
    more = {"E%d" % k: "x" * 130000 for k in range(count)}
    try:
        return subprocess.run(words, env=dict(env, **more, R="y" * rest),
                              capture_output=True, text=True)
    except OSError:
        return None
count = 0
while starts(count + 1, 0):
    count += 1
low, high = 0, 131000
while low < high - 1:
    middle = (low + high) // 2
    if starts(count, middle):
        low = middle
    else:
        high = middle
done = starts(count, low)
sys.stderr.write(done.stderr)
sys.exit(done.returncode)
END
    runs python3 many.py "$(command -v lockrun)" "$HOLDFAST_STORE"
    [ "$status" = 126 ]
    [[ $output == 'lockrun: /bin/true: argument list too long'*' bytes of it are the LOCK_* of lockrun' ]]
    run "${L[@]}" -n -- true
    [ "$status" = 0 ]
}

@test "C08: a store that cannot be used is 69 or 77, never 75, and names its path" {
    mkdir "$D/file.d"
    touch "$D/plain"
    for place in "$D/none/such/db" "$D/plain/db" "$D/file.d"; do
        run lockrun --store="sqlite:$place" --key t/n/k -- touch ran
        [[ $status == 69 || $status == 77 || $status == 64 ]] ||
            { echo "$place: $status $output"; false; }
        [[ $output == *"${place%/db}"* ]]
        [ ! -e ran ]
    done
}

@test "an unknown class is 78, a TTL or wait outside of its bounds 64" {
    run lockrun --class none --key t/n/k -- touch ran
    [ "$status" = 78 ]
    [[ $output == *none* ]]
    for words in '--ttl 1s' '--ttl 1h' '-w 30d' '--ttl 6s --grace 5s'; do
        run "${L[@]}" $words -- touch ran
        [ "$status" = 64 ] || { echo "$words: $status $output"; false; }
        [ "${#lines[@]}" = 1 ]
        said=$output
        run "${L[@]}" $words --dry-run -- touch ran
        [ "$status" = 64 ] || { echo "$words: $status $output"; false; }
        [ "$output" = "$said" ]
    done
    [ ! -e ran ]
    # Who does not wait does not wait too long.
    run "${L[@]}" -n -w 30d -- true
    [ "$status" = 0 ]
}

@test "a command whose path is too long for one is 126, with the reason" {
    # Each step is short; all of them are more than the kernel takes at once.
    mkdir deep
    cd deep
    name=$(printf 'x%.0s' {1..200})
    for _ in {1..25}; do
        mkdir "$name"
        cd "./$name"
    done
    printf '#!/bin/sh\nexit 3\n' >job
    chmod +x job
    run "${L[@]}" -- ./job
    cd "$D"
    [ "$status" = 126 ]
    [ "$output" = 'lockrun: ./job: its path from the root is longer than 4095 bytes' ]
}
