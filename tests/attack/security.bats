# SPDX-License-Identifier: Apache-2.0
# What must not be got out of the tools, or through them, on one machine. What
# other suites show already is not shown again: that keys are refused and never
# mapped (C23 in tests/cli), that links are not followed and what is no file is
# not opened (tests/unit/test_sqlite_place, tests/cases), that a job gets its
# descriptors and no others (C33 and F02 in tests/cli), that loose class files
# are not obeyed (tests/cli), that no redirect is followed and certificates are
# checked (tests/fence).
bats_require_minimum_version 1.5.0
. "${BATS_TEST_DIRNAME}/../cli/lockrun.bash"
setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

# Not a byte that a terminal obeys: C0 but line ends and tabs, DEL, C1, and the
# marks that change the direction of writing.
is_clean() {
    ! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$1" ||
        { LC_ALL=C cat -v "$1"; return 1; }
}
evil=$'a\e]0;x\a\e[2J\r\u202eb\u2066\u009bm\x7f\xff'

@test "S20: a lockrun with raised rights runs nothing" {
    [ "$(id -u)" = 0 ] || skip 'only root can make one'
    chmod 755 "$D"
    cp "$(command -v lockrun)" raised
    for mode in 4755 2755 6755; do
        chown root:root raised
        chmod "$mode" raised
        as_nobody sh -c '[ "$(stat -c %a raised)" = '"$mode"' ]'
        runs as_nobody ./raised --store "$D/its" --key t/n/k -- touch "$D/ran"
        # Where such a file raises nothing there is nothing to refuse.
        [[ $output != *'Permission denied'* ]] || skip 'nobody may run it here'
        findmnt -no OPTIONS -T . | grep -qw nosuid && skip 'nosuid here'
        [ "$status" = 77 ]
        [[ ${lines[0]} == 'lockrun: not to be used with raised rights'* ]]
        [ ! -e ran ]
        [ ! -e its ]
    done
}

@test "S20: nor does one to whose file capabilities are given" {
    [ "$(id -u)" = 0 ] || skip 'only root can give them'
    chmod 755 "$D"
    cp "$(command -v lockrun)" raised
    # CAP_DAC_OVERRIDE, permitted and in effect: struct vfs_cap_data.
    python3 -c 'import os, struct
os.setxattr("raised", "security.capability",
            struct.pack("<5I", 0x02000001, 1 << 1, 0, 0, 0))' ||
        skip 'files here have no capabilities'
    findmnt -no OPTIONS -T . | grep -qw nosuid && skip 'nosuid here'
    runs as_nobody ./raised --store "$D/its" --key t/n/k -- touch "$D/ran"
    [ "$status" = 77 ]
    [[ ${lines[0]} == 'lockrun: not to be used with raised rights'*capabilities* ]]
    [ ! -e ran ]
    [ ! -e its ]
}

