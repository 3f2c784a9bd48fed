#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence file: replaced whole or not at all, by who may; F49, F10.

load lib

setup() {
    D=$(mktemp -d)
    cd "$D"
}

teardown() {
    cd /
    for mounted in "$D"/mnt*; do
        ! mountpoint -q "$mounted" || umount "$mounted"
    done
    rm -rf "$D"
}

# put TEXT ARGUMENT...: lockfence file write with TEXT as input.
put() {
    local text=$1
    shift
    printf '%s\n' "$text" | lockfence file write "$@"
}

tidy() {
    local left
    left=$(find . -name '.*.fence?*')
    [ -z "$left" ] || { echo "left over: $left"; return 1; }
}

token_row() {
    local verdict=$1 token=$2
    rm -f f .f.fence
    if [ "$verdict" = accept ]; then
        expect 0 put x f --token="$token"
        [ "$(cat f)" = x ]
    else
        expect 64 put x f --token="$token"
        [ ! -e f ]
        # From the environment too; set to nothing it is not set.
        if [ -n "$token" ]; then
            LOCK_TOKEN=$token expect 64 put x f
        else
            LOCK_TOKEN= expect 83 put x f
        fi
        [ ! -e f ]
    fi
}

@test "tokens at the edges are accepted or refused as in every fence" {
    each_row tokens.tsv token_row
}

status_of() {
    case $1 in
    first | raised | same) echo 0 ;;
    stale) echo 80 ;;
    other-grant) echo 81 ;;
    repeated) echo 82 ;;
    other-key) echo 85 ;;
    esac
}

rule_row() {
    local mark_key=$5 key=$8 strict=${9} verdict=${10}
    rm -f f .f.fence
    unset LOCK_KEY
    if [ "$3" != - ]; then
        [ "$mark_key" = - ] || export LOCK_KEY=$mark_key
        expect 0 put old f --token="$3" --grant="${4#-}"
        unset LOCK_KEY
    fi
    [ "$key" = - ] || export LOCK_KEY=$key
    expect "$(status_of "$verdict")" \
        put new f --token="$6" --grant="${7#-}" ${strict/#strict/--strict}
    unset LOCK_KEY
    case $verdict in
    first | raised | same) [ "$(cat f)" = new ] ;;
    *) [ "$(cat f)" = old ] ;;
    esac
}

# Bash's own read would join empty fields; the table has none.
@test "marks and claims are judged by the rule of every fence" {
    strict_dash() { [ "$9" != - ] || set -- "${@:1:8}" '' "${10}"; rule_row "$@"; }
    each_row rules.tsv strict_dash
}

@test "F10: without a token nothing is written, and the message says why" {
    expect 83 put x f
    contains 'LOCK_TOKEN is not set'
    contains 'sudo: --preserve-env=LOCK_TOKEN'
    contains 'ssh: SendEnv'
    contains 'docker exec: -e LOCK_TOKEN'
    [ "$(ls -A)" = "" ]
}

@test "F49: a link is followed, and both names have one mark" {
    echo a >t
    ln -s t sym
    expect 0 put b sym -t 5
    [ -L sym ]
    [ "$(cat t)" = b ]
    expect 80 put c t -t 4
    expect 80 put c sym -t 4
    mkdir sub
    ln -s ../sym sub/again
    expect 80 put c sub/again -t 4
    expect 0 put c sub/again -t 6
    [ "$(cat t)" = c ]
    [ "$(ls -A sub)" = again ]
}

@test "F49: what cannot be fenced is refused and left as it was" {
    echo a >t
    ln t hard
    expect 84 put b t -t 5
    contains 'hard links'
    expect 84 put b hard -t 5
    expect 84 put b hard -t 5 --append
    [ "$(cat hard)" = a ]
    rm hard
    expect 0 put b t -t 5

    echo a >ro
    chmod 444 ro
    expect 77 put b ro -t 5
    contains 'read-only'
    [ "$(cat ro)" = a ]

    mkdir dir
    expect 84 put b dir -t 5
    contains 'is a folder'
    expect 84 put b dir/ -t 5
    expect 84 put b . -t 5
    expect 84 put b /dev/null -t 5
    contains 'is a device'
    mkfifo ff
    expect 84 timeout 5 lockfence file write ff -t 5 </dev/null
    contains 'is a pipe'
    expect 64 put b none/x -t 5
    contains 'none/x'
    ln -s "$D/nowhere" dang
    expect 84 put b dang -t 5
    contains 'link to a file that does not exist'
    ln -s loop loop
    expect 69 put b loop -t 5
    expect 64 put b '' -t 5
    expect 64 put b "$(printf 'n%.0s' {1..250})" -t 5
    contains 'too long'
    tidy
    [ ! -e nowhere ]
    [ -z "$(find . -name '.*.fence' ! -name .t.fence)" ]
}

