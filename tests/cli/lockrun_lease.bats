#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The lease under the job: renewed for as long as it runs, and when it cannot be,
# the job is gone before the next one can have the key.
load lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

# The deadline that the state file tells, in milliseconds of the steady clock.
deadline_ms() { echo $(($(sed -n 's/^deadline //p' "$1") / 1000000)); }
state_of() { sed -n 's/^state //p' "$1"; }
moved() { [ "$(deadline_ms "$1")" -gt "$2" ]; }
is_state() { [ "$(state_of "$1")" = "$2" ]; }

# A job that says where its state file is, and runs until `stop` is there.
runs_on() {
    begins "$@" -- sh -c 'echo "$LOCK_STATE" >state.new; mv state.new state; while [ ! -e stop ]; do sleep 0.05; done; exit 3'
    appears state
    file=$(cat state)
}

# Nothing of the store can be opened or written by name any more.
break_store() { mv "$D/store" "$D/store.away"; }

@test "F18: a lease is renewed for as long as the job runs" {
    runs_on --ttl 12s
    first=$(deadline_ms "$file")
    within 20 moved "$file" "$first"
    second=$(deadline_ms "$file")
    within 20 moved "$file" "$second"
    runs "${L[@]}" --ttl 5s -w 13 -- touch ran
    [ "$status" = 75 ]
    [ ! -e ran ]
    touch stop
    ended "$started"
    [ "$status" = 3 ]
    [ ! -s err ]
}

@test "the state file tells the lease as its page says, and is gone with it" {
    runs_on --ttl 30s
    [ "$(head -n 1 "$file")" = 'holdfast 1' ]
    [ "$(state_of "$file")" = held ]
    now=$(awk '{ print int($1 * 1000) }' /proc/uptime)
    left=$(($(deadline_ms "$file") - now))
    [ "$left" -gt 15000 ]
    [ "$left" -le 30000 ]
    [ "$(sed -n 's/^boot //p' "$file")" = "$(tr -d - </proc/sys/kernel/random/boot_id)" ]
    touch stop
    ended "$started"
    [ ! -e "$file" ]
}

@test "with renewals made to fail the tree gets TERM a grace before, is gone, and lockrun ends with 79" {
    cat >job <<'END'
trap 'cat /proc/uptime >termed' TERM
(setsid sh -c 'trap "" TERM; while :; do cat /proc/uptime >child.new; mv child.new child; sleep 0.05; done' &)
echo "$LOCK_STATE" >state.new; mv state.new state
while :; do sleep 0.05; done
END
    begins --ttl 12s --grace 4s -- sh job
    appears state
    exec 8<"$(cat state)"
    break_store
    # Still running, in doubt, and nobody else could know better.
    within 10 is_state /proc/self/fd/8 doubt
    # Nothing renews it any more, so that this is the last one.
    told=$(deadline_ms /proc/self/fd/8)
    ended "$started"
    [ "$status" = 79 ]
    [ -e termed ]
    termed=$(awk '{ print int($1 * 1000) }' termed)
    last=$(awk '{ print int($1 * 1000) }' child)
    # A grace before the deadline, and nothing behind it; uptime has a
    # resolution of 10 ms, and counts no less than the steady clock.
    [ "$termed" -ge $((told - 4010)) ]
    [ "$last" -le $((told + 10)) ]
    grep -q 'the lease of t/n/k is running out' err
    grep -q 'the job was stopped' err
    ! grep -q 'could not stop' err
}

@test "doubt that ends in time is nothing: the job lives on, and its status is told" {
    runs_on --ttl 15s --grace 500ms
    exec 8<"$file"
    break_store
    within 10 is_state /proc/self/fd/8 doubt
    mv "$D/store.away" "$D/store"
    within 10 is_state /proc/self/fd/8 held
    touch stop
    ended "$started"
    [ "$status" = 3 ]
    [ ! -s err ]
}

@test "only when the job is gone can the next one have the key" {
    cat >job <<'END'
trap '' TERM
echo "$LOCK_STATE" >state.new; mv state.new state
while :; do echo one >>order; sleep 0.05; done
END
    begins --ttl 5s --grace 500ms -- sh job
    appears state
    break_store
    within 10 grep -q 'could not\|running out\|lost' err
    mv "$D/store.away" "$D/store"
    runs "${L[@]}" -w 30 -- sh -c 'echo two >>order; sleep 1; echo two >>order'
    [ "$status" = 0 ]
    ended "$started"
    # No line of the first one behind the first of the second.
    [ "$(sed -n '/two/,$p' order | sort -u)" = two ]
}

@test "a job that ends while the lease is in doubt ends lockrun with its status" {
    runs_on --ttl 20s
    exec 8<"$file"
    break_store
    within 20 is_state /proc/self/fd/8 doubt
    touch stop
    ended "$started"
    [ "$status" = 3 ]
    # It is said that the key could not be given back.
    grep -q 'giving t/n/k back' err
    mv "$D/store.away" "$D/store"
}

@test "F19: a contender's TTL does not shorten the holder's" {
    runs_on --ttl 60s
    kill -STOP "$started"
    runs "${L[@]}" --ttl 5s -w 7 -- touch ran
    [ "$status" = 75 ]
    [ ! -e ran ]
    kill -CONT "$started"
    touch stop
    ended "$started"
    [ "$status" = 3 ]
}

# A process and all that came of it, for as long as its parents live.
tree_of() {
    local child
    echo "$1"
    for child in $(children_of "$1"); do tree_of "$child"; done
}

