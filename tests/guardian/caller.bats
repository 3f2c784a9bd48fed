#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The guardian holds nothing of the caller's, and the job's surroundings are what
# they would be without it.
load guardian

setup() { guardian_setup; }
teardown() {
    cd /
    guardian_teardown
}

@test "a pipe's reader sees the end when the job ends" {
    runs timeout 20 bash -c 'lockrun --key t/n/k -- echo one | cat'
    [ "$status" = 0 ]
    [ "$output" = one ]
    runs timeout 20 bash -c 'lockrun --key t/n/k -- sh -c "exit 3" 3>&1 4>&1 | cat; exit "${PIPESTATUS[0]}"'
    [ "$status" = 3 ]
}

@test "a job in the background keeps nothing open through its guardian" {
    mkfifo pipe
    # The caller's pipe and two more descriptors, which the command closes.
    bash -c 'exec lockrun --key t/n/k -- bash -c "exec >&- 2>&- 5>&- 6>&-; exec sleep 300"' \
        >pipe 2>&1 5>pipe 6>pipe 3>&- &
    started=$!
    pids+=("$started")
    within 20 has_guardian "$started" &
    # lockrun's own are open still; only of those the reader waits.
    timeout 2 cat pipe || [ $? = 124 ]
    wait %%
    guardian=$(guardian_of "$started")
    [ -n "$guardian" ]
    for fd in /proc/"$guardian"/fd/*; do
        case $(readlink "$fd") in
        /dev/null | *'[signalfd]' | *'[pidfd]' | */store/*/s-* | */store/db.run/s-* | /sys/fs/cgroup/* | *holdfast-*) ;;
        *) ls -l /proc/"$guardian"/fd; false ;;
        esac
    done
}

leaves_everything() {
    launch leaves --ttl 60s -- sh -c 'touch "$1"; exec sleep 300' x "$D/up.leaves"
    appears "$D/up.leaves"
    guardian=$(guardian_of "$started")
    job=$(pgrep -P "$guardian")
    [ "$(readlink "/proc/$guardian/cwd")" = / ]
    # A session and a group of its own, no terminal.
    read -r sid pgid tpgid < <(ps -o sid=,pgid=,tpgid= -p "$guardian")
    [ "$sid" = "$guardian" ]
    [ "$pgid" = "$guardian" ]
    [ "$tpgid" = -1 ]
    # The job has lockrun's, as without one.
    [ "$(ps -o sid=,pgid= -p "$job")" = "$(ps -o sid=,pgid= -p "$started")" ]
    [ "$(cat "/proc/$guardian/comm")" = holdfast-guard ]
    # Small: what it has for itself alone is less than lockrun has.
    [ -n "${HF_SANITIZED-}" ] ||
        [ "$(awk '/^RssAnon/ { print $2 }' "/proc/$guardian/status")" -lt 1024 ]
    [ "$(cat "/proc/$guardian/oom_score_adj")" = "$(cat "/proc/$started/oom_score_adj")" ]
}
@test "its folder, session, group and terminal are nobody's" {
    each_way leaves_everything
}

# on_terminal SCRIPT: a python script that has `master`, a terminal on which a
# bash runs, and read_until(text), type(text).
on_terminal() {
    command -v python3 >/dev/null || skip 'no python3 here'
    cat >terminal.py <<'END'
import os, pty, select, sys, time
pid, master = pty.fork()
if pid == 0:
    os.environ["PS1"] = "ready> "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
seen = ""
def read_until(text, limit=20):
    global seen
    end = time.monotonic() + limit
    while text not in seen:
        left = end - time.monotonic()
        if left <= 0 or not select.select([master], [], [], left)[0]:
            sys.exit("waited for %r in vain, got %r" % (text, seen))
        try:
            seen += os.read(master, 4096).decode(errors="replace")
        except OSError:
            sys.exit("the terminal ended before %r, after %r" % (text, seen))
    end = seen.index(text) + len(text)
    told, seen = seen[:end], seen[end:]
    return told
def type(text):
    os.write(master, text.encode())
read_until("ready> ")
END
    cat >>terminal.py
    runs timeout 60 python3 terminal.py
    [ "$status" = 0 ] || { echo "$output"; return 1; }
}

@test "C32: ^Z, fg, bg and ^C are as without lockrun" {
    on_terminal <<'END'
type("lockrun --key t/n/k -- sh -c 'echo up; read -r x; echo got $x; read -r y; echo and $y'\n")
read_until("up\r\n")
type("\x1a")
read_until("Stopped")
read_until("ready> ")
type("fg\n")
read_until("lockrun")
type("one\n")
read_until("got one")
type("\x1a")
read_until("Stopped")
type("bg\n")
# It wants the terminal: stopped again.
while "Stopped" not in read_until("ready> "):
    type("jobs\n")
type("fg\n")
read_until("lockrun")
type("two\n")
read_until("and two")
read_until("ready> ")
type("lockrun --key t/n/k -- sh -c 'echo going; exec sleep 300'\n")
read_until("going\r\n")
type("\x03")
read_until("ready> ")
type("echo status $?\n")
read_until("status 130")
END
}

@test "F16: when the terminal is gone the job is too, and no guardian is left" {
    mark=$D/terminal
    on_terminal <<END
type("lockrun --key t/n/k -- sh -c 'touch \"\$1.up\"; sleep 300; :' x $mark\n")
end = time.monotonic() + 20
while not os.path.exists("$mark.up"):
    if time.monotonic() > end: sys.exit("the job does not start")
    time.sleep(0.05)
os.close(master)
os.waitpid(pid, 0)
END
    within 10 none_runs "$mark"
    within 10 is_free
    # After a double kill neither: nothing renews.
    launch double --ttl 60s -- sh -c 'touch "$1"; exec sleep 300' x "$D/up.double"
    appears "$D/up.double"
    guardian=$(guardian_of "$started")
    kill -9 "$started" "$(pgrep -P "$guardian")"
    within 10 gone "$guardian"
    next double -w 10 -- true
    [ "$status" = 0 ]
}

@test "the status is the job's also when it ends at once" {
    n=0
    while ((n < 300)); do
        runs "${L[@]}" -- sh -c "exit $((n % 60))"
        [ "$status" = $((n % 60)) ] || { echo "$n: $status"; false; }
        [ -z "$output" ]
        n=$((n + 1))
    done
}
