#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --json: what happens, an object a line, on standard error or a descriptor.
load lockrun

setup() {
    lockrun_setup
    # Every line whole and JSON, without a name twice; then the events, a line
    # each, or of one event the members that are asked for.
    cat >read.py <<'END'
import json, sys
def once(pairs):
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)
text = open(sys.argv[1]).read()
assert not text or text.endswith('\n'), text
lines = [json.loads(line, object_pairs_hook=once) for line in text.splitlines()]
for line in lines:
    assert list(line)[:2] == ['time', 'event'], line
if len(sys.argv) == 2:
    print(' '.join(line['event'] for line in lines if line['event'] != 'message'))
else:
    line = [line for line in lines if line['event'] == sys.argv[2]][-1]
    for name in sys.argv[3:]:
        value = line
        for part in name.split('.'):
            value = value[int(part)] if isinstance(value, list) else value[part]
        print(json.dumps(value))
END
}
teardown() { lockrun_teardown; }

events() { python3 read.py "$1"; }
# of EVENT MEMBER [FILE]: as JSON.
of() { python3 read.py "${3:-err}" "$1" "$2"; }
has_event() { grep -q "\"event\":\"$1\"" "${2:-err}"; }
runs_on() {
    begins "$@" -- sh -c 'echo "$LOCK_STATE" >state.new; mv state.new state; while [ ! -e stop ]; do sleep 0.05; done; exit 3'
    appears state
}
break_store() { mv "$D/store" "$D/store.away"; }
mend_store() { mv "$D/store.away" "$D/store"; }