@test "F49: owner, mode, attributes and ACL are kept" {
    echo a >p
    chmod 640 p
    setfattr -n user.k -v v p
    setfacl -m u:daemon:r p
    [ "$(id -u)" != 0 ] || chown daemon:bin p
    before=$(stat -c '%a %u %g' p; getfattr -d p; getfacl -n p)
    expect 0 put b p -t 5
    [ "$(cat p)" = b ]
    [ "$before" = "$(stat -c '%a %u %g' p; getfattr -d p; getfacl -n p)" ]
    expect 0 put c p -t 5 --append
    [ "$before" = "$(stat -c '%a %u %g' p; getfattr -d p; getfacl -n p)" ]
    # What a folder hands down is not added.
    setfacl -d -m u:daemon:rwx .
    echo a >q
    setfacl -b q
    chmod 600 q
    expect 0 put b q -t 5
    [ "$(stat -c %a q)" = 600 ]
    ! getfacl -n q 2>/dev/null | grep -q '^user:[0-9]'
}

@test "a new file gets what any new file would" {
    (umask 027; put a n -t 5)
    [ "$(stat -c %a n)" = 640 ]
    (umask 022; put a m -t 5 --append)
    [ "$(stat -c %a m)" = 644 ]
}

as_user() { setpriv --reuid=daemon --regid=daemon --clear-groups "$@"; }

@test "F49: what cannot be kept is named, and nothing is changed" {
    need_root
    chmod 777 .
    echo a >p
    chmod 666 p
    expect 77 as_user bash -c 'echo b | lockfence file write p -t 5'
    contains 'the owner of'
    contains 'could not be kept'
    [ "$(cat p)" = a ]
    # Appending changes no owner.
    expect 0 as_user bash -c 'echo b | lockfence file write p -t 5 --append'
    chmod 600 p
    expect 77 as_user bash -c 'echo b | lockfence file write p -t 5'
    contains 'cannot write'
    tidy
}

@test "users who share a file share its mark" {
    need_root
    chmod 777 .
    echo a >p
    chmod 666 p
    expect 0 put b p -t 5 --append
    expect 80 as_user bash -c 'echo c | lockfence file write p -t 4 --append'
    expect 0 as_user bash -c 'echo c | lockfence file write p -t 6 --append'
    expect 80 put d p -t 5 --append
    [ "$(paste -sd, p)" = a,b,c ]
}

@test "a stale writer is refused before its input is read" {
    put a f -t 5
    mkfifo in
    # Nobody ever writes to the pipe: reading it would not end.
    sleep 60 >in 3>&- &
    sleeper=$!
    expect 80 timeout 10 lockfence file write f -t 4 <in
    kill $sleeper
}

@test "input that fails or ends early changes nothing" {
    put a f -t 5
    expect 65 bash -c 'printf half | lockfence file write f -t 5 --size=8'
    contains '4 bytes instead of 8'
    expect 65 lockfence file write f -t 5 </
    contains 'cannot read standard input'
    expect 65 bash -c 'lockfence file write f -t 5 <&-'
    [ "$(cat f)" = a ]
    expect 0 bash -c 'printf whole | lockfence file write f -t 5 --size=5'
    [ "$(cat f)" = whole ]
    tidy
}

@test "a writer that is killed while reading leaves nothing" {
    put a f -t 5
    mkfifo in
    lockfence file write f -t 6 <in 3>&- &
    writer=$!
    exec 9>in
    echo b >&9
    # Its new contents have no name, which /proc shows as deleted.
    staged() { ls -l /proc/$writer/fd | grep -q deleted; }
    wait_for staged
    kill -9 $writer
    wait $writer || :
    exec 9>&-
    [ "$(cat f)" = a ]
    [ "$(ls -A)" = "$(printf '.f.fence\nf\nin')" ]
}

@test "status shows the mark" {
    expect 84 lockfence file status f
    contains 'has no mark'
    LOCK_TOKEN=281474976710656 LOCK_SESSION=s1 LOCK_KEY=t/n/k put a f
    expect 0 lockfence file status f
    contains 'token   281474976710656 (epoch 1, revision 0)'
    contains 'grant   s1'
    contains 'key     t/n/k'
    [[ $output != *warning* ]]
    expect 0 lockfence file status f --json
    contains '"token":"281474976710656"'
    contains '"is_other":false'
    echo x >g
    mv g f
    expect 0 lockfence file status f
    contains 'not the one that the fence put there'
}

@test "a file moves to another key only on purpose" {
    LOCK_KEY=t/n/old put a f -t 5
    LOCK_KEY=t/n/new expect 85 put b f -t 6
    contains 'guarded under key t/n/old'
    LOCK_KEY=t/n/new expect 0 put b f -t 6 --rekey
    LOCK_KEY=t/n/old expect 85 put c f -t 7
    LOCK_KEY=t/n/new expect 0 put c f -t 6
}

# ---- file systems ------------------------------------------------------------

# mounted NAME KIND SIZE: a folder of its own with such a file system.
mounted() {
    mkdir "mnt$1"
    case $2 in
    tmpfs) mount -t tmpfs -o size="$3" none "mnt$1" ;;
    *)
        truncate -s "$3" "image$1"
        "mkfs.$2" -q "image$1"
        mount -o loop "image$1" "mnt$1"
        ;;
    esac
}

