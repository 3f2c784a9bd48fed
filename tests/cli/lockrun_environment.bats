#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the job is given: environment, descriptors, standard streams, signals'
# dispositions. All that the caller handed over, and the lease's own, no more.
load lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

@test "the LOCK_* of the lease are there, and agree" {
    "${L[@]}" --class batch -- env >env
    . <(grep '^LOCK_' env)
    [ "$(grep -c '^LOCK_' env)" = 7 ]
    [ "$LOCK_KEY" = t/n/k ]
    [ "$LOCK_CLASS" = batch ]
    [ "$LOCK_TOKEN" = $(((LOCK_EPOCH << 48) | LOCK_REVISION)) ]
    [[ $LOCK_SESSION =~ ^[0-9a-f]{32}$ ]]
    [[ $LOCK_STATE == /* ]]
}

@test "C04: each LOCK_* stands there once, with the new value" {
    LOCK_TOKEN=1 LOCK_KEY=x LOCK_STATE=/x LOCK_EPOCH=9 LOCK_OTHER=mine \
        "${L[@]}" -- env >env
    for name in TOKEN KEY CLASS SESSION EPOCH REVISION STATE; do
        [ "$(grep -c "^LOCK_$name=" env)" = 1 ]
    done
    grep -qx LOCK_KEY=t/n/k env
    ! grep -qx LOCK_TOKEN=1 env || false
    grep -qx LOCK_OTHER=mine env
}

@test "tokens rise from run to run" {
    a=$("${L[@]}" -- sh -c 'echo $LOCK_TOKEN')
    b=$("${L[@]}" -- sh -c 'echo $LOCK_TOKEN')
    [ "$b" -gt "$a" ]
}

@test "F08: nothing else of the environment is touched, odd bytes neither" {
    env -i A=1 LOCKFILE=x HOLDFAST_STORE="$HOLDFAST_STORE" HOLDFAST_TEST=1 LC_ALL=C \
        $'B=\303\274' "BAD=$(printf '\377')" EMPTY= "PATH=$PATH" sh -c '
        env -0 | sort -z >a
        lockrun --key t/n/k -- env -0 | sort -z >b'
    tr '\0' '\n' <b | grep -av '^LOCK_[A-Z]*=' >b.rest
    tr '\0' '\n' <a >a.rest
    cmp a.rest b.rest
    [ "$(tr '\0' '\n' <b | grep -ac '^LOCK_[A-Z]*=')" = 7 ]
}

@test "F08: entries without a name or without = are no reason to fall over" {
    cat >odd.c <<'END'
#include <unistd.h>
int main(int count, char **words)
{
    char *env[] = {"NOEQUALS", "X=1", "X=2", "=y", "LOCK_TOKEN=7", 0};
    (void)count;
    execve(words[1], words + 1, env);
    return 9;
}
END
    "${CC:-cc}" -o odd odd.c || skip 'no C compiler here'
    ./odd "$(command -v lockrun)" "--store=sqlite:$D/store/db" --key=t/n/k -- \
        /usr/bin/env >env
    grep -qx NOEQUALS env
    [ "$(grep -c '^X=' env)" = 2 ]
    [ "$(grep -c '^LOCK_TOKEN=' env)" = 1 ]
    ! grep -qx LOCK_TOKEN=7 env
}

@test "F10: sudo drops the lease's variables, and the manual's line keeps them" {
    [ "$(id -u)" = 0 ] || skip 'only root may call sudo here'
    command -v sudo >/dev/null || skip 'no sudo here'
    held=$(command -v lockfence)
    [ -z "$("${L[@]}" -- sudo -n env 2>err | grep ^LOCK_)" ]
    runs "${L[@]}" -- sudo -n "$held" held
    [ "$status" = 2 ]
    [[ $output == *'LOCK_STATE is not set'*'--preserve-env'* ]] || { echo "$output"; false; }
    line=$(sed -n "s/^\\(sudo --preserve-env=[A-Z_,]*\\) cmd\$/\\1/p" "$HF_SRC/man/lockrun.1.in")
    [[ $line == 'sudo --preserve-env=LOCK_TOKEN,'*LOCK_STATE ]]
    [ "$("${L[@]}" -- $line -n env 2>err | grep -c ^LOCK_)" = 4 ]
    "${L[@]}" -- $line -n "$held" held
}

@test "C12: no HOME, no terminal, a bare or missing PATH, the root folder" {
    command=$(command -v lockrun)
    cd /
    run env -i HOLDFAST_STORE="$HOLDFAST_STORE" "$command" --class=batch -- true
    [ "$status" = 0 ]
    [ -z "$output" ]
    run env -i "$command" "--store=$HOLDFAST_STORE" -- /bin/sh -c 'exit 6' </dev/null
    [ "$status" = 6 ]
    runs env -i PATH= "$command" "--store=$HOLDFAST_STORE" -- true
    [ "$status" = 127 ]
    run setsid "$command" --key t/n/k -- true
    [ "$status" = 0 ]
}

@test "C03: standard input is the job's" {
    [ "$(printf hi | "${L[@]}" -- cat)" = hi ]
    printf 'one\ntwo\n' >lines
    { "${L[@]}" -- sh -c 'read -r x; echo $x'; cat; } <lines >out || true
    [ "$(head -n 1 out)" = one ]
}

# open_in FILE WORD...: the numbers of all that is open in the job.
open_in() {
    "${@:2}" sh -c 'ls "/proc/$$/fd" >"$1"; :' x "$1"
    sort -o "$1" "$1"
}

@test "C33: the job has what the caller handed over, and the session file up high" {
    open_in plain env
    open_in held "${L[@]}" --
    extra=$(comm -13 plain held)
    [[ $extra =~ ^[0-9]+$ ]] || { paste plain held; false; }
    [ -z "$(comm -23 plain held)" ]
    [ "$extra" -ge 100 ]
    "${L[@]}" -- sh -c 'readlink "/proc/$$/fd/$1"; echo "$LOCK_STATE"' x "$extra" >names
    [ "$(head -n 1 names)" = "$(tail -n 1 names)" ]
}

@test "F02: descriptors of the caller pass through, with their numbers" {
    [ "$("${L[@]}" -- cat <(echo one) <(echo two))" = $'one\ntwo' ]
    exec 7>seven
    "${L[@]}" -- sh -c 'echo x >&7'
    exec 7>&-
    [ "$(cat seven)" = x ]
}

@test "F02: make's jobserver reaches a make below lockrun" {
    command -v make >/dev/null || skip 'no make here'
    mkfifo both
    # Each of a and b waits for the other: only two at once can end.
    cat >Makefile <<'END'
all:
	+lockrun --key t/n/k -- $(MAKE) -f Makefile a b
a:
	@echo >both
b:
	@read x <both
END
    run timeout 20 make -j4
    [ "$status" = 0 ]
    [[ $output != *'jobserver unavailable'* ]]
}

@test "F02: a job that closes all that it inherits still keeps the key" {
    mkfifo ready end
    begins -- bash -c 'exec 3>/dev/null 4>/dev/null 9>/dev/null; for f in /proc/self/fd/*; do f=${f##*/}; [ "$f" -le 2 ] || eval "exec $f>&-"; done; echo >ready; read -r x <end'
    read -r _ <ready
    run "${L[@]}" -n -- true
    [ "$status" = 75 ]
    echo >end
    ended "$started"
    [ "$status" = 0 ]
}

@test "standard descriptors that are closed stay so for the job, and nothing lands in them" {
    # Errors of a shell about its own closed descriptors say nothing here.
    for fd in 0 1 2; do
        bash -c "exec $fd>&-; exec lockrun --key t/n/k --verbose -- sh -c '[ ! -e /proc/\$\$/fd/$fd ] && touch was_closed'" || true
        [ -e was_closed ]
        rm was_closed
    done
    bash -c 'exec 0>&- 1>&- 2>&-; exec lockrun --key t/n/k -- sh -c "
        for fd in 0 1 2; do [ ! -e /proc/\$\$/fd/\$fd ] || exit 1; done; touch all"'
    [ -e all ]
}

@test "a low limit of open files is enough" {
    run bash -c 'ulimit -n 24; exec lockrun --key t/n/k -- sh -c "ls /proc/\$\$/fd"'
    [ "$status" = 0 ]
    [ "${#lines[@]}" -ge 4 ]
}

# The dispositions and the mask of a program, as the kernel tells them.
signals_of() { "$@" grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status; }

@test "F50: the job's signals are what lockrun was given, no more, no less" {
    [ "$(signals_of "${L[@]}" --)" = "$(signals_of env)" ]
    for ignored in HUP 'PIPE USR1' CHLD 'INT QUIT TERM'; do
        [ "$(trap '' $ignored; signals_of "${L[@]}" --)" = "$(trap '' $ignored; signals_of env)" ]
    done
    command -v python3 >/dev/null || return 0
    cat >blocked.py <<'END'
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM})
os.execvp(sys.argv[1], sys.argv[1:])
END
    [ "$(signals_of python3 blocked.py "${L[@]}" --)" = "$(signals_of python3 blocked.py env)" ]
}

@test "a caller that ignores SIGCHLD still gets the command's status" {
    status=0
    (trap '' CHLD; "${L[@]}" -- sh -c 'exit 7') || status=$?
    [ "$status" = 7 ]
}
