#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockrun stands still, alone, with its job, or all together, beyond its lease.
# HF_TRIES: how often the loops try; `make long` takes 200.
load guardian

setup() { guardian_setup; }
teardown() {
    cd /
    guardian_teardown
}

tries=${HF_TRIES:-20}

stopped_once() {
    local n=$1 mark=$D/mark.$1 w=$D/w.$1
    launch "s$n" --ttl 5s --grace 300ms -- bash "$D/hiding" "$w" "$mark"
    local first=$started
    pause $(((RANDOM * 32768 + RANDOM) % 120000))
    kill -STOP "$first"
    next "s$n" -w 20 -- bash -c 'exec 9>>"$1"; flock -n 9 || echo two >>"$1.two"; sleep 0.2' x "$w"
    # Stopped in the middle of a transaction, it keeps all others out: said so.
    if [ "$status" = 69 ] && [[ $output == *"is stopped, continue or end it"* ]]; then
        kill -CONT "$first"
        kill -9 "$first"
        wait "$first" 2>/dev/null || :
        next "s$n" -w 20 -- true
        [ "$status" = 0 ] && [ ! -e "$w.two" ]
        return
    fi
    [ "$status" = 0 ] || { echo "try $n: the next one: $status $output"; return 1; }
    within 20 no_shell_runs "$mark" || { echo "try $n: some of the job lives"; return 1; }
    within 20 all_gone "$w" || { echo "try $n: the witness is taken"; return 1; }
    [ ! -e "$w.two" ] || { echo "try $n: two at once"; return 1; }
    local ran= beats=0
    [ ! -e "$w.up" ] || ran=yes
    [ ! -e "$w.beat" ] || beats=$(wc -l <"$w.beat")
    kill -CONT "$first" 2>/dev/null || :
    # What was stopped before it had the key gets it now.
    if [ -n "$ran" ]; then
        ended "$first"
        [ "$status" = 79 ] || { echo "try $n: status $status"; cat "$D/err.s$n"; return 1; }
        [ "$beats" = "$(wc -l <"$w.beat")" ] || { echo "try $n: the job ran on"; return 1; }
    fi
    kill -9 "$first" 2>/dev/null || :
    within 20 none_runs "$mark"
}

