#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --leftover: what becomes of processes that outlive the command. What happens
# without it is in lockrun_tree.bats.
load lockrun

setup() { lockrun_setup; }
teardown() {
    local pid
    for pid in $(cat "$D"/left.pid.* 2>/dev/null); do kill -9 "$pid"; done 2>/dev/null
    lockrun_teardown
}

# A command that leaves a process behind in a session of its own; that one says
# its number, writes `termed` when it is asked to end, and goes on.
leaving_job() {
    cat >job <<END
setsid sh -c 'trap "echo asked >>termed" TERM
    echo \$\$ >left.pid.new; mv left.pid.new left.pid.$WAY
    while [ ! -e stop ]; do echo one >>beat; sleep 0.05; done' >/dev/null 2>&1 3>&- &
while [ ! -e left.pid.$WAY ]; do sleep 0.02; done
echo \$\$ >job.pid.new; mv job.pid.new job.pid.$WAY
\$1
exit 3
END
    rm -f "left.pid.$WAY" "job.pid.$WAY"
}
left() { cat "$D/left.pid.$WAY"; }
lives() { ! gone "$(left)"; }
grown() { [ "$(wc -l <beat)" -gt "$1" ]; }
beats() { within 5 grown "$(wc -l <beat)"; }

leaves_them() {
    leaving_job
    runs ${AS-} lockrun --key t/n/k --leftover leave -- sh job
    [ "$status" = 3 ]
    [ -z "$output" ] || { echo "$output"; false; }
    beats
    # The key is free, and the next one's job runs beside what was left.
    runs ${AS-} lockrun --key t/n/k -n --ttl 5s -- sh -c 'echo two >>beat; sleep 0.2'
    [ "$status" = 0 ]
    beats
    [ ! -e termed ]
    touch stop
    within 10 gone "$(left)"
}
@test "C09: leave gives the key back at once, and harms nobody who was left" {
    with_and_without leaves_them
}

@test "hazard 61: what was left holds no descriptor and no lease of ours" {
    WAY=root
    leaving_job
    runs "${L[@]}" --leftover leave -- sh job
    [ "$status" = 3 ]
    lives
    run ls -l "/proc/$(left)/fd"
    [[ $output != *holdfast* && $output != *"$D/store"* ]]
    run lockctl ls --json
    [[ $output == *'"holds":[]'* ]] || { echo "$output"; false; }
}

kills_them() {
    local mark=$D/killed.$WAY
    cat >job <<'END'
(setsid sh -c 'trap "echo asked >>termed" TERM; touch up; while :; do sleep 0.1; done' "$1" >/dev/null 2>&1 &)
while [ ! -e up ]; do sleep 0.02; done
exit 3
END
    runs ${AS-} lockrun --key t/n/k --leftover kill --grace 5s -- sh job "$mark"
    [ "$status" = 3 ]
    [ -z "$output" ] || { echo "$output"; false; }
    none_runs "$mark"
    # Asked once, and then killed.
    [ "$(cat termed)" = asked ]
    runs ${AS-} lockrun --key t/n/k -n -- true
    [ "$status" = 0 ]
}
@test "C09: kill asks what was left to end, kills it a grace later, and keeps the command's status" {
    with_and_without kills_them
}

@test "kill leaves time to what ends with the command anyway" {
    local try
    # On a machine that stalls it may need longer than it is given; not each time.
    for try in 1 2 3 4 5; do
        rm -f written termed
        runs "${L[@]}" --leftover kill -- bash -c 'echo out > >(trap "echo asked >termed" TERM; sleep 0.1; cat >written)'
        [ "$status" = 0 ]
        [ "$(cat written)" = out ]
        [ -e termed ] || break
    done
    [ ! -e termed ]
}

@test "leave, and the command is being stopped: all of the job is stopped with it" {
    mark=$D/maxrun
    runs "${L[@]}" --leftover leave --max-run 1s --grace 300ms -- \
        sh -c 'setsid sh -c "trap \"\" TERM; sleep 300; :" "$1" >/dev/null 2>&1 & exec sleep 300' x "$mark"
    [ "$status" = 124 ]
    none_runs "$mark"
}

