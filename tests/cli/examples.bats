#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# examples/, as they stand, run by what runs them: lines by cron's shell, units as
# systemd reads and starts them, an entry point as process 1. What has a fence is
# in tests/fence/examples.bats.
load lockrun
load cron

setup() {
    lockrun_setup
    examples=$HF_SRC/examples
    mkdir "$D/jobs"
}
teardown() { lockrun_teardown; }

# job NAME [LINE...]: a program of that name among the jobs; it writes its name to
# $D/ran, and what the lines do.
job() {
    local name=$1
    shift
    printf '%s\n' '#!/bin/sh' "echo $name >>'$D/ran'" "$@" >"$D/jobs/$name"
    chmod +x "$D/jobs/$name"
}
ran() { [ "$(cat ran 2>/dev/null)" = "$*" ]; }

# plain JOB [NAME=VALUE...]: like runs, of that job's line of plain.crontab.
plain() { runs as_cron plain.crontab "\$JOBS/$1" JOBS="$D/jobs" "${@:2}"; }
plain_behind() { # JOB OUTPUT
    as_cron plain.crontab "\$JOBS/$1" JOBS="$D/jobs" >"$2" 2>&1 3>&- &
    behind=$!
}
# meets JOB: the line's first run is at work until `ends_first`.
meets() {
    mkfifo ready end
    job "$1" "[ \$(wc -l <'$D/ran') -gt 1 ] || { echo >'$D/ready'; read -r x <'$D/end'; }"
    exec 8<>ready
    plain_behind "$1" first.out
    first=$behind
    read -r -t 20 _ <&8 || { cat first.out; return 1; }
    exec 8>&-
}
ends_first() {
    echo >end
    ended "$first"
    [ "$status" = 0 ]
    [ ! -s first.out ]
    rm -f ready end
}

@test "every example is named by a test that runs it" {
    while read -r file; do
        case $file in README.md | local.mk) continue ;; esac
        grep -qrF -- "${file#systemd/}" "$HF_SRC/tests" "$HF_SRC/dev" || { echo "no test names $file"; false; }
        grep -qF -- "\`$file\`" "$examples/README.md" || { echo "README.md does not name $file"; false; }
    done < <(cd "$examples" && find . -type f -printf '%P\n')
}

@test "plain.crontab: one run says nothing, whichever the line" {
    for word in fetch-mail rotate-reports reindex nightly scrub trim send-digest; do
        rm -f ran
        job "$word"
        plain "$word"
        [ "$status" = 0 ] || { echo "$word: $status $output"; false; }
        [ -z "$output" ]
        ran "$word"
    done
}

@test "plain.crontab: skipped quietly" {
    meets fetch-mail
    plain fetch-mail
    [ "$status" = 0 ]
    [ -z "$output" ]
    ran fetch-mail
    ends_first
}

@test "plain.crontab: skipped, and told in one line" {
    meets rotate-reports
    plain rotate-reports
    [ "$status" = 0 ]
    [ "${#lines[@]}" = 1 ]
    [[ $output == *'rotate-reports is held by '*'jobs/rotate-reports (pid '* ]] || { echo "$output"; false; }
    ran rotate-reports
    ends_first
}

@test "plain.crontab: waits in turn, and no longer than it says" {
    meets reindex
    plain_behind reindex second.out
    second=$behind
    key=$(lockctl ls --json | sed 's/.*"key":"\([^"]*\)".*/\1/')
    within 10 says '"waiting":1,' lockctl show "$key" --json
    ends_first
    ended "$second"
    [ "$status" = 0 ]
    [ ! -s second.out ]
    ran $'reindex\nreindex'
    grep -q -- '-w 10m ' "$examples/plain.crontab"
}

@test "plain.crontab: a job that runs for too long is stopped, with what it started" {
    # The line as it stands, but for the two hours.
    mkdir copy
    sed 's/--max-run=2h --grace=30s/--max-run=500ms --grace=200ms/' "$examples/plain.crontab" >copy/plain.crontab
    ! cmp -s copy/plain.crontab "$examples/plain.crontab" || false
    mark=$D/mark
    job nightly "trap '' TERM" "(setsid sh -c 'trap \"\" TERM; sleep 300; :' '$mark' &)" 'while :; do sleep 0.1; done'
    mkdir -p tree
    ln -s "$D/copy" tree/examples
    HF_SRC=$D/tree plain nightly
    [ "$status" = 124 ]
    [[ $output == *--max-run* ]]
    none_runs "$mark"
}

@test "plain.crontab: two jobs with one key do not meet, and the note is shown" {
    meets scrub
    job trim
    plain_behind trim second.out
    second=$behind
    within 10 says '"waiting":1,' lockctl show site/disk/scrub --json
    says 'weekly scrub' lockctl show site/disk/scrub
    ends_first
    ended "$second"
    [ "$status" = 0 ]
    ran $'scrub\ntrim'
}

