#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What is gone without a word: the holder, the store, the evidence of both.
load ../cli/lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

@test "C13: kill -9 of the whole process group: the next one has the key at once, with a higher token" {
    setsid env --default-signal=INT,QUIT lockrun --key t/n/k --ttl 600s -- \
        sh -c 'echo "$LOCK_TOKEN" >up.new; sleep 300 & mv up.new up; wait' 2>err 3>&- &
    started=$!
    pids+=("$started")
    appears up
    kill -9 -- "-$started"
    within 10 gone "$started"
    runs "${L[@]}" -w 15 -- sh -c 'echo $LOCK_TOKEN'
    [ "$status" = 0 ]
    [ "$output" -gt "$(cat up)" ]
}

@test "C13: after a boot the next one has the key at once, with a higher token" {
    [ "$(id -u)" = 0 ] || skip 'only root can mount'
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    # A user who has no cgroup: of a holder killed with its guardian nothing
    # proves that all of it is dead, but for the end of the kernel that ran it.
    chown 65534:65534 . store
    setpriv --reuid 65534 --regid 65534 --clear-groups lockrun --key t/n/k --ttl 600s -- \
        sh -c 'echo "$LOCK_TOKEN" >up.new; mv up.new up; exec sleep 300' 2>err 3>&- &
    started=$!
    pids+=("$started")
    appears up
    kills_both "$started"
    runs as_nobody lockrun -n --key t/n/k -- true
    [ "$status" = 75 ] || { echo "$status $output"; false; }
    cat /proc/sys/kernel/random/uuid >boot_id
    # To look says so, be the session files gone with the kernel or not.
    for run in kept gone; do
        runs unshare -m sh -c 'mount --bind boot_id /proc/sys/kernel/random/boot_id
            [ "$1" = kept ] || mount -t tmpfs none "$HOLDFAST_STORE.run"
            lockctl show t/n/k' x "$run"
        [[ $output == *"its holder is dead by the kernel's word"* ]] || { echo "$run: $output"; false; }
    done
    runs unshare -m sh -c 'mount --bind boot_id /proc/sys/kernel/random/boot_id
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \
            lockrun -n --key t/n/k -- sh -c "echo \$LOCK_TOKEN"'
    [ "$status" = 0 ] || { echo "$status $output"; false; }
    [ "$output" -gt "$(cat up)" ]
}

@test "C14: store, session files, or both deleted under a running job: never two holders" {
    for what in store/db 'store/db.run' 'store/db store/db.run store/db.mark store/db-journal'; do
        rm -rf store up stop
        mkdir -m 700 store
        begins --ttl 5s -- sh -c 'touch up; while [ ! -e stop ]; do sleep 0.05; done; exit 3'
        appears up
        rm -rf $what
        runs "${L[@]}" -n -- touch second
        [ "$status" = 75 ] || [ "$status" = 69 ] || { echo "$what: $status $output"; false; }
        [ ! -e second ]
        [ "${#lines[@]}" -ge 1 ]
        touch stop
        ended "$started"
        [[ $status == 3 || $status == 79 ]] || { echo "$what: $status"; cat err; false; }
    done
}

@test "tokens rise when the store is deleted, damaged, put back from an older copy, or gone with all that it had" {
    token() { "${L[@]}" -n -- sh -c 'echo $LOCK_TOKEN' 2>>err; }
    last=$(token)
    cp store/db copy
    for what in 'rm store/db' 'cp copy store/db' 'head -c 5000 /dev/urandom >store/db' 'rm -rf store/db*'; do
        next=$(token)
        [ "$next" -gt "$last" ]
        sh -c "$what"
        last=$(token) || { echo "$what: $(tail -n 1 err)"; false; }
        [ "$last" -gt "$next" ]
    done
    # What was found and mended is told in one line each.
    grep -q 'had been removed' err
    grep -q 'older copy' err
    grep -q 'was damaged: it is kept as' err
}

@test "C14: database and session files lost together: nothing is granted until it is safe, and it says when" {
    "${L[@]}" -- true
    rm -r store/db store/db.run
    runs "${L[@]}" -n -- touch ran
    [ "$status" = 69 ]
    [[ $output == *'it grants again in '* ]]
    [ ! -e ran ]
}

@test "F24: a container that is killed whole leaves a key that the next one gets" {
    unshare -Urpf --mount-proc true 2>/dev/null || skip 'no user namespaces here'
    mkdir -m 700 ns
    unshare -Urpf --mount-proc lockrun "--store=$D/ns/db" --key t/n/k --ttl 6s -- \
        sh -c 'trap "" INT TERM; touch up; while :; do sleep 0.1; done' "$D/mark" 3>&- &
    started=$!
    pids+=("$started")
    appears up
    kill -9 $(cat "/proc/$started"/task/*/children)
    within 10 none_runs "$D/mark"
    # At the latest when its lease has run out.
    runs lockrun "--store=$D/ns/db" --key t/n/k -w 30 -- true
    [ "$status" = 0 ]
}
