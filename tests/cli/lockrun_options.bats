#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockrun's command line: what it takes, what it refuses, what it tells.
load lockrun

setup() { lockrun_setup; }
teardown() { lockrun_teardown; }

# refused SENTENCE WORD...: 64, one line with the sentence, nothing run.
refused() {
    local sentence=$1
    shift
    run lockrun "$@"
    [ "$status" = 64 ] || { echo "$* -> $status: $output"; return 1; }
    [[ $output == "lockrun: "*"$sentence"* ]] || { echo "$output"; return 1; }
    [ "${#lines[@]}" = 1 ]
    [ ! -e "$D/ran" ]
}

@test "silent on success, and the status is the command's" {
    run "${L[@]}" -- true
    [ "$status" = 0 ]
    [ -z "$output" ]
    run "${L[@]}" -- sh -c 'exit 7'
    [ "$status" = 7 ]
    [ -z "$output" ]
}

@test "C22: the options behind the command are the command's, with -- and without" {
    run "${L[@]}" -- printf '[%s]' -n -w 5 --help -- --skip
    [ "$output" = '[-n][-w][5][--help][--][--skip]' ]
    run "${L[@]}" printf '[%s]' -n -w 5 --help -- --skip
    [ "$output" = '[-n][-w][5][--help][--][--skip]' ]
}

@test "F07: words arrive as they were given, empty ones and line ends too" {
    "${L[@]}" -- printf '[%s]\n' 'a b' '' '*' '$HOME' "it's" $'x\ny' '\' -v >out
    printf '[%s]\n' 'a b' '' '*' '$HOME' "it's" $'x\ny' '\' -v >wanted
    cmp out wanted
}

@test "F07: -c takes one line, for the shell that SHELL names" {
    SHELL=/bin/sh run "${L[@]}" -c 'echo "$0" $#; exit 4'
    [ "$status" = 4 ]
    [ "$output" = '/bin/sh 0' ]
    SHELL=/bin/bash run "${L[@]}" -c 'echo "${BASH_VERSION:+bash}"'
    [ "$output" = bash ]
    SHELL= run "${L[@]}" -c 'echo "$0"'
    [ "$output" = /bin/sh ]
    run "${L[@]}" -c ''
    [ "$status" = 0 ]
    refused '-c takes one argument; quote' --key t/n/k -c 'touch ran' hi
}

@test "F07: no command at all is 64, not a lock held for ever" {
    refused 'no command' --key t/n/k
    refused 'no command' --key t/n/k --
}

@test "C06: a code that is none is 64" {
    for code in 600 256 -1 x '' 1.5 0x10; do
        refused 'from 0 to 255' --key t/n/k -E "$code" -- touch ran
    done
    run "${L[@]}" -E 255 -- true
    [ "$status" = 0 ]
}

@test "a job that may run for no time at all is refused" {
    refused '--max-run: "0" is no time at all' --key t/n/k --max-run 0 -- touch ran
}

@test "C24: what an older lockrun took is refused with what to say instead" {
    refused '--key=NAME' "--lockfile=$D/f" -- touch ran
    refused '--key=NAME' -L "$D/f" -- touch ran
    refused '--max-run=60s' --maxtime=60 -- touch ran
    refused '--wait=TIME' --sleep=5 -- touch ran
    refused '--skip' --idempotent -- touch ran
    refused '--skip' --quiet -- touch ran
    refused '-w forever' --wait -- touch ran
    refused '-w forever' --wait touch ran
}

@test "flock's forms that lock something else are refused with what to say instead" {
    refused 'lockctl release' -u -- touch ran
    refused 'session file' -o -- touch ran
    refused 'renew the lease' -F -- touch ran
    refused 'a descriptor cannot be locked' -n 9
    refused 'a descriptor cannot be locked' 9
}

@test "what is no option, no time, no key and no class is 64 and says where" {
    refused '--kye' --kye t/n/k -- touch ran
    refused '"soon"' --key t/n/k -w soon -- touch ran
    refused '"-5"' --key t/n/k --ttl -5 -- touch ran
    refused 'note' --key t/n/k --note "$(printf 'x%.0s' {1..201})" -- touch ran
    refused 'class' --class "$(printf 'x%.0s' {1..65})" -- touch ran
}

