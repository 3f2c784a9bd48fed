#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Hosts have cgroups of version 2 alone, beside version 1, somewhere else,
# read-only, or not at all: each is right. In a mount namespace of the test's own.
load ../cli/lockrun

setup() {
    [ "$(id -u)" = 0 ] || skip 'only root can mount'
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    grep -qw cgroup2 /proc/filesystems || skip 'no cgroups of version 2 in this kernel'
    lockrun_setup
    cat >job <<'END'
echo "$LOCK_SESSION" >session
sed -n 's/^0:://p' /proc/self/cgroup >group
(setsid sh -c 'trap "" TERM HUP; touch up; while :; do sleep 0.2; done' "$1" &)
while [ ! -e up ]; do sleep 0.02; done
while :; do sleep 0.1; done
END
}
teardown() { lockrun_teardown; }

# among MOUNTS [CLEANUP]: a job is run where these were made; it hides a child,
# which is ended with it. All mounts are gone with the namespace.
among() {
    rm -f up session group
    runs unshare -m bash -eu -c "$1"'
        status=0
        lockrun --key t/n/k --verbose --max-run 4s --grace 200ms -- sh job "$1" || status=$?
        '"${2-}"'
        exit $status' x "$D/mark"
    [ "$status" = 124 ] || { echo "$output"; return 1; }
    none_runs "$D/mark"
}
has_group_in() {
    [[ $output == *"the job gets the cgroup $1/holdfast-$(cat session)"* ]] ||
        { echo "$output"; return 1; }
    [[ $(cat group) == */holdfast-$(cat session) ]]
}
has_no_group() {
    [[ $output == *"no cgroup of the job's own ($1"* ]] || { echo "$output"; return 1; }
    [[ $(cat group) != *holdfast-* ]]
}
hide='mount -t tmpfs hidden /sys/fs/cgroup; '

@test "version 2 alone" {
    among 'mount -t cgroup2 cgroup2 /sys/fs/cgroup; '
    has_group_in "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup | sed 's|^/$||')"
}

@test "version 2 beside version 1" {
    among "${hide}mkdir /sys/fs/cgroup/unified; mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified; "
    has_group_in "/sys/fs/cgroup/unified$(sed -n 's/^0:://p' /proc/self/cgroup | sed 's|^/$||')"
}

@test "version 2 in a place of its own, with a blank in its name" {
    mkdir 'else where'
    among "${hide}mount -t cgroup2 cgroup2 '$D/else where'; "
    has_group_in "$D/else where$(sed -n 's/^0:://p' /proc/self/cgroup | sed 's|^/$||')"
}

@test "version 2, of which only a part is to be seen" {
    mkdir whole
    among "${hide}mount -t cgroup2 cgroup2 '$D/whole'; mkdir '$D/whole/hf-test-$$'
        echo \$\$ >'$D/whole/hf-test-$$/cgroup.procs'
        mount --bind '$D/whole/hf-test-$$' /sys/fs/cgroup; umount '$D/whole'; " \
        "mount -t cgroup2 cgroup2 '$D/whole'; echo \$\$ >'$D/whole/cgroup.procs'
        rmdir '$D/whole/hf-test-$$'"
    has_group_in /sys/fs/cgroup
}

@test "read-only, as in many a container" {
    among "mount -t cgroup2 -o ro cgroup2 /sys/fs/cgroup; mount -o remount,ro,bind /sys/fs/cgroup; "
    has_no_group 'mkdir: Read-only file system'
}

@test "version 1 alone, and nothing at all" {
    among "$hide"
    has_no_group 'no cgroup of version 2 is mounted'
    among "${hide}mkdir /sys/fs/cgroup/memory; mount -t tmpfs fake /sys/fs/cgroup/memory; "
    has_no_group 'no cgroup of version 2 is mounted'
}

@test "a user who may make no group" {
    chown 65534:65534 . store
    rm -f up
    runs as_nobody lockrun --key t/n/k --verbose --max-run 4s --grace 200ms -- sh job "$D/mark"
    [ "$status" = 124 ]
    has_no_group 'mkdir: Permission denied'
    none_runs "$D/mark"
}

@test "a group in which no process may be born: the job runs without" {
    # Threaded: a new group below it is not valid until it is told to be.
    among "${hide}mount -t cgroup2 cgroup2 /sys/fs/cgroup; mkdir '/sys/fs/cgroup/hf-test-$$'
        echo threaded >'/sys/fs/cgroup/hf-test-$$/cgroup.type'
        echo \$\$ >'/sys/fs/cgroup/hf-test-$$/cgroup.procs'; " \
        "echo \$\$ >/sys/fs/cgroup/cgroup.procs; rmdir '/sys/fs/cgroup/hf-test-$$'"
    [[ $output == *'cannot be put into its cgroup'* ]] || { echo "$output"; cat group; false; }
    [[ $(cat group) != *holdfast-* ]]
}
