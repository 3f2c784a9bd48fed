#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Ends of other kinds: a manager of services that signals all, memory that runs
# out, processes that cannot be ended.
load guardian

setup() { guardian_setup; }
teardown() {
    cd /
    guardian_teardown
}

# A job, $D/notes.py FILE, that writes there what it gets, and after the first
# needs a moment to clean up.
notes_signals() {
    command -v python3 >/dev/null || skip 'no python3 here'
    cat >"$D/notes.py" <<'END'
import os, signal, sys, time
def note(number, frame):
    with open(sys.argv[1], "a") as file:
        file.write(signal.Signals(number).name[3:] + "\n")
for name in "TERM HUP INT QUIT USR1 USR2 WINCH".split():
    signal.signal(getattr(signal, "SIG" + name), note)
open(sys.argv[1] + ".up", "w").close()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
# It needs this long to clean up, and gets it.
end = time.monotonic() + 0.3
while time.monotonic() < end:
    time.sleep(0.01)
open(sys.argv[1] + ".cleaned", "w").close()
sys.exit(6)
END
}

counts_terms() {
    notes_signals
    local n all
    for n in $(seq "${HF_TRIES:-10}"); do
        rm -f "$D"/terms*
        launch "terms$n" --ttl 60s -- python3 "$D/notes.py" "$D/terms"
        appears "$D/terms.up"
        guardian=$(guardian_of "$started")
        mapfile -t all < <(tree_of "$started" | shuf)
        kill -TERM "${all[@]}"
        # The guardian outlives the job, never the other way.
        within 10 exists "$D/terms.cleaned"
        ended "$started"
        [ "$status" = 6 ]
        [ "$(cat "$D/terms")" = TERM ] || { cat "$D/terms" "$D/err.terms$n"; false; }
        [ ! -s "$D/err.terms$n" ]
        within 10 gone "$guardian"
    done
}
@test "F30: TERM to each process of the tree, in any order, reaches the job once" {
    counts_terms
}

# As systemd does it: the main process first, CONT behind TERM (or what KillSignal=
# says), and HUP where SendSIGHUP= says so; then all the others likewise.
as_a_manager() {
    notes_signals
    cat >"$D/manager.py" <<'END'
import os, signal, sys, time
first, *more = (getattr(signal, "SIG" + name) for name in sys.argv[1].split())
main, *others = map(int, sys.argv[2:])
for number in [first, signal.SIGCONT] + more:
    os.kill(main, number)
time.sleep(0.003)
for number in [first] + more:
    for pid in others:
        os.kill(pid, number)
        os.kill(pid, signal.SIGCONT)
END
    local n how all
    for n in 1 2 3 4 5; do
        for how in TERM 'TERM HUP' INT QUIT USR1 USR2 WINCH; do
            rm -f "$D"/got*
            launch "each$n${how/ /.}" --ttl 60s -- python3 "$D/notes.py" "$D/got"
            appears "$D/got.up"
            guardian=$(guardian_of "$started")
            mapfile -t all < <(tree_of "$started" | grep -vx "$started" | shuf)
            python3 "$D/manager.py" "$how" "$started" "${all[@]}"
            ended "$started"
            [ "$status" = 6 ]
            [ -e "$D/got.cleaned" ]
            [ "$(sort "$D/got")" = "$(tr ' ' '\n' <<<"$how" | sort)" ] ||
                { echo "$how:"; cat "$D/got"; false; }
            within 10 gone "$guardian"
        done
    done
}
@test "F30: what a manager sends each process, with CONT behind it, reaches the job once" {
    as_a_manager
}

@test "F30: TERM to lockrun alone reaches the job, once, and what outlives it too" {
    cat >"$D/two" <<'END'
trap 'echo child >>"$1"; exit 0' TERM
touch "$1.up"
while :; do sleep 0.02; done
END
    launch alone --ttl 60s -- sh -c 'setsid sh "$1" "$2" & exec sleep 300' x "$D/two" "$D/got"
    appears "$D/got.up"
    kill -TERM "$started"
    ended "$started"
    [ "$status" = 143 ]
    [ "$(cat "$D/got")" = child ]
}

