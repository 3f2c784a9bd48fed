# SPDX-License-Identifier: Apache-2.0
# Pause tests, all of a file at once: each waits five seconds for a lease to run
# out, and they may wait together. Sourced after lib.

# In setup_file: T NAME ARGUMENT... starts one; T_wait waits for all.
T_begin() {
    T=$(mktemp -d)
    export T
    T_pids=()
}
T() {
    local name=$1
    shift
    (
        status=0
        lockfence pausetest "$@" >"$T/$name.out" 2>"$T/$name.err" || status=$?
        echo $status >"$T/$name.status"
    ) 3>&- &
    T_pids+=($!)
}
T_wait() { wait "${T_pids[@]}"; }

# came_out NAME STATUS: as `expect` does, of a test that was run before.
came_out() {
    output=$(cat "$T/$1.out")
    status=$(cat "$T/$1.status")
    [ "$status" = "$2" ] || {
        printf 'status %s instead of %s\n%s\n%s\n' "$status" "$2" "$output" \
            "$(cat "$T/$1.err")"
        return 1
    }
}
# trial WORDS...: a line of the last output is like this, whatever the blanks.
trial() {
    tr -s ' ' <<<"$output" | grep -qF -- "$*" || {
        printf 'no "%s" in:\n%s\n' "$*" "$output"
        return 1
    }
}