@test "F28: all stood still beyond the TTL, nobody took the key: the job goes on" {
    runs_on --ttl 5s
    exec 8<"$file"
    told=$(deadline_ms /proc/self/fd/8)
    all=$(tree_of "$started")
    kill -STOP $all
    beyond() { [ "$(awk '{ print int($1 * 1000) }' /proc/uptime)" -gt $((told + 1000)) ]; }
    within 20 beyond
    kill -CONT $all
    within 10 moved /proc/self/fd/8 "$told"
    touch stop
    ended "$started"
    [ "$status" = 3 ]
}

@test "F28: taken meanwhile, the job is killed at once and the end is 79" {
    cat >job <<'END'
echo "$LOCK_STATE" >state.new; mv state.new state
while :; do echo one >>order; sleep 0.02; done
END
    begins --ttl 5s -- sh job
    appears state
    all=$(tree_of "$started")
    kill -STOP $all
    # What was in the middle of a line may still end it; then the file is still.
    runs "${L[@]}" -w 30 --ttl 5s -- sh -c 'echo two >>order; kill -CONT "$@" 2>/dev/null; sleep 1; echo two >>order' x $all
    [ "$status" = 0 ]
    ended "$started"
    [ "$status" = 79 ]
    # Between waking and the kill the job may run for a moment, no more.
    [ "$(sed -n '/two/,$p' order | grep -c one)" -le 5 ]
}

@test "C19, hazard 53: lockrun alone stands still: the job is dead by its deadline" {
    cat >job <<'END'
echo $$ >pid
echo "$LOCK_STATE" >state.new; mv state.new state
while :; do cat /proc/uptime >beat.new; mv beat.new beat; sleep 0.02; done
END
    begins --ttl 5s -- sh job
    appears state
    exec 8<"$(cat state)"
    job=$(cat pid)
    kill -STOP "$started"
    told=$(deadline_ms /proc/self/fd/8)
    within 15 gone "$job"
    last=$(awk '{ print int($1 * 1000) }' beat)
    [ "$last" -le $((told + 10)) ]
    runs "${L[@]}" -w 20 -- true
    [ "$status" = 0 ]
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 79 ]
}

@test "C11: a reader that is stopped or gone stops no renewal, and kills nobody" {
    mkfifo pipe
    begins_into() {
        env --default-signal=INT,QUIT lockrun --key t/n/k --verbose --ttl 12s -- \
            sh -c 'echo "$LOCK_STATE" >state.new; mv state.new state
                   while [ ! -e stop ]; do sleep 0.05; done; exit 3' 2>pipe 3>&- &
        started=$!
        pids+=("$started")
    }
    sleep 300 <pipe 3>&- &
    reader=$!
    pids+=("$reader")
    begins_into
    # Fill the pipe, so that whoever writes to it waits.
    timeout 1 sh -c 'while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done >pipe' || true
    appears state
    file=$(cat state)
    first=$(deadline_ms "$file")
    # Each of these makes lockrun say something.
    for n in 1 2 3; do kill -WINCH "$started"; done
    within 10 moved "$file" "$first"
    kill -9 "$reader"
    second=$(deadline_ms "$file")
    for n in 1 2 3; do kill -WINCH "$started"; done
    within 10 moved "$file" "$second"
    touch stop
    ended "$started"
    [ "$status" = 3 ]
}

@test "kill -9 of lockrun and its job together: free at once, with a higher token" {
    mkfifo ready
    begins --ttl 600s -- sh -c 'echo "$LOCK_TOKEN" "$$" >ready; exec sleep 300'
    read -r token job <ready
    kill -9 "$started" "$job"
    within 10 gone "$job"
    within 10 gone "$started"
    # At once, that is when the guardian has seen it: no TTL is waited for.
    after=$("${L[@]}" -w 5 -- sh -c 'echo $LOCK_TOKEN')
    [ "$after" -gt "$token" ]
}

@test "kill -9 of lockrun alone: its job does not live on beside the next one" {
    cat >job <<'END'
(setsid sh -c 'while :; do echo one >>order; sleep 0.02; done' &)
echo $$ >up.new; mv up.new up
while :; do echo one >>order; sleep 0.02; done
END
    begins --ttl 5s -- sh job
    appears up
    kill -9 "$started"
    runs "${L[@]}" -w 30 -- sh -c 'echo two >>order; sleep 1; echo two >>order; wc -l <order >at; sleep 1; wc -l <order >after'
    [ "$status" = 0 ]
    [ "$(cat at)" = "$(cat after)" ]
    # Not one line of the first behind the first of the second.
    [ "$(sed -n '/two/,$p' order | sort -u)" = two ]
}

@test "a grant that stood at the gate for longer than the lease lasts is verified first, and has no rival" {
    # Each holds a lock of its own while it runs, so that a rival shows.
    cat >job <<'EOF'
exec 9>>witness
flock -n 9 || echo two >two
echo "$LOCK_TOKEN" >>tokens
sleep 0.2
EOF
    runs "${L[@]}" true
    [ "$status" = 0 ]
    flock -x "$HOLDFAST_STORE" sleep 6.5 3>&- &
    holder=$!
    sleep 0.2
    jobs=()
    for n in 1 2 3; do
        "${L[@]}" --ttl 5s -w 30 -- sh ./job 2>"err.$n" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do
        status=0
        wait "$job" || status=$?
        [ "$status" = 0 ] || { cat err.*; false; }
    done
    wait "$holder"
    [ ! -e two ]
    [ "$(wc -l <tokens)" = 3 ]
    sort -n tokens | cmp - tokens
}

@test "who stood still between the grant and the start until the lease was over starts nothing" {
    runs strace -o trace -e trace=prctl -e inject=prctl:delay_enter=6000000:when=1 \
        "${L[@]}" --ttl 5s -- touch ran
    [ "$status" = 79 ]
    [ ! -e ran ]
    [[ $output == *'stood still'*'touch was not started'* ]]
    runs "${L[@]}" true
    [ "$status" = 0 ]
}
