# SPDX-License-Identifier: Apache-2.0
# What lockrun's tests share, beside lockctl.bash: the store is fresh for each
# test, the key is t/n/k, and jobs say by files that they are there. Sourced.
. "${BASH_SOURCE[0]%/*}/lockctl.bash"

lockrun_setup() {
    lockctl_setup
    L=(lockrun --key t/n/k)
    unset LOCK_TOKEN LOCK_CLASS LOCK_EPOCH LOCK_REVISION LOCK_STATE
    cd "$D" || return 1
}

lockrun_teardown() {
    cd / || return 1
    lockctl_teardown
}

# begins LOCKRUN-WORD...: a lockrun on t/n/k in the background that takes INT and
# QUIT, which a script's background commands ignore. Its pid is in $started, what
# it says in $D/err.
begins() {
    env --default-signal=INT,QUIT lockrun --key t/n/k "$@" 2>"$D/err" 3>&- &
    started=$!
    pids+=("$started")
}

# runs WORD...: like bats's run, which warns of 127 that is meant.
runs() {
    status=0
    output=$("$@" 2>&1) || status=$?
    mapfile -t lines <<<"$output"
}

# ended PID: waits for it; its status is in $status, as after run.
ended() {
    status=0
    wait "$1" || status=$?
}

exists() { [ -e "$1" ]; }
appears() { within 20 exists "$1"; }
# running WORDS: the processes that have these words on their command line.
running() {
    local file words
    for file in /proc/[0-9]*/cmdline; do
        mapfile -d '' words <"$file"
        [[ ${words[*]} != *"$1"* ]] || echo "${file//[^0-9]/}"
    done 2>/dev/null
}
none_runs() { [ -z "$(running "$1")" ]; }
children_of() { cat "/proc/$1"/task/*/children 2>/dev/null; }
is_free() { lockrun -n --key t/n/k --skip -- touch "$D/was_free" && [ -e "$D/was_free" ]; }

# The kernel's own view: no folder of a job's cgroup is left of ours.
no_cgroup_is_left() {
    local session=$1 place
    for place in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        [ -z "$(find "$place" -name "holdfast-$session" 2>/dev/null)" ] || return 1
    done
}

# A user who is not root and may make no cgroup; tests that need one are skipped
# where they do not run as root.
as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# with_and_without COMMAND: in the cgroup that root may make here, and then as a
# user who may make none; the store and the files are that user's then. COMMAND
# finds root or user in $WAY, and puts $AS before what it starts.
with_and_without() {
    WAY=root "$@"
    [ "$(id -u)" = 0 ] || return 0
    rm -rf store/* up* stop* termed job err beat
    chown 65534:65534 . store
    command -v setpriv >/dev/null || skip 'no setpriv here'
    WAY=user AS='setpriv --reuid 65534 --regid 65534 --clear-groups' "$@"
}