many() {
    local n=0 failed=0 jobs=() job
    while ((n < tries)); do
        jobs=()
        while ((n < tries && ${#jobs[@]} < 20)); do
            "$1" "$n.${AS:+user}" &
            jobs+=($!)
            n=$((n + 1))
        done
        for job in "${jobs[@]}"; do wait "$job" || failed=$((failed + 1)); done
    done
    echo "$failed of $tries failed"
    [ "$failed" = 0 ]
}

@test "C29: stopped at a random moment, the job is gone by its deadline and the next one gets the key" {
    each_way many stopped_once
}

# beats_on NAME: a job that writes the time every few milliseconds, deaf to TERM.
beats_on() {
    cat >"$D/beat" <<'END'
trap '' TERM
while :; do echo "${EPOCHREALTIME/./}" >>"$1"; read -rt 0.005 <>"$2"; done
END
    launch "$1" --ttl 5s --grace 300ms -- bash "$D/beat" "$D/beat.$1" "$D/never"
    appears "$D/beat.$1"
    within 10 has_guardian "$started"
}
now_us() { echo "${EPOCHREALTIME/./}"; }

group_stopped() {
    cat >"$D/beat" <<'END'
trap '' TERM
echo "$LOCK_STATE" >"$1.state"
while :; do echo "${EPOCHREALTIME/./}" >>"$1"; read -rt 0.005 <>"$2"; done
END
    # A process group of its own, with lockrun in it.
    ${AS-} setsid lockrun --store="$D/store/group" --key t/n/k --ttl 5s --grace 300ms \
        -- bash "$D/beat" "$D/beat.group" "$D/never" 2>"$D/err.group" 3>&- &
    started=$!
    pids+=("$started")
    appears "$D/beat.group"
    exec 8<"$(cat "$D/beat.group.state")"
    kill -STOP -- "-$started"
    within 5 is_stopped "$started"
    stopped_at=$(now_us)
    next group -w 20 -- sh -c 'echo "second" >>"$1"; lockfence held; echo "held $?"' x "$D/beat.group"
    [ "$status" = 0 ]
    # The first one's own state file says no.
    runs env LOCK_STATE=/proc/self/fd/8 lockfence held
    [ "$status" = 1 ] || { echo "held: $status $output"; false; }
    exec 8<&-
    kill -CONT -- "-$started"
    ended "$started"
    [ "$status" = 79 ]
    grep -q 'its guardian has killed the job' "$D/err.group"
    [ "$(tail -n 1 "$D/beat.group")" = second ]
    [ "$(tail -n 2 "$D/beat.group" | head -n 1)" -le "$stopped_at" ]
}
@test "the whole group stopped beyond the TTL: the second had the key, the first never ran another command" {
    each_way group_stopped
}

brought_back() { # NAME STATUS WORD...: the job, which makes the file up.NAME
    local n=$1 wanted=$2
    shift 2
    ${AS-} setsid lockrun --store="$D/store/$n" --key t/n/k --ttl 30s --grace 16s \
        -- "$@" 2>"$D/err.$n" 3>&- &
    started=$!
    pids+=("$started")
    appears "$D/up.$n"
    kill -STOP -- "-$started"
    # TERM would be due 13.8 s after the grant, and KILL 16 s later.
    sleep 15
    kill -CONT -- "-$started"
    # What it goes on with is told; nothing had been asked to end before.
    within 20 grep -q . "$D/err.$n"
    : >"$D/go.$n"
    kill -TERM "$started" || :
    ended "$started"
    [ "$status" = "$wanted" ] || { echo "$n: status $status"; cat "$D/err.$n"; return 1; }
    grep -q 'nobody has taken the key, so it goes on' "$D/err.$n"
    [ "$(wc -l <"$D/err.$n")" = 1 ]
}
all_brought_back() {
    local n jobs=() job
    for n in 1 2; do
        brought_back "$n" 143 sh -c 'echo >"$1"; sleep 300' x "$D/up.$n" &
        jobs+=($!)
    done
    # Often before lockrun has come to wait for anything.
    for n in 3 4; do
        brought_back "$n" 143 sh -c 'echo >"$1"; kill -STOP 0; sleep 300' x "$D/up.$n" &
        jobs+=($!)
    done
    # In a moment in which no signal is taken: a shell begins a command.
    for n in 5 6; do
        brought_back "$n" 6 "$HF_BUILD/tests/guardian/in_vfork" "$D/up.$n" "$D/go.$n" sleep 300 &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job"; done
}
@test "the whole group stopped and let go on within the TTL: it goes on, though late for TERM" {
    each_way all_brought_back
}

asked_in_vfork() {
    set -m
    launch asked --max-run 2s --grace 60s --ttl 5m --verbose -- \
        "$HF_BUILD/tests/guardian/in_vfork" "$D/up.asked" "$D/go.asked" true
    set +m
    appears "$D/up.asked"
    kill -TSTP -- "-$started"
    # TERM alone would leave it stopped before it could do anything about that.
    ended "$started"
    [ "$status" = 124 ]
    grep -q 'the command ended with 6$' "$D/err.asked" || { cat "$D/err.asked"; false; }
}
@test "one that was stopped in vfork and is asked to end is let go on, too" {
    each_way asked_in_vfork
}

alone_stopped() {
    beats_on alone
    kill -STOP "$started"
    within 5 is_stopped "$started"
    next alone -w 20 -- sh -c 'echo second >>"$1"; sleep 0.3' x "$D/beat.alone"
    [ "$status" = 0 ]
    [ "$(tail -n 1 "$D/beat.alone")" = second ]
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 79 ]
    [ "$(tail -n 1 "$D/beat.alone")" = second ]
}
@test "lockrun stopped alone: the guardian ends the job at the deadline" {
    each_way alone_stopped
}

asks_in_time() {
    cat >"$D/polite" <<'END'
trap 'echo asked >>"$1"; exit 0' TERM
touch "$1.up"
while :; do sleep 0.05; done
END
    launch asks --ttl 5s --grace 1500ms -- sh "$D/polite" "$D/asked"
    appears "$D/asked.up"
    kill -STOP "$started"
    next asks -w 20 -- true
    [ "$status" = 0 ]
    [ "$(cat "$D/asked")" = asked ]
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 79 ]
    grep -q 'its guardian has asked to end the job' "$D/err.asks"
}
@test "lockrun stopped alone: the job is asked a grace before" {
    each_way asks_in_time
}

# all_stopped NAME: everything of a run, the guardian too.
all_stopped() {
    mapfile -t all < <(tree_of "$started")
    kill -STOP "${all[@]}"
    for pid in "${all[@]}"; do within 5 is_stopped "$pid"; done
}

taken() {
    beats_on taken
    all_stopped
    next taken -w 30 -- true
    [ "$status" = 0 ]
    beats=$(wc -l <"$D/beat.taken")
    next taken -n -- bash -c '
        echo "${EPOCHREALTIME/./}" >"$1"
        shift
        kill -CONT "$@"
        sleep 0.5' x "$D/went_on" "${all[@]}"
    [ "$status" = 0 ]
    ended "$started"
    [ "$status" = 79 ] || [ "$status" = 137 ]
    last=$(tail -n 1 "$D/beat.taken")
    echo "$(($(wc -l <"$D/beat.taken") - beats)) beats, the last $((last - $(cat "$D/went_on"))) us after all went on"
    [ "$last" -le $(($(cat "$D/went_on") + 50000)) ]
}
@test "C19: all stopped, the guardian too, and the key taken: dead within 50 ms of going on" {
    each_way taken
}

taken_by_none() {
    beats_on none
    beyond=$(($(now_us) + 6500000))
    all_stopped
    is_beyond() { [ "$(now_us)" -gt "$beyond" ]; }
    within 20 is_beyond
    beats=$(wc -l <"$D/beat.none")
    kill -CONT "${all[@]}"
    beats_again() { [ "$(wc -l <"$D/beat.none")" -gt $((beats + 100)) ]; }
    within 20 beats_again
    grep -q 'stood still for [0-9.]*s.*nobody has taken the key, so it goes on' "$D/err.none"
    # And is held for good: renewed, and busy to others for longer than a TTL.
    next none -w 6 -- true
    [ "$status" = 75 ]
    kill -9 "$started"
    next none -w 20 -- true
    [ "$status" = 0 ]
}
@test "C19 F28: all stopped, the guardian too, and nobody took the key: renewed, and the job goes on" {
    each_way taken_by_none
}

late_one_by_one() {
    beats_on late
    all_stopped
    beyond=$(($(now_us) + 6500000))
    is_beyond() { [ "$(now_us)" -gt "$beyond" ]; }
    within 20 is_beyond
    # The guardian first: it waits a little for lockrun, which is still stopped.
    for pid in "$(guardian_of "$started")" "$started" "${all[@]}"; do kill -CONT "$pid"; done
    beats=$(wc -l <"$D/beat.late")
    beats_again() { [ "$(wc -l <"$D/beat.late")" -gt $((beats + 100)) ]; }
    within 20 beats_again
    kill -TERM "$started"
    kill -9 "$started"
    next late -w 20 -- true
    [ "$status" = 0 ]
}
@test "F28: the guardian that goes on first waits for lockrun to ask" {
    each_way late_one_by_one
}

stays_dead() {
    beats_on dead
    all_stopped
    beyond=$(($(now_us) + 6500000))
    is_beyond() { [ "$(now_us)" -gt "$beyond" ]; }
    within 20 is_beyond
    # lockrun never goes on: nobody renews, so the job may not live.
    mapfile -t rest < <(printf '%s\n' "${all[@]}" | grep -vx "$started")
    kill -CONT "${rest[@]}"
    within 10 gone "${all[2]}"
    next dead -w 5 -- true
    [ "$status" = 0 ]
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 79 ]
}
@test "all stopped and lockrun does not go on: the guardian ends the job" {
    each_way stays_dead
}

