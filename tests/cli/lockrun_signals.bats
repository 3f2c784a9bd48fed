#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Signals to lockrun: forwarded to the job once, or ending the wait.
load lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

# A job that writes down each signal it gets, and ends with 7 on "stop".
recorder() {
    command -v python3 >/dev/null || skip 'no python3 here'
    cat >recorder.py <<'END'
import os, signal, sys
def note(number, frame):
    os.write(got, (signal.Signals(number).name[3:] + "\n").encode())
got = os.open("got", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for name in "HUP INT QUIT USR1 USR2 ALRM TERM CONT WINCH PIPE".split():
    signal.signal(getattr(signal, "SIG" + name), note)
open("up", "w").close()
while not os.path.exists("stop"):
    signal.sigtimedwait([], 0.02)
sys.exit(7)
END
}
has_got() { [ "$(tr '\n' ' ' <got)" = "$* " ]; }

@test "C02: the job sees exactly the signal that lockrun was sent, once" {
    recorder
    for name in INT TERM HUP QUIT USR1 USR2 WINCH ALRM CONT PIPE; do
        rm -f up got stop
        begins -- python3 recorder.py
        appears up
        kill -"$name" "$started"
        within 10 has_got "$name"
        # What follows shows that there was no second one before it.
        kill -HUP "$started"
        within 10 has_got "$name" HUP
        touch stop
        ended "$started"
        [ "$status" = 7 ] || { echo "$name: $status"; cat err; false; }
        [ ! -s err ]
    done
}

@test "C02: what the job does not catch ends it, and lockrun ends as it did" {
    for name in INT TERM HUP QUIT USR1 USR2 ALRM; do
        rm -f up
        begins -- sh -c 'ulimit -c 0; touch up; exec sleep 300'
        appears up
        kill -"$name" "$started"
        ended "$started"
        [ "$status" = $((128 + $(kill -l "$name"))) ] || { echo "$name: $status"; false; }
    done
}

@test "F50: a signal that was ignored on entry stays so, for lockrun and for the job" {
    (
        trap '' HUP
        exec lockrun --key t/n/k -- sh -c 'touch up; while [ ! -e stop ]; do sleep 0.05; done; exit 6'
    ) 3>&- &
    started=$!
    pids+=("$started")
    appears up
    kill -HUP "$started"
    kill -HUP "$started"
    touch stop
    ended "$started"
    [ "$status" = 6 ]
}

@test "F50: nohup protects one that waits, too" {
    holds a t/n/k
    holder=$started
    nohup lockrun --key t/n/k -w 60 -- touch ran >nohup.log 2>&1 3>&- &
    started=$!
    pids+=("$started")
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    kill -HUP "$started"
    ends a "$holder"
    ended "$started"
    [ "$status" = 0 ]
    [ -e ran ]
}

@test "a signal that does not end anybody does not end the wait" {
    holds a t/n/k
    holder=$started
    begins -w 60 -- touch ran
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    kill -WINCH "$started"
    kill -CONT "$started"
    kill -URG "$started"
    ends a "$holder"
    ended "$started"
    [ "$status" = 0 ]
    [ -e ran ]
}

@test "C27: a signal ends the wait at once with 128+n, and the queue goes on in order" {
    holds a t/n/k
    holder=$started
    queue=()
    for n in 1 2 3 4 5; do
        lockrun --key t/n/k -w 60 -- sh -c "echo $n >>order" 2>"err.$n" 3>&- &
        queue[n]=$!
        pids+=("$!")
        within 10 says "\"waiting\":$n," lockctl show t/n/k --json
    done
    kill -TERM "${queue[2]}"
    ended "${queue[2]}"
    [ "$status" = 143 ]
    [ ! -s err.2 ]
    within 10 says '"waiting":4,' lockctl show t/n/k --json
    kill -9 "${queue[4]}"
    ended "${queue[4]}"
    ends a "$holder"
    for n in 1 3 5; do
        ended "${queue[n]}"
        [ "$status" = 0 ]
    done
    [ "$(tr '\n' ' ' <order)" = '1 3 5 ' ]
}

@test "C27: each ending signal gives its own status while waiting" {
    holds a t/n/k
    holder=$started
    for name in INT TERM HUP QUIT USR1 USR2 ALRM; do
        begins -w 60 -- touch ran
        within 10 says '"waiting":1,' lockctl show t/n/k --json
        kill -"$name" "$started"
        ended "$started"
        [ "$status" = $((128 + $(kill -l "$name"))) ] || { echo "$name: $status"; false; }
        within 10 says '"waiting":0,' lockctl show t/n/k --json
    done
    [ ! -e ran ]
    ends a "$holder"
}

@test "C27: timeout around a wait" {
    holds a t/n/k
    runs timeout 1 lockrun --key t/n/k -w 100 -- touch ran
    [ "$status" = 124 ]
    [ ! -e ran ]
    ends a "$started"
}

@test "C01: TERM to lockrun ends what the command left behind when it died of it" {
    mark=$D/c01.$$
    begins -- sh -c "sh -c 'touch up; sleep 300; :' '$mark'; :"
    appears up
    kill -TERM "$started"
    ended "$started"
    [ "$status" = 143 ]
    none_runs "$mark"
    is_free
}

@test "F05: the job's own clean-up is waited for, then the next one begins" {
    cat >job <<END
#!/bin/sh
trap 'echo in >>$D/order; sleep 1; echo out >>$D/order; exit 0' TERM
touch $D/up
while :; do sleep .1; done
END
    chmod +x job
    begins -- ./job
    appears up
    lockrun --key t/n/k -w 20 -- sh -c 'echo second >>order' 3>&- &
    second=$!
    pids+=("$second")
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    kill -TERM "$started"
    ended "$started"
    [ "$status" = 0 ]
    ended "$second"
    [ "$(tr '\n' ' ' <order)" = 'in out second ' ]
}

@test "F05: when lockrun has exited the key is free, in 30 rounds" {
    for round in {1..30}; do
        rm -f up
        begins -- sh -c 'touch up; exec sleep 300'
        appears up
        kill -TERM "$started"
        ended "$started"
        [ "$status" = 143 ]
        run "${L[@]}" -n -- true
        [ "$status" = 0 ] || { echo "round $round: $output"; false; }
    done
}

@test "F24: a job that ignores INT and TERM outlives them, and falls with lockrun's own end" {
    cat >job <<'END'
#!/bin/sh
trap '' INT TERM
touch up
while :; do sleep .1; done
END
    chmod +x job
    begins --ttl 6s -- ./job "$D/mark"
    appears up
    kill -INT "$started"
    kill -TERM "$started"
    run "${L[@]}" -n -- true
    [ "$status" = 75 ]
    [ -e "/proc/$started" ]
    kill -9 "$started"
    runs "${L[@]}" -w 30 -- true
    [ "$status" = 0 ]
    none_runs "$D/mark"
}