@test "leave, and the lease is lost: all of the job is killed with it" {
    mark=$D/lost
    begins --leftover leave --ttl 5s --grace 500ms -- \
        sh -c 'setsid sh -c "trap \"\" TERM; sleep 300; :" "$1" >/dev/null 2>&1 & touch up; sleep 300' x "$mark"
    appears up
    mv store store.away
    ended "$started"
    [ "$status" = 79 ]
    none_runs "$mark"
    mv store.away store
}

ends_all() {
    local mark=$D/guarded.$WAY
    rm -f up
    ${AS-} lockrun --key t/n/k --leftover leave --ttl 60s --grace 300ms -- \
        sh -c 'setsid sh -c "trap \"\" TERM; sleep 300; :" "$1" >/dev/null 2>&1 & touch up; sleep 300' x "$mark" 3>&- &
    started=$!
    pids+=("$started")
    appears up
    kill -9 "$started"
    within 10 none_runs "$mark"
    runs ${AS-} lockrun --key t/n/k -w 10 -- true
    [ "$status" = 0 ]
}
@test "leave, and lockrun is killed while the command runs: the guardian ends all of it" {
    with_and_without ends_all
}

# A command that has ended while lockrun stood still, and what it left behind.
ends_unseen() {
    leaving_job
    ${AS-} lockrun --key t/n/k --leftover leave --ttl "$1" -- sh job 'exec sleep 300' 3>&- &
    started=$!
    pids+=("$started")
    appears "job.pid.$WAY"
    guardian=$(pgrep -P "$started" -x holdfast-guard)
    kill -STOP "$started"
    kill -9 "$(cat "job.pid.$WAY")"
    within 10 gone "$guardian"
}

lets_go_alone() {
    ends_unseen 60s
    kill -9 "$started"
    within 10 gone "$started"
    # Now, and not when the TTL is over; and nobody is killed for it.
    runs ${AS-} lockrun --key t/n/k -w 5 -- true
    [ "$status" = 0 ]
    beats
    touch stop
    within 10 gone "$(left)"
}
@test "leave, and lockrun is killed before it could give the key back: free at once, nobody harmed" {
    with_and_without lets_go_alone
}

lapses() {
    ends_unseen 5s
    runs ${AS-} lockrun --key t/n/k -w 20 -- true
    [ "$status" = 0 ]
    beats
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 79 ]
    beats
    touch stop
    within 10 gone "$(left)"
}
@test "leave: who takes the lapsed key does not kill what was let go" {
    with_and_without lapses
}

@test "leave, and the guardian is killed: the job is ended, as without it" {
    mark=$D/noguard
    begins --leftover leave --grace 300ms -- \
        sh -c 'setsid sh -c "trap \"\" TERM; sleep 300; :" "$1" >/dev/null 2>&1 & touch up; sleep 300' x "$mark"
    appears up
    kill -9 "$(pgrep -P "$started" -x holdfast-guard)"
    ended "$started"
    [ "$status" = 137 ]
    none_runs "$mark"
}

@test "leave: TERM to lockrun is the command's alone" {
    WAY=root
    leaving_job
    begins --leftover leave -- sh job 'exec sleep 300'
    appears job.pid.root
    kill -TERM "$started"
    ended "$started"
    [ "$status" = 143 ]
    beats
    [ ! -e termed ]
}

@test "wait is the default, and says what else there is" {
    begins --leftover wait -- sh -c 'setsid sh -c "touch up; while [ ! -e stop ]; do sleep 0.05; done" >/dev/null 2>&1 & exit 4'
    appears up
    within 10 grep -q -- '--leftover=kill ends them, leave lets them be' err
    runs "${L[@]}" -n -- true
    [ "$status" = 75 ]
    touch stop
    ended "$started"
    [ "$status" = 4 ]
}

@test "no other word, and --dry-run tells which" {
    runs "${L[@]}" --leftover stay -- touch ran
    [ "$status" = 64 ]
    [[ $output == *wait*kill*leave* ]] || { echo "$output"; false; }
    [ ! -e ran ]
    runs "${L[@]}" --leftover kill --dry-run -- touch ran
    [ "$status" = 0 ]
    [ "${lines[7]}" = 'leftover kill' ]
}