not_renewed() {
    launch renew --ttl 5s --grace 500ms -- sh -c 'trap "" TERM; touch "$1"; while :; do sleep 0.05; done' x "$D/up.renew"
    appears "$D/up.renew"
    mv "$D/store" "$D/store.away"
    ended "$started"
    [ "$status" = 79 ]
    # lockrun was there and did it all; the guardian claims nothing.
    [ -z "$(grep 'stood still' "$D/err.renew")" ]
    grep -q 'running out' "$D/err.renew"
    no_shell_runs "$D/up.renew"
}
@test "a lease that cannot be renewed: lockrun ends the job, and nobody says that it stood still" {
    each_way not_renewed
}

gate_is_taken() {
    : >"$D/gate"
    launch gate --ttl 5s --grace 500ms -- sh -c 'trap "" TERM; echo $$ >"$1.new"; mv "$1.new" "$1"; while :; do sleep 0.05; done' x "$D/up.gate"
    appears "$D/up.gate"
    job=$(cat "$D/up.gate")
    flock "$D/store/gate" sh -c 'while [ -e "$1" ]; do sleep 0.05; done' x "$D/gate" 3>&- &
    pids+=("$!")
    within 20 gone "$job"
    # Long enough to be told of a standstill, and within what the gate is given.
    sleep 2.5
    rm "$D/gate"
    ended "$started"
    [ "$status" = 79 ]
    grep -q 'running out' "$D/err.gate"
    [ -z "$(grep 'stood still' "$D/err.gate")" ]
    [ -z "$(grep 'goes on' "$D/err.gate")" ]
}
@test "somebody sits in the store beyond the lease: lockrun ends the job in time, and nobody says that it stood still" {
    each_way gate_is_taken
}

