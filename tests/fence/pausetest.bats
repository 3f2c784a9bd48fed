#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence pausetest: files that are fenced, that are not, and that seem to be.

load lib
. "$HF_SRC/tests/fence/pausetest.bash"

setup_file() {
    T_begin
    cd "$T"
    local write='echo $PAUSETEST_WRITE'

    T file --write "$write | lockfence file write $T/file" \
        --verify "cat $T/file" --junit "$T/file.xml"
    T strict --strict --quiet --points 0 --verify "cat $T/strict" \
        --write "$write | lockfence file write --strict $T/strict"
    T json --json --points 0 --key t/n/k \
        --write "$write | lockfence file write $T/json.file" \
        --verify "cat $T/json.file"
    T unguarded --write "$write >$T/unguarded" --verify "cat $T/unguarded" \
        --junit "$T/unguarded.xml"
    T blind --write "$write >$T/blind"
    # Only the first three writes work.
    T broken --junit "$T/broken.xml" --write \
        "n=\$(wc -l <$T/n) || n=0; echo >>$T/n; [ \$n -lt 3 ] && $write >$T/broken"
    T never --write false
    T slow --limit 1s --write 'sleep 30'
    # Looks at a mark, refuses by the right status, and then writes.
    T checks --verify "cat $T/checks" --write \
        "m=0; [ ! -e $T/checks ] || read m x <$T/checks
         [ \$LOCK_TOKEN -ge \${m:-0} ] || exit 80; echo \$LOCK_TOKEN \$PAUSETEST_WRITE >$T/checks"
    # P07: asks whether the lock is still held, and then writes.
    T asks --verify "cat $T/asks" --write \
        "lockfence held || exit 80; $write >$T/asks"
    # The same, with nobody to look at the resource; and a fence so.
    T trusted --refused-status 1 --junit "$T/trusted.xml" --write \
        "lockfence held && $write >$T/trusted"
    T hinted --write "lockfence held && $write >$T/hinted"
    T unseen --write "$write | lockfence file write $T/unseen"
    # Compares as text.
    T text --verify "cut -d' ' -f2 $T/text" --write \
        "m=; [ ! -e $T/text ] || read m x <$T/text
         [ ! \"\$LOCK_TOKEN\" '<' \"\$m\" ] || exit 80; echo \$LOCK_TOKEN \$PAUSETEST_WRITE >$T/text"
    # Says nothing by its status, or something of its own.
    T silent --verify "cat $T/silent" --write \
        "$write | lockfence file write $T/silent || true"
    T own --refused-status 9 --points 0 --verify "cat $T/own" --write \
        "$write | lockfence file write $T/own 2>/dev/null || exit 9"
    T words --refused-text 'is stale' --points 0 --verify "cat $T/words" --write \
        "$write | lockfence file write $T/words || exit 1"
    T unsaid --points 4 --verify "cat $T/unsaid" --write \
        "$write | lockfence file write $T/unsaid 2>/dev/null || exit 1"
    # Verify lines that show nothing.
    T constant --write "$write | lockfence file write $T/constant" \
        --verify 'echo the same'
    T unread --write "$write | lockfence file write $T/unread" --verify false
    T_wait
}
teardown_file() { rm -rf "$T"; }

@test "a file behind lockfence file write is FENCED" {
    came_out file 0
    contains 'FENCED: the resource refused every stale write'
    trial 'right refused a part of that job'
    trial 'right refused an older token that is the higher one as text'
    trial 'right refused holder two'"'"'s token from another session'
    trial 'right taken holder three'
    trial 'right refused a writer stopped on its way'
    # What it did, and when, while one waits.
    grep -q 'holder one stands still' "$T/file.err"
    grep -q "holder one's lockrun ended with" "$T/file.err"
}

@test "one write per grant is FENCED in the strict mode, and told apart" {
    came_out strict 0
    trial 'right refused holder one writes again'
    contains '--points=0'
    [ ! -s "$T/strict.err" ]
}

@test "a file that is just written is NOT FENCED" {
    came_out unguarded 1
    contains 'NOT FENCED: '
    trial 'HOLE taken a part of that job'
    came_out blind 1
}

@test "a write that fails for another reason is INCONCLUSIVE, never FENCED" {
    came_out broken 2
    contains 'INCONCLUSIVE: '
    trial 'UNCLEAR failed a part of that job'
    came_out never 2
    contains 'INCONCLUSIVE: holder one writes: status 1'
    came_out slow 2
    contains 'no end within the limit'
}

@test "a check and then a write is NOT FENCED: it is stopped between them" {
    came_out checks 1
    trial 'right refused a part of that job'
    trial 'HOLE taken a writer stopped on its way'
}

@test "P07: asking the lock and then writing is NOT FENCED" {
    came_out asks 1
    trial 'HOLE taken a writer stopped on its way'
}

@test "without --verify nothing is FENCED, for the write line is no witness" {
    came_out trusted 2
    trial 'right refused a part of that job'
    contains 'INCONCLUSIVE: every stale write was refused as the write line itself tells it'
    contains '--verify LINE'
    came_out unseen 2
    contains 'needs --verify'
    came_out hinted 2
    contains 'is that a refusal? --verify LINE'
}

@test "P05: tokens that are compared as text are NOT FENCED" {
    came_out text 1
    trial 'HOLE taken an older token that is the higher one as text'
}

@test "a refusal is told from a failure by a status, by words, or by reading back" {
    came_out silent 0
    contains 'although the write line ended with 0'
    came_out own 0
    came_out words 0
    came_out unsaid 0
    contains 'the same line under the current token is taken'
}

@test "a verify line that shows nothing is INCONCLUSIVE" {
    came_out constant 2
    contains 'the verify line prints the same'
    came_out unread 2
    contains 'the verify line ended with 1'
}

@test "JSON and JUnit say the same, and INCONCLUSIVE is never green" {
    command -v python3 >/dev/null || skip 'no python3 here'
    came_out json 0
    python3 - "$T" <<'END'
import json, sys
from xml.etree import ElementTree
folder = sys.argv[1]
found = json.load(open(folder + "/json.out"))
assert found["verdict"] == "FENCED" and found["key"] == "t/n/k", found
trials = {t["name"]: t for t in found["trials"]}
assert trials["first"]["was"] == "taken", trials
assert trials["leaked"]["was"] == "refused", trials
assert trials["leaked"]["status"] == 80, trials
assert trials["points"]["was"] == "not tried", trials
assert int(trials["takeover"]["token"]) > int(trials["first"]["token"]), trials
assert any("stands still" in m["text"] for m in found["timeline"]), found
def suite(name):
    root = ElementTree.parse(f"{folder}/{name}.xml").getroot()
    kinds = {c.tag for case in root for c in case}
    assert int(root.get("tests")) == len(root.findall("testcase"))
    assert int(root.get("failures")) == len(root.findall("testcase/failure"))
    assert int(root.get("errors")) == len(root.findall("testcase/error"))
    return kinds
assert suite("file") <= {"skipped"}, suite("file")
assert "failure" in suite("unguarded")
assert "error" in suite("trusted") and "failure" not in suite("trusted")
assert "error" in suite("broken") and "failure" not in suite("broken")
END
}

@test "a pause test that is ended leaves nothing running, stopped or lying about" {
    local pid folder left
    folder=$(mktemp -d)
    TMPDIR=$folder lockfence pausetest -q \
        --write "echo >>$folder/log" 2>/dev/null 3>&- &
    pid=$!
    wait_for test -s "$folder/log"
    wait_for stands_still "$folder"
    kill -TERM $pid
    wait $pid && status=0 || status=$?
    [ "$status" = 143 ]
    left=$(ls "$folder")
    [ "$left" = log ]
    ! stands_still "$folder" || false
    rm -rf "$folder"
}
# A stopped process that works in that folder's store.
stands_still() {
    local stat
    for stat in /proc/[0-9]*/stat; do
        [[ $(cat "$stat" 2>/dev/null) == *') T '* ]] || continue
        ! tr '\0' ' ' <"${stat%stat}cmdline" 2>/dev/null | grep -qF "$1" || return 0
    done
    return 1
}

@test "what is missing is one line" {
    expect 64 lockfence pausetest
    contains 'needs --write'
    expect 64 lockfence pausetest --write true --ttl 0.5s
    expect 64 lockfence pausetest --write true operand
}
