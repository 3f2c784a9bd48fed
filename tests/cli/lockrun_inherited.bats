#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a caller hands over to the command by descriptors and by words that name a
# process: sockets of a manager of services, make's jobserver. lockrun stands in
# between, its guardian holds none of it.
load lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

# guardian_of PID: of a lockrun.
guardian_of() { pgrep -P "$1" -x holdfast-guard; }
has_guardian() { guardian_of "$1" >/dev/null; }

# A command that takes the sockets as the rule says: those from 3 on, if
# LISTEN_PID is its own number. It answers one caller with what it was told.
takes_sockets() {
    command -v python3 >/dev/null || skip 'no python3 here'
    cat >service.py <<'END'
import os, socket, sys
if os.environ.get("LISTEN_PID") != str(os.getpid()):
    sys.exit("these are for %s, not for %d" % (os.environ.get("LISTEN_PID"), os.getpid()))
doors = [socket.socket(fileno=3 + n) for n in range(int(os.environ["LISTEN_FDS"]))]
open("up", "w").close()
caller, _ = doors[0].accept()
names = "LISTEN_FDNAMES LISTEN_PIDFDID WATCHDOG_PID WATCHDOG_USEC".split()
told = [os.environ.get(name, "-").replace(str(os.getpid()), "own") for name in names]
caller.sendall((" ".join(told) + "\n").encode())
END
    cat >call.py <<'END'
import socket, sys
call = socket.socket(socket.AF_UNIX)
call.connect("door")
sys.stdout.write(call.makefile().read())
END
}

# As a manager does it: a socket that listens, as number 3, for one process.
manager() {
    cat >manager.py <<'END'
import os, socket, sys
door = socket.socket(socket.AF_UNIX)
door.bind("door")
door.listen()
if door.fileno() != 3:
    os.dup2(door.fileno(), 3)
    door.close()
os.set_inheritable(3, True)
own = str(os.getpid())
os.environ.update(LISTEN_PID=own, LISTEN_FDS="1", LISTEN_FDNAMES="web",
                  LISTEN_PIDFDID="4711", WATCHDOG_PID=own, WATCHDOG_USEC="30000000")
os.execvp(sys.argv[1], sys.argv[1:])
END
    env --default-signal=INT,QUIT python3 manager.py "$@" 2>err 3>&- &
    started=$!
    pids+=("$started")
}

@test "C33: sockets and a watchdog that were handed to lockrun are the command's" {
    takes_sockets
    manager lockrun --key t/n/k -- python3 service.py
    appears up
    # The second name of the process, which would be wrong, is gone.
    [ "$(python3 call.py)" = 'web - own 30000000' ]
    ended "$started"
    [ "$status" = 0 ] || { cat err; false; }
    [ ! -s err ]
}

@test "C33: the same through systemd-socket-activate" {
    takes_sockets
    command -v systemd-socket-activate >/dev/null || skip 'no systemd-socket-activate here'
    # It reads this folder's path from its option: an absolute one.
    env --default-signal=INT,QUIT systemd-socket-activate --listen="$D/door" --fdname=web \
        -E HOLDFAST_STORE -E HOLDFAST_CLASSES "$(command -v lockrun)" --key t/n/k -- \
        "$(command -v python3)" "$D/service.py" >out 2>err 3>&- &
    started=$!
    pids+=("$started")
    appears door
    # It starts the command when the first one calls.
    answers() { python3 call.py >answer 2>/dev/null; }
    within 20 answers
    [ "$(cat answer)" = 'web - - -' ] || { cat out err answer; false; }
    ended "$started"
    [ "$status" = 0 ] || { cat err; false; }
}

@test "C33: the guardian holds no socket of the caller's, and none is open when the job has ended" {
    takes_sockets
    manager lockrun --key t/n/k -- python3 service.py
    appears up
    within 10 has_guardian "$started"
    [ "$(readlink "/proc/$started/fd/3")" = "$(readlink "/proc/$(pgrep -P "$(guardian_of "$started")")/fd/3")" ]
    keeps_none() { ! readlink "/proc/$(guardian_of "$started")"/fd/* | grep '^socket:'; }
    within 10 keeps_none
    python3 call.py
    ended "$started"
    ! python3 call.py 2>refused || false
    grep -q ConnectionRefused refused
}

@test "C33: a script without #! has its own number too" {
    printf 'echo "$LISTEN_PID $WATCHDOG_PID $$"\n' >script
    chmod +x script
    read -r listen watchdog own <<<"$(sh -c 'LISTEN_PID=$$ WATCHDOG_PID=$$ exec lockrun --key t/n/k -- ./script')"
    [ "$listen" = "$own" ]
    [ "$watchdog" = "$own" ]
}

@test "C33: words that name another process are left as they are" {
    for pid in 1 "$$" 0 '' 99999999999 "x$$"; do
        [ "$(LISTEN_PID=$pid LISTEN_PIDFDID=5 WATCHDOG_PID=$pid "${L[@]}" -- \
            sh -c 'echo "$LISTEN_PID $LISTEN_PIDFDID $WATCHDOG_PID"')" = "$pid 5 $pid" ]
    done
    # Joined, the command takes lockrun's place and number.
    "${L[@]}" -- sh -c 'LISTEN_PID=$$ exec lockrun --key t/n/k --nested=join -- sh -c "[ \$LISTEN_PID = \$\$ ]"'
}

@test "F02: descriptors with numbers as high as the session file's keep them" {
    ulimit -n 1024
    exec 700>a 701>b 1000>c
    "${L[@]}" -- bash -c 'echo 700 >&700; echo 701 >&701; echo 1000 >&1000; readlink "/proc/$$/fd/"*; :' >links
    exec 700>&- 701>&- 1000>&-
    [ "$(cat a b c | tr '\n' ' ')" = '700 701 1000 ' ]
    [ "$(grep -c "^$D/store/" links)" = 1 ]
}

@test "F02: makes below lockrun share one jobserver: two at once, and never three" {
    command -v make >/dev/null || skip 'no make here'
    # Two of them meet, so that two were at work at once; the others count.
    mkfifo meeting
    cat >Makefile <<'END'
all: one two
one two:
	+@lockrun --key t/n/$@ -- $(MAKE) -s -f sub $@.1 $@.2 $@.3
END
    cat >sub <<'END'
%.1:
	@echo + >>log; if [ $@ = one.1 ]; then echo >meeting; else read x <meeting; fi; echo - >>log
%:
	@echo + >>log; echo - >>log
END
    runs timeout 60 make -j2
    [ "$status" = 0 ] || { echo "$output"; false; }
    [[ $output != *jobserver* ]]
    [ "$(grep -c + log)" = 6 ]
    [ "$(awk '/\+/ { if (++n > most) most = n } /-/ { n-- } END { print most }' log)" = 2 ]
}

@test "F02: the descriptors that MAKEFLAGS names are open, with the same numbers" {
    command -v make >/dev/null || skip 'no make here'
    cat >Makefile <<'END'
all:
	+@lockrun --key t/n/k -- sh -c 'echo "$$MAKEFLAGS"; ls /proc/$$$$/fd'
plain:
	+@sh -c 'echo "$$MAKEFLAGS"; ls /proc/$$$$/fd'
END
    make -s -j3 plain >out.plain
    make -s -j3 all >out.held
    # The session file is the one more.
    [ "$(head -n 1 out.held)" = "$(head -n 1 out.plain)" ]
    [ -z "$(comm -23 <(sort out.plain) <(sort out.held))" ]
    [ "$(comm -13 <(sort out.plain) <(sort out.held) | wc -l)" = 1 ]
}
