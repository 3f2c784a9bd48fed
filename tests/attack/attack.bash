# SPDX-License-Identifier: Apache-2.0
# One call to the kernel fails, once, in a run of lockrun that is else a usual
# one. No library is put between, for lockrun is static: strace lets the nth
# call of a name fail (and is not followed by the job). Sourced.
. "${BASH_SOURCE[0]%/*}/../cli/lockrun.bash"

attack_setup() {
    command -v strace >/dev/null || skip 'needs strace'
    lockrun_setup
    strace -o "$D/trace" true 2>/dev/null || skip 'strace may trace nothing here'
    follow= waits= must_succeed= left_out= is_seen= by=()
    tokens=$D/tokens
    : >"$tokens"
    # Each run of the job leaves its token; nothing else is written by it.
    work=(sh -c "echo \$LOCK_TOKEN >>$tokens")
    "${L[@]}" -- "${work[@]}"
}

# The statuses that a failure of the kernel may have, and the job's own.
is_documented() {
    case $1 in
    0 | 69 | 77 | 78 | 79 | 126) return 0 ;;
    *) return 1 ;;
    esac
}

broken() {
    printf '%s: %s\n' "$try" "$*"
    printf '  %s\n' "status $status" "said: $(cat "$D/err")" \
        "tokens: $(tail -n 3 "$tokens" | tr '\n' ' ')"
    return 1
}

# Whatever failed: the end is told, the job ran when that says so and not else,
# nothing is left behind, and the next one gets the key under a higher token.
judge() { # runs-before
    local ran highest
    ran=$(($(wc -l <"$tokens") - $1))
    [ "$status" != 124 ] || broken 'it hung' || return
    [ ! -s "$D/out" ] || broken "on standard output: $(cat "$D/out")" || return
    [ "$ran" -le 1 ] || broken "the job ran $ran times" || return
    [ -n "$hit_job" ] || judge_end "$ran" || return
    within 30 none_is_left || broken "left: $(running "$D/") $(running holdfast-guard)" || return
    highest=$(sort -n "$tokens" | tail -n 1)
    "${by[@]}" lockrun -w 60 --key t/n/k -- "${work[@]}" 2>"$D/err" ||
        broken 'the next one did not get the key' || return
    [ "$(tail -n 1 "$tokens")" -gt "$highest" ] ||
        broken 'the token did not rise'
}

# No process has the folder of the test in its words, and none (the guardian has
# other words) a file of it open.
none_is_left() {
    ! pgrep -f -- "$D/" >/dev/null &&
        [ -z "$(find /proc/[0-9]*/fd -lname "$D/*" 2>/dev/null)" ]
}

judge_end() { # how often the job ran
    [ -z "$must_succeed" ] || [ "$status$(cat "$D/err")" = 0 ] ||
        broken 'it should have been of no matter' || return
    is_documented "$status" || broken 'an end that no manual tells of' || return
    ! grep -qv '^lockrun: ' "$D/err" ||
        broken 'a line that is not of lockrun' || return
    [ "$(wc -l <"$D/err")" -le 2 ] || broken 'more than two lines' || return
    case $status in
    0) [ "$1" = 1 ] || broken 'the job did not run' ;;
    79) [ -s "$D/err" ] || broken 'nothing was said' ;;
    *)
        [ "$1" = 0 ] || broken 'the job ran' || return
        [ -s "$D/err" ] || broken 'nothing was said'
        ;;
    esac
}

# The job itself is not lockrun's: what fails in it behind its exec is its own.
was_in_job() {
    awk '$2 ~ /^execve/ { if (++seen > 1) job[$1] = 1 }
         /INJECTED/ && job[$1] { found = 1 }
         END { exit !found }' "$D/trace"
}

# Does what is traced stand in the queue, or has it ended?
queues_or_ends() {
    gone "$traced" || says '"waiting":1,' lockctl show t/n/k --json
}

# any NAME ERRNO [FIRST] -- WORD...: let each call of that name fail in turn,
# from the FIRST on, until a run has none left that could. With $follow=-f, the
# nth of each process: lockrun, its guardian and the job. With $waits, while
# another holds the key and then lets go. With $must_succeed nothing may come of
# it, not a word. ${by[@]} is what it all runs under.
any() {
    local name=$1 errno=$2 first=1 n before
    shift 2
    [ "$1" = -- ] || { first=$1; shift; }
    shift
    for ((n = first; ; n++)); do
        try="$name no. $n: $errno"
        before=$(wc -l <"$tokens")
        status=0
        [ -z "$waits" ] || holds holder t/n/k
        "${by[@]}" timeout -k 5 40 strace $follow -o "$D/trace" \
            -e "trace=$name${follow:+,execve}" \
            -e "inject=$name:error=$errno:when=$n" "$@" \
            >"$D/out" 2>"$D/err" </dev/null &
        traced=$!
        if [ -n "$waits" ]; then
            within 20 queues_or_ends || broken 'it does not wait' || return
            ends holder "$started" || broken 'the holder does not end' || return
            rm -f "$D"/holder.*
        fi
        wait "$traced" || status=$?
        hit_job=
        if [ -n "$follow" ] && was_in_job; then hit_job=yes; fi
        judge "$before" || return
        grep -q INJECTED "$D/trace" || break
    done
    # Some are made only where a process is slower than another one.
    [ "$n" -gt "$first" ] || [ -n "$is_seen" ] ||
        { echo "$name: there is no such call"; return 1; }
    echo "$name: $((n - first)) tries"
}

# each -- WORD...: `any` for each row of the table whose call the run makes, but
# those in $left_out; there are many.
each() {
    local name words word count=0 is_seen=yes
    "${by[@]}" strace $follow -o "$D/all" "${@:2}" >/dev/null 2>&1
    while read -r name words; do
        case $name in '' | '#'*) continue ;; esac
        [ "${words%% *}" != - ] || continue
        [[ " $left_out " != *" $name "* ]] || continue
        grep -Eq "(^|[ 0-9])$name\\(" "$D/all" || continue
        for word in $words; do
            any "$name" "$word" "$@" || return
            count=$((count + 1))
        done
    done <"$BATS_TEST_DIRNAME/calls"
    [ "$count" -gt 20 ]
}
