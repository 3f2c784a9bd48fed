#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Where the store lies when nobody says so. In a mount namespace of the test's own,
# so that this machine's stores are neither seen nor touched.
load ../cli/lockrun

setup() {
    [ "$(id -u)" = 0 ] || skip 'only root can mount'
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    lockrun_setup
    unset HOLDFAST_STORE HOLDFAST_CLASSES
    chmod 755 .
    command=$(command -v lockrun)
    # Fresh folders where stores and sessions of users lie.
    cat >fresh <<'END'
for place in /var/lib /var/tmp /run /dev/shm; do
    mount -t tmpfs -o mode=${mode:-755} fresh "$place"
done
chmod 1777 /var/tmp /dev/shm
END
}
teardown() { lockrun_teardown; }

# inside SCRIPT WORD...: run in such a namespace.
inside() {
    local script=$1
    shift
    unshare -m bash -eu -c '. ./fresh; '"$script" x "$@"
}

@test "F03: whichever way a user comes in, there is one store" {
    cat >ways <<'END'
as="$2"
run() { $as "$@" -n --key t/n/f03 -- echo BAD; }
XDG_RUNTIME_DIR=/run/user/0 XDG_STATE_HOME=$PWD/st XDG_DATA_HOME=$PWD/da \
    $as "$1" --key t/n/f03 -- sh -c 'echo >"$1/ready"; read -r x <"$1/end"' x "$PWD" &
read -r _ <ready
status=0; $as env -i "$1" -n --key t/n/f03 -- echo BAD || status=$?; echo "empty $status"
status=0; $as env -i HOME="$PWD" "$1" -n --key t/n/f03 -- echo BAD || status=$?; echo "home $status"
status=0; $as env -i HOME=/nonexistent TMPDIR="$PWD" "$1" -n --key t/n/f03 -- echo BAD || status=$?; echo "tmpdir $status"
status=0; $as env XDG_RUNTIME_DIR=/elsewhere "$1" -n --key t/n/f03 -- echo BAD || status=$?; echo "xdg $status"
status=0; (cd / && $as setsid -w "$1" -n --key t/n/f03 -- echo BAD) || status=$?; echo "root folder $status"
echo >end
wait
END
    mkfifo -m 666 ready end
    for as in '' 'setpriv --reuid 65534 --regid 65534 --clear-groups'; do
        runs inside '. ./ways' "$command" "$as"
        [ "$status" = 0 ]
        [ "$(grep -c ' 75$' <<<"$output")" = 5 ] || { echo "$output"; false; }
        [[ $output != *BAD* ]]
    done
}

@test "F03: what moves the store is told by the run that it moved" {
    runs inside 'HOLDFAST_STORE=$PWD/moved "$1" --verbose --key t/n/k -- true' "$command"
    [ "$status" = 0 ]
    [[ $output == *"the store is $D/moved, named by HOLDFAST_STORE"* ]]
    runs inside '"$1" --verbose --key t/n/k -- true' "$command"
    [ "$status" = 0 ]
    [[ $output != *'named by'* ]]
}

@test "C12: cron's bare world, as root and as a user" {
    for as in '' 'setpriv --reuid 65534 --regid 65534 --clear-groups'; do
        runs inside 'cd /; exec $2 env -i "$1" --class=batch -- true </dev/null' "$command" "$as"
        [ "$status" = 0 ] || { echo "$as: $output"; false; }
        [ -z "$output" ]
    done
}

