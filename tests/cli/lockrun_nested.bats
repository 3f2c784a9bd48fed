#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A key wrapped inside itself, a key that is kept, a start that is spread.
load lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

@test "C10: the same key inside itself is refused at once, with or without a wait" {
    for how in -n "-w 60" "-w forever"; do
        run timeout 20 "${L[@]}" -- lockrun --key t/n/k $how -- touch ran
        [ "$status" = 64 ]
        [[ $output == "lockrun: t/n/k is held by the lockrun (pid "*"that runs this very command"*"--nested=join" ]]
        [ ! -e ran ]
    done
    is_free
}

@test "C10: without the environment the ancestors tell it" {
    run timeout 20 "${L[@]}" -- env -i HOLDFAST_STORE="$HOLDFAST_STORE" PATH="$PATH" \
        lockrun --key t/n/k -w 60 -- true
    [ "$status" = 64 ]
    run timeout 20 "${L[@]}" -- setsid -w lockrun --key t/n/k -w 60 -- true
    [ "$status" = 64 ]
}

@test "C10: another key inside is another lock" {
    run "${L[@]}" -- lockrun --key t/n/other -- sh -c 'echo $LOCK_KEY'
    [ "$status" = 0 ]
    [ "$output" = t/n/other ]
}

@test "C10: --nested=join runs under the outer hold, with its token" {
    run "${L[@]}" -- sh -c 'echo $LOCK_TOKEN; exec lockrun --key t/n/k --nested=join -w 9 -- \
        sh -c "echo \$LOCK_TOKEN \$LOCK_KEY; exit 7"'
    [ "$status" = 7 ]
    [ "${lines[1]}" = "${lines[0]} t/n/k" ]
    run "${L[@]}" -- env -u LOCK_TOKEN -u LOCK_SESSION lockrun --key t/n/k --nested=join -- \
        sh -c 'test -n "$LOCK_TOKEN"'
    [ "$status" = 0 ]
    # Where nobody holds it there is nothing to join.
    run "${L[@]}" --nested=join -- true
    [ "$status" = 0 ]
}

@test "C10: --nested=join is of the outer hold's mode: one that is shared is not joined by -x" {
    runs timeout 20 "${L[@]}" -s -- lockrun -x --key t/n/k --nested=join -w 9 -- touch ran
    [ "$status" = 64 ]
    [[ $output == *'is held shared by the lockrun (pid '*'let both be -x, or both -s' ]] || { echo "$output"; false; }
    [ ! -e ran ]
    runs "${L[@]}" -- lockrun -s --key t/n/k --nested=join -n -- echo joined
    [ "$output" = joined ]
}

@test "C10: it is found among others that share the key, too" {
    begins -s -- sh -c 'touch began; exec sleep 60'
    appears began
    for how in -n '-w 60'; do
        # shellcheck disable=SC2086
        runs timeout 20 "${L[@]}" -s -- lockrun -x --key t/n/k $how -- touch ran
        [ "$status" = 64 ] || { echo "$how: $status $output"; false; }
    done
    [ ! -e ran ]
}

@test "C10: it is found behind one who waits to have the key alone, too" {
    begins -s -- sh -c 'touch began; while [ ! -e go ]; do sleep 0.1; done
        exec lockrun -s --key t/n/k -w 60 -- touch ran'
    inner=$started
    appears began
    begins -x -w 60 -- true
    within 20 eval 'lockctl queue t/n/k | grep -q "$started"'
    touch go
    ended "$inner"
    [ "$status" = 64 ]
    [ ! -e ran ]
    ended "$started"
}

@test "C10: what a joined run does not keep is said" {
    runs "${L[@]}" -- lockrun --key t/n/k --nested=join --max-run=1h --on-lost=true \
        --leftover=kill --hold-min 1s -- echo joined
    [ "$status" = 0 ]
    for option in max-run on-lost leftover hold-min; do
        [[ $output == *"--$option is the outer lockrun's to keep (pid "* ]] || { echo "$output"; false; }
    done
    [ "${#lines[@]}" = 5 ]
    [ "${lines[4]}" = joined ]
    # Where there is nothing to join they are kept.
    runs "${L[@]}" --nested=join --max-run=1h --hold-min 1s -- echo alone
    [ "$output" = alone ]
}

@test "a stranger's hold is busy, whatever --nested says" {
    begins -- sh -c 'touch began; exec sleep 60'
    appears began
    run "${L[@]}" -n --nested=join -- touch ran
    [ "$status" = 75 ]
    [ ! -e ran ]
    run "${L[@]}" -n --nested=maybe -- touch ran
    [ "$status" = 64 ]
}

@test "C20, F22: --hold-min keeps others away after the job, though not lockrun itself" {
    run "${L[@]}" --hold-min 30s -- true
    [ "$status" = 0 ]
    run "${L[@]}" -n -- touch ran
    [ "$status" = 75 ]
    [[ $output == *"is kept by --hold-min after"* ]]
    [ ! -e ran ]
    run "${L[@]}" --key t/n/short --hold-min 2s -- true
    [ "$status" = 0 ]
    run "${L[@]}" --key t/n/short -w 30 -- touch ran
    [ "$status" = 0 ]
    [ -e ran ]
}

@test "F22: the floor outlives kill -9 of everything" {
    begins --ttl 5s --hold-min 10s -- sh -c 'touch began; exec sleep 60'
    appears began
    kill -9 "$started" $(pgrep -P "$started") 2>/dev/null || :
    wait "$started" || :
    run "${L[@]}" -n -- touch ran
    [ "$status" = 75 ]
    run "${L[@]}" -w 30 -- touch ran
    [ "$status" = 0 ]
}

@test "F21: twins of one second run once" {
    for round in {1..50}; do
        "${L[@]}" --key "t/n/r$round" -n --skip --hold-min 30s -- sh -c "echo $round >>log" &
        "${L[@]}" --key "t/n/r$round" -n --skip --hold-min 30s -- sh -c "echo $round >>log" &
        wait
    done
    [ "$(sort log | uniq -c | awk '$1 != 1')" = "" ]
    [ "$(wc -l <log)" = 50 ]
}

@test "--hold-min and --jitter know their ranges" {
    for words in "--hold-min 500ms" "--hold-min 25h" "--hold-min forever" "--jitter 2d" \
        "--hold-min 2s -s"; do
        run "${L[@]}" $words -- touch ran
        [ "$status" = 64 ]
        [ ! -e ran ]
    done
    run "${L[@]}" --jitter 50ms --verbose -- true
    [ "$status" = 0 ]
    [[ $output == "lockrun: starting in "* ]]
}
