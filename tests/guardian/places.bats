#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The same where there is no cgroup to be had, for one reason or another, and in
# namespaces: killed, and stopped beyond the lease.
load guardian

setup() {
    guardian_setup
    [ "$(id -u)" = 0 ] || skip 'only root can arrange cgroups'
}
teardown() {
    cd /
    guardian_teardown
}

# in_place HOW: a script that arranges the cgroups and becomes its words.
in_place() {
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    cat >"$D/place" <<'END'
set -e
how=$1
shift
top=/sys/fs/cgroup
two=$top
[ ! -d $top/unified ] || two=$top/unified
case $how in
hidden)
    umount -l $top 2>/dev/null || mount -t tmpfs none $top
    ;;
readonly)
    mount --bind $two $two
    mount -o remount,bind,ro $two
    ;;
one_only)
    # Version 1 alone, as on an old machine.
    if [ $two != $top ]; then umount -l $two; else
        mount -t tmpfs none $top
    fi
    ;;
no_proc)
    # Of /proc what tells the boot is left.
    mkdir -p "${0%/*}/sys"
    mount --rbind /proc/sys "${0%/*}/sys"
    mount -t tmpfs none /proc
    mkdir /proc/sys
    mount --rbind "${0%/*}/sys" /proc/sys
    ;;
esac
exec "$@"
END
}

# placed HOW STORE OPTION... -- WORD...: as launch, there; verbose.
placed() {
    local how=$1 store=$2
    shift 2
    unshare -m bash "$D/place" "$how" lockrun --store="$D/store/$store" \
        --key t/n/k --verbose "$@" 2>"$D/err.$store" 3>&- &
    started=$!
    pids+=("$started")
}

killed_there() {
    local how=$1 w=$D/w.$1
    placed "$how" "$how" --ttl 60s --grace 200ms -- bash "$D/hiding" "$w" "$D/mark.$how"
    appears "$w.up"
    if grep -q 'gets the cgroup' "$D/err.$how"; then
        echo "a cgroup was made all the same"
        return 1
    fi
    kill -9 "$started"
    within 20 no_shell_runs "$D/mark.$how"
    within 20 all_gone "$w"
    next "$how" -w 20 -- true
    [ "$status" = 0 ]
    [ ! -e "$w.two" ]
}

stopped_there() {
    local how=$1 w=$D/w.stop.$1
    placed "$how" "stop.$how" --ttl 5s --grace 200ms -- bash "$D/hiding" "$w" "$D/mark.stop.$how"
    appears "$w.up"
    kill -STOP "$started"
    next "stop.$how" -w 20 -- sh -c 'exec 9>>"$1"; flock -n 9' x "$w"
    [ "$status" = 0 ]
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 79 ]
}

for_all() {
    in_place
    local how one both=()
    for how in hidden readonly one_only; do
        "$1" "$how" &
        both+=($!)
    done
    for one in "${both[@]}"; do wait "$one"; done
}

@test "cgroups hidden, read-only, or of version 1 alone: killed, the job is gone by ancestry" {
    for_all killed_there
}

@test "cgroups hidden, read-only, or of version 1 alone: stopped, the job is gone by its deadline" {
    for_all stopped_there
}

@test "without the processes of /proc the command itself is ended" {
    in_place
    placed no_proc proc --ttl 60s --grace 200ms -- sh -c 'trap "" TERM; touch "$1"; while :; do sleep 0.1; done' x "$D/up.proc"
    appears "$D/up.proc"
    kill -9 "$started"
    within 10 no_shell_runs "$D/up.proc"
    next proc -w 20 -- true
    [ "$status" = 0 ]
}

@test "F14: in a container's pid namespace the kill of its first process ends all, and the key is free" {
    unshare -Urpf --mount-proc true 2>/dev/null || skip 'no user namespaces here'
    for n in 1 2 3; do
        rm -f "$D/up.ns"
        unshare -Urpf --mount-proc lockrun --store="$D/store/ns" --key t/n/k -- \
            sh -c 'trap "" TERM; touch "$1"; setsid sleep 300 & while :; do sleep 0.1; done' x "$D/up.ns" 3>&- &
        outer=$!
        appears "$D/up.ns"
        runs unshare -Urpf --mount-proc lockrun --store="$D/store/ns" --key t/n/k -n -- true
        [ "$status" = 75 ]
        kill -9 "$(pgrep -P "$outer")"
        wait "$outer" || :
        within 10 no_shell_runs "$D/up.ns"
        runs unshare -Urpf --mount-proc lockrun --store="$D/store/ns" --key t/n/k -w 5 -- true
        [ "$status" = 0 ]
    done
}

@test "F14: not its first process: the guardian sees to it within the namespace" {
    unshare -Urpf --mount-proc true 2>/dev/null || skip 'no user namespaces here'
    unshare -Urpf --mount-proc sh -c '
        lockrun --store="$1/store/in" --key t/n/k --grace 200ms -- bash -c "
            trap : TERM; setsid sleep 300 & touch \"\$1\"; while :; do sleep 0.1; done" x "$1/up.in" &
        while [ ! -e "$1/up.in" ]; do sleep 0.05; done
        kill -9 $!
        lockrun --store="$1/store/in" --key t/n/k -w 20 -- sh -c "
            touch \"\$1/ran\"; pgrep -lx \"bash|sleep\" >\"\$1/seen\"" x "$1"
        [ -e "$1/ran" ]' x "$D" 3>&-
    # Nothing of the first one: neither the shell nor what it has started.
    [ ! -s "$D/seen" ] || { cat "$D/seen"; false; }
}

@test "F24: a container that is removed leaves nothing, and the key is free at once" {
    unshare -Urpf --mount-proc true 2>/dev/null || skip 'no user namespaces here'
    unshare -Urpf --mount-proc lockrun --store="$D/store/ci" --key t/n/k --ttl 60s -- \
        sh -c 'trap "" INT TERM; touch "$1"; while :; do sleep 0.1; done' x "$D/up.ci" 3>&- &
    outer=$!
    appears "$D/up.ci"
    kill -9 "$(pgrep -P "$outer")"
    next ci -w 20 -- true
    [ "$status" = 0 ]
    no_shell_runs "$D/up.ci"
}
