#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence held: yes, no, cannot tell; F10.

load lib

setup() {
    D=$(mktemp -d)
    cd "$D"
}
teardown() {
    cd /
    rm -rf "$D"
}

# state WORD TOKEN SECONDS [BOOT]: writes the file that docs/internals/state-file.md
# describes, by nothing but the shell and its arithmetic.
state() {
    local uptime boot text hash i byte
    uptime=$(steady_ns)
    boot=${4-$(tr -d - </proc/sys/kernel/random/boot_id)}
    text="holdfast 1
state $1
token $2
deadline $((uptime + $3 * 1000000000))
boot $boot
"
    hash=$((0xcbf29ce484222325))
    for ((i = 0; i < ${#text}; i++)); do
        printf -v byte %d "'${text:i:1}"
        hash=$(((hash ^ byte) * 0x100000001b3))
    done
    printf -v text '%scheck %016x\n' "$text" $hash
    printf -v byte '%*s' $((512 - ${#text})) ''
    printf %s "$text${byte// /$'\n'}" >"$D/state"
    export LOCK_STATE=$D/state
}
steady_ns() {
    python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'
}

@test "yes while it is held or in doubt, no when it is lost, over or late" {
    command -v python3 >/dev/null || skip 'no python3 here'
    state held 77 60
    expect 0 lockfence held
    [ -z "$output" ]
    expect 0 lockfence held --margin 50s
    expect 1 lockfence held --margin 70s
    [ -z "$output" ]
    state doubt 77 60
    expect 0 lockfence held
    state lost 77 60
    expect 1 lockfence held
    state over 77 60
    expect 1 lockfence held
    state held 77 -1
    expect 1 lockfence held
    state held 77 60 00000000000000000000000000000000
    expect 1 lockfence held
}

@test "another grant's lease is not this job's" {
    command -v python3 >/dev/null || skip 'no python3 here'
    state held 77 60
    LOCK_TOKEN=77 expect 0 lockfence held
    LOCK_TOKEN=76 expect 1 lockfence held
}

@test "F10: what it cannot tell is one sentence, or none" {
    unset LOCK_STATE
    expect 2 lockfence held
    [ ${#lines[@]} = 1 ]
    contains 'LOCK_STATE is not set'
    contains '--preserve-env'
    LOCK_STATE= expect 2 lockfence held
    expect 2 lockfence held -q
    [ -z "$output" ]
    echo nonsense >bad
    LOCK_STATE=bad expect 2 lockfence held
    [ ${#lines[@]} = 1 ]
    LOCK_STATE=$D expect 2 lockfence held
    mkfifo pipe
    LOCK_STATE=pipe expect 2 timeout 5 lockfence held
    # A file that is gone: so is the lease.
    LOCK_STATE=$D/gone expect 1 lockfence held
    expect 64 lockfence held --margin soon
    expect 64 lockfence held operand
}

@test "under lockrun: yes, and no as soon as it has ended" {
    export HOLDFAST_STORE=$D/db
    expect 0 lockrun --key t/n/k -- sh -c \
        'lockfence held && echo yes; lockfence held --margin 1h || echo no; echo $LOCK_STATE'
    [ "${lines[0]}" = yes ]
    [ "${lines[1]}" = no ]
    LOCK_STATE=${lines[2]} expect 1 lockfence held
    # Dropped on the way, as sudo does.
    expect 2 lockrun --key t/n/k -- env -u LOCK_TOKEN -u LOCK_STATE \
        -u LOCK_SESSION lockfence held
}

@test "it opens one file of the lease, reads it once, and asks nobody" {
    command -v strace >/dev/null || skip 'no strace here'
    export HOLDFAST_STORE=$D/db
    expect 0 lockrun --key t/n/k -- sh -c \
        'strace -f -o trace lockfence held; echo $LOCK_STATE'
    [ "$(grep -cF "\"$output\"" trace)" = 1 ]
    [ "$(grep -c ' pread64(.*, 512, 0) = 512' trace)" = 1 ]
    ! grep -E 'socket|connect|flock|fcntl|write\(' trace || false
    ! grep -E 'open.*(db|holdfast|classes|/etc/)' trace | grep -vF "\"$output\"" || false
    # A process of this size starts in well under a millisecond.
    [ "$(wc -l <trace)" -lt 45 ]
}

# The readers of docs/internals/state-file.md, as they stand there.
snippet() { awk -v language="$1" '
    $0 == "```" language { inside = 1; next }
    $0 == "```" { inside = 0 }
    inside' "$HF_SRC/docs/internals/state-file.md"; }

# agree STATUS [STATUS]: theirs, and lockfence's where it is another.
agree() {
    local wanted=$1 own=${2-$1}
    [ "$(python3 -c "$(snippet python)
print(0 if held() else 1)")" = "$wanted" ]
    expect "$wanted" sh -c "$(snippet sh)
held"
    expect "$own" lockfence held
}

@test "the readers in the manual of its form come to the same answers" {
    command -v python3 >/dev/null || skip 'no python3 here'
    state held 77 60
    agree 0
    state doubt 77 60
    agree 0
    state lost 77 60
    agree 1
    state held 77 -1
    agree 1
    state held 77 60 00000000000000000000000000000000
    agree 1
    state held 77 60
    sed -i 's/token 77/token 78/' state
    agree 1 2
    LOCK_STATE=$D/gone agree 1
}