@test "C23: what is no key is refused with its place, and the terminal stays clean" {
    long=$(printf 'x%.0s' {1..200})
    for key in 'a b' $'a\nb' $'a\eb' $'t/n/\u0430' t/n/.. t/./k t//k /t/n/k t/n/k/ \
        a/b '' "t/n/$long" "t/n/$long/$long/$long"; do
        run lockrun --key "$key" -- touch ran
        [ "$status" = 64 ] || { echo "[$key] -> $status"; false; }
        [[ $output == 'lockrun: '*key* ]]
        [[ $output != *$'\e'* ]]
        [ "${#lines[@]}" = 1 ]
        [ ! -e ran ]
    done
    run lockrun --key -rf -- sh -c 'echo $LOCK_KEY'
    [ "$output" = local/default/-rf ]
}

@test "C23: a key made of the command's path is encoded, never changed silently" {
    mkdir -p $'a b/\u00fc/x*'
    printf '#!/bin/sh\necho "$LOCK_KEY"\n' >$'a b/\u00fc/x*/j\e.sh'
    chmod +x $'a b/\u00fc/x*/j\e.sh'
    run lockrun -- $'a b/\u00fc/x*/j\e.sh'
    [ "$status" = 0 ]
    [[ $output == */a%20b/%C3%BC/x%2A/j%1B.sh ]]
}