fill() { dd if=/dev/zero of="$1/fill" bs=4k status=none 2>/dev/null || :; }

whole_story() {
    local f=$1/f
    expect 0 put one "$f" -t 5
    expect 0 put two "$f" -t 5 --append
    expect 0 put three "$f" -t 6
    expect 80 put four "$f" -t 5
    expect 80 put four "$f" -t 5 --append
    [ "$(cat "$f")" = three ]
    fill "$1"
    # Larger than what is left, whatever that is.
    expect 69 bash -c "head -c 400000 /dev/zero | lockfence file write $f -t 7"
    contains 'No space left'
    expect 69 bash -c \
        "head -c 400000 /dev/zero | lockfence file write $f -t 7 --append"
    [ "$(cat "$f")" = three ]
    tidy
    rm "$1/fill"
    expect 0 put five "$f" -t 7
    [ "$(cat "$f")" = five ]
    expect 80 put six "$f" -t 6
    tidy
}

@test "right on ext4, and a full one changes nothing" {
    need_root
    mounted 1 ext4 8M
    whole_story mnt1
}

@test "right on xfs, and a full one changes nothing" {
    need_root
    mounted 1 xfs 320M
    whole_story mnt1
}

@test "right on tmpfs, and a full one changes nothing" {
    need_root
    mounted 1 tmpfs 1M
    whole_story mnt1
}

@test "right on an overlay" {
    need_root
    mounted 1 tmpfs 8M
    mkdir mnt1/{low,up,work} mnt2
    echo low >mnt1/low/f
    mount -t overlay -o lowerdir=mnt1/low,upperdir=mnt1/up,workdir=mnt1/work \
        none mnt2
    expect 0 put two mnt2/f -t 5
    expect 80 put three mnt2/f -t 4
    expect 0 put three mnt2/f -t 5 --append
    [ "$(paste -sd, mnt2/f)" = two,three ]
    tidy
}

@test "a file system that is read-only is said to be" {
    need_root
    mounted 1 tmpfs 1M
    put one mnt1/f -t 5
    mount -o remount,ro mnt1
    expect 77 put two mnt1/f -t 6
    contains 'Read-only file system'
    [ "$(cat mnt1/f)" = one ]
}

@test "a file that is a mount point has its mark elsewhere, and is refused" {
    need_root
    echo a >t
    touch mnt1
    mount --bind t mnt1
    expect 84 put b mnt1 -t 5
    contains 'mount point'
    expect 84 put b mnt1 -t 5 --append
    [ "$(cat t)" = a ]
}

@test "a folder that is mounted twice has one mark" {
    need_root
    mkdir real mnt1
    mount --bind real mnt1
    expect 0 put a real/f -t 5
    expect 80 put b mnt1/f -t 4
    expect 0 put b mnt1/f -t 6
    expect 80 put c real/f -t 5
}

# ---- death and crowds -----------------------------------------------------------

@test "killed at any moment, the file is whole and its mark not behind it" {
    local i pid token=10 last
    big() { head -c 300000 /dev/zero | tr '\0' "$1"; }
    big a | lockfence file write f -t $token
    for i in $(seq 60); do
        token=$((token + 1))
        letter=$(printf "\\x$(printf %x $((97 + i % 26)))")
        big "$letter" >in
        lockfence file write f -t $token $([ $((i % 3)) = 0 ] && echo --append) \
            <in 3>&- &
        pid=$!
        sleep 0.00$((RANDOM % 10))
        kill -9 $pid 2>/dev/null || :
        wait $pid 2>/dev/null || :
    done
    # Whatever the last of them did, the next write finds the way free.
    put end f -t $((token + 1)) --append
    [ "$(tail -c 4 f)" = end ]
    head -c -4 f | fold -b -w 300000 >runs
    while IFS= read -r line || [ -n "$line" ]; do
        printf '%s\n' "${#line} $(tr -s a-z <<<"$line")"
    done <runs >found
    ! grep -vE '^300000 .$' found || false
    [ -s found ]
    expect 80 put x f -t $token
    tidy
}

@test "writers with mixed tokens at once: what was taken never goes down" {
    local i
    # The lowest, so that there are two whatever comes.
    echo 1 | lockfence file write log -t 1 --grant g1 --append
    writer() {
        local n
        for n in $(seq 12); do
            local token=$((2 + RANDOM % 1000))
            echo "$token" | lockfence file write log -t $token --grant g$token \
                --append 2>/dev/null
            case $? in 0 | 80) ;; *) echo "status $?" >>strange ;; esac
        done
    }
    for i in $(seq 16); do writer 3>&- & done
    wait
    [ ! -e strange ] || { cat strange; false; }
    sort -nc log
    [ "$(wc -l <log)" -gt 1 ]
    expect 0 lockfence file status log
    contains "token   $(tail -n 1 log) "
    tidy
}
