#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --on-busy, --on-doubt and --on-lost: lines that are run when something happens.
load lockrun

setup() {
    lockrun_setup
    # What a line is told, in a file that is there when it is whole.
    cat >tells <<'END'
env | grep ^LOCK_ | sort >"$1.new"
mv "$1.new" "$1"
END
}
teardown() {
    local pid
    for pid in $(cat "$D"/stray* 2>/dev/null); do kill -9 "$pid"; done 2>/dev/null
    lockrun_teardown
}

# A job that says where its state file is, and runs until `stop` is there.
runs_on() {
    begins "$@" -- sh -c 'echo "$LOCK_STATE" >state.new; mv state.new state; while [ ! -e stop ]; do sleep 0.05; done; exit 3'
    appears state
}
break_store() { mv "$D/store" "$D/store.away"; }
mend_store() { mv "$D/store.away" "$D/store"; }
value() { sed -n "s/^$2=//p" "$1"; }

@test "F06: --on-busy is told who is in the way, with or without --skip and -E" {
    holds a t/n/k --note 'nightly work'
    runs "${L[@]}" -n --on-busy 'sh tells busy' -- touch ran
    [ "$status" = 75 ]
    [ "${#lines[@]}" = 1 ]
    [ "$(value busy LOCK_EVENT)" = busy ]
    [ "$(value busy LOCK_KEY)" = t/n/k ]
    [ "$(value busy LOCK_CLASS)" = batch ]
    [ "$(value busy LOCK_STATUS)" = 75 ]
    [ "$(value busy LOCK_HOLDER_PID)" = "$started" ]
    [ "$(value busy LOCK_HOLDER_UID)" = "$(id -u)" ]
    [ "$(value busy LOCK_HOLDER_HOST)" = "$(uname -n)" ]
    [[ $(value busy LOCK_HOLDER_PROGRAM) == */*sh ]]
    [ "$(value busy LOCK_HOLDER_NOTE)" = 'nightly work' ]
    [[ $(value busy LOCK_HOLDER_SINCE) =~ ^20[0-9-]{8}T[0-9:]{8}Z$ ]]
    [[ $(value busy LOCK_REASON) == 't/n/k is held by '*"(pid $started,"* ]]
    # Nothing is held, so no token is told.
    ! grep -Eq '^LOCK_(TOKEN|SESSION|STATE|EPOCH|REVISION)=' busy || false
    runs "${L[@]}" -w 0.2 --skip --on-busy 'sh tells skip' -- touch ran
    [ "$status" = 0 ]
    [ -z "$output" ]
    [ "$(value skip LOCK_STATUS)" = 0 ]
    runs "${L[@]}" -n -E 9 --on-busy 'sh tells nine' -- touch ran
    [ "$status" = 9 ]
    [ "$(value nine LOCK_STATUS)" = 9 ]
    [ ! -e ran ]
    ends a "$started"
}

@test "lines that are not called for are not run" {
    runs "${L[@]}" -n --on-busy 'touch busy' --on-doubt 'touch doubt' --on-lost 'touch lost' -- sh -c 'exit 3'
    [ "$status" = 3 ]
    [ -z "$output" ]
    runs "${L[@]}" -n --on-busy 'touch busy' -- no-such-command
    [ "$status" = 127 ]
    runs "${L[@]}" --on-busy 'touch busy' -- lockrun -n --key t/n/k --on-busy 'touch busy' -- true
    [ "$status" = 64 ]
    [ ! -e busy ]
    [ ! -e doubt ]
    [ ! -e lost ]
}

@test "a line changes no status and holds nothing up; that it failed is said" {
    holds a t/n/k
    runs "${L[@]}" -n --on-busy 'exit 3' -- true
    [ "$status" = 75 ]
    [ "${lines[1]}" = 'lockrun: --on-busy: the line ended with 3' ]
    [ "${#lines[@]}" = 2 ]
    runs "${L[@]}" -n --skip --on-busy 'kill -9 $$' -- true
    [ "$status" = 0 ]
    [ "$output" = 'lockrun: --on-busy: the line ended with 137' ]
    ends a "$started"
}

@test "a line speaks on standard error, hears nothing, and has nothing else open" {
    holds a t/n/k
    exec 7>other
    status=0
    echo typed | "${L[@]}" -n --skip --on-busy 'read -r x; echo "heard <$x>"; (exec >fds; ls -l /proc/$$/fd); ps -o sid= -p $$ >sid' \
        -- true >out 2>err || status=$?
    [ "$status" = 0 ]
    [ ! -s out ]
    [ "$(cat err)" = 'heard <>' ]
    [ "$(grep -c -- "->" fds)" = 3 ] || { cat fds; false; }
    [ "$(tr -d ' ' <sid)" != "$(ps -o sid= -p $$ | tr -d ' ')" ]
    exec 7>&-
    ends a "$started"
}

@test "hazard 99: what others wrote is no part of the line" {
    holds a t/n/k --note '$(touch evil); touch evil; `touch evil`'
    runs "${L[@]}" -n --on-busy 'printf "%s\n" "$LOCK_HOLDER_NOTE" >note' -- true
    [ "$(cat note)" = '$(touch evil); touch evil; `touch evil`' ]
    [ ! -e evil ]
    ends a "$started"
}

@test "a line that does not end is killed after 30s, with all that it started" {
    holds a t/n/k
    runs "${L[@]}" -n --skip --on-busy 'trap "" TERM; (setsid sh -c "trap \"\" TERM HUP; echo \$\$ >stray; while :; do sleep 1; done" &); while :; do sleep 1; done' -- true
    [ "$status" = 0 ]
    [ "$output" = 'lockrun: --on-busy: the line was killed: it did not end within 30s' ]
    within 5 gone "$(cat stray)"
    ends a "$started"
}

@test "a signal ends lockrun although a line is at work" {
    holds a t/n/k
    holder=$started
    begins -n --on-busy 'echo $$ >stray.new; mv stray.new stray; exec sleep 300' -- true
    appears stray
    kill -TERM "$started"
    ended "$started"
    [ "$status" = 75 ]
    ends a "$holder"
}

@test "--on-doubt is run at the first renewal that fails, and the job goes on" {
    runs_on --ttl 15s --grace 500ms --on-doubt 'sh tells doubt'
    break_store
    appears doubt
    mend_store
    [ "$(value doubt LOCK_EVENT)" = doubt ]
    [ "$(value doubt LOCK_KEY)" = t/n/k ]
    [ "$(value doubt LOCK_PID)" = "$started" ]
    [ "$(value doubt LOCK_STATE)" = "$(cat state)" ]
    [[ $(value doubt LOCK_TOKEN) =~ ^[0-9]+$ ]]
    [ -n "$(value doubt LOCK_REASON)" ]
    ! grep -q '^LOCK_STATUS=' doubt || false
    within 10 grep -q '^state held' "$(cat state)"
    # And at the next doubt once more.
    rm doubt
    break_store
    appears doubt
    mend_store
    touch stop
    ended "$started"
    [ "$status" = 3 ]
}

@test "somebody who sits in the store keeps neither --on-doubt nor --on-lost nor a signal waiting" {
    runs_on --ttl 15s --grace 500ms --on-doubt 'sh tells doubt' --on-lost 'sh tells lost'
    flock --no-fork "$D/store/db" sleep 300 3>&- &
    pids+=("$!")
    echo "$!" >stray
    appears doubt
    [[ $(value doubt LOCK_REASON) == *"$D/store/db: its lock could not be had within "*"; another process has it now"* ]]
    [ ! -e lost ]
    within 30 exists lost
    kill -KILL "$(cat stray)"
    ended "$started"
    [ "$status" = 79 ]
    # It was lockrun that asked, in time.
    [ "$(grep -c 'is running out' err)" = 1 ]
    [ -z "$(grep 'stood still' err)" ]
}

@test "--on-doubt can end the job" {
    runs_on --ttl 6s --grace 500ms --on-doubt 'kill "$LOCK_PID"' --on-lost 'touch lost'
    break_store
    ended "$started"
    [ "$status" = 143 ]
    mend_store
    [ ! -e lost ]
}

@test "a line of --on-doubt that hangs holds no key, and is no part of the job" {
    runs_on --ttl 15s --on-doubt 'echo $$ >stray.new; mv stray.new stray; exec sleep 300'
    break_store
    appears stray
    mend_store
    within 10 grep -q '^state held' "$(cat state)"
    touch stop
    # The key is free although lockrun still waits for the line.
    runs "${L[@]}" -w 60 -- true
    [ "$status" = 0 ]
    [ -e "/proc/$(cat stray)" ]
    [ -e "/proc/$started" ]
    kill -9 "$(cat stray)"
    ended "$started"
    [ "$status" = 3 ]
    grep -q -- '--on-doubt: the line ended with 137' err
}

@test "the guardian is killed while a line of --on-doubt is at work: that is not the job's" {
    runs_on --ttl 60s --grace 500ms --on-doubt 'echo $$ >stray.new; mv stray.new stray; sleep 300'
    break_store
    within 30 exists stray
    kill -9 "$(pgrep -P "$started" -x holdfast-guard)"
    mend_store
    within 10 grep -q 'the guardian of the job was killed' err
    runs "${L[@]}" -w 30 -- true
    [ "$status" = 0 ]
    [ -e "/proc/$(cat stray)" ]
    kill -9 "$(cat stray)" $(children_of "$(cat stray)")
    ended "$started"
    [ "$status" = 137 ]
}

@test "--on-lost is run when the lease is lost and the job is gone" {
    cat >job <<'END'
echo $$ >pid
trap '' TERM
echo "$LOCK_STATE" >state.new; mv state.new state
while :; do sleep 0.05; done
END
    begins --ttl 5s --grace 500ms --on-lost '[ -e "/proc/$(cat pid)" ] && touch lived; sh tells lost' -- sh job
    appears state
    break_store
    ended "$started"
    [ "$status" = 79 ]
    [ -e lost ]
    [ ! -e lived ]
    [ "$(value lost LOCK_EVENT)" = lost ]
    [ "$(value lost LOCK_STATUS)" = 79 ]
    [[ $(value lost LOCK_TOKEN) =~ ^[0-9]+$ ]]
    [ -n "$(value lost LOCK_REASON)" ]
    mend_store
}

@test "F25: --on-lost is run when --max-run has stopped the job, too" {
    runs "${L[@]}" --max-run 500ms --grace 200ms --on-lost 'sh tells lost' -- sleep 300
    [ "$status" = 124 ]
    [ "$(value lost LOCK_STATUS)" = 124 ]
    [[ $(value lost LOCK_REASON) == *--max-run* ]]
}

@test "hazard 53: --on-lost is run by a lockrun that stood still, once it goes on" {
    runs_on --ttl 5s --grace 500ms --on-lost 'sh tells lost'
    job=$(children_of "$(pgrep -P "$started" -x holdfast-guard)")
    kill -STOP "$started"
    within 20 gone "${job%% *}"
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 79 ]
    [ "$(value lost LOCK_STATUS)" = 79 ]
}

@test "--dry-run tells the lines, and the job's own variables stay its caller's" {
    runs "${L[@]}" --on-busy 'mail root' --on-doubt 'a
b' --on-lost c --dry-run -- true
    [ "$status" = 0 ]
    [ "${lines[7]}" = 'on-busy  mail root' ]
    [ "${lines[8]}" = 'on-doubt a\nb' ]
    [ "${lines[9]}" = 'on-lost  c' ]
    [ "$(LOCK_STATUS=mine LOCK_EVENT=mine lockrun --key t/n/k -- sh -c 'echo $LOCK_STATUS $LOCK_EVENT')" = 'mine mine' ]
    runs "${L[@]}" --on-lost '' -- touch ran
    [ "$status" = 64 ]
    [ ! -e ran ]
}

@test "while lockrun waits for a line alone it has nothing of the store open" {
    holds a t/n/k
    mkfifo hook.ready hook.end
    lockrun --key t/n/k -n --on-busy 'echo >hook.ready; read -r x <hook.end' -- true 2>/dev/null 3>&- &
    waiting=$!
    pids+=("$waiting")
    read -r _ <hook.ready
    opens() { ls -l "/proc/$waiting/fd" | grep -q " $D/store"; }
    opens_nothing() { ! opens; }
    within 5 opens_nothing
    echo >hook.end
    wait "$waiting" || [ $? = 75 ]
    ends a "$started"
}