@test "plain.crontab: a quick job keeps its key, so that the twin finds it busy" {
    job send-digest
    plain send-digest
    [ "$status" = 0 ]
    plain send-digest
    [ "$status" = 0 ]
    [ -z "$output" ]
    ran send-digest
}

@test "plain.crontab: a start that is spread runs all the same" {
    # Of up to 30 s, which is not waited for here.
    mkdir -p copy tree
    sed 's/--jitter=30s/--jitter=100ms/' "$examples/plain.crontab" >copy/plain.crontab
    ! cmp -s copy/plain.crontab "$examples/plain.crontab" || false
    ln -s "$D/copy" tree/examples
    job check-updates
    HF_SRC=$D/tree plain check-updates
    [ "$status" = 0 ]
    [ -z "$output" ]
    ran check-updates
}

# ---- systemd ------------------------------------------------------------------

# units: copies of the units, whose programs are in this test's folder.
units() {
    mkdir -p units/backup.service.d bin
    cp "$(command -v lockrun)" bin/
    for file in report.service report.timer backup.service.d/lockrun.conf; do
        sed "s|/usr/local/bin/|$D/bin/|g" "$examples/systemd/$file" >"units/$file"
    done
    printf '[Unit]\nDescription=Backup\n[Service]\nType=oneshot\nExecStart=%s\n' "$D/bin/backup" >units/backup.service
    for name in report backup; do
        job "$name" "[ ! -e '$D/work.$name' ] || . '$D/work.$name'"
        cp "jobs/$name" bin/
    done
}
verify() {
    command -v systemd-analyze >/dev/null || skip 'no systemd-analyze here'
    SYSTEMD_LOG_LEVEL=info runs systemd-analyze verify --man=no --recursive-errors=no "$@"
}
# value FILE NAME: of the last line NAME=... in a unit.
value() { sed -n "s/^$2=//p" "$1" | tail -n 1; }
# starts_unit FILE: what systemd would run, in an environment as it gives.
starts_unit() {
    local words
    read -r -a words <<<"$(value "$1" ExecStart)"
    env -i PATH=/usr/bin:/bin LANG=C INVOCATION_ID=1 HOLDFAST_STORE="$HOLDFAST_STORE" \
        setsid -w "${words[@]}" </dev/null
}

@test "systemd: the units, the timer and the drop-in are what systemd reads" {
    units
    for unit in report.service report.timer backup.service; do
        verify "units/$unit"
        [ "$status" = 0 ] && [ -z "$output" ] || { echo "$unit: $status $output"; false; }
    done
    # The drop-in is read, and faults in it would be told.
    echo 'KillMode=gently' >>units/backup.service.d/lockrun.conf
    verify units/backup.service
    [[ $output == *lockrun.conf*gently* ]] || { echo "$output"; false; }
    sed -i 's|^ExecStart=.*|ExecStart=/none/such|' units/report.service
    verify units/report.service
    [[ $output == *'/none/such is not executable'* ]] || { echo "$output"; false; }
}

@test "systemd: the unit and the drop-in run the job; busy is 75, which is no failure to them" {
    units
    for row in 'report.service report report' 'backup.service.d/lockrun.conf backup backup'; do
        read -r file name key <<<"$row"
        rm -f ran
        runs starts_unit "units/$file"
        [ "$status" = 0 ] && [ -z "$output" ] || { echo "$file: $status $output"; false; }
        ran "$name"
        holds "$name" "$key"
        sed -i 's/-w 10m/-w 200ms/' "units/$file"
        runs starts_unit "units/$file"
        [ "$status" = "$(value "units/$file" SuccessExitStatus)" ]
        ran "$name"
        ends "$name" "$started"
    done
}

@test "systemd: stopped as KillMode says, the job cleans up, and nothing is left" {
    units
    [ "$(value units/report.service KillMode)" = mixed ]
    cat >work.report <<END
trap 'echo asked >>"$D/asked"; sleep 0.3; echo cleaned >>"$D/asked"; exit 0' TERM
touch "$D/up"
while :; do sleep 0.05; done
END
    starts_unit units/report.service 2>err 3>&- &
    runner=$!
    appears up
    # mixed: TERM to the main process alone.
    main=$(pgrep -x -P "$(pgrep -x -P "$runner" setsid || echo "$runner")" lockrun)
    pids+=("$main")
    kill -TERM "$main"
    ended "$runner"
    [ "$status" = 0 ]
    [ "$(tr '\n' ' ' <asked)" = 'asked cleaned ' ]
    none_runs "$D/bin/report"
    runs lockrun -n --key report -- true
    [ "$status" = 0 ]
}

