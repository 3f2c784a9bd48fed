#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockfence pausetest on S3: a store that keeps to conditions, and stores that do
# not, which only a writer that stands still on its way finds out.

load lib
. "$HF_SRC/tests/fence/s3.bash"
. "$HF_SRC/tests/fence/pausetest.bash"

setup_file() {
    has_s3 && command -v python3 >/dev/null || return 0
    T_begin
    D=$T stub_pids=() stub_count=0
    s3_clean
    # Each test runs against a store of its own, in an environment of its own.
    stub ignore-match
    s3_test ignore-match
    stub
    s3_test stub
    AWS_ENDPOINT_URL=http://127.0.0.1:9 s3_test away
    weed_start
    [ -z "${weed_pid-}" ] || s3_test weed
    T_wait
}
s3_test() {
    T "$1" --verify 'lockfence s3 get s3://fence/o' \
        --write 'echo $PAUSETEST_WRITE | lockfence s3 put s3://fence/o'
}
setup() {
    need_s3
    command -v python3 >/dev/null || skip 'no python3 here'
}
teardown_file() {
    kill -9 "${stub_pids[@]}" 2>/dev/null || :
    weed_stop
    rm -rf "${T-}"
}

@test "an object of SeaweedFS is FENCED" {
    need_peers
    came_out weed 0
    trial 'right refused a part of that job'
    trial 'right refused a writer stopped on its way'
}

@test "an object of a store that keeps to conditions is FENCED" {
    came_out stub 0
}

@test "a store that ignores conditions is NOT FENCED" {
    came_out ignore-match 1
    trial 'HOLE taken a writer stopped on its way'
    contains 'sendto'
}

@test "a store that is not there is INCONCLUSIVE" {
    came_out away 2
    contains 'INCONCLUSIVE: holder one writes: status 69'
}