# What most handlers do: a second TERM would end them in their clean-up.
@test "F30: TERM to each process ends no clean-up whose handler is gone, then" {
    local n
    cat >"$D/once" <<'END'
trap 'trap - TERM; echo TERM >"$1"; sleep 0.4; echo cleaned >>"$1"; exit 6' TERM
touch "$1.up"
while :; do sleep 0.02; done
END
    for n in 1 2 3 4 5; do
        rm -f "$D"/terms*
        launch "once$n" --ttl 60s -- bash "$D/once" "$D/terms"
        appears "$D/terms.up"
        # One that was there for long, if anybody asks.
        sleep 1.2
        guardian=$(guardian_of "$started")
        job=$(pgrep -f "^bash $D/once" -P "$guardian")
        mapfile -t all < <(printf '%s\n' "$started" "$guardian" "$job" | shuf)
        kill -TERM "${all[@]}"
        ended "$started"
        [ "$status" = 6 ]
        [ "$(tail -n 1 "$D/terms")" = cleaned ]
    done
}

# One that the command left behind, and a manager of services that sends to all.
@test "F30: what the command left behind is sent TERM once as well" {
    local n left
    cat >"$D/once" <<'END'
trap 'trap - TERM; echo TERM >"$1"; sleep 0.4; echo cleaned >>"$1"; exit 6' TERM
echo $$ >"$1.new"
mv "$1.new" "$1.up"
while :; do sleep 0.02; done
END
    for n in 1 2 3 4 5; do
        rm -f "$D"/terms*
        launch "left$n" --ttl 60s --verbose -- sh -c 'bash "$@" &' x "$D/once" "$D/terms"
        appears "$D/terms.up"
        within 10 grep -q 'command ended' "$D/err.left$n"
        guardian=$(guardian_of "$started")
        left=$(cat "$D/terms.up")
        kill -TERM "$started"
        kill -CONT "$started"
        kill -TERM "$left" "$guardian"
        kill -CONT "$left" "$guardian"
        ended "$started"
        [ "$(tail -n 1 "$D/terms")" = cleaned ] || { cat "$D/terms" "$D/err.left$n"; false; }
    done
}

@test "TERM to lockrun alone reaches the job, though its guardian had one before" {
    launch again --ttl 60s -- sleep 300
    within 10 has_guardian "$started"
    guardian=$(guardian_of "$started")
    within 10 pgrep -P "$guardian" -x sleep
    kill -TERM "$guardian"
    sleep 1.2
    kill -TERM "$started"
    ended "$started"
    [ "$status" = 143 ]
}

@test "F27: when memory runs out neither lockrun nor its guardian is picked" {
    [ "$(id -u)" = 0 ] || skip 'only root may make a cgroup here'
    command -v python3 >/dev/null || skip 'no python3 here'
    memory=/sys/fs/cgroup/memory/holdfast-test-$$
    if [ -d /sys/fs/cgroup/memory ]; then
        limit=memory.limit_in_bytes
    else
        memory=/sys/fs/cgroup/holdfast-test-$$ limit=memory.max
    fi
    mkdir "$memory" 2>/dev/null || skip 'no cgroup can be made here'
    if ! echo 67108864 >"$memory/$limit" 2>/dev/null; then
        rmdir "$memory"
        skip 'no limit of memory can be set here'
    fi
    [ ! -e "$memory/memory.swap.max" ] || echo 0 >"$memory/memory.swap.max"
    cat >"$D/grow.py" <<'END'
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        hoard = []
        while True:
            hoard.append(bytearray(1 << 20))
    os._exit(0)
open(sys.argv[1], "w").close()
time.sleep(1)
sys.exit(5)
END
    for n in 1 2 3; do
        runs bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' x "$memory" \
            lockrun --store="$D/store/memory" --key t/n/k --ttl 60s --json-fd 7 -- \
            python3 "$D/grow.py" "$D/up.$n" 7>"$D/events"
        [ "$status" = 5 ] || [ "$status" = 137 ] || break
        [ -e "$D/up.$n" ]
        grep -q '"event":"ended".*"out_of_memory":true}' "$D/events" || { cat "$D/events"; status=1 output=; break; }
        next memory -n -- true
        [ "$status" = 0 ] || break
    done
    # Moved to where memory ran out before: that tells nothing of this job.
    lockrun --store="$D/store/memory" --key t/n/k --json-fd 7 -- \
        sh -c 'touch "$1"; while [ ! -e "$1.stop" ]; do sleep 0.05; done' \
        x "$D/up.moved" 7>"$D/events.moved" 3>&- &
    moved=$!
    appears "$D/up.moved"
    echo "$moved" >"$memory/cgroup.procs"
    touch "$D/up.moved.stop"
    wait "$moved"
    within 10 rmdir "$memory"
    [ "$status" = 0 ] || { echo "$status $output"; false; }
    ! grep out_of_memory "$D/events.moved"
}

