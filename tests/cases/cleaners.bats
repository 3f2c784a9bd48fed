#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# F13: cleaners that remove what looks old, under a job that runs for longer than
# their patience. Nobody else gets the key for it, and the job ends as it should.
load ../cli/lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

# A job that says where its state file is, and runs until `stop` is there.
runs_long() {
    "$@" sh -c 'echo "$LOCK_STATE" >state.new; mv state.new state
        while [ ! -e stop ]; do sleep 0.05; done' 2>err 3>&- &
    started=$!
    pids+=("$started")
    appears state
    file=$(cat state)
}
deadline_of() { sed -n 's/^deadline //p' "$file"; }
has_moved() { [ "$(deadline_of)" != "$1" ]; }
is_renewed() {
    local now
    now=$(deadline_of)
    within 20 has_moved "$now"
}

@test "F13: a cleaner of old files takes nothing that a renewing job rests on" {
    runs_long "${L[@]}" --ttl 15s --
    find store -exec touch -h -d '40 days ago' {} +
    is_renewed
    # Renewals keep young what they write.
    [ -n "$(find store -type f -newermt '1 day ago')" ]
    # Locked files are left alone, as cleaners do that are polite.
    find store -type f ! -newermt '1 day ago' -exec flock -n -x {} rm -f {} \;
    runs "${L[@]}" -n -- echo BAD
    [ "$status" = 75 ] || { echo "$status $output"; false; }
    # One that is not.
    find store -type f ! -newermt '1 day ago' -delete
    runs "${L[@]}" -n -- echo BAD
    [ "$status" = 75 ] || { echo "$status $output"; false; }
    is_renewed
    touch stop
    ended "$started"
    [ "$status" = 0 ] || { cat err; false; }
    is_free
}

# cleans FILE: systemd-tmpfiles at work on what is older than a moment, in fresh
# folders, under a job of a user at the default place; FILE says what to spare.
cleans() {
    rm -f state stop
    cat >cleaned <<'END'
for place in /var/lib /var/tmp /run /dev/shm; do
    mount -t tmpfs -o mode=755 fresh "$place"
done
chmod 1777 /var/tmp /dev/shm
printf 'q %s 1777 root root 100ms\n' /var/tmp /dev/shm >age.conf
as="setpriv --reuid 65534 --regid 65534 --clear-groups"
$as "$1" --key t/n/k -- sh -c 'touch up; while [ ! -e stop ]; do sleep 0.05; done; exit 3' &
while [ ! -e up ]; do sleep 0.02; done
find /var/tmp /dev/shm -type f | sort >before
[ -s before ]
# Older than that is what was there a second ago.
sleep 1
systemd-tmpfiles --clean "$PWD/age.conf" ${2:+"$2"}
find /var/tmp /dev/shm -type f | sort >after
status=0
$as "$1" -n --key t/n/k -- echo BAD || status=$?
echo "next $status"
touch stop
wait %1 || echo "job $?"
END
    rm -f up stop
    runs unshare -m bash -eu cleaned "$(command -v lockrun)" "$1"
    [ "$status" = 0 ] || { echo "$output"; return 1; }
    [[ $output == *'job 3'* ]] && [[ $output != *BAD* ]] || { echo "$output"; return 1; }
}

@test "F13: systemd-tmpfiles spares what our file names, and without it nobody gets the key" {
    [ "$(id -u)" = 0 ] || skip 'only root can mount'
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    command -v systemd-tmpfiles >/dev/null || skip 'no systemd-tmpfiles here'
    unset HOLDFAST_STORE HOLDFAST_CLASSES
    chmod 777 .
    cleans "$HF_SRC/examples/holdfast.tmpfiles.conf"
    cmp before after
    [[ $output == *'next 75'* ]]
    cleans ''
    # That it was taken away shows that the line above is of use.
    ! cmp -s before after || false
    [[ $output == *'next 75'* || $output == *'next 69'* ]] || { echo "$output"; false; }
}
