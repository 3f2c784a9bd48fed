#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Where flock(1) has the letter, it means here what it means there: each is
# tried on both, side by side.
load lockrun

setup() {
    lockrun_setup
    command -v flock >/dev/null || skip 'no flock(1) here'
    cat >"$D/classes/both.yaml" <<'END'
mode: shared
key: "local/both/{command path}"
wait: {default: 0s, max: 24h}
END
}
teardown() { lockrun_teardown; }

# held MODE: t/n/k and the file `lock` are both held, by jobs that wait.
held() {
    holds a t/n/k --class both "$1"
    mkfifo b.ready b.end
    flock "$1" lock sh -c 'echo >b.ready; read -r x <b.end' 3>&- &
    other=$!
    pids+=("$other")
    read -r _ <b.ready
}
let_go() {
    ends a "$started"
    echo >b.end
    within 10 gone "$other"
    rm -f {a,b}.{ready,end}
}

# both STATUS WORD... -- COMMAND...: lockrun and flock end alike. flock names
# the file where lockrun has a key; -c stands behind it there.
both() {
    local wanted=$1 mine=() theirs=() status
    shift
    while [ "$1" != -- ]; do
        mine+=("$1")
        theirs+=("$1")
        shift
    done
    shift
    status=0
    flock "${theirs[@]}" lock "$@" >out.flock 2>/dev/null || status=$?
    [ "$status" = "$wanted" ] || { echo "flock ${theirs[*]}: $status"; return 1; }
    case $1 in
    -c | --command) ;;
    *) mine+=(--) ;;
    esac
    status=0
    lockrun --key t/n/k --class both "${mine[@]}" "$@" >out.lockrun \
        2>/dev/null || status=$?
    [ "$status" = "$wanted" ] || { echo "lockrun ${mine[*]}: $status"; return 1; }
    cmp out.flock out.lockrun
}

@test "-n --nb --nonblock: do not wait, and -E is the status" {
    both 0 -n -- echo free
    held -x
    for letter in -n --nb --nonblock; do
        both 9 "$letter" -E 9 -- echo no
        both 9 "$letter" --conflict-exit-code 9 -- echo no
        both 9 "$letter" --conflict-exit-code=9 -- echo no
    done
    let_go
    both 0 -n -E 9 -- echo free
}

@test "-w --wait --timeout: wait so long, fractions too, then -E is the status" {
    held -x
    for letter in -w --wait --timeout; do
        both 9 -E 9 "$letter" 0.3 -- echo no
    done
    both 9 -E 9 -w 0 -- echo no
    let_go
    both 0 -w 5 -- echo free
}

@test "-w waits for one that lets go" {
    held -x
    lockrun --key t/n/k --class both -w 20 -- echo yes >out.lockrun 3>&- &
    a=$!
    flock -w 20 lock echo yes >out.flock 3>&- &
    b=$!
    within 10 says '"waiting":1,' lockctl show t/n/k --json
    let_go
    wait "$a"
    wait "$b"
    cmp out.flock out.lockrun
}

@test "-n goes before -w, wherever it stands" {
    held -x
    for words in '-n -w 30' '-w 30 -n'; do
        both 9 -E 9 $words -- echo no
    done
    let_go
}

@test "-s --shared: together with shared ones, not with others" {
    held -s
    for letter in -s --shared; do
        both 0 -n "$letter" -- echo together
    done
    both 9 -n -E 9 -- echo no
    both 9 -n -E 9 -x -- echo no
    let_go
}

@test "-x -e --exclusive: alone, which is what is meant without a letter" {
    held -x
    both 9 -n -E 9 -s -- echo no
    let_go
    held -s
    for letter in -x -e --exclusive ''; do
        both 9 -n -E 9 $letter -- echo no
    done
    let_go
}

@test "the last of -s and -x counts" {
    held -s
    both 0 -n -x -s -- echo together
    both 9 -n -E 9 -s -x -- echo no
    let_go
}

