#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# At a terminal lockrun is as good as not there: keys, job control and input are
# the command's own. A shell at a terminal of its own is typed at, and what it
# shows is waited for.
load lockrun

setup() {
    lockrun_setup
    command -v script >/dev/null || skip 'no script(1) here'
    mkfifo keys
    env --default-signal=INT,QUIT script -qfec 'bash --norc --noprofile -i' screen <keys >/dev/null 2>&1 3>&- &
    shell=$!
    pids+=("$shell")
    exec 9>keys
    types "PS1=; PS2=; stty -echo; cd '$D'; echo rea''dy"
    shows ready
}
teardown() {
    exec 9>&- || true
    lockrun_teardown
}

types() { printf '%s\n' "$1" >&9; }
presses() { printf '%b' "$1" >&9; }
shows() { within 15 grep -q -- "$1" screen || { cat screen; return 1; }; }
# The third letter of a process's stat line.
is_in_state() { [[ $(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat") == [$2] ]]; }

@test "C03: what is typed is the job's to read" {
    types 'lockrun --key t/n/k -- sh -c "echo as''ks; read -r x; echo got-\$x"; echo status=$?'
    shows asks
    types hello
    shows got-hello
    shows status=0
}

@test "C03: ^C reaches the job once, and lockrun ends as the job does" {
    types 'lockrun --key t/n/k -- sh -c "trap \"echo int >>ints\" INT; touch up; while [ ! -e stop ]; do sleep 0.05; done; exit 4"; echo status=$?'
    appears up
    presses '\003'
    appears ints
    touch stop
    shows status=4
    [ "$(wc -l <ints)" = 1 ]
}

@test "C03: ^C ends a job that does nothing about it, and the wait for a key" {
    types 'lockrun --key t/n/k -- sh -c "touch up; exec sleep 300"; echo status=$?'
    appears up
    presses '\003'
    shows status=130
    holds a t/n/k
    types 'lockrun --key t/n/k -w 60 -- true; echo waited=$?'
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    presses '\003'
    shows waited=130
    within 10 says '"waiting":0,' lockctl show t/n/k --json
    ends a "$started"
}

@test "C32: ^Z stops lockrun with its job, fg lets both go on" {
    # It begins no other one meanwhile: then it could not stop.
    mkfifo never
    types 'lockrun --key t/n/k -- bash -c "echo \$PPID \$\$ >up.new; mv up.new up; while [ ! -e stop ]; do read -rt 0.05 <>never; done; echo f''in; exit 6"'
    appears up
    read -r parent job <up
    presses '\032'
    shows Stopped
    is_in_state "$job" T
    [ "$(running 'lockrun --key t/n/k' | while read -r pid; do is_in_state "$pid" T && echo yes; done | head -n 1)" = yes ]
    runs "${L[@]}" -n -- true
    [ "$status" = 75 ]
    types 'fg; echo status=$?'
    within 10 is_in_state "$job" SR
    touch stop
    shows fin
    shows status=6
}

@test "C32: ^Z and bg: the job goes on behind the shell" {
    types 'lockrun --key t/n/k -- sh -c "echo \$\$ >up.new; mv up.new up; while [ ! -e stop ]; do sleep 0.05; done; exit 6"'
    appears up
    presses '\032'
    shows Stopped
    types bg
    within 10 is_in_state "$(cat up)" SR
    touch stop
    types 'wait; jobs; echo do''ne'
    shows done
    within 10 is_free
}

@test "C32: ^Z while the command begins another one, and cannot stop: lockrun stops nevertheless" {
    types "lockrun --key t/n/k -- '$HF_BUILD/tests/guardian/in_vfork' up go sh -c 'echo f''in; exit 6'; echo status=\$?"
    appears up
    presses '\032'
    shows Stopped
    runs "${L[@]}" -n -- true
    [ "$status" = 75 ]
    types 'fg; echo status=$?'
    touch go
    shows fin
    shows status=6
}

@test "C32: stopped so, and let go on alone: the command goes on with it" {
    types "lockrun --key t/n/k -- '$HF_BUILD/tests/guardian/in_vfork' up go sh -c 'touch f''in; exit 6'"
    appears up
    presses '\032'
    shows Stopped
    for pid in $(pgrep -x lockrun); do
        [ "$(readlink "/proc/$pid/cwd")" != "$PWD" ] || kill -CONT "$pid"
    done
    sleep 0.3
    touch go
    appears fin
    within 10 is_free
}

@test "C32: a waiting lockrun stops and goes on, too" {
    holds a t/n/k
    types 'lockrun --key t/n/k -w 60 -- touch ran'
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    presses '\032'
    shows Stopped
    types 'fg; echo status=$?'
    ends a "$started"
    shows status=0
    [ -e ran ]
}

@test "F16: when the terminal goes away, the job gets HUP and the key is free" {
    types 'exec lockrun --key t/n/k -- sh -c "touch up; exec sleep 300"'
    appears up
    kill -9 "$shell"
    exec 9>&-
    within 10 is_free
}

@test "F16: with nohup the job and its lease outlive the terminal" {
    types 'exec nohup lockrun --key t/n/k -- sh -c "touch up; while [ ! -e stop ]; do sleep 0.05; done; touch ended" >nohup.log 2>&1'
    appears up
    kill -9 "$shell"
    exec 9>&-
    wait "$shell" || :
    runs "${L[@]}" -n -- true
    [ "$status" = 75 ]
    touch stop
    appears ended
    within 10 is_free
}
