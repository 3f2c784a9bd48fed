#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# C15: a full disk: no job without a lease, none killed for it, and a release
# that works or says what is left.
load ../cli/lockrun

setup() {
    [ "$(id -u)" = 0 ] || skip 'only root can mount'
    lockrun_setup
    mkdir small
    mount -t tmpfs -o size=256k,mode=700 small small 2>/dev/null || skip 'no mount here'
    export HOLDFAST_STORE=$D/small/db
}
teardown() {
    cd /
    local pid
    for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || :; done
    [ -z "${D-}" ] || umount -l "$D/small" 2>/dev/null || :
    pids=()
    lockrun_teardown
}

fill() { dd if=/dev/zero of=small/fill bs=4k 2>/dev/null || :; }

@test "C15: full before the first run: 69, the path is named, nothing is run" {
    fill
    runs "${L[@]}" -- touch ran
    [ "$status" = 69 ]
    [[ $output == *"$D/small"* ]]
    [ "${#lines[@]}" = 1 ]
    [ ! -e ran ]
}

@test "C15: full before a later run: the job has a lease, or does not start" {
    "${L[@]}" -- true
    fill
    runs "${L[@]}" -- sh -c 'touch ran; [ -n "$LOCK_TOKEN" ] && [ -e "$LOCK_STATE" ]'
    if [ "$status" = 0 ]; then
        [ -e ran ]
    else
        [ "$status" = 69 ]
        [ ! -e ran ]
        [[ $output == *"$D/small"* ]]
    fi
}

@test "C15: full during the job: it is not killed for it, and the key is free afterwards" {
    begins --ttl 15s -- sh -c 'echo "$LOCK_STATE" >state.new; mv state.new state; while [ ! -e stop ]; do sleep 0.05; done; exit 3'
    appears state
    file=$(cat state)
    fill
    first=$(sed -n 's/^deadline //p' "$file")
    later() { [ "$(sed -n 's/^deadline //p' "$file")" != "$first" ]; }
    within 30 later
    touch stop
    ended "$started"
    [ "$status" = 3 ] || { cat err; false; }
    # Given back on the full disk, or it is said that it was not.
    [ -z "$(lockctl ls)" ] || grep -q 'giving t/n/k back' err
    rm small/fill
    within 10 is_free
}