@test "C16: where a folder cannot be written, one line names it and --store; nothing is run" {
    # Read-only, one after the other, and all together; as root and as a user.
    for as in '' 'setpriv --reuid 65534 --regid 65534 --clear-groups'; do
        for places in /var/lib /var/tmp /run /dev/shm '/var/lib /var/tmp /run /dev/shm'; do
            runs inside 'for place in $3; do mount -o remount,ro "$place"; done
                exec $2 "$1" --key t/n/k -- echo ran' "$command" "$as" "$places"
            case $status in
            0) [ "$output" = ran ] ;;
            69 | 77)
                [ "${#lines[@]}" = 1 ]
                [[ $output == 'lockrun: '*/*'--store'* ]] || { echo "$output"; false; }
                ;;
            *) echo "$as $places: $status $output"; false ;;
            esac
        done
    done
    [ "$status" != 0 ]
}

@test "C08: a store that nobody can read is 77 or 69, never 75" {
    mkdir -m 700 locked
    runs setpriv --reuid 65534 --regid 65534 --clear-groups "$command" "--store=$D/locked/db" --key t/n/k -- true
    [[ $status == 77 || $status == 69 ]]
    [[ $output == *"$D/locked"* ]]
}

@test "a file that is not a store stays as it is, whoever is told that it is one" {
    mkdir place
    printf 'root:x:0:0:root:/root:/bin/sh\n' >place/users
    python3 -c 'import sqlite3
with sqlite3.connect("place/other.db") as db:
    db.execute("CREATE TABLE cell(k BLOB PRIMARY KEY, v)")'
    head -c 300000 /dev/urandom >place/noise
    chmod 644 place/*
    sha256sum place/* >sums
    stat -c '%n %a %i %y' place place/* >stats
    for file in users other.db noise; do
        for words in 'lockrun --key k -- touch ran' 'lockrun -n --skip -- touch ran' \
            'lockrun --dry-run -- true' 'lockctl ls' 'lockctl show k' \
            'lockctl release k --token 5' 'lockctl epoch advance --yes --now --why x'; do
            tool=${words%% *}
            # shellcheck disable=SC2086
            HOLDFAST_STORE=$D/place/$file runs $words
            [ "$status" = 69 ] || { echo "$file, $words: $status $output"; false; }
            [[ $output == "$tool: $D/place/$file is "* ]]
            [ "${#lines[@]}" = 1 ]
        done
    done
    [ ! -e ran ]
    sha256sum -c --quiet sums
    stat -c '%n %a %i %y' place place/* | diff stats -
}

@test "what a power cut leaves of a store that was being made is no strange file" {
    mkdir place
    HOLDFAST_STORE=$D/place/whole lockrun --key k -- true
    for size in 1 15 71; do
        head -c "$size" place/whole >"place/head$size"
        truncate -s "$size" "place/zero$size"
    done
    truncate -s 40960 place/zero40960
    chmod 600 place/head* place/zero*
    for file in place/head* place/zero*; do
        HOLDFAST_STORE=$D/$file lockrun --key k -- touch "$file.ran" || :
        [ -e "$file.ran" ] || { echo "$file"; false; }
    done
    # A disk begins so, too.
    truncate -s 1M place/disk
    HOLDFAST_STORE=$D/place/disk runs lockrun --key k -- touch ran
    [ "$status" = 69 ]
    [ "$(stat -c %s place/disk)" = 1048576 ]
}

@test "a file at the mark's place that is no mark stays as it is; what a power cut leaves of one is none" {
    mkdir place
    echo 'a page to read on' >place/book.mark
    for words in 'lockrun --key k -- touch ran' 'lockrun --dry-run -- true' \
        'lockctl release k --token 5' 'lockctl epoch advance --yes --now --why x'; do
        # shellcheck disable=SC2086
        HOLDFAST_STORE=$D/place/book runs $words
        [ "$status" = 69 ] || { echo "$words: $status $output"; false; }
        [[ $output == "${words%% *}: $D/place/book.mark is not of a store"* ]] || { echo "$output"; false; }
        [ "${#lines[@]}" = 1 ]
    done
    [ ! -e ran ]
    [ "$(cat place/book.mark)" = 'a page to read on' ]

    HOLDFAST_STORE=$D/place/whole lockrun --key k -- true
    head -c 60 place/whole.mark >place/half.mark
    HOLDFAST_STORE=$D/place/half lockrun --key k -- true
    for size in 0 60 4096 4200; do
        truncate -s "$size" "place/zero$size.mark"
        HOLDFAST_STORE=$D/place/zero$size lockrun --key k -- true
    done
}
