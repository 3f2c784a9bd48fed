# SPDX-License-Identifier: Apache-2.0
# What the tests of the fences share. `load lib`.
bats_require_minimum_version 1.5.0

# Not under a lockrun of the machine's own.
unset LOCK_TOKEN LOCK_KEY LOCK_CLASS LOCK_SESSION LOCK_EPOCH LOCK_REVISION \
    LOCK_STATE HOLDFAST_STORE

# expect STATUS COMMAND...: runs it; its output is in $output as after `run`.
expect() {
    local wanted=$1 flag=()
    shift
    # What bats would take for a slip of the test's.
    [ "$wanted" != 127 ] || flag=(-127)
    run "${flag[@]}" "$@"
    [ "$status" = "$wanted" ] || {
        printf 'status %s instead of %s: %s\n%s\n' \
            "$status" "$wanted" "$*" "$output"
        return 1
    }
}

# contains TEXT: the last output has it.
contains() {
    [[ $output == *"$1"* ]] || {
        printf 'no "%s" in: %s\n' "$1" "$output"
        return 1
    }
}

# Until COMMAND succeeds, half a minute at most.
wait_for() {
    local end=$((SECONDS + 30))
    until "$@"; do
        [ $SECONDS -lt $end ] || {
            printf 'not in half a minute: %s\n' "$*"
            return 1
        }
        sleep 0.05
    done
}

# In CI a test that cannot be run counts as failed (tests/run).
need_root() { [ "$(id -u)" = 0 ] || skip 'only root may do that'; }

# A line of `tokens.tsv` or `rules.tsv` for each call of FUNCTION FIELD...
each_row() {
    local file=$1 line fields
    shift
    while IFS= read -r line; do
        IFS=$'\t' read -r -a fields <<<"$line" # blanks of a token stay below
        "$@" "${fields[0]}" "${line#*$'\t'}" "${fields[@]}" || {
            printf 'row: %s\n' "$line"
            return 1
        }
    done <"$HF_SRC/tests/fence/$file"
}