@test "S18: whatever the umask, what lockrun makes is its user's alone" {
    umask 0
    holds one t/n/k
    waits two t/n/k
    [ "$(find store -type f | wc -l)" -ge 4 ]
    run -0 find store/* -perm /077
    [ -z "$output" ]
    ends one "${pids[0]}"
}

@test "S22: what strangers wrote moves nobody's cursor, in no tool" {
    cat >"$D/$evil" <<'END'
#!/bin/sh
echo >"$1"
read -r x <"$2"
END
    chmod 755 "$D/$evil"
    mkfifo ready end
    starts evil --key t/n/k --note "$evil" -- "$D/$evil" ready end
    read -r x <ready
    waits two t/n/k --note "$evil"
    {
        lockrun -n --key t/n/k -- true || :
        lockrun -n --key t/n/k --json -- true || :
        for words in ls 'show t/n/k' queue 'top --once'; do
            lockctl $words
            lockctl $words --json
        done
        lockctl release t/n/k --token 1 || :
        timeout 1 lockrun --watch --key t/n/k -- true || :
    } >all 2>&1
    [ "$(grep -c 'x1b' all)" -ge 5 ]
    is_clean all
    echo >end
    within 10 gone "${pids[0]}"
}

@test "S22: words of the command line come back clean in what is said of them" {
    for words in "--key=$evil" "--class=$evil" "--ttl=$evil" "--wait=$evil" \
        "--nested=$evil" "--$evil" "-$evil" "--store=x$evil:y" "--explain=$evil"; do
        runs lockrun "$words" -- true
        [ "$status" != 0 ]
        echo "$output" >>all
    done
    runs lockrun --key t/n/k -- "./$evil"
    [ "$status" = 127 ]
    echo "$output" >>all
    for words in "$evil" "show $evil" "ls $evil" "class show $evil" \
        "class lint /$evil" "release $evil --token $evil" "epoch advance --why $evil -n"; do
        runs lockctl $words
        echo "$output" >>all
    done
    for words in "$evil" "file status $evil/x" "file write x --token $evil" \
        "held --margin $evil"; do
        runs lockfence $words </dev/null
        [ "$status" != 0 ]
        echo "$output" >>all
    done
    [ "$(wc -l <all)" -ge 15 ]
    is_clean all
}

@test "a name is a name: nothing of it is an option, a path or a line" {
    # A key may begin with a dash, and be given as a word of its own.
    lockrun --key=-rf -- touch ran
    lockrun --key -rf -- touch ran
    [ -e ran ]
    for words in 'show -- -rf' 'queue -- -rf' 'ls -- -rf' 'class show -- -rf' \
        'class lint -- -rf' 'release --token 1 -- -rf' 'complete -- keys -rf'; do
        runs lockctl $words
        [[ $output != *'no such option'* ]]
    done
    mkdir sub
    for words in 'file write --token 5 -- -rf' 'file status -- -rf'; do
        runs lockfence $words </dev/null
        [ "$status" = 0 ]
    done
    [ -f ./-rf ]
    for key in '$(touch pwned)' '`touch pwned`' 'a;touch pwned' '../../pwned' \
        't/n/../../../pwned' $'t/n/a\nb'; do
        runs lockrun --key "$key" -- touch pwned
        [ "$status" = 64 ]
    done
    [ ! -e pwned ]
}

@test "what a stranger wrote is no line of the shell, whoever is told of it" {
    mkfifo ready end
    printf '#!/bin/sh\necho >ready\nread -r x <end\n' >'$(touch pwned); `touch pwned`'
    chmod 755 '$(touch pwned); `touch pwned`'
    starts evil --key t/n/k --note "'; touch pwned; \$(touch pwned)" -- \
        './$(touch pwned); `touch pwned`'
    read -r x <ready
    runs lockrun -n --key t/n/k --on-busy 'echo "<$LOCK_HOLDER_NOTE>" >told' -- true
    [ "$status" = 75 ]
    [ "$(cat told)" = "<'; touch pwned; \$(touch pwned)>" ]
    echo >end
    within 10 gone "${pids[0]}"
    [ ! -e pwned ]
}

@test "S7: another user's hold is not to be ended, with its token and session known" {
    [ "$(id -u)" = 0 ] || skip 'needs two users'
    holds one t/n/k
    chmod 755 "$D" store
    before=$(lockctl show t/n/k --json)
    token=${before#*'"token":"'}
    token=${token%%\"*}
    [ "$token" -gt 1 ]
    runs as_nobody lockctl release t/n/k --token "$token"
    [ "$status" = 77 ]
    runs as_nobody lockctl epoch advance --why mine --now --yes
    [ "$status" = 77 ]
    runs as_nobody env LOCK_KEY=t/n/k LOCK_TOKEN="$token" \
        LOCK_SESSION="$(printf '%s' "$before" | sed 's/.*"session":"\([0-9a-f]*\)".*/\1/')" \
        lockrun --nested=join --key t/n/k -- touch "$D/pwned"
    [ "$status" = 77 ]
    runs as_nobody lockctl ls
    [ "$status" = 77 ]
    [[ $output != *t/n/k* ]]
    [ "$(lockctl show t/n/k --json | sed 's/"token".*//')" = "${before%%\"token\"*}" ]
    ends one "$started"
}

@test "a forged environment makes nobody wait, and nobody a holder" {
    mkfifo pipe
    for state in pipe . /dev/zero /dev/tty nowhere "$evil" ''; do
        runs timeout 10 env LOCK_STATE="$state" LOCK_SESSION="$evil" LOCK_TOKEN="$evil" \
            lockfence held
        [ "$status" = 2 ] || [ "$status" = 1 ]
        runs timeout 10 env LOCK_STATE="$state" LOCK_SESSION="$evil" LOCK_KEY=t/n/k \
            LOCK_TOKEN=9223372036854775807 lockrun --nested=join --key t/n/k -- \
            sh -c 'echo "$LOCK_TOKEN $LOCK_STATE"'
        [ "$status" = 0 ]
        [[ $output =~ ^[0-9]+\ /.*/s-[0-9a-f]{16}$ ]]
        [[ $output != 9223372036854775807* ]]
    done
}

@test "S17: no secret in what is said, nor in the words of a process" {
    command -v strace >/dev/null || skip 'needs strace'
    [ -x "$HF_BUILD/lockfence-s3" ] || skip 'built without S3'
    export AWS_ACCESS_KEY_ID=known AWS_SECRET_ACCESS_KEY=sEcReT1 AWS_SESSION_TOKEN=sEcReT2 \
        AWS_ENDPOINT_URL=http://127.0.0.1:9
    status=0
    strace -f -qq -s 100000 -e trace=execve,write -o trace \
        lockfence s3 put s3://bucket/o --token 5 --json >out 2>&1 </dev/null || status=$?
    [ "$status" = 69 ]
    [ -s out ]
    ! grep -q sEcReT out trace || false
    grep -q execve trace
}
