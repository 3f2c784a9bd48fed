# SPDX-License-Identifier: Apache-2.0
# The same with a job whose processes are followed one by one.
bats_require_minimum_version 1.5.0
. "${BATS_TEST_DIRNAME}/attack.bash"
setup() { attack_setup; }
teardown() { lockrun_teardown; }

@test "the nth call of each may fail where the job gets no cgroup of its own" {
    [ "$(id -u)" = 0 ] || skip 'run.bats and guardian.bats do so then'
    mkdir its
    touch trace all
    chown -R 65534:65534 its trace all "$tokens"
    chmod 755 "$D"
    export HOLDFAST_STORE=$D/its/db
    by=(as_nobody)
    "${by[@]}" lockrun --key t/n/k --verbose -- "${work[@]}" 2>"$D/err"
    grep -q 'no cgroup of the job' "$D/err"
    follow=-f
    left_out='pwrite64 pread64 flock getrandom newfstatat statx fsync access mkdir'
    each -- lockrun --key t/n/k --ttl 5s -- "${work[@]}"
}
