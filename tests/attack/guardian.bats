# SPDX-License-Identifier: Apache-2.0
# The same with the guardian and the birth of the job: the nth call of each.
bats_require_minimum_version 1.5.0
. "${BATS_TEST_DIRNAME}/attack.bash"
setup() { attack_setup; }
teardown() { lockrun_teardown; }

@test "the nth call of lockrun, its guardian and the job's birth may fail" {
    follow=-f
    # What lockrun and the store alone do is failed in run.bats.
    left_out='pwrite64 pread64 flock getrandom newfstatat statx fsync access'
    each -- lockrun --key t/n/k -- "${work[@]}"
}

@test "an older kernel is of no matter" {
    follow=-f must_succeed=yes
    any close_range ENOSYS -- lockrun --key t/n/k -- "${work[@]}"
    # It is wanted for the job's own cgroup alone.
    ! lockrun --key t/n/k --verbose -- true 2>&1 | grep -q 'no cgroup of the job' || return 0
    any clone3 ENOSYS -- lockrun --key t/n/k -- "${work[@]}"
    any clone3 EPERM -- lockrun --key t/n/k -- "${work[@]}"
}
