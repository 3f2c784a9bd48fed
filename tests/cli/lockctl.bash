# SPDX-License-Identifier: Apache-2.0
# What lockctl's tests share: a fresh store for each test, jobs that hold keys
# until they are told to end, and conditions that are waited for. Sourced.

lockctl_setup() {
    D=$(mktemp -d) || return 1
    export HOLDFAST_STORE=$D/store/db HOLDFAST_CLASSES=$D/classes
    mkdir "$D/store" "$D/classes"
    unset NO_COLOR COLUMNS LOCK_KEY LOCK_SESSION
    pids=()
}

# A store that was used, for who looks at one.
a_store() { lockrun --key t/n/earlier -- true; }

# Ends what the test started, by its number; TERM to a lockrun ends its tree.
lockctl_teardown() {
    local pid
    for pid in "${pids[@]}"; do
        kill -CONT "$pid" && kill -TERM "$pid"
    done 2>/dev/null
    for pid in "${pids[@]}"; do
        within 15 gone "$pid" || kill -9 "$pid"
    done 2>/dev/null
    rm -rf "$D"
}

# within SECONDS COMMAND...: until it succeeds.
within() {
    local tries=$(($1 * 20))
    shift
    until "$@"; do
        ((tries-- > 0)) || return 1
        sleep 0.05
    done
}

# No such process, or one that only waits to be waited for.
gone() { [[ ! -e /proc/$1 || $(cat "/proc/$1/stat" 2>/dev/null) == *') Z '* ]]; }

# starts NAME LOCKRUN-WORD...: a lockrun in the background, its pid in $started;
# what it says goes to $D/NAME.err.
starts() {
    local name=$1
    shift
    lockrun "$@" 2>"$D/$name.err" 3>&- &
    started=$!
    pids+=("$started")
}

# holds NAME KEY [OPTION...]: a job that holds KEY until `ends NAME`. Its
# lockrun is $started, its own pid is in $job.
holds() {
    local name=$1 key=$2
    shift 2
    mkfifo "$D/$name.ready" "$D/$name.end"
    starts "$name" --key "$key" "$@" -- \
        sh -c 'echo $$ >"$1"; read -r x <"$2"' job "$D/$name.ready" "$D/$name.end"
    read -r job <"$D/$name.ready"
}

ends() {
    echo >"$D/$1.end"
    within 10 gone "$2"
}

says() { [[ $("${@:2}") == *"$1"* ]]; }

# waits NAME KEY [OPTION...]: a lockrun that stands in the queue of KEY.
waits() {
    local name=$1 key=$2 before
    shift 2
    before=$(lockctl show "$key" --json)
    before=${before##*'"waiting":'}
    before=${before%%,*}
    starts "$name" -w 60 --key "$key" "$@" -- true
    within 10 says "\"waiting\":$((before + 1))," lockctl show "$key" --json
}

# The token under which KEY is held.
token_of() {
    lockctl show "$1" | sed -n 's/^token  *\([0-9]*\) .*/\1/p' | head -n 1
}

# kills_both PID: a lockrun and its guardian, before either can do a thing about
# the other's death.
kills_both() {
    local child
    kill -STOP "$1"
    for child in $(cat "/proc/$1/task/$1/children"); do
        [[ $(cat "/proc/$child/comm") != holdfast-guard* ]] ||
            kill -9 "$child"
    done
    kill -9 "$1"
    within 10 gone "$1"
}

# A grant whose holder cannot be proved dead: its lockrun and the guardian are
# killed, and what lives on has closed whatever it inherited. Its pid is in
# $left.
leaves_unproved() {
    local key=$1
    shift
    mkfifo "$D/left.ready"
    cat >"$D/left" <<'END'
for fd in /proc/$$/fd/*; do
    fd=${fd##*/}
    [ "$fd" -le 2 ] || eval "exec $fd>&-"
done
exec >/dev/null 2>&1 </dev/null
echo $$ >"$1"
exec sleep 300
END
    starts left --key "$key" "$@" -- \
        bash -c 'setsid bash "$@" & wait' job "$D/left" "$D/left.ready"
    read -r left <"$D/left.ready"
    pids+=("$left")
    kills_both "$started"
}
