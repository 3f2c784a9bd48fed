# SPDX-License-Identifier: Apache-2.0
# What the guardian's tests share, beside lockrun.bash: jobs that hide, a witness
# of two at once, and every way to run without a cgroup. Sourced.
. "${BASH_SOURCE[0]%/*}/../cli/lockrun.bash"

guardian_setup() {
    lockrun_setup
    chmod 755 "$D"
    furnish
}

# Ends what the test started: the guardians see to the jobs.
guardian_teardown() {
    local pid
    for pid in "${pids[@]}"; do
        kill -CONT "$pid" || :
        kill -9 "$pid" || :
    done 2>/dev/null
    within 20 none_runs "$D/" || pgrep -fa -- "$D/" >&2 || :
    rm -rf "$D"
}

# What jobs need, in $D.
furnish() {
    mkdir -p "$D/store"
    mkfifo "$D/never"
    hiding_job
    # The store of one who may not is for one who may not.
    [ -z "${AS-}" ] || chown 65534:65534 "$D" "$D"/*
}

# each_way COMMAND: as root in a cgroup of its own, and as a user who may make
# none and goes by ancestry alone; both at once, each in a folder of its own.
each_way() {
    local way both=() failed=
    for way in root user; do
        [ "$way:$(id -u)" != user:0 ] || AS='setpriv --reuid 65534 --regid 65534 --clear-groups'
        [ "$way" = user ] || [ "$(id -u)" = 0 ] || continue
        in_own_folder "$way" "$@" &
        both+=($!)
    done
    for way in "${both[@]}"; do wait "$way" || failed=yes; done
    [ -z "$failed" ]
}
in_own_folder() {
    local way=$1
    shift
    D=$D/$way pids=()
    trap 'echo "as $way: line $LINENO: $BASH_COMMAND" >&2' ERR
    trap guardian_teardown EXIT
    mkdir "$D"
    furnish
    "$@"
}

# launch STORE-NAME OPTION... -- WORD...: a lockrun on t/n/k of a store of its
# own in the background; its pid is in $started.
launch() {
    local store=$1
    shift
    # shellcheck disable=SC2086
    ${AS-} env --default-signal=INT,QUIT lockrun --store="$D/store/$store" \
        --key t/n/k "$@" 2>"$D/err.$store" 3>&- &
    started=$!
    pids+=("$started")
}

# next STORE-NAME WORD...: the next one on that key; like runs.
next() {
    local store=$1
    shift
    runs ${AS-} lockrun --store="$D/store/$store" --key t/n/k "$@"
}

# guardian_of LOCKRUN: its guardian's pid.
guardian_of() { pgrep -P "$1" -x holdfast-guard; }
has_guardian() { guardian_of "$1" >/dev/null; }
# All that descends from a process, itself too.
tree_of() {
    local pid
    echo "$1"
    for pid in $(pgrep -P "$1"); do tree_of "$pid"; done
}
is_stopped() { [[ $(cat "/proc/$1/stat" 2>/dev/null) == *') T '* ]]; }

# A job of deaf processes that hide: setsid, double fork, nohup, stopped. Each
# has descriptor 9, a lock that only one job's processes can have: a job that
# finds it taken writes to `two`. usage: sh hiding WITNESS MARK
hiding_job() {
    cat >"$D/hiding" <<'END'
exec 9>>"$1"
flock -n 9 || echo "token $LOCK_TOKEN" >>"$1.two"
trap '' TERM HUP INT
(setsid sh -c 'sleep 300; :' "$2" >/dev/null 2>&1 &)
(setsid sh -c '(sleep 300; :) & sleep 300' "$2" >/dev/null 2>&1 &) &
nohup sh -c 'kill -STOP $$; sleep 300; :' "$2" >/dev/null 2>&1 &
touch "$1.up"
while :; do echo "$EPOCHREALTIME" >>"$1.beat"; sleep 0.1; done
END
    chmod 755 "$D/hiding"
}
# The witness is free: of all that had it nothing lives.
all_gone() { [ ! -e "$1" ] || flock -n "$1" true; }
# No shell has these words; a lockrun that was told to run one may.
no_shell_runs() { ! pgrep -f -- "^(ba)?sh .*$1( |\$)" >/dev/null; }

# pause MICROSECONDS, without a process.
pause() {
    local seconds
    printf -v seconds '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000))
    read -rt "$seconds" <>"$D/never" || :
}
random_us() { echo $((RANDOM * 32768 % $1 + RANDOM % 32)); }
