# SPDX-License-Identifier: Apache-2.0
# Whatever the kernel refuses once along a run of lockrun: tests/attack/calls.
bats_require_minimum_version 1.5.0
. "${BATS_TEST_DIRNAME}/attack.bash"
setup() { attack_setup; }
teardown() { lockrun_teardown; }

@test "any one call of lockrun may fail" {
    each -- lockrun --key t/n/k -- "${work[@]}"
}

@test "calls that are interrupted are called again" {
    must_succeed=yes
    for name in openat read pread64 pwrite64 flock getrandom waitid; do
        any "$name" EINTR -- lockrun --key t/n/k -- "${work[@]}"
    done
}

@test "every call that lockrun makes is failed by a test, or it is said why not" {
    strace -f -o "$D/trace" lockrun --key t/n/k -- true
    strace -f -o "$D/trace.new" lockrun --store "$D/store/new" --key t/n/k -- true
    awk '{ sub(/^[0-9]+ +/, "") }
         match($0, /^(<\.\.\. )?[a-z_0-9]+/) {
             name = substr($0, RSTART, RLENGTH)
             sub(/^<\.\.\. /, "", name)
             print name
         }' "$D/trace" "$D/trace.new" | sort -u >"$D/made"
    [ -s "$D/made" ]
    awk '!/^#/ { print $1 }' "$BATS_TEST_DIRNAME/calls" | sort -u >"$D/known"
    run -0 comm -23 "$D/made" "$D/known"
    [ -z "$output" ]
}