@test "letters stand together, and take their value with or without a blank" {
    held -x
    both 9 -nE9 -- echo no
    both 9 -sn -E 9 -- echo no
    both 9 -w0.2 -E9 -- echo no
    let_go
}

@test "-c --command: one line, by the shell" {
    for letter in -c --command; do
        both 0 -- "$letter" 'echo $((6 * 7)) "$0" $#'
        both 5 -- "$letter" 'exit 5'
    done
    SHELL=/bin/sh both 0 -- -c 'echo "$0"'
    both 64 -- -c 'echo a' b
}

@test "--verbose tells on standard error, or standard output there, and runs" {
    both 0 -n -- sh -c 'echo same'
    run lockrun --key t/n/k --verbose -- true
    [ "$status" = 0 ]
    [ -n "$output" ]
}

@test "the status of the command is handed on, also that of a signal" {
    for number in 0 1 63 127 200 255; do
        both "$number" -- sh -c "exit $number"
    done
    both 143 -- sh -c 'kill -TERM $$'
    both 137 -- sh -c 'kill -KILL $$'
}

@test "who names a lock file is told to name a key" {
    : >used
    runs lockrun -n ./used -c 'touch ran'
    [ "$status" = 126 ]
    [ "$output" = 'lockrun: ./used: Permission denied (the first word is the command; instead of a lock file say --key=NAME)' ]
    for name in ./new.lock new.lock /run/lock/new.lck; do
        runs lockrun -n "$name" touch ran
        [ "$status" = 127 ]
        [[ $output == *'say --key=NAME)' ]]
    done
    [ ! -e ran ]
    # A script that is not executable is none.
    echo '#!/bin/sh' >script
    runs lockrun -n ./script
    [ "$status" = 126 ]
    [ "$output" = 'lockrun: ./script: Permission denied' ]
}

# ---- what the manual says to people who come from flock(1) -------------------

page=${HF_SRC:-$BATS_TEST_DIRNAME/../..}/man/lockrun.1.in
section() { sed -n '/^\.Ss flock(1)/,/^\.Ss consul/p' "$page"; }

# filled LINE: with a file, a name and a command in place of F, NAME and cmd.
filled() {
    sed "s| F | $PWD/lock |; s/=NAME/=name/; s/'line'/'echo ran; exit 3'/
        s/ cmd\$/ sh -c 'echo ran; exit 3'/; s/ 5 / 0.3 /" <<<"$1"
}

# status_of LINE [SECONDS]: how it ends, and what it wrote, in that time at most.
status_of() {
    local status=0
    timeout "${2:-60}" bash -c "$(filled "$1")" >out 2>/dev/null || status=$?
    echo "$status $(cat out)"
}

@test "the manual's table: each line of flock's and its lockrun end alike" {
    local theirs mine rows=0
    while IFS=$'\t' read -r theirs mine; do
        [ "$(status_of "$theirs")" = '3 ran' ] || { echo "$theirs"; false; }
        [ "$(status_of "$mine")" = '3 ran' ] || { echo "$mine"; false; }
        rows=$((rows + 1))
    done < <(section | sed -n 's/^\.It \(flock .*\) Ta \(.*\)/\1\t\2/p')
    [ "$rows" = 5 ]
    holds a name
    flock lock sleep 300 3>&- &
    other=$!
    pids+=("$other")
    within 10 says 75 bash -c 'flock -n -E 75 lock true; echo $?'
    while IFS=$'\t' read -r theirs mine; do
        status_of "$theirs" 4 >wanted
        # It waits, or says that it is busy.
        grep -qxE '(1|124) ' wanted
        status_of "$mine" 4 | cmp - wanted || { echo "$mine"; false; }
    done < <(section | sed -n 's/^\.It \(flock .*\) Ta \(.*\)/\1\t\2/p')
    kill "$other"
    ends a "$started"
}

