# SPDX-License-Identifier: Apache-2.0
# The same while somebody else holds the key, and then lets go.
bats_require_minimum_version 1.5.0
. "${BATS_TEST_DIRNAME}/attack.bash"
setup() { attack_setup; }
teardown() { lockrun_teardown; }

@test "any one call of a lockrun that waits may fail" {
    waits=yes
    # Up to its place in the queue it does what run.bats fails; so from here on.
    for row in mknodat:EROFS:1 epoll_ctl:ENOMEM:1 ppoll:ENOMEM:1 \
        getrandom:EIO:3 unlinkat:EACCES:1 openat:EMFILE:12 flock:ENOLCK:16 \
        pread64:EIO:14 pwrite64:ENOSPC:14; do
        IFS=: read -r name errno first <<<"$row"
        any "$name" "$errno" "$first" -- lockrun --key t/n/k -w 50 -- "${work[@]}"
    done
}

# Another clock would take the holder's lease for one that is long over.
@test "where the clock's offset cannot be read, nobody is granted anything" {
    local -a there=(unshare --time --fork --monotonic 100000)
    "${there[@]}" true || skip 'no time namespace may be made here'
    holds holder t/n/k --ttl 5m
    status=0
    "${there[@]}" lockrun -n --key t/n/k -- "${work[@]}" 2>"$D/err" || status=$?
    [ "$status" = 75 ]
    for ((n = 1; ; n++)); do
        for name in openat read newfstatat; do
            status=0
            strace -f -o "$D/trace.$name" -e "trace=$name" \
                -e "inject=$name:error=EMFILE:when=$n" "${there[@]}" \
                lockrun -n --key t/n/k -- "${work[@]}" 2>"$D/err" || status=$?
            [ "$status" != 0 ]
            [ "$(wc -l <"$tokens")" = 1 ]
        done
        grep -q INJECTED "$D"/trace.* || break
    done
    [ "$n" -gt 10 ]
    ends holder "$started"
}
