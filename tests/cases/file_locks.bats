#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# F12: places whose locks always succeed, never do, or never return. Nothing is
# run there, and one line says which place it is.
load ../cli/lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

# Makes ./locks: it runs a command whose flock(2), or whose locks of fcntl(2),
# end with an error number without having done a thing; 0 is success.
make_locks() {
    cat >locks.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define FIELD(name) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, name))
#define IF_IS(value, then, otherwise) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
int main(int count, char **words)
{
    bool is_flock = count > 3 && !strcmp(words[1], "flock");
    unsigned kind = is_flock ? SYS_flock : SYS_fcntl;
    unsigned number = count > 3 ? (unsigned)atoi(words[2]) : 0;
    struct sock_filter rules[] = {
        FIELD(nr),
        IF_IS(kind, 0, 5),
        IF_IS(SYS_flock, 3, 0),
        FIELD(args[1]),
        IF_IS(F_SETLK, 1, 0),
        IF_IS(F_SETLKW, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | number),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};

    if (count < 4 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 99;
    execvp(words[3], words + 3);
    return 98;
}
END
    "${CC:-cc}" -o locks locks.c || skip 'no C compiler here'
    ./locks flock 0 true || skip 'no filters of system calls here'
    # It does what it says.
    ./locks flock 0 flock -n locks.c flock -n locks.c true
    ! ./locks flock 37 flock -n locks.c true
}

refused_with() { # SENTENCE WORD...
    local sentence=$1
    shift
    runs timeout 20 "$@" "${L[@]}" -- touch ran
    [ "$status" = 69 ] || { echo "$* -> $status: $output"; return 1; }
    [ "${#lines[@]}" = 1 ]
    [[ $output == "lockrun: "*"$D/store/db"*"$sentence"* ]] || { echo "$output"; return 1; }
    [ ! -e ran ]
}

@test "F12: a flock that always succeeds is found out, before and after a first run" {
    make_locks
    refused_with 'locks do not exclude' ./locks flock 0
    "${L[@]}" -- true
    refused_with 'locks do not exclude' ./locks flock 0
}

@test "F12: a flock that always fails is 69 with its reason" {
    make_locks
    refused_with 'No locks available' ./locks flock 37
    refused_with 'locks do not work' ./locks flock 38
}

@test "F12: locks of fcntl that always succeed or fail: exclusion holds, or nothing is run" {
    make_locks
    holds a t/n/k
    for number in 0 37; do
        runs timeout 20 ./locks fcntl "$number" "${L[@]}" -n -- touch ran
        [[ $status == 75 || $status == 69 ]] || { echo "$number: $status $output"; false; }
        [ ! -e ran ]
    done
    ends a "$started"
}

@test "F12: a mount whose server does not answer is 69 soon, and lockrun can be killed" {
    [ "$(id -u)" = 0 ] || skip 'only root can mount'
    command -v python3 >/dev/null || skip 'no python3 here'
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    [ -c /dev/fuse ] || skip 'no FUSE in this kernel'
    mkdir mnt
    # The mount ends with the namespace; whoever hangs in it wakes up then.
    cat >hang.py <<'END'
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open("/dev/fuse", os.O_RDWR)
options = "fd=%d,rootmode=40000,user_id=0,group_id=0" % fd
if libc.mount(b"hang", sys.argv[1].encode(), b"fuse.hang", 6, options.encode()):
    sys.exit(99)
words = ["lockrun", "--store=" + sys.argv[1] + "/db", "--key=t/n/k", "-w", "3",
         "--", "touch", "ran"]
try:
    done = subprocess.run(words, capture_output=True, text=True, timeout=20)
except subprocess.TimeoutExpired:
    sys.exit("it hangs")
sys.stderr.write(done.stderr)
sys.exit(done.returncode)
END
    runs unshare -m --propagation private python3 hang.py "$D/mnt"
    [ "$status" != 99 ] || skip 'no FUSE mounts here'
    [ "$status" = 69 ] || { echo "$status: $output"; false; }
    [[ $output == "lockrun: "*"$D/mnt"*'fuse.hang'* ]] || { echo "$output"; false; }
    [ "${#lines[@]}" = 1 ]
    [ ! -e ran ]
}