@test "one program has one key, however it is called" {
    mkdir -p x/y
    printf '#!/bin/sh\necho "$LOCK_KEY"\n' >x/job
    chmod +x x/job
    ln -s x/y link
    wanted=$(lockrun -- "$D/x/job")
    [[ $wanted == local/batch/*/x/job ]]
    [ "$(lockrun -- ./x/job)" = "$wanted" ]
    [ "$(lockrun -- x/./../x//job)" = "$wanted" ]
    [ "$(lockrun -- link/../job)" = "$wanted" ]
    [ "$(PATH=$D/x:$PATH lockrun -- job)" = "$wanted" ]
    [ "$(cd x && PATH=:$PATH lockrun -- job)" = "$wanted" ]
}

@test "lines have keys of their own, whatever SHELL says; scripts have their shell's" {
    a=$(lockrun -c 'echo $LOCK_KEY')
    b=$(lockrun -c 'echo $LOCK_KEY ')
    [ "$a" != "$b" ]
    [[ $a == local/batch/bin/sh/line-* ]]
    [ "$(SHELL=/bin/bash lockrun -c 'echo $LOCK_KEY')" = "$a" ]
    a=$(lockrun -- sh -c 'echo $LOCK_KEY')
    b=$(lockrun -- sh -c 'echo $LOCK_KEY' x)
    [ "$a" != "$b" ]
    [[ $a == local/batch/*/sh/line-* ]]
    echo 'echo $LOCK_KEY' >script
    [[ $(lockrun -- sh script) == local/batch/*bin/sh ]]
}

@test "--help, --version, --explain and --dry-run print; nothing else does" {
    run lockrun --help
    [ "$status" = 0 ]
    [[ ${lines[0]} == 'Usage: lockrun [OPTION]... [--] COMMAND [ARGUMENT]...' ]]
    [[ $output == *--max-run* ]]
    [ -z "$(lockrun --help 2>&1 >/dev/null)" ]
    run lockrun -V
    [[ $output == 'lockrun '*[0-9]* ]]
    for form in mdoc bash zsh fish; do
        [ -n "$(lockrun --dump "$form")" ]
    done
    [ -z "$(lockrun --key t/n/k --verbose -- true 2>/dev/null)" ]
}

@test "--help to a full disk does not end with 0" {
    run lockrun --help >/dev/full
    status=0
    lockrun --help >/dev/full 2>err || status=$?
    [ "$status" = 69 ]
    grep -q 'standard output' err
}

@test "every status of lockrun's own is explained, and the command's are not claimed" {
    for code in 64 69 70 75 77 78 79 124 126 127; do
        run lockrun --explain "$code"
        [ "$status" = 0 ]
        [[ ${lines[0]} == "$code"[:,]* ]] || { echo "$output"; false; }
        [[ $output != *'no status of lockrun'* ]]
    done
    run lockrun --explain 143
    [[ $output == '143: ended by the signal TERM (15)'* ]]
    run lockrun --explain 3
    [[ $output == *"it is the command's"* ]]
    run lockrun --explain 69
    [ "${#lines[@]}" -ge 5 ]
    run lockrun --explain 256
    [ "$status" = 64 ]
}

@test "--dry-run tells what would be done, and changes nothing" {
    run lockrun --key t/n/k --ttl 30s --dry-run -- touch ran 'a b'
    [ "$status" = 0 ]
    [[ ${lines[0]} == 'class    batch' ]]
    [[ ${lines[1]} == 'ttl      30s, renewed every 10s, grace 7.5s' ]]
    [[ ${lines[2]} == 'wait     no' ]]
    [[ ${lines[3]} == 'key      t/n/k' ]]
    [[ ${lines[4]} == "store    $HOLDFAST_STORE, named by HOLDFAST_STORE" ]]
    [[ ${lines[5]} == 'now      free' ]]
    [[ ${lines[6]} == "command  "*"/touch 'ran' 'a b'" ]]
    [ "${#lines[@]}" = 7 ]
    [ ! -e ran ]
    [ -z "$(ls "$D/store")" ]
}

@test "--dry-run tells how long would be waited, run and kept, and the note" {
    run lockrun --key t/n/k -w 90 --max-run 2h --hold-min 5s --note 'a b' --dry-run -- true
    [ "$status" = 0 ]
    [[ ${lines[2]} == 'wait     1m30s' ]]
    [[ ${lines[3]} == 'max-run  2h' ]]
    [[ ${lines[4]} == 'hold-min 5s' ]]
    [[ ${lines[-1]} == 'note     a b' ]]
    run lockrun --key t/n/k -w forever --dry-run -- true
    [[ ${lines[2]} == 'wait     1d, the longest that the class allows' ]]
    mkdir -p classes
    echo '{wait: {default: 7s, max: 9s}, hold_max: 8h}' >classes/jobs.yaml
    HOLDFAST_CLASSES=$D/classes run lockrun --class jobs --key t/n/k --dry-run -- true
    [[ ${lines[2]} == 'wait     7s, as the class says' ]]
    [[ ${lines[3]} == 'max-run  8h, as the class says' ]]
    HOLDFAST_CLASSES=$D/classes run lockrun --class jobs -n --key t/n/k --dry-run -- true
    [[ ${lines[2]} == 'wait     no' ]]
}

@test "--dry-run refuses what the run refuses, with its words" {
    mkdir folder
    # The first word is the status; the rest is the command line.
    for row in '64 --json-fd 9 -- touch ran' '126 -- ./folder' '127 -- ./none' \
        '64 --grace 50s --ttl 6s -- touch ran' '64 -w 30d -- touch ran' \
        '78 --class none -- touch ran'; do
        # shellcheck disable=SC2086
        runs lockrun --key t/n/k ${row#* } 9>&-
        said=$output
        [ "$status" = "${row%% *}" ] || { echo "$row: $status $output"; false; }
        # shellcheck disable=SC2086
        runs lockrun --key t/n/k --dry-run ${row#* } 9>&-
        [ "$status" = "${row%% *}" ] || { echo "$row: $status $output"; false; }
        [ "$output" = "$said" ] || { echo "$row: $output"; false; }
    done
    for more in '' --dry-run; do
        # shellcheck disable=SC2086
        runs lockrun --store="$D/none/db" --key t/n/k $more -- touch ran
        [ "$status" = 69 ]
        [[ $output == *"folder $D/none: No such file or directory"* ]]
    done
    [ ! -e ran ]
}

# refused_alike STATUS TEXT OPTION...: by a run and by a dry one.
refused_alike() {
    local code=$1 text=$2 more
    shift 2
    for more in '' --dry-run; do
        # shellcheck disable=SC2086
        runs lockrun "$@" $more -- touch ran
        [ "$status" = "$code" ] || { echo "$* $more: $status $output"; return 1; }
        [[ $output == *"$text"* ]] || { echo "$* $more: $output"; return 1; }
    done
    [ ! -e ran ]
}

@test "--dry-run refuses the store that a run refuses" {
    local s=$D/odd/db
    mkdir -m 755 odd
    runs lockrun --store="$s" --key t/n/k -- true
    [ "$status" = 0 ]
    chmod 666 "$s"
    refused_alike 77 'can be written by everybody' --store="$s" --key t/n/k
    chmod 600 "$s"
    ln "$s" again
    refused_alike 77 'has a second name' --store="$s" --key t/n/k
    rm again
    chmod 777 odd
    refused_alike 77 'can be written by everybody' --store="$s" --key t/n/k
    chmod 755 odd
    runs lockrun --store="$s" --key t/n/k --dry-run -- true
    [ "$status" = 0 ]
    refused_alike 69 "open $D/odd: Is a directory" --store="$D/odd" --key t/n/k
    [ "$(id -u)" = 0 ] || skip 'only root can be another user, and mount'
    chmod 755 .
    mkdir -m 755 theirs
    by_another() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
    for more in '' --dry-run; do
        # shellcheck disable=SC2086
        runs by_another lockrun --store="$D/theirs/db" --key t/n/k $more -- touch ran
        [ "$status" = 77 ]
        [[ $output == *"open $D/theirs/db: Permission denied"* ]]
    done
    unshare -m true 2>/dev/null || skip 'no mount namespaces here'
    for more in '' --dry-run; do
        # shellcheck disable=SC2086
        runs unshare -m sh -c 'mount -t tmpfs -o ro,mode=755 none "$1" && shift && exec "$@"' x \
            "$D/theirs" lockrun --store="$D/theirs/db" --key t/n/k $more -- touch ran
        [ "$status" = 69 ]
        [[ $output == *"open $D/theirs/db: Read-only file system"* ]]
    done
}

@test "--dry-run inside a hold of the same key refuses what a run would, or tells that it joins" {
    export D
    refuses() {
        lockrun --key t/n/k --dry-run -- true 2>"$D/said" && return 1
        [ $? = 64 ] && grep -q 'that runs this very command' "$D/said"
    }
    joins() { lockrun --key t/n/k --nested=join --dry-run -- true | grep -q '^nested   under the hold of pid '; }
    shares() { lockrun --key t/n/k -s --dry-run -- true; }
    export -f refuses joins shares
    run "${L[@]}" -- bash -c refuses
    [ "$status" = 0 ]
    run "${L[@]}" -- bash -c joins
    [ "$status" = 0 ]
    run "${L[@]}" -s -- bash -c shares
    [ "$status" = 0 ]
    run "${L[@]}" -s -- bash -c refuses
    [ "$status" = 0 ]
}

@test "--dry-run tells the mode, and the end when it is busy" {
    run lockrun --key t/n/k -s -n -E 9 --dry-run -- true
    [ "$status" = 0 ]
    [[ $output == *$'\nmode     shared\nif busy  end with 9\nwait     no\n'* ]]
    run lockrun --key t/n/k -n --skip --dry-run -- true
    [[ $output == *$'\nif busy  end with 0, and say nothing\n'* ]]
}

@test "--dry-run tells who holds the key" {
    holds a t/n/k --note nightly
    run lockrun --key t/n/k --dry-run -- true
    [ "$status" = 0 ]
    [[ $output == *"now      the key is held by "*"(pid $started,"*'note "nightly"'* ]]
    ends a "$started"
}

@test "--verbose tells each step on standard error, with what named the store" {
    run "${L[@]}" --verbose -- true
    [ "$status" = 0 ]
    [[ $output == *"the store is $HOLDFAST_STORE, named by HOLDFAST_STORE"* ]]
    [[ $output == *'class batch, key t/n/k'* ]]
    [[ $output == *'got the key, token '* ]]
    [[ $output == *'nothing of the job is left'*'gave the key back'* ]]
}

@test "--store goes before HOLDFAST_STORE" {
    run "${L[@]}" "--store=sqlite:$D/other" --verbose -- true
    [ "$status" = 0 ]
    [[ $output == *"the store is $D/other, named by --store"* ]]
    [ -e other ]
    [ -z "$(ls "$D/store")" ]
}