# ---- a container --------------------------------------------------------------

# contained WORD...: the entry point as the first process of a pid namespace.
contained() {
    env STORE="$D/locks/lock.db" LOCK=report "${contained_env[@]}" \
        unshare -Urpf --mount-proc "$examples/entrypoint.sh" "$@"
}
has_namespaces() {
    unshare -Urpf --mount-proc true 2>/dev/null || skip 'no user namespaces here'
    mkdir locks
    contained_env=(WAIT=30s)
}

@test "entrypoint.sh: process 1 reaps, hands on the status, and asks for a key" {
    has_namespaces
    runs contained sh -c 'for i in 1 2 3 4; do (setsid sh -c "sleep 0.1" &); done
        sleep 0.6
        for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
            left=
            for s in /proc/[0-9]*/stat; do read -r _ _ state _ <$s; [ "$state" != Z ] || left=$s; done
            [ "$left" ] || break
            sleep 0.5
        done
        [ -z "$left" ] || exit 9
        tr "\0" " " </proc/1/cmdline; exit 4'
    [ "$status" = 4 ] || { echo "$output"; false; }
    [[ $output == lockrun*' --key=report '* ]]
    runs env -u LOCK "$examples/entrypoint.sh" true
    [ "$status" != 0 ]
    [[ $output == *'LOCK: which key?'* ]]
}

@test "entrypoint.sh: TERM to process 1 reaches the job, which cleans up" {
    has_namespaces
    contained sh -c 'trap "echo cleaned >cleaned; exit 5" TERM; touch up; while :; do sleep 0.05; done' 3>&- &
    outer=$!
    appears up
    kill -TERM "$(children_of "$(running 'unshare -Urpf --mount-proc '"$examples/entrypoint.sh" | head -n 1)")"
    ended "$outer"
    [ "$status" = 5 ]
    [ -e cleaned ]
}

@test "entrypoint.sh: a second container waits, and ends with 75 when that was in vain" {
    has_namespaces
    mkfifo end
    contained sh -c 'touch up; read -r x <end' 3>&- &
    outer=$!
    appears up
    contained_env=(WAIT=200ms)
    runs contained touch ran
    [ "$status" = 75 ]
    [ ! -e ran ]
    echo >end
    ended "$outer"
    [ "$status" = 0 ]
    runs contained touch ran
    [ "$status" = 0 ]
    [ -e ran ]
}

# ---- scripts ------------------------------------------------------------------

@test "job.sh: tells what it was handed, and wants to be started through lockrun" {
    runs "$examples/job.sh"
    [ "$status" = 1 ]
    [[ $output == *'start me through lockrun'* ]]
    runs "${L[@]}" -- "$examples/job.sh"
    [ "$status" = 0 ]
    [[ $output == *LOCK_KEY=t/n/k* ]]
}

@test "loop.sh: each file once, and what is left over the next time" {
    mkdir many
    touch many/{a,b,c,'d e'}
    runs "${L[@]}" -- "$examples/loop.sh" many sh -c '[ "$1" != many/c ] && echo "$1" >>done' x
    # A step that fails ends the run; it is tried again.
    [ "$status" = 1 ]
    [ "$(tr '\n' ' ' <done)" = 'many/a many/b ' ]
    runs "${L[@]}" -- "$examples/loop.sh" many sh -c 'echo "$1" >>done' x
    [ "$status" = 0 ]
    [ "$(tr '\n' ' ' <done)" = 'many/a many/b many/c many/d e ' ]
    runs "${L[@]}" -- "$examples/loop.sh" many false
    [ "$status" = 0 ]
}

@test "loop.sh: starts no step that the lease does not cover, nor without a lease" {
    mkdir many
    touch many/{a,b}
    # Longer than any TTL of this class.
    STEP=1h runs "${L[@]}" -- "$examples/loop.sh" many touch ran
    [ "$status" = 3 ]
    [[ $output == *'not good for another 1h: stopping before many/a' ]]
    [ ! -e ran ]
    runs "$examples/loop.sh" many touch ran
    [ "$status" = 3 ]
    [[ $output == *'LOCK_STATE is not set'* ]]
    [ ! -e ran ]
}

@test "loop.sh: the lease is not renewed in the middle of a step: it is the last one" {
    mkdir many
    touch many/{a,b}
    # lockrun, the guardian, the loop, this step. Then it takes longer than it was
    # thought to, though nobody is stopped yet.
    cat >step <<'END'
#!/bin/sh
echo "$1" >>done
parent_of() { sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$1/stat"; }
kill -STOP "$(parent_of "$(parent_of "$PPID")")"
while lockfence held --margin 10s; do sleep 0.05; done
END
    chmod +x step
    STEP=10s begins --ttl 20s --grace 500ms -- "$examples/loop.sh" many ./step
    within 30 grep -q 'stopping before many/b' err || { cat err; false; }
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 3 ] || { echo "$status"; cat err; false; }
    [ "$(cat done)" = many/a ]
}