# The kernel asks before it makes a program of a file, and is answered late: so
# does a file that lies elsewhere and hangs.
hold_up() { # FILE SECONDS
    cat >"$D/hold.py" <<'END'
import ctypes, os, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.fanotify_mark.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_uint64,
                               ctypes.c_int, ctypes.c_char_p]
CLASS_CONTENT, MARK_ADD, OPEN_EXEC_PERM, AT_FDCWD, ALLOW = 4, 1, 0x40000, -100, 1
group = libc.fanotify_init(CLASS_CONTENT, os.O_RDONLY)
if group < 0 or libc.fanotify_mark(group, MARK_ADD, OPEN_EXEC_PERM, AT_FDCWD,
                                   sys.argv[1].encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
open(sys.argv[2], "w").close()
file = struct.unpack("IBBHQii", os.read(group, 4096)[:24])[5]
time.sleep(float(sys.argv[3]))
os.write(group, struct.pack("iI", file, ALLOW))
END
    python3 "$D/hold.py" "$1" "$D/there" "$2" 3>&- &
    pids+=($!)
    appears "$D/there"
}
file_hangs() { # SIGNAL [STATUS]: sent to lockrun meanwhile
    printf '#!/bin/sh\necho first >>"$1"\n' >"$D/slow"
    chmod 755 "$D/slow"
    : >"$D/ran"
    chmod 666 "$D/ran"
    hold_up "$D/slow" 7
    launch slow --ttl 5s -- "$D/slow" "$D/ran"
    sleep 0.5
    [ -z "${1-}" ] || kill -"$1" "$started"
    next slow -w 20 -- sh -c 'echo second >>"$1"; sleep 2.5; echo third >>"$1"' x "$D/ran"
    [ "$status" = 0 ]
    kill -CONT "$started" || :
    ended "$started"
    [ "$status" = "${2-79}" ]
    [ -n "${1-}" ] || grep -q 'to end before .*slow was started' "$D/err.slow"
    [ "$(cat "$D/ran")" = $'second\nthird' ] || { cat "$D/ran"; false; }
}
can_hold_up() {
    [ "$(id -u)" = 0 ] || skip 'only root may hold up what others execute'
    command -v python3 >/dev/null || skip 'no python3 here'
}
@test "a command whose file hangs beyond the lease never runs" {
    can_hold_up
    each_way file_hangs
}
@test "nor if lockrun is killed meanwhile" {
    can_hold_up
    each_way file_hangs KILL 137
}
@test "nor if lockrun is stopped meanwhile" {
    can_hold_up
    each_way file_hangs STOP
}