@test "a plain run, from grant to end, and nothing on standard output" {
    "${L[@]}" --json -- sh -c 'echo "$LOCK_TOKEN $LOCK_SESSION $$" >told' >out 2>err
    [ ! -s out ]
    [ "$(events err)" = 'granted started command_ended released ended' ]
    read -r token session pid <told
    [ "$(of granted token)" = "\"$token\"" ]
    [ "$(of granted session)" = "\"$session\"" ]
    [ "$(of granted key)" = '"t/n/k"' ]
    [ "$(of granted mode)" = '"exclusive"' ]
    [ "$(of granted lease_ttl_ms)" = 60000 ]
    [ "$(of started pid)" = "$pid" ]
    [[ $(of started program) == */sh\" ]]
    [[ $(of ended time) =~ ^\"20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z\"$ ]]
}

@test "C05, F06: a job's 75 is told from our own, and why it ended in one word" {
    runs "${L[@]}" --json -- sh -c 'exit 75'
    [ "$status" = 75 ]
    [[ ${lines[-1]} == *'"status":75,"cause":"command","job_status":75}' ]]
    holds a t/n/k
    holder=$started
    runs "${L[@]}" --json -n -- true
    [ "$status" = 75 ]
    [[ ${lines[-1]} == *'"status":75,"cause":"busy","job_status":null}' ]]
    runs "${L[@]}" --json -n --skip -- true
    [ "$status" = 0 ]
    [[ ${lines[-1]} == *'"status":0,"cause":"busy","job_status":null}' ]]
    [ "${#lines[@]}" = 2 ]
    begins --json -w 60 -- true
    within 10 has_event waiting
    kill -TERM "$started"
    ended "$started"
    [ "$status" = 143 ]
    [ "$(of ended cause)" = '"signal"' ]
    ends a "$holder"
    runs "${L[@]}" --json -- no-such-command
    [[ ${lines[-1]} == *'"status":127,"cause":"exec","job_status":null}' ]]
    runs "${L[@]}" --json --grace 50s --ttl 5s -- true
    [[ ${lines[-1]} == *'"status":64,"cause":"usage","job_status":null}' ]]
    runs "${L[@]}" --json "--store=$D/nowhere/db" -- true
    [[ ${lines[-1]} == *'"status":69,"cause":"unavailable","job_status":null}' ]] || { echo "$output"; false; }
    runs "${L[@]}" --json --max-run 300ms --grace 100ms -- sleep 300
    [[ ${lines[-1]} == *'"status":124,"cause":"max-run","job_status":143}' ]]
    [[ $output == *'"event":"stopping"'*'"kill_in_ms":100}'* ]]
}

@test "C34: who is in the way has the members that lockctl show --json has" {
    holds a t/n/k --note $'a "quoted"\n\xff note'
    status=0
    "${L[@]}" --json -n -- true 2>err || status=$?
    [ "$status" = 75 ]
    lockctl show t/n/k --json >shown
    python3 - err shown <<'END'
import json, sys
busy = [json.loads(line) for line in open(sys.argv[1])]
busy = [line for line in busy if line['event'] == 'busy'][0]['holder']
shown = json.load(open(sys.argv[2]))['holders'][0]
for name in busy:
    assert busy[name] == shown[name], (name, busy[name], shown[name])
for name in 'token pid uid host program note since class session grant'.split():
    assert name in busy, name
END
    begins --json -w 60 -- true
    within 10 has_event waiting
    [ "$(of waiting holder.pid)" = "$(sed -n 's/.*"holder".*"pid":\([0-9]*\).*/\1/p' err | head -n 1)" ]
    waiter=$started
    # One behind another is told its place.
    "${L[@]}" --json -w 4 -- true 2>second || :
    [ "$(of busy place second)" = 2 ]
    [ "$(of busy waiting second)" -ge 1 ]
    kill "$waiter"
    ended "$waiter"
    echo >a.end
}

@test "with --json standard error has JSON alone, what people are told too" {
    holds a t/n/k
    "${L[@]}" --json -n --verbose --on-busy 'exit 4' -- true 2>err || :
    [ "$(events err)" = 'busy ended' ]
    grep -q '"text":"t/n/k is held by ' err
    grep -q '"text":"--on-busy: the line ended with 4"' err
    [[ $(tail -n 1 err) == *'"event":"ended"'* ]]
    ends a "$started"
}

@test "--json-fd: text stays where it was, the job gets no such descriptor" {
    holds a t/n/k
    status=0
    "${L[@]}" -n --json-fd 5 -- true 5>events 2>err || status=$?
    [ "$status" = 75 ]
    [[ $(cat err) == 'lockrun: t/n/k is held by '* ]]
    [ "$(events events)" = 'busy ended' ]
    ends a "$started"
    "${L[@]}" --json-fd 5 -- sh -c 'ls /proc/$$/fd | grep -x 5; [ -e /proc/$$/fd/6 ]' 5>events 6>other
    [ "$(events events)" = 'granted started command_ended released ended' ]
    "${L[@]}" --json-fd 1 -- sh -c 'echo "{\"time\":1,\"event\":\"mine\"}"' >events
    # The command may be faster than what is told of its start.
    [[ $(events events) == granted*mine*' command_ended released ended' ]]
}

@test "what is no descriptor for that is 64, and nothing is run" {
    runs "${L[@]}" --json-fd 9 -- touch ran 9<&-
    [ "$status" = 64 ]
    [ "$output" = 'lockrun: --json-fd: descriptor 9 is not open for writing' ]
    runs "${L[@]}" --json-fd 9 -- touch ran 9</dev/null
    [ "$status" = 64 ]
    status=0
    "${L[@]}" --json-fd 1 -- touch ran >&- 2>err || status=$?
    [ "$status" = 64 ]
    for words in '--json-fd 0' '--json-fd x' '--json --json-fd 2'; do
        runs "${L[@]}" $words -- touch ran
        [ "$status" = 64 ]
    done
    [ ! -e ran ]
    # A standard error that nobody has open is no reason not to run.
    "${L[@]}" --json -- touch ran 2>&-
    [ -e ran ]
}

@test "doubt and its end, stopping and loss, with their reasons" {
    runs_on --ttl 15s --grace 4s --json
    break_store
    within 20 has_event doubt
    [[ $(of doubt reason) == *store* ]]
    mend_store
    within 10 has_event renewed
    break_store
    ended "$started"
    [ "$status" = 79 ]
    mend_store
    case $(events err) in
    'granted started doubt renewed doubt stopping command_ended ended') ;;
    'granted started doubt renewed doubt stopping command_ended released ended') ;;
    *) cat err; false ;;
    esac
    [ "$(of stopping kill_in_ms)" -gt 0 ]
    [ "$(of ended cause)" = '"lost"' ]
    [ "$(of ended job_status)" = 143 ]
}

@test "taken while all stood still: lost" {
    runs_on --ttl 5s --json
    all="$started $(pgrep -P "$started") $(children_of "$(pgrep -P "$started")")"
    kill -STOP $all
    runs "${L[@]}" -w 30 --ttl 5s -- true
    [ "$status" = 0 ]
    kill -CONT $all 2>/dev/null || :
    ended "$started"
    [ "$status" = 79 ]
    has_event lost
    [ "$(of ended cause)" = '"lost"' ]
}

@test "hazard 53: lockrun alone stood still: the guardian's deed is told" {
    runs_on --ttl 5s --grace 500ms --json
    job=$(children_of "$(pgrep -P "$started")")
    kill -STOP "$started"
    within 20 gone "${job%% *}"
    kill -CONT "$started"
    ended "$started"
    [ "$status" = 79 ]
    has_event lost
    [ "$(of ended status)" = 79 ]
}

@test "kill -9 of lockrun: what was told stands, in whole lines, without an end" {
    runs_on --json
    within 20 has_event started
    kill -9 "$started"
    within 10 gone "$started"
    [ "$(events err)" = 'granted started' ]
}

@test "leftovers, with what lockctl tells of processes" {
    begins --json -- sh -c 'setsid sh -c "touch up; while [ ! -e stop ]; do sleep 0.05; done" >/dev/null 2>&1 &
        while [ ! -e up ]; do sleep 0.01; done; exit 4'
    within 10 has_event leftovers
    [ "$(of leftovers leftover)" = '"wait"' ]
    [ "$(of leftovers count)" -ge 1 ]
    # Beside it a sleep, before or behind it.
    [[ $(of leftovers processes) =~ \"pid\":\ ([0-9]+),\ \"state\":\ \"[RSD]\",\ \"name\":\ \"sh\" ]]
    [ -e "/proc/${BASH_REMATCH[1]}" ]
    touch stop
    ended "$started"
    [ "$status" = 4 ]
    [ "$(events err)" = 'granted started command_ended leftovers released ended' ]
}

@test "C11: a reader that is stopped or gone holds nothing up, and what it missed is counted" {
    mkfifo pipe
    exec 8<>pipe
    # Fill it, so that whoever writes to it waits; then the first lines are lost,
    # if the job lets them be written before it reads.
    yes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | dd of=pipe bs=4096 iflag=fullblock oflag=nonblock 8>&- 2>filled || true
    filled=$(grep -o '[0-9]* bytes' filled)
    "${L[@]}" --json-fd 7 -- sh -c 'sleep 4; head -c "$1" <pipe >/dev/null; exit 3' \
        x "${filled% *}" 7>pipe 8>&- && false
    read -t 5 -ru 8 line
    while [[ $line == x* ]]; do read -t 5 -ru 8 line; done
    [[ $line == *'"event":"command_ended","key":"t/n/k","missed":2,"status":3}' ]] || { echo "$line"; false; }
    read -t 5 -ru 8 line
    [[ $line == *'"event":"released","key":"t/n/k"}' ]]
    exec 8>&-
    # Nobody reads at all.
    status=0
    "${L[@]}" --json -- sh -c 'exit 3' 2> >(exec true) || status=$?
    [ "$status" = 3 ]
}

@test "every event is in the manual, and the manual has no other" {
    sed -n 's/^EVENT([A-Z_]*, "\(.*\)")/\1/p' "${HF_SRC:-$BATS_TEST_DIRNAME/../..}/cmd/lockrun/event.def" | sort >known
    [ -s known ]
    sed -n '/^\.Ss Events/,/^\.S[sh] [^E]/s/^\.It Cm //p' "${HF_SRC:-$BATS_TEST_DIRNAME/../..}/man/lockrun.1" | tr -d ' ' | tr ',' '\n' | sort >told
    diff known told
}
