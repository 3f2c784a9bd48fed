#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A folder that users share, as C17 and F29 tell: its members have one lock, and
# what somebody else has put there is neither followed nor removed.
load ../cli/lockrun

group=60100
member=(60101 60102)
third=60103

setup() {
    [ "$(id -u)" = 0 ] || skip 'only root can be several users'
    lockrun_setup
    chmod 755 .
    # The kernel's own word on such folders; told when a test fails.
    sysctl fs.protected_regular fs.protected_fifos fs.protected_hardlinks fs.protected_symlinks 2>/dev/null || :
}
teardown() { lockrun_teardown; }

# by USER WORD...: as that user, of the group unless it is the third.
by() {
    local user=$1 gid=$group
    shift
    [ "$user" != "$third" ] || gid=$third
    setpriv --reuid "$user" --regid "$gid" --clear-groups "$@"
}
# locks USER LOCKRUN-WORD...: a lockrun of that user on the shared store.
locks() {
    by "$1" lockrun "--store=sqlite:$D/shared/db" --key t/n/k "${@:2}"
}

# A sticky folder of the group, in which all that is made is the group's.
share() {
    rm -rf shared
    mkdir shared
    chgrp "$group" shared
    chmod "${1-3770}" shared
}

# fits ORDER...: whoever of them holds the key, the others are busy; and each has
# it in turn, whatever its umask.
fits() {
    local user holder
    for holder in "$@"; do
        rm -f ready end
        mkfifo -m 666 ready end
        locks "$holder" -- sh -c 'echo >ready; read -r x <end' 2>err 3>&- &
        started=$!
        pids+=("$started")
        read -r _ <ready
        for user in "$@"; do
            runs locks "$user" -n -- echo BAD
            [ "$status" = 75 ] || { echo "$holder holds, $user: $status $output"; return 1; }
        done
        echo >end
        ended "$started"
        [ "$status" = 0 ] || { cat err; return 1; }
        for user in "$@"; do
            for mask in 077 000 022; do
                runs bash -c 'umask "$1"; shift; exec "$@"' x "$mask" \
                    setpriv --reuid "$user" --regid "$group" --clear-groups \
                    lockrun "--store=sqlite:$D/shared/db" --key t/n/k -n -- true
                [ "$status" = 0 ] || { echo "$user, umask $mask: $status $output"; return 1; }
            done
        done
    done
}

@test "F29: members of a sticky group folder and root exclude each other, whoever comes first" {
    for order in "${member[0]} ${member[1]} 0" "${member[1]} 0 ${member[0]}" "0 ${member[0]} ${member[1]}"; do
        share
        fits $order
    done
    share 2770
    fits "${member[0]}" "${member[1]}" 0
}

@test "C17: two members are served, a third is refused by its path" {
    share
    fits "${member[0]}" "${member[1]}"
    runs locks "$third" -- touch ran
    [ "$status" = 77 ]
    [ "${#lines[@]}" = 1 ]
    [[ $output == 'lockrun: '*"$D/shared"* ]] || { echo "$output"; false; }
    # Where it may look, it may not write either.
    chmod o+rx shared
    runs locks "$third" -- touch ran
    [[ $status == 77 || $status == 69 ]] || { echo "$status: $output"; false; }
    [ "${#lines[@]}" = 1 ]
    [ ! -e ran ]
    fits "${member[0]}" "${member[1]}"
}

@test "F29: what is there already is opened without asking to make it, which the kernel may refuse" {
    command -v strace >/dev/null || skip 'no strace here'
    share
    locks "${member[0]}" -- true
    strace -f -o trace -e trace=openat,open,creat \
        setpriv --reuid "${member[1]}" --regid "$group" --clear-groups \
        lockrun "--store=sqlite:$D/shared/db" --key t/n/k -- true
    grep -q '"db-journal", O_RDWR' trace
    ! grep O_CREAT trace | grep -v O_EXCL
}

@test "C17: a folder in which anybody may rename and remove is refused" {
    share 777
    runs locks "${member[0]}" -- touch ran
    [ "$status" = 77 ] || { echo "$status: $output"; false; }
    [ "${#lines[@]}" = 1 ]
    [[ $output == 'lockrun: '*"$D/shared"* ]]
    [ ! -e ran ]
}

# plants USER KIND NAME: what that user puts where the store is to be.
plants() {
    local user=$1
    shift
    case $1 in
    link) by "$user" ln -s "$D/victim" "$2" ;;
    dangling) by "$user" ln -s "$D/victims/new" "$2" ;;
    folder) by "$user" mkdir "$2" ;;
    pipe) by "$user" mkfifo "$2" ;;
    huge) by "$user" truncate -s 40G "$2" ;;
    garbage) by "$user" sh -c 'head -c 9000 /dev/urandom >"$1"; chmod 666 "$1"' x "$2" ;;
    other) by "$user" sh -c 'umask 077; echo mine >"$1"' x "$2" ;;
    esac
}

# comes_out WHAT NAME: the run that met it in shared/NAME was right about it.
comes_out() {
    case $status in
    0) [ -e runs/ran ] ;;
    69 | 77)
        # To get past it by force is nobody's right.
        [ ! -e runs/ran ] && [ "${#lines[@]}" = 1 ] &&
            [[ $output == 'lockrun: '*"$D/shared"* ]] &&
            [ "$(stat -c '%F %u %i' "shared/$2")" = "$was" ]
        ;;
    *) false ;;
    esac || { echo "$1: $status $output"; return 1; }
    [ "$(cat victim)" = precious ] && [ "$(stat -c '%a %u' victim)" = '666 0' ] &&
        [ -z "$(ls victims)" ] || { echo "$1: it was followed"; return 1; }
}

@test "C17: links, folders, pipes and files that are in the way are not followed, and nothing hangs" {
    mkdir -m 777 victims runs
    echo precious >victim
    chmod 666 victim
    # By a member in the group's folder, and by anybody in one like /tmp.
    for row in "3770 ${member[1]}" "1777 $third"; do
        read -r mode user <<<"$row"
        for name in db db.run db.mark db-journal; do
            for kind in link dangling folder pipe huge garbage other; do
                rm -f runs/ran
                share "$mode"
                plants "$user" "$kind" "shared/$name"
                was=$(stat -c '%F %u %i' "shared/$name")
                runs timeout 30 setpriv --reuid "${member[0]}" --regid "$group" --clear-groups \
                    lockrun "--store=sqlite:$D/shared/db" --key t/n/k -n -- touch runs/ran
                comes_out "$mode, $name, $kind" "$name"
            done
        done
    done
}