# A file without a first line for the kernel is refused by it, and run as a script:
# what came while the kernel looked takes effect in between.
stopped_before_it_runs() {
    printf 'touch "$1"\n' >"$D/script"
    chmod 755 "$D/script"
    hold_up "$D/script" 5
    # Not an orphaned group: one of those does not stop.
    set -m
    launch before --ttl 30s -- "$D/script" "$D/ran"
    set +m
    three_of() { [ "$(pgrep -c -g "$1" -x lockrun)" = 3 ]; }
    within 10 three_of "$started"
    # As a terminal does, which sends it to lockrun as well, and says so.
    kill -TSTP "$(pgrep -n -g "$started" -x lockrun)"
    ended "$started"
    [ "$status" = 0 ] || { echo "status $status"; cat "$D/err.before"; false; }
    [ -e "$D/ran" ]
}
@test "C32: a ^Z while the command is being made of its file does not leave it so" {
    can_hold_up
    each_way stopped_before_it_runs
}

# Woken behind the deadline, but before another may have the key: there is time to
# kill, and none to wait for a lockrun that is stopped.
woken_late() {
    cat >"$D/late.py" <<'END'
import os, re, signal, sys, time
lockrun, guardian, state, beats = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
deadline = int(re.search(rb"deadline (\d+)", open(state, "rb").read()).group(1))
monotonic, wall = time.CLOCK_MONOTONIC, time.CLOCK_REALTIME
def until(at):
    while time.clock_gettime_ns(monotonic) < at:
        time.sleep(0.001)
until(deadline - 100_000_000)
os.kill(guardian, signal.SIGSTOP)
until(deadline + 40_000_000)
os.kill(guardian, signal.SIGCONT)
if time.clock_gettime_ns(monotonic) > deadline + 80_000_000:
    sys.exit(9)  # we were late, too: this says nothing
time.sleep(1)
deadline += time.clock_gettime_ns(wall) - time.clock_gettime_ns(monotonic)
last = int(open(beats).read().split()[-1]) * 1000
# The hundredth part of 20 s (one in 128) lies between the deadline and the end.
sys.exit(f"{(last - deadline) / 1e6} ms" if last > deadline + 20e9 / 128 else 0)
END
    cat >"$D/beat" <<'END'
trap '' TERM
echo "$LOCK_STATE" >"$1.state"
while :; do echo "${EPOCHREALTIME/./}" >>"$1"; read -rt 0.005 <>"$2"; done
END
    local try status=9
    for try in 1 2 3; do
        launch "late$try" --ttl 20s --grace 300ms -- bash "$D/beat" "$D/beat.$try" "$D/never"
        appears "$D/beat.$try"
        within 10 has_guardian "$started"
        kill -STOP "$started"
        status=0
        python3 "$D/late.py" "$started" "$(guardian_of "$started")" \
            "$(cat "$D/beat.$try.state")" "$D/beat.$try" || status=$?
        kill -CONT "$started"
        [ "$status" = 9 ] || break
    done
    [ "$status" = 0 ]
}
@test "a guardian that wakes late, but in time, does not wait for a lockrun that is stopped" {
    command -v python3 >/dev/null || skip 'no python3 here'
    each_way woken_late
}

# As one who slows it down does (cpulimit).
asks_the_slowed() {
    cat >"$D/polite" <<'END'
trap 'echo asked >>"$1"; exit 0' TERM
echo $$ >"$1.pid.new"
mv "$1.pid.new" "$1.pid"
while :; do sleep 0.01; done
END
    launch slowed --ttl 6s --grace 2s -- bash "$D/polite" "$D/asked"
    appears "$D/asked.pid"
    local job
    job=$(cat "$D/asked.pid")
    kill -STOP "$started"
    while kill -STOP "$job" 2>/dev/null; do
        sleep 0.03
        kill -CONT "$job" || break
        sleep 0.03
    done
    [ "$(cat "$D/asked")" = asked ]
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 79 ]
}
@test "a job that is stopped and let go on again and again is asked to end, too" {
    each_way asks_the_slowed
}