@test "the manual's line for a crontab is silent when it is busy, and runs else" {
    local line
    line=$(section | sed -n 's/^\.Dl \(lockrun .*--skip.*\)/\1/p')
    [ -n "$line" ]
    run bash -c "$(filled "$line")"
    [ "$status" = 3 ]
    [ "$output" = ran ]
    holds a name
    run bash -c "$(filled "$line")"
    [ "$status" = 0 ]
    [ -z "$output" ]
    ends a "$started"
}

@test "the manual's line for a part of a script: it runs, or the script ends with 1" {
    local line
    line=$(section | sed -n "s/^\.Dl \(lockrun .* || exit\)$/\1/p")
    [ -n "$line" ]
    line=$(filled "$line")
    run bash -c "${line/-w 30/-w 1}; echo went on"
    [ "$output" = "ran" ]
    [ "$status" = 3 ]
    run bash -c "${line/exit 3/true}; echo went on"
    [ "$output" = $'ran\nwent on' ] || { echo "$output"; false; }
    holds a name
    run bash -c "${line/-w 30/-w 1}; echo went on"
    [ "$status" = 1 ]
    [[ $output != *'went on'* ]] || false
    ends a "$started"
}

@test "the manual's beginning of a script that locks itself" {
    {
        printf '#!/bin/sh\nset -u\n'
        section | sed -n '/^\[ "\${LOCK_KEY-}"/,/^\.Ed/{/^\.Ed/!p}' | sed 's/NAME/name/; s/\\e$/\\/'
        echo 'echo "$LOCK_KEY $#:${2-}"; exit 3'
    } >script
    chmod +x script
    [ "$(wc -l <script)" -ge 5 ]
    run ./script a 'b c'
    [ "$status" = 3 ]
    [ "$output" = 'local/default/name 2:b c' ]
    holds a name
    run ./script a 'b c'
    [ "$status" = 1 ]
    [[ $output == 'lockrun: local/default/name is held by '* ]]
    [ "${#lines[@]}" = 1 ]
    ends a "$started"
    # What outlived its lease has LOCK_KEY still, and holds nothing.
    mkfifo go
    lockrun --key name --leftover=leave -- \
        sh -c '(read -r x <go; ./script >late.out 2>&1; echo $? >late) &' 3>&-
    holds b name
    echo >go
    within 20 test -s late
    [ "$(cat late)" = 1 ] || { cat late late.out; false; }
    ends b "$started"
    # Under another lock it takes its own.
    run lockrun --key other -- ./script
    [ "$status" = 3 ]
    [ "${lines[0]}" = 'local/default/name 0:' ]
}

@test "the manual's store of a group: users exclude each other by it" {
    local install line
    [ "$(id -u)" = 0 ] || skip 'only root can be several users'
    unset HOLDFAST_STORE
    install=$(sed -n '/^install /{s/-g [a-z]*/-g 60100/; s|/srv/locks|locks|p}' "$page")
    line=$(sed -n "/^HOLDFAST_STORE=/{s|/srv/locks|$PWD/locks|; s/ cmd\$//; s/=NAME/=name/p}" "$page")
    [ -n "$install" ]
    [ -n "$line" ]
    chmod 755 .
    $install
    cat >wait <<'END'
echo >ready
read -r x <end
END
    mkfifo ready end
    chmod 666 ready end
    setpriv --reuid 60101 --regid 60100 --clear-groups \
        bash -c "exec env $line sh wait" 3>&- &
    pids+=($!)
    read -r _ <ready
    run setpriv --reuid 60102 --regid 60102 --groups 60100 \
        bash -c "exec env $line true"
    [ "$status" = 75 ]
    run bash -c "exec env $line true"
    [ "$status" = 75 ]
    echo >end
    wait "${pids[-1]}"
    run setpriv --reuid 60102 --regid 60102 --groups 60100 \
        bash -c "exec env $line true"
    [ "$status" = 0 ]
}