raises() {
    [ "$(id -u)" = 0 ] || skip 'only root can make a setuid program'
    cat >"$D/raise.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
/* Root in all of its ids, so that the caller may no longer signal it. */
int main(void)
{
    if (setresuid(0, 0, 0) || open("up", O_CREAT | O_WRONLY, 0666) < 0)
        return 9;
    for (int i = 0; i < 600 && access("stop", F_OK); i++)
        usleep(50000);
    return 0;
}
END
    "${CC:-cc}" -o "$D/raise" "$D/raise.c" || skip 'no C compiler here'
    chmod 4755 "$D/raise"
    chown 65534:65534 "$D" "$D/store"
    AS='setpriv --reuid 65534 --regid 65534 --clear-groups'
    touch stop
    $AS ./raise || skip 'setuid programs do not work here'
    rm -f up stop
}

@test "C28: what a killed lockrun's guardian may not end it watches to its end" {
    raises
    launch raise --ttl 5s --grace 200ms -- ./raise
    appears "$D/up"
    guardian=$(guardian_of "$started")
    kill -9 "$started"
    # The key is not free before the lease has run out.
    next raise -n -- true
    [ "$status" = 75 ]
    next raise -w 20 -- true
    [ "$status" = 0 ]
    [ -e "/proc/$guardian" ]
    touch stop
    within 10 gone "$guardian"
}

@test "C28: what may not be ended outlives its TTL under --max-run: 124, and nobody stood still" {
    raises
    launch most --ttl 5s --max-run 1s --grace 200ms -- ./raise
    appears "$D/up"
    next most -w 8 -- true
    [ "$status" = 75 ]
    touch stop
    ended "$started"
    [ "$status" = 124 ]
    [ "$(wc -l <"$D/err.most")" = 2 ]
    ! grep -q 'stood still' "$D/err.most"
}

@test "F33: a process in an uninterruptible call: said, waited for, and the key is kept" {
    [ "$(id -u)" = 0 ] || skip 'only root can freeze a file system here'
    # A file system that is frozen holds whoever writes to it, beyond any signal.
    command -v mkfs.xfs >/dev/null && command -v xfs_freeze >/dev/null || skip 'no xfs here'
    truncate -s 320M "$D/disk"
    mkfs.xfs -q "$D/disk" || skip 'no xfs can be made here'
    mkdir "$D/mnt"
    mount -o loop "$D/disk" "$D/mnt" 2>/dev/null || skip 'no loop device here'
    xfs_freeze -f "$D/mnt" || { umount "$D/mnt"; skip 'no file system can be frozen here'; }
    thaw() { xfs_freeze -u "$D/mnt"; umount "$D/mnt"; }
    # In the background: before a || none of its checks would end it.
    (
        launch hang --ttl 60s --max-run 500ms --grace 200ms -- sh -c 'echo up >"$1"; exec sh -c "echo late >\"\$0/late\"" "$2"' x "$D/up.hang" "$D/mnt"
        appears "$D/up.hang"
        within 20 grep -q 'could not stop pid [0-9]* (.*state D, waiting in .*): killed 5s ago and still there' "$D/err.hang"
        next hang -n -- true
        [ "$status" = 75 ]
        says '(waits in the kernel)' lockctl --store="$D/store/hang" show t/n/k
        guardian=$(guardian_of "$started")
        kill -9 "$started"
        next hang -n -- true
        [ "$status" = 75 ]
        [ -e "/proc/$guardian" ]
        echo "$guardian" >"$D/guardian"
    ) 3>&- &
    wait "$!" || { thaw; false; }
    xfs_freeze -u "$D/mnt"
    within 10 gone "$(cat "$D/guardian")"
    next hang -w 10 -- true
    umount "$D/mnt"
    [ "$status" = 0 ]
}
