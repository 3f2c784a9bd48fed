#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# lockctl release: ends one grant, by its token, and nothing else (F17, F23).
load lockctl

setup() { lockctl_setup; }
teardown() { lockctl_teardown; }

@test "F17: an old token changes nothing and says which grant holds now" {
    holds a t/n/k
    old=$(token_of t/n/k)
    ends a "$started"
    holds b t/n/k
    new=$(token_of t/n/k)
    [ "$new" -gt "$old" ]
    run lockctl release t/n/k --token "$old"
    [ "$status" = 1 ]
    [ "${#lines[@]}" = 1 ]
    [[ $output =~ ^lockctl:\ t/n/k:\ token\ $old\ is\ not\ the\ one\ of\ the\ present\ grant:\ nothing\ was\ changed\;\ it\ is\ held\ by\ $(hostname),\ pid\ $started\ \(.*sh\),\ since\ 20[0-9TZ:-]+,\ under\ token\ $new$ ]]
    [ "$(token_of t/n/k)" = "$new" ]
    run lockrun -n --key t/n/k -- true
    [ "$status" = 75 ]
}

@test "a live job is not robbed: 75, and how to stop it" {
    holds a t/n/k
    token=$(token_of t/n/k)
    run lockctl release t/n/k --token "$token"
    [ "$status" = 75 ]
    [[ $output == "lockctl: t/n/k: the kernel says that the job lives: nothing was changed; stop it, and the key is free (on $(hostname): kill $started, or kill -9 $started if it does not end of that); it is held by "* ]]
    [ "$(token_of t/n/k)" = "$token" ]
    kill "$started"
    within 10 gone "$started"
    run lockctl release t/n/k --token "$token"
    [ "$status" = 1 ]
    [ "$output" = "lockctl: t/n/k: nobody holds it, under token $token or any other: nothing was changed" ]
}

@test "the grant of an unproved holder ends, with a warning, once" {
    leaves_unproved t/n/k
    token=$(token_of t/n/k)
    run lockrun -n --key t/n/k -- true
    [ "$status" = 75 ]
    run lockctl release t/n/k --token "$token"
    [ "$status" = 0 ]
    [ "${lines[0]}" = 'lockctl: nothing is known of the processes of this grant: if one of them lives, only a fence refuses what it still writes' ]
    [[ ${lines[1]} == "t/n/k: released; it was held by $(hostname), pid $started ("*"), since "*", under token $token" ]]
    run lockctl release t/n/k --token "$token"
    [ "$status" = 1 ]
    run lockrun -n --key t/n/k -- true
    [ "$status" = 0 ]
}

@test "a dry run says the same and changes nothing" {
    leaves_unproved t/n/k
    token=$(token_of t/n/k)
    run lockctl release t/n/k --token "$token" --dry-run
    [ "$status" = 0 ]
    [[ ${lines[-1]} == 't/n/k: would be released; it is held by '* ]]
    [ "$(token_of t/n/k)" = "$token" ]
    run lockctl release t/n/k --token 5 -n
    [ "$status" = 1 ]
}

@test "the grant of a dead holder ends" {
    holds a t/n/k
    token=$(token_of t/n/k)
    kill -9 "$started" "$job"
    within 10 says 'its holder is dead' lockctl show t/n/k
    run lockctl release t/n/k --token "$token"
    [ "$status" = 0 ]
    [[ ${lines[-1]} == "t/n/k: ended; its holder was dead already; it was held by "* ]]
    run lockctl ls
    [ "$output" = "" ]
}

@test "one of two shared grants ends, the other stands" {
    holds a t/n/k -s
    leaves_unproved t/n/k -s
    run lockctl show t/n/k --json
    # That of the one whose pid is $started.
    token=${output%%"\"pid\":$started,"*}
    token=${token##*'"token":"'}
    token=${token%%'"'*}
    run lockctl release t/n/k --token "$token"
    [ "$status" = 0 ]
    run lockctl show t/n/k
    [[ ${lines[1]} == *'held shared by 1, 1 of them live'* ]]
}

@test "who waits gets the key" {
    leaves_unproved t/n/k
    waits b t/n/k
    waiter=$started
    run lockctl release t/n/k --token "$(token_of t/n/k)"
    [ "$status" = 0 ]
    within 10 gone "$waiter"
    wait "$waiter"
}

@test "a token that is none is refused" {
    for token in x 0 -1 05 '5 ' 9223372036854775808 ''; do
        run lockctl release t/n/k --token "$token"
        [ "$status" = 64 ]
        [ "$output" = 'lockctl: release needs --token with the decimal number of the grant to end; "lockctl show t/n/k" tells it' ]
    done
    run lockctl release t/n/k
    [ "$status" = 64 ]
    run lockctl release --token 5
    [ "$status" = 64 ]
}

@test "each outcome has its word in JSON, with the same status" {
    holds a t/n/k
    run lockctl release t/n/k --token 5 --json
    [ "$status" = 1 ]
    [[ $output == '{"store":"'*'","key":"t/n/k","token":"5","outcome":"not-held","text":"'*'"holder":{"state":"live",'* ]]
    run lockctl release t/n/k --token "$(token_of t/n/k)" --json
    [ "$status" = 75 ]
    [[ $output == *'"outcome":"alive"'* ]]
    run lockctl release t/n/other --token 5 --json
    [ "$status" = 1 ]
    [[ $output == *'"outcome":"not-held"'*'"holder":null}' ]]
}