@test "backup.sh: locks by itself, and the archive is whole" {
    mkdir -p data/sub
    echo one >data/a
    echo two >'data/sub/b c'
    runs "$examples/backup.sh" "$D/data" "$D/data.tar.gz"
    [ "$status" = 0 ] && [ -z "$output" ] || { echo "$output"; false; }
    mkdir back
    tar -C back -xzf data.tar.gz
    diff -r data back
    # Again, in its own place; and what fails leaves the old one.
    echo three >data/a
    "$examples/backup.sh" "$D/data" "$D/data.tar.gz"
    [ "$(tar -xzOf data.tar.gz ./a)" = three ]
    cp data.tar.gz kept
    TMPDIR=$D runs "$examples/backup.sh" "$D/none" "$D/data.tar.gz"
    [ "$status" != 0 ]
    cmp kept data.tar.gz
    [ -z "$(find . -name 'backup.*')" ]
    runs "$examples/backup.sh" "$D/data"
    [ "$status" = 64 ]
}

@test "backup.sh: what fails leaves nothing, however late its gzip is" {
    # tar does not wait for it. The key is held already, so that strace sees it all.
    TMPDIR=$D runs lockrun --key=site/backup/data -- strace -f -qq -o trace \
        -e trace=?creat -e inject=?creat:delay_enter=500000 \
        "$examples/backup.sh" "$D/none" "$D/data.tar.gz"
    [ "$status" = 2 ] || { echo "$status $output"; false; }
    [ -z "$(find . -name 'backup.*')" ] || { find . -name 'backup.*'; false; }
}

@test "backup.sh: what outlived its lease takes the lock anew" {
    mkdir data
    # It has all of the former lease in its environment.
    mkfifo go
    lockrun --key=site/backup/data --leftover=leave -- \
        sh -c '(read -r x <go; WAIT=200ms "$@" >late.out 2>&1; echo $? >late) &' x \
        "$examples/backup.sh" "$D/data" "$D/data.tar.gz" 3>&-
    holds a site/backup/data
    echo >go
    within 20 test -s late
    [ "$(cat late)" = 75 ] || { cat late late.out; false; }
    [ ! -e data.tar.gz ]
    ends a "$started"
}

@test "backup.sh: a second one waits within its bound, then 75" {
    mkdir data
    holds a site/backup/data --note 'backup of elsewhere'
    WAIT=200ms runs "$examples/backup.sh" "$D/data" "$D/data.tar.gz"
    [ "$status" = 75 ]
    [[ $output == *'backup of elsewhere'* ]]
    [ ! -e data.tar.gz ]
    "$examples/backup.sh" "$D/data" "$D/data.tar.gz" 3>&- &
    second=$!
    within 10 says '"waiting":1,' lockctl show site/backup/data --json
    [ ! -e data.tar.gz ]
    ends a "$started"
    ended "$second"
    [ "$status" = 0 ]
    [ -e data.tar.gz ]
}

@test "backup.sh: in time it is stopped, and a newer holder's archive stays" {
    mkdir data bin
    printf '#!/bin/sh\nsleep 300\n' >bin/tar
    chmod +x bin/tar
    PATH=$D/bin:$PATH LIMIT=500ms runs "$examples/backup.sh" "$D/data" "$D/data.tar.gz"
    [ "$status" = 124 ]
    [ ! -e data.tar.gz ]
    echo newer | lockfence file write data.tar.gz -t 9000000000000000000 -k site/backup/data
    runs "$examples/backup.sh" "$D/data" "$D/data.tar.gz"
    [ "$status" = 80 ]
    [ "$(cat data.tar.gz)" = newer ]
}

@test "all of them are installed, where fenced.crontab looks for them" {
    unset MAKEFLAGS MFLAGS MAKELEVEL
    make -s -C "$HF_BUILD" DESTDIR="$D/there" docdir=/doc install-nobase_dist_docDATA install-dist_exampleSCRIPTS
    diff <(cd "$HF_SRC/examples" && find . -type f ! -name local.mk | sort) \
        <(cd "$D/there/doc/examples" && find . -type f | sort)
    [ -x "$D/there/doc/examples/s3-publish.sh" ]
    eval "$(grep ^EXAMPLES= "$HF_SRC/examples/fenced.crontab")"
    [[ $EXAMPLES == */share/doc/holdfast/examples ]]
}
